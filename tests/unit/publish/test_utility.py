"""The curator's report: right figures, and a warning wherever it is shown."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from eke.domain import Categorical, Domain, Integer
from eke.errors import DataError, QueryError
from eke.publish import Published
from eke.publish.classifiers import area_under_roc
from eke.publish.utility import MOST_BINS, WARNING, code_frame, compare, divergence

DOMAIN = Domain(
    sex=Categorical("F", "M"), age=Integer(0, 99), town=Categorical("a", "b", "c", null="bucket")
)


def people(rows: int = 600) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    age = rng.integers(0, 100, rows)
    return pd.DataFrame(
        {
            "sex": np.where(age + rng.normal(0, 10, rows) > 50, "F", "M"),
            "age": age,
            "town": pd.Series(rng.choice(["a", "b", "c"], rows)).where(
                rng.random(rows) > 0.1, None
            ),
        }
    )


def published(codes: np.ndarray, mechanism: str = "lda") -> Published:
    receipt = {"mechanism": mechanism, "measure": "epsilon", "cost": 0.5, "notes": []}
    return Published(DOMAIN, DOMAIN.names, codes, receipt)


def test_the_same_rows_agree_in_everything():
    codes = code_frame(people(), DOMAIN, DOMAIN.names)
    report = compare(published(codes, "pca"), people(), target="sex")
    assert report.rows == (600, 600)
    assert [report.error(ways) for ways in (1, 2, 3)] == [0, 0, 0]
    assert 0 <= report.divergence(1) < 0.01
    assert report.entropy[0] == report.entropy[1]
    assert report.squared_error == 0
    scores = {(s.classifier, s.trained_on): s for s in report.scores}
    for name in ("LDA", "decision tree"):
        assert scores[name, "published rows"] == scores[name, "real rows"].__class__(
            name,
            "published rows",
            scores[name, "real rows"].accuracy,
            scores[name, "real rows"].auc,
        )
        assert scores[name, "published rows"].accuracy > 0.75
    assert scores["commonest class", "real rows"].accuracy < 0.6


def test_errors_are_sums_of_absolute_differences():
    """HIST eq. 42, by hand: three of four rows are F there, one of two here."""
    real = pd.DataFrame({"sex": ["F", "F", "F", "M"], "age": [10, 10, 10, 99], "town": ["a"] * 4})
    made = published(np.array([[0, 10, 0], [1, 10, 0]]))
    report = compare(made, real)
    by_set = {a.attributes: a for a in report.agreements}
    assert by_set["sex",].error == pytest.approx(0.5)
    assert by_set["age",].error == pytest.approx(0.5)
    assert by_set["town",].error == 0
    assert by_set["sex", "age"].error == pytest.approx(0.25 + 0.5 + 0.25)
    assert by_set["sex", "age", "town"].error == pytest.approx(1.0)
    assert report.entropy[0] == 1.0
    assert report.entropy[1] == pytest.approx(0.8112781)
    assert report.squared_error is None
    expected = 0.5 * math.log2(0.5 / (3.5 / 5)) + 0.5 * math.log2(0.5 / (1.5 / 5))
    assert by_set["sex",].divergence == pytest.approx(expected)


def test_ages_are_compared_in_ranges():
    real = pd.DataFrame({"sex": ["F"], "age": [42], "town": ["a"]})
    width = 100 // MOST_BINS
    assert compare(published(np.array([[0, 42 // width * width, 0]])), real).error(1) == 0
    assert compare(published(np.array([[0, 42 + width, 0]])), real).error(1) > 0


def test_rows_in_order_have_a_squared_error():
    codes = code_frame(people(), DOMAIN, DOMAIN.names)
    other = codes.copy()
    other[:, 0] = 1 - other[:, 0]  # every row has the other sex: two dummies change
    assert compare(published(other, "pca"), people()).squared_error == pytest.approx(2.0)


def test_the_area_under_the_curve_is_the_share_of_right_pairs():
    rng = np.random.default_rng(5)
    classes = rng.integers(0, 3, 80)
    chances = np.round(rng.random((80, 3)), 1)  # many ties
    areas = []
    for label in range(3):
        inside, outside = chances[classes == label, label], chances[classes != label, label]
        wins = (inside[:, np.newaxis] > outside) + 0.5 * (inside[:, np.newaxis] == outside)
        areas.append(wins.mean())
    assert area_under_roc(chances, np.arange(3), classes) == pytest.approx(np.mean(areas))
    assert area_under_roc(chances, np.arange(3), np.zeros(80, np.int64)) == 0.5


def test_the_divergence_is_finite_where_nothing_is_real():
    assert 0 < divergence(np.array([5, 5]), np.array([10, 0])) < 10


def test_the_warning_is_everywhere():
    report = compare(published(code_frame(people(), DOMAIN, DOMAIN.names)), people())
    assert WARNING in str(report)
    assert WARNING in report._repr_html_()
    assert "<svg" in report._repr_html_()
    assert report.to_pandas().attrs["warning"] == WARNING
    assert "not private" in WARNING


def test_dropped_rows_are_not_compared():
    frame = people(20)
    frame.loc[3, "sex"] = "other"
    assert len(code_frame(frame, DOMAIN, DOMAIN.names)) == 19
    assert (code_frame(frame, DOMAIN, DOMAIN.names)[:, 2] < 4).all()


def test_what_cannot_be_compared_is_refused():
    rows = published(code_frame(people(), DOMAIN, DOMAIN.names))
    with pytest.raises(DataError, match="no column 'town'"):
        compare(rows, people().drop(columns="town"))
    with pytest.raises(DataError, match="no rows"):
        compare(rows, people().head(0))
    with pytest.raises(QueryError, match="target"):
        compare(rows, people(), target="income")
    with pytest.raises(QueryError, match="no 4"):
        compare(rows, people()).error(4)


def test_rows_survive_being_stored_and_show_their_labels():
    rows = published(code_frame(people(), DOMAIN, DOMAIN.names))
    again = Published.from_text(DOMAIN, rows.to_text())
    assert (again.codes == rows.codes).all()
    assert again.receipt == rows.receipt
    assert again.to_text() == rows.to_text()
    frame = rows.to_pandas()
    assert frame["age"].tolist() == people()["age"].tolist()
    assert frame["sex"].tolist() == people()["sex"].tolist()
    assert (frame["town"].isna() == people()["town"].isna()).all()
    assert "600 rows" in repr(rows)
    assert rows.to_arrow().num_rows == 600
