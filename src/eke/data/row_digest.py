"""Row digest: a digest of all coded rows that an engine can compute as a sum, in any order.

The cell counts n of a table are the coefficients of a polynomial, Σ n(cell) · Π x[wheel, place],
in which every cell has a monomial of its own. The digest is its value at a secret random point,
modulo a prime, twice: Σ over rows of a product of a few numbers looked up by the row's codes. Two
different tables agree at one random point with a chance of at most wheels / prime (Schwartz and
Zippel), so at both with less than 10⁻¹², unless all counts differ by multiples of the prime.

Privacy: The point is drawn when a dataset is created and stays in its private part. What is stored
beside it is a SHA-256 of the two sums, so that not even the number of rows can be read off.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from eke.domain import Domain

PRIME = 2**28 - 57  # products of two fit 64 bits, and sums of 2^35 rows do
LANES = 2
_WHEEL = 128  # numbers in a look-up table; Spark takes its time to read long lists
_BYTES = 16  # drawn for one number: the bias of the remainder is below 2^-100

Lookup = Callable[[Sequence[int], str], str]
"""SQL of the number at a place (an SQL expression, from 0) of a list."""


@dataclass(frozen=True, slots=True)
class _Digit:
    """One digit of the code of an attribute: code // below % size."""

    place: int  # of the attribute
    below: int
    size: int


@dataclass(frozen=True, slots=True, repr=False)
class SecretPoint:
    """Where the polynomial of a table is evaluated: a random salt stands for all its numbers."""

    salt: str
    names: tuple[str, ...]
    shape: tuple[int, ...]

    @classmethod
    def draw(cls, domain: Domain) -> SecretPoint:
        """A new random point."""
        return cls.from_salt(secrets.token_hex(32), domain)

    @classmethod
    def from_salt(cls, salt: str, domain: Domain) -> SecretPoint:
        """The point that a stored salt stands for."""
        return cls(salt, domain.names, domain.shape)

    def __repr__(self) -> str:
        return f"SecretPoint({', '.join(self.names)}; the salt is not shown)"

    def terms(self, codes: Sequence[str], lookup: Lookup) -> list[str]:
        """SQL of a row's summand in each lane, from the SQL of its codes."""
        return [self._term(lane, codes, lookup) for lane in range(LANES)]

    def numbers(self, lane: int, wheel: int, size: int) -> list[int]:
        """The coordinates of the point that belong to one wheel."""
        seed = f"eke-row-digest/1 {self.salt} {lane} {wheel}".encode()
        drawn = hashlib.shake_256(seed).digest(_BYTES * size)
        return [
            int.from_bytes(drawn[at : at + _BYTES]) % PRIME for at in range(0, len(drawn), _BYTES)
        ]

    def wheels(self) -> list[list[_Digit]]:
        """Digits of codes, put together while their combinations fill one look-up table.

        All digits together tell every cell from every other.
        """
        digits = []
        for place, size in enumerate(self.shape):
            below = 1
            while below < size:
                rest = -(-size // below)
                digits.append(_Digit(place, below, min(rest, _WHEEL)))
                below *= _WHEEL
        wheels: list[list[_Digit]] = []
        for digit in sorted(digits, key=lambda digit: -digit.size):
            fitting = [w for w in wheels if wheel_size(w) * digit.size <= _WHEEL]
            if fitting:
                fitting[0].append(digit)
            else:
                wheels.append([digit])
        return wheels

    def seal(self, sums: Sequence[int]) -> str:
        """The digest of a table, from the sums over its rows."""
        told = [self.salt, self.names, self.shape, [value % PRIME for value in sums]]
        return hashlib.sha256(repr(told).encode()).hexdigest()

    def _term(self, lane: int, codes: Sequence[str], lookup: Lookup) -> str:
        product = "1"  # of a domain with a single cell
        for number, wheel in enumerate(self.wheels()):
            index = "0"
            for digit in wheel:
                index = f"({index}) * {digit.size} + {_digit_sql(codes[digit.place], digit)}"
            values = self.numbers(lane, number, wheel_size(wheel))
            factor = f"CAST({lookup(values, index)} AS BIGINT)"
            product = factor if number == 0 else f"(({product}) * {factor}) % {PRIME}"
        return f"CAST({product} AS INTEGER)"


def wheel_size(wheel: Sequence[_Digit]) -> int:
    """The number of combinations of some digits."""
    size = 1
    for digit in wheel:
        size *= digit.size
    return size


def _digit_sql(code: str, digit: _Digit) -> str:
    """SQL of a digit of a code; the engines agree on division only where there is no remainder."""
    whole = f"CAST({code} AS INTEGER)"
    if digit.below > 1:
        whole = f"CAST(({whole} - {whole} % {digit.below}) / {digit.below} AS INTEGER)"
    return f"({whole} % {digit.size})"
