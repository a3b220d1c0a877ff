"""Attributes as numbers between 0 and 1, and back."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from eke.domain import Binned, Boolean, Categorical, Domain, Integer
from eke.errors import DomainError, QueryError
from eke.publish.features import FEATURE_BITS, features_of

DOMAIN = Domain(
    a=Integer(-3, 7),
    b=Binned([0, 10, 40]),
    c=Categorical("x", "y", "z"),
    d=Boolean(),
    e=Boolean(null="bucket"),
)


def test_every_cell_comes_back():
    features = features_of(DOMAIN, DOMAIN.names)
    cells = np.array(list(product(*map(range, DOMAIN.shape))))
    numbers = features.encode(cells)
    assert numbers.shape == (len(cells), features.width) == (len(cells), 1 + 1 + 3 + 1 + 3)
    assert numbers.min() == 0.0
    assert numbers.max() == 1.0
    assert (features.decode(numbers) == cells).all()
    assert (features.decode(numbers + 0.01) == cells).all()


def test_numbers_are_scaled_by_their_bounds_on_the_grid():
    (feature,) = features_of(DOMAIN, ["a"]).all
    expected = [round((v + 3) / 10 * 2**FEATURE_BITS) for v in range(-3, 8)]
    assert feature.table[:, 0].tolist() == expected
    assert feature.decode(np.array([[-5.0], [0.31], [9.0]])).tolist() == [0, 3, 10]


def test_a_missing_number_counts_as_the_middle_and_is_never_made_up():
    (feature,) = features_of(Domain(a=Integer(0, 3, null="bucket")), ["a"]).all
    assert feature.table[-1, 0] == 2**FEATURE_BITS // 2
    values = np.linspace(-0.2, 1.2, 50)[:, np.newaxis]
    assert feature.decode(values).max() == 3


def test_only_zeros_and_ones_are_binary():
    binary = {feature.name: feature.is_binary for feature in features_of(DOMAIN, DOMAIN.names).all}
    assert binary == {"a": False, "b": True, "c": True, "d": True, "e": True}


@pytest.mark.parametrize(
    "constant", [Integer(5, 5), Categorical("only"), Binned([0, 1])], ids=lambda a: type(a).__name__
)
def test_a_constant_column_is_refused_by_name(constant):
    with pytest.raises(DomainError, match="'flat' has one declared value"):
        features_of(Domain(a=Integer(0, 3), flat=constant), ["a", "flat"])


def test_no_attributes_are_refused():
    with pytest.raises(QueryError, match="at least one"):
        features_of(DOMAIN, [])
