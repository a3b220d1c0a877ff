"""What a curator tells of the outside world, and how it is listed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from eke.domain import plain_label
from eke.errors import FactError
from eke.privacy.law import Gaussian, Laplace, NoiseLaw
from eke.query import breaking

if TYPE_CHECKING:
    from eke.query import Block
    from eke.question.posed import Asked

_WRITTEN = re.compile(r"[+-]?[0-9]{1,40}(/[0-9]{1,40}|(\.[0-9]{0,40})?([eE][+-]?[0-9]{1,2})?)")
Number: TypeAlias = int | float | Decimal | Fraction | str
Numbers: TypeAlias = Number | Iterable[Number] | Mapping[Any, Number]
"""One number, or one for each cell: in order, or by the cell's label."""


@dataclass(frozen=True, slots=True)
class Fact:
    """A public number, or a public table of them, that is exactly true. See `Session.add_fact`.

    Attributes:
        question: one count or sum, or a table of them: SQL, or an expression.
        value: the true answer; for a table one for each cell, in order or by label.
        source: where everybody can look it up.

    Example:
        >>> women = eke.Fact(eke.count(sex="F"), 1_504, source="Yearbook 2025, table 3")
        >>> entry = session.add_fact(women)
        >>> session.ask(eke.count(sex="F"), within=1).interval
        (1504.0, 1504.0)
    """

    question: Asked
    value: Numbers
    source: str

    @staticmethod
    def dependency(cause: str, effect: str, mapping: Mapping[Any, Any], *, source: str) -> Fact:
        """The fact that one column determines another: no record breaks the public mapping.

        Values that the mapping does not name are free.

        Args:
            cause: the column that determines the other.
            effect: what is determined.
            mapping: the value of `effect` for values of `cause`; each as in a condition of `count`,
                so that a pair is a range and None the bucket.
            source: where everybody can look it up.

        Example:
            >>> law = eke.Fact.dependency("age", "smoker", {(0, 9): False}, source="By law")
            >>> entry = session.add_fact(law)
            >>> session.ask(eke.count(age=5, smoker=True), within=1).interval
            (0.0, 0.0)
        """
        return Fact(breaking(cause, effect, mapping), 0, source)


@dataclass(frozen=True, slots=True)
class NoisyTable:
    """A number, or a table of them, that others released with noise. See `Session.learn`.

    Attributes:
        question: one count or sum, or a table of them: SQL, or an expression.
        values: what was published; for a table one for each cell, in order or by label.
        laplace_scale: the scale of Laplace noise in each number.
        noise_variance: instead of it, the variance of Gaussian noise.

    Example:
        >>> survey = eke.NoisyTable(eke.marginal("sex"), [1_480, 1_530], noise_variance=400)
        >>> entry = session.learn(survey, source="Household survey 2024")
        >>> session.preview(eke.count(sex="F"), within=60).cost
        0.0
    """

    question: Asked
    values: Numbers
    laplace_scale: float | None = None
    noise_variance: float | None = None

    @property
    def law(self) -> NoiseLaw:
        """The noise that was stated."""
        if (self.laplace_scale is None) == (self.noise_variance is None):
            raise FactError(
                "say which noise is in the numbers: laplace_scale=b, or noise_variance=v for "
                "Gaussian noise; without any it is an eke.Fact"
            )
        if self.laplace_scale is not None:
            return Laplace(self.laplace_scale)
        return Gaussian(float(self.noise_variance or 0.0))


@dataclass(frozen=True, slots=True)
class Told:
    """One statement as it is told, before it is tied to a domain; exact without a law."""

    question: Asked | None
    values: Numbers
    law: NoiseLaw | None = None
    block: Block | None = None  # in place of the question: what another dataset measured


@dataclass(frozen=True, slots=True)
class Known:
    """A statement from outside, as it is listed.

    Attributes:
        sequence: the ledger entry that holds it; it is forgotten by that number.
        at: when it was registered.
        by: who registered it.
        source: where it comes from.
        kind: "fact", or "learned" from others, with noise.
        question: in words.
        value: the number; None for a table.
        cells: how many numbers it has.
        noise_deviation: the standard deviation of their noise; 0 for a fact.
    """

    sequence: int
    at: str
    by: str
    source: str
    kind: Literal["fact", "learned"]
    question: str
    value: float | None
    cells: int
    noise_deviation: float

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return asdict(self)


def exact_number(given: object) -> Fraction:
    """A number as it was written: 0.1 is a tenth."""
    if isinstance(given, bool):
        raise FactError("a value is a number, not true or false")
    written = str(given).strip()
    if _WRITTEN.fullmatch(written) and not re.search(r"/0+$", written):
        return Fraction(written)
    raise FactError(
        f"{written[:40]!r} is no number of reasonable size; write it with digits, such as 1504, "
        "0.25 or 1/3"
    )


def in_order(given: Numbers, keys: Sequence[tuple[object, ...]]) -> list[Fraction]:
    """One number for each key, in their order; labels may be given as texts."""
    if isinstance(given, Mapping):
        by_label = {_texts(k if isinstance(k, tuple) else (k,)): v for k, v in given.items()}
        wanted = [_texts(key) for key in keys]
        lacking = [key for key in wanted if key not in by_label]
        if lacking or len(by_label) > len(wanted):
            wrong = lacking[0] if lacking else next(k for k in by_label if k not in set(wanted))
            said = "has no number" if lacking else "is no cell of this table"
            raise FactError(f"{', '.join(wrong)} {said}; give one number for each cell")
        return [exact_number(by_label[key]) for key in wanted]
    if isinstance(given, str) or not isinstance(given, Iterable):
        return [exact_number(given)]
    return [exact_number(value) for value in given]


def _texts(key: tuple[object, ...]) -> tuple[str, ...]:
    return tuple(str(plain_label(label)) for label in key)
