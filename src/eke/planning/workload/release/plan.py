"""ReleasePlan: what a workload's release will measure, with which noise and which error. Frozen.

    plan = plan_release(all_marginals(domain, 2), measure=CONCENTRATED, budget=0.5)
    print(plan.explain())

The plan depends on the workload and the budget only. The engine recomputes its cost from `laws()`
and never trusts the figure here. Next: `eke.engine` measures the parts; `plan.recover` turns the
noisy values into tables that agree with each other.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from eke.arrays import FloatArray
from eke.errors import PrivacyError, QueryError
from eke.planning.workload.lattice import Lattice
from eke.planning.workload.options import Noise, Recovery
from eke.planning.workload.release.marginals import marginal_section
from eke.planning.workload.release.products import product_section, section_of
from eke.planning.workload.release.queries import matrix_section
from eke.planning.workload.release.replaced import loss_factor
from eke.planning.workload.release.rules import compared_rules
from eke.planning.workload.release.section import (
    Alternative,
    PlannedBlock,
    Section,
    Table,
    errors_by_budget,
    variance_factor,
)
from eke.planning.workload.strategy.matrices import MatrixStrategy
from eke.planning.workload.workload import Workload
from eke.privacy.law import DiscreteLaw
from eke.privacy.measure import Measure
from eke.query import Block, Neighbours

_NANO = 1e-9
_LEAST_BUDGET, _LARGEST_BUDGET = 1e-100, 1e9


@dataclass(frozen=True, slots=True, eq=False)
class ReleasePlan:
    """What a release will measure, with which noise and which errors. Made by `session.plan`.

    It is frozen, and made of public facts alone. Expected errors are exact.

    Attributes:
        workload: what it answers.
        measure: of loss: epsilon or rho.
        budget: the epsilon or rho that a unit of `rows_per_unit` rows may lose at most, under the
            neighbours of the dataset.
        sections: what is measured for each kind of questions.
        rows_per_unit: how many rows a unit may have.

    Example:
        >>> pairs = eke.all_marginals(domain, 2)
        >>> plan = session.plan(pairs, budget=0.3)
        >>> print(plan.explain())
        1,031 questions from 1,130 noisy answers for epsilon = 0.3; expected RMSE 14.91
        <BLANKLINE>
        measured: C+ gls
          strategy                        RMSE     largest        cost     answers
          C+ gls                         14.91       49.55         0.3       1,130
        ...
        >>> plan.rmse < session.plan(pairs, budget=0.3, strategy="F").rmse
        True
    """

    workload: Workload
    measure: Measure
    budget: float
    sections: tuple[Section, ...]
    rows_per_unit: int = 1

    @property
    def strategy(self) -> str:
        """The name of what is measured, for each section."""
        return "; ".join(section.strategy for section in self.sections)

    @property
    def parts(self) -> tuple[PlannedBlock, ...]:
        """Every block to be measured."""
        return tuple(part for section in self.sections for part in section.parts())

    def laws(self) -> tuple[tuple[Block, DiscreteLaw], ...]:
        """What the engine is to measure, with the discrete law of the noise of each part.

        Privacy: noise scales are rounded up to the grid, so no part costs more than planned. They
        are raised a little besides: the ledger rounds every part up to whole nano-units, and a
        plan for all that is left must not fail by a few of them.
        """
        parts = self.parts
        nano = _NANO * self.measure.group_factor(self.rows_per_unit)
        room = 1.0 + (len(parts) + 1) * nano / self.budget
        return tuple((p.measured, _law(p, self.measure, p.noise_scale * room)) for p in parts)

    @property
    def answers(self) -> int:
        """How many noisy numbers will be released."""
        return sum(part.measured.cells for part in self.parts)

    @property
    def rmse(self) -> float:
        """The root of the weighted mean of the expected squared errors of all questions."""
        return math.sqrt(
            sum(section.total_error for section in self.sections)
            / sum(section.question_weight for section in self.sections)
        )

    @property
    def standard_errors(self) -> tuple[FloatArray, ...]:
        """The expected error of the questions of each target, then of each query."""
        return tuple(np.sqrt(v) for section in self.sections for v in section.variances)

    def recover(
        self, answers: Sequence[ArrayLike], total: float | None = None
    ) -> tuple[Table, ...]:
        """The answers to the workload, from the noisy values of the parts in their order.

        `total` is the number of records, where that is public.
        """
        given = [np.asarray(values, np.float64) for values in answers]
        tables: list[Table] = []
        for section in self.sections:
            count = section.part_count
            tables += section.recover(given[:count], total)
            given = given[count:]
        if given:
            raise QueryError("more values were given than the plan measures")
        return tuple(tables)

    def errors_at(self, budgets: Sequence[float]) -> list[tuple[str, float, float]]:
        """(strategy, budget, RMSE) at each of some budgets, for a plot of error against budget."""
        return [
            point
            for section in self.sections
            for option in _distinct(section.alternatives)
            for point in errors_by_budget(option, option.cost or self.budget, budgets, self.measure)
        ]

    def explain(self, delta: float | None = None) -> str:
        """A table of the strategies that were considered, the chosen one first.

        With `delta`, of a plan in rho also what other rules for (ε, δ) would make of its error.
        """
        asked = f"{self.workload.questions:,} questions from {self.answers:,} noisy answers"
        price = f"{self.measure} = {self.budget:g}"
        lines = [f"{asked} for {price}; expected RMSE {self.rmse:.4g}"]
        for section, options in self.comparison():
            share = "" if len(self.sections) == 1 else f", {section.questions:,} of the questions"
            lines += ["", f"measured: {section.strategy}{share}"]
            heads = "".join(f"{head:>12}" for head in ("RMSE", "largest", "cost", "answers"))
            lines.append(f"  {'strategy':<24}{heads}")
            lines += [
                f"  {option.name:<24}{option.rmse:>12.4g}{option.largest:>12.4g}"
                f"{option.cost:>12.4g}{option.answers:>12,}"
                for option in options
            ]
        if delta is not None:
            lines += ["", *compared_rules(self.measure, self.budget, self.rmse, delta)]
        return "\n".join(lines)

    def comparison(self) -> list[tuple[Section, list[Alternative]]]:
        """The strategies considered for each section, with what the same quality would cost.

        In a plan for a budget that is the budget with which a strategy has the total error of the
        chosen one; in a plan for accuracies, the one with which it meets them.
        """
        power = float(self.measure.order)
        compared = []
        for section in self.sections:
            aim = math.sqrt(section.total_error / section.question_weight)
            options = [
                option
                if option.cost is not None
                else replace(option, cost=self.budget * (option.rmse / aim) ** power)
                for option in _distinct(section.alternatives)
            ]
            compared.append((section, options))
        return compared


def plan_release(
    workload: Workload,
    *,
    measure: Measure,
    budget: float,
    strategy: str | MatrixStrategy = "auto",
    noise: Noise | None = None,
    recovery: Recovery = "least_squares",
    neighbours: Neighbours = "add_remove",
    rows_per_unit: int = 1,
    compare: bool = True,
    only_marginals: bool = False,
) -> ReleasePlan:
    """The plan with the least expected error for a workload, or that of the strategy named.

    Marginals, every target with ranges, and the single queries form a section each; the budget is
    shared out between them so that the total error is least. Without `compare`, only what is
    needed to choose is computed. With `only_marginals`, the strategy of marginals is made of whole
    marginals, at the price of a little accuracy under zCDP.
    """
    if not _LEAST_BUDGET <= budget <= _LARGEST_BUDGET:  # errors are its inverse square
        raise PrivacyError("the budget of a plan must be positive and finite, at most 1e9")
    made = partial(
        _sections, workload, measure, strategy, noise=noise, recovery=recovery, compare=compare
    )
    candidates = [made(only_marginals=only_marginals)]
    signs_cost = measure.rotations_are_free and neighbours == "replace_one"
    if signs_cost and strategy == "auto" and not only_marginals:
        # A replaced record costs whole marginals half of what it costs blocks with both signs.
        candidates.append(made(only_marginals=True))
    plans = [
        _shared_out(
            workload, units, measure, budget, neighbours=neighbours, rows_per_unit=rows_per_unit
        )
        for units in candidates
    ]
    return min(plans, key=lambda plan: plan.rmse)


def plan_of_block(
    block: Block, *, measure: Measure, budget: float, neighbours: Neighbours = "add_remove"
) -> ReleasePlan:
    """The plan that measures one block of products, and nothing else, for a budget."""
    unit = section_of(block, measure, 1.0)
    workload = Workload(block.domain, (unit.target,))
    return _shared_out(workload, [unit], measure, budget, neighbours=neighbours)


def _shared_out(
    workload: Workload,
    units: Sequence[Section],
    measure: Measure,
    budget: float,
    *,
    neighbours: Neighbours,
    rows_per_unit: int = 1,
) -> ReleasePlan:
    """The plan of sections at unit budget, each given its share of the budget."""
    factors = [loss_factor(unit, measure, neighbours, rows_per_unit) for unit in units]
    errors = [
        variance_factor(measure, factor, 1.0) * unit.total_error
        for unit, factor in zip(units, factors, strict=True)
    ]
    shares = _shares(errors, measure)
    sections = tuple(
        unit.at(budget * share / factor)
        for unit, share, factor in zip(units, shares, factors, strict=True)
    )
    return ReleasePlan(workload, measure, budget, sections, rows_per_unit)


def _sections(
    workload: Workload,
    measure: Measure,
    strategy: str | MatrixStrategy,
    *,
    noise: Noise | None,
    recovery: Recovery,
    compare: bool,
    only_marginals: bool,
) -> list[Section]:
    """One section for each kind of questions, each at unit budget."""
    dense: Noise = noise or "least_squares"
    if isinstance(strategy, MatrixStrategy):
        return [matrix_section(workload, measure, 1.0, strategy, noise=dense, recovery=recovery)]
    sections: list[Section] = []
    marginals = tuple(target for target in workload.targets if target.is_marginal)
    if marginals:
        whole = workload.is_marginal
        sections.append(
            marginal_section(
                Lattice(workload if whole else Workload(workload.domain, marginals)),
                measure,
                1.0,
                strategy,
                noise=noise,
                recovery=recovery,
                compare=compare,
                only_marginals=only_marginals,
            )
        )
    sections += [
        product_section(workload.domain, target, measure, 1.0, strategy)
        for target in workload.targets
        if not target.is_marginal
    ]
    if workload.queries:
        single = Workload(workload.domain, (), workload.queries, workload.query_weights)
        sections.append(
            matrix_section(single, measure, 1.0, strategy, noise=dense, recovery=recovery)
        )
    return sections


def _shares(unit_errors: Sequence[float], measure: Measure) -> list[float]:
    """The shares of the budget that minimise Σ E/share² (Laplace) or Σ E/share (Gaussian)."""
    power = 1.0 / (1.0 + measure.variance_power)
    raised = [error**power for error in unit_errors]
    return [part / sum(raised) for part in raised]


def _law(part: PlannedBlock, measure: Measure, noise_scale: float) -> DiscreteLaw:
    return measure.law(noise_scale, part.measured.exponent)


def _distinct(alternatives: Sequence[Alternative]) -> list[Alternative]:
    return list({option.name: option for option in reversed(alternatives)}.values())[::-1]
