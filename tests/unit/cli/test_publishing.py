"""`eke publish`: rows in a file, and nothing spent on a wrong command."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from eke.cli.publish import _entry
from tests.command_line import Run


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_rows_are_written_and_the_same_for_the_same_key(
    dataset: Path, tmp_path: Path, run: Run, ending: str
) -> None:
    first, again = tmp_path / f"first.{ending}", tmp_path / f"again.{ending}"
    for file in (first, again):
        words = ("publish", dataset, "lda", "--target", "sex", "--epsilon", 2, "--key", ending)
        shown = run(*words, "-o", file)
        assert shown.code == 0, shown.err
        assert "rows" in shown.out
    frames = [pd.read_csv(f) if ending == "csv" else pd.read_parquet(f) for f in (first, again)]
    pd.testing.assert_frame_equal(frames[0], frames[1])
    assert set(frames[0]["sex"]) <= {"Female", "Male"}


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("lda", "--target", "sex", "--epsilon", 1, "-o", "rows.xls"), 2),
        (("lda", "--target", "sex", "--epsilon", 1, "-o", "r.csv", "--option", "split"), 2),
        (("lda", "--target", "sex", "--epsilon", 1, "-o", "r.csv", "--option", "key=x"), 2),
        (("lda", "--target", "sex", "--epsilon", 1, "-o", "r.csv", "--option", "progress=1"), 2),
        (("lda", "--target", "sex", "--epsilon", 1, "-o", "nowhere/r.csv"), 1),
        (("max_entropy", "--epsilon", 1, "-o", f"{'long' * 63}.csv"), 1),
        (("max_entropy", "-o", "r.csv"), 2),
        (("lda", "--target", "height", "--epsilon", 1, "-o", "r.csv"), 1),
        (("lda", "--target", "sex", "--rho", 1, "-o", "r.csv"), 1),
        (("lda", "--target", "sex", "--epsilon", 1, "-o", "r.csv", "--option", "split=x"), 1),
        (("pca", "--components", 2, "--epsilon", 1, "-o", "r.csv"), 1),
        (("ica", "--epsilon", 1, "-o", "r.csv"), 1),
        (("lda", "--target", "sex", "--epsilon", 1000, "-o", "r.csv"), 3),
    ],
)
def test_what_is_wrong_costs_nothing(
    dataset: Path, run: Run, words: tuple[object, ...], code: int
) -> None:
    before = run("budget", dataset, "--json").json
    assert run("publish", dataset, *words).code == code
    assert run("budget", dataset, "--json").json == before


def test_rows_are_asked_by_the_entry_that_publish_names(
    dataset: Path, tmp_path: Path, run: Run
) -> None:
    words = ("publish", dataset, "max_entropy", "--epsilon", 1, "-o", tmp_path / "rows.csv")
    entry = run(*words, "--key", "asked", "--json").json["publication"]
    assert f"publication {entry}" in run(*words, "--key", "asked").words
    before = run("budget", dataset, "--json").json
    women = "SELECT COUNT(*) FROM people WHERE sex = 'Female'"
    asked = ("estimate", dataset, women, "--publication", entry)
    found = run(*asked, "-c", 0.9, "--json").json
    assert found["low"] < found["value"] < found["high"]
    assert found["confidence"] == 0.9
    narrow, wide = (run(*asked, "-c", sure, "--json").json for sure in (0.5, 0.99))
    assert wide["low"] < narrow["low"] < narrow["high"] < wide["high"]
    shown = run(*asked)
    assert shown.code == 0, shown.err
    assert "what rows do not know of columns together" in shown.words
    for given, code, said in (
        (("--publication", 1), 1, "no publication"),
        (("--publication", entry, "--method", "blue"), 2, "history"),
        (("--publication", entry, "--alpha", 2), 2, "history"),
        (("--publication", entry, "-c", 1.5), 1, "confidence"),
    ):
        refused = run("estimate", dataset, women, *given)
        assert refused.code == code, given
        assert said in refused.err
    groups = "SELECT sex, COUNT(*) FROM people GROUP BY sex"
    refused = run("estimate", dataset, groups, "--publication", entry)
    assert refused.code == 1
    assert "one number at a time" in " ".join(refused.err.split())
    assert run("budget", dataset, "--json").json == before


def test_rows_and_reports_are_written_again_for_nothing(
    dataset: Path, tmp_path: Path, run: Run
) -> None:
    rows, report = tmp_path / "rows.parquet", tmp_path / "report.html"
    words = ("publish", dataset, "max_entropy", "--epsilon", 1, "--key", "again")
    made = run(*words, "-o", rows, "--report", report, "--json").json
    assert (made["file"], made["report"]) == (str(rows), str(report))
    assert report.read_text("utf-8").startswith("<!doctype html>")
    before = run("budget", dataset, "--json").json
    again = ("publish", dataset, "--stored", made["publication"])
    other, page = tmp_path / "rows.csv", tmp_path / "again.html"
    shown = run(*again, "-o", other, "--report", page)
    assert shown.code == 0, shown.err
    assert page.read_text("utf-8") == report.read_text("utf-8")
    assert len(pd.read_csv(other)) == len(pd.read_parquet(rows)) == made["rows"]
    for wrong, code in (
        (again, 2),
        ((*again, "-o", "rows.xls"), 2),
        ((*again, "--report", "report.txt"), 2),
        ((*again, "--report", tmp_path / "nowhere" / "report.html"), 1),
        ((*again, "--epsilon", 1, "-o", other), 2),
        (("publish", dataset, "lda", "--stored", made["publication"], "-o", other), 2),
        (("publish", dataset, "-o", other), 2),
        (("publish", dataset, "--stored", 1, "-o", other), 1),
    ):
        assert run(*wrong).code == code, wrong
    assert run("budget", dataset, "--json").json == before


def test_nothing_is_bought_that_cannot_be_written(dataset: Path, tmp_path: Path, run: Run) -> None:
    """A folder that is called like a file is no place for rows, nor for a report."""
    (tmp_path / "rows.csv").mkdir()
    (tmp_path / "report.html").mkdir()
    before = run("budget", dataset, "--json").json
    words = ("publish", dataset, "max_entropy", "--epsilon", 1)
    for files in (
        ("-o", tmp_path / "rows.csv"),
        ("-o", tmp_path / "other.csv", "--report", tmp_path / "report.html"),
    ):
        shown = run(*words, *files)
        assert shown.code == 1
        assert "cannot be written" in " ".join(shown.err.split())
    assert run("budget", dataset, "--json").json == before


def test_max_entropy_from_a_budget_and_then_from_history(
    dataset: Path, tmp_path: Path, run: Run
) -> None:
    paid, free = tmp_path / "paid.csv", tmp_path / "free.parquet"
    some = ("--attributes", "sex,age")
    shown = run("publish", dataset, "max_entropy", *some, "--epsilon", 2, "--rows", 40, "-o", paid)
    assert shown.code == 0, shown.err
    assert len(pd.read_csv(paid)) == 40
    before = run("budget", dataset, "--json").json
    words = ("max_entropy", *some, "--from-history", "--rows", 30)
    shown = run("publish", dataset, *words, "-o", free, "--json")
    assert shown.code == 0, shown.err
    assert shown.json["receipt"]["cost"] == 0
    assert set(pd.read_parquet(free)["sex"]) <= {"Female", "Male"}
    assert run("budget", dataset, "--json").json == before


@pytest.mark.parametrize(
    ("text", "entry"),
    [
        ("age, sex", {"columns": ["age", "sex"]}),
        ("age,sex:5", {"columns": ["age", "sex"], "weight": 5.0}),
        ("a:b,sex", {"columns": ["a:b", "sex"]}),
        ("select avg(age) from t", {"sql": "select avg(age) from t"}),
        (" SELECT\nAVG(age) FROM t", {"sql": " SELECT\nAVG(age) FROM t"}),
        ("", {"columns": [""]}),
    ],
)
def test_entries_of_a_workload(text: str, entry: dict[str, object]) -> None:
    assert _entry(text) == entry


def test_rows_for_a_purpose(dataset: Path, tmp_path: Path, run: Run) -> None:
    words = ("max_entropy", "--epsilon", 1, "--rows", 20, "-o", tmp_path / "rows.csv")
    refused = run("publish", dataset, *words, "--workload", "sex")
    assert refused.code != 0
    assert "two columns" in refused.err
    shown = run("publish", dataset, *words, "--target", "sex", "--workload", "age,sex:5")
    assert shown.code == 0, shown.err
    assert len(pd.read_csv(tmp_path / "rows.csv")) == 20
