"""A new kind of formula is one class: this one is written here, and asked like any other."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import eke
from eke.arrays import FloatArray
from eke.question import Aggregate, Formula, FormulaExpression


@dataclass(frozen=True, slots=True)
class Logarithm(Formula):
    """The natural logarithm."""

    of: Formula

    @property
    def parts(self) -> tuple[Formula, ...]:
        return (self.of,)

    def with_parts(self, *parts: Formula) -> Formula:
        return Logarithm(*parts)

    def value(self, answers: Sequence[Any], keys: Sequence[Any] = ()) -> Any:
        inner = self.of.value(answers, keys)
        return None if inner is None or inner <= 0 else math.log(inner)

    def values(self, answers: FloatArray) -> FloatArray:
        return np.log(self.of.values(answers))

    def fragile(self) -> Iterator[Formula]:
        yield self.of
        yield from self.of.fragile()

    @property
    def text(self) -> str:
        return f"ln({self.of.text})"

    def to_document(self) -> dict[str, Any]:
        return {"ln": self.of.to_document()}


def test_a_new_kind_of_formula_is_asked_like_any_other(tmp_path: Path) -> None:
    domain = eke.Domain(sex=eke.Categorical("F", "M"))
    rows = pd.DataFrame({"sex": ["F"] * 3000 + ["M"] * 700})
    session = eke.create(tmp_path / "x.eke", rows, domain, epsilon=5.0)
    asked = FormulaExpression(Logarithm(Aggregate(0)), (eke.count(),), "ln of count").by("sex")
    answer = session.ask(asked, within=0.05)
    assert [key for (key,) in answer.keys] == ["F", "M"]
    for (low, high), truth in zip(answer.intervals, (math.log(3000), math.log(700)), strict=True):
        assert low - 0.15 < truth < high + 0.15  # four half-widths
        assert (high - low) / 2 <= 0.05
    assert session.ask(asked, within=0.05).free
    scaled = session.ask(2 * asked / 3, within=0.05)
    assert scaled.values == pytest.approx([2 / 3 * value for value in answer.values])
    assert answer.receipt.question == "ln(count) by sex"


def test_forgetting_a_part_of_a_formula_is_noticed() -> None:
    class Half(Formula):
        """Without anything."""

    with pytest.raises(TypeError, match="abstract"):
        Half()  # type: ignore[abstract]
