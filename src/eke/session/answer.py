"""Answer: an estimate with its interval, its cost and where it came from."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd
import pyarrow as pa

from eke.errors import AccuracyError
from eke.inference import Posterior
from eke.session import html
from eke.session.receipt import Receipt, Receipted


@dataclass(frozen=True, slots=True, repr=False)
class Answer(Receipted):
    """One number with its interval. Same history, same answer, for everyone who asks."""

    value: float
    interval: tuple[float, float]
    variance: float
    receipt: Receipt
    _posterior: Callable[[], Posterior] = field(repr=False, compare=False)

    @property
    def within(self) -> float:
        """Half the width of the interval: at most what was asked for."""
        return (self.interval[1] - self.interval[0]) / 2.0

    @property
    def posterior(self) -> Posterior:
        """The belief about the true answer: density, any interval, any probability."""
        return self._posterior()

    def probability(self, *, above: float | None = None, below: float | None = None) -> float:
        """The probability of a claim: that the true answer is above, below or between."""
        return self.posterior.probability(above=above, below=below)

    def __repr__(self) -> str:
        low, high = self.interval
        return f"Answer({self.value:,.6g}, {low:,.6g} to {high:,.6g}, {self.source})"

    def explain(self) -> str:
        """A few lines: the question, the answer, and why it cost what it cost."""
        low, high = self.interval
        return "\n".join(
            [
                self.receipt.question,
                (
                    f"{self.value:,.6g}, and with probability {self.confidence:.4g} "
                    f"between {low:,.6g} and {high:,.6g} (±{self.within:.4g})."
                ),
                self.receipt.sentence(),
            ]
        )

    def to_dict(self) -> dict[str, Any]:
        return {
            "question": self.receipt.question,
            "value": self.value,
            "low": self.interval[0],
            "high": self.interval[1],
            "confidence": self.confidence,
            "source": self.source,
            "cost": self.cost,
        }

    def to_pandas(self) -> pd.DataFrame:
        return pd.DataFrame([self.to_dict()])

    def to_arrow(self) -> pa.Table:
        return pa.Table.from_pylist([self.to_dict()])

    def to_json(self) -> str:
        return json.dumps(self.to_dict())

    def _repr_html_(self) -> str:
        return html.answer(self)


@dataclass(frozen=True, slots=True, repr=False)
class TableAnswer(Receipted):
    """One answer for each combination of values of some attributes; they share one receipt."""

    attributes: tuple[str, ...]
    keys: tuple[tuple[object, ...], ...]
    values: tuple[float, ...]
    intervals: tuple[tuple[float, float], ...]
    variances: tuple[float, ...]
    receipt: Receipt
    _posteriors: Callable[[], Sequence[Posterior]] = field(repr=False, compare=False)

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        return f"TableAnswer({self.receipt.question}, {len(self)} cells, {self.source})"

    def explain(self) -> str:
        return f"{self.receipt.question}\n{len(self)} cells.\n{self.receipt.sentence()}"

    def simultaneous(self, confidence: float) -> list[tuple[float, float]]:
        """Intervals that hold all at once with this confidence."""
        return simultaneous(self._posteriors(), confidence)

    def to_pandas(self) -> pd.DataFrame:
        frame = pd.DataFrame(self.keys, columns=list(self.attributes))
        frame["value"] = self.values
        frame["low"] = [low for low, _ in self.intervals]
        frame["high"] = [high for _, high in self.intervals]
        return frame

    def to_arrow(self) -> pa.Table:
        texts = {
            name: [None if key[i] is None else str(key[i]) for key in self.keys]
            for i, name in enumerate(self.attributes)
        }
        return pa.table(
            {
                **texts,
                "value": list(self.values),
                "low": [low for low, _ in self.intervals],
                "high": [high for _, high in self.intervals],
            }
        )

    def _repr_html_(self) -> str:
        return html.table(self)


def simultaneous(
    answers: Sequence[Answer | Posterior], confidence: float
) -> list[tuple[float, float]]:
    """Intervals for a declared family of questions that all hold together with this confidence.

    A union bound: each of k intervals is taken at 1 - (1 - confidence)/k, whatever their
    dependence. Name all questions that could have been reported, before looking at any answer:
    then the ones picked afterwards by their answers are still covered.
    """
    if not answers:
        raise AccuracyError("name the answers that must hold together")
    if not 0.0 < confidence < 1.0:
        raise AccuracyError("confidence must lie strictly between 0 and 1, for example 0.95")
    each = 1.0 - (1.0 - confidence) / len(answers)
    beliefs = [a.posterior if isinstance(a, Answer) else a for a in answers]
    return [belief.interval(each) for belief in beliefs]
