"""The public face: sessions, answers, budgets, histories."""

from eke.session.advise import Advice, Advised
from eke.session.answer import Answer, Cell, simultaneous
from eke.session.archive import Archive, Record
from eke.session.budget import Budget
from eke.session.dataset import Dataset, PlannedRelease
from eke.session.estimate import Estimate, EstimateMethod, TableEstimate
from eke.session.history import History
from eke.session.opening import create, open_dataset
from eke.session.preview import Preview
from eke.session.price import Price
from eke.session.publish import PublishRequest
from eke.session.question import Asked
from eke.session.reading import preview_document
from eke.session.receipt import Receipt
from eke.session.released import Release, ReleasedTable
from eke.session.report import write_report
from eke.session.request import Within
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
    "create",
    "open_dataset",
    "preview_document",
    "simultaneous",
    "write_report",
]
