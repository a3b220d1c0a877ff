"""Junction trees: sums over cliques equal sums over all cells."""

import itertools

import numpy as np
import pytest
from numpy.typing import NDArray

from eke.domain import Domain, Integer
from eke.errors import EstimateError
from eke.inference.features import table_of
from eke.inference.max_entropy import TreeDistribution, junction_tree
from eke.inference.max_entropy.core import TreeLogDensity
from eke.inference.max_entropy.junction_tree import JunctionTree, calibrate, expand
from eke.query import count, moment

DOMAIN = Domain(a=Integer(0, 2), b=Integer(0, 1), c=Integer(0, 3), d=Integer(0, 2), e=Integer(0, 1))
SIZES = dict(zip(DOMAIN.names, DOMAIN.shape, strict=True))
SHAPES: list[list[tuple[str, ...]]] = [
    [("a", "b"), ("b", "c"), ("c", "d")],
    [("a", "b"), ("b", "c"), ("a", "c"), ("d", "e")],
    [("a", "b"), ("b", "c"), ("c", "d"), ("a", "d")],
    [("a", "b", "c"), ("c", "d", "e")],
    [("a",)],
    [],
]


def random_model(
    factors: list[tuple[str, ...]], seed: int
) -> tuple[TreeDistribution, NDArray[np.float64], float]:
    """(distribution, all probabilities, ln Z), the latter two over every cell."""
    generator = np.random.default_rng(seed)
    tree = junction_tree(SIZES, factors)
    tables = [np.zeros(tree.shape(i)) for i in range(len(tree.cliques))]
    logarithms = np.zeros(DOMAIN.shape)
    for factor in factors:
        table = generator.normal(0.0, 2.0, DOMAIN.sizes(factor))
        home = tree.home_of(factor)
        tables[home] += expand(table, factor, tree.cliques[home].attributes)
        logarithms = logarithms + expand(table, factor, DOMAIN.names)
    beliefs, log_total = calibrate(tree, tables)
    weights = np.exp(logarithms)
    everything = weights / weights.sum()
    return TreeDistribution(DOMAIN, tree, tuple(beliefs)), everything, log_total


@pytest.mark.parametrize("factors", SHAPES)
def test_trees_hold_their_factors_and_run_on(factors: list[tuple[str, ...]]) -> None:
    tree = junction_tree(SIZES, factors)
    assert all(tree.home(factor) is not None for factor in factors)
    assert {name for clique in tree.cliques for name in clique.attributes} == set(SIZES)
    for index, clique in enumerate(tree.cliques):
        before = {n for other in tree.cliques[:index] for n in other.attributes}
        # What a clique shares with anything before it, it shares with its parent.
        assert set(clique.attributes) & before == set(clique.separator)
        if clique.parent >= 0:
            assert set(clique.separator) <= set(tree.cliques[clique.parent].attributes)


@pytest.mark.parametrize("factors", SHAPES)
def test_every_marginal_is_the_sum_over_cells(factors: list[tuple[str, ...]]) -> None:
    model, everything, log_total = random_model(factors, 3)
    unnormalised = float(np.log(everything.max()))
    assert np.isfinite(log_total + unnormalised)
    for ways in range(1, 6):
        for wanted in itertools.combinations(DOMAIN.names, ways):
            axes = tuple(i for i, name in enumerate(DOMAIN.names) if name not in wanted)
            np.testing.assert_allclose(
                model.marginal(wanted), everything.sum(axis=axes), atol=1e-12
            )


@pytest.mark.parametrize("factors", SHAPES)
def test_any_query_is_answered(factors: list[tuple[str, ...]]) -> None:
    model, everything, _ = random_model(factors, 4)
    for expression in (
        count(a=(1, 2), d=1),
        moment(a=1, c=2, e=1) - 3 * count(b=1),
        count(),
        count(a=0) - count(a=0),
    ):
        query = expression.on(DOMAIN)
        expected = float(table_of(query, DOMAIN.names) @ everything.reshape(-1))
        assert model.expectation(query) == pytest.approx(expected, abs=1e-10)


def test_samples_have_the_expected_counts_up_to_rounding() -> None:
    model, everything, _ = random_model(SHAPES[1], 5)
    rows = 50_000
    codes = model.sample(rows, np.random.default_rng(0))
    cells = np.ravel_multi_index(tuple(codes.T), DOMAIN.shape)
    shares = np.bincount(cells, minlength=DOMAIN.size) / rows
    assert np.abs(shares - everything.reshape(-1)).max() < 0.005
    first = model.tree.cliques[0].attributes
    axes = tuple(DOMAIN.names.index(name) for name in first)
    there = np.ravel_multi_index(tuple(codes[:, axes].T), DOMAIN.sizes(first))
    expected = rows * model.marginal(first).reshape(-1)
    assert np.abs(np.bincount(there, minlength=len(expected)) - expected).max() <= 1.0 + 1e-6


def test_densities_of_records_are_their_probabilities() -> None:
    model, everything, _ = random_model(SHAPES[3], 6)
    codes = np.array(list(np.ndindex(*DOMAIN.shape)))
    density = TreeLogDensity.of(model)
    np.testing.assert_allclose(np.exp(density(codes)), everything.reshape(-1), rtol=1e-9)


def test_records_that_a_model_rules_out_have_no_density() -> None:
    tree = junction_tree(SIZES, [("a", "b"), ("b", "c")])
    beliefs = []
    for clique in tree.cliques:
        table = np.ones(DOMAIN.sizes(clique.attributes))
        if "b" in clique.attributes:  # everybody has b = 1, so no clique says anything of b = 0
            table[(slice(None),) * clique.attributes.index("b") + (0,)] = 0.0
        beliefs.append(table / table.sum())
    density = TreeLogDensity.of(TreeDistribution(DOMAIN, tree, tuple(beliefs)))
    codes = np.array(list(np.ndindex(*DOMAIN.shape)))
    found = density(codes)
    assert not np.isnan(found).any()
    np.testing.assert_array_equal(np.isneginf(found), codes[:, 1] == 0)
    assert np.exp(found).sum() == pytest.approx(1.0)


def test_no_rows_are_no_rows() -> None:
    model, _, _ = random_model(SHAPES[0], 1)
    assert model.sample(0, np.random.default_rng(0)).shape == (0, 5)


def test_a_tree_for_other_sets_says_so() -> None:
    tree: JunctionTree = junction_tree(SIZES, [("a", "b")])
    with pytest.raises(EstimateError, match="anew"):
        tree.home_of(("a", "c"))
