"""Row scores: how far a record can move them, against every pair of records, and their limits."""

from __future__ import annotations

import json
from collections.abc import Sequence
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from eke.data import Rows
from eke.domain import Domain, Integer
from eke.engine.row_scores import (
    MOST_EXACT_SCORES,
    RowScores,
    checked_scores,
    exact_scores,
    largest_sum_of_changes,
    largest_sum_of_squares,
    law_within,
)
from eke.errors import PrivacyError
from eke.mechanism import reveal_with_noise, secret
from eke.privacy.concentrated import CONCENTRATED, root_above
from eke.privacy.law import DiscreteGaussian, DiscreteLaplace
from eke.privacy.pure import PURE
from eke.privacy.record_loss import NANO

DOMAIN = Domain(a=Integer(0, 2), b=Integer(0, 1), c=Integer(0, 1))
Tables = tuple[tuple[str, np.ndarray], ...]


def some_scores(seed: int, scores: int, columns: Sequence[int] = (1, 2, 3)) -> RowScores:
    rng = np.random.default_rng(seed)
    sizes = {"a": 3, "b": 2, "c": 2}
    tables = tuple(
        (name, rng.integers(-9, 10, (size, width)))
        for (name, size), width in zip(sizes.items(), columns, strict=True)
    )
    return RowScores(tables, rng.integers(-5, 6, (sum(columns), scores)), -2)


def changes(scores: RowScores) -> list[list[int]]:
    """The change of every score for every pair of records, from the definition."""
    records = []
    for codes in product(*(range(len(table)) for _, table in scores.tables)):
        row = [
            int(v)
            for code, (_, table) in zip(codes, scores.tables, strict=True)
            for v in table[code]
        ]
        weights = scores.weights.tolist()
        records.append(
            [sum(f * w[k] for f, w in zip(row, weights, strict=True)) for k in range(scores.count)]
        )
    return [[x - y for x, y in zip(one, two, strict=True)] for one in records for two in records]


@pytest.mark.parametrize("scores", [1, 2, 5, MOST_EXACT_SCORES])
@pytest.mark.parametrize("columns", [(1, 2, 3), (2, 1, 1)])
@pytest.mark.parametrize("seed", range(3))
def test_the_sum_of_changes_is_that_of_the_worst_pair(seed, columns, scores):
    made = some_scores(seed, scores, columns)
    worst = max(sum(map(abs, change)) for change in changes(made))
    assert largest_sum_of_changes(made.tables, made.weights) == worst
    assert made.reach(PURE) == worst


def test_one_score_more_is_bounded_from_above():
    made = some_scores(1, MOST_EXACT_SCORES + 1)
    found = largest_sum_of_changes(made.tables, made.weights)
    squares = largest_sum_of_squares(made.tables, made.weights)
    assert found >= max(sum(map(abs, change)) for change in changes(made))
    assert (found - 1) ** 2 < (MOST_EXACT_SCORES + 1) * squares <= found**2


@pytest.mark.parametrize("scores", [1, 2, 7])
@pytest.mark.parametrize("columns", [(1, 1, 1), (1, 2, 3), (3, 1, 1)])
@pytest.mark.parametrize("seed", range(4))
def test_the_sum_of_squares_is_the_smaller_of_two_bounds(seed, columns, scores):
    """The slow twin of the formula; no pair of records passes it."""
    made = some_scores(seed, scores, columns)
    rows, distance, first = made.weights.tolist(), 0, 0
    ranges = [0] * scores
    for _, table in made.tables:
        features = table.tolist()
        distance += max(
            sum((x - y) ** 2 for x, y in zip(one, two, strict=True))
            for one in features
            for two in features
        )
        own = rows[first : first + table.shape[1]]
        first += table.shape[1]
        for k in range(scores):
            parts = [sum(f * w[k] for f, w in zip(line, own, strict=True)) for line in features]
            ranges[k] += max(parts) - min(parts)
    norm = max(
        sum(abs(sum(row[i] * row[j] for row in rows)) for j in range(scores)) for i in range(scores)
    )
    found = largest_sum_of_squares(made.tables, made.weights)
    assert found == min(norm * distance, sum(r**2 for r in ranges))
    assert found >= max(sum(c**2 for c in change) for change in changes(made))
    assert made.reach(CONCENTRATED) == root_above(found)


@pytest.mark.parametrize("square", [0, 1, 2, 3, 4, 5, 8, 9, 10, 10**30 - 1, 10**30, 10**30 + 1])
def test_the_root_is_the_least_that_is_not_below(square):
    root = root_above(square)
    assert type(root) is int
    assert root**2 >= square
    assert root == 0 or (root - 1) ** 2 < square


@pytest.mark.parametrize("exponent", [-3, 0, 2])
@pytest.mark.parametrize("row_loss", [1, 10**6, NANO])
@pytest.mark.parametrize("reach", [0, 1, 37])
def test_noise_is_wide_enough_and_hardly_wider(reach, row_loss, exponent):
    unit = Fraction(2) ** exponent
    moved = max(reach, 1) * unit
    pure = law_within(reach, exponent, row_loss, PURE)
    assert isinstance(pure, DiscreteLaplace)
    scale = pure.steps * Fraction(2) ** pure.exponent
    wanted = moved * NANO / row_loss
    assert wanted <= scale <= wanted * (1 + Fraction(1, 2**19))
    square = law_within(reach, exponent, row_loss, CONCENTRATED)
    assert isinstance(square, DiscreteGaussian)
    variance = (square.steps * Fraction(2) ** square.exponent) ** 2
    wanted = moved**2 * NANO / (2 * row_loss)
    assert wanted <= variance <= wanted * (1 + Fraction(1, 2**15))
    with pytest.raises(PrivacyError):
        law_within(reach, exponent, 0, PURE)


def integers(*shape: int, value: int = 1) -> np.ndarray:
    return np.full(shape, value, np.int64)


@pytest.mark.parametrize("sign", [1, -1])
def test_sizes_go_up_to_their_limits_and_no_further(sign):
    weight, feature = integers(1, 1, value=sign * 2**24), integers(3, 1, value=sign * 2**17)
    scores = RowScores((("a", feature),), weight, 0)
    assert scores.count == 1
    with pytest.raises(PrivacyError, match=r"2\^24"):
        RowScores((("a", feature),), weight + sign, 0)
    with pytest.raises(PrivacyError, match=r"2\^17"):
        RowScores((("a", feature + sign),), weight, 0)


def test_columns_and_scores_are_limited():
    RowScores((("a", integers(1, 2**14)),), integers(2**14, 1), 0)
    with pytest.raises(PrivacyError, match="one weight"):
        RowScores((("a", integers(1, 2**14 + 1)),), integers(2**14 + 1, 1), 0)
    with pytest.raises(PrivacyError, match="one weight"):
        RowScores((("a", integers(3, 1)),), integers(1, 0), 0)
    with pytest.raises(PrivacyError, match="one weight"):
        RowScores((("a", integers(3, 2)), ("b", integers(2, 1))), integers(2, 1), 0)


@pytest.mark.parametrize(
    ("table", "weights"),
    [
        (integers(3), integers(1, 1)),
        (integers(3, 1, 1), integers(1, 1)),
        (integers(3, 1).astype(np.int32), integers(1, 1)),
        (integers(3, 1), integers(1)),
        (integers(3, 1), np.ones((1, 1))),
    ],
)
def test_features_and_weights_are_matrices_of_integers(table, weights):
    with pytest.raises(PrivacyError, match="matrices"):
        RowScores((("a", table),), weights, 0)


def test_nobody_else_holds_the_numbers():
    table, weights = integers(3, 1), integers(1, 1)
    scores = RowScores((("a", table),), weights, 0)
    table[0, 0] = weights[0, 0] = 2**16
    assert scores.reach(PURE) == 0
    own = checked_scores(scores, DOMAIN)
    assert own is not scores
    assert own.exponent == scores.exponent
    for one, two in zip(own.tables, scores.tables, strict=True):
        assert one[0] == two[0]
        assert not np.shares_memory(one[1], two[1])
        assert not one[1].flags.writeable
    assert not np.shares_memory(own.weights, scores.weights)
    assert own.weights.tolist() == scores.weights.tolist()


@pytest.mark.parametrize(
    ("tables", "message"),
    [
        ((("a", integers(3, 1)), ("a", integers(3, 1))), "one table"),
        ((("z", integers(3, 1)), ("b", integers(2, 1))), "one table"),
        ((("a", integers(2, 1)), ("b", integers(2, 1))), "every value"),
        ((("a", integers(4, 1)), ("b", integers(2, 1))), "every value"),
        ((("a", integers(3, 1)), ("b", integers(1, 1))), "every value"),
    ],
)
def test_tables_belong_to_the_domain(tables, message):
    with pytest.raises(PrivacyError, match=message):
        checked_scores(RowScores(tables, integers(2, 1), 0), DOMAIN)


def test_only_row_scores_are_released():
    class Derived(RowScores):
        pass

    derived = Derived((("a", integers(3, 1)),), integers(1, 1), 0)
    with pytest.raises(PrivacyError, match="nothing derived"):
        checked_scores(derived, DOMAIN)


def test_scores_of_rows_are_sums_from_the_definition(monkeypatch):
    monkeypatch.setattr(secret, "draw", lambda _law, number: np.zeros(number, np.int64))
    scores = some_scores(5, 2)
    codes = np.array([[1, 0, 2], [0, 1, 0], [1, 1, 1]])  # of c, b and a
    found = exact_scores(scores, Rows(("c", "b", "a"), codes))
    assert (found.count, found.exponent) == (6, -2)
    expected = []
    for c, b, a in codes.tolist():
        places = {"a": a, "b": b, "c": c}
        row = [int(v) for name, table in scores.tables for v in table[places[name]]]
        weights = scores.weights.tolist()
        expected += [sum(f * w[k] for f, w in zip(row, weights, strict=True)) for k in (0, 1)]
    assert reveal_with_noise(found, DiscreteLaplace(1, -2)) == expected


def test_the_text_of_scores_tells_them_from_all_others():
    scores = RowScores((("a", integers(3, 1)),), integers(1, 2), -1)
    law = DiscreteLaplace(8, -3)
    assert json.loads(scores.text(law)) == {
        "tables": [["a", [[1], [1], [1]]]],
        "weights": [[1, 1]],
        "exponent": -1,
        "law": law.to_json(),
    }


def test_a_loss_is_that_of_the_reach_in_units():
    scores = RowScores((("a", np.array([[0], [1], [3]])),), np.array([[2, 5]]), -1)
    pure, square = DiscreteLaplace(4, -1), DiscreteGaussian(4, -1)
    assert scores.reach(PURE) == 21
    assert scores.loss_nano(pure) == 21 * NANO // 4
    assert scores.reach(CONCENTRATED) == 17  # √(6² + 15²) = 16.2
    assert scores.loss_nano(square) == -(-(17**2) * NANO // 32)


@pytest.mark.parametrize("seed", range(3))
def test_scores_that_are_the_features_move_as_far_as_the_worst_pair(seed):
    """With the identity as weights the bound is the squared distance of two records, exactly."""
    columns = (3, 2, 1)
    features = some_scores(seed, 1, columns).tables
    made = RowScores(features, np.eye(sum(columns), dtype=np.int64), 0)
    worst = max(sum(c**2 for c in change) for change in changes(made))
    assert largest_sum_of_squares(made.tables, made.weights) == worst


def test_ranges_that_no_float_holds_are_exact():
    columns = 2**14
    features = np.full((2, columns), 2**17, np.int64)
    features[1] *= -1
    features[:, -1] = [1, 0]
    weights = np.full((columns, 1), 2**24, np.int64)
    weights[-1] = 1
    moved = 2**42 * (columns - 1) + 1
    assert float(moved) != moved
    assert largest_sum_of_squares((("a", features),), weights) == moved**2
    assert largest_sum_of_changes((("a", features),), weights) == moved
