"""A new kind of column is one class: this one is made here, and everything works with it.

The worked example of docs/concepts/architecture.md.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar

import pandas as pd
import pytest

import eke
from eke.domain import Attribute, Label, Rule, document
from eke.domain.attribute import End, SqlKind
from eke.domain.kinds import KINDS
from eke.domain.placing import Cut, Placing

# -- the new kind --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Decades(Attribute):
    """Years, by decades: 1980 to 1989 is one value, and reads 1980s."""

    kind: ClassVar[str] = "decades"
    is_ordered: ClassVar[bool] = True
    first: int
    last: int
    null: Rule = "drop"
    outside: Rule = "drop"

    @property
    def declared(self) -> tuple[Label, ...]:
        return tuple(range(self.first, self.last + 10, 10))

    @property
    def placing(self) -> Placing:
        return Cut((*(float(str(year)) for year in self.declared), self.last + 9.5))

    def _find(self, raw: object) -> int | None:
        inside = isinstance(raw, (int, float)) and self.first <= raw <= self.last + 9.5
        return int(float(str(raw)) - self.first) // 10 if inside else None

    def fields(self) -> dict[str, Any]:
        return {"first": self.first, "last": self.last}

    @classmethod
    def of_fields(cls, fields: Mapping[str, Any]) -> Decades:
        return cls(**fields)

    @property
    def sql_kind(self) -> SqlKind:
        return "number"

    def numbers(self) -> tuple[Fraction, ...]:
        return tuple(Fraction(str(label or 0)) for label in self.labels)

    def codes_between(self, low: End, high: End) -> slice:
        ends = (self.first if low is None else low, self.last if high is None else high)
        first, last = (int(end - self.first) // 10 for end in ends)
        return slice(max(first, 0), last + 1)

    def label_text(self, code: int) -> str:
        return f"{self.labels[code]}s"

    def range_text(self, first: int, last: int) -> str | None:
        return f"from the {self.label_text(first)} to the {self.label_text(last)}"


# -- what works with it --------------------------------------------------------------------------

DOMAIN = eke.Domain(born=Decades(1940, 2000), rich=eke.Boolean())


@pytest.fixture
def session(folder: Path, monkeypatch: pytest.MonkeyPatch) -> eke.Session:
    monkeypatch.setattr(document, "KINDS", MappingProxyType({**KINDS, "decades": Decades}))
    years = [1939, *range(1940, 2010), None, 2010] * 20
    table = pd.DataFrame({"born": years, "rich": [year == 1985 for year in years]})
    path = folder / "people.eke"
    eke.create(path, table, DOMAIN, epsilon=1e6, analyst="ann")
    return eke.open(path, data=table, analyst="ann")


def test_it_is_stored_and_read_again(session: eke.Session):
    assert session.domain == DOMAIN


def test_questions_in_python_and_in_sql(session: eke.Session):
    """200 people of each decade; with so much budget the noise is next to nothing."""
    assert session.ask(eke.count(born=(1980, 2000)), 0.05).value == pytest.approx(600, abs=0.5)
    assert session.ask(eke.count(born=1980, rich=True), 0.05).value == pytest.approx(20, abs=0.5)
    found = session.ask("SELECT COUNT(*) FROM t WHERE born >= 1990", 0.05)
    mean = session.ask("SELECT AVG(born) FROM t", 0.05)
    assert isinstance(found, eke.Answer)
    assert isinstance(mean, eke.Answer)
    assert found.value == pytest.approx(400, abs=0.5)
    assert mean.value == pytest.approx(1970, abs=0.5)


def test_it_reads_as_it_says(session: eke.Session):
    question = (eke.count(born=(1980, 1990)).on(session.domain)).description
    assert question == "count where born from the 1980s to the 1990s"


def test_rows_are_published(session: eke.Session):
    rows = session.publish("max_entropy", epsilon=1000.0, rows=50).to_pandas()
    assert set(rows["born"]) <= set(DOMAIN["born"].declared)


def test_a_forgotten_part_shows():
    """Positive control: a class without one of its parts cannot be made."""

    class Forgetful(Decades):
        fields = Attribute.fields

    with pytest.raises(TypeError, match="abstract"):
        Forgetful(1940, 2000)


# -- nobody asks which kind it is ----------------------------------------------------------------

NAMES = {kind.__name__ for kind in KINDS.values()}


def questions(text: str) -> Iterator[int]:
    """Lines with isinstance(…, Integer) or another kind."""
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            continue
        if node.func.id == "isinstance":
            names = {n.id for n in ast.walk(node.args[1]) if isinstance(n, ast.Name)}
            if names & NAMES:
                yield node.lineno


def test_nobody_asks_which_kind_an_attribute_is():
    root = Path(eke.__file__).parent
    found = [p.name for p in root.rglob("*.py") if [*questions(p.read_text("utf-8"))]]
    assert found == []


def test_the_check_catches_a_question():
    """Positive control."""
    assert list(questions("x = isinstance(a, (Integer, Binned))")) == [1]
    assert list(questions("x = isinstance(a, Attribute)")) == []
