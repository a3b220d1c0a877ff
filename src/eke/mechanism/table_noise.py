"""Many draws at once: discrete Laplace and Gaussian noise for whole tables, by inversion.

A draw is a function of a random number U between 0 and 1, of which as many bits are looked at as
decide it. The first 64 of all draws are looked at together, in doubles, which decide wherever they
cannot be wrong; what they leave open is decided in exact arithmetic, with more bits. So the law is
exact, as it is with OpenDP's samplers, and a million draws take a fraction of a second. The bits
come from the operating system (`os.urandom`). See docs/proofs/noise.md, §6.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from eke.errors import PrivacyError

OUT_OF_RANGE = "the noise left the range of 64 bits; check the random source"
MOST_STEPS = 2**32
"""Wider noise leaves too much open to doubles."""

_BITS = 64
_DIGITS = 60
_OF_LOGARITHMS = 2.0**-48  # times 1 + the logarithm: three times what its double may be off
_OF_CHANCES = 2.0**-44  # sixteen times what the double of exp(-x) may be off
_LARGEST = 2**62
_BLOCK = 2**16

Integers: TypeAlias = NDArray[np.int64]


def draw_laplace(steps: int, count: int) -> Integers:
    """Independent draws with P(k) proportional to exp(-|k| / steps).

    Privacy: the difference of two independent geometric numbers has this law exactly.
    """
    return _in_blocks(lambda size: _laplace(steps, size), count)


def draw_gaussian(steps: int, count: int) -> Integers:
    """Independent draws with P(k) proportional to exp(-k² / (2 steps²)).

    Privacy: discrete Laplace noise that is kept with the chance of Canonne, Kamath and Steinke
    (2020), algorithm 3; what is kept has this law exactly.
    """
    return _in_blocks(lambda size: _gaussian(steps, size), count)


def draw_geometric(steps: Fraction, count: int) -> Integers:
    """Independent draws with P(G ≥ g) = exp(-g / steps), of which steps need not be whole.

    Privacy: as exact as the noise that is made of them.
    """
    return _in_blocks(lambda size: _geometric(steps, size), count)


@np.errstate(all="ignore")  # whatever others set; an underflow would tell of the noise
def _in_blocks(draw: Callable[[int], Integers], count: int) -> Integers:
    """So many draws, in blocks that stay in the processor's caches."""
    sizes = [_BLOCK] * (count // _BLOCK) + [count % _BLOCK]
    return np.concatenate([draw(size) for size in sizes])


def _laplace(steps: int, count: int) -> Integers:
    distances = _geometric(steps, 2 * count)
    return distances[:count] - distances[count:]


def _gaussian(steps: int, count: int) -> Integers:
    drawn = np.zeros(0, dtype=np.int64)
    while len(drawn) < count:
        # Three in four are kept, nearly.
        proposed = _laplace(steps + 1, 4 * (count - len(drawn)) // 3 + 16)
        drawn = np.concatenate([drawn, proposed[_is_kept(steps, proposed)]])
    return drawn[:count]


def _geometric(steps: int | Fraction, count: int) -> Integers:
    """Independent numbers G with P(G ≥ g) = exp(-g / steps): the whole part of -steps · ln U."""
    words, near = random_words(count), float(steps)
    share = shares_of(words)
    logarithm = -np.log(share)
    exact = logarithm * near
    whole = np.floor(exact)
    rest = exact - whole
    # The bits that were not looked at move U by half a unit of 2^-64 to either side.
    doubt = near * (_OF_LOGARITHMS * (1.0 + logarithm) + 2.0 ** (1 - _BITS) / share)
    numbers: Integers = whole.astype(np.int64)
    for place in np.flatnonzero((rest <= doubt) | (rest >= 1.0 - doubt)):
        numbers[place] = whole_part(steps, int(words[place]))
    return numbers


def _is_kept(steps: int, proposed: Integers) -> NDArray[np.bool_]:
    """Whether each is kept, with the chance exp(-(|k| - s²/t)² / 2s²), where t is s + 1."""
    words = random_words(len(proposed))
    distance = (np.abs(proposed) - steps * (steps / (steps + 1.0))) / steps
    chance = np.exp(-0.5 * distance * distance)
    share = shares_of(words)
    below = share < chance
    for place in np.flatnonzero(np.abs(share - chance) <= _OF_CHANCES):
        apart = abs(int(proposed[place])) * (steps + 1) - steps * steps
        rate = Fraction(apart * apart, 2 * (steps * (steps + 1)) ** 2)
        below[place] = is_below(rate, int(words[place]))
    return below


def whole_part(steps: int | Fraction, word: int) -> int:
    """The whole part of -steps · ln U in exact arithmetic, for U with these first 64 bits.

    Privacy: the slow twin of what doubles decide; bits are added until they decide.
    """
    bits, digits = _BITS, _DIGITS
    while True:
        # Its own: whatever others do to Python's does not matter here.
        math = Context(prec=digits, Emin=MIN_EMIN, Emax=MAX_EMAX, traps=[])
        if word > 0:
            doubt = _doubt(digits)
            least = math.subtract(_scaled_logarithm(math, steps, word + 1, bits), doubt)
            most = math.add(_scaled_logarithm(math, steps, word, bits), doubt)
            whole = math.to_integral_value(most)
            if whole > most:
                whole = math.subtract(whole, 1)
            if whole == 0 or least > whole:
                if whole >= _LARGEST:
                    raise PrivacyError(OUT_OF_RANGE)
                return int(whole)
        (bits, word), digits = _longer(bits, word), 2 * digits


def _scaled_logarithm(math: Context, steps: int | Fraction, word: int, bits: int) -> Decimal:
    """-steps · ln(word / 2^bits)."""
    share = math.divide(Decimal(word), Decimal(1 << bits))
    scaled = math.multiply(math.ln(share), Decimal(-steps.numerator))
    return math.divide(scaled, Decimal(steps.denominator))


def is_below(rate: Fraction, word: int) -> bool:
    """Whether U < exp(-rate), in exact arithmetic, for U with these first 64 bits."""
    bits, digits = _BITS, _DIGITS
    while rate:
        math = Context(prec=digits, Emin=MIN_EMIN, Emax=MAX_EMAX, traps=[])
        power = math.divide(Decimal(-rate.numerator), Decimal(rate.denominator))
        chance = math.exp(power)
        doubt = _doubt(digits)
        low, high = (math.divide(Decimal(one), Decimal(1 << bits)) for one in (word, word + 1))
        if high < math.subtract(chance, doubt):
            return True
        if low > math.add(chance, doubt):
            return False
        (bits, word), digits = _longer(bits, word), 2 * digits
    return True


def _doubt(digits: int) -> Decimal:
    """What ends of so many digits may be off, and far more: 10^(30 - digits)."""
    return Decimal((0, (1,), 30 - digits))


def _longer(bits: int, word: int) -> tuple[int, int]:
    """The same number between 0 and 1 with 64 more of its bits."""
    return bits + _BITS, (word << _BITS) | secrets.randbits(_BITS)


def random_words(count: int) -> NDArray[np.uint64]:
    """The first 64 bits of so many random numbers."""
    return np.frombuffer(os.urandom(8 * count), dtype=np.uint64)


def shares_of(words: NDArray[np.uint64]) -> NDArray[np.float64]:
    """The numbers between 0 and 1 in whose first bits these are, in the middle of what is open."""
    return (words.astype(np.float64) + 0.5) * 2.0**-_BITS
