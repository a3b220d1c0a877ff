"""Facts: what decisions are made from, and what history offers for a question. No data here."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

import numpy as np

from eke.history import ChosenStep, Measurement
from eke.inference import ComposedNoise, Inference, halfwidths
from eke.planning.online.past import Past
from eke.planning.online.refine import Refinable, refinable_among
from eke.planning.online.requirement import Demand
from eke.privacy.accountant import Accountant
from eke.privacy.measure import Measure
from eke.query import Block

MANY_CELLS = 4096
"""Of a block: of more, it is first counted whether history can know them all."""
_FEW_CELLS = 64  # so few are looked at one by one, and not one of each kind


class Accounts(Protocol):
    """What was charged so far, and for what; some are read when they are needed."""

    @property
    def accountant(self) -> Accountant: ...

    @property
    def past(self) -> Past: ...

    @property
    def choices(self) -> Sequence[ChosenStep]: ...

    @property
    def spent(self) -> int: ...

    @property
    def measure(self) -> Measure: ...

    def refinable(self, query: Block) -> Refinable | None: ...


@dataclass(frozen=True, slots=True)
class AccountsAtHand:
    """Accounts that need not be read."""

    accountant: Accountant
    past: Past = field(default_factory=Past)
    measurements: Sequence[Measurement] = ()
    refined: AbstractSet[int] = frozenset()
    choices: Sequence[ChosenStep] = ()

    def refinable(self, query: Block) -> Refinable | None:
        """The measurement of this question that may be refined."""
        return refinable_among(query, self.measurements, self.refined)

    @property
    def spent(self) -> int:
        """The certified loss so far."""
        return self.accountant.spent

    @property
    def measure(self) -> Measure:
        """What losses are measured in."""
        return self.accountant.measure


@dataclass(frozen=True, slots=True)
class Facts:
    """History and accounts, without any data."""

    inference: Inference
    accounts: Accounts
    limit: int
    taken: frozenset[int] = frozenset()  # measurements that are to be refined by what is planned

    @property
    def accountant(self) -> Accountant:
        """The losses of everything charged."""
        return self.accounts.accountant

    @property
    def past(self) -> Past:
        """What was paid for before."""
        return self.accounts.past

    @property
    def choices(self) -> Sequence[ChosenStep]:
        """The numbers that were chosen as quantiles before."""
        return self.accounts.choices

    @property
    def spent(self) -> int:
        """The certified loss so far; known before the accounts are read."""
        return self.accounts.spent

    @property
    def measure(self) -> Measure:
        """What losses are measured in; known before the accounts are read."""
        return self.accounts.measure

    def times_a_record(self, query: Block) -> int:
        """How many times as much as a record a unit loses by a measurement."""
        return self.accountant.times_a_record(query)

    def refinable(self, query: Block) -> Refinable | None:
        """The measurement of this question that may be refined, where inference has kept it."""
        earlier = self.accounts.refinable(query)
        if earlier is None or earlier.place in self.taken:
            return None
        return earlier if self.inference.kept[earlier.place].serves(query) else None


Missing: TypeAlias = tuple[Demand, list[ComposedNoise | None]]
"""A demand that history does not meet, with the errors of what it offers."""


def known_errors(query: Block, inference: Inference) -> list[ComposedNoise | None]:
    """The errors of history's answers, None where it has none; each kind once for a block."""
    kinds: dict[object, ComposedNoise | None] = {}
    table = None if query.is_single else inference.table(query)
    if table is not None:
        return list({noise_kind(noise): noise for noise in table.noises}.values())
    if query.cells > MANY_CELLS and not inference.may_know(query):
        return [None]
    # Which cells are alike is told by all that was measured, which a checkpoint need not have read.
    for single in query.queries() if query.cells <= _FEW_CELLS else inference.examples(query):
        estimate = inference.linear(single)
        noise = None if estimate is None else estimate[1]
        kinds.setdefault(noise_kind(noise), noise)
    return list(kinds.values())


def noise_kind(noise: ComposedNoise | None) -> object:
    """Equal for errors that agree to ten digits: the cells of a block have few kinds of error."""
    if noise is None:
        return None
    order = np.argsort(noise.laplace_scales)
    parts = np.concatenate(
        [
            noise.laplace_scales[order],
            noise.multiplicities[order],
            [noise.gaussian_variance, noise.grid_slack],
        ]
    )
    mantissas, exponents = np.frexp(parts)
    return np.round(mantissas * 2.0**33).tobytes(), exponents.tobytes()


def offered(errors: Sequence[ComposedNoise | None], confidence: float) -> float | None:
    """The half-width that history offers for every cell; None when it leaves one undetermined."""
    known = [noise for noise in errors if noise is not None]
    if not known or len(known) < len(errors):
        return None
    return float(halfwidths(known, confidence).max())
