"""The house: no import goes in a circle, no name has two meanings, no file is long."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import eke

SOURCES = Path(eke.__file__).parent
MOST_LINES = 400
# DB-API 2.0 prescribes the names of its errors.
TWICE = {"DataError"}


def modules(root: Path, package: str) -> dict[str, str]:
    """The text of each module by its name."""
    found = {}
    for path in root.rglob("*.py"):
        parts = (package, *path.relative_to(root).with_suffix("").parts)
        found[".".join(part for part in parts if part != "__init__")] = path.read_text("utf-8")
    return found


@cache
def statements(text: str) -> list[ast.AST]:
    """All statements, at any depth: what imports and what defines a class is one."""
    inside: list[ast.AST] = [ast.parse(text)]
    for node in inside:
        for part in ("body", "orelse", "handlers", "finalbody", "cases"):
            inside += getattr(node, part, ())
    return inside


def imports(texts: Mapping[str, str]) -> dict[str, set[str]]:
    """Which modules each module imports, for type checkers or at any time."""
    found: dict[str, set[str]] = {}
    for name, text in texts.items():
        wanted: set[str] = set()
        for node in statements(text):
            if isinstance(node, ast.Import):
                wanted |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                inner = {f"{node.module}.{alias.name}" for alias in node.names}
                wanted |= inner & set(texts) or {node.module}
        found[name] = (wanted & set(texts)) - {name}
    return found


def reached(graph: Mapping[str, set[str]], start: str) -> set[str]:
    found: set[str] = set()
    waiting = [start]
    while waiting:
        for name in graph[waiting.pop()] - found:
            found.add(name)
            waiting.append(name)
    return found


def circles(graph: Mapping[str, set[str]]) -> list[set[str]]:
    """The groups of modules that import each other, directly or not."""
    left = dict(graph)
    while outer := [name for name, wanted in left.items() if not wanted & left.keys()]:
        for name in outer:  # what imports nothing that is left is in no circle
            del left[name]
    left = {name: wanted & left.keys() for name, wanted in left.items()}
    after = {name: reached(left, name) for name in left}
    groups = [{other for other in after[name] if name in after[other]} for name in left]
    return [group for i, group in enumerate(groups) if group and group not in groups[:i]]


def test_no_import_goes_in_a_circle() -> None:
    assert circles(imports(modules(SOURCES, "eke"))) == []
    control = {"a": "from b import c", "b": "if TYPE_CHECKING:\n    import d", "d": "import a"}
    assert circles(imports(control)) == [{"a", "b", "d"}]


def classes(texts: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for module, text in texts.items():
        for node in statements(text):
            if isinstance(node, ast.ClassDef):
                yield node.name, module


def defined_twice(texts: Mapping[str, str]) -> set[str]:
    found = defaultdict(set)
    for name, module in classes(texts):
        found[name].add(module)
    return {name for name, places in found.items() if len(places) > 1}


def test_no_class_has_the_name_of_another() -> None:
    assert defined_twice(modules(SOURCES, "eke")) == TWICE
    assert defined_twice({"a": "class Row: ...", "b": "class Row: ...", "c": ""}) == {"Row"}


def test_no_file_is_long() -> None:
    long = {
        name: text.count("\n")
        for name, text in modules(SOURCES, "eke").items()
        if text.count("\n") > MOST_LINES
    }
    assert long == {}
