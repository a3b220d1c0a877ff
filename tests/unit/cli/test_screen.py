"""The screen: letters that can be shown, colours where they are wanted, no stray progress."""

from __future__ import annotations

import io
import sys

import pytest

from eke.cli.screen import errors, output, working


def test_signs_are_spelled_out_where_only_ascii_can_be_shown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plain = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", plain)
    screen = output()
    assert not screen.unicode
    assert screen.text("±60 × 2 – 3…é") == "+/-60 * 2 - 3...?"
    screen.print(screen.escape("±60 [dim]"))
    plain.seek(0)
    assert plain.read().strip() == "+/-60 [dim]"


def test_paragraphs_wrap_at_the_width_with_their_indent(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    screen = output()
    screen.print("word " * 20, indent=4)
    screen.print()
    screen.raw("x" * 100)
    lines = capsys.readouterr().out.splitlines()
    assert all(line.startswith("    word") and len(line.rstrip()) <= 40 for line in lines[:-2])
    assert lines[-2:] == ["", "x" * 100]


def test_a_path_is_never_cut_in_two(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    path = "/folder" * 20 + "/a long name.csv"
    output().line(f"Wrote [bold]{path}[/].", indent=2)
    assert capsys.readouterr().out == f"  Wrote {path}.\n"


@pytest.mark.parametrize("variable", ["NO_COLOR", "nothing"])
def test_no_color_is_respected(variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv(variable, "1")
    screen = output()
    with screen.console.capture() as captured:
        screen.print("[red]warning[/]")
    assert ("\x1b[31m" in captured.get()) == (variable == "nothing")


def test_progress_is_shown_on_terminals_only(capsys: pytest.CaptureFixture[str]) -> None:
    with working("Counting"):
        pass
    shown = capsys.readouterr()
    assert (shown.out, shown.err) == ("", "")


def test_progress_goes_to_stderr(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")  # Rich then takes anything for a terminal
    assert errors().console.is_terminal
    with working("Counting"):
        pass
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "Counting" in shown.err
