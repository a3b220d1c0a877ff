"""Released tables: whole marginals with their noise, kept as tables however many cells they have.

Least squares over all of them falls apart into components (`residuals.py`). A query in the span of
the components is estimated by its coefficients on them; the weight of each released cell follows
from the share that its table has in each component.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from eke.arrays import FloatArray
from eke.domain import Domain
from eke.history import Measurement
from eke.inference.centred import (
    MOST_ATTRIBUTES,
    CentredStack,
    CentredTerm,
    Names,
    centred_terms,
    inner,
    subsets_of,
)
from eke.inference.residuals import Residuals, assemble
from eke.privacy.law import NoiseLaw, Refinement
from eke.query import Block, Query


@dataclass(frozen=True, slots=True, eq=False)
class CellWeights:
    """The weights of the cells of one released table in an estimate.

    They depend on `names` only, a subset of the table's attributes; each stands for `repeats`
    cells.
    """

    table: int  # which released table
    names: Names
    weights: FloatArray  # over the names' values
    repeats: int


@dataclass(frozen=True, slots=True, eq=False)
class _Released:
    """One block: answers M·x with M a product of matrices; a marginal has identities.

    MᵀM is a product of α·P + β·J/n, with P centring and J all ones, so that it only multiplies
    each component by a number.
    """

    names: Names
    law: NoiseLaw
    weight: float  # what each record counts for in a cell
    variance: float  # of an answer divided by the weight
    matrices: tuple[FloatArray, ...] | None
    gains: dict[str, tuple[float, float]]  # (α, β) of each attribute
    answers: int


class ReleasedTables:
    """The marginals released so far, and what they say together."""

    def __init__(self, domain: Domain) -> None:
        self.domain = domain
        self._sizes = dict(zip(domain.names, domain.shape, strict=True))
        self._residuals = Residuals(self._sizes)
        self._tables: list[_Released] = []
        self._known: dict[Names, float] = {}  # component -> variance V
        self._estimates: dict[Names, FloatArray] = {}

    def __len__(self) -> int:
        return len(self._tables)

    @property
    def known(self) -> dict[Names, float]:
        """The components that the tables determine, each with its variance."""
        return self._known

    def law(self, table: int) -> NoiseLaw:
        """The noise of a table's cells."""
        return self._tables[table].law

    def answers(self, table: int) -> int:
        """The number of noisy answers of a table: its cells, if it is a marginal."""
        return self._tables[table].answers

    def append(self, measurement: Measurement) -> None:
        """Take in a block for which `table_weight` has a number."""
        block = measurement.query
        weight = table_weight(block)
        if weight is None:
            raise ValueError("only a block that counts records alike is kept as a table")
        number, names = float(weight), block.attributes
        matrices, gains = None, dict.fromkeys(names, (1.0, 1.0))
        if block.matrices is not None:
            matrices = tuple(matrix.astype(np.float64) for matrix in block.matrices)
            gains = {n: _gains(m) or (1.0, 1.0) for n, m in zip(names, matrices, strict=True)}
        variance = measurement.law.variance / number**2
        released = _Released(names, measurement.law, number, variance, matrices, gains, block.cells)
        self._tables.append(released)
        self._take(released, measurement, variance)

    def refine(self, table: int, measurement: Measurement) -> None:
        """Let a measurement that refines a table take its place.

        The normal equations gain what an independent block would add that makes y₁ as precise as
        y₂ is; they are then those of y₂ alone (docs/proofs/refinement.md, §4).
        """
        law = measurement.charged
        if not isinstance(law, Refinement):
            raise TypeError("only a measurement that refines takes the place of a table")
        before = self._tables[table]
        after = measurement.law.variance / before.weight**2
        self._tables[table] = replace(before, law=measurement.law, variance=after)
        self._take(self._tables[table], measurement, law.variance / before.weight**2)

    def _take(self, released: _Released, measurement: Measurement, variance: float) -> None:
        """Add answers of this variance to what the components are estimated from."""
        names, law = released.names, measurement.charged
        values = np.array(measurement.values)
        if isinstance(law, Refinement):
            values = law.difference(np.array(measurement.before), values)
        values = values.reshape(measurement.query.shape) / released.weight
        for axis, matrix in enumerate(released.matrices or ()):
            values = _applied(matrix.T, values, axis)
        each = [released.gains[name] for name in names]
        self._residuals.add_block(
            names, values, variance, [alpha for alpha, _ in each], [beta for _, beta in each]
        )
        for subset in subsets_of(names):
            if self._tells(released, subset):
                self._known[subset] = self._residuals.variance(subset)
                self._estimates[subset] = self._residuals.component(subset)

    # -- what the tables know of queries -------------------------------------------------------

    def estimate(self, query: Query) -> float:
        """The estimate of a query's part in the known components."""
        total = 0.0
        for term in centred_terms(query):
            for names in self._within(term):
                part = term.part(names)
                if part is not None:
                    total += part[0] * _contracted(self._estimates[names], part[1])
        return total

    def knows(self, names: Names) -> bool:
        """True when the tables determine every cell of the table over these attributes."""
        return all(subset in self._known for subset in subsets_of(names))

    def table(self, names: Names, told: Mapping[Names, FloatArray]) -> FloatArray:
        """The estimated table over attributes that they know.

        `told` are the components of a query q whose covariance with each cell is added to it.
        """
        parts = {
            subset: self._estimates[subset] + self._known[subset] * told.get(subset, 0.0)
            for subset in subsets_of(names)
        }
        return assemble(names, self._sizes, parts)

    def treats_alike(self, name: str) -> bool:
        """True when every table stays the same if the values of an attribute change places."""
        return all(one.matrices is None or name not in one.names for one in self._tables)

    def covariance(self, one: Query, other: Query) -> float:
        """The covariance of two such estimates."""
        return inner(one, other, self.known_within(_shared(one, other)), self._gain)

    def covariances(self, stack: CentredStack, query: Query) -> FloatArray:
        """The covariances with the estimates of all queries of a stack."""
        return stack.against(query, self.known_within(query.attributes), self._gain)

    # -- what they do not know -----------------------------------------------------------------

    def unknown_inner(self, one: Query, other: Query) -> float:
        """The inner product, over uniform cells, of what lies outside the known components."""
        stack = CentredStack(self.domain)
        stack.append(other, 1.0)
        return float(self.unknown_inners(stack, one)[0])

    def unknown_inners(self, stack: CentredStack, query: Query) -> FloatArray:
        """The same with every query of a stack."""
        names = query.attributes
        if len(names) > MOST_ATTRIBUTES:  # too many components to list: take away the known ones
            known = stack.against(query, self.known_within(names), self._uniform)
            return stack.against_whole(query) - known
        unknown = [one for one in subsets_of(names) if one not in self._known]
        return stack.against(query, unknown, self._uniform)

    def known_within(self, names: Sequence[str]) -> list[Names]:
        """The known components over some of the names, which are in the domain's order."""
        if 2 ** len(names) <= len(self._known):
            return [one for one in subsets_of(names) if one in self._known]
        wanted = set(names)
        return [one for one in self._known if wanted.issuperset(one)]

    # -- weights -------------------------------------------------------------------------------

    def cell_weights(
        self, query: Query, stack: CentredStack, weights: FloatArray
    ) -> list[CellWeights]:
        """The weights of all released cells in the estimate of query − Σ weight · row."""
        asked = CentredStack(self.domain)
        asked.append(query, 1.0)
        tables = asked.combined(np.ones(1), self.known_within(query.attributes))
        if weights.any():
            told = {names for one in stack.supports for names in self.known_within(one)}
            for names, table in stack.combined(-weights, sorted(told)).items():
                tables[names] = tables[names] + table if names in tables else table
        touched = {name for names in tables for name in names}
        cell_weights = []
        for place, released in enumerate(self._tables):
            names = tuple(name for name in released.names if name in touched)
            shares = {
                subset: self._share(released, subset) * tables[subset]
                for subset in subsets_of(names)
                if subset in tables and self._tells(released, subset)
            }
            if released.matrices is None:
                weights = self._spread(shares, names)
            elif shares:
                names = released.names
                weights = self._spread(shares, names)
                for axis, matrix in enumerate(released.matrices):
                    weights = _applied(matrix, weights, axis)
            else:
                names, weights = (), np.zeros(())
            repeats = released.answers // weights.size
            cell_weights.append(CellWeights(place, names, weights / released.weight, repeats))
        return cell_weights

    def _spread(self, tables: Mapping[Names, FloatArray], names: Names) -> FloatArray:
        """The sum of tables over some of the names, each the same along what it lacks."""
        total = np.zeros([self._sizes[name] for name in names])
        for subset, table in tables.items():
            total += table.reshape([self._sizes[n] if n in subset else 1 for n in names])
        return total

    def _tells(self, released: _Released, names: Names) -> bool:
        """True when a table says something about a component."""
        return all(
            alpha > 0.0 if name in names else beta > 0.0
            for name, (alpha, beta) in released.gains.items()
        )

    def _share(self, released: _Released, names: Names) -> float:
        """The weight of a component's coefficients in the answers of one table."""
        merged = math.prod(self._sizes[n] for n in released.names if n not in names)
        return self._known[names] / (released.variance * merged)

    def _within(self, term: CentredTerm) -> list[Names]:
        return self.known_within(self.domain.in_order(term.means))

    def _gain(self, names: Names) -> float:
        return self._known[names]

    def _uniform(self, names: Names) -> float:
        return 1.0 / math.prod(self._sizes[name] for name in names)


def table_weight(block: Block) -> Fraction | None:
    """What each record counts for in a block that can be kept whole; None for any other.

    That is a plain table of counts, or a block of products whose matrices treat all values of an
    attribute alike, such as contrasts or Fourier coefficients.
    """
    if block.matrices is not None:
        alike = all(_gains(m.astype(np.float64)) is not None for m in block.matrices)
        return Fraction(1) if alike else None
    if not block.grouped or block.inside is None or len(block.inside.terms) != 1 or block.people:
        return None
    (term,) = block.inside.terms
    return None if term.vectors else term.weight


def is_coarse(block: Block) -> bool:
    """True for counts over groups of values: every value in exactly one group, some shared."""
    matrices = block.matrices
    if matrices is None or block.cells >= math.prod(block.domain.sizes(block.attributes)):
        return False
    return all(bool((m >= 0).all() and (m.sum(axis=0) == 1).all()) for m in matrices)


def _gains(matrix: FloatArray) -> tuple[float, float] | None:
    """(α, β) with MᵀM = α·P + β·J/n; None when it has another form. Integers, so exact."""
    rows, size = matrix.shape
    # Of fewer rows only equal columns have it, for α·P alone has rank n − 1; n² numbers are many.
    if rows < size - 1 and bool((matrix != matrix[:, :1]).any()):
        return None
    gram = matrix.T @ matrix
    diagonal = float(gram[0, 0])
    other = float(gram[0, 1]) if size > 1 else 0.0
    if not np.array_equal(gram, np.full_like(gram, other) + (diagonal - other) * np.eye(size)):
        return None
    return diagonal - other, diagonal + (size - 1) * other


def _applied(matrix: FloatArray, table: FloatArray, axis: int) -> FloatArray:
    """The matrix applied along one axis."""
    return np.moveaxis(np.tensordot(matrix, table, axes=(1, axis)), 0, axis)


def _shared(one: Query, other: Query) -> tuple[str, ...]:
    theirs = set(other.attributes)
    return tuple(name for name in one.attributes if name in theirs)


def _contracted(table: FloatArray, vectors: Sequence[FloatArray]) -> float:
    for vector in reversed(vectors):
        table = table @ vector
    return float(table)
