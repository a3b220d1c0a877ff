"""Strategies along one attribute, and strategy matrices, against matrices written out."""

from __future__ import annotations

import numpy as np
import pytest

from eke.errors import EkeError
from eke.planning.workload.strategy.line import (
    line_strategies,
    question_values,
    question_variances,
    workload_gram,
)
from eke.planning.workload.strategy.matrices import (
    MatrixStrategy,
    characters,
    greedy_groups,
    haar,
    hierarchy,
    identity,
    sketch,
)
from eke.planning.workload.workload import Along
from eke.privacy.concentrated import CONCENTRATED
from eke.privacy.measure import Measure
from eke.privacy.pure import PURE
from tests.unit.planning.cubes import FloatArray


def _questions(kind: Along, size: int) -> FloatArray:
    if kind == "cells":
        return np.eye(size)
    if kind == "prefixes":
        return np.tril(np.ones((size, size)))
    rows = [
        [first <= v <= last for v in range(size)]
        for first in range(size)
        for last in range(first, size)
    ]
    return np.array(rows, float)


@pytest.mark.parametrize("size", [1, 2, 5, 9])
@pytest.mark.parametrize("kind", ["cells", "prefixes", "ranges"])
def test_questions_along_an_attribute(kind: Along, size: int) -> None:
    rng = np.random.default_rng(size)
    matrix = _questions(kind, size)
    np.testing.assert_allclose(workload_gram(kind, size), matrix.T @ matrix)
    root = rng.normal(size=(size, size))
    covariance = root @ root.T
    expected = np.einsum("ij,jk,ik->i", matrix, covariance, matrix)
    np.testing.assert_allclose(question_variances(kind, covariance), expected)
    table = rng.normal(size=(2, size))
    np.testing.assert_allclose(question_values(kind, table, 1), table @ matrix.T, atol=1e-12)


@pytest.mark.parametrize("measure", [PURE, CONCENTRATED])
@pytest.mark.parametrize("kind", ["cells", "prefixes", "ranges"])
def test_line_strategies_state_their_error(kind: Along, measure: Measure) -> None:
    size = 12
    matrix = _questions(kind, size)
    power = 2.0 if measure == PURE else 1.0
    found = line_strategies(kind, size, measure)
    assert [s.error for s in found] == sorted(s.error for s in found)
    for strategy in found:
        rows = np.vstack([level.matrix for level in strategy.levels]).astype(float)
        weights = np.concatenate([np.full(len(v.matrix), v.weight) for v in strategy.levels])
        if measure == PURE:
            reach = (weights[:, None] * np.abs(rows)).sum(axis=0).max()
        else:
            reach = (weights[:, None] * rows**2).sum(axis=0).max()
        assert reach <= 1.0 + 1e-9
        inverse = np.linalg.inv(rows.T @ (weights[:, None] ** power * rows))
        assert strategy.error == pytest.approx(np.trace(matrix @ inverse @ matrix.T), rel=1e-6)


def test_optimised_strategies_win_where_it_matters() -> None:
    """Prefixes of 64 values: no classic strategy comes close."""
    for measure in (PURE, CONCENTRATED):
        found = {s.name[0]: s.error for s in line_strategies("prefixes", 64, measure)}
        assert found["o"] < 0.9 * min(found["H"], found["W"], found["I"])


@pytest.mark.parametrize("cells", [1, 2, 5, 8])
def test_strategy_matrices_determine_every_cell(cells: int) -> None:
    made = [
        identity(cells),
        haar(cells),
        hierarchy(cells, 2),
        hierarchy(cells, 3),
        characters(cells),
    ]
    for strategy in made:
        assert np.linalg.matrix_rank(strategy.matrix) == cells
        assert strategy.groups is not None
        for group in np.unique(strategy.groups):
            size = np.abs(strategy.matrix[strategy.groups == group])
            assert ((size > 0).sum(axis=0) == 1).all()  # one row of the group at every cell
            assert len(np.unique(size.sum(axis=0))) == 1


def test_sketches_are_partitions_with_signs() -> None:
    strategy = sketch(20, 7, 4)
    assert strategy.groups is not None
    for group in range(4):
        rows = strategy.matrix[strategy.groups == group]
        np.testing.assert_array_equal(np.abs(rows).sum(axis=0), 1)
    np.testing.assert_array_equal(sketch(20, 7, 4).matrix, strategy.matrix)
    with pytest.raises(EkeError):
        sketch(20, 0, 1)


def test_greedy_groups() -> None:
    matrix = np.vstack([hierarchy(8, 2).matrix[::-1], characters(8).matrix])
    groups = greedy_groups(matrix)
    assert groups is not None
    assert len(np.unique(groups)) == 4 + 8
    assert greedy_groups(np.array([[1, 2]])) is None  # two heights in a row
    assert greedy_groups(np.array([[1, 0]])) is None  # a cell is never met


@pytest.mark.parametrize("matrix", [[[0.5, 1.0]], [[0, 0]], [1, 2], [[2**40, 1]], [[]]])
def test_bad_matrices_are_refused(matrix: list[object]) -> None:
    with pytest.raises(EkeError):
        MatrixStrategy.of("mine", matrix)
