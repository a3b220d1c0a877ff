"""A planned release, as whoever compares, prices or releases it sees it.

A `ReleasePlan` is one made here; a `RemotePlan` (`eke.codec.plan`) is one made by a server.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from eke.planning import Workload
    from eke.planning.workload.release.section import Alternative
    from eke.privacy.measure import Measure


class PlannedSection(Protocol):
    """A part of a plan: what is measured, for how many of the questions."""

    @property
    def strategy(self) -> str: ...

    @property
    def questions(self) -> int: ...


class PlannedRelease(Protocol):
    """A plan of a release: what would be measured, and how far off it would be."""

    @property
    def workload(self) -> Workload: ...

    @property
    def measure(self) -> Measure: ...

    @property
    def budget(self) -> float: ...

    @property
    def answers(self) -> int: ...

    @property
    def rmse(self) -> float: ...

    def explain(self, delta: float | None = None) -> str:
        """A table of the strategies that were considered, and rules for (ε, δ) if wanted."""
        ...

    def comparison(self) -> Sequence[tuple[PlannedSection, Sequence[Alternative]]]:
        """The strategies considered for each section, with what the same quality would cost."""
        ...

    def errors_at(self, budgets: Sequence[float]) -> Sequence[tuple[str, float, float]]:
        """(strategy, budget, RMSE) for a plot of error against budget."""
        ...
