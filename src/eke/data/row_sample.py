"""Row sample: which rows of an id are kept, chosen at random once and for all by a secret key.

Every row gets a number, and of each id the rows with the smallest numbers are kept. With u the sum
of four parts, modulo a prime p, the number is Q(u), where Q is a secret polynomial of degree 5:

- x, a secret linear form of the row's codes, the same for rows with equal codes;
- the place of the row among the rows of its id with equal codes, 0, 1, ...: such rows cannot be
  told apart, so it does not matter which of them is which;
- a digest of all rows of the id, the sum of P(x) with another secret polynomial P: without it all
  ids would prefer the same cells;
- a secret multiple of the id's mark (`id_mark`), the smallest among its rows: without it ids with
  equal rows would keep equal ones. Ids of a type that has no mark, and samples whose key was drawn
  before there were marks, do without.

Any six numbers of one id are independent and uniform for a random Q (Wegman and Carter, "New hash
functions and their use in authentication and set equality", JCSS 22, 1981: polynomials are strongly
universal), unless two u are equal, which has a chance of 1/p for each two. So every set of rows of
an id is as likely to be kept as any other, as far as a count can show. Everything is arithmetic
with whole numbers below 2^53, which every engine does alike; whether ids are equal, PARTITION BY
says.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import ibis

from eke.data.id_mark import MARK
from eke.data.source import ROW_KEY
from eke.errors import DataError

PRIME = 2**26 - 5  # products stay below 2^53: some engines behind Ibis take remainders of doubles
DEGREE = 5
_BYTES = 16  # drawn for one number: the bias of the remainder is below 2^-100
_FORM, _TWIN, _DIGEST, _OWN, _PLACE = "form", "twin", "digest", "own", "place"
WITH_MARKS = "2/"
"""How keys begin since marks of ids are used."""


@dataclass(frozen=True, slots=True, repr=False)
class RowSample:
    """A key that says which rows of each id are kept.

    Privacy: Which rows of an id are kept is a function of the codes and marks of that id's rows and
    the key, and the key is drawn before any row is read. So removing or adding an id changes nobody
    else's rows, whatever the key is: the promise would stand if everybody knew it. It is secret all
    the same, because it helps to guess which rows an answer is about.
    """

    key: str

    @classmethod
    def draw(cls) -> RowSample:
        """A new random sample."""
        return cls(WITH_MARKS + secrets.token_hex(32))

    @classmethod
    def stored(cls, reference: Mapping[str, object]) -> RowSample | None:
        """The sample that a reference was written with; None keeps rows in the order of codes.

        That is how datasets were made before there was a key, and how they stay.
        """
        if ROW_KEY not in reference:
            return None
        key = reference[ROW_KEY]
        if not isinstance(key, str) or not key:
            raise DataError("the stored reference to the table has no valid key of kept rows")
        return cls(key)

    def __repr__(self) -> str:
        return "RowSample(the key is not shown)"

    @property
    def uses_marks(self) -> bool:
        """False for keys that were drawn before ids had marks: what they keep stays the same."""
        return self.key.startswith(WITH_MARKS)

    @property
    def marking(self) -> int:
        """The factor of marks."""
        return self._numbers("mark", 1)[0]

    def form(self, attributes: int) -> list[int]:
        """The coefficients of the linear form x, one for each attribute."""
        return self._numbers("form", attributes)

    @property
    def digesting(self) -> list[int]:
        """The coefficients of P, the highest power first."""
        return self._numbers("digest", DEGREE + 1)

    @property
    def ordering(self) -> list[int]:
        """The coefficients of Q, the highest power first."""
        return self._numbers("order", DEGREE + 1)

    def kept(self, rows: Any, names: Sequence[str], identity: str, most: int) -> Any:
        """The rows of an Ibis table of codes that are kept, at most so many of each id."""
        # Each step has a window, so that engines do not copy its expressions into the next.
        codes = [rows[name] for name in names]
        factors = self.form(2 * len(names))
        form = _whole(0)
        for code, factor, further in zip(codes, factors, factors[len(names) :], strict=False):
            for digit, times in zip(_digits(code), (factor, further), strict=False):
                form = form + digit * _whole(times) % _whole(PRIME)
        twin = ibis.row_number().over(group_by=[rows[identity], *codes])
        rows = rows.mutate(**{_FORM: form % _whole(PRIME), _TWIN: twin})
        # Sums of 32-bit numbers are 64 bits wide in PostgreSQL and wider in DuckDB.
        terms = _polynomial(self.digesting, rows[_FORM]).cast("int32")
        of_ids = {_DIGEST: terms.sum().over(group_by=rows[identity])}
        if self.uses_marks and MARK in rows.columns:
            of_ids[_OWN] = rows[MARK].min().over(group_by=rows[identity])
        rows = rows.mutate(**of_ids)
        digest = (rows[_DIGEST] % _whole(PRIME)).cast("int32").cast("int64")
        place = rows[_FORM] + rows[_TWIN] + digest
        if _OWN in of_ids:
            mark = ibis.coalesce(rows[_OWN].cast("int64"), _whole(0))
            place = place + mark * _whole(self.marking) % _whole(PRIME)
        number = _polynomial(self.ordering, place % _whole(PRIME))
        order = [number, *(rows[name] for name in names), rows[_TWIN]]
        place = ibis.row_number().over(group_by=rows[identity], order_by=order)
        rows = rows.mutate(**{_PLACE: place})
        return rows.filter(rows[_PLACE] < most)

    def _numbers(self, part: str, count: int) -> list[int]:
        seed = f"eke-row-sample/1 {self.key} {part}".encode()
        drawn = hashlib.shake_256(seed).digest(_BYTES * count)
        return [
            int.from_bytes(drawn[at : at + _BYTES]) % PRIME for at in range(0, len(drawn), _BYTES)
        ]


def stored_sample(sample: RowSample | None) -> dict[str, object]:
    """What the reference of a source holds of its sample; for the private part of a dataset."""
    return {} if sample is None else {ROW_KEY: sample.key}


def _digits(code: Any) -> list[Any]:
    """A code as numbers below the prime: a code of 64 bits has two, of which the second may be 0.

    Privacy: different codes have different digits, however many values a column has.
    """
    if not code.type().is_int64():
        return [code.cast("int64")]
    return [code % _whole(PRIME), (code // _whole(PRIME)).cast("int64")]


def _polynomial(coefficients: Sequence[int], at: Any) -> Any:
    """The value of a polynomial modulo the prime, by Horner's rule."""
    value = _whole(coefficients[0])
    for coefficient in coefficients[1:]:
        value = (value * at + _whole(coefficient)) % _whole(PRIME)
    return value


def _whole(value: int) -> Any:
    return ibis.literal(value, "int64")
