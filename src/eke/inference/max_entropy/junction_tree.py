"""Junction tree: cliques of attributes on which a product of small tables is summed exactly.

Factors over attribute sets make a graph; eliminating attributes one by one, cheapest first, makes
it a tree of cliques with the running intersection property. Sums over the whole domain then cost
the cells of the cliques only. Where those are too many, `gibbs.py` samples instead.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from eke.arrays import FloatArray
from eke.errors import EstimateError

AttributeSet = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Clique:
    """One node of the tree, after its parent in the list of cliques."""

    attributes: AttributeSet
    parent: int  # -1 for a root
    separator: AttributeSet  # shared with the parent


@dataclass(frozen=True, slots=True)
class JunctionTree:
    """Cliques in an order in which parents come first; a forest when attributes are unrelated."""

    sizes: Mapping[str, int]
    cliques: tuple[Clique, ...]

    @property
    def cells(self) -> int:
        return sum(math.prod(self.sizes[a] for a in c.attributes) for c in self.cliques)

    def home(self, attributes: Iterable[str]) -> int | None:
        """The smallest clique that holds all these attributes; None when no clique does."""
        wanted = set(attributes)
        holding = [i for i, c in enumerate(self.cliques) if wanted <= set(c.attributes)]
        return min(holding, key=self._cells, default=None)

    def home_of(self, attributes: Iterable[str]) -> int:
        """The smallest clique that holds all these attributes."""
        home = self.home(attributes)
        if home is None:
            raise EstimateError("the junction tree was made for other attribute sets; make it anew")
        return home

    def shape(self, index: int) -> tuple[int, ...]:
        return tuple(self.sizes[name] for name in self.cliques[index].attributes)

    def _cells(self, index: int) -> int:
        return math.prod(self.shape(index))


def junction_tree(sizes: Mapping[str, int], factors: Iterable[Iterable[str]]) -> JunctionTree:
    """A junction tree for factors over these attribute sets.

    Attributes keep the order of `sizes` inside cliques. Elimination is greedy: the attribute whose
    clique has the fewest cells goes first, ties by the order of the attributes.
    """
    order = list(sizes)
    neighbours: dict[str, set[str]] = {name: set() for name in order}
    for factor in factors:
        names = set(factor)
        for name in names:
            neighbours[name] |= names - {name}
    left, cliques = list(order), []
    while left:
        chosen = min(left, key=lambda name: _log_cells(sizes, neighbours[name] | {name}))
        around = neighbours[chosen]
        cliques.append(frozenset(around | {chosen}))
        for name in around:
            neighbours[name] |= around - {name}
            neighbours[name].discard(chosen)
        left.remove(chosen)
    maximal = [
        c
        for i, c in enumerate(cliques)
        if not any(c < o or (c == o and j < i) for j, o in enumerate(cliques))
    ]
    return JunctionTree(dict(sizes), _rooted(order, maximal))


def _log_cells(sizes: Mapping[str, int], names: Iterable[str]) -> float:
    return sum(math.log(sizes[name]) for name in names)


def _rooted(order: Sequence[str], cliques: Sequence[frozenset[str]]) -> tuple[Clique, ...]:
    """The maximum spanning forest by the number of shared attributes (Prim), parents first."""
    names = [tuple(name for name in order if name in clique) for clique in cliques]
    placed: list[int] = []
    result: list[Clique] = []
    open_cliques = set(range(len(cliques)))
    while open_cliques:
        best = max(
            (
                (len(cliques[i] & cliques[j]), -i, -p, i, p)
                for i in open_cliques
                for p, j in enumerate(placed)
            ),
            default=(0, 0, 0, min(open_cliques), -1),
        )
        shared, *_, index, parent = best
        if shared == 0:
            index, parent = min(open_cliques), -1
            separator: AttributeSet = ()
        else:
            both = cliques[index] & cliques[placed[parent]]
            separator = tuple(name for name in order if name in both)
        result.append(Clique(names[index], parent, separator))
        placed.append(index)
        open_cliques.remove(index)
    return tuple(result)


def expand(table: FloatArray, attributes: AttributeSet, onto: AttributeSet) -> FloatArray:
    """A table over some attributes, shaped to broadcast over others that include them."""
    # Both lists keep the domain's order, so axes only have to be inserted.
    held = iter(table.shape)
    return table.reshape([next(held) if name in attributes else 1 for name in onto])


def sum_to(table: FloatArray, attributes: AttributeSet, onto: AttributeSet) -> FloatArray:
    """A table summed over the attributes that are not wanted."""
    axes = tuple(i for i, name in enumerate(attributes) if name not in onto)
    return np.asarray(table.sum(axis=axes)) if axes else table


def log_sum_to(table: FloatArray, attributes: AttributeSet, onto: AttributeSet) -> FloatArray:
    """The log of Σ exp over the attributes that are not wanted."""
    axes = tuple(i for i, name in enumerate(attributes) if name not in onto)
    if not axes:
        return table
    top = table.max(axis=axes, keepdims=True)
    return np.asarray(np.log(np.exp(table - top).sum(axis=axes)) + top.squeeze(axes))


def calibrate(
    tree: JunctionTree, log_tables: Sequence[FloatArray]
) -> tuple[list[FloatArray], float]:
    """(probabilities of each clique's cells, ln Z) of the product of exp(log_tables).

    log_tables: one for each clique, in its shape. Two passes over the tree, children to parents
    and back.
    """
    gathered = list(log_tables)
    upward: list[FloatArray] = [np.zeros(())] * len(gathered)
    log_total = 0.0
    for index in range(len(tree.cliques) - 1, -1, -1):
        clique = tree.cliques[index]
        upward[index] = log_sum_to(gathered[index], clique.attributes, clique.separator)
        if clique.parent < 0:
            log_total += float(upward[index])
        else:
            above = tree.cliques[clique.parent].attributes
            gathered[clique.parent] = gathered[clique.parent] + expand(
                upward[index], clique.separator, above
            )
    beliefs: list[FloatArray] = []
    for index, clique in enumerate(tree.cliques):
        log_belief = gathered[index]
        if clique.parent < 0:
            beliefs.append(np.exp(log_belief - float(upward[index])))
            continue
        above = tree.cliques[clique.parent].attributes
        outer = sum_to(beliefs[clique.parent], above, clique.separator)
        conditional = np.exp(
            log_belief - expand(upward[index], clique.separator, clique.attributes)
        )
        beliefs.append(conditional * expand(outer, clique.separator, clique.attributes))
    return beliefs, log_total
