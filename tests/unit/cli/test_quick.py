"""Light commands: they print what the program prints, and load next to nothing."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pandas as pd
import pytest

import eke
from eke.cli import quick
from eke.cli.help_picture import COMMANDS
from eke.cli.program import app
from eke.domain.kinds import KINDS
from eke.session.settings import user_name
from tests.command_line import Run, call

HEAVY = (
    *("duckdb", "fastapi", "ibis", "numba", "numpy", "opendp", "pandas", "pyarrow", "pydantic"),
    *("scipy", "sqlalchemy", "sqlglot", "typer", "yaml"),
)
QUESTIONS = (
    "SELECT COUNT(*) FROM people WHERE age >= 30",
    "SELECT sex, COUNT(*) FROM people GROUP BY sex",
    "SELECT SUM(age) FROM people WHERE sex = 'Female'",
)


@pytest.fixture(scope="module")
def asked(dataset: Path, run: Run) -> Path:
    """The dataset after some questions; a module has its own."""
    for question in QUESTIONS:
        assert run("ask", dataset, question, "-w", 90).code == 0
    return dataset


@pytest.fixture
def printed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> object:
    """What the quick way prints for some words; None when it leaves them to the program."""

    def words(*given: object, **variables: str) -> str | None:
        for name in ("EKE_SERVER", "EKE_TOKEN"):
            monkeypatch.delenv(name, raising=False)
        for name, value in {"COLUMNS": "80", "TERM": "dumb", **variables}.items():
            monkeypatch.setenv(name, value)
        capsys.readouterr()
        done = quick.answered([str(one) for one in given])
        shown = capsys.readouterr()
        assert shown.err == ""
        assert done or shown.out == "", "nothing is printed twice"
        return shown.out if done else None

    return words


@pytest.mark.parametrize("width", ["60", "80", "120"])
@pytest.mark.parametrize("option", ["--help", "-h"])
def test_help_is_that_of_the_program(printed, option: str, width: str) -> None:
    whole = call(option, COLUMNS=width).out.replace("Usage: root", "Usage: eke")
    assert printed(option, COLUMNS=width).splitlines()[2:] == whole.splitlines()[2:]
    assert "Usage: eke [OPTIONS] COMMAND [ARGS]..." in printed(option, COLUMNS=width)
    assert list(COMMANDS) == [
        str(info.name or getattr(info.callback, "__name__", "")) for info in app.registered_commands
    ]


@pytest.mark.parametrize(
    "words",
    [
        ("budget",),
        ("budget", "--json"),
        ("history",),
        ("history", "--json"),
        ("history", "-n", "1"),
        ("history", "-n", "2", "--json"),
        ("history", "--last", "100"),
        ("schema",),
        ("schema", "--json"),
    ],
)
@pytest.mark.parametrize("width", ["80", "50"])
def test_the_same_is_printed(printed, asked: Path, words: tuple[str, ...], width: str) -> None:
    whole = call(words[0], asked, *words[1:], COLUMNS=width)
    assert whole.code == 0
    assert printed(words[0], asked, *words[1:], COLUMNS=width) == whole.out
    assert printed(*words, asked, COLUMNS=width) == whole.out


@pytest.mark.parametrize("sql", [*QUESTIONS, "SELECT COUNT(*) FROM people ERROR WITHIN 1e6"])
@pytest.mark.parametrize("options", [(), ("--json",), ("-c", "0.9"), ("--confidence", ".5")])
def test_free_answers_are_printed_alike(
    printed, asked: Path, sql: str, options: tuple[str, ...]
) -> None:
    within = () if "ERROR" in sql else ("--within", "200")
    call("ask", asked, sql, *within)  # paid, if it must be
    whole = call("ask", asked, sql, *within, *options, COLUMNS="80")
    assert whole.code == 0
    said = printed("ask", *options, asked, sql, *within)
    assert said == (whole.out if ".5" not in options else None)


def test_caveats_of_csv_are_printed_alike(asked: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("ask", asked, QUESTIONS[1], "-w", "200", "--csv")
    whole = call(*words, COLUMNS="80")
    capsys.readouterr()
    assert quick.answered([str(word) for word in words])
    shown = capsys.readouterr()
    assert shown.out == whole.out
    assert " ".join(shown.err.split()) == " ".join(whole.err.split())
    assert "Note:" in shown.err


def test_what_is_not_free_is_left_to_the_program(printed, asked: Path) -> None:
    before = asked.read_bytes()
    assert printed("ask", asked, "SELECT COUNT(*) FROM people WHERE age = 44", "-w", "3") is None
    assert printed("ask", asked, "SELECT COUNT( FROM people", "-w", "3") is None
    assert printed("ask", asked, "SELECT COUNT(*) FROM people") is None
    assert printed("ask", asked, "DESCRIBE people") is None
    assert asked.read_bytes() == before


def test_a_new_dataset_has_no_history(printed, people, tmp_path: Path, run: Run) -> None:
    path = tmp_path / "new.eke"
    assert run("init", *people, "--epsilon", 1, "-o", path).code == 0
    assert printed("history", path) == "Nothing was released yet.\n" == run("history", path).out
    assert json.loads(printed("budget", path, "--json"))["spent"] == 0.0
    table, _ = people
    table.unlink()
    assert run("preview", path, QUESTIONS[0], "-w", 90).code == 1, "others miss the table"
    assert printed("budget", path) is not None, "but who only looks needs none"
    assert printed("history", path) is not None


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("budget",),
        ("history", "-n", "3"),
        ("history", "a.eke", "-n"),
        ("history", "a.eke", "-n", "0"),
        ("history", "a.eke", "-n", "-1"),
        ("history", "a.eke", "-n", "x"),
        ("history", "a.eke", "-n3"),
        ("history", "a.eke", "--last=3"),
        ("history", "a.eke", "b.eke"),
        ("history", "a.eke", "--help"),
        ("budget", "a.eke", "-n", "3"),
        ("budget", "a.eke", "--delta", "1e-9"),
        ("budget", "postgresql://host/base?dataset=adult"),
        ("budget", ""),
        ("ask", "a.eke"),
        ("ask", "a.eke", "-"),
        ("ask", "a.eke", ""),
        ("ask", "a.eke", "SELECT", "more"),
        ("ask", "a.eke", "SELECT", "-w"),
        ("ask", "a.eke", "SELECT", "-w", "2%"),
        ("ask", "a.eke", "SELECT", "-w", "n=2"),
        ("ask", "a.eke", "SELECT", "-w", "1e3"),
        ("ask", "a.eke", "SELECT", "-w", "2", "--within", "3"),
        ("ask", "a.eke", "SELECT", "--json", "--csv"),
        ("ask", "a.eke", "SELECT", "--key", "k"),
        ("ask", "a.eke", "SELECT", "--data", "t.csv"),
        ("ask", "a.eke", "SELECT", "--analyst", "ann"),
        ("budget", "a.eke", "--csv"),
    ],
)
def test_other_words_are_left_to_the_program(words: tuple[str, ...]) -> None:
    assert quick.read_words(words) is None


def test_words_are_read_in_any_order() -> None:
    expected = quick.Words("history", Path("a.eke"), 3, as_json=True)
    assert quick.read_words(["history", "--json", "-n", "3", "a.eke"]) == expected
    assert quick.read_words(["history", "a.eke", "--last", "3", "--json"]) == expected


def test_what_is_unusual_is_left_to_the_program(printed, asked: Path, tmp_path: Path) -> None:
    assert printed("budget", asked) is not None
    assert printed("budget", asked, EKE_SERVER="https://eke.org") is None
    assert printed("budget", asked, EKE_SERVER="") is not None
    assert printed("--help", _EKE_COMPLETE="complete_bash") is None
    for command in ("budget", "history"):
        assert printed(command, tmp_path / "missing.eke") is None
        assert printed(command, tmp_path) is None


def test_a_ledger_that_is_not_intact_is_left_to_the_program(
    printed, asked: Path, tmp_path: Path
) -> None:
    copy = tmp_path / "copy.eke"
    shutil.copy(asked, copy)
    assert printed("budget", copy) is not None
    with closing(sqlite3.connect(copy)) as connection, connection:
        connection.execute("UPDATE account SET spent = spent - 1")
    for command in ("budget", "history"):
        assert printed(command, copy) is None
        assert call(command, copy).code == 4


def test_whoever_has_a_cap_is_told_by_the_program(printed, asked: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.eke"
    shutil.copy(asked, copy)
    session = eke.open(copy)
    session.change_cap("somebody", 0.5)
    assert printed("budget", copy) == call("budget", copy).out
    session.change_cap(user_name(), 0.5)
    assert printed("budget", copy) is None
    assert "you have a cap" in call("budget", copy).words
    session.change_cap(user_name(), None)
    assert printed("budget", copy) == call("budget", copy).out


def loaded_by(*words: object) -> set[str]:
    """The heavy packages that a fresh interpreter has loaded after a command."""
    code = (
        "import os, sys\n"
        "from eke.cli import main\n"
        "os._exit = sys.exit\n"
        "try:\n    main()\n"
        "except SystemExit as stopped:\n    assert not stopped.code\n"
        f"print(*(n for n in {HEAVY!r} if n in sys.modules), file=sys.stderr)"
    )
    run = subprocess.run(
        [sys.executable, "-c", code, *map(str, words)],
        env={**os.environ, "EKE_SERVER": "", "PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout
    return set(run.stderr.split())


@pytest.mark.parametrize("words", [("budget",), ("history",), ("history", "-n1"), ("preview",)])
def test_a_full_disk_is_said_in_one_line(
    asked: Path, tmp_path: Path, words: tuple[str, ...]
) -> None:
    """Of light commands and of the program; here no file may have a byte."""
    more = [QUESTIONS[0], "-w", "200"] if words == ("preview",) else words[1:]
    program = (
        "import resource\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))\n"
        "from eke.cli import main; main()"
    )
    with (tmp_path / "out.txt").open("w") as full:
        run = subprocess.run(
            [sys.executable, "-c", program, words[0], str(asked), *more],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert run.returncode == 1
    assert run.stderr.startswith("error: the output cannot be written: File too large")
    assert len(run.stderr.splitlines()) == 1


def test_light_commands_load_next_to_nothing(asked: Path) -> None:
    assert loaded_by("--help") == set()
    assert loaded_by("budget", asked) == set()
    assert loaded_by("budget", asked, "--json") == set()
    assert loaded_by("history", asked) == set()
    assert loaded_by("schema", asked) == set()
    assert {"numpy", "sqlalchemy", "typer"} <= loaded_by("history", asked, "-n1"), "control"
    assert loaded_by("ask", asked, QUESTIONS[0], "-w", 200) == {"numpy", "sqlglot"}


def test_no_kind_of_column_makes_them_heavy(tmp_path: Path) -> None:
    kinds = {
        "a": eke.Integer(0, 9),
        "b": eke.Numeric(0, 1, 0.1),
        "c": eke.Binned([0, 1, 2]),
        "d": eke.Boolean(),
        "e": eke.Categorical("x"),
        "f": eke.Date("2013-01-01", "2013-12-31", zone="Europe/Berlin"),
        "g": eke.Timestamp("2013-01-01", "2013-12-31", "hour", zone="Europe/Berlin"),
        "h": eke.Time(step="hour"),
    }
    assert {attribute.kind for attribute in kinds.values()} == set(KINDS)
    table = pd.DataFrame({"a": [1, 2], "b": [0.1, 0.2], "c": [0.5, 1.5], "d": [True] * 2, "e": "x"})
    table["f"], table["g"], table["h"] = "2013-01-31", "2013-01-31 05:00", "05:00"
    path = tmp_path / "all.eke"
    session = eke.create(path, table, eke.Domain(kinds), epsilon=1e6)
    for name in "abc":
        session.ask(eke.total(name, d=True), within=1)
    assert loaded_by("history", path) == set()
    assert loaded_by("schema", path) == set()
