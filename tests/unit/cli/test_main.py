"""The command line: help, drafts, and errors that are one line."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

import eke
from eke.cli.main import app, main


def test_help_names_every_command() -> None:
    result = CliRunner().invoke(app, ["--help"])
    assert result.exit_code == 0
    for command in ("demo", "draft"):
        assert command in result.output


def test_draft_writes_a_domain_and_warns_that_it_is_private(tmp_path: Path) -> None:
    table = tmp_path / "people.csv"
    rows = "".join(f"{20 + i % 40},{'FM'[i % 2]}\n" for i in range(200))
    table.write_text("age,sex\n" + rows, "utf-8")
    target = tmp_path / "people.yaml"
    result = CliRunner().invoke(app, ["draft", str(table), "-o", str(target)])
    assert result.exit_code == 0, result.output
    assert "Private until confirmed" in result.output
    domain = eke.read_domain(target)
    assert set(domain.names) == {"age", "sex"}
    assert "is PRIVATE" in target.read_text("utf-8")


def test_an_eke_error_is_one_line_on_stderr_and_exit_code_1(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["eke", "draft", str(tmp_path / "nothing.csv")])
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == 1
    shown = capsys.readouterr().err
    assert shown.startswith("error:")
    assert "Traceback" not in shown
