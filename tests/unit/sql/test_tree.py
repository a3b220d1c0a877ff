"""The allow list: whatever is not in it is refused, with advice."""

import inspect

import pytest
from sqlglot import exp

from eke.errors import SqlError
from eke.sql import parse, tree
from eke.sql.place import SqlText
from eke.sql.refusal import argument_advice, node_advice
from tests.sql_adult import compact_domain

DOMAIN = compact_domain()
OTHERS = sorted(
    (
        one
        for one in vars(exp).values()
        if inspect.isclass(one) and issubclass(one, exp.Expression) and one not in tree.ALLOWED
    ),
    key=lambda one: one.__name__,
)


def test_sqlglot_knows_far_more_than_is_allowed():
    assert len(OTHERS) > 500
    assert len(tree.ALLOWED) < 150


def test_every_other_node_is_refused_with_advice():
    for kind in OTHERS:
        keyword, sentence = node_advice(kind())
        assert keyword == keyword.upper()
        assert len(sentence) > 30
        with pytest.raises(SqlError):
            tree._check_nodes(SqlText(""), exp.Paren(this=kind()), ())


def test_every_other_argument_is_refused_with_advice():
    for kind, allowed in tree.ALLOWED.items():
        for key in set(kind.arg_types) - allowed - tree._REMARKS.get(kind, frozenset()):
            _, sentence = argument_advice(kind(), key)
            assert len(sentence) > 30
            with pytest.raises(SqlError):
                tree._check_nodes(SqlText(""), kind(**{key: exp.Null()}), ())


def test_whatever_the_parser_raises_becomes_an_error_of_ours(monkeypatch):
    def broken(*_, **__):
        raise ZeroDivisionError("a fault in the parser")

    monkeypatch.setattr(tree, "trees_of", broken)
    with pytest.raises(SqlError, match=r"cannot be read \(ZeroDivisionError\)"):
        parse("SELECT COUNT(*) FROM adult", DOMAIN)


def test_chains_are_unrolled_from_the_left():
    text = "SELECT COUNT(*) FROM t WHERE a - b + c - d"
    node = tree.parsed(SqlText(text), text, ()).args["where"].this
    first, rest = tree.left_chain(node)
    assert first.name == "a"
    assert [(operator, operand.name) for operator, operand in rest] == [
        (exp.Sub, "b"),
        (exp.Add, "c"),
        (exp.Sub, "d"),
    ]
    assert tree.left_chain(first) == (first, [])
