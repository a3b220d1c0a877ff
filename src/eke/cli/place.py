"""Place: a dataset as the commands see it, on this machine (`here.py`) or on a server (`there.py`).

The commands speak to a place only, so that none of them knows where the dataset is.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

if TYPE_CHECKING:
    from eke.client import RemoteSession
    from eke.domain import Domain
    from eke.planning import Workload
    from eke.planning.release.section import Alternative
    from eke.privacy.measure import Measure
    from eke.publish import Published
    from eke.session import Answer, Budget, Estimate, Preview, Price, Release, Session

Widths: TypeAlias = float | Mapping[str, float] | None
Method: TypeAlias = Literal["shrinkage", "blue", "max_entropy"]
Progress: TypeAlias = Callable[[str, float], None]


class Section(Protocol):
    """A part of a plan: what is measured, for how many of the questions."""

    @property
    def strategy(self) -> str: ...

    @property
    def questions(self) -> int: ...


class Plan(Protocol):
    """What of a plan is shown."""

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

    def comparison(self) -> Sequence[tuple[Section, Sequence[Alternative]]]:
        """The strategies considered for each section, with what the same quality would cost."""
        ...

    def errors_at(self, budgets: Sequence[float]) -> Sequence[tuple[str, float, float]]:
        """(strategy, budget, RMSE) for a plot of error against budget."""
        ...


@dataclass(frozen=True, slots=True)
class Offer:
    """A plan with its price now, and what releases it under a key."""

    plan: Plan
    price: Price
    release: Callable[[str | None], Release]


class Place(ABC):
    """An open dataset, wherever it is."""

    def __init__(self, session: Session | RemoteSession) -> None:
        self._asked = session

    @property
    def domain(self) -> Domain:
        return self._asked.domain

    @property
    def budget(self) -> Budget:
        return self._asked.budget

    def ask(
        self,
        sql: str,
        within: Widths,
        confidence: float | None,
        *,
        policy: str | None,
        key: str | None,
    ) -> Answer:
        return self._asked.ask(sql, within, confidence, policy=policy, key=key)

    def preview(
        self, sql: str, within: Widths, confidence: float | None, *, policy: str | None
    ) -> Preview:
        return self._asked.preview(sql, within, confidence, policy=policy)

    def history(self) -> list[dict[str, Any]]:
        """What was released so far, as records."""
        return self._asked.history.to_records()

    @property
    @abstractmethod
    def remaining(self) -> float:
        """What whoever asks may still spend: what the limit leaves, or less under a cap."""

    @abstractmethod
    def measurement(self, sequence: int) -> dict[str, Any]:
        """One entry of the history with its noise and cost."""

    @abstractmethod
    def explain(
        self, sql: str, within: Widths, confidence: float | None, *, policy: str | None
    ) -> dict[str, Any]:
        """How a question is read, what history says about it, and its price."""

    @abstractmethod
    def estimate(
        self, sql: str, method: Method, confidence: float | None, *, progress: Progress
    ) -> Estimate:
        """What history says about a question, asked before or not."""

    @abstractmethod
    def plan(
        self,
        workload: Workload,
        *,
        budget: float | None,
        within: float | Mapping[tuple[str, ...], float] | None,
        confidence: float,
        strategy: str,
    ) -> Offer:
        """How to release a workload, with its price now."""

    @abstractmethod
    def publish(
        self,
        mechanism: str,
        *,
        epsilon: float | None,
        rho: float | None,
        key: str | None,
        progress: Progress,
        options: Mapping[str, Any],
    ) -> Published:
        """A table of new rows, when it is made."""
