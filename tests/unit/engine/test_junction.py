"""Who may draw: the callers of the sampler in the sources, as the proof names them."""

from __future__ import annotations

import ast
from pathlib import Path

import eke

SOURCES = Path(eke.__file__).parent
OPENERS = {
    *("reveal_with_noise", "refine_with_noise"),
    *("choose_with_noise", "choose_several_with_noise"),
}
JUNCTION = {"engine/measuring.py", "engine/adaptive.py"}


def users_of(names: set[str], source: str) -> list[tuple[str, int]]:
    """Where code loads one of the names, outside of imports."""
    if not any(name in source for name in names):
        return []  # parsing all sources takes seconds
    return [
        (node.id if isinstance(node, ast.Name) else node.attr, node.lineno)
        for node in ast.walk(ast.parse(source))
        if (isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in names)
        or (isinstance(node, ast.Attribute) and node.attr in names)
    ]


def test_only_the_junction_opens_secrets():
    found = {
        path.relative_to(SOURCES).as_posix()
        for path in SOURCES.rglob("*.py")
        if users_of(OPENERS, path.read_text(encoding="utf-8"))
    }
    assert found == JUNCTION


def test_everything_drawn_there_is_stored():
    """Each use is inside something that becomes a `Wanted`, which `Draws.take` alone draws."""
    for name in JUNCTION:
        source = (SOURCES / name).read_text(encoding="utf-8")
        tree = ast.parse(source)
        deferred = [
            node
            for node in ast.walk(tree)
            if isinstance(node, ast.Lambda)
            or (isinstance(node, ast.Call) and getattr(node.func, "id", "") == "partial")
        ]
        inside = [use for one in deferred for use in users_of(OPENERS, ast.unparse(one))]
        assert len(inside) == len(users_of(OPENERS, source)) > 0, name
    callers = [
        path.relative_to(SOURCES).as_posix()
        for path in (SOURCES / "engine").rglob("*.py")
        if ".draw()" in path.read_text(encoding="utf-8")
    ]
    assert callers == ["engine/draws.py"]


def test_a_caller_elsewhere_would_be_found():
    """Positive control."""
    assert users_of(OPENERS, "from eke.mechanism import reveal_with_noise as r\nx = r") == []
    assert users_of(OPENERS, "value = mechanism.reveal_with_noise(secret, law)") != []
    assert users_of(OPENERS, "reveal = choose_with_noise") != []
