"""Errors: one sentence or one JSON line on stderr, and an exit code for scripts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import typer

from eke import errors
from eke.cli.failure import error_document, exit_code, failures


def error_classes() -> list[type[errors.EkeError]]:
    return [
        found
        for found in vars(errors).values()
        if isinstance(found, type) and issubclass(found, errors.EkeError)
    ]


@pytest.mark.parametrize("kind", error_classes(), ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("as_json", [False, True])
def test_every_error_becomes_a_sentence_and_an_exit_code(
    kind: type[errors.EkeError], as_json: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(typer.Exit) as stopped, failures(as_json=as_json):
        raise kind("say [what] to do next")
    expected = {"BudgetExceeded": 3, "Refused": 3, "LedgerTampered": 4}.get(kind.__name__, 1)
    assert stopped.value.exit_code == expected
    shown = capsys.readouterr()
    assert shown.out == ""
    if as_json:
        document = json.loads(shown.err)
        assert document["error"] == kind.__name__
        assert document["exit_code"] == expected
        assert document["message"] == "say [what] to do next"
    else:
        word = "refused" if expected == 3 else "error"
        assert shown.err.startswith(f"{word}: ")
        assert "say [what] to do next" in shown.err


def test_a_place_in_sql_is_not_part_of_the_message() -> None:
    document = error_document(errors.SqlError("no such column", 2, 7))
    assert document["message"] == "no such column"
    assert (document["line"], document["column"]) == (2, 7)


def test_a_path_that_cannot_be_written_is_a_sentence_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(typer.Exit) as stopped, failures(as_json=False):
        (tmp_path / "nothing" / "report.html").write_text("")
    assert stopped.value.exit_code == 1
    assert "report.html: No such file or directory" in " ".join(capsys.readouterr().err.split())
    with pytest.raises(BrokenPipeError), failures(as_json=False):
        raise BrokenPipeError


def test_other_errors_are_not_hidden() -> None:
    with pytest.raises(ZeroDivisionError), failures(as_json=True):
        raise ZeroDivisionError
    assert exit_code(errors.EkeError("x")) == 1
