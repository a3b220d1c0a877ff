"""Nobody asks which kind a block is, so that a new one is one class (`test_new_block.py`)."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import eke
from eke.query.kinds import KINDS

NAMES = {kind.__name__ for kind in KINDS.values()}
ALLOWED = {
    "engine/adaptive.py": 1,  # scores of a choice are sums of whole numbers
    "query/kronecker.py": 1,  # equality
    "query/linear.py": 1,  # equality
    "session/history.py": 1,  # what users write
}
# Statements of SQL have groups of their own kind beside blocks, and requests tell them apart.
STATEMENTS = (
    *("sql/", "service/", "cli/", "dbapi/", "client/"),
    *("planning/blocks.py", "planning/decide.py", "planning/known_formulas.py"),
    *("planning/statement.py", "planning/statement_demand.py"),
    *("session/answer.py", "session/answering.py", "session/askable.py"),
    *("session/question.py", "session/request.py", "session/session.py"),
    *("session/sql_answer.py", "session/statement_request.py"),
)


def questions(text: str) -> Iterator[int]:
    """Lines with isinstance(…, Marginal), type(…) is Marginal or case Marginal()."""
    for node in ast.walk(ast.parse(text)):
        asked: list[ast.expr] = []
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            asked = node.args[1:] if node.func.id in {"isinstance", "issubclass"} else []
        elif isinstance(node, ast.Compare):
            asked = [node.left, *node.comparators]
        elif isinstance(node, ast.MatchClass):
            asked = [node.cls]
        kinds_of = (n for one in asked for n in (one, *getattr(one, "elts", ())))
        if any(isinstance(n, ast.Name) and n.id in NAMES for n in kinds_of):
            yield node.lineno if isinstance(node, ast.expr) else asked[0].lineno


def test_nobody_asks_which_kind_a_block_is():
    root = Path(eke.__file__).parent
    found = Counter[str]()
    for path in root.rglob("*.py"):
        name = path.relative_to(root).as_posix()
        if not name.startswith(STATEMENTS):
            found[name] += len([*questions(path.read_text("utf-8"))])
    assert +found == ALLOWED


def test_the_check_catches_a_question():
    """Positive control."""
    assert list(questions("x = isinstance(a, Marginal)")) == [1]
    assert list(questions("x = isinstance(a, (Expression, Query))")) == [1]
    assert list(questions("x = type(a) is Kronecker")) == [1]
    assert list(questions("match a:\n    case Marginal():\n        pass")) == [2]
    assert list(questions("x = isinstance(a, Block) or a == Query.of(b)")) == []
