"""Publishing: whole tables of new rows, and what the ledger keeps of them."""
