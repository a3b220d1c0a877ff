"""The section of whole marginals: an option of `planning.options`, measured and recovered."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from eke.arrays import FloatArray
from eke.domain import Domain
from eke.errors import QueryError
from eke.inference.residuals import Names, Residuals, subsets
from eke.planning.workload.lattice import Lattice
from eke.planning.workload.options import (
    Noise,
    Option,
    Recovery,
    best_design,
    best_option,
    evaluate,
    named_strategies,
    options,
    rmse,
)
from eke.planning.workload.release.section import (
    Alternative,
    PlannedBlock,
    Table,
    remaining_variances,
    scaled_alternatives,
    variance_factor,
)
from eke.planning.workload.strategy.blocks import KernelBlock
from eke.privacy.measure import Measure
from eke.query import Block, Kronecker, Marginal, Query, Term


@dataclass(frozen=True, slots=True, eq=False)
class MarginalSection:
    """Marginals to be answered from the blocks of one option."""

    lattice: Lattice
    option: Option
    measure: Measure
    budget: float
    alternatives: tuple[Alternative, ...]

    @property
    def strategy(self) -> str:
        return self.option.name

    @property
    def questions(self) -> int:
        return self.lattice.workload.questions

    @property
    def question_weight(self) -> float:
        return float(self.lattice.weights @ self.lattice.target_cells)

    @property
    def total_error(self) -> float:
        return self.option.total_error

    @property
    def variances(self) -> list[FloatArray]:
        return [np.array(v) for v in self.option.target_variances]

    def at(self, budget: float) -> MarginalSection:
        factor = variance_factor(self.measure, self.budget, budget)
        option = replace(
            self.option,
            noise_variances=factor * self.option.noise_variances,
            target_variances=factor * self.option.target_variances,
            total_error=factor * self.option.total_error,
        )
        listed = scaled_alternatives(self.alternatives, factor)
        return MarginalSection(self.lattice, option, self.measure, budget, listed)

    def measured(self) -> list[tuple[KernelBlock, float]]:
        """The blocks that get any budget, with the variance of each answer."""
        pairs = zip(self.option.strategy.blocks, self.option.noise_variances, strict=True)
        return [(block, float(variance)) for block, variance in pairs if math.isfinite(variance)]

    @property
    def part_count(self) -> int:
        return int(np.isfinite(self.option.noise_variances).sum())

    def parts(self) -> list[PlannedBlock]:
        domain, planned = self.lattice.workload.domain, []
        for block, variance in self.measured():
            noise_scale = self.measure.scale_of(variance)
            cost = self.measure.loss_of_reach(block.reach(self.measure), variance)
            planned.append(PlannedBlock(measurable(domain, block), noise_scale, cost))
        return planned

    def recover(self, answers: Sequence[FloatArray], total: float | None = None) -> list[Table]:
        measured = self.measured()
        if len(answers) != len(measured):
            raise QueryError(f"the plan measures {len(measured)} blocks, not {len(answers)}")
        shaped = [
            np.asarray(a, np.float64).reshape([k.rows for k in block.kernels])
            for (block, _), a in zip(measured, answers, strict=True)
        ]
        variances = [np.array(variance) for variance in self.option.target_variances]
        if self.option.recovery == "initial":
            tables = self._initial([block for block, _ in measured], shaped)
            if total is not None:
                tables = [table + (total - table.sum()) / table.size for table in tables]
            if total is not None and all(block.is_marginal for block, _ in measured):
                # The noise of the cells is independent: that of the total has a share in each.
                shares = [np.array(1.0 - 1.0 / table.size) for table in tables]
                variances = [v * share for v, share in zip(variances, shares, strict=True)]
        else:
            known, uncertain = self._residuals(measured, shaped), 0.0
            if total is not None:
                uncertain = known.variance(())
                known.fix_total(total)
            tables = [known.marginal(names) for names in self.lattice.targets]
            told = [np.array(uncertain / table.size**2) for table in tables]
            pairs = zip(variances, told, strict=True)
            variances = [remaining_variances(variance, part) for variance, part in pairs]
        return [
            Table(names, ("cells",) * len(names), table, variance)
            for names, table, variance in zip(self.lattice.targets, tables, variances, strict=True)
        ]

    def _residuals(
        self, measured: Sequence[tuple[KernelBlock, float]], answers: Sequence[FloatArray]
    ) -> Residuals:
        known = Residuals(self.lattice.sizes, self.lattice.sets)
        for (block, variance), values in zip(measured, answers, strict=True):
            known.add_block(
                block.attributes,
                _back(block, values),
                variance,
                [kernel.centred_gain for kernel in block.kernels],
                [kernel.mean_gain for kernel in block.kernels],
            )
        return known

    def _initial(
        self, blocks: Sequence[KernelBlock], answers: Sequence[FloatArray]
    ) -> list[FloatArray]:
        """Each target as the strategy's authors compute it."""
        if all(block.is_marginal for block in blocks):
            used = self.option.strategy.initial.indices  # one marginal for each target
            place = {block.attributes: i for i, block in enumerate(blocks)}
            chosen = [place[self.option.strategy.blocks[i].attributes] for i in used]
            return [
                _summed(blocks[i].attributes, answers[i], target)
                for i, target in zip(chosen, self.lattice.targets, strict=True)
            ]
        if any(kernel.kind != "walsh" for block in blocks for kernel in block.kernels):
            # Every component is measured once, so least squares has nothing to choose.
            pairs = [(block, 1.0) for block in blocks]
            known = self._residuals(pairs, answers)
            return [known.marginal(names) for names in self.lattice.targets]
        backs = {b.attributes: _back(b, a) for b, a in zip(blocks, answers, strict=True)}
        widths = {
            name: kernel.rows + 1
            for block in blocks
            for name, kernel in zip(block.attributes, block.kernels, strict=True)
        }
        return [self._inverse_transform(target, backs, widths) for target in self.lattice.targets]

    def _inverse_transform(
        self, target: Names, backs: dict[Names, FloatArray], widths: dict[str, int]
    ) -> FloatArray:
        total = np.zeros([self.lattice.sizes[name] for name in target])
        for part in subsets(target):
            if part in backs:
                shape = [self.lattice.sizes[n] if n in part else 1 for n in target]
                total += backs[part].reshape(shape)
        return total / math.prod(widths.get(name, 1) for name in target)


def marginal_section(
    lattice: Lattice,
    measure: Measure,
    budget: float,
    strategy: str = "auto",
    *,
    noise: Noise | None = None,
    recovery: Recovery = "least_squares",
    compare: bool = True,
    only_marginals: bool = False,
) -> MarginalSection:
    """The best option, or that of the strategy named, with the alternatives for comparison.

    With `only_marginals`, `auto` measures nothing but whole marginals.
    """
    considered: list[Option] = []
    if strategy == "auto":
        needed = compare or only_marginals or not measure.rotations_are_free
        considered = options(lattice, measure, budget) if needed else []
        if only_marginals:
            considered = [o for o in considered if all(b.is_marginal for b in o.strategy.blocks)]
        if measure.rotations_are_free and not only_marginals:
            chosen = best_option(lattice, measure, budget)
        else:
            chosen = considered[0]
    else:
        chosen = _named(lattice, measure, budget, strategy, noise=noise, recovery=recovery)
    listed = tuple(
        Alternative(
            option.name,
            rmse(option, lattice),
            math.sqrt(float(option.target_variances.max())),
            option.answers,
        )
        for option in ([chosen, *considered] if chosen not in considered else considered)
    )
    return MarginalSection(lattice, chosen, measure, budget, listed)


def _named(
    lattice: Lattice,
    measure: Measure,
    budget: float,
    strategy: str,
    *,
    noise: Noise | None,
    recovery: Recovery,
) -> Option:
    if strategy == "design":
        designed = best_design(lattice, measure, budget)
        if designed is not None:
            return designed
    known = named_strategies(lattice, measure)
    if strategy not in known:
        raise QueryError(
            f"no strategy {strategy!r} for this workload; choose one of {', '.join(known)}"
        )
    default: Noise = "groups" if recovery == "initial" else "least_squares"
    return evaluate(
        lattice, known[strategy], measure, budget, noise=noise or default, recovery=recovery
    )


def measurable(domain: Domain, block: KernelBlock) -> Block:
    """The block as something that the engine can measure."""
    everything = Query.of(domain, [Term(Fraction(1), ())])
    if not block.attributes:
        return everything
    if block.is_marginal:
        return Marginal(block.attributes, everything)
    return Kronecker(domain, block.attributes, tuple(k.matrix() for k in block.kernels))


def _back(block: KernelBlock, answers: FloatArray) -> FloatArray:
    for axis, kernel in enumerate(block.kernels):
        answers = kernel.back(answers, axis)
    return answers


def _summed(names: Names, table: FloatArray, target: Names) -> FloatArray:
    axes = tuple(axis for axis, name in enumerate(names) if name not in target)
    return np.asarray(table.sum(axis=axes))
