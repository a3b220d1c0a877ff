"""The public face: sessions, answers, budgets, histories."""

from eke.session.answer.answer import Answer, Cell, simultaneous
from eke.session.answer.receipt import Receipt
from eke.session.answer.report import write_report
from eke.session.ask.estimate import Estimate, EstimateMethod, TableEstimate
from eke.session.ask.preview import Preview
from eke.session.ask.question import Asked
from eke.session.ask.reading import preview_document
from eke.session.ask.request import Within
from eke.session.budget import Budget
from eke.session.checking import check, check_dataset
from eke.session.dataset import Dataset, PlannedRelease
from eke.session.history import History
from eke.session.opening import create, open_dataset
from eke.session.publish.archive import Archive, Record
from eke.session.publish.published import PublishRequest
from eke.session.release.advise import Advice, Advised
from eke.session.release.price import Price
from eke.session.release.released import Release, ReleasedTable
from eke.session.session import Session

__all__ = [
    "Advice",
    "Advised",
    "Answer",
    "Archive",
    "Asked",
    "Budget",
    "Cell",
    "Dataset",
    "Estimate",
    "EstimateMethod",
    "History",
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
    "Within",
    "check",
    "check_dataset",
    "create",
    "open_dataset",
    "preview_document",
    "simultaneous",
    "write_report",
]
