"""Root: the square root of a formula, as a standard deviation is of a variance."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from eke.arrays import FloatArray
from eke.question.formula import Formula


@dataclass(frozen=True, slots=True)
class Root(Formula):
    """The square root."""

    of: Formula

    @property
    def radicand(self) -> Formula:
        return self.of

    @property
    def parts(self) -> tuple[Formula, ...]:
        return (self.of,)

    def with_parts(self, *parts: Formula) -> Formula:
        return Root(*parts)

    def value(self, answers: Sequence[Any], keys: Sequence[Any] = ()) -> Any:
        inner = self.of.value(answers, keys)
        return None if inner is None or inner < 0 else math.sqrt(inner)

    def values(self, answers: FloatArray) -> FloatArray:
        return np.sqrt(self.of.values(answers))

    def fragile(self) -> Iterator[Formula]:
        yield self.of
        yield from self.of.fragile()

    @property
    def text(self) -> str:
        return f"sqrt({self.of.text})"

    def to_document(self) -> dict[str, Any]:
        return {"root": self.of.to_document()}
