"""History: everything released so far, to look at and to estimate from, for free."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eke.arrays import FloatArray
from eke.domain import Domain, Integer
from eke.errors import EstimateError, QueryError
from eke.history import ChosenStep, Measurement, Outside
from eke.inference import Inference, Posterior
from eke.privacy.accountant import cell_losses
from eke.privacy.law import Gaussian, Laplace, NoiseLaw
from eke.privacy.record_loss import NANO
from eke.query import Askable, Block, Expression, Query, table
from eke.session.answer import html
from eke.session.ask.assumptions import Assumptions, PriorLike

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from eke.inference.papers.methods import Method
    from eke.session.research import Arrays

MOST_CELLS = 1_000_000
_NO_WEIGHT = 1e-9


class History(Sequence[Measurement]):
    """Everything released so far, as a sequence of measurements. It is `session.history`.

    `History.from_arrays` makes one from plain arrays, for research.

    Attributes:
        domain: what the measurements are over.
        choices: the quantiles that were chosen, each with its `value`, `sequence`, `analyst` and
            `at`, and what was chosen as `choice`. Nothing else follows from them.
        outside: facts, and what others released: not measured here, and used by `estimate`.

    Example:
        >>> _ = session.ask(eke.marginal("sex"), within=60)
        >>> history = session.history
        >>> history.determines(eke.count(sex="F") + eke.count(sex="M"))
        True
        >>> low, high = history.estimate(eke.count()).interval(0.95)
        >>> research = eke.History.from_arrays([[1, 1], [1, 0]], [10.2, 3.9], [1.0, 1.0])
        >>> round(research.estimate([0, 1]).value, 6)
        6.3
    """

    def __init__(
        self,
        domain: Domain,
        measurements: Sequence[Measurement],
        inference: Inference | None = None,
        choices: Sequence[ChosenStep] = (),
    ) -> None:
        self.domain = domain
        self.choices = tuple(choices)
        self._measurements = tuple(measurements)
        self.outside = () if inference is None else inference.outside
        self._inference = Inference(domain, measurements) if inference is None else inference
        self._covariance: FloatArray | None = None

    @staticmethod
    def from_arrays(
        matrix: ArrayLike,
        values: ArrayLike,
        laplace_scales: ArrayLike | None = None,
        *,
        covariance: ArrayLike | None = None,
    ) -> History:
        """A history over a flat domain.

        Args:
            matrix: row i holds the coefficients of measurement i over the cells.
            values: the noisy answer of each measurement.
            laplace_scales: the scale of its noise (S/ε).
            covariance: instead, the covariance matrix of noise that was made elsewhere and may be
                correlated, as that of a matrix mechanism; error bars take it for Gaussian.

        Raises:
            QueryError: when arrays do not fit, or the noise is not said exactly once.
            EstimateError: when the covariance is no symmetric, positive definite matrix.
        """
        rows = np.atleast_2d(np.asarray(matrix, float))
        noisy = np.asarray(values, float).reshape(-1)
        if (laplace_scales is None) == (covariance is None):
            raise QueryError("say the noise as laplace_scales or as covariance")
        if rows.ndim != 2 or len(rows) != len(noisy):
            raise QueryError("matrix and values must have one entry a measurement")
        if not (np.isfinite(rows).all() and np.isfinite(noisy).all()):
            raise QueryError("the matrix and the values must be finite numbers")
        laws: list[NoiseLaw]
        known = None
        if covariance is None:
            scales = np.asarray(laplace_scales, float).reshape(-1)
            if len(scales) != len(rows):
                raise QueryError("laplace_scales must have one entry a measurement")
            laws = [Laplace(float(scale)) for scale in scales]
        else:
            from eke.session.research import covariance_of  # noqa: PLC0415 - slow to load

            known = covariance_of(covariance, len(rows))
            laws = [Gaussian(float(variance)) for variance in np.diag(known)]
        domain = Domain(cell=Integer(0, rows.shape[1] - 1))
        history = History(
            domain,
            [
                Measurement(table(["cell"], row).on(domain), law, (float(value),))
                for row, value, law in zip(rows, noisy, laws, strict=True)
            ],
        )
        history._covariance = known
        return history

    def estimate(
        self, query: Expression | Query | ArrayLike, posterior: Method = "exact"
    ) -> Posterior:
        """The posterior of a question: value, variance, interval, probability, density; free.

        Methods are compared in docs/concepts/intervals.md.

        Args:
            query: a question, or an array of coefficients over the cells of a flat domain.
            posterior: "exact"; "chebyshev", "convolution" or "monte_carlo" (BAYES); or "product"
                (ONLINE).

        Raises:
            EstimateError: when history does not determine the question.
        """
        from eke.inference.papers.methods import posterior_by  # noqa: PLC0415 - slow to load

        asked = self._query(query)
        if self._covariance is not None and posterior != "exact":
            raise EstimateError(f'posterior={posterior!r} is for independent noise; use "exact"')
        if self._covariance is not None and self._inference.linear(asked) is not None:
            return self._arrays.unbiased(asked)
        belief = posterior_by(posterior, self._inference, asked)
        if belief is None:
            raise EstimateError(
                "history does not determine this question: no combination of the measurements "
                "equals it; ask the question, or one that the history covers"
            )
        return belief

    def shrunk(
        self,
        query: Expression | Query | ArrayLike,
        *,
        prior: PriorLike = "uniform",
        alpha: float | None = None,
        folds: int | None = None,
    ) -> Posterior:
        """What shrinkage says of any question (HIST Th. 3), for a flat history of arrays; free.

        Its error bars rest on α, as the paper's do.

        Args:
            query: a question, or an array of coefficients over the cells.
            prior: "uniform", or weights of the cells, as for `session.estimate`.
            alpha: how weak the prior is, above 0; chosen by held-out answers if not given.
            folds: in how many parts answers are held out, from 2 to 50.

        Raises:
            EstimateError: when prior, alpha or folds are not what they should be.

        Privacy: it reads released values and what you give, and no row of a table.

        Example:
            >>> research = eke.History.from_arrays([[1, 1]], [10.0], covariance=[[4.0]])
            >>> round(research.shrunk([0, 1], alpha=2.0).value, 6)
            5.0
        """
        assumed = Assumptions.of(self.domain, prior, alpha, folds)
        return self._arrays.shrunk(self._query(query), assumed)

    def by_entropy(
        self,
        query: Expression | Query | ArrayLike,
        *,
        prior: PriorLike = "uniform",
        alpha: float | None = None,
        folds: int | None = None,
    ) -> float:
        """What maximum entropy says of any question (HIST §4); without error bars.

        Args:
            query: a question, or an array of coefficients over the cells.
            prior: "uniform", or weights of the cells, as for `session.estimate`.
            alpha: how weak the prior is, above 0; chosen by held-out answers if not given.
            folds: in how many parts answers are held out, from 2 to 50.

        Raises:
            EstimateError: when prior, alpha or folds are not what they should be.

        Privacy: it reads released values and what you give, and no row of a table.

        Example:
            >>> research = eke.History.from_arrays([[1, 1]], [10.0], covariance=[[4.0]])
            >>> round(research.by_entropy([0, 1]), 6)
            5.0
        """
        assumed = Assumptions.of(self.domain, prior, alpha, folds)
        return self._arrays.by_entropy(self._query(query), assumed)[0]

    @property
    def _arrays(self) -> Arrays:
        if len(self.domain) != 1:
            raise EstimateError("this is for histories of arrays; use session.estimate(…)")
        from eke.session.research import Arrays  # noqa: PLC0415 - slow to load

        return Arrays(self.domain, self._measurements, self._covariance)

    def determines(self, query: Expression | Query | ArrayLike) -> bool:
        """True when some combination of the measurements equals the question."""
        return self._inference.linear(self._query(query)) is not None

    def sources(self, query: Expression | Query | ArrayLike) -> list[tuple[Measurement, float]]:
        """The measurements that the estimate of a question is made of, each with its weight.

        The weight of a block of cells is the largest among its cells. Empty when history does not
        determine the question, or when the answer is public.
        """
        weights = self._inference.weights(self._query(query))
        if weights is None:
            return []
        pairs = zip(self._measurements, weights, strict=True)
        return [(measurement, weight) for measurement, weight in pairs if abs(weight) > _NO_WEIGHT]

    def cell_losses(self) -> NDArray[np.float64]:
        """The loss of a record in each cell of a small domain (ONLINE eq. 42, BAYES eq. 35).

        It is that of one row, without the factor of a unit.
        """
        if self.domain.size > MOST_CELLS:
            raise QueryError("the domain is too large to list the loss of every cell")
        total = np.zeros(self.domain.shape, np.int64)
        for measurement in self._measurements:
            for attributes, losses, _ in cell_losses(measurement.query, measurement.charged):
                order = self.domain.in_order(attributes)
                by_cell = losses.transpose([attributes.index(name) for name in order])
                sizes = zip(self.domain.names, self.domain.shape, strict=True)
                total += by_cell.reshape([n if name in order else 1 for name, n in sizes])
        return total / NANO

    def to_pandas(self) -> pd.DataFrame:
        """A frame with one row for each measurement."""
        import pandas as pd  # noqa: PLC0415 - slow to load

        return pd.DataFrame(self.to_records())

    def to_arrow(self) -> pa.Table:
        """The same as an Arrow table."""
        import pyarrow as pa  # noqa: PLC0415 - slow to load

        return pa.Table.from_pylist(self.to_records())

    def to_records(self) -> list[dict[str, Any]]:
        """A dictionary for each measurement: who asked what and when, its value and its noise.

        One that refines another says its place among the measurements, from 0, and takes it: do not
        average them. A chosen quantile has what was `chosen`, and no noise. What is known from
        outside, and cost nothing here, has its `source`.
        """
        measured = [
            {
                "sequence": m.sequence,
                "at": m.at,
                "analyst": m.analyst,
                "question": m.query.description,
                "value": m.values[0] if len(m.values) == 1 else None,
                "cells": len(m.values),
                "noise_deviation": float(m.law.variance) ** 0.5,
                "refines": None if m.refines is None else m.refines.place,
            }
            for m in self._measurements
        ]
        chosen = [choice.to_record() for choice in self.choices]
        outside = [record for one in self.outside for record in _from_outside(one)]
        return sorted(
            [*measured, *chosen, *outside], key=lambda record: int(str(record["sequence"]))
        )

    def _query(self, query: Expression | Query | ArrayLike) -> Query:
        if isinstance(query, Askable):  # what users write: a question, or its coefficients
            block: Block = query.on(self.domain)
            if not block.is_single:
                raise QueryError("history estimates one question at a time; take cells one by one")
            return block.cell(0)
        if len(self.domain) != 1:
            raise QueryError("coefficients can be given for flat domains only; write a question")
        return table(self.domain.names, np.asarray(query, float)).on(self.domain)

    @overload
    def __getitem__(self, index: int) -> Measurement: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Measurement]: ...
    def __getitem__(self, index: int | slice) -> Measurement | Sequence[Measurement]:
        return self._measurements[index]

    def __len__(self) -> int:
        return len(self._measurements)

    def __iter__(self) -> Iterator[Measurement]:
        return iter(self._measurements)

    def __repr__(self) -> str:
        chosen = f", {len(self.choices)} choices" if self.choices else ""
        return f"History({len(self)} measurements{chosen})"

    def _repr_html_(self) -> str:
        frame = self.to_pandas()
        if frame.empty:
            return html.lines("No measurement was released yet.")
        return str(frame.tail(html.MOST_ROWS).to_html(index=False))


def _from_outside(known: Outside) -> list[dict[str, Any]]:
    """The records of what is known from outside, with the fields of measurements."""
    fields = ("sequence", "at", "question", "value", "cells", "noise_deviation", "source")
    return [
        {**{name: record[name] for name in fields}, "analyst": record["by"], "refines": None}
        for record in known.to_records()
    ]
