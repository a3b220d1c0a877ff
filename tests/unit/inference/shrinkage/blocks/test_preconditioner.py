"""The preconditioner is the inverse where it can be, and never below the matrix elsewhere."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import eigh

from eke.inference.shrinkage.blocks.evidence import evidence_of_blocks
from eke.inference.shrinkage.blocks.preconditioner import Parts
from tests.unit.inference.shrinkage.blocks.histories import DOMAIN, PRIOR, Reals, history


def matrices(varied: bool, most_coordinates: int, alpha: float) -> tuple[Reals, Reals]:
    """(C, the preconditioner as a matrix)."""
    measurements = history(np.random.default_rng(4), varied=varied)
    evidence = evidence_of_blocks(DOMAIN, measurements, PRIOR, least_block=2)
    ridges = evidence.noise.variances / alpha**2
    unit = np.eye(evidence.size)
    whole = evidence.kernel.times(unit) + np.diag(ridges)
    return whole, Parts(evidence.kernel, most_coordinates).at(ridges).times(unit)


@pytest.mark.parametrize("alpha", [0.3, 30.0])
@pytest.mark.parametrize("varied", [False, True])
def test_it_is_the_inverse_when_all_that_is_shared_is_put_back(varied: bool, alpha: float) -> None:
    whole, inverse = matrices(varied, 4000, alpha)
    np.testing.assert_allclose(inverse @ whole, np.eye(len(whole)), atol=1e-9)


@pytest.mark.parametrize("most_coordinates", [0, 4, 14, 60])
def test_else_it_is_at_least_the_matrix(most_coordinates: int) -> None:
    """Then it is positive, and eigenvalues of the product lie between 0 and 1."""
    whole, inverse = matrices(True, most_coordinates, 30.0)
    np.testing.assert_allclose(inverse, inverse.T, atol=1e-9 * np.abs(inverse).max())
    assert np.linalg.eigvalsh(inverse)[0] > 0.0
    eigenvalues = eigh(whole, np.linalg.inv(inverse), eigvals_only=True)
    assert eigenvalues[0] > 0.0
    assert eigenvalues[-1] < 1.0 + 1e-6
    if most_coordinates == 0:
        assert eigenvalues[0] < 0.1  # a control: it is far from the inverse here
