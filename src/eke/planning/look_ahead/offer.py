"""Offers: blocks that can be bought instead of renting an answer, with what they do for prospects.

    table      every cell of a marginal by itself: good for narrow questions
    groups     the cells that questions so far tell apart, merged where none does: cheap as long as
               analysts ask by the same few groups of values
    strategy   a hierarchy or wavelet along long attributes, cells along short ones: good for ranges

A block of one noise variance v gives a prospect the variance factor · v. Whether later questions
will fit the groups is learned from those before: the share of prospects that tell apart what no
other does is, as Good and Turing estimated it, the chance that the next one does.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from eke.arrays import FloatArray
from eke.domain import Domain
from eke.inference import MOST_COARSE_ROWS
from eke.planning.look_ahead.prospect import MOST_CELLS, Names, Prospect, block_factor, line_factor
from eke.planning.online.plan import Part, part_for
from eke.planning.online.refine import Refinable
from eke.planning.workload.strategy.line import one_matrix
from eke.privacy.accountant import Accountant
from eke.privacy.measure import Measure
from eke.query import Block, Kronecker, Marginal, Query, Term

IntMatrix = NDArray[np.int64]

Kind: TypeAlias = Literal["table", "groups", "strategy"]

MOST_ANSWERS = 512
"""Of a block that is no table; inference takes its answers one by one."""
MOST_ROWS = 1024
"""Single answers in inference, after which no more of them are bought at once."""
_LEAST_SEEN = 6  # prospects before groups are tried
_LEAST_SIZE, _MOST_SIZE = 8, 256
"""Of an attribute along which a strategy other than cells is tried."""
_LITTLE_LESS = 1.0 - 2.0**-18  # noise is rounded up to its grid


@dataclass(frozen=True, slots=True, eq=False)
class Offer:
    """A block that may be bought, before its noise is chosen."""

    names: Names
    block: Block
    factors: FloatArray  # (prospects,) variance for unit noise; infinite where it tells nothing
    needed: FloatArray  # (prospects,) variance that each may have
    measure: Measure
    unit_price: float  # nano-units at noise variance one
    kind: Kind
    chance: float = 1.0  # that a question like a prospect fits the block at all
    earlier: Refinable | None = None  # the block as it was measured before

    def price(self, noise_variance: float) -> float:
        """What it costs, but for the rounding of noise and loss."""
        if self.earlier is None:
            return self._price(noise_variance)
        finer = self.earlier.variance_with(noise_variance)
        return self._price(finer) - self._price(self.earlier.law.variance)

    def _price(self, noise_variance: float) -> float:
        power = self.measure.order / 2.0
        return float(self.unit_price / noise_variance**power)

    def part(self, noise_variance: float) -> Part:
        """The block, to be measured with (a little less than) this variance.

        If it was measured before, it is refined by as much as that would add.
        """
        refined = None
        if self.earlier is not None:
            finer = self.earlier.variance_with(noise_variance)
            scale = self.measure.scale_of(finer) * _LITTLE_LESS
            refined = self.earlier.part(self.block, scale)
        return refined or block_part(self.block, noise_variance, self.measure)

    def variance_for(self, prospect: int, known: float) -> float:
        """The noise variance with which the block, and what is known, just meet a prospect."""
        lacking = 1.0 / self.needed[prospect] - known
        if lacking <= 0.0:
            return math.inf
        return float(1.0 / (lacking * self.factors[prospect]))

    def unmet(self, noise_variance: float, known: FloatArray, octaves: float) -> FloatArray:
        """The share of questions like each prospect that would still have to be rented.

        Accuracies to come are spread by so many factors of two around those seen.
        """
        precision = known + 1.0 / (self.factors * noise_variance)
        with np.errstate(divide="ignore"):
            ratio = 0.5 * np.log2(precision * self.needed)  # octaves to spare
        if octaves > 0.0:
            missed = np.clip(0.5 - ratio / (2.0 * octaves), 0.0, 1.0)
        else:
            missed = np.asarray(ratio < -1e-9, np.float64)
        return 1.0 - self.chance * (1.0 - missed)


def offers(
    names: Names,
    prospects: Sequence[Prospect],
    accountant: Accountant,
    domain: Domain,
    *,
    now: int,
    rows: int,
) -> Iterator[Offer]:
    """The blocks over these names; the last `now` prospects are demands made now.

    `rows` are the single answers that inference has already.
    """
    sizes, measure = domain.sizes(names), accountant.measure
    cells = math.prod(sizes)
    if cells <= MOST_CELLS:
        everyone = Query.of(domain, [Term(Fraction(1), ())])
        table = Marginal(names, everyone)
        early = len(prospects) - now
        needed = np.array(
            [one.likely_variance(cells, measure) for one in prospects[:early]]
            + [one.needed_variance(cells, measure) for one in prospects[early:]]
        )
        squares = np.array([one.squares(cells) for one in prospects])
        price = _unit_price(table, float(np.median(needed)), accountant)
        yield Offer(names, table, squares, needed, measure, price, "table")
    if any(one.vectors is None for one in prospects):
        return
    safe = np.array([one.safe_variance(measure) for one in prospects])
    grouped, lonely = _groups(names, sizes, prospects)
    fitting = 1.0 - (1.0 + lonely) / (2.0 + len(prospects))
    ways: tuple[tuple[Kind, tuple[IntMatrix, ...] | None, float, int], ...] = (
        ("groups", grouped, fitting, MOST_COARSE_ROWS - rows),
        ("strategy", _strategy(names, sizes, prospects, measure), 1.0, MOST_ROWS - rows),
    )
    for kind, matrices, chance, most in ways:
        if matrices is None or math.prod(len(m) for m in matrices) > min(most, MOST_ANSWERS):
            continue
        block = Kronecker(domain, names, matrices)
        factors = np.array([block_factor(one, names, matrices) for one in prospects])
        price = _unit_price(block, float(np.median(safe)), accountant)
        yield Offer(names, block, factors, safe, measure, price, kind, chance)


def block_part(block: Block, noise_variance: float, measure: Measure) -> Part:
    """A block to be measured with (a little less than) this variance."""
    return part_for(block, measure.scale_of(noise_variance) * _LITTLE_LESS, measure)


def _unit_price(block: Block, typical_variance: float, accountant: Accountant) -> float:
    """The price at noise variance one, from that at a variance that can be drawn exactly."""
    law = block_part(block, typical_variance, accountant.measure).law
    power = accountant.measure.order / 2.0
    return float(accountant.price(block, law) * law.variance**power)


def _groups(
    names: Names, sizes: Sequence[int], prospects: Sequence[Prospect]
) -> tuple[tuple[IntMatrix, ...] | None, int]:
    """Groups of values that no prospect tells apart; how many prospects alone tell some apart."""
    lonely = np.zeros(len(prospects), np.bool_)
    matrices = []
    for name, size in zip(names, sizes, strict=True):
        seen = np.stack([_along(one, name, size) for one in prospects])  # (prospects, values)
        kinds, places = np.unique(seen, axis=1, return_inverse=True)
        places = places.reshape(-1)
        matrices.append((np.arange(kinds.shape[1])[:, None] == places).astype(np.int64))
        # A boundary between two kinds is lonely if one prospect only tells them apart.
        if kinds.shape[1] > 1:
            apart = kinds[:, :, None] != kinds[:, None, :]
            lonely |= (apart & (apart.sum(axis=0) == 1)).any(axis=(1, 2))
    answers, cells = math.prod(len(m) for m in matrices), math.prod(sizes)
    alone = int(lonely.sum())
    few = len(prospects) < _LEAST_SEEN or 2 * alone > len(prospects)
    if few or 2 * answers > cells:  # no habit to be seen, or hardly coarser than cells
        return None, alone
    return tuple(matrices), alone


def _strategy(
    names: Names, sizes: Sequence[int], prospects: Sequence[Prospect], measure: Measure
) -> tuple[IntMatrix, ...] | None:
    """For each attribute cells, or a strategy for ranges if the prospects are better off."""
    power = measure.order
    matrices, better = [], False
    for name, size in zip(names, sizes, strict=True):
        chosen = np.eye(size, dtype=np.int64)
        if _LEAST_SIZE <= size <= _MOST_SIZE:
            matrix = one_matrix(size, measure)
            reach = float((np.abs(matrix) ** power).sum(axis=0).max()) ** (2 / power)
            gained = 0.0
            for prospect in prospects:
                vector = _along(prospect, name, size)
                gained += math.log(float(vector @ vector) / (line_factor(vector, matrix) * reach))
            if gained > 0.0:
                chosen, better = matrix, True
        matrices.append(chosen)
    return tuple(matrices) if better else None


def _along(prospect: Prospect, name: str, size: int) -> FloatArray:
    """The factor of a prospect that is known to be a product."""
    vector = prospect.along(name, size)
    return np.zeros(size) if vector is None else vector
