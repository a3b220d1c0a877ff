"""Estimates: what history says about any question, asked before or not, for free.

`blue` answers questions that history determines, without bias. `shrinkage` answers every question
and says how far it may be off: a prior, as strong as cross-validation finds best, fills in what
history leaves open. `max_entropy` answers from the most natural distribution that explains history;
its answers are those of a possible table, but carry no error bars.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from eke.domain import plain_label
from eke.errors import EstimateError, QueryError
from eke.inference import Posterior
from eke.query import Marginal, Query
from eke.question import Question

if TYPE_CHECKING:
    import pandas as pd

    from eke.inference.shrinkage import Convergence

_LINEAR = (
    "an estimate needs one count or sum, such as SELECT COUNT(*) FROM t WHERE age > 40, for all or "
    "by columns in the order of the domain"
)
EstimateMethod: TypeAlias = Literal["blue", "shrinkage", "max_entropy"]


@dataclass(frozen=True, slots=True, repr=False)
class Estimate:
    """A value from history alone; nothing was measured for it. Made by `session.estimate`.

    Attributes:
        question: in words.
        value: the estimate of the true answer.
        interval: where the true answer lies, with probability `confidence`; None for "max_entropy".
        confidence: that of the interval.
        method: how it was made.
        determined: True when history determines the question: then only noise makes it uncertain.
        alpha: how strong the prior is, for "shrinkage".
        convergence: how solving went, for a history too large for a dense kernel.
        public: True for what follows from public numbers alone, and is exact.
        caveats: what bins, bounds and rules of the domain leave open, besides the noise.

    Example:
        >>> _ = session.ask(eke.marginal("sex"), within=60)
        >>> everyone = session.estimate(eke.count(), method="blue")
        >>> everyone.determined, everyone.cost
        (True, 0.0)
        >>> session.estimate(eke.marginal("sex")).to_pandas().columns.tolist()
        ['sex', 'value', 'low', 'high']
    """

    question: str
    value: float
    interval: tuple[float, float] | None
    confidence: float
    method: EstimateMethod
    determined: bool
    alpha: float | None = None
    convergence: Convergence | None = None
    _posterior: Posterior | None = field(default=None, compare=False)
    public: bool = False
    caveats: tuple[str, ...] = field(default=(), compare=False)

    def with_caveats(self, caveats: tuple[str, ...]) -> Estimate:
        """The same, with what the domain leaves open as well."""
        return replace(self, caveats=tuple(dict.fromkeys((*self.caveats, *caveats))))

    @property
    def within(self) -> float | None:
        """Half the width of the interval; None when there is none."""
        return None if self.interval is None else (self.interval[1] - self.interval[0]) / 2.0

    @property
    def cost(self) -> float:
        """Always 0: nothing was measured for it."""
        return 0.0

    @property
    def free(self) -> bool:
        """Always True."""
        return True

    @property
    def source(self) -> str:
        """Where it came from: "estimated from history"."""
        return "estimated from history"

    @property
    def posterior(self) -> Posterior:
        """The belief about the true answer: density, any interval, any probability."""
        if self._posterior is None:
            raise EstimateError('maximum entropy has no error bars; use method="shrinkage"')
        return self._posterior

    def probability(self, *, above: float | None = None, below: float | None = None) -> float:
        """The probability of a claim: that the true answer is above, below or between."""
        return self.posterior.probability(above=above, below=below)

    def __repr__(self) -> str:
        if self.interval is None:
            return f"Estimate({self.value:,.6g}, {self.method})"
        low, high = self.interval
        return f"Estimate({self.value:,.6g}, {low:,.6g} to {high:,.6g}, {self.method})"

    def explain(self) -> str:
        """A few lines: the question, the value, and what it rests on."""
        lines = [self.question]
        if self.public:
            return f"{self.question}\n{self.value:,.12g}, exactly.\nFree: this number is public."
        if self.interval is None:
            lines.append(f"{self.value:,.6g}, without error bars.")
        else:
            low, high = self.interval
            lines.append(
                f"{self.value:,.6g}, and with probability {self.confidence:.4g} "
                f"between {low:,.6g} and {high:,.6g}."
            )
        if self.method == "max_entropy":
            lines.append(
                "Free: the answer of the most natural distribution that explains history. No "
                'interval is known for it that keeps its promise; use method="shrinkage" for one.'
            )
        elif self.determined:
            lines.append("Free: history determines this question; only noise makes it uncertain.")
        else:
            lines.append(
                "Free: an estimate. History does not determine this question; what it leaves open "
                "is filled in by a prior, whose strength was chosen by cross-validation. It may be "
                "biased."
            )
        if self.convergence is not None and not self.convergence.converged:
            lines.append(
                "Solving was stopped early: the interval holds what it says, but is wider than it "
                "could be."
            )
        return "\n".join([*lines, *self.caveats])

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        low, high = self.interval or (None, None)
        return {
            "question": self.question,
            "value": self.value,
            "low": low,
            "high": high,
            "confidence": self.confidence,
            "method": self.method,
            "determined": self.determined,
            "public": self.public,
            "caveats": list(self.caveats),
        }


@dataclass(frozen=True, slots=True)
class TableEstimate:
    """The estimates of all cells of a marginal.

    Attributes:
        attributes: the names of the keys.
        keys: the labels of each cell.
        cells: an `Estimate` for each.
    """

    attributes: tuple[str, ...]
    keys: tuple[tuple[object, ...], ...]
    cells: tuple[Estimate, ...]

    @property
    def caveats(self) -> tuple[str, ...]:
        """What the domain leaves open, besides the noise."""
        return self.cells[0].caveats

    def with_caveats(self, caveats: tuple[str, ...]) -> TableEstimate:
        """The same, said of each cell."""
        return replace(self, cells=tuple(cell.with_caveats(caveats) for cell in self.cells))

    def explain(self) -> str:
        """A line for each cell, and what they rest on."""
        lines = [f"by {', '.join(self.attributes)}"]
        for key, cell in zip(self.keys, self.cells, strict=True):
            labels = ", ".join(str(plain_label(label)) for label in key)
            low, high = cell.interval or (None, None)
            ends = "" if low is None else f"   {low:,.6g} to {high:,.6g}"
            lines.append(f"{labels}: {cell.value:,.6g}{ends}")
        return "\n".join([*lines, *self.cells[0].explain().split("\n")[2:]])

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "attributes": list(self.attributes),
            "keys": [[plain_label(label) for label in key] for key in self.keys],
            "cells": [cell.to_dict() for cell in self.cells],
        }

    def to_pandas(self) -> pd.DataFrame:
        """One row for each cell: its labels, its value and its interval."""
        import pandas as pd  # noqa: PLC0415 - slow to load

        labels = pd.DataFrame(self.keys, columns=list(self.attributes))
        parts = ("value", "low", "high")
        numbers = [{part: cell.to_dict()[part] for part in parts} for cell in self.cells]
        return pd.concat([labels, pd.DataFrame(numbers)], axis=1)


def linear_block(question: Question) -> Query | Marginal:
    """The block of linear answers that a question asks for; others have no estimate yet."""
    values = [column.finished for column in question.columns if not column.is_key]
    block = question.blocks[0]
    if len(values) != 1 or values[0].answer is None or not question.keeps_all:
        raise QueryError(_LINEAR)
    if block.grouped is None or question.cells() != list(range(question.rows)):
        raise QueryError(_LINEAR)
    return block
