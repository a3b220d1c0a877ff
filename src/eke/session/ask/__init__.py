"""Asking: from a question to its answer, from history or paid for."""

from typing import TYPE_CHECKING

from eke.late import late_names

if TYPE_CHECKING:
    from eke.session.ask.claim import ANY_WIDTH, ClaimText, claim_from, claimed
    from eke.session.ask.estimate import linear_block
    from eke.session.ask.estimator import Estimator
    from eke.session.ask.kept import KeptAnswers
    from eke.session.ask.reading import (
        explained_answers,
        measurement_document,
        question_document,
    )

__all__ = [
    "ANY_WIDTH",
    "ClaimText",
    "Estimator",
    "KeptAnswers",
    "claim_from",
    "claimed",
    "explained_answers",
    "linear_block",
    "measurement_document",
    "question_document",
]

if not TYPE_CHECKING:
    __getattr__ = late_names(
        __name__,
        {
            "claim": "ANY_WIDTH ClaimText claim_from claimed",
            "estimate": "linear_block",
            "estimator": "Estimator",
            "kept": "KeptAnswers",
            "reading": "explained_answers measurement_document question_document",
        },
    )
