"""The engine: the one junction of data, noise and ledger."""

from typing import TYPE_CHECKING

from eke.late import late_names

if TYPE_CHECKING:
    from eke.engine.adaptive import ChoiceOption, Desk, Selection
    from eke.engine.checkpoint import CHECKPOINT_ENDING, Checkpoint
    from eke.engine.failed import is_failed, told
    from eke.engine.measuring import PARTS_ALONE, Measuring, RowScoring, ScoreRows, Selecting
    from eke.engine.row_scores import RowScores
    from eke.engine.share import Shares
    from eke.engine.snapshot import Snapshot
    from eke.engine.standing import Beginning
    from eke.engine.tempo import UNPACED, Tempo
    from eke.engine.vault import AnswerText, Stale, Vault

__all__ = [
    "CHECKPOINT_ENDING",
    "PARTS_ALONE",
    "UNPACED",
    "AnswerText",
    "Beginning",
    "Checkpoint",
    "ChoiceOption",
    "Desk",
    "Measuring",
    "RowScores",
    "RowScoring",
    "ScoreRows",
    "Selecting",
    "Selection",
    "Shares",
    "Snapshot",
    "Stale",
    "Tempo",
    "Vault",
    "is_failed",
    "told",
]

if not TYPE_CHECKING:
    __getattr__ = late_names(
        __name__,
        {
            "adaptive": "ChoiceOption Desk Selection",
            "checkpoint": "CHECKPOINT_ENDING Checkpoint",
            "failed": "is_failed told",
            "measuring": "PARTS_ALONE Measuring RowScoring ScoreRows Selecting",
            "row_scores": "RowScores",
            "share": "Shares",
            "snapshot": "Snapshot",
            "standing": "Beginning",
            "tempo": "UNPACED Tempo",
            "vault": "AnswerText Stale Vault",
        },
    )
