"""Reports on rows: figures by a slow twin, hostile names, and nothing loaded from elsewhere."""

from __future__ import annotations

import re
from fractions import Fraction
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import eke
from eke.errors import DataError
from eke.history import Assertion, Measurement
from eke.privacy.law import DiscreteLaplace, Gaussian, Laplace, choose_grid
from eke.publish import RowBasis
from eke.publish.published import Published
from eke.publish.row_basis import answers_of, distances, fact_checks, mean_of_noise
from eke.publish.row_report import _cramer, report_of
from eke.query import Kronecker

HOSTILE = "<script>alert(1)</script>\"' onload=x &amp; \u202egnp"
VALUES = ('"><img src=x onerror=alert(2)>', "</style><b>", "fine")
DOMAIN = eke.Domain(
    {
        "age": eke.Integer(0, 29),
        HOSTILE: eke.Categorical(*VALUES),
        "town": eke.Categorical("A", "B", null="bucket"),
    }
)
LAW = choose_grid(DiscreteLaplace, 5.0, -4)
GROUPS = (np.arange(30) // 10 == np.arange(3)[:, None]).astype(np.int64)


def codes(number: int = 600) -> Any:
    draw = np.random.default_rng(5)
    return np.stack([draw.integers(0, size, number) for size in DOMAIN.shape], axis=1)


def measured() -> tuple[Measurement, ...]:
    """Tables of 1,200 records: two of ages, one of towns in groups of ages, a sum and a range."""
    blocks = (
        eke.marginal("age").on(DOMAIN),
        Kronecker(DOMAIN, ("age",), (np.eye(30, dtype=np.int64),)),
        Kronecker(DOMAIN, ("age", "town"), (GROUPS, np.eye(3, dtype=np.int64))),
        eke.total("age", town="A").on(DOMAIN),
        eke.count(age=(3, 9)).on(DOMAIN),
    )
    draw = np.random.default_rng(6)
    return tuple(
        Measurement(block, LAW, tuple(float(one) for one in draw.integers(0, 90, block.cells)))
        for block in blocks
    )


def published(number: int = 600, **more: Any) -> Published:
    facts = (
        ("Yearbook <i>", Assertion(eke.count().on(DOMAIN), (Fraction(1200),))),
        ("Statutes", Assertion(eke.count(age=3, town="A").on(DOMAIN), (Fraction(0),))),
    )
    basis = RowBasis(measured(), facts, records=1200)
    receipt = {
        "mechanism": "max_entropy",
        "measure": "epsilon",
        "cost": 1.0,
        "total": 1200.0,
        "notes": ["noted <u>"],
        "accuracy": {
            "total": 1200.0,
            "total_variance": 9.0,
            "spread": 2.0,
            "columns": 3,
            "noise": dict.fromkeys(DOMAIN.names, 4.0),
        },
    }
    return Published(
        DOMAIN, DOMAIN.names, codes(number), receipt, ("left <s> open",), 7, basis, **more
    )


class Reader(HTMLParser):
    """Tags, attributes and texts of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str]] = []
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes += [(name, value or "") for name, value in attrs]

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def read(text: str) -> Reader:
    reader = Reader()
    reader.feed(text)
    return reader


def test_distances_are_those_of_the_obvious_twin() -> None:
    """Each question by itself, row by row; 600 rows stand for 1,200 records."""
    rows = published()
    assert rows.basis is not None
    columns = dict(zip(rows.attributes, rows.codes.T, strict=True))
    found = list(distances(rows.basis, DOMAIN, columns, 1200.0))
    assert len(found) == 5
    for table, one in zip(found, rows.basis.measurements, strict=True):
        slow = []
        for query in one.query.queries():
            answer = Fraction(0)
            for row in rows.codes:
                for term in query.terms:
                    part = term.weight
                    for name, vector in term.factors:
                        part *= int(vector[row[DOMAIN.names.index(name)]])
                    answer += part
            slow.append(2.0 * float(answer))
        assert table.rows == pytest.approx(slow)
        assert table.distance == pytest.approx(np.abs(np.array(slow) - one.values).mean())
        assert table.ratio == pytest.approx(table.distance / (LAW.variance**0.5 / 2**0.5))
    assert [one.counts for one in found] == [True, True, True, False, False]
    assert [one.fine for one in found] == [True, True, False, False, False]


def test_noise_has_the_mean_that_is_stated() -> None:
    """N = 10^6 draws of each law, within 1 %."""
    draw = np.random.default_rng(1)
    laplace, gaussian = draw.laplace(0.0, 3.0, 10**6), draw.normal(0.0, 3.0, 10**6)
    expected = mean_of_noise(Laplace(3.0)) * Laplace(3.0).variance ** 0.5
    assert np.abs(laplace).mean() == pytest.approx(expected, rel=0.01)
    assert np.abs(gaussian).mean() == pytest.approx(3.0 * mean_of_noise(Gaussian(9.0)), rel=0.01)
    assert mean_of_noise(Gaussian(9.0)) != pytest.approx(mean_of_noise(Laplace(3.0)), rel=0.05)


def test_facts_are_compared_exactly_and_in_proportion() -> None:
    rows = published()
    assert rows.basis is not None
    columns = dict(zip(rows.attributes, rows.codes.T, strict=True))
    total, never = fact_checks(rows.basis, columns)
    assert (total.says, total.rows, total.holds) == (Fraction(1200), Fraction(1200), True)
    meets = int(((rows.codes[:, 0] == 3) & (rows.codes[:, 2] == 0)).sum())
    assert meets > 0
    assert (never.rows, never.holds) == (Fraction(2 * meets), False)
    del columns["town"]
    assert [one.holds for one in fact_checks(rows.basis, columns)] == [True, None]


def test_many_cells_are_counted_as_few_are() -> None:
    domain = eke.Domain({f"c{n}": eke.Integer(0, 99) for n in range(4)})
    draw = np.random.default_rng(2)
    columns = {name: draw.integers(0, 100, 500) for name in domain.names}
    query = eke.count(dict.fromkeys(domain.names, (0, 49))).on(domain)
    meets = np.all([one < 50 for one in columns.values()], axis=0).sum()
    assert answers_of(query, columns) == [Fraction(int(meets))]


def test_cramer_is_0_without_a_bond_and_1_with_a_perfect_one() -> None:
    assert _cramer(np.outer([1.0, 2.0, 3.0], [4.0, 5.0])) == pytest.approx(0.0, abs=1e-9)
    assert _cramer(np.diag([3.0, 4.0, 5.0])) == pytest.approx(1.0)
    assert _cramer(np.array([[3.0, 4.0]])) == 0.0
    assert _cramer(np.array([[30.0, 10.0], [10.0, 30.0]])) == pytest.approx(0.5)


@pytest.mark.parametrize("number", [0, 1, 600])
def test_hostile_names_and_values_stay_text(number: int) -> None:
    """Positive control: the same reader notices what is not escaped."""
    page = read(report_of(published(number)))
    assert not page.tags & {"script", "img", "link", "iframe", "b", "u", "s", "object", "form"}
    assert not [name for name, _ in page.attributes if name.startswith("on")]
    assert not [name for name, _ in page.attributes if name in {"src", "href", "xlink:href"}]
    said = " ".join(page.texts)
    assert HOSTILE.replace("\u202e", r"\u202e") in said
    assert all(letter.isprintable() or letter.isspace() for letter in said)
    assert "noted <u>" in said
    assert "left <s> open" in said
    assert "Yearbook <i>" in said
    if number > 1:
        assert VALUES[0] in said
    assert "script" in read(f"<p>{HOSTILE}</p>").tags


def test_nothing_is_loaded_from_elsewhere() -> None:
    text = report_of(published())
    assert not re.search(r"https?:|url\(|@import|//[a-z]", text)
    assert "default-src 'none'" in text
    assert "prefers-color-scheme: dark" in text
    assert text.count("<svg") == 2


def test_it_says_what_was_measured_and_what_is_not_known(tmp_path: Path) -> None:
    text = " ".join(read(report_of(published())).texts)
    assert "measured twice with noise Laplace ±" in text
    assert f"±{LAW.variance**0.5:.3g} a count" in text
    assert "1 hold, 1 do not, 0 are about columns that are not here" in text
    assert "entry 7 of the ledger" in text
    alone = Published.from_text(DOMAIN, published().to_text())
    alone.report(tmp_path / "alone.html")
    said = " ".join(read((tmp_path / "alone.html").read_text("utf-8")).texts)
    assert "a report that is made where the dataset is compares the rows with it" in said
    assert "age" in said
    with pytest.raises(DataError, match="cannot be written"):
        alone.report(tmp_path / "nowhere" / "report.html")


@pytest.mark.parametrize("mechanism", ["max_entropy", "lda", "history"])
def test_rows_of_a_session_bring_their_measurements(tmp_path: Path, mechanism: str) -> None:
    draw = np.random.default_rng(1)
    frame = pd.DataFrame({"age": draw.integers(0, 30, 900), "town": draw.choice(["A", "B"], 900)})
    domain = eke.Domain(age=eke.Integer(0, 29), town=eke.Categorical("A", "B"))
    session = eke.create(tmp_path / "t.eke", frame, domain, epsilon=9.0)
    session.ask(eke.marginal("age"), within=60)
    session.add_fact(eke.Fact(eke.count(), 900, source="Yearbook"))
    if mechanism == "history":
        rows = session.publish("max_entropy", from_history=True, key="rows")
    elif mechanism == "lda":
        rows = session.publish("lda", target="town", epsilon=2.0, key="rows")
    else:
        rows = session.publish("max_entropy", epsilon=2.0)
    spent = session.budget.spent
    assert rows.sequence is not None
    assert rows.basis is not None
    assert rows.basis.records == 900
    assert rows.basis.measured is (mechanism != "history")
    if mechanism != "history":
        assert {one.sequence for one in rows.basis.measurements} == {rows.sequence}
    text = rows.report(tmp_path / "report.html").read_text("utf-8")
    assert text == session.archive.report(rows.sequence)
    assert "1 hold, 0 do not" in text
    nobody = session.archive.report(rows.sequence, only="nobody")
    assert len(nobody) < len(text)
    assert session.budget.spent == spent
