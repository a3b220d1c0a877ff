"""The engine: the one junction of data, noise and ledger."""

from eke.engine.adaptive import Adaptive, Desk, Option, Selection
from eke.engine.row_scores import RowPublisher, RowScores
from eke.engine.share import Shares
from eke.engine.snapshot import Snapshot
from eke.engine.vault import AnswerText, Stale, Vault

__all__ = [
    "Adaptive",
    "AnswerText",
    "Desk",
    "Option",
    "RowPublisher",
    "RowScores",
    "Selection",
    "Shares",
    "Snapshot",
    "Stale",
    "Vault",
]
