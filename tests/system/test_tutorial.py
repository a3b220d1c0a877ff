"""The tutorial: its commands run in order, and print what it shows but for the noise."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pandas as pd
import pytest

from tests.command_line import Shown, call
from tests.tutorial import INSTALLING, ROOT, STEPS, Step, check, code, lay_out, shape


@pytest.fixture(scope="module")
def first_hour(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Shown]]:
    """What every command prints, run in order in a folder of its own."""
    folder = tmp_path_factory.mktemp("tutorial")
    lay_out(folder)
    before = Path.cwd()
    variables: dict[str, str] = {}
    os.chdir(folder)
    try:
        printed = {}
        for step in STEPS[len(INSTALLING) :]:
            if step.words[0] == "export":
                variables |= dict([step.words[1].split("=")])
            else:
                printed[step.command] = call(*step.words[1:], **variables)
        yield printed
    finally:
        os.chdir(before)


def test_it_begins_with_installing_what_the_project_declares() -> None:
    assert tuple(step.command for step in STEPS[:3]) == INSTALLING
    assert {step.words[0] for step in STEPS[3:]} == {"eke", "export"}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["scripts"]["eke"] == "eke.cli:main"
    assert (ROOT / "constraints.txt").is_file()


def test_it_gets_to_the_third_answer() -> None:
    asked = [step for step in STEPS if step.words[:2] == ["eke", "ask"]]
    assert len(asked) >= 3
    assert len({step.words[1] for step in STEPS if step.words[0] == "eke"}) >= 10


@pytest.mark.parametrize(
    "step",
    [step for step in STEPS[3:] if step.words[0] == "eke"],
    ids=lambda step: " ".join(step.words[1:3]),
)
def test_every_command_prints_what_is_shown(step: Step, first_hour: dict[str, Shown]) -> None:
    check(step, first_hour[step.command])


def test_an_answer_that_differs_in_words_is_noticed() -> None:
    """Positive control."""
    assert shape("10,784   10,684 to 10,884 ▁▂█▂▁") == shape("1   -5 to 7.5\n  ▁▁▁▂█▂▁▁")
    assert shape("Paid epsilon 0.02") != shape("Free: 0.02")
    assert shape("count 5") != shape("count")


def test_the_python_of_the_tutorial_runs(first_hour: dict[str, Shown]) -> None:
    assert first_hour
    names: dict[str, object] = {}
    with pytest.warns(UserWarning, match="SQLAlchemy"):
        exec(compile(code(), "docs/tutorial.md", "exec"), names)
    frame = names["frame"]
    assert isinstance(frame, pd.DataFrame)
    assert list(frame.columns) == ["sex", "AVG(hours)", "AVG(hours)_low", "AVG(hours)_high"]
    assert ((frame["AVG(hours)_high"] - frame["AVG(hours)_low"]) / 2 <= 1).all()
    assert frame["AVG(hours)"].between(30, 50).all()


def shown_intervals(step: Step) -> list[tuple[float, float]]:
    """The ends of the intervals that are printed below a command, in order."""
    number = r"(-?[\d,]+(?:\.\d+)?)"
    pairs = re.findall(rf"{number} to {number}", step.shown)
    return [(float(low.replace(",", "")), float(high.replace(",", ""))) for low, high in pairs]


def true_values(sql: str) -> list[float]:
    """What DuckDB says of the raw rows, in the order of the groups."""
    names = next(one.words for one in STEPS if "init" in one.words)[-1].split(",")
    with duckdb.connect() as connection:
        fields = ", ".join(f"'{name}': 'VARCHAR'" for name in names)
        file = f"read_csv('{ROOT}/data/adult.data.gz', header=false, columns={{{fields}}})"
        numbers = "CAST(hours AS INT) AS hours, CAST(age AS INT) AS age"
        connection.execute(
            f"CREATE TABLE adult AS SELECT * REPLACE ({numbers}) "
            f"FROM (SELECT COLUMNS(*).trim() FROM {file})"
        )
        rows = connection.execute(sql.split(" ERROR WITHIN", maxsplit=1)[0]).fetchall()
    return [float(row[-1]) for row in sorted(rows)]


ANSWERED = [step for step in STEPS if step.words[1:2] == ["ask"] and " to " in step.shown]


@pytest.mark.parametrize("step", ANSWERED, ids=lambda step: step.words[3][:60])
def test_the_intervals_on_the_page_hold_the_truth_of_the_table(step: Step) -> None:
    (sql,) = (word for word in step.words if word.startswith("SELECT"))
    intervals, truths = shown_intervals(step), true_values(sql)
    assert len(intervals) == len(truths) >= 1
    for (low, high), truth in zip(intervals, truths, strict=True):
        assert low <= truth <= high


def test_an_interval_that_misses_the_truth_is_noticed() -> None:
    """Positive control: what the page said when hours were midpoints of bins."""
    (truth,) = true_values("SELECT AVG(hours) FROM adult WHERE sex = 'Female'")
    ((low, high),) = shown_intervals(Step("", "  37.85   36.88 to 38.82 with probability 0.95"))
    assert not low <= truth <= high
    assert len(ANSWERED) >= 5


def test_the_third_answer_is_free(first_hour: dict[str, Shown]) -> None:
    answers = [step for step in STEPS if step.words[:2] == ["eke", "ask"]]
    assert "Paid" in first_hour[answers[0].command].out
    assert "Paid" in first_hour[answers[1].command].out
    assert "Free" in first_hour[answers[2].command].out
