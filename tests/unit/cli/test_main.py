"""The program: help at any width, version, and errors that are one line."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from eke.cli.main import main
from eke.cli.program import app
from tests.command_line import Run

COMMANDS = [
    str(info.name or getattr(info.callback, "__name__", "")) for info in app.registered_commands
]


def test_help_names_every_command(run: Run) -> None:
    shown = run("--help")
    assert shown.code == 0
    assert len(COMMANDS) == 20
    for command in COMMANDS:
        assert f" {command} " in shown.out
    assert "3 refused" in shown.words


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize("command", COMMANDS)
def test_every_help_page_fits_and_has_examples(run: Run, command: str, width: int) -> None:
    shown = run(command, "--help", COLUMNS=str(width))
    assert shown.code == 0
    lines = shown.out.splitlines()
    assert max(map(len, lines)) <= width
    examples = [
        line.strip()
        for line in lines[lines.index(next(x for x in lines if "Examples:" in x)) + 1 :]
    ]
    assert examples[0].startswith(f"$ eke {command}")
    # An example that was wrapped could not be copied.
    assert all(line.startswith("$ eke ") for line in examples if line)
    assert "--json" in shown.out
    assert "[/" not in shown.out, "markup is not shown"


def test_the_first_line_of_a_command_fits_into_the_list(run: Run) -> None:
    lines = run("--help").out.splitlines()
    listed = [line for line in lines if re.match(r"│ (\w+)  +[A-Z]", line)]
    assert [line.split()[1] for line in listed] == COMMANDS
    assert all(line.rstrip("│ ").endswith(".") for line in listed), "no first line wraps"


def test_version(run: Run) -> None:
    assert re.fullmatch(r"eke \d+\.\d+\.\d+\n", run("--version").out)


def test_the_package_runs_as_a_module() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "eke", "--version"],
        env={**os.environ, "PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.startswith("eke ")


def test_shells_can_complete_commands() -> None:
    script = Path(sys.executable).parent / "eke"
    variables = {"COMP_WORDS": "eke ex", "COMP_CWORD": "1", "_EKE_COMPLETE": "complete_bash"}
    done = subprocess.run(
        [script],
        env={**os.environ, **variables, "PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.split() == ["explain", "export"]


def test_no_arguments_show_help(run: Run) -> None:
    assert "Usage:" in run().out + run().err


@pytest.mark.parametrize(
    "words",
    [
        ("nothing",),
        ("ask",),
        ("ask", "a.eke"),
        ("budget", "a.eke", "--jsn"),
        ("export", "a.eke", "x"),
    ],
)
def test_a_wrong_command_is_exit_code_2(run: Run, words: tuple[str, ...]) -> None:
    assert run(*words).code == 2


def test_an_eke_error_is_one_sentence_on_stderr_and_exit_code_1(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["eke", "draft", str(tmp_path / "nothing.csv")])
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == 1
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith("error:")
    assert "Traceback" not in shown.err
