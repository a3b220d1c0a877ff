"""Plans of releases as documents, both ways; a plan of a server has the face of a local one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from eke.codec.plain import finite, read_record
from eke.planning import ReleasePlan, Workload
from eke.planning.workload.release.rules import compared_rules
from eke.planning.workload.release.section import Alternative, errors_by_budget
from eke.planning.workload.strategy.given import Strategy, strategy_of
from eke.planning.workload.workload import Target
from eke.privacy.measure import Measure
from eke.privacy.measures import measure_named
from eke.session import Price


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
    capped: bool = False  # whether the analyst's own cap leaves so little
    guarded: str = ""  # the guarded claims that it could make more probable

    def explain(self, delta: float | None = None) -> str:
        """A table of the strategies that were considered, and rules for (ε, δ) if wanted."""
        if delta is None:
            return self.explanation
        rules = compared_rules(self.measure, self.budget, self.rmse, delta)
        return "\n".join([self.explanation, "", *rules])

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


def strategy_body(strategy: Strategy) -> dict[str, Any]:
    """A strategy as a request has it: its name, or the rows of its matrix."""
    chosen = strategy_of(strategy)
    if isinstance(chosen, str):
        return {"strategy": chosen}
    return {"strategy_matrix": chosen.matrix.tolist()}


def read_plan(
    document: Mapping[str, Any], workload: Workload, request: Mapping[str, Any]
) -> RemotePlan:
    """The plan in a document."""
    names = ("budget", "cost", "remaining", "affordable", "strategy", "answers", "rmse")
    return RemotePlan(
        workload=workload,
        measure=measure_named(document["measure"]),
        **{name: document[name] for name in names},
        tables=tuple(document["tables"]),
        sections=tuple(
            RemoteSection(
                one["strategy"],
                one["questions"],
                tuple(read_record(Alternative, option) for option in one["alternatives"]),
            )
            for one in document["sections"]
        ),
        explanation=document["explanation"],
        request=request,
        capped=document.get("capped", False),
        guarded=document.get("guarded", ""),
    )


def plan_document(plan: ReleasePlan, price: Price) -> dict[str, Any]:
    """What a release would measure, with which errors, for how much."""
    targets = _in_order(plan.workload.targets)
    each: list[dict[str, Any]] = [
        {
            "attributes": list(target.attributes),
            "along": list(target.along),
            "question": None,
            "answers": target.questions(plan.workload.domain),
        }
        for target in targets
    ]
    each += [
        {"attributes": list(one.attributes), "along": [], "question": one.description, "answers": 1}
        for one in plan.workload.queries
    ]
    for table, errors in zip(each, _errors_of_each(plan), strict=True):
        table["largest_error"] = float(np.max(errors))
    return finite(
        {
            "measure": plan.measure.name,
            "budget": plan.budget,
            "cost": price.cost,
            "remaining": price.remaining,
            "capped": price.capped,
            "affordable": price.affordable,
            **({"guarded": price.guarded} if price.guarded else {}),
            "strategy": plan.strategy,
            "questions": plan.workload.questions,
            "answers": plan.answers,
            "rmse": plan.rmse,
            "tables": each,
            "sections": [
                {
                    "strategy": section.strategy,
                    "questions": section.questions,
                    "alternatives": [asdict(option) for option in options],
                }
                for section, options in plan.comparison()
            ],
            "explanation": plan.explain(),
        }
    )


def _in_order(targets: Sequence[Target]) -> list[Target]:
    """The tables as plans and releases list them: whole marginals first."""
    return sorted(targets, key=lambda target: not target.is_marginal)


def _errors_of_each(plan: ReleasePlan) -> list[Any]:
    """The standard errors of each table, then of each single question."""
    errors: list[Any] = []
    for section in plan.sections:
        errors += list(section.variances)
    single = len(plan.workload.queries)
    tables, queries = errors[: len(plan.workload.targets)], errors[len(plan.workload.targets) :]
    flat = np.concatenate([np.ravel(one) for one in queries]) if queries else np.zeros(0)
    return [np.sqrt(one) for one in tables] + [np.sqrt(one) for one in flat[:single]]
