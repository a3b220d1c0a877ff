"""Functions of numbers over wide columns: what they make of each stretch, without listing values.

A function that rises with a number, as ROUND does, parts a stretch on which numbers rise or fall
into stretches of equal results; their ends are sought by halving. MOD is what such a one leaves.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from eke.query.pieces import Pieces
from eke.sql.effort import Effort

MOST_STRETCHES = 1_024
_STEPS_A_STRETCH = 120
_MOST_RESIDUES = 2_000
Parameters = tuple[Fraction, ...]


def stepped(x: Pieces, label: Callable[[int], int], effort: Effort) -> Pieces:
    """What a function that never falls makes of numbers."""
    stretches: list[tuple[int, int]] = []
    for number, stop in x.steps(label, MOST_STRETCHES):
        effort.spend(_STEPS_A_STRETCH)
        stretches.append((number, stop))
    return Pieces.of_stretches(stretches)


def remainder(x: Pieces, d: int, parameters: Parameters, effort: Effort) -> tuple[Pieces, int]:
    """What is left of the numbers x / d when they are divided, with their signs; see `Map`."""
    divisor = abs(parameters[0])
    unit = math.lcm(d, divisor.denominator)
    scaled, modulus = x * (unit // d), int(divisor * unit)
    whole = stepped(scaled, lambda n: n // modulus if n >= 0 else -(-n // modulus), effort)
    return scaled - whole * modulus, unit


def has_remainder(x: Pieces, modulus: int, rest: int, effort: Effort) -> bool:
    """Whether some number leaves this rest; True where it takes too long to tell."""
    for start, stop, _ in x.stretches:
        # Polynomials of the lowest degrees repeat themselves after so many codes at most.
        looked_at = min(stop - start, 4 * modulus)
        if looked_at > _MOST_RESIDUES:
            return True
        effort.spend(looked_at)
        if any(x.at(code) % modulus == rest for code in range(start, start + looked_at)):
            return True
    return False


def labels_of(x: Pieces, most: int) -> list[tuple[int, int]] | None:
    """(number, stop) of each stretch of equal numbers; None if they differ within one."""
    if any(len(differences) > 1 for _, _, differences in x.stretches):
        return None
    stretches = [(differences[0], stop) for _, stop, differences in x.stretches]
    return stretches if len({number for number, _ in stretches}) <= most else None
