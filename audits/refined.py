"""What an answer and its refinement really cost together: what the finer one costs alone.

Two attackers look at both answers. One goes by where they agree about the record; that tells the
whole loss of two independent answers. The other counts both answers in bins, on samples of his own,
and goes by the bins that told most there. The larger bound counts, each with half of the error.

The control draws the finer noise anew and charges as little: it loses what both answers cost.

Few answers are refined one by one and many together, by different code: each has a row of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache

import numpy as np
import pytest

from audits.claim import CONTROL_SAMPLES, SAMPLES, Integers, listed, narrow_noise, pairs
from audits.epsilon import ANSWER, agreeing, require_price
from audits.row import Row, Scale, number
from eke.mechanism import Secret, refine_with_noise, refining, reveal_with_noise
from eke.mechanism.noise import MANY
from eke.privacy.law import Refinement
from tests.privacy.audit import audit_epsilon

#: What the first answer costs of both, and the noise: of scale 10 in the end, in steps of 1/2.
LAWS = {"half": Refinement(20, -1, 40), "a tenth": Refinement(20, -1, 200)}
LOSSES = (0.2, 1.0)
SEEN = 0.8  # the part of a loss that the audit must see to count
AT_ONCE = 50_000  # answers of one table; so many are held in memory
LEARNING = 0.2  # of the samples are those of the attacker who counts
QUANTILES = np.linspace(0, 1, 11)[1:-1]  # of each answer, where bins end
UNSURE = 2.0  # standard errors by which what a bin tells is taken to be less
Release = Callable[[Secret, Refinement], tuple[list[int], list[int]]]


def refined(secret: Secret, law: Refinement) -> tuple[list[int], list[int]]:
    """Answers with the coarser noise, and the same refined."""
    first = reveal_with_noise(secret, law.coarse)
    return first, refine_with_noise(secret, first, law)


def measured_anew(secret: Secret, law: Refinement) -> tuple[list[int], list[int]]:
    """The positive control: finer noise that has nothing to do with the coarser."""
    return reveal_with_noise(secret, law.coarse), reveal_with_noise(secret, law.fine)


def refinement(scale: Scale) -> tuple[Row, ...]:
    """One answer, refined one by one: a record of coefficient 2 or 10 moves it."""
    return both_together("refined answers, both together", scale, at_once=MANY - 1)


def refinement_of_tables(scale: Scale) -> tuple[Row, ...]:
    """The same answer as a cell of a table, all of which are refined together."""
    return both_together("refined tables, both together", scale, at_once=AT_ONCE)


def both_together(title: str, scale: Scale, at_once: int) -> tuple[Row, ...]:
    """A row of the scoreboard, for answers of which so many are released at a time."""
    count = scale.of(SAMPLES, 10_000)
    # Few samples do not show that a tenth too little is charged.
    laws = LAWS if scale.full else {"half": LAWS["half"]}
    losses = LOSSES if scale.full else LOSSES[-1:]
    with chances_once():
        found = {
            name: bounds(refined, law, losses, count, scale, at_once=at_once)
            for name, law in laws.items()
        }
    often = scale.of(2 * CONTROL_SAMPLES, count)
    with narrow_noise(1.0):  # all of its width, and faster
        wrong = {
            name: bounds(measured_anew, law, losses, often, scale, at_once=AT_ONCE)
            for name, law in laws.items()
        }
    least = SEEN if scale.full else 0.25
    return (
        Row(
            title=title,
            samples=f"{number(count)} a side",
            figure=f"ε at least {after(found)}, where {listed(losses)} is charged for both",
            control=f"independent finer noise: at least {after(wrong)}",
            passed=all(
                least * loss < bound <= loss
                for each in found.values()
                for bound, loss in pairs(each, losses)
            ),
            caught=all(
                bound > loss for each in wrong.values() for bound, loss in pairs(each, losses)
            ),
        ),
    )


def after(found: dict[str, list[float]]) -> str:
    """Bounds as the scoreboard shows them, for each share of the first answer."""
    return ", ".join(f"{listed(each)} after {name} of it" for name, each in found.items())


def bounds(
    release: Release,
    law: Refinement,
    losses: Sequence[float],
    count: int,
    scale: Scale,
    *,
    at_once: int,
) -> list[float]:
    """Lower bounds on the true losses of both answers, for records that should lose these."""
    confidence = 0.9999 if scale.full else 1 - 1e-7  # as in `audits/claim.py`
    without = sampled(release, law, ANSWER, count, at_once)
    found = []
    for loss in losses:
        moved = round(10 * loss)
        require_price(law.coarse.loss_nano(moved) + law.loss_nano(moved), loss)
        sides = without, sampled(release, law, ANSWER + moved, count, at_once)
        exact = ANSWER << -law.exponent, (ANSWER + moved) << -law.exponent
        found.append(joint_bound(sides, exact, confidence))
    return found


def sampled(release: Release, law: Refinement, answer: int, count: int, at_once: int) -> Integers:
    """One answer, released and refined again and again: two rows, in steps of the noise."""
    sizes = [at_once] * (count // at_once) + [count % at_once]
    parts = (release(Secret([answer] * size, 0), law) for size in sizes if size)
    return np.concatenate([np.array(part, np.int64) for part in parts], axis=1)


def joint_bound(
    sides: tuple[Integers, Integers], exact: tuple[int, int], confidence: float
) -> float:
    """The larger bound of the two attackers, who know both exact answers."""
    agreed = [agreeing(*(2 * side - sum(exact))) for side in sides]
    cut = round(LEARNING * sides[0].shape[1])
    score = learnt(sides[0][:, :cut], sides[1][:, :cut], exact)
    counted = [score(side[:, cut:]) for side in sides]
    each, coins = 1 - (1 - confidence) / 2, np.random.default_rng()
    return max(audit_epsilon(*told, confidence=each, coins=coins) for told in (agreed, counted))


def learnt(
    without: Integers, with_record: Integers, exact: tuple[int, int]
) -> Callable[[Integers], Integers]:
    """How clearly two answers speak for the record (above 0) or against it, by what others told.

    Bins are of both answers, cut at quantiles and at the exact ones, and of which of the two is
    larger. What a bin tells is the logarithm of how much more often it was met with the record,
    less what chance may have done.
    """
    known = np.array([at for answer in exact for at in (answer - 1, answer)])
    ends = [
        np.union1d(known, np.quantile(answers, QUANTILES, method="lower"))
        for answers in np.concatenate([without, with_record], axis=1)
    ]
    shape = len(ends[0]) + 1, len(ends[1]) + 1, 3

    def bins(answers: Integers) -> Integers:
        first, second = answers
        places = np.searchsorted(ends[0], first), np.searchsorted(ends[1], second)
        found: Integers = np.ravel_multi_index((*places, np.sign(first - second) + 1), shape)
        return found

    one, other = (
        np.bincount(bins(side), minlength=np.prod(shape)) + 0.5 for side in (without, with_record)
    )
    ratio = np.log(other / one)
    sure = np.maximum(np.abs(ratio) - UNSURE * np.sqrt(1 / one + 1 / other), 0.0)
    scores = np.rint(1e6 * np.sign(ratio) * sure).astype(np.int64)
    return lambda answers: scores[bins(answers)]


@contextmanager
def chances_once() -> Iterator[None]:
    """Within the block chances are computed once for each distance, not anew for each draw."""
    chances = refining._Chances
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chances, "ends", cache(chances.ends))
        yield
