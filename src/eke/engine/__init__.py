"""The engine: the one junction of data, noise and ledger."""

from eke.engine.row_scores import RowPublisher, RowScores
from eke.engine.share import Shares
from eke.engine.vault import AnswerText, Stale, Vault

__all__ = ["AnswerText", "RowPublisher", "RowScores", "Shares", "Stale", "Vault"]
