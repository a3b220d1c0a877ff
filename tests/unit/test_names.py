"""Locals say what they hold: none is called `found`, `own`, `kept` or `one`, which say nothing."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import eke

EMPTY = {"found", "own", "kept", "one"}
SOURCES = Path(eke.__file__).parent


def empty_names(source: str) -> Iterator[tuple[str, str]]:
    """(function, name) of arguments and locals; comprehensions are short enough to be understood.

    `one` is a fine name beside `other`, and `kept` for the cells that a WHERE keeps, which is what
    relations of SQL call them.
    """
    for function in ast.walk(ast.parse(source)):
        if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        inside = list(ast.walk(function))
        within = {
            id(node)
            for comprehension in inside
            if isinstance(comprehension, ast.comprehension)
            for node in ast.walk(comprehension.target)
        }
        held = {
            argument.arg for argument in ast.walk(function.args) if isinstance(argument, ast.arg)
        }
        held |= {
            node.id
            for node in inside
            if isinstance(node, ast.Name)
            and isinstance(node.ctx, ast.Store)
            and id(node) not in within
        }
        for name in EMPTY & held:
            if name != "one" or "other" not in held:
                yield function.name, name


def test_locals_say_what_they_hold() -> None:
    wrong = [
        f"{path.relative_to(SOURCES)}: {name} in {function}"
        for path in sorted(SOURCES.rglob("*.py"))
        for function, name in empty_names(path.read_text("utf-8"))
        if not (name == "kept" and path.parent.name == "sql")
    ]
    assert wrong == []


def test_an_empty_name_is_noticed() -> None:
    """Positive control."""
    source = """
def first(own, other):
    found = [one for one in own]
    for kept, one in found:
        def inner(one): pass
    return kept

def second(one, two): return one
"""
    assert sorted(empty_names(source)) == [
        ("first", "found"),
        ("first", "kept"),
        ("first", "own"),
        ("inner", "one"),
        ("second", "one"),
    ]
