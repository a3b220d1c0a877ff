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

HERE = {"audits", "benchmarks", "docs", "reproductions", "tests"}
RUN_BY_HAND = [path for path in SCRIPTS if '__name__ == "__main__"' in path.read_text("utf-8")]


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


def starts(source: str) -> bool:
    """Whether a script that others of the repository are imported by says first where they are."""
    for node in ast.parse(source).body:
        if isinstance(node, ast.Expr | ast.Assign) and ast.unparse(node).startswith("sys.path"):
            return True
        if isinstance(node, ast.ImportFrom | ast.Import):
            names = [getattr(node, "module", None) or "", *(alias.name for alias in node.names)]
            if any(name.split(".")[0] in HERE for name in names):
                return False
    return True


@pytest.mark.parametrize("path", RUN_BY_HAND, ids=lambda path: str(path.relative_to(ROOT)))
def test_what_is_run_by_hand_can_be_started(path: Path) -> None:
    """Python looks for imports in the folder of the script, or with -m in that of the caller."""
    text = path.read_text("utf-8")
    assert starts(text) or "python -m" in str(ast.get_docstring(ast.parse(text)))


def test_a_script_that_cannot_be_started_is_noticed() -> None:
    """Positive control."""
    assert not starts("import sys\nfrom benchmarks.estimates import exact")
    assert starts("import sys\nsys.path.insert(0, '..')\nfrom benchmarks.estimates import exact")


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_what_scripts_import_is_there(path: Path) -> None:
    assert missing(path.read_text("utf-8")) == []


def test_a_name_that_moved_is_noticed() -> None:
    """Positive control: a function that was imported from where it no longer stands."""
    assert missing("from eke.privacy.budget import epsilon_of_rho") == [
        "eke.privacy.budget.epsilon_of_rho"
    ]
    assert missing("from eke.privacy.concentrated import epsilon_of_rho") == []
