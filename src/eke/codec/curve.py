"""Curve: a posterior as a server draws it, a density at a few hundred points; both ways."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eke.errors import AccuracyError, EstimateError
from eke.session import Answer, Cell, Estimate

_POINTS = 161


@dataclass(frozen=True, slots=True)
class Curve:
    """A belief between 0.1 % and 99.9 % probability, linear between the points it came with.

    The interval of an answer itself was computed by the server and is exact; intervals at other
    confidences and probabilities of claims from here are good to about a percent.
    """

    value: float
    variance: float
    points: tuple[float, ...]
    heights: tuple[float, ...]

    def density(self, points: ArrayLike) -> NDArray[np.float64]:
        drawn = np.interp(np.asarray(points, float), self.points, self.heights, 0.0, 0.0)
        return np.asarray(drawn, float)

    def support(self, coverage: float = 0.999) -> tuple[float, float]:
        del coverage  # what the server sent is what there is
        return self.points[0], self.points[-1]

    def probability(self, *, above: float | None = None, below: float | None = None) -> float:
        """Pr(θ > above), Pr(θ < below), or Pr(above < θ < below) when both are given."""
        if above is None and below is None:
            raise AccuracyError("say what to compare with: pass `above`, `below` or both")
        high = 1.0 if below is None else self._below(below)
        low = 0.0 if above is None else self._below(above)
        return max(0.0, high - low)

    def interval(self, confidence: float) -> tuple[float, float]:
        """The interval around the value that holds this probability."""
        if not 0.0 < confidence < 1.0:
            raise AccuracyError("confidence must lie strictly between 0 and 1, for example 0.95")
        mass = self._mass()
        low, high = np.interp([(1 - confidence) / 2, (1 + confidence) / 2], mass, self.points)
        return float(low), float(high)

    def _below(self, place: float) -> float:
        return float(np.interp(place, self.points, self._mass(), 0.0, 1.0))

    def _mass(self) -> NDArray[np.float64]:
        """The distribution function at the points."""
        if len(self.points) == 1:
            return np.ones(1)
        x, y = np.asarray(self.points), np.asarray(self.heights)
        steps = np.diff(x) * (y[1:] + y[:-1]) / 2.0
        mass = np.concatenate([[0.0], np.cumsum(steps)])
        return np.asarray(mass / mass[-1], float)


def curve_document(answer: Answer | Estimate) -> dict[str, list[float]]:
    """The density of the posterior at points that are worth drawing."""
    belief = answer.posterior
    low, high = belief.support()
    if not high > low:
        return {"points": [belief.value], "density": [1.0]}
    points = np.linspace(low, high, _POINTS)
    return {"points": points.tolist(), "density": belief.density(points).tolist()}


def drawn_posterior(
    document: Mapping[str, Any], cell: Cell | None = None
) -> Callable[[int, int], Curve]:
    """What draws the posterior, when somebody looks; a cell has the value, as numbers."""
    drawn = document.get("posterior")

    def posterior(row: int = 0, column: int = 0) -> Curve:
        del row, column
        if drawn is None:
            raise EstimateError("the server sent no posterior with this answer")
        points, heights = tuple(drawn["points"]), tuple(drawn["density"])
        value = document["value"] if cell is None else cell.numbers.value
        return Curve(value, document.get("variance", np.nan), points, heights)

    return posterior
