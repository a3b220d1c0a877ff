"""Answers: numbers and tables with their intervals and receipts, stored and shown."""
