"""The section of one target with ranges or prefixes: a product of strategies by attribute."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product

import numpy as np

from eke.arrays import FloatArray
from eke.domain import Domain
from eke.errors import QueryError
from eke.planning.workload.release.section import (
    Alternative,
    PlannedBlock,
    Table,
    remaining_variances,
    scaled_alternatives,
    variance_factor,
)
from eke.planning.workload.strategy.line import (
    Level,
    LineStrategy,
    line_of,
    line_strategies,
    question_values,
    question_variances,
)
from eke.planning.workload.workload import Along, Target
from eke.privacy.measure import Measure
from eke.query import Block, Kronecker, Marginal, Query, Term

_LISTED = 4


@dataclass(frozen=True, slots=True, eq=False)
class ProductSection:
    """A target answered from the product of one strategy along each attribute."""

    domain: Domain
    target: Target
    lines: tuple[LineStrategy, ...]
    measure: Measure
    budget: float
    alternatives: tuple[Alternative, ...]

    @property
    def strategy(self) -> str:
        return " x ".join(line.name for line in self.lines)

    @property
    def questions(self) -> int:
        return self.target.questions(self.domain)

    @property
    def question_weight(self) -> float:
        return self.target.weight * self.questions

    @property
    def noise(self) -> float:
        """The variance of an answer of weight one at this budget."""
        return self.measure.variance_for(self.budget)

    @property
    def total_error(self) -> float:
        error = math.prod(line.error for line in self.lines)
        return self.target.weight * self.noise * error

    @property
    def variances(self) -> list[FloatArray]:
        total = np.array(self.noise)
        for kind, line in zip(self.target.along, self.lines, strict=True):
            total = np.multiply.outer(total, question_variances(kind, line.inverse))
        return [total]

    @property
    def largest_variance(self) -> float:
        """That of the worst question; found without a number for each of them."""
        worst = (
            float(question_variances(kind, line.inverse).max())
            for kind, line in zip(self.target.along, self.lines, strict=True)
        )
        return self.noise * math.prod(worst)

    def _blocks(self) -> list[tuple[Level, ...]]:
        return list(product(*(line.levels for line in self.lines)))

    def at(self, budget: float) -> ProductSection:
        factor = variance_factor(self.measure, self.budget, budget)
        listed = scaled_alternatives(self.alternatives, factor)
        return replace(self, budget=budget, alternatives=listed)

    @property
    def part_count(self) -> int:
        return math.prod(len(line.levels) for line in self.lines)

    def parts(self) -> list[PlannedBlock]:
        planned = []
        for levels in self._blocks():
            weight = math.prod(level.weight for level in levels)
            block = self._block(levels)
            variance = self.noise / weight**self.measure.variance_power
            noise_scale = self.measure.scale_of(variance)
            cost = self.measure.loss_of_reach(block.largest_reach(self.measure.order), variance)
            planned.append(PlannedBlock(block, noise_scale, cost))
        return planned

    def _block(self, levels: tuple[Level, ...]) -> Block:
        matrices = tuple(level.matrix for level in levels)
        if all(np.array_equal(m, np.eye(m.shape[1])) for m in matrices):
            return Marginal(self.target.attributes, Query.of(self.domain, [Term(Fraction(1), ())]))
        return Kronecker(self.domain, self.target.attributes, matrices)

    def recover(self, answers: Sequence[FloatArray], total: float | None = None) -> list[Table]:
        blocks = self._blocks()
        if len(answers) != len(blocks):
            raise QueryError(f"the plan measures {len(blocks)} blocks, not {len(answers)}")
        power = self.measure.variance_power
        cells = np.zeros(self.domain.sizes(self.target.attributes))
        for levels, values in zip(blocks, answers, strict=True):
            table = np.asarray(values, np.float64).reshape([len(level.matrix) for level in levels])
            for axis, (level, line) in enumerate(zip(levels, self.lines, strict=True)):
                back = line.inverse @ (level.weight**power * level.matrix.T)
                table = np.moveaxis(np.tensordot(back, table, (1, axis)), 0, axis)
            cells += table
        variances = self.variances[0]
        if total is not None:
            # The covariance of the cells is a product over the attributes, and so is this share.
            share, gained = np.ones(()), np.array(self.noise)
            for kind, line in zip(self.target.along, self.lines, strict=True):
                with_total = line.inverse.sum(axis=1)
                share = np.multiply.outer(share, with_total / with_total.sum())
                told = question_values(kind, with_total, 0) ** 2 / with_total.sum()
                gained = np.multiply.outer(gained, told)
            cells += share * (total - cells.sum())
            variances = remaining_variances(variances, gained)
        for axis, kind in enumerate(self.target.along):
            cells = question_values(kind, cells, axis)
        return [Table(self.target.attributes, self.target.along, cells, variances)]


def product_section(
    domain: Domain, target: Target, measure: Measure, budget: float, strategy: str = "auto"
) -> ProductSection:
    """The best product of strategies along the attributes, or that of the name along all."""
    sizes = domain.sizes(target.attributes)
    along = [
        line_strategies(kind, size, measure) for kind, size in zip(target.along, sizes, strict=True)
    ]
    chosen = tuple(_chosen(lines, strategy) for lines in along)

    def made(lines: tuple[LineStrategy, ...], listed: tuple[Alternative, ...]) -> ProductSection:
        return ProductSection(domain, target, lines, measure, budget, listed)

    combined = sorted(
        product(*(lines[:_LISTED] for lines in along)),
        key=lambda lines: math.prod(line.error for line in lines),
    )
    listed = []
    for lines in combined[: 3 * _LISTED]:
        section = made(lines, ())
        listed.append(
            Alternative(
                section.strategy,
                math.sqrt(section.total_error / section.question_weight),
                math.sqrt(section.largest_variance),
                math.prod(line.rows for line in lines),
            )
        )
    return made(chosen, tuple(listed))


def section_of(block: Block, measure: Measure, budget: float) -> ProductSection:
    """The section that measures one block of products: ranges where it has more than cells."""
    matrices = block.matrices
    if matrices is None:
        raise QueryError("only a block of products is planned by itself; plan a workload instead")
    along: tuple[Along, ...] = tuple(
        "cells" if np.array_equal(m, np.eye(m.shape[1])) else "ranges" for m in matrices
    )
    lines = tuple(
        line_of(matrix, kind, measure) for matrix, kind in zip(matrices, along, strict=True)
    )
    target = Target(block.attributes, along)
    section = ProductSection(block.domain, target, lines, measure, budget, ())
    itself = Alternative(
        section.strategy,
        math.sqrt(section.total_error / section.question_weight),
        math.sqrt(section.largest_variance),
        block.cells,
    )
    return replace(section, alternatives=(itself,))


def _chosen(lines: tuple[LineStrategy, ...], strategy: str) -> LineStrategy:
    if strategy == "auto":
        return lines[0]
    for line in lines:
        if line.name == strategy or (strategy == "H" and line.name.startswith("H")):
            return line
    names = ", ".join(line.name for line in lines)
    raise QueryError(f"no strategy {strategy!r} for ranges and prefixes; choose one of {names}")
