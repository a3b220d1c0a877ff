"""The part of a dataset that is about estimates, here or on a server."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from eke.inference.progress import Progress, silent

if TYPE_CHECKING:
    from eke.question.posed import Asked
    from eke.session.ask.assumptions import PriorLike
    from eke.session.ask.estimate import Estimate, EstimateMethod, TableEstimate


class Estimating(ABC):
    """What history says of questions nobody asked."""

    @abstractmethod
    def estimate(
        self,
        query: Asked,
        method: EstimateMethod = "shrinkage",
        confidence: float | None = None,
        *,
        prior: PriorLike = "marginals",
        alpha: float | None = None,
        folds: int | None = None,
        analyst: str | None = None,
        progress: Progress = silent,
    ) -> Estimate | TableEstimate:
        """What history says about any linear question, asked before or not.

        It is free and touches no data; see docs/concepts/estimates.md.

        Args:
            query: SQL or an expression: one count or sum, for all records or by attributes.
            method: "blue" is unbiased and answers only what history determines; "shrinkage" answers
                every linear question, with an interval; "max_entropy" answers from a fitted
                distribution, without one.
            confidence: that of the interval; 0.95 if not given.
            prior: what to begin with, not for "blue": "marginals" (what history says of single
                columns), "uniform", a public table (pandas, Polars or Arrow), or weights of the
                values of columns. See docs/how-to/use-a-public-prior.md.
            alpha: how weak the prior is, above 0; chosen by held-out answers if not given.
            folds: in how many parts answers are held out to choose it, from 2 to 50.
            analyst: as for `ask`.
            progress: is called with what is being done and how much of it is done, from 0 to 1.

        Returns:
            an `Estimate`; for a marginal a `TableEstimate`.

        Raises:
            EstimateError: when history does not determine the question, and `method` is "blue";
                when prior, alpha or folds are not what they should be.

        Privacy: it reads released values and what you give, and no row of the table; nothing is
        charged. A prior that was made of the table itself is a leak that eke cannot see.

        Example:
            >>> _ = session.ask(eke.count(sex="F"), within=60)
            >>> men = session.estimate(eke.count(sex="M"))
            >>> men.cost, men.determined
            (0.0, False)
        """
