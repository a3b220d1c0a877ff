"""A private choice among very many options that come in runs of one score each, drawn exactly.

An option has a chance ∝ exp(-score / scale). The runs are laid side by side on a line, each as long
as all its options are likely, and a random number U between 0 and 1 says where on the line the
choice falls. As many of its bits are looked at as decide that: the first 64 in doubles, which
decide wherever they cannot be wrong, and what they leave open in exact arithmetic, with more bits.
So the law is exact, and one pass over the runs is enough. The bits come from the operating system.
See docs/proofs/selection.md, "Of very many options".
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Sequence
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from fractions import Fraction

import numpy as np

_BITS = 64
_DIGITS = 60
_OF_CHANCES = 2.0**-40  # of the line: what the doubles of its parts may be off, and of U
_OF_SUMS = 2.0**-51  # of the line and for each run: what the doubles of their ends may be off more
_LARGEST = 2**62


def choose_place(widths: Sequence[int], scores: Sequence[int], scale: Fraction) -> int:
    """The place of one option, counted through all runs; its chance is ∝ exp(-score / scale).

    Privacy: the law is exact, whatever the numbers. The run follows from a random number as
    `exact_run` says, and all options of a run are equally likely.
    """
    word = int.from_bytes(os.urandom(_BITS // 8), "big")
    run = quick_run(widths, scores, scale, word)
    if run is None:
        run = exact_run(widths, scores, scale, word)
    return sum(widths[:run]) + secrets.randbelow(widths[run])


@np.errstate(all="ignore")  # whatever others set; an underflow would tell of the scores
def quick_run(
    widths: Sequence[int], scores: Sequence[int], scale: Fraction, word: int
) -> int | None:
    """The run in which U falls, for U with these first 64 bits; None where doubles cannot tell.

    Privacy: what it decides is what `exact_run` decides. Powers, products, and each of the sums up
    to the end of a run are off by less than the doubt.
    """
    best = min(scores)
    if max(scores) - best >= _LARGEST or sum(widths) >= _LARGEST:
        return None
    behind = np.array([score - best for score in scores], np.float64) / float(scale)
    ends = np.cumsum(np.array(widths, np.float64) * np.exp(-behind))
    length = float(ends[-1])
    doubt = length * (_OF_CHANCES + _OF_SUMS * len(scores))
    at = (word + 0.5) * 2.0**-_BITS * length
    run = int(np.searchsorted(ends, at - doubt, side="left"))
    return run if run == len(scores) - 1 or at + doubt < ends[run] else None


def exact_run(widths: Sequence[int], scores: Sequence[int], scale: Fraction, word: int) -> int:
    """The run in which U falls, in exact arithmetic, for U with these first 64 bits.

    Privacy: the slow twin of what doubles decide; bits are added until they decide. At n digits no
    end of a run is further off than `doubt`: each chance is off by less than 10^(2 - n), for each
    of its options, and each of the sums by less than 10^(1 - n) of the line's length.
    """
    best, options = min(scores), sum(widths)
    bits, digits = _BITS, _DIGITS + len(str(options * len(scores)))
    while True:
        # Its own: whatever others do to Python's does not matter here.
        math = Context(prec=digits, Emin=MIN_EMIN, Emax=MAX_EMAX, traps=[])
        ends: list[Decimal] = []
        length = Decimal(0)
        for width, score in zip(widths, scores, strict=True):
            chance = _chance(math, (score - best) / scale, digits)
            length = math.add(length, math.multiply(chance, Decimal(width)))
            ends.append(length)
        doubt = math.multiply(Decimal((0, (1,), 4 - digits)), Decimal(options * len(scores)))
        # All of U's bits that are not looked at are 0, or 1.
        low, high = (
            math.multiply(math.divide(Decimal(end), Decimal(1 << bits)), length)
            for end in (word, word + 1)
        )
        low, high = math.subtract(low, doubt), math.add(high, doubt)
        run = next((place for place, end in enumerate(ends) if low < end), len(scores) - 1)
        if run == len(scores) - 1 or high < ends[run]:
            return run
        (bits, word), digits = (bits + _BITS, (word << _BITS) | secrets.randbits(_BITS)), 2 * digits


def _chance(math: Context, rate: Fraction, digits: int) -> Decimal:
    """exp(-rate), to so many digits; 0 where it is less than the last of them."""
    if rate > 3 * digits:
        return Decimal(0)
    power = math.divide(Decimal(-rate.numerator), Decimal(rate.denominator))
    return math.exp(power)
