"""Conjugate gradients stop when the error is as small as wanted, and say when it is not."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from eke.inference.shrinkage import Convergence
from eke.inference.shrinkage.blocks.conjugate_gradients import solve

Reals = NDArray[np.float64]
SIZE = 60


def problem(seed: int) -> tuple[Reals, Reals]:
    """A matrix with eigenvalues from 0.01 to 100, and right-hand sides, one of them zero."""
    generator = np.random.default_rng(seed)
    vectors = np.linalg.qr(generator.normal(size=(SIZE, SIZE)))[0]
    matrix = (vectors * np.geomspace(0.01, 100.0, SIZE)) @ vectors.T
    columns = generator.normal(size=(SIZE, 5)) * np.array([1.0, 1e-6, 1e6, 0.0, 1.0])
    return matrix, columns


@pytest.mark.parametrize("part", [1e-2, 1e-6, 1e-12])
@pytest.mark.parametrize("bounded", [False, True])
def test_errors_are_as_small_as_wanted(part: float, bounded: bool) -> None:
    matrix, columns = problem(1)
    found, report = solve(
        lambda x: matrix @ x,
        lambda x: x / np.diag(matrix)[:, None],
        columns,
        lambda explained: part * explained,
        least_eigenvalue=0.01 if bounded else 0.0,
    )
    exact = np.linalg.solve(matrix, columns)
    off = found - exact
    errors = np.einsum("ij,ij->j", off, matrix @ off)
    allowed = part * np.einsum("ij,ij->j", columns, exact)
    assert (errors <= allowed + 1e-18 * np.abs(allowed).max()).all()
    assert report.converged
    assert report.columns == 5
    assert not found[:, 3].any()


def test_one_step_is_enough_for_the_inverse_itself() -> None:
    matrix, columns = problem(2)
    inverse = np.linalg.inv(matrix)
    _, report = solve(
        lambda x: matrix @ x,
        lambda x: inverse @ x,
        columns,
        lambda explained: 1e-9 * explained,
        least_eigenvalue=0.01,
    )
    assert report.steps == 1
    assert report.converged


def test_what_is_unfinished_is_reported() -> None:
    matrix, columns = problem(3)
    _, report = solve(
        lambda x: matrix @ x,
        lambda x: x,
        columns,
        lambda explained: 1e-12 * explained,
        most_steps=3,
    )
    assert (report.steps, report.unfinished, report.converged) == (3, 4, False)
    assert report.worst > 1.0
    both = Convergence.together(report, Convergence(0, 0, 0, 0.0))
    assert (both.columns, both.unfinished, both.steps) == (5, 4, 3)
