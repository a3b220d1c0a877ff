"""Domain: names, sizes and projections of a product that is never enumerated."""

import math
from types import MappingProxyType
from typing import Any

import pytest

from eke import domain as domain_package
from eke.domain import Binned, Boolean, Categorical, Domain, Integer
from eke.errors import DomainError


@pytest.fixture
def domain():
    return Domain(
        {"age": Integer(17, 90), "sex": Categorical("F", "M", null="bucket")},
        married=Boolean(),
        hours=Binned([0, 20, 40]),
    )


def test_order_names_and_sizes(domain):
    assert domain.names == ("age", "sex", "married", "hours")
    assert list(domain) == list(domain.names)
    assert len(domain) == 4
    assert domain.shape == (74, 3, 2, 2)
    assert domain.size == 74 * 3 * 2 * 2
    assert domain.sizes(["hours", "age"]) == (2, 74)
    assert "sex" in domain
    assert "income" not in domain
    assert 3 not in domain
    assert domain["hours"] == Binned([0, 20, 40])


def test_projection_and_order_follow_the_domain(domain):
    assert domain.project(["hours", "age"]) == Domain(age=domain["age"], hours=domain["hours"])
    assert domain.in_order(["hours", "age", "hours"]) == ("age", "hours")
    assert domain.in_order([]) == ()


def test_size_is_exact_at_any_length():
    huge = Domain({f"a{i}": Integer(0, 9) for i in range(100)})
    assert huge.size == 10**100


def test_total_means_that_no_row_is_dropped():
    kept: dict[str, Any] = {"null": "bucket", "outside": "bucket"}
    assert Domain(a=Categorical("x", **kept), b=Integer(0, 1, null="bucket")).total
    assert not Domain(a=Categorical("x", **kept), b=Integer(0, 1)).total
    assert not Domain(a=Categorical("x", null="bucket")).total


def test_equality_and_hash_are_those_of_the_ordered_attributes(domain):
    again = Domain(MappingProxyType(dict(domain.attributes)))
    assert again == domain
    assert hash(again) == hash(domain)
    assert Domain(a=Boolean(), b=Boolean()) != Domain(b=Boolean(), a=Boolean())
    assert Domain(a=Boolean()) != Domain(a=Boolean(null="bucket"))
    assert repr(Domain(a=Boolean())) == (
        "Domain(attributes=(('a', Boolean(null='drop', outside='drop')),))"
    )


def test_any_column_name_can_be_declared():
    names = {"attributes": Boolean(), "self": Boolean(), "null": Boolean(), "a b": Boolean()}
    assert Domain(**names).names == tuple(names)


wrong: Any = domain_package  # declarations below are wrong on purpose, so types are not checked


@pytest.mark.parametrize(
    ("build", "advice"),
    [
        (wrong.Domain, "e.g. Domain"),
        (lambda: wrong.Domain({}), "e.g. Domain"),
        (lambda: wrong.Domain([("a", Boolean())]), "mapping of names"),
        (
            lambda: wrong.Domain(a=3),
            "Binned, Date, Timestamp or Time",
        ),
        (
            lambda: wrong.Domain(a=Integer),
            "Binned, Date, Timestamp or Time",
        ),
        (lambda: wrong.Domain({"": Boolean()}), "1 to 200 characters"),
        (lambda: wrong.Domain({"x" * 201: Boolean()}), "1 to 200 characters"),
        (lambda: wrong.Domain({1: Boolean()}), "put quotes around"),
        (lambda: wrong.Domain({"\ud800": Boolean()}), "remove lone surrogates"),
        (lambda: wrong.Domain({"a": Boolean()}, a=Boolean()), "keep one each: a"),
        (lambda: wrong.Domain(a=Boolean())["b"], "the domain has a"),
        (lambda: wrong.Domain(a=Boolean()).project(["b"]), "the domain has a"),
        (lambda: wrong.Domain(a=Boolean()).project([]), "e.g. Domain"),
        (lambda: wrong.Domain(a=Boolean()).in_order(["b"]), "the domain has a"),
        (lambda: wrong.Domain(a=Boolean()).sizes(["b"]), "the domain has a"),
    ],
)
def test_bad_domains_raise_with_advice(build, advice):
    with pytest.raises(DomainError, match=advice):
        build()


def test_nothing_is_enumerated():
    wide: Any = Domain({f"a{i}": Integer(0, 999_999) for i in range(50)})
    assert wide.size == 10**300
    assert math.prod(wide.shape) == wide.size
    with pytest.raises(AttributeError):
        wide.attributes = ()
