"""Marginals: a block of disjoint queries that stays one object."""

import itertools
import json
from typing import Any

import pytest

from eke.domain import Binned, Boolean, Categorical, Domain, Integer
from eke.errors import EkeError, QueryError
from eke.query import Marginal, Query, count, marginal, total
from eke.query.marginal import MOST_CELLS
from tests import oracle

DOMAIN = Domain(
    sex=Categorical("F", "M", null="bucket"),
    age=Integer(5, 7),
    hours=Binned([0, 20, 40]),
    married=Boolean(),
)


def test_cells_are_the_product_of_labels_in_domain_order():
    block = marginal("married", "sex").on(DOMAIN)
    assert block.attributes == ("sex", "married")
    assert block.domain == DOMAIN
    assert block.shape == (3, 2)
    assert block.cells == 6
    assert block.keys() == list(itertools.product(("F", "M", None), (False, True)))


@pytest.mark.parametrize("inside", [count(), count(hours=(0, 20)), total("age", sex="F") / 4])
@pytest.mark.parametrize("names", [("sex",), ("sex", "age"), ("age", "hours", "married")])
def test_each_cell_is_the_inside_where_the_labels_match(inside, names):
    block = marginal(*names, of=inside).on(DOMAIN)
    inside_values = oracle.written_out(inside.on(DOMAIN))
    for index, (key, query) in enumerate(zip(block.keys(), block.queries(), strict=True)):
        wanted = dict(zip(names, key, strict=True))
        expected = [
            value * all(cell[name] == label for name, label in wanted.items())
            for value, cell in zip(inside_values, oracle.cells(DOMAIN), strict=True)
        ]
        assert oracle.written_out(query) == expected
        assert block.cell(index) == query
    # Disjoint, and together the inside.
    total_of_cells = sum(block.queries(), start=0 * count().on(DOMAIN))
    assert total_of_cells == inside.on(DOMAIN)


def test_names_may_come_as_one_list_and_twice():
    assert marginal(["sex", "age"]).on(DOMAIN) == marginal("age", "sex", "age").on(DOMAIN)  # type: ignore[arg-type]
    assert marginal("sex", where={"age": 5}).on(DOMAIN) == marginal("sex", of=count(age=5)).on(
        DOMAIN
    )


def test_equality_and_hash():
    one, same, other = (marginal(n).on(DOMAIN) for n in ("sex", "sex", "age"))
    assert one == same
    assert hash(one) == hash(same)
    assert one != other
    assert one != marginal("sex", of=count(age=5)).on(DOMAIN)


def test_documents_round_trip():
    for block in (
        marginal("sex", "hours").on(DOMAIN),
        marginal("age", of=total("age", married=True) / 3).on(DOMAIN),
    ):
        document = json.loads(json.dumps(block.to_document()))
        assert document["marginal"] == list(block.attributes)
        assert Marginal.from_document(DOMAIN, document) == block


@pytest.mark.parametrize(
    "changes",
    [
        {"marginal": []},
        {"marginal": "sex"},
        {"marginal": ["income"]},
        {"marginal": ["age", "sex"]},
        {"marginal": ["sex", "sex"]},
        {"marginal": [["sex"]]},
        {"marginal": None},
        {"inside": None},
        {"inside": {}},
        {"inside": {"constant": "1", "terms": []}},
        {"more": 1},
    ],
)
def test_malformed_documents_are_refused(changes):
    document: dict[str, Any] = {**marginal("sex").on(DOMAIN).to_document(), **changes}
    with pytest.raises(QueryError):
        Marginal.from_document(DOMAIN, document)


@pytest.mark.parametrize("document", [None, [], {}, {"marginal": ["sex"]}])
def test_what_is_no_document_is_refused(document):
    with pytest.raises(QueryError, match="not a marginal document"):
        Marginal.from_document(DOMAIN, document)


@pytest.mark.parametrize("index", [-1, 3, 10**30])
def test_cells_beyond_the_last_are_refused(index):
    with pytest.raises(QueryError, match="cells 0 to 2"):
        marginal("sex").on(DOMAIN).cell(index)


def test_blocks_have_a_limit_and_are_never_enumerated_to_find_out():
    wide = Domain({f"a{i}": Integer(0, 999) for i in range(6)})
    with pytest.raises(QueryError, match=r"1,000,000,000,000,000,000 cells.*take fewer attributes"):
        marginal(*wide.names).on(wide)
    edge = Domain(a=Integer(0, 9_999), b=Integer(0, 999), c=Integer(0, 1))
    assert marginal("a", "b").on(edge).cells == MOST_CELLS
    with pytest.raises(QueryError):
        marginal("a", "b", "c").on(edge)


def test_direct_construction_is_checked():
    everyone = count().on(DOMAIN)
    for names in ((), ("age", "sex"), ("sex", "sex"), ("income",)):
        with pytest.raises(EkeError):
            Marginal(names, everyone)
    with pytest.raises(QueryError, match="constant"):
        Marginal(("sex",), Query.of(DOMAIN, [], 1))
