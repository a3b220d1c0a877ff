"""What is on offer, and how a budget is divided: rules of public numbers."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from eke.domain import Categorical, Domain, Integer
from eke.errors import PrivacyError
from eke.publish.candidates import OfferedMarginals, attribute_sets
from eke.publish.recipe import Recipe

DOMAIN = Domain(a=Integer(0, 99), b=Categorical(*"pqrs"), c=Integer(0, 9), d=Categorical("o", "n"))
SHARES = {name: np.full(len(a.labels), 1.0 / len(a.labels)) for name, a in DOMAIN.attributes}


def offer(
    deviation: float, total: float = 10_000.0, recipe: Recipe | None = None
) -> OfferedMarginals:
    given = Recipe() if recipe is None else recipe
    sets = attribute_sets(DOMAIN.names, given)
    return OfferedMarginals(DOMAIN, SHARES, total, sets, given, deviation=deviation)


def test_triples_are_offered_where_they_are_not_too_many() -> None:
    assert len(attribute_sets("abcd", Recipe())) == 6 + 4
    assert len(attribute_sets("abcd", Recipe(most_triples=3))) == 6
    assert attribute_sets("a", Recipe()) == []


def test_less_noise_offers_finer_groups() -> None:
    def finest(deviation: float) -> int:
        found = offer(deviation).marginals
        assert all(min(one.shape) > 1 for one in found)
        assert len({(one.attributes, one.shape) for one in found}) == len(found)
        return max((one.cells for one in found if one.attributes == ("a", "c")), default=0)

    sizes = [finest(deviation) for deviation in (0.1, 30.0, 200.0, 1e4)]
    assert sizes[0] == 1000
    assert sizes[-1] == 0  # everything in one group says nothing
    assert sizes == sorted(sizes, reverse=True)


def test_tables_of_more_cells_than_records_are_not_offered() -> None:
    assert max(one.cells for one in offer(1e-3, total=20.0).marginals) <= 144


@pytest.mark.parametrize("attributes", [2, 14, 100])
def test_more_budget_takes_more_steps(attributes: int) -> None:
    recipe = Recipe()
    steps = [recipe.steps(attributes, 1e4, noise) for noise in (1e6, 100.0, 10.0, 1e-3)]
    assert steps == sorted(steps)
    assert steps[0] == 1.5 * attributes
    assert steps[-1] == recipe.most_steps(attributes) == 16 * attributes


def test_single_columns_are_measured_again_as_far_as_noise_drowns_them() -> None:
    recipe = Recipe()
    shares = [recipe.singles_again(error) for error in (0.0, recipe.singles_error, 0.005, 1.0)]
    assert shares[:2] == [0.0, 0.0]
    assert 0.0 < shares[2] < shares[3]
    assert shares[3] == pytest.approx(recipe.most_singles_share - recipe.singles_share)
    # Noise falls with the root of what is spent, so that this much brings it down to the aim.
    spent = recipe.singles_share + shares[2]
    assert 0.005 / math.sqrt(spent / recipe.singles_share) <= recipe.singles_error * 1.001


@pytest.mark.parametrize("name", ["singles_share", "most_singles_share", "selection_share"])
def test_shares_are_shares(name: str) -> None:
    shares: list[Any] = [0.0, 1.0, -0.1, math.nan]
    for wrong in shares:
        with pytest.raises(PrivacyError, match="between 0 and 1"):
            replace(Recipe(), **{name: wrong})


def test_groups_of_very_many_values_are_offered_as_far_as_a_block_has_room() -> None:
    """A block holds a number for each group and value: of 2^16 values each there are 32 GiB."""
    domain = Domain(a=Integer(0, 2**14 - 1), b=Categorical("o", "n"))
    shares = {name: np.full(a.size, 1.0 / a.size) for name, a in domain.attributes}
    offered = OfferedMarginals(
        domain, shares, 1e6, [("a", "b")], Recipe(), deviation=1e-3
    ).marginals
    assert max(one.shape[0] for one in offered) == 50
    assert all(one.coefficients == sum(m.size for m in one.block().matrices) for one in offered)
    roomy = replace(Recipe(), most_coefficients=2**30)  # the control
    offered = OfferedMarginals(domain, shares, 1e6, [("a", "b")], roomy, deviation=1e-3).marginals
    assert max(one.shape[0] for one in offered) == 2**14
