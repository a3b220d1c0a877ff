"""psql: questions, its commands with a backslash, copies and errors."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.clients.places import Both, Place, agree
from tests.clients.questions import BY_KEY, BY_SEX, KEYS, OTHER_CODES, WRONG
from tests.postgresql_server import programs

COMMANDS = (
    *(r"\d", r"\d+", r"\d people", r"\d+ people", r"\d schools", r"\d public.people", r"\d nobody"),
    *(r"\dt", r"\dt+", r"\dt public.*", r"\dt nobody", r"\dS people", r"\dn", r"\dn+", r"\l"),
    *(r"\du", r"\df", r"\df+", r"\da", r"\dv", r"\dm", r"\di", r"\ds", r"\dE", r"\dT", r"\dD"),
    *(r"\db", r"\dp", r"\dx", r"\ddp", r"\dO", r"\dP", r"\dX", r"\dy", r"\des", r"\det", r"\drds"),
    *(r"\dRp", r"\encoding", f"{BY_SEX} \\gdesc", r"\echo :SERVER_VERSION_NUM"),
)
OTHER = {
    r"\d+": "sizes are not told",
    r"\dt+": "sizes are not told",
    r"\dn": "the schema public belongs to eke here",
    r"\dn+": "the schema public belongs to eke here, and nobody commented on it",
    r"\l": "there are no template databases here",
    r"\du": "the role eke has no rights of its own here",
    r"\dp": "there are no lists of privileges here",
    r"\dx": "there are no extensions here",
    f"{BY_SEX} \\gdesc": "counts are double precision",
    r"\echo :SERVER_VERSION_NUM": "eke speaks as 15.0",
}


def psql(place: Place, *commands: str) -> subprocess.CompletedProcess[str]:
    """What comes of some lines."""
    words = " ".join(f"{name}='{value}'" for name, value in place.words.items())
    client = shutil.which("psql") or str(programs() / "psql")
    return subprocess.run(
        [client, "-X", "-A", words],
        input="\n".join(commands),
        env={**os.environ, "LC_ALL": "C.UTF-8", "PGOPTIONS": ""},
        capture_output=True,
        text=True,
        check=False,
    )


def table(place: Place, text: str) -> tuple[str, list[tuple[str, ...]]]:
    """The line of names, and the rows of a result."""
    result = psql(place, r"\set QUIET on", r"\pset footer off", f"{text};")
    assert result.returncode == 0, result.stderr
    head, *lines = result.stdout.splitlines()
    return head, [tuple(line.split("|")) for line in lines]


@pytest.mark.parametrize("key", KEYS)
def test_keys_of_every_type_are_written_as_by_postgresql(both: Both, key: str) -> None:
    ours, real = (table(place, BY_KEY[key]) for place in (both.eke, both.real))
    assert ours[0] == real[0] == "key|n"
    agree(_numbers(ours[1]), _numbers(real[1]))


def _numbers(rows: list[tuple[str, ...]]) -> list[tuple[Any, ...]]:
    return [(*keys, float(value)) for *keys, value in rows]


def test_commands_show_what_they_show_of_postgresql(both: Both) -> None:
    """All in one run of psql, which takes its time to start."""
    outputs = []
    for place in (both.eke, both.real):
        lines = [line for command in COMMANDS for line in (f"\\echo ---{command}", command)]
        result = psql(place, r"\set QUIET on", r"\set SHOW_CONTEXT never", *lines)
        assert result.returncode == 0
        shown = result.stdout.split("---")[1:]
        assert len(shown) == len(COMMANDS)
        outputs.append(dict(zip(COMMANDS, shown, strict=True)))
    ours, real = outputs
    differing = {command for command in COMMANDS if ours[command] != real[command]}
    assert differing == set(OTHER)


def test_it_is_connected_to_where_it_says(both: Both) -> None:
    for place in (both.eke, both.real):
        assert psql(place, r"\conninfo").stdout == (
            'You are connected to database "people" as user "ann" on host "127.0.0.1" '
            f'at port "{place.port}".\n'
        )


@pytest.mark.parametrize("form", ["CSV HEADER", ""])
def test_a_copy_into_a_file_has_the_rows_of_postgresql(
    both: Both, tmp_path: Path, form: str
) -> None:
    seen = []
    for place in (both.eke, both.real):
        target = tmp_path / f"{place.port}.csv"
        assert psql(place, f"\\copy ({BY_SEX}) TO '{target}' {form}").stdout == "COPY 2\n"
        lines = target.read_text("utf-8").splitlines()
        if form:
            assert lines.pop(0) == "sex,n"
        seen.append(_numbers([tuple(line.split("," if form else "\t")) for line in lines]))
    agree(*seen)


def test_rows_are_fetched_with_a_cursor(both: Both) -> None:
    seen = []
    for place in (both.eke, both.real):
        result = psql(place, r"\set FETCH_COUNT 3", r"\pset tuples_only on", f"{BY_KEY['age']};")
        lines = [line for line in result.stdout.splitlines() if "|" in line]
        seen.append(_numbers([tuple(line.split("|")) for line in lines]))
    assert len(seen[0]) == 10
    agree(*seen)


def test_what_is_wrong_has_the_code_of_postgresql_and_the_connection_works_on(both: Both) -> None:
    codes = []
    for place in (both.real, both.eke):
        lines = [line for text in WRONG for line in (f"{text};", r"\echo :LAST_ERROR_SQLSTATE")]
        result = psql(place, r"\pset tuples_only on", r"\set QUIET on", *lines, "SELECT 'alive';")
        *told, alive = result.stdout.splitlines()[-len(WRONG) - 1 :]
        assert alive == "alive"
        codes.append(told)
    expected = [WRONG[text] for text in WRONG]
    assert codes == [expected, [OTHER_CODES.get(text, WRONG[text]) for text in WRONG]]


def test_a_question_is_free_the_second_time(both: Both) -> None:
    result = psql(both.eke, f"{BY_SEX};", r"\echo ---", f"{BY_SEX};", "SHOW eke.last_cost;")
    first, again = result.stdout.split("---\n")
    assert again.startswith(first)
    assert again.splitlines()[-2] == "0"
    assert "NOTICE:  Free" in result.stderr
