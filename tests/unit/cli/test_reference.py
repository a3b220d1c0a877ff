"""The reference of the command line: its options are those of the help, its JSON is what comes."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import typer

from eke.cli import failure
from eke.cli.program import app
from tests.command_line import Run, write_people

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "reference" / "cli.md").read_text("utf-8")
SECTIONS = dict(re.findall(r"^## eke (\w+)\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL))
SHAPES = {
    name: json.loads(text)
    for name, text in re.findall(r"<!-- shape: (.+?) -->\n```json\n(.*?)```", PAGE, re.DOTALL)
}
COMMANDS = getattr(typer.main.get_command(app), "commands")  # noqa: B009 - of a group only


def test_every_command_has_its_section_in_order() -> None:
    assert list(SECTIONS) == list(COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_options_are_those_of_the_help(command: str) -> None:
    found = {option for p in COMMANDS[command].params for option in p.opts if option[0] == "-"}
    bullets = "\n".join(re.findall(r"^- .*(?:\n  .*)*", SECTIONS[command], re.MULTILINE))
    listed = set(re.findall(r"`(--?[a-z-]+)(?:`| [A-Z])", bullets))
    assert listed == found - {"--help", "-h"}
    arguments = [
        str(p.metavar or p.name).upper()
        for p in COMMANDS[command].params
        if p.param_type_name == "argument"
    ]
    usage = f"`eke {' '.join([command, *arguments])}`"
    assert usage.replace("NUMBER|SQL", "SQL") in SECTIONS[command]


def test_exit_codes_are_those_of_the_code() -> None:
    codes = [int(code) for code in re.findall(r"^\| (\d) \|", PAGE, re.MULTILINE)]
    assert codes == [0, failure.ERROR, failure.USAGE, failure.REFUSED, failure.NOT_INTACT]


def same_shape(example: Any, found: Any) -> bool:
    """Equal keys all the way down; an empty example, or null, stands for anything."""
    if isinstance(example, dict) and example:
        return (
            isinstance(found, dict)
            and set(example) == set(found)
            and all(same_shape(example[key], found[key]) for key in example)
        )
    if isinstance(example, list) and example:
        return isinstance(found, list) and all(same_shape(example[0], one) for one in found)
    return example in ({}, []) or found is None or example is None or type(example) is type(found)


@pytest.mark.parametrize(
    ("example", "found", "expected"),
    [
        ({"a": 1}, {"a": 2}, True),
        ({"a": 1}, {"b": 2}, False),
        ({"a": 1}, {"a": "x"}, False),
        ({"a": [{"b": 1}]}, {"a": [{"b": 3}, {"b": 4}]}, True),
        ({"a": [{"b": 1}]}, {"a": [{"b": 3}, {"c": 4}]}, False),
        ({"a": {}}, {"a": {"x": 1}}, True),
    ],
)
def test_shapes_are_compared(example: object, found: object, expected: bool) -> None:
    assert same_shape(example, found) == expected


ONE = "SELECT COUNT(*) FROM people WHERE sex = 'Female'"
MANY = "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex"


def test_json_is_what_the_page_shows(dataset: Path, tmp_path: Path, run: Run) -> None:
    table, domain = write_people(tmp_path)
    calls: dict[str, tuple[object, ...]] = {
        "draft": ("draft", table, "-o", tmp_path / "draft.yaml"),
        "check": ("check", table, domain, "--unit", "age", "--rows", 3),
        "init": ("init", table, domain, "--epsilon", 1, "-o", tmp_path / "new.eke"),
        "schema": ("schema", dataset),
        "ask one": ("ask", dataset, ONE, "-w", 60),
        "ask many": ("ask", dataset, MANY, "-w", 60),
        "ask claim": ("ask", dataset, ONE, "--claim", "> 90"),
        "preview": ("preview", dataset, ONE, "-w", 50),
        "estimate": ("estimate", dataset, ONE),
        "plan": ("plan", dataset, "--marginals", 2, "--ranges", "age", "-b", 1),
        "release": ("release", dataset, "--over", "sex", "-b", 0.5, "--yes"),
        "budget": ("budget", dataset),
        "history": ("history", dataset),
        "explain number": ("explain", dataset, 4),
        "explain question": ("explain", dataset, f"{MANY} ORDER BY 2"),
        "publish": (
            *("publish", dataset, "lda", "--target", "sex", "--epsilon", 1),
            *("-o", tmp_path / "rows.csv", "--report", tmp_path / "report.html"),
        ),
        "export ledger": ("export", dataset, "ledger"),
        "export report": ("export", dataset, "report"),
        "verify": ("verify", dataset),
        "token new": ("token", "new", "ann", "--access", tmp_path / "access.db"),
        "token set": (
            *("token", "set", "ann", "eke.within=100"),
            *("--access", tmp_path / "access.db"),
        ),
        "token list": ("token", "list", "--access", tmp_path / "access.db"),
        "demo": ("demo", "--folder", tmp_path / "demo"),
        "outside": ("outside", "fact", dataset, ONE, 134, "-s", "Yearbook"),
        "outside list": ("outside", "list", dataset),
        "guard": ("guard", "add", dataset, ONE, "> 9", "-t", 0.9),
        "guard list": ("guard", "list", dataset),
    }
    assert {*calls, "estimate from rows", "error"} == set(SHAPES)
    for name, words in calls.items():
        shown = run(*words, "--json")
        assert shown.code == 0, (name, shown.err)
        assert same_shape(SHAPES[name], shown.json), (name, shown.json)
    synthetic = ("max_entropy", "--epsilon", 1, "-o", tmp_path / "synthetic.csv", "--json")
    entry = run("publish", dataset, *synthetic).json["publication"]
    told = run("estimate", dataset, ONE, "--publication", entry, "--json").json
    assert same_shape(SHAPES["estimate from rows"], told)
    wrong = run("ask", dataset, "SELECT COUNT(*) FROM adult WHERE agee > 40", "-w", 60, "--json")
    assert json.loads(wrong.err) == SHAPES["error"]
