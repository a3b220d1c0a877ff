"""Adaptive releases: what is measured next depends on what was measured before, at a fixed price.

A publisher that selects marginals, or scores of rows, cannot say beforehand which. It says what all
of it may cost; the junction charges that, and then hands out a `Desk`, which measures, chooses and
scores as it is told, computes the price of every step itself, and refuses a step that the rest of
the allowance does not cover. See docs/proofs/selection.md and docs/proofs/pca.md.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Self

import numpy as np

from eke.arrays import IntArray
from eke.data import Counts, Rows
from eke.domain import Domain
from eke.engine.checked import checked_choice, checked_law, checked_part, checked_query
from eke.engine.draws import Drawing, Wanted, text_of
from eke.engine.exact import exact_answers
from eke.engine.exact_ranks import exact_ranks
from eke.engine.row_scores import RowScores, checked_scores, exact_scores
from eke.errors import PrivacyError
from eke.history import ChosenStep, Measurement, RankChoice
from eke.inference.progress import Progress, silent
from eke.mechanism import (
    Secret,
    choose_among_runs,
    choose_several_with_noise,
    reveal_with_noise,
)
from eke.planning import Part, Plan
from eke.privacy.accountant import Accountant
from eke.privacy.law import DiscreteLaplace, DiscreteLaw
from eke.privacy.pure import PURE
from eke.query import Kronecker
from eke.query.vector import SAFE, frozen_array, height

MOST_KNOWN = 2**26
"""The most exact counts that a desk keeps at a time."""
LARGEST_NUMBER = 2**52
"""The most steps that an expected count or a handicap may have."""
LARGEST_WEIGHT = 2**10
"""Of an option of a choice."""


@dataclass(frozen=True, slots=True, eq=False)
class ChoiceOption:
    """A block of counts that could be measured, and what is expected of it, in steps of a grid.

    The score of an option counts `weight` times.
    """

    block: Kronecker
    expected: IntArray  # (cells,) in steps
    handicap: int  # taken from the distance, in steps
    weight: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "expected", frozen_array(self.expected))
        if self.expected.shape != (self.block.cells,) or self.expected.dtype != np.int64:
            raise PrivacyError("an option needs one expected integer for each of its counts")
        if type(self.handicap) is not int:
            raise PrivacyError("the handicap of an option is a whole number of steps")
        if type(self.weight) is not int or not 1 <= self.weight <= LARGEST_WEIGHT:
            raise PrivacyError(f"the weight of an option is a whole number up to {LARGEST_WEIGHT}")
        if max(height(self.expected), abs(self.handicap)) > LARGEST_NUMBER:
            raise PrivacyError("expected counts and handicaps must be at most 2^52 steps")


@dataclass(frozen=True, slots=True, eq=False)
class Selection:
    """Private choices of options: the exponential mechanism on weight · Σ |count − expected|.

    The chance of an option is ∝ exp(score / b), b being the scale of the law; `exponent` is the
    grid of the expected counts. Of several `picks` each is chosen from the options that are left.
    """

    options: tuple[ChoiceOption, ...]
    exponent: int
    law: DiscreteLaplace
    picks: int = 1

    def __post_init__(self) -> None:
        if not self.options:
            raise PrivacyError("a selection needs at least one option")
        if type(self.picks) is not int or not 1 <= self.picks <= len(self.options):
            raise PrivacyError("a selection picks a whole number of its options, one at least")
        if not -30 <= self.exponent <= 0 or self.law.exponent > self.exponent:
            raise PrivacyError(
                "the noise grid must be at least as fine as that of the scores, which has an "
                "exponent from -30 to 0"
            )

    @property
    def reach(self) -> int:
        """The most that one added record can move any score.

        Privacy: | ‖c − e‖₁ − ‖c′ − e‖₁ | ≤ ‖c − c′‖₁, and the right side is at most the largest
        sum of absolute coefficients of one cell, computed here from the blocks; a weighted score
        moves weight times as far.
        """
        return max(option.weight * option.block.largest_reach(1) for option in self.options)

    def text(self) -> str:
        """What tells this choice from every other."""
        digest = hashlib.sha256()
        for option in self.options:
            digest.update(
                repr(
                    (option.block.attributes, option.block.shape, option.handicap, option.weight)
                ).encode()
            )
            for numbers in (*option.block.matrices, option.expected):
                digest.update(np.ascontiguousarray(numbers, "<i8").tobytes())
        law, options = self.law.to_json(), digest.hexdigest()
        return text_of(
            {"options": options, "exponent": self.exponent, "law": law, "picks": self.picks}
        )


class Desk:
    """Measurements, choices and scores of rows for what was charged for them before.

    Privacy: a step is priced from its own integers before data is looked at; prices add up
    (adaptive composition), and what goes beyond the allowance is refused. Exact numbers leave as
    noisy values or as the index of a choice only, each stored before it is handed out
    (`eke.engine.draws`), and only within the with block of the release: whoever keeps the desk
    beyond it finds it closed and empty.
    """

    def __init__(
        self,
        plan: Plan,
        accountant: Accountant,
        draws: Drawing,
        *,
        counts: Mapping[tuple[str, ...], Counts],
        rows: Rows | None = None,
        progress: Progress = silent,
    ) -> None:
        self._counts = counts
        self._rows = rows
        self._row_loss = plan.row_loss
        self._allowance = self._left = plan.later_loss
        self._accountant = accountant
        self._draws = draws
        self._progress = progress
        self._known: dict[bytes, IntArray] = {}  # exact, and let go of with the counts
        self._measured: list[Measurement] = []
        self._chosen: list[ChosenStep] = []
        self._open = True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._open = False
        self._counts = {}
        self._known = {}
        self._rows = None

    @property
    def left(self) -> int:
        """What is left of the allowance for measurements and choices, in nano-units; public."""
        return self._left

    @property
    def measured(self) -> tuple[Measurement, ...]:
        """Everything that was measured here, in order."""
        return tuple(self._measured)

    @property
    def chosen(self) -> tuple[ChosenStep, ...]:
        """Every step of a column that was chosen here, in order."""
        return tuple(self._chosen)

    def measure(self, part: Part) -> Measurement:
        """One more noisy answer or block."""
        part = checked_part(part, self._accountant.domain, self._accountant.measure)
        held = self._of(part.query.needed)
        self._pay(self._accountant.price(part.query, part.law))
        self._draws.look()
        secret = exact_answers(part.query, held.within(part.query.needed))
        steps = self._drawn(
            text_of(part.to_document()), lambda: reveal_with_noise(secret, part.law)
        )
        measured = measurement(part, steps)
        self._measured.append(measured)
        return measured

    def choose(self, selection: Selection) -> list[int]:
        """The indices of so many options as are picked, by the exponential mechanism.

        Privacy: each pick is a choice of its own, and paid for as one.
        """
        selection = checked_selection(selection, self._accountant.domain)
        for option in selection.options:
            self._of(option.block.attributes)
        price = self._accountant.price_of_choice(selection.reach, selection.law)
        self._pay(selection.picks * price)
        self._draws.look()
        exact = [self._answers(option.block) for option in selection.options]
        secret = exact_distances(selection, exact)
        return self._drawn(
            selection.text(),
            lambda: choose_several_with_noise(secret, selection.law, selection.picks),
        )

    def choose_step(self, choice: RankChoice) -> ChosenStep:
        """A number of a column, chosen as a quantile: docs/proofs/quantiles.md."""
        choice = checked_choice(choice, self._accountant.domain)
        counts = self._of(choice.needed)
        self._pay(choice.price(self._accountant))
        self._draws.look()
        secret = exact_ranks(choice, counts.within(choice.needed))
        (place,) = self._drawn(
            text_of(choice.to_document()), lambda: [choose_among_runs(secret, choice.law)]
        )
        chosen = ChosenStep(choice, choice.steps[0] + place)
        self._chosen.append(chosen)
        return chosen

    def score_rows(self, scores: RowScores) -> tuple[list[int], DiscreteLaw]:
        """The noisy scores of all rows, row after row, in steps of the law, and that law.

        Privacy: the law is chosen here, as the least noise with which these scores cost no more
        than what is left of `row_loss`; so there is nothing to trust, and nothing that can fail.
        """
        if not self._open or self._rows is None or not self._row_loss:
            raise PrivacyError("scores of rows are released once, by a plan with a row_loss")
        scores = checked_scores(scores, self._accountant.domain)
        law = scores.law_within(self._row_loss, self._accountant.measure)
        self._row_loss = 0
        self._draws.look()
        secret = exact_scores(scores, self._rows)
        return self._drawn(scores.text(law), lambda: reveal_with_noise(secret, law)), law

    def _drawn(self, what: str, draw: Callable[[], list[int]]) -> list[int]:
        (steps,) = self._draws.take([Wanted(what, draw)])
        self._progress("measuring", 1.0 - self._left / max(self._allowance, 1))
        return steps

    def _of(self, attributes: tuple[str, ...]) -> Counts:
        """The counts of these attributes, or of more."""
        if not self._open:
            raise PrivacyError("this adaptive release is over; start another one")
        if attributes in self._counts:
            return self._counts[attributes]
        wider = next((own for own in self._counts if set(attributes) <= set(own)), None)
        if wider is None:
            raise PrivacyError("an adaptive release names all attribute sets before it begins")
        return self._counts[wider]

    def _answers(self, block: Kronecker) -> IntArray:
        """The exact answers of a block, kept while the desk is open: choices ask for them again.

        Privacy: from the counts of its own attributes, or summed from those of more. They leave
        in a `Secret` only.
        """
        key = hashlib.sha256(repr((block.attributes, block.shape)).encode())
        for matrix in block.matrices:
            key.update(np.ascontiguousarray(matrix, "<i8").tobytes())
        name = key.digest()
        if name not in self._known:
            held = self._of(block.attributes)
            places = [held.attributes.index(attribute) for attribute in block.attributes]
            if sum(map(len, self._known.values())) + block.cells > MOST_KNOWN:
                self._known.clear()
            exact = block.exact_answers(block.attributes, held.codes[:, places], held.counts)
            fits = all(abs(answer) < SAFE for answer in exact)
            self._known[name] = np.array(exact, np.int64 if fits else object)
        return self._known[name]

    def _pay(self, price: int) -> None:
        if price > self._left:
            raise PrivacyError("this step costs more than is left of what was charged for it")
        self._left -= price


def measurement(part: Part, steps: Sequence[int], known: Sequence[Measurement] = ()) -> Measurement:
    """What was measured, from the steps that were drawn; `known` is what was released before."""
    values = tuple(step * part.law.step for step in steps)
    before = () if part.refines is None else known[part.refines.place].values
    return Measurement(part.query, part.law, values, refines=part.refines, before=before)


def checked_selection(selection: object, domain: Domain) -> Selection:
    """The junction's own copy of a choice, of exactly known types, over its own domain.

    Privacy: what is chosen from and how far a record can move it follow from the same numbers,
    which nobody else holds.
    """
    if type(selection) is not Selection:
        raise PrivacyError("only a Selection can be chosen from, and nothing derived from it")
    options = []
    for option in selection.options:
        if type(option) is not ChoiceOption:
            raise PrivacyError("a selection is made of options, and nothing derived from them")
        block = checked_query(option.block, domain)
        # Scores are sums of whole numbers: no other kind is known to have them.
        if not isinstance(block, Kronecker):
            raise PrivacyError("the options of a selection are blocks of products")
        options.append(ChoiceOption(block, option.expected.view(), option.handicap, option.weight))
    law = checked_law(selection.law, PURE)
    if not isinstance(law, DiscreteLaplace) or type(selection.exponent) is not int:
        raise PrivacyError("a choice is drawn with discrete Laplace noise on a grid")
    return Selection(tuple(options), selection.exponent, law, selection.picks)


def exact_distances(selection: Selection, answers: Sequence[IntArray]) -> Secret:
    """The exact score of each option, in units of 2^exponent, from the exact counts of each.

    Privacy: sums of whole numbers, of Python's where int64 might not hold them, so that one record
    moves a score by no more than `reach`.
    """
    scores = []
    per_record = int(Fraction(2) ** -selection.exponent)
    for option, exact in zip(selection.options, answers, strict=True):
        largest = height(exact) * per_record + height(option.expected)
        dtype = np.int64 if largest * max(len(exact), 1) < SAFE else object
        apart = exact.astype(dtype) * per_record - option.expected.astype(dtype)
        scores.append(option.weight * (int(np.abs(apart).sum()) - option.handicap))
    return Secret(scores, selection.exponent)
