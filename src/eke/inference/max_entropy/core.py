"""The tractable core of a dense model: as many of its tables as a junction tree can hold.

Single-attribute moves hardly ever cross between groups of records that differ in many attributes
at once (children and adults of a census). The core is fitted exactly; its records start the chains,
its weights start the search, and more of its records are offered to the chains as jumps, accepted
by the Metropolis-Hastings rule, so that such groups keep their right shares.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from eke.arrays import Codes, FloatArray
from eke.inference.features import TableGroup
from eke.inference.max_entropy.constraints import AttributeSet, Constraints
from eke.inference.max_entropy.exact import fit_exactly
from eke.inference.max_entropy.junction_tree import expand, junction_tree, sum_to
from eke.inference.max_entropy.model import TreeDistribution
from eke.inference.max_entropy.table_layout import TableLayout
from eke.query import Prior

CORE_CELLS = 2**17
_POOL = 8  # records offered for each chain
_STEPS = 150


@dataclass(frozen=True, slots=True, eq=False)
class Core:
    """Weights of the core's constraints (zero elsewhere) and records of the core's model."""

    weights: FloatArray  # (m,)
    records: Codes  # (pool, attributes)
    log_densities: FloatArray  # (pool,)
    density: TreeLogDensity
    attribute_sets: tuple[AttributeSet, ...]


def fit_core(
    constraints: Constraints,
    prior: Prior,
    chains: int,
    generator: np.random.Generator,
    earlier: Core | None = None,
) -> Core:
    """The core of some constraints, fitted exactly.

    An earlier core over the same tables is returned as it is: any records of known density may be
    offered to the chains, they only have to come near.
    """
    chosen = core_sets(constraints)
    if earlier is not None and earlier.attribute_sets == tuple(chosen):
        return earlier
    inside = [group for group in constraints.groups if group.attributes in chosen]
    core_rows = np.sort(np.concatenate([group.rows for group in inside]))
    place = np.full(constraints.size, -1, np.intp)
    place[core_rows] = np.arange(len(core_rows))
    part = Constraints(
        constraints.domain,
        tuple(TableGroup(g.attributes, place[g.rows], g.tables) for g in inside),
        constraints.targets[core_rows],
        constraints.bounds[core_rows],
        constraints.quadratics[core_rows],
        constraints.deviations[core_rows],
    )
    sizes = {name: attribute.size for name, attribute in constraints.domain.attributes}
    fitted = fit_exactly(part, prior, junction_tree(sizes, chosen), most_steps=_STEPS)
    weights = np.zeros(constraints.size)
    weights[core_rows] = fitted.weights
    records = fitted.distribution.sample(_POOL * chains, generator)
    records = records[generator.permutation(len(records))]
    density = TreeLogDensity.of(fitted.distribution)
    return Core(weights, records, density(records), density, tuple(chosen))


def core_sets(constraints: Constraints, most_cells: int = CORE_CELLS) -> list[AttributeSet]:
    """Attribute sets for the core: the most telling first, as long as the junction tree fits."""
    domain = constraints.domain
    sizes = {name: attribute.size for name, attribute in domain.attributes}
    chosen: list[AttributeSet] = []
    for attributes in sorted(constraints.attribute_sets, key=lambda s: -_telling(constraints, s)):
        if junction_tree(sizes, [*chosen, attributes]).cells <= most_cells:
            chosen.append(attributes)
    return chosen


@dataclass(frozen=True, slots=True, eq=False)
class TreeLogDensity:
    """ln p of records under a junction tree: a sum of clique tables, each given its separator."""

    layout: TableLayout
    flat: FloatArray  # (cells,)

    @staticmethod
    def of(distribution: TreeDistribution) -> TreeLogDensity:
        cliques = distribution.tree.cliques
        parts = []
        for clique, table in zip(cliques, distribution.beliefs, strict=True):
            outer = sum_to(table, clique.attributes, clique.separator)
            given = expand(outer, clique.separator, clique.attributes)
            with np.errstate(divide="ignore"):
                share = np.divide(table, given, out=np.zeros_like(table), where=given > 0.0)
                parts.append(np.log(share).reshape(-1))
        layout = TableLayout.of(distribution.domain, [clique.attributes for clique in cliques])
        return TreeLogDensity(layout, np.concatenate(parts))

    def __call__(self, records: Codes) -> FloatArray:
        return self.layout.sums(records, self.flat)


def _telling(constraints: Constraints, attributes: AttributeSet) -> float:
    """How much a table says beyond its single attributes; for scattered questions, their number."""
    groups = [group for group in constraints.groups if group.attributes == attributes]
    blocks = [group for group in groups if group.tables is None]
    if not blocks:
        return 1e-6 * sum(len(group.rows) for group in groups)
    shape = constraints.domain.sizes(attributes)
    table = np.maximum(constraints.targets[blocks[0].rows], 0.0).reshape(shape)
    table = table / max(float(table.sum()), 1e-300)
    independent = np.ones(())
    for axis in range(table.ndim):
        others = tuple(k for k in range(table.ndim) if k != axis)
        independent = np.multiply.outer(independent, table.sum(axis=others))
    return float(np.abs(table - independent).sum())
