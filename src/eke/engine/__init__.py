"""The engine: the one junction of data, noise and ledger."""

from eke.engine.vault import AnswerText, Stale, Vault

__all__ = ["AnswerText", "Stale", "Vault"]
