"""The examples in docstrings run, and show what they say."""

from __future__ import annotations

import doctest
from importlib import import_module
from pathlib import Path

import pytest

import eke

SOURCES = Path(eke.__file__).parent
SHOWN = [path for path in sorted(SOURCES.rglob("*.py")) if ">>> " in path.read_text("utf-8")]
# Functions and classes that whoever writes questions begins with.
WITH_EXAMPLES = (
    *("Answer", "constant", "count", "deviation", "marginal", "mean", "moment", "ratio", "root"),
    *("table", "total", "variance"),
)


@pytest.mark.parametrize("path", SHOWN, ids=lambda path: str(path.relative_to(SOURCES)))
def test_examples_of_docstrings_run(path: Path) -> None:
    name = ".".join(("eke", *path.relative_to(SOURCES).with_suffix("").parts))
    tried = doctest.testmod(import_module(name), optionflags=doctest.NORMALIZE_WHITESPACE)
    assert tried.failed == 0
    assert tried.attempted > 0


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_what_people_begin_with_has_an_example(name: str) -> None:
    assert ">>> " in (getattr(eke, name).__doc__ or "")


def test_a_wrong_example_is_caught() -> None:
    """Positive control."""
    wrong = doctest.DocTestParser().get_doctest(">>> 1 + 1\n3\n", {}, "wrong", None, 0)
    runner = doctest.DocTestRunner(verbose=False)
    assert runner.run(wrong, out=lambda _: None).failed == 1
