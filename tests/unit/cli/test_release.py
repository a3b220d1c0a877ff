"""`eke plan` and `eke release`: compared, agreed to, written down, free afterwards."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import eke
from eke.cli import release as command
from eke.cli.release import file_name
from tests.command_line import Run, call, write_people

CUBE = "SELECT sex, hours, COUNT(*) FROM people GROUP BY CUBE (sex, hours)"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dataset of which nothing was asked yet."""
    folder = tmp_path_factory.mktemp("made")
    done = call("init", *write_people(folder), "--epsilon", 20, "-o", folder / "people.eke")
    assert done.code == 0, done.err
    return folder / "people.eke"


@pytest.fixture
def dataset(made: Path, tmp_path: Path) -> Path:
    """A copy for each test: every command reads all that was released before."""
    return Path(shutil.copy(made, tmp_path / "copy.eke"))


def test_a_plan_shows_strategies_a_plot_and_if_it_can_be_paid(dataset: Path, run: Run) -> None:
    before = run("budget", dataset, "--json").out
    shown = run("plan", dataset, "--marginals", 2, "--budget", 1)
    assert shown.code == 0, shown.err
    assert "392 answers in 3 tables" in shown.words
    for name in ("I", "Q+ gls", "residuals+", "error", "largest", "cost", "Affordable"):
        assert name in shown.words
    assert max(map(len, shown.out.splitlines())) <= 80
    plot = [line for line in shown.out.splitlines() if "|" in line and "●" in line]
    assert plot[0].index("●") < plot[-1].index("●"), "errors fall with the budget"
    expensive = run("plan", dataset, "--marginals", 2, "--budget", 1000)
    assert expensive.code == 0
    assert "Too expensive" in expensive.words
    assert run("budget", dataset, "--json").out == before


@pytest.mark.parametrize("width", [40, 80, 200])
def test_every_width_is_kept(dataset: Path, run: Run, width: int) -> None:
    words = ("plan", dataset, "--marginals", 1, "--prefixes", "age", "--budget", 1)
    shown = run(*words, COLUMNS=str(width))
    assert shown.code == 0, shown.err
    assert max(map(len, shown.out.splitlines())) <= width
    assert "this plan" in shown.out


@pytest.mark.parametrize(
    ("options", "tables"),
    [
        (["--marginals", 1], ["age", "sex", "hours"]),
        (["--up-to", 1], ["", "age", "sex", "hours"]),
        (["--half-of-next", 1], ["age", "sex", "hours", "age sex", "sex hours"]),
        (["--marginals", 1, "--with", "sex"], ["age", "sex", "hours", "age sex", "sex hours"]),
        (["--over", "hours,sex", "--over", "age"], ["sex hours", "age"]),
        (["--over", "sex", "--marginals", 1], ["age", "sex", "hours"]),
        ([CUBE], ["", "sex", "hours", "sex hours"]),
        (["--ranges", "hours", "--prefixes", "hours,sex"], ["hours", "sex hours"]),
    ],
)
def test_workloads_of_the_options(
    dataset: Path, run: Run, options: list[object], tables: list[str]
) -> None:
    shown = run("release", dataset, *options, "--budget", 0.01, "--yes", "--json")
    assert shown.code == 0, shown.err
    assert [" ".join(one["attributes"]) for one in shown.json["tables"]] == tables


def test_sql_may_come_from_stdin(dataset: Path, run: Run) -> None:
    read = run("plan", dataset, "-", "-b", 1, "--json", stdin=CUBE)
    assert read.json == run("plan", dataset, CUBE, "-b", 1, "--json").json
    assert read.json["tables"] == 4


def test_accuracies_for_all_tables_or_for_each(dataset: Path, run: Run) -> None:
    words = ("plan", dataset, "--over", "sex", "--over", "sex,hours", "--json")
    wide = run(*words, "--within", 60).json
    narrow = run(*words, "-w", "sex=30", "-w", "hours,sex=60").json
    strict = run(*words, "-w", 30, "-c", 0.99).json
    assert wide["budget"] < narrow["budget"] < strict["budget"]
    costs = [one["cost"] for one in strict["sections"][0]["alternatives"]]
    assert costs[0] == min(costs) == strict["budget"]
    assert run(*words, "-w", "sex=30").code == 1


def test_released_tables_are_files_and_free(dataset: Path, tmp_path: Path, run: Run) -> None:
    words = ("release", dataset, "--up-to", 2, "--ranges", "hours", "--budget", 1, "--yes")
    shown = run(*words, "-o", tmp_path / "tables", "--key", "monday")
    assert shown.code == 0, shown.err
    assert "Released 8 tables" in shown.out
    assert "Measured:" in shown.err, "the plan is shown where progress is"
    files = sorted(file.name for file in (tmp_path / "tables").iterdir())
    assert files == [
        *("age+hours.csv", "age+sex.csv", "age.csv", "hours-ranges.csv", "hours.csv"),
        *("sex+hours.csv", "sex.csv", "total.csv"),
    ]
    with (tmp_path / "tables" / "sex+hours.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["hours"] for row in rows[:4]] == ["0 to 20", "20 to 40", "40 to 60", ""]
    assert sum(float(row["value"]) for row in rows) == pytest.approx(1000, abs=400)
    asked = run("ask", dataset, "SELECT COUNT(*) FROM people WHERE age < 30", "-w", 500, "--json")
    assert asked.json["source"] == "history"
    before = run("budget", dataset, "--json").out
    again = run(*words, "-o", tmp_path / "again", "-f", "parquet", "--key", "monday", "--json")
    assert run("budget", dataset, "--json").out == before
    assert len(again.json["tables"]) == 8
    frame = pd.read_parquet(tmp_path / "again" / "sex+hours.parquet")
    assert list(frame["value"]) == pytest.approx([float(row["value"]) for row in rows])
    assert Path(again.json["tables"][0]["file"]).exists()


def test_nothing_is_spent_before_somebody_agrees(
    dataset: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = run("budget", dataset, "--json").out
    words = ("release", dataset, "--over", "sex", "--budget", 0.1)
    assert run(*words).code == 2, "nobody can be asked"
    assert run(*words, "--json").code == 2
    monkeypatch.setattr(command, "_is_attended", lambda: True)
    shown = run(*words, stdin="n\n")
    assert shown.code == 1
    assert "Release it?" in shown.err
    assert run("budget", dataset, "--json").out == before
    assert run(*words, stdin="y\n").code == 0
    assert run("budget", dataset, "--json").out != before


def test_a_refusal_is_exit_code_3_and_free(dataset: Path, tmp_path: Path, run: Run) -> None:
    before = run("budget", dataset, "--json").out
    words = ("release", dataset, "--over", "sex", "--budget", 1000, "--yes")
    shown = run(*words, "-o", tmp_path / "tables")
    assert shown.code == 3
    assert shown.out == ""
    assert "nothing was spent" in shown.err
    assert list((tmp_path / "tables").iterdir()) == []
    assert json.loads(run(*words, "--json").err)["error"] == "BudgetExceeded"
    assert run("budget", dataset, "--json").out == before


def test_a_folder_that_cannot_be_made_costs_nothing(
    dataset: Path, tmp_path: Path, run: Run
) -> None:
    (tmp_path / "file").write_text("", "utf-8")
    before = run("budget", dataset, "--json").out
    words = ("release", dataset, "--over", "sex", "--budget", 0.1, "--yes")
    assert run(*words, "-o", tmp_path / "file").code == 1
    assert run("budget", dataset, "--json").out == before


@pytest.mark.parametrize(
    ("code", "options"),
    [
        (2, "--marginals 1"),
        (2, "--marginals 1 -b 1 -w 50"),
        (2, "-b 1"),
        (2, "--with sex -b 1"),
        (2, "--marginals two -b 1"),
        (1, "--marginals 9 -b 1"),
        (1, "--over nobody -b 1"),
        (1, "--over sex -b -1"),
        (1, "--over sex -b nan"),
        (1, "--over sex -b 1 --strategy magic"),
        (1, "--over sex -w 50 --strategy I"),
        (1, "--ranges age -w 50"),
        (1, "DROP -b 1"),
    ],
)
def test_bad_requests_are_one_sentence_and_free(
    dataset: Path, run: Run, code: int, options: str
) -> None:
    before = run("budget", dataset, "--json").out
    for name in ("plan", "release"):
        shown = run(name, dataset, *options.split(), *(["--yes"] if name == "release" else []))
        assert shown.code == code
        assert shown.out == ""
        assert shown.err
    assert run("budget", dataset, "--json").out == before


def test_file_names_are_safe_and_short() -> None:
    def named(*attributes: str) -> str:
        along = ("cells",) * len(attributes)
        return file_name(eke.session.ReleasedTable(attributes, along, *(None,) * 3))  # type: ignore[arg-type]

    assert named("a/b", "..", "c d") == "a_b+..+c_d"
    assert named() == "total"
    long = named(*(f"attribute_{i:02}" for i in range(40)))
    assert len(long) < 160
    assert long.endswith("+32_more")


@pytest.mark.parametrize("norm", ["l2", "l1", "linf"])
def test_counts_that_people_could_have(dataset: Path, run: Run, folder: Path, norm: str) -> None:
    words = ("release", dataset, "--marginals", 1, "--ranges", "hours", "-b", 0.02, "--yes")
    shown = run(*words, "--as", "whole", "--norm", norm, "--json").json
    assert (shown["adjusted"]["kind"], shown["adjusted"]["norm"]) == ("whole", norm)
    values = [value for one in shown["tables"] for value in one["values"]]
    assert all(value == int(value) >= 0 for value in values)
    spent = run("budget", dataset, "--json").json["spent"]
    again = run("release", dataset, "--stored", shown["sequence"], "--json").json
    assert "adjusted" not in again
    assert [one["values"] for one in again["tables"]] != [one["values"] for one in shown["tables"]]
    told = ("release", dataset, "--stored", shown["sequence"], "--as", "whole", "--norm", norm)
    assert run(*told, "--json").json["tables"] == shown["tables"]
    written = run(*told, "-o", folder / "whole")
    assert "one table of whole counts" in written.words
    frame = pd.read_csv(folder / "whole" / "sex.csv")
    assert frame["value"].tolist() == shown["tables"][1]["values"]
    assert run("budget", dataset, "--json").json["spent"] == spent


def test_adjusting_is_checked_before_anything_is_spent(
    dataset: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = run("budget", dataset, "--json").out
    words = ("release", dataset, "--ranges", "hours", "-b", 0.02, "--yes", "--json")
    monkeypatch.setattr("eke.planning.workload.agreement.MOST_CELLS", 1)
    assert "must agree" in run(*words, "--as", "whole").err
    assert run(*words, "--norm", "l1").code == 2
    assert run(*words, "--as", "nice").code == 2
    assert run("release", dataset, "--stored", 3, "--marginals", 1).code == 2
    assert run("release", dataset, "--stored", 3).code == 1
    assert run("budget", dataset, "--json").out == before


def test_a_strategy_matrix_from_a_file(dataset: Path, run: Run, folder: Path) -> None:
    text, saved = folder / "mine.csv", folder / "mine.npy"
    text.write_text("1,1\n0.7,-0.3\n\n0.1,0.9\n")
    np.save(saved, np.array([[1, 1], [0.7, -0.3], [0.1, 0.9]]))
    words = ("--over", "sex", "-b", 0.02, "--json", "--strategy-matrix")
    plan = run("plan", dataset, *words, text).json
    assert plan == run("plan", dataset, *words, saved).json
    assert plan["sections"][0]["strategy"] == "matrix"
    released = run("release", dataset, "--yes", *words, saved).json
    assert (released["strategy"], released["cost"] <= 0.02) == ("matrix", True)


HOSTILE = {
    "words.csv": b"sex,age\n1,2\n",
    "ragged.csv": b"1,1\n1\n",
    "empty.csv": b"",
    "nan.csv": b"1,nan\n",
    "bytes.csv": b"\xff\xfe\x00",
    "narrow.csv": b"1\n",
    "part.csv": b"1,1\n",
    "text.npy": b"1,1\n0,1\n",
    "pickle.npy": b"\x80\x04N.",
    "none.npy": b"",
    "long.npy": b"\x93NUMPY\x01\x00v\x00{'descr': '<f8', 'fortran_order': False, 'shape': "
    b"(1000000000, 1000000), }".ljust(118 + 10, b" "),
    "objects.npy": b"\x93NUMPY\x01\x00v\x00{'descr': '|O', 'fortran_order': False, 'shape': "
    b"(1, 2), }".ljust(118 + 10, b" ")
    + b"\0" * 16,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_matrix_costs_nothing(dataset: Path, run: Run, folder: Path, name: str) -> None:
    (folder / name).write_bytes(HOSTILE[name])
    before = run("budget", dataset, "--json").out
    words = ("--over", "sex", "-b", 0.02, "--yes", "--strategy-matrix", folder / name)
    shown = run("release", dataset, *words)
    assert (shown.code, shown.out) == (1, "")
    assert "Traceback" not in shown.err
    assert run("budget", dataset, "--json").out == before


def test_a_matrix_is_given_alone_and_small(
    dataset: Path, run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "mine.csv").write_text("1,0\n0,1\n")
    words = ("plan", dataset, "--over", "sex", "-b", 0.02, "--strategy-matrix")
    assert run(*words, folder / "mine.csv", "--strategy", "I").code == 2
    assert run(*words, folder / "nothing.csv").code == 1
    monkeypatch.setattr("eke.cli.matrix_file.MOST_BYTES", 7)
    assert "at most 7 bytes" in run(*words, folder / "mine.csv").err


def test_rules_for_epsilon_and_delta(tmp_path: Path, dataset: Path, run: Run) -> None:
    by_rho = tmp_path / "rho.eke"
    run("init", *write_people(tmp_path), "--rho", "0.1", "-o", by_rho)
    words = ("plan", by_rho, "--marginals", 1, "-b", 0.1)
    shown = run(*words, "--delta", 1e-6)
    assert shown.code == 0, shown.err
    for told in ("epsilon = 2.143", "CUBE Th. 2.2", "analytic Gaussian", "zCDP is tighter"):
        assert told in shown.words
    assert max(map(len, shown.out.splitlines())) <= 80
    document = run(*words, "--delta", 1e-6, "--json").json
    assert len(document["rules"]) == 7
    assert document == run(*words, "--json").json | {"rules": document["rules"]}
    assert "no delta" in run("plan", dataset, "--marginals", 1, "-b", 1, "--delta", 1e-6).err
    assert "delta must lie" in run(*words, "--delta", 2).err
