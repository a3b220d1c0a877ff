"""Sensitivity of well-known questions under both neighbour relations."""

from fractions import Fraction

import pytest

from eke.domain import Categorical, Domain, Integer
from eke.errors import QueryError
from eke.query import check_neighbours, constant, count, sensitivity, total

TOTAL = Domain(
    age=Integer(17, 90, null="bucket"), sex=Categorical("F", "M", null="bucket", outside="bucket")
)
DROPPING = Domain(age=Integer(17, 90), sex=Categorical("F", "M"))


@pytest.mark.parametrize(
    ("asked", "add_remove", "replace_total", "replace_dropping"),
    [
        (count(), 1, 0, 1),
        (count() + 1000, 1, 0, 1),
        (count(sex="F"), 1, 1, 1),
        (count(sex="F") - count(sex="M"), 1, 2, 2),
        (total("age"), 90, 90, 90),
        (-total("age"), 90, 90, 90),
        (total("age", sex="F"), 90, 90, 90),
        (3 * count() - count(sex="F"), 3, 1, 3),
        (count(sex="F") / 8, Fraction(1, 8), Fraction(1, 8), Fraction(1, 8)),
        (total("age") - 17 * count(), 73, 90, 73),
        (constant(5), 0, 0, 0),
        (0 * total("age"), 0, 0, 0),
    ],
)
def test_known_sensitivities(asked, add_remove, replace_total, replace_dropping):
    """A missing age counts as 0 in the total domain, which widens the range of age - 17."""
    assert sensitivity(asked.on(TOTAL), "add_remove") == add_remove
    assert sensitivity(asked.on(DROPPING), "add_remove") == add_remove
    assert sensitivity(asked.on(TOTAL), "replace_one") == replace_total
    assert sensitivity(asked.on(DROPPING), "replace_one") == replace_dropping


def test_a_single_product_is_exact_however_large_its_support():
    domain = Domain({f"a{i}": Integer(-3, 96) for i in range(30)})
    product = count({f"a{i}": (0, 50) for i in range(5, 30)})
    query = product.on(domain).pointwise(total("a0").on(domain)).pointwise(total("a1").on(domain))
    assert list(query.extremes()) == [-3 * 96, 96 * 96]
    assert sensitivity(query, "replace_one") == 96 * 96 + 3 * 96


@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
def test_relations_are_known_by_name(relation):
    assert check_neighbours(relation) == relation


@pytest.mark.parametrize("relation", ["", "replace", "ADD_REMOVE", "unbounded"])
def test_other_relations_are_refused(relation):
    with pytest.raises(QueryError, match="'add_remove' or 'replace_one'"):
        check_neighbours(relation)
