"""Measuring: what a release does at the data, once it is charged.

The parts of a plan are measured in every release. What follows from them is the business of a
`Measuring`, of which there are four: nothing (`PartsAlone`), scores of every row (`RowScoring`),
marginals that are selected step by step (`Selecting`), and the numbers that a plan has chosen as
quantiles (`Choosing`). One says before the charge what it needs
of the table and which loss of the plan it spends; after it, it works at a `Desk`, which prices
every step and refuses what the charge does not cover. See docs/proofs/release.md.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, Literal, Protocol, TypeAlias

from eke.data import Counts, Holdings, Source
from eke.engine.adaptive import Desk, measurement
from eke.engine.draws import Draws, Wanted, text_of
from eke.engine.exact import exact_answers
from eke.engine.refined import steps_before
from eke.engine.row_scores import RowScores
from eke.errors import PrivacyError
from eke.history import Measurement, RankChoice
from eke.ledger.failpoint import failpoint
from eke.mechanism import Secret, refine_with_noise, reveal_with_noise
from eke.planning import Part, Plan
from eke.privacy.accountant import Accountant
from eke.privacy.law import DiscreteLaw, Refinement

FlatLoss: TypeAlias = Literal["row_loss", "later_loss"]
"""What a plan charges every record beside its parts, by the name that it has in a `Plan`."""
AttributeSets: TypeAlias = tuple[tuple[str, ...], ...]
ScoreRows: TypeAlias = Callable[[RowScores], tuple[list[int], DiscreteLaw]]
"""The noisy scores of all rows, in steps of the law that the charge pays for; `Desk.score_rows`."""


class Measuring(Protocol):
    """What is measured beside the parts of a plan.

    Privacy: it decides from released values and public facts alone. What it says of itself need not
    be true: the junction compares what it spends with what the plan charges (`check_losses`), and
    the desk refuses what was not charged, or not named before the charge.
    """

    @property
    def attribute_sets(self) -> AttributeSets:
        """The sets of attributes whose counts it may come to need, so that they are read once."""
        ...

    @property
    def spends(self) -> AbstractSet[FlatLoss]:
        """The losses that pay for its steps: a plan must charge these, and no other.

        `row_loss` pays for scores of rows, which are listed for it before the charge; `later_loss`
        pays for measurements and choices.
        """
        ...

    def proceed(self, desk: Desk, measured: Sequence[Measurement]) -> None:
        """Do so at the desk; `measured` is what the plan's own parts gave."""
        ...


class PartsAlone:
    """Counts: the parts of the plan, and nothing that follows from them."""

    attribute_sets: ClassVar[AttributeSets] = ()
    spends: ClassVar[AbstractSet[FlatLoss]] = frozenset()

    def proceed(self, desk: Desk, measured: Sequence[Measurement]) -> None:
        """Nothing: all was measured."""


PARTS_ALONE = PartsAlone()


@dataclass(frozen=True, slots=True)
class RowScoring:
    """Scores of every row, chosen by what the parts gave: differential PCA (docs/proofs/pca.md)."""

    attribute_sets: ClassVar[AttributeSets] = ()
    spends: ClassVar[AbstractSet[FlatLoss]] = frozenset({"row_loss"})
    decide: Callable[[ScoreRows, Sequence[Measurement]], None]

    def proceed(self, desk: Desk, measured: Sequence[Measurement]) -> None:
        self.decide(desk.score_rows, measured)


@dataclass(frozen=True, slots=True)
class Selecting:
    """Choices and measurements, each decided by those before it (docs/proofs/selection.md)."""

    spends: ClassVar[AbstractSet[FlatLoss]] = frozenset({"later_loss"})
    decide: Callable[[Desk, Sequence[Measurement]], None]
    attribute_sets: AttributeSets

    def proceed(self, desk: Desk, measured: Sequence[Measurement]) -> None:
        self.decide(desk, measured)


@dataclass(frozen=True, slots=True)
class Choosing:
    """Numbers chosen as quantiles, as the plan itself says (docs/proofs/quantiles.md)."""

    spends: ClassVar[AbstractSet[FlatLoss]] = frozenset({"later_loss"})
    choices: tuple[RankChoice, ...]

    @property
    def attribute_sets(self) -> AttributeSets:
        return tuple(choice.needed for choice in self.choices)

    def proceed(self, desk: Desk, measured: Sequence[Measurement]) -> None:
        for choice in self.choices:
            desk.choose_step(choice)


def measuring_of(plan: Plan, measuring: Measuring) -> Measuring:
    """How a plan is measured: one with choices says so itself, also when it is read again."""
    if not plan.choices:
        return measuring
    if measuring is not PARTS_ALONE:
        raise PrivacyError("a plan with choices has nothing else that follows from its parts")
    return Choosing(plan.choices)


def check_choices(plan: Plan, accountant: Accountant) -> None:
    """Raise, before anything is paid, unless a plan charges just what its choices cost."""
    if plan.choices and plan.later_loss != sum(one.price(accountant) for one in plan.choices):
        raise PrivacyError("this plan charges something else than its choices cost; plan it again")


def check_losses(plan: Plan, measuring: Measuring) -> None:
    """Raise unless the plan charges what is spent by how it is measured, and nothing else.

    Privacy: how much may be spent is what the plan charges, whoever spends it (`Desk`). This keeps
    a loss from being charged that nobody can spend.
    """
    losses: dict[FlatLoss, int] = {"row_loss": plan.row_loss, "later_loss": plan.later_loss}
    charged = {name for name, loss in losses.items() if loss}
    if charged != set(measuring.spends):
        raise PrivacyError(
            f"beside its parts this plan charges {_listed(charged)}, and measuring="
            f"{type(measuring).__name__} spends {_listed(measuring.spends)}; release a plan by the "
            "measuring that it was made for"
        )


def needed_by_parts(plan: Plan) -> list[tuple[str, ...]]:
    """The attributes whose counts each part of a plan needs."""
    return [part.query.needed for part in plan.parts]


def load_for_parts(source: Source, plan: Plan, more: AttributeSets) -> None:
    """Make sure that all can be counted, so that what is wrong shows before anything is paid."""
    source.load([*needed_by_parts(plan), *more])
    if any(part.query.people for part in plan.parts):
        source.load_people()


def counted_for_parts(
    source: Source, plan: Plan, more: AttributeSets
) -> tuple[list[Counts | Holdings], list[Counts]]:
    """What each part of a plan needs of the table, and the counts of more sets of attributes.

    Privacy: counts are of one moment. Who has rows where is found to make up the same counts
    (`CellSource.load_people`).
    """
    counts = source.counts([*needed_by_parts(plan), *more])
    counted: list[Counts | Holdings] = []
    for part, table in zip(plan.parts, counts, strict=False):
        counted += source.holdings([table.attributes]) if part.query.people else [table]
    return counted, counts[len(plan.parts) :]


def measured_parts(
    plan: Plan, counts: Sequence[Counts | Holdings], draws: Draws, known: Sequence[Measurement] = ()
) -> list[Measurement]:
    """What the plan's own parts give, stored; `known` is what was released before.

    Privacy: one draw for each part, under the law that was charged; all are stored together before
    any is handed out.
    """
    secrets = [exact_answers(part.query, own) for part, own in zip(plan.parts, counts, strict=True)]
    failpoint("engine.counted")
    wanted = [
        Wanted(text_of(part.to_document()), _drawing(part, secret, known))
        for part, secret in zip(plan.parts, secrets, strict=True)
    ]
    drawn = draws.take(wanted)
    return [measurement(part, steps, known) for part, steps in zip(plan.parts, drawn, strict=True)]


def _drawing(part: Part, secret: Secret, known: Sequence[Measurement]) -> Callable[[], list[int]]:
    if isinstance(part.charged, Refinement):
        return partial(refine_with_noise, secret, steps_before(part, known), part.charged)
    return partial(reveal_with_noise, secret, part.law)


def carried_out(
    measuring: Measuring, desk: Desk, measured: Sequence[Measurement], draws: Draws
) -> bool:
    """Whether all that follows from the parts could be done; the desk is closed after it.

    Privacy: what it failed on may be noise, so a failure is final, and False. It is none when the
    ledger could not be used, or when the work was interrupted: then the same key goes on.
    """
    try:
        with desk:
            measuring.proceed(desk, tuple(measured))
    except Exception:
        if draws.problem is not None:
            raise
        return False
    return True


def _listed(losses: AbstractSet[FlatLoss]) -> str:
    return " and ".join(sorted(losses)) or "nothing"
