"""RemotePlan: a plan of a release as a server sees it, with the face of a local plan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from eke.planning import Workload
from eke.planning.workload.release.section import Alternative, errors_by_budget
from eke.privacy.measure import Measure
from eke.privacy.measures import measure_named


@dataclass(frozen=True, slots=True)
class RemoteSection:
    """A part of a plan: what is measured, and the strategies that were considered for it."""

    strategy: str
    questions: int
    alternatives: tuple[Alternative, ...]


@dataclass(frozen=True, slots=True)
class RemotePlan:
    """A plan of a release as a server sees it: what it costs, and its errors. Nothing was spent."""

    workload: Workload
    measure: Measure
    budget: float
    cost: float  # what the ledger would charge now
    remaining: float  # for whoever asked
    affordable: bool
    strategy: str
    answers: int  # noisy numbers to be released
    rmse: float
    tables: tuple[Mapping[str, Any], ...]
    sections: tuple[RemoteSection, ...]
    explanation: str
    request: Mapping[str, Any]  # what to send to release it

    def explain(self) -> str:
        """A table of the strategies that were considered, the chosen one first."""
        return self.explanation

    def comparison(self) -> list[tuple[RemoteSection, list[Alternative]]]:
        """The strategies considered for each section, with what the same quality would cost."""
        return [(section, list(section.alternatives)) for section in self.sections]

    def errors_at(self, budgets: Sequence[float]) -> list[tuple[str, float, float]]:
        """(strategy, budget, RMSE) for a plot of error against budget."""
        return [
            point
            for section in self.sections
            for option in section.alternatives
            for point in errors_by_budget(option, self._budget_of(option), budgets, self.measure)
        ]

    def _budget_of(self, option: Alternative) -> float:
        """The budget at which a strategy has its errors: plans for accuracies compare budgets."""
        required = self.request.get("within") is not None
        return option.cost if required and option.cost else self.budget


def read_plan(
    found: Mapping[str, Any], workload: Workload, request: Mapping[str, Any]
) -> RemotePlan:
    """The plan in a document."""
    names = ("budget", "cost", "remaining", "affordable", "strategy", "answers", "rmse")
    return RemotePlan(
        workload=workload,
        measure=measure_named(found["measure"]),
        **{name: found[name] for name in names},
        tables=tuple(found["tables"]),
        sections=tuple(
            RemoteSection(
                one["strategy"],
                one["questions"],
                tuple(Alternative(**option) for option in one["alternatives"]),
            )
            for one in found["sections"]
        ),
        explanation=found["explanation"],
        request=request,
    )
