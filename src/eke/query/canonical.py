"""Canonical form: two spellings of one question become the same terms.

A single product has a unique form once constant factors are folded into the weight and each
vector is primitive. A sum of products over a small support is written out as a table and taken
apart again in one fixed way (see `decomposition`), which is unique as well. For larger supports
terms that differ in one factor are merged; that catches the usual spellings, and where it does not
nothing is lost but the equality of digests: inference works with the function, not with its
spelling.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from eke.domain import Domain
from eke.domain.wide import is_wide
from eke.errors import QueryError
from eke.query.decomposition import decompose
from eke.query.pieces import Pieces
from eke.query.runs import Runs, Vector, content, dense, extremes, held
from eke.query.vector import (
    HIGHEST_ADDED,
    SAFE,
    IntVector,
    dyadic_exponent,
    grid_step,
    height,
    integer_vector,
    primitive,
)

DENSE_CELLS = 2**16
"""Supports up to this many cells are canonicalised through a dense table."""
_MOST_CELLS = 2**24
Key: TypeAlias = tuple[tuple[str, bytes], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Term:
    """weight · Π_k factor_k: a product of integer vectors over attributes.

    The vectors are copied unless nobody can change them; long ones are kept as runs.
    """

    weight: Fraction
    vectors: tuple[tuple[str, Vector], ...]

    def __post_init__(self) -> None:
        frozen = tuple((name, held(_in_runs(vector))) for name, vector in self.vectors)
        object.__setattr__(self, "vectors", frozen)

    @property
    def factors(self) -> tuple[tuple[str, IntVector], ...]:
        """The vectors entry by entry; runs are written out for whoever asks."""
        return tuple((name, dense(vector)) for name, vector in self.vectors)

    @property
    def names(self) -> tuple[str, ...]:
        """The attributes along which it varies."""
        return tuple(name for name, _ in self.vectors)

    @property
    def key(self) -> Key:
        """Equal for terms with equal vectors."""
        return tuple((name, content(vector)) for name, vector in self.vectors)


def _in_runs(vector: Vector | Pieces) -> Vector:
    return vector.runs() if isinstance(vector, Pieces) else vector


def term_bounds(term: Term) -> tuple[Fraction, Fraction]:
    """(lowest, highest) value of a product over all cells; exact, the factors being independent."""
    low = high = 1
    for _, vector in term.vectors:
        smallest, largest = extremes(vector)
        corners = (low * smallest, low * largest, high * smallest, high * largest)
        low, high = min(corners), max(corners)
    ends = (low * term.weight, high * term.weight)
    return min(ends), max(ends)


def term_reach(term: Term) -> Fraction:
    """The largest absolute value of a product over all cells."""
    return max(map(abs, term_bounds(term)))


def finest_unit(terms: Iterable[Term]) -> Fraction:
    """The largest power of two that divides all (dyadic, non-zero) weights."""
    return Fraction(2) ** min(dyadic_exponent(term.weight) for term in terms)


def canonical_terms(domain: Domain, terms: Iterable[Term]) -> tuple[Term, ...]:
    """The canonical terms of the function Σ terms, all weights being dyadic."""
    reduced = merged_terms(domain, terms)
    while len(reduced) > 1:
        names = domain.in_order(name for term in reduced for name in term.names)
        if math.prod(domain.sizes(names)) <= DENSE_CELLS:
            whole = table_terms(names, wide_table(domain, names, reduced), finest_unit(reduced))
            if whole is not None:
                return whole
        fewer = _merged_by_one_factor(domain, reduced)
        if len(fewer) == len(reduced):
            break
        reduced = fewer  # attributes may have cancelled, so a table may be possible now
    return tuple(reduced)


def table_terms(
    names: Sequence[str], table: NDArray[Any], unit: Fraction
) -> tuple[Term, ...] | None:
    """The canonical terms of unit · table (integers); None when they do not fit into int64."""
    divisor = abs(int(np.gcd.reduce(table.reshape(-1))))
    if divisor == 0:
        return ()
    small = table // divisor
    # The largest entry after division depends on the function only, never on its spelling.
    if max(int(small.max()), -int(small.min())) >= SAFE:
        return None
    parts = decompose(names, small.astype(np.int64))
    return tuple(
        Term(unit * divisor * weight, tuple((n, factors[n]) for n in names if n in factors))
        for weight, factors in parts
    )


def wide_table(domain: Domain, names: Sequence[str], terms: Sequence[Term]) -> NDArray[Any]:
    """The function over the named attributes in multiples of its finest unit.

    The integers are int64 where the sums are sure to fit, else Python's own.
    """
    shape = domain.sizes(names)
    if not terms:
        return np.zeros(shape, np.int64)
    unit = finest_unit(terms)
    fits = sum((term_reach(term) for term in terms), Fraction(0)) / unit < SAFE
    dtype: Any = np.int64 if fits else object
    table = np.zeros(shape, dtype)
    axes = {name: axis for axis, name in enumerate(names)}
    for term in terms:
        box = [slice(None)] * len(names)
        product = np.full((1,) * len(names), int(term.weight / unit), dtype)
        for name, vector in term.factors:
            used = np.flatnonzero(vector)
            box[axes[name]] = slice(int(used[0]), int(used[-1]) + 1)
            along = [1] * len(names)
            along[axes[name]] = -1
            product = product * vector[box[axes[name]]].astype(dtype).reshape(along)
        table[tuple(box)] += product
    return table


def dense_table(
    domain: Domain, names: Sequence[str], terms: Sequence[Term]
) -> NDArray[np.int64] | None:
    """The function over the named attributes in multiples of its finest unit.

    None when the table or its integers would be too large.
    """
    cells = math.prod(domain.sizes(names))
    if cells > _MOST_CELLS or any(map(is_wide, domain.sizes(names))):
        return None
    if cells > DENSE_CELLS and terms:
        reach = sum((term_reach(term) for term in terms), Fraction(0))
        if reach / finest_unit(terms) >= SAFE:
            return None  # a table of that size is affordable in int64 only
    table = wide_table(domain, names, terms)
    if max(int(table.max()), -int(table.min())) >= SAFE:
        return None
    return table.astype(np.int64, copy=False)


def merged_terms(domain: Domain, terms: Iterable[Term]) -> list[Term]:
    """Terms in primitive form, equal products added up, zeros left out, in a fixed order."""
    merged: dict[Key, Term] = {}
    for term in (_reduced(domain, term) for term in terms):
        key = term.key
        weight = term.weight + (merged[key].weight if key in merged else 0)
        merged[key] = Term(weight, term.vectors)
    return [merged[key] for key in sorted(merged) if merged[key].weight]


def _reduced(domain: Domain, term: Term) -> Term:
    weight, factors = term.weight, {}
    for name, vector in term.vectors:
        factor, rest, is_constant = _primitive(vector)
        weight *= factor
        if factor and not is_constant:
            factors[name] = rest
    if weight == 0:
        return Term(Fraction(0), ())
    return Term(weight, tuple((name, factors[name]) for name in domain.names if name in factors))


def _primitive(vector: Vector) -> tuple[int, Vector, bool]:
    if isinstance(vector, Runs):
        factor, rest = vector.primitive()
        return factor, rest, rest.is_constant
    divisor, entries = primitive(np.asarray(vector, np.int64))
    return divisor, entries, bool((entries == entries[0]).all())


def _merged_by_one_factor(domain: Domain, terms: list[Term]) -> list[Term]:
    """Fewer terms where some differ in exactly one factor: those are added up."""
    keys = [term.key for term in terms]
    for name in domain.in_order(name for term in terms for name in term.names):
        groups: dict[Key, list[Term]] = {}
        for term, key in zip(terms, keys, strict=True):
            others = tuple(part for part in key if part[0] != name)
            groups.setdefault(others, []).append(term)
        if len(groups) < len(terms):
            merged = [t for group in groups.values() for t in _sum_along(domain, name, group)]
            terms = merged_terms(domain, merged)
            keys = [term.key for term in terms]
    return terms


def _sum_along(domain: Domain, name: str, group: list[Term]) -> list[Term]:
    """The group's terms as one, or as they were when the integers would grow too large."""
    if len(group) == 1:
        return group
    unit = finest_unit(group)
    size = domain[name].size
    along = [dict(term.vectors).get(name) for term in group]
    weights = [int(term.weight / unit) for term in group]
    others = tuple((n, v) for n, v in group[0].vectors if n != name)
    if is_wide(size):
        summed = _sum_of_pieces(size, weights, along)
        return group if summed is None else [Term(unit, (*others, (name, summed)))]
    heights = (1 if vector is None else max(map(abs, extremes(vector))) for vector in along)
    fits = sum(abs(weight) * most for weight, most in zip(weights, heights, strict=True)) < SAFE
    dtype: Any = np.int64 if fits else object
    total: NDArray[Any] = np.zeros(size, dtype)
    for weight, vector in zip(weights, along, strict=True):
        total += weight * (np.ones(size, dtype) if vector is None else dense(vector).astype(dtype))
    if max(int(total.max()), -int(total.min())) >= SAFE:
        return group
    return [Term(unit, (*others, (name, total.astype(np.int64))))]


def _sum_of_pieces(
    size: int, weights: Sequence[int], along: Sequence[Vector | None]
) -> Vector | None:
    """The weighted sum of vectors over a wide column, None being all ones; None if none can be."""
    total = Pieces.constant(size, 0)
    try:
        for weight, vector in zip(weights, along, strict=True):
            added = Pieces.constant(size, 1) if vector is None else Pieces.of_vector(vector)
            total = total + added * weight
        return total.runs()
    except QueryError:
        return None


def term_product(first: Term, second: Term) -> Term:
    """The product at each cell; a vector that outgrows 62 bits is put on the coefficient grid."""
    weight, factors = first.weight * second.weight, dict(first.vectors)
    for name, vector in second.vectors:
        if name not in factors:
            factors[name] = vector
            continue
        if is_wide(vector.size):
            wide_product = Pieces.of_vector(factors[name]) * Pieces.of_vector(vector)
            factors[name] = wide_product.runs()
            continue
        one, other = dense(factors[name]), dense(vector)
        if height(one) * height(other) < SAFE:
            factors[name] = one * other
        else:
            wide = one.astype(object) * other
            unit, factors[name] = integer_vector([Fraction(int(v)) for v in wide])
            weight *= unit
    return Term(weight, tuple(factors.items()))


def check_factors(domain: Domain, term: Term) -> None:
    """Raise unless a term has one vector of exact integers for each of some attributes."""
    if len(set(term.names)) != len(term.names):
        raise QueryError("a term has one factor for each attribute; multiply them first")
    for name, vector in term.vectors:
        if name not in domain:
            raise QueryError(domain.unknown(name))
        if vector.shape != (domain[name].size,):
            raise QueryError(f"a factor over {name!r} needs {domain[name].size} coefficients")
        if vector.dtype.kind != "i" or max(map(abs, extremes(vector))) >= SAFE:
            raise QueryError(f"a factor over {name!r} must hold integers below 2^62")


def checked(domain: Domain, terms: Iterable[Term]) -> list[Term]:
    """The terms, each of which fits the domain."""
    given = list(terms)
    for term in given:
        check_factors(domain, term)
    return given


def _stay_whole(terms: Sequence[Term], reaches: Sequence[Fraction]) -> bool:
    """Whether terms over a wide column stay as they are, for noise hides their coefficients."""
    if not any(is_wide(vector.size) for term in terms for _, vector in term.vectors):
        return False
    denominators = [term.weight.denominator for term in terms]
    if any(one & (one - 1) for one in denominators):
        return False
    return sum(reaches, Fraction(0)) / finest_unit(terms) < HIGHEST_ADDED


def gridded(terms: Sequence[Term]) -> list[Term]:
    """The terms with weights rounded to the grid of the largest coefficient of any term."""
    reaches = [term_reach(term) for term in terms]
    if _stay_whole(terms, reaches):
        return list(terms)
    largest = max(reaches, default=Fraction(0))
    rounded = []
    for term, reach in zip(terms, reaches, strict=True):
        step = grid_step(largest * abs(term.weight) / reach)
        rounded.append(Term(round(term.weight / step) * step, term.vectors))
    return [term for term in rounded if term.weight]
