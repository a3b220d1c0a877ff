"""The examples in docstrings run, each by itself, and show what they say."""

from __future__ import annotations

import doctest
from importlib import import_module
from pathlib import Path

import pytest

import eke
from docs.generator.sections import STAGE

SOURCES = Path(eke.__file__).parent
SHOWN = [path for path in sorted(SOURCES.rglob("*.py")) if ">>> " in path.read_text("utf-8")]
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def examples(path: Path) -> list[doctest.DocTest]:
    """The docstrings of a module that have examples."""
    name = ".".join(("eke", *path.relative_to(SOURCES).with_suffix("").parts))
    found = doctest.DocTestFinder(exclude_empty=True).find(import_module(name), name)
    return [example for example in found if example.examples]


def stage(example: str) -> dict[str, object]:
    """What an example may use: what the reference says at its top, and nothing of its module."""
    names: dict[str, object] = {}
    exec(STAGE if "session" in example else STAGE.partition("session = ")[0], names)
    return names


@pytest.mark.parametrize("path", SHOWN, ids=lambda path: str(path.relative_to(SOURCES)))
def test_examples_of_docstrings_run(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    for number, example in enumerate(examples(path)):
        place = tmp_path / str(number)
        place.mkdir()
        monkeypatch.chdir(place)
        example.globs = stage(example.docstring or "")
        runner.run(example)
    assert runner.summarize().failed == 0
    assert runner.tries > 0


def test_a_wrong_example_is_caught() -> None:
    """Positive control."""
    wrong = doctest.DocTestParser().get_doctest(">>> 1 + 1\n3\n", {}, "wrong", None, 0)
    runner = doctest.DocTestRunner(verbose=False)
    assert runner.run(wrong, out=lambda _: None).failed == 1
