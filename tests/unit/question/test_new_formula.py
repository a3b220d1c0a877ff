"""A new kind of formula is one class: this one is written here, and asked like any other."""

from __future__ import annotations

import ast
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

SOURCES = Path(eke.__file__).parent
KINDS = {"Constant", "Aggregate", "Key", "Operation", "Root"}


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


def asked_kinds(source: str) -> list[int]:
    """The lines that ask which kind of formula something is."""
    found = []
    for node in ast.walk(ast.parse(source)):
        names: set[str] = set()
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "isinstance":
            names = {part.id for part in ast.walk(node.args[1]) if isinstance(part, ast.Name)}
        elif isinstance(node, ast.MatchClass) and isinstance(node.cls, ast.Name):
            names = {node.cls.id}
        if names & KINDS:
            found.append(node.lineno if hasattr(node, "lineno") else 0)
    return found


def test_hardly_anybody_asks_which_kind_a_formula_is() -> None:
    """The rest: keys are shown by their labels, averages have bounds, constants are folded."""
    places = {
        str(path.relative_to(SOURCES)): len(lines)
        for path in sorted(SOURCES.rglob("*.py"))
        if (lines := asked_kinds(path.read_text("utf-8")))
    }
    assert sum(places.values()) <= 12, places
    assert asked_kinds("isinstance(x, (Root, int))\nmatch y:\n    case Operation(): pass") == [1, 3]
