"""Hardly anybody asks which kind a question is; a new one is one class (`test_new_block.py`)."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import eke
from eke.query.kinds import KINDS

NAMES = {
    *(kind.__name__ for kind in KINDS.values()),
    *("Block", "Partition", "Question"),
    *("Expression", "MarginalExpression", "FormulaExpression", "WiderExpression"),
}
ALLOWED = {
    "engine/adaptive.py": 1,  # scores of a choice are sums of whole numbers
    "engine/checked.py": 2,  # the junction trusts nobody
    "planning/online/question_demand.py": 1,  # groups of CASE are measured one by one
    "planning/workload/workload.py": 2,  # what users write
    "query/expression.py": 3,  # what users write: numbers, questions, formulas
    "query/kronecker.py": 1,  # equality
    "query/linear.py": 1,  # equality
    "question/expression.py": 2,  # what users write
    "session/ask/estimate.py": 1,  # groups of CASE have no estimate
    "session/history.py": 2,  # what users write
    "session/ask/question.py": 3,  # what users write becomes a question here
    "session/release/measured.py": 1,  # what users write
}


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


def test_hardly_anybody_asks_which_kind_a_question_is():
    root = Path(eke.__file__).parent
    found = Counter[str]()
    for path in root.rglob("*.py"):
        name = path.relative_to(root).as_posix()
        found[name] += len([*questions(path.read_text("utf-8"))])
    assert +found == ALLOWED
    assert sum(ALLOWED.values()) <= 20


def test_the_check_catches_a_question():
    """Positive control."""
    assert list(questions("x = isinstance(a, Marginal)")) == [1]
    assert list(questions("x = isinstance(a, (Expression, Query))")) == [1]
    assert list(questions("x = type(a) is Kronecker")) == [1]
    assert list(questions("match a:\n    case Marginal():\n        pass")) == [2]
    assert list(questions("x = isinstance(a, Attribute) or a == Query.of(b)")) == []
