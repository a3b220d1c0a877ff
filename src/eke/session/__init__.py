"""The public face: sessions, answers, budgets, histories."""

from typing import TYPE_CHECKING

from eke.late import late_names

if TYPE_CHECKING:
    from eke.session.answer.answer import Answer, First, simultaneous
    from eke.session.answer.cell import Cell
    from eke.session.answer.receipt import Receipt
    from eke.session.answer.report import write_report
    from eke.session.ask.aim import Aim, Within
    from eke.session.ask.claim import Claim
    from eke.session.ask.estimate import Estimate, EstimateMethod, TableEstimate
    from eke.session.ask.kept import KeptAnswer, KeptAnswers
    from eke.session.ask.preview import Preview
    from eke.session.ask.reading import preview_document
    from eke.session.budget import Budget
    from eke.session.checking import check, check_dataset
    from eke.session.dataset import Dataset
    from eke.session.guard.guarding import GuardState
    from eke.session.history import History
    from eke.session.opening import create, open_dataset
    from eke.session.outside.told import Fact, Known, NoisyTable, Told
    from eke.session.planned import PlannedRelease
    from eke.session.publish.archive import Archive, Record
    from eke.session.publish.published import PublishRequest
    from eke.session.release.adjusted import Adjustment
    from eke.session.release.advise import Advice, Advised
    from eke.session.release.price import Price
    from eke.session.release.released import Release, ReleasedTable
    from eke.session.session import Session
    from eke.session.view import View

__all__ = [
    "Adjustment",
    "Advice",
    "Advised",
    "Aim",
    "Answer",
    "Archive",
    "Budget",
    "Cell",
    "Claim",
    "Dataset",
    "Estimate",
    "EstimateMethod",
    "Fact",
    "First",
    "GuardState",
    "History",
    "KeptAnswer",
    "KeptAnswers",
    "Known",
    "NoisyTable",
    "PlannedRelease",
    "Preview",
    "Price",
    "PublishRequest",
    "Receipt",
    "Record",
    "Release",
    "ReleasedTable",
    "Session",
    "TableEstimate",
    "Told",
    "View",
    "Within",
    "check",
    "check_dataset",
    "create",
    "open_dataset",
    "preview_document",
    "simultaneous",
    "write_report",
]

# A session loads the engine. Commands that only look at a ledger (`glance.py`) do not wait for it.
if not TYPE_CHECKING:
    __getattr__ = late_names(
        __name__,
        {
            "answer.answer": "Answer First simultaneous",
            "answer.cell": "Cell",
            "answer.receipt": "Receipt",
            "answer.report": "write_report",
            "ask.claim": "Claim",
            "ask.estimate": "Estimate EstimateMethod TableEstimate",
            "ask.kept": "KeptAnswer KeptAnswers",
            "ask.preview": "Preview",
            "ask.reading": "preview_document",
            "ask.aim": "Aim Within",
            "budget": "Budget",
            "checking": "check check_dataset",
            "dataset": "Dataset",
            "guard.guarding": "GuardState",
            "history": "History",
            "opening": "create open_dataset",
            "outside.told": "Fact Known NoisyTable Told",
            "planned": "PlannedRelease",
            "publish.archive": "Archive Record",
            "publish.published": "PublishRequest",
            "release.advise": "Advice Advised",
            "release.price": "Price",
            "release.adjusted": "Adjustment",
            "release.released": "Release ReleasedTable",
            "session": "Session",
            "view": "View",
        },
    )
