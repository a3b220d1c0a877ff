"""Refining: less noise, drawn so that it and the noise before cost what it costs alone.

Discrete Laplace noise n₁ of s₁ steps has the law of n₂ + v, where n₂ has s₂ < s₁ steps and v is
independent of it: zero, or discrete Laplace of s₁ steps (Koufogiannis, Han and Pappas). Here n₁ was
drawn before, and n₂ is drawn by its law given n₁. Both together are then distributed as if n₂ had
been drawn first and made coarser without looking at the data again. See docs/proofs/refinement.md.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from fractions import Fraction

from eke.privacy.refinement import Refinement

_BITS = 128  # of a random place
_DIGITS = 80  # of the chances that it is compared with
_MARGIN = Decimal("1e-30")
"""What is nearer to a threshold is compared again, with more bits and digits."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """What is drawn for one answer: a place between 0 and 1, and two distances."""

    place: int  # in units of 2^-_BITS
    inside: int  # P(inside ≥ d) = exp(-d (1/s₂ - 1/s₁))
    outside: int  # P(outside ≥ d) = exp(-d (1/s₂ + 1/s₁))


class FinerNoise:
    """The law of n₂ given n₁.

    With ρ = e^-(1/s₂ - 1/s₁) and κ = e^-(1/s₂ + 1/s₁), for n₁ = n ≥ 0, P(n₂ = j | n) is p·[j = n] +
    (1 - p)·f(j) with p = ρ^(n+1) (1 - e^(-2/s₁)) / (1 - e^(-2/s₂)), where f is proportional to κ^-j
    for j ≤ 0, to ρ^j in between, and to ρ^n κ^(j-n) from n on: geometric on each piece.
    """

    def __init__(self, law: Refinement) -> None:
        self._coarse, self._fine = law.coarse.steps, law.fine.steps
        self._inside = Fraction(1, self._fine) - Fraction(1, self._coarse)
        self._outside = Fraction(1, self._fine) + Fraction(1, self._coarse)
        self._computed: dict[int, _Chances] = {}

    def draw(self) -> Drawn:
        """What one answer needs, whatever it is."""
        place = secrets.randbits(_BITS)
        return Drawn(place, geometric(self._inside), geometric(self._outside))

    def given(self, before: int, drawn: Drawn) -> int:
        """The finer noise, given the noise before."""
        distance, side = abs(before), (-1 if before < 0 else 1)
        piece = self._piece(distance, drawn.place)
        if piece == 0:
            return before
        if piece == 1:
            return -side * drawn.outside
        if piece == 2:  # a geometric law that ends: what is beyond begins anew
            return side * (1 + drawn.inside % (distance - 1))
        return side * (max(distance, 1) + drawn.outside)

    def _piece(self, distance: int, place: int) -> int:
        """0: the noise before; 1: up to zero, 2: between, 3: from the noise before on."""
        digits, bits, margin = _DIGITS, _BITS, _MARGIN
        while True:
            chances = self._chances(digits)
            math = chances.math
            at = math.divide(Decimal(place), Decimal(1 << bits))
            ends = chances.ends(distance)
            if all(math.subtract(at, end).copy_abs() > margin for end in ends):
                return sum(at > end for end in ends)
            digits, margin = 2 * digits, math.multiply(margin, margin)
            bits, place = 2 * bits, (place << bits) | secrets.randbits(bits)

    def _chances(self, digits: int) -> _Chances:
        if digits not in self._computed:
            self._computed[digits] = _Chances(self._coarse, self._fine, digits)
        return self._computed[digits]


class _Chances:
    """Where the pieces end between 0 and 1, to so many digits less 40 (see the proof)."""

    def __init__(self, coarse: int, fine: int, digits: int) -> None:
        # Its own: whatever others do to Python's does not matter here.
        self.math = math = Context(prec=digits, Emin=MIN_EMIN, Emax=MAX_EMAX, traps=[])
        self._inside = math.divide(Decimal(fine - coarse), Decimal(fine * coarse))  # ln ρ
        self._rho = math.exp(self._inside)
        self._kappa = math.exp(math.divide(Decimal(-fine - coarse), Decimal(fine * coarse)))
        self._outer = math.divide(1, math.subtract(1, self._kappa))
        self._inner = math.subtract(1, self._rho)
        doubled = [math.exp(math.divide(-2, Decimal(steps))) for steps in (coarse, fine)]
        self._kept = math.divide(*(math.subtract(1, one) for one in doubled))

    def ends(self, distance: int) -> tuple[Decimal, Decimal, Decimal]:
        """The ends of the first three pieces, for a distance of the noise before from zero."""
        math = self.math
        power = math.exp(math.multiply(self._inside, Decimal(distance)))  # ρ^distance
        same = math.multiply(math.multiply(power, self._rho), self._kept)
        between = Decimal(0)
        if distance > 1:
            between = math.divide(math.subtract(self._rho, power), self._inner)
        above = math.multiply(power if distance else self._kappa, self._outer)
        together = math.add(math.add(self._outer, between), above)
        moved = math.divide(math.subtract(1, same), together)
        below = math.fma(moved, self._outer, same)
        return same, below, math.fma(moved, between, below)


def geometric(rate: Fraction) -> int:
    """A whole number G with P(G ≥ g) = exp(-rate g), exactly (Canonne, Kamath, Steinke 2020)."""
    whole = rate.denominator
    while True:
        start = secrets.randbelow(whole)
        if _happens(start, whole):
            break
    rounds = 0
    while _happens(1, 1):
        rounds += 1
    return (start + whole * rounds) // rate.numerator


def _happens(numerator: int, denominator: int) -> bool:
    """True with probability exp(-numerator/denominator), which is at most 1, exactly."""
    k = 1
    while secrets.randbelow(k * denominator) < numerator:
        k += 1
    return k % 2 == 1
