"""Hardly anybody asks which kind something is; a new kind is one class.

Kinds of blocks, of what people write, of questions, of formulas and conditions, and of columns:
`test_new_block.py`, `test_new_formula.py` and `test_new_kind.py` make new ones.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import eke
from eke.domain.attribute import Attribute
from eke.planning.workload.workload import Target
from eke.query import Askable
from eke.query.expression import WiderExpression
from eke.question import Condition, Formula, Partition, PerRow, Question, Stacked

ALLOWED = {
    "domain/product.py": 1,  # what users write: a column is declared by an attribute
    "engine/adaptive.py": 1,  # scores of a choice are sums of whole numbers
    "engine/checked.py": 1,  # the junction trusts nobody
    "data/identity.py": 1,  # a Timestamp of pandas', which is none of eke's
    "planning/workload/workload.py": 2,  # what users write: tables, questions, names
    "query/expression.py": 3,  # what users write: numbers, questions, formulas
    "query/kinds.py": 1,  # the junction trusts nobody
    "query/kronecker.py": 1,  # equality
    "query/linear.py": 1,  # equality
    "question/question.py": 1,  # a rank is the one formula that is worked out after all others
    "question/expression.py": 2,  # what users write: numbers, questions, formulas
    "question/posed.py": 3,  # what users write becomes a question here
    "session/history.py": 1,  # what users write: a question, or its coefficients
}


def kinds(of: type[Any]) -> set[str]:
    """The names of a class of eke's and of all that derive from it."""
    if not of.__module__.startswith("eke."):
        return set()
    return {of.__name__}.union(*map(kinds, of.__subclasses__()))


NAMES = {
    *(name for base in (Askable, Attribute, Condition, Formula) for name in kinds(base)),
    *(one.__name__ for one in (Partition, PerRow, Question, Stacked, Target)),
    *kinds(WiderExpression),
    "Block",
}


def is_kind(node: ast.expr) -> bool:
    """Whether a name is that of a kind; SQL's grammar (`exp`) uses some of them for its own."""
    if isinstance(node, ast.Constant | ast.Call | ast.Subscript):
        return False
    name = node.id if isinstance(node, ast.Name) else ast.unparse(node)
    return name.rpartition(".")[2] in NAMES and not name.startswith("exp.")


def questions(text: str) -> Iterator[int]:
    """Lines with isinstance(…, Marginal), type(…) is Marginal or case Marginal()."""
    for node in ast.walk(ast.parse(text)):
        asked: list[ast.expr] = []
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            asked = node.args[1:] if node.func.id in {"isinstance", "issubclass"} else []
        elif isinstance(node, ast.Compare):
            asked = [node.left, *node.comparators]
            if (
                isinstance(node.left, ast.Call) and ast.unparse(node.left) == "type(block)"
            ):  # of any of them, in a loop
                yield node.lineno
        elif isinstance(node, ast.MatchClass):
            asked = [node.cls]
        parts = [n for one in asked for n in (one, *getattr(one, "elts", ()))]
        parts += [n for one in parts if isinstance(one, ast.BinOp) for n in (one.left, one.right)]
        if any(map(is_kind, parts)):
            yield asked[0].lineno


def test_hardly_anybody_asks_which_kind_something_is() -> None:
    root = Path(eke.__file__).parent
    found = Counter[str]()
    for path in root.rglob("*.py"):
        name = path.relative_to(root).as_posix()
        found[name] += len([*questions(path.read_text("utf-8"))])
    assert +found == ALLOWED
    assert sum(ALLOWED.values()) < 20


def test_the_check_catches_a_question() -> None:
    """Positive control."""
    assert {"Kronecker", "MarginalExpression", "FormulaExpression", "Root", "IsNull"} <= NAMES
    assert {"Binned", "Query", "Question", "Aggregate", "Partition", "PerRow", "Stacked"} <= NAMES
    assert list(questions("x = isinstance(a, Marginal)")) == [1]
    assert list(questions("x = isinstance(a, (Expression, Query))")) == [1]
    assert list(questions("x = isinstance(a, int | Root)")) == [1]
    assert list(questions("x = isinstance(a, formula.Root)")) == [1]
    assert list(questions("x = type(a) is Kronecker")) == [1]
    assert list(questions("x = type(a) in (Binned, Integer)")) == [1]
    assert list(questions("match a:\n    case Operation():\n        pass")) == [2]
    assert list(questions("x = isinstance(a, exp.Boolean) or a == Query.of(b)")) == []
