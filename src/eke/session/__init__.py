"""The public face: sessions, answers, budgets, histories."""

from eke.session.answer import Answer, Preview, Receipt, TableAnswer, simultaneous
from eke.session.budget import Budget
from eke.session.history import History
from eke.session.opening import create, open_dataset
from eke.session.report import write_report
from eke.session.session import Session

__all__ = [
    "Answer",
    "Budget",
    "History",
    "Preview",
    "Receipt",
    "Session",
    "TableAnswer",
    "create",
    "open_dataset",
    "simultaneous",
    "write_report",
]
