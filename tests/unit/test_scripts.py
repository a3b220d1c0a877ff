"""Benchmarks and reproductions run by hand still find what they import."""

from __future__ import annotations

import ast
import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = sorted(
    path
    for folder in ("benchmarks", "reproductions", "audits")
    for path in (ROOT / folder).rglob("*.py")
)


def missing(source: str) -> list[str]:
    """Names of eke that a script imports and that are not there."""
    absent = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "eke":
            module = importlib.import_module(str(node.module))
            for alias in node.names:
                if not hasattr(module, alias.name):
                    try:
                        importlib.import_module(f"{node.module}.{alias.name}")
                    except ImportError:
                        absent.append(f"{node.module}.{alias.name}")
    return absent


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_what_scripts_import_is_there(path: Path) -> None:
    assert missing(path.read_text("utf-8")) == []


def test_a_name_that_moved_is_noticed() -> None:
    """Positive control: a function that was imported from where it no longer stands."""
    assert missing("from eke.privacy.budget import epsilon_of_rho") == [
        "eke.privacy.budget.epsilon_of_rho"
    ]
    assert missing("from eke.privacy.concentrated import epsilon_of_rho") == []
