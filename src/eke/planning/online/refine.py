"""Refining: a question that was measured before gets less noise, for the difference of the losses.

Two independent Laplace noises that are averaged are worse than one that costs as much as both. So
where the question itself was measured, its noise is made smaller instead, and nothing of what was
paid before is lost (docs/proofs/refinement.md).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

import numpy as np

from eke.history import Measurement
from eke.inference import ComposedNoise, Inference, halfwidth
from eke.inference.crossing import crossing
from eke.inference.kept import Kept
from eke.planning.online.noise_rule import TAILS_FROM, beyond
from eke.planning.online.plan import Part
from eke.planning.online.requirement import Requirement
from eke.privacy.law import DiscreteLaplace
from eke.privacy.refinement import Earlier
from eke.query import Block

LEAST_STEPS = 2**10
"""Noise of fewer steps than this would show its grid; then the question is measured anew."""
EXACT = 2**53
"""Noisy answers of fewer steps are whole numbers in the history as well, which keeps doubles."""


@dataclass(frozen=True, slots=True)
class Refinable:
    """A measurement that can be refined: its place in the history, and its noise."""

    place: int
    law: DiscreteLaplace

    def part(self, query: Block, laplace_scale: float) -> Part | None:
        """The question with noise of at most this scale; None if that is no finer, or too fine."""
        steps = math.floor(laplace_scale / self.law.step)
        if not LEAST_STEPS <= steps < self.law.steps:
            return None
        law = DiscreteLaplace(steps, self.law.exponent)
        return Part(query, law, Earlier(self.place, self.law.steps))

    def variance_with(self, variance: float) -> float:
        """That of the noise which is as good as this one and one of some variance together."""
        return 1.0 / (1.0 / self.law.variance + 1.0 / variance)


def is_refinable(measured: Measurement) -> bool:
    """Whether the noise of a measurement can be refined: Laplace, and known to the last step."""
    law = measured.law
    return isinstance(law, DiscreteLaplace) and all(
        abs(value) < EXACT * law.step for value in measured.values
    )


class Askings:
    """Where in a history a question may have been measured, without comparing it with all of them.

    Histories only grow, so threads and views of one history may share it: what it holds is replaced
    as a whole, and at worst something is looked up twice.
    """

    __slots__ = ("_marked",)

    def __init__(self) -> None:
        self._marked: tuple[int, Mapping[object, tuple[int, ...]]] = 0, {}

    def places(self, query: Block, measurements: Sequence[Measurement]) -> Sequence[int]:
        """The places of all measurements of this question, in order, and perhaps of others."""
        known, marked = self._marked
        if known < len(measurements):
            more = dict(marked)
            for place in range(known, len(measurements)):
                mark = _mark(measurements[place].query)
                more[mark] = (*more.get(mark, ()), place)
            marked = more
            self._marked = len(measurements), marked
        # Another view of the history may be ahead of this one.
        return [place for place in marked.get(_mark(query), ()) if place < len(measurements)]


def _mark(query: Block) -> object:
    """Equal for equal questions; of blocks it leaves out their numbers, which may be very many."""
    return hash(query) if query.is_single else (query.kind, query.cells, query.attributes)


def refinable_among(
    query: Block,
    measurements: Sequence[Measurement],
    refined: AbstractSet[int],
    places: Iterable[int] | None = None,
) -> Refinable | None:
    """The measurement of this very question that has the least noise; None when there is none.

    With `places`, as `Askings` gives them, only these are looked at.
    """
    names, cells = query.attributes, query.cells
    best: Refinable | None = None
    for place in range(len(measurements)) if places is None else places:
        measured = measurements[place]
        block = measured.query
        if place in refined or block.kind != query.kind or block.cells != cells:
            continue
        # Of blocks all of whose numbers would be compared, the names are compared first.
        if not (block.is_single or block.attributes == names) or block != query:
            continue
        law = measured.law
        if not isinstance(law, DiscreteLaplace) or not is_refinable(measured):
            continue
        if best is None or law.laplace_scale < best.law.laplace_scale:
            best = Refinable(place, law)
    return best


def refining_part(
    query: Block, requirement: Requirement, earlier: Refinable, inference: Inference
) -> Part | None:
    """The refinement with the most noise that meets a requirement; None where there is none."""
    low = math.log(LEAST_STEPS * earlier.law.step)
    high = math.log(earlier.law.laplace_scale) - 1e-6  # nearer to it, nothing would change
    known = list(_split(query, inference.kept[earlier.place], inference))
    tells = beyond if requirement.confidence >= TAILS_FROM else _beyond_by_width
    for split in known:

        def excess(logarithm: float, cell: _Split = split) -> float:
            return tells(cell.after(math.exp(logarithm)), requirement)

        if low >= high or excess(low) > 0.0:
            return None
        if excess(high) > 0.0:  # cells that are met by what the others need are not looked at again
            high = crossing(excess, low, high, within=1e-9)
    scale = math.exp(high) * (1.0 - 1e-8)
    if not known or any(_beyond_by_width(cell.after(scale), requirement) > 0.0 for cell in known):
        return None  # half-widths, which are what is promised, have the last word
    return earlier.part(query, scale)


def _beyond_by_width(noise: ComposedNoise, requirement: Requirement) -> float:
    return halfwidth(noise, requirement.confidence) / requirement.within - 1.0


def narrowest_by_refining(
    query: Block,
    confidence: float,
    earlier: Refinable,
    inference: Inference,
    affordable: Callable[[Part], bool],
) -> float | None:
    """The half-width, to a hundredth, of the finest refinement that is affordable."""
    known = list(_split(query, inference.kept[earlier.place], inference))
    low, high = float(LEAST_STEPS), float(earlier.law.steps)
    while high / low > 1.005:
        middle = math.sqrt(low * high)
        part = earlier.part(query, middle * earlier.law.step)
        low, high = (low, middle) if part is not None and affordable(part) else (middle, high)
    if not known or earlier.part(query, high * earlier.law.step) is None:
        return None
    return max(halfwidth(one.after(high * earlier.law.step), confidence) for one in known)


@dataclass(frozen=True, slots=True)
class _Split:
    """The error of an estimate: what one noise has in it, and the rest."""

    weight: float
    law: DiscreteLaplace
    rest: ComposedNoise

    def after(self, scale: float) -> ComposedNoise:
        """The error once that noise has a smaller scale.

        Least squares adds an answer z to the same question, with variance τ, to what is known,
        with variance V: the estimate becomes z by the share λ = V / (V + τ).
        """
        before, now = 2.0 * self.law.laplace_scale**2, 2.0 * scale**2
        variance = self.rest.variance + self.weight**2 * before
        share = variance / (variance + 1.0 / (1.0 / now - 1.0 / before))
        weight = abs((1.0 - share) * self.weight + share)
        counts = self.rest.counts
        return ComposedNoise(
            np.append((1.0 - share) * self.rest.laplace_scales, weight * scale),
            (1.0 - share) ** 2 * self.rest.gaussian_variance,
            (1.0 - share) * self.rest.grid_slack + 0.5 * weight * self.law.step,
            None if counts is None else np.append(counts, 1.0),
        )


def _split(query: Block, form: Kept, inference: Inference) -> Iterator[_Split]:
    """The errors of a cell of each kind, each with the noise that it was drawn with."""
    table_law = None if form.table is None else inference.tables.law(form.table)
    for place, cell in inference.example_cells(query):
        estimate = inference.estimate(cell)
        law = inference.law(form.rows[place]) if form.table is None else table_law
        if estimate is None or not isinstance(law, DiscreteLaplace):
            continue  # public, or beyond floating point
        weight, rest = form.taken_from(estimate, query, place)
        yield _Split(weight, law, inference.noise(rest))
