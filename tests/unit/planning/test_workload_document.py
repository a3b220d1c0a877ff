"""Workloads as documents: the same workload back, and nothing made that is too large."""

from __future__ import annotations

import json
import math

import pytest

import eke
from eke.errors import EkeError, QueryError
from eke.planning import Target, Workload, workload_from_document, workload_to_document

DOMAIN = eke.Domain(
    sex=eke.Categorical("F", "M"), age=eke.Integer(0, 9), city=eke.Categorical("a", "b", "c")
)
WIDE = eke.Domain({f"a{n}": eke.Boolean() for n in range(60)})


@pytest.mark.parametrize(
    ("workload", "short"),
    [
        (eke.all_marginals(DOMAIN, 2), {"all_marginals": 2}),
        (eke.all_marginals(DOMAIN, 0), {"all_marginals": 0}),
        (eke.marginals_up_to(DOMAIN, 2), {"up_to": 2}),
        (eke.grouping_sets(DOMAIN, [["age"], []]), {"over": [["age"], []]}),
        (eke.marginals_and_half_of_next(DOMAIN, 1), None),
        (eke.ranges(DOMAIN, "age") + eke.all_marginals(DOMAIN, 1), None),
        (eke.prefixes(DOMAIN, "sex", "age").weighted(2.5), None),
        (Workload(DOMAIN, (Target(("sex",)), Target(("sex",)))), None),
        (Workload.of(DOMAIN, [eke.count(sex="F"), eke.total("age") / 3 + 1], [1.0, 0.1]), None),
    ],
)
def test_a_document_gives_the_same_workload(workload: Workload, short: object) -> None:
    document = json.loads(json.dumps(workload_to_document(workload)))
    assert short is None or document == short
    again = workload_from_document(DOMAIN, document)
    assert again.queries == workload.queries
    assert again.query_weights == workload.query_weights
    assert again.targets == tuple(dict.fromkeys(workload.targets))


def test_everything_named_is_in_it_once() -> None:
    document = {"all_marginals": 1, "over": [["age"], ["sex", "age"]], "ranges": [["age"]]}
    found = workload_from_document(DOMAIN, document)
    assert len(found.targets) == 5
    two = workload_from_document(DOMAIN, {"all_marginals": 1, "containing": "sex"})
    assert two == eke.marginals_and_those_with(DOMAIN, 1, "sex")


def test_a_document_with_the_old_name_is_read() -> None:
    expected = eke.marginals_and_half_of_next(DOMAIN, 1)
    assert workload_from_document(DOMAIN, {"half_of_next": 1}) == expected
    assert workload_from_document(DOMAIN, {"half_above": 1}) == expected
    with pytest.raises(QueryError, match="old and its new name"):
        workload_from_document(DOMAIN, {"half_above": 1, "half_of_next": 1})


@pytest.mark.parametrize(
    "document",
    [
        {"all_marginals": 30},
        {"up_to": 60},
        {"half_of_next": 29},
        {"half_above": 29},
        {"all_marginals": 20, "containing": "a1"},
        {"over": [["a1"]] * 6000},
    ],
)
def test_what_is_too_many_is_refused_before_it_is_made(document: dict) -> None:
    with pytest.raises(QueryError, match="at most 5,000 tables"):
        workload_from_document(WIDE, document, most=5000)
    assert math.comb(60, 30) > 10**16, "making them would never end"


@pytest.mark.parametrize(
    "document",
    [
        *([], None, {}, {"nothing": 1}, {"all_marginals": 4}, {"all_marginals": 1.0}),
        *({"all_marginals": True}, {"over": [["nobody"]]}, {"over": ["sex"]}, {"over": [[1]]}),
        *({"containing": "sex"}, {"all_marginals": 1, "containing": "nobody"}, {"ranges": [[]]}),
        *({"targets": [1]}, {"targets": [{"attributes": ["age", "sex"]}]}),
        {"targets": [{"attributes": ["sex"], "along": ["up"]}]},
        {"targets": [{"attributes": ["sex"], "weight": True}]},
        {"targets": [{"attributes": ["sex"], "weight": 1e-300}]},
        {"targets": [{"attributes": ["sex"], "more": 1}]},
        *({"queries": [1]}, {"queries": [{}]}, {"queries": [{"query": {"terms": []}}]}),
        {"queries": [{"query": eke.constant(3).on(DOMAIN).to_document()}]},
    ],
)
def test_bad_documents(document: object) -> None:
    with pytest.raises(EkeError):
        workload_from_document(DOMAIN, document)  # type: ignore[arg-type]


def test_a_short_document_takes_no_memory() -> None:
    """A run of a billion coefficients is refused by its length."""
    term = {"weight": "1", "factors": {"sex": [[1, 10**12]]}}
    with pytest.raises(QueryError, match="needs 2 coefficients"):
        workload_from_document(DOMAIN, {"queries": [{"query": {"constant": "0", "terms": [term]}}]})
