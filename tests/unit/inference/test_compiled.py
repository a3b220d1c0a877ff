"""Compiled loops and their twins in NumPy: the same residues, and nearly the same factors."""

from __future__ import annotations

import subprocess
import sys
from types import ModuleType

import numpy as np
import pytest

import eke
from eke.history import Measurement
from eke.inference import Inference, packed, residues, steps
from eke.inference.packed import PackedFactor
from eke.inference.residues import PRIME, ResidueTriangle, product
from eke.privacy.law import Laplace

SIZES = (1, 2, 7, 40, 90)


WAYS = ("short", "long", "compiled")


def chosen(monkeypatch: pytest.MonkeyPatch, module: ModuleType, way: str) -> None:
    """From here on there is only one way, however long histories are."""
    monkeypatch.setattr(module, "SMALL", 10**9 if way == "short" else 0, raising=False)
    monkeypatch.setattr(module, "worth", lambda _: way == "compiled")


@pytest.mark.parametrize("size", SIZES)
def test_triangles_of_residues_are_solved_alike(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(size)
    rows = [random.integers(0, PRIME, k).astype(np.int32) for k in range(size)]
    pivots = random.integers(1, PRIME, size)
    right = random.integers(0, PRIME, size).astype(np.int32)
    found = []
    for way in WAYS:
        chosen(monkeypatch, residues, way)
        triangle = ResidueTriangle()
        for row, pivot in zip(rows, pivots, strict=True):
            triangle.append(row, int(pivot))
        found.append((triangle.solve(right), triangle.solve_transposed(right)))
    for other in found[1:]:
        assert np.array_equal(found[0], other)
    assert [one[0].dtype for one in found] == [np.int32] * 3


@pytest.mark.parametrize("columns", [1, 511, 512, 513, 3000])
def test_products_of_the_largest_residues_are_exact(
    columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sums of 512 products are as large as a double can hold, and no larger."""
    matrix = np.full((3, columns), PRIME - 1, np.int32)
    vector = np.full(columns, PRIME - 1, np.int32)
    truth = (PRIME - 1) ** 2 * columns % PRIME
    for way in WAYS:
        chosen(monkeypatch, residues, way)
        assert product(matrix, vector).tolist() == [truth] * 3


@pytest.mark.parametrize("size", SIZES)
def test_steps_are_multiplied_alike(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(size)
    held = steps.StepRows()
    for _ in range(size):
        held.append(random.integers(-3, 4, 30))
    vector = random.integers(0, PRIME, 30).astype(np.int32)
    found = []
    for way in WAYS:
        chosen(monkeypatch, steps, way)
        found.append(held.products(vector).tolist())
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("size", SIZES)
def test_factors_are_updated_alike(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(size)
    columns = [random.normal(size=k) for k in range(size)]
    change, right = random.normal(size=size), random.normal(size=size)
    found = []
    for small in (10**9, 0):
        monkeypatch.setattr(packed, "SMALL", small)
        factor = PackedFactor()
        for column in columns:
            factor.append(column, 3.0 + len(column))
        before = factor.view()
        factor.update(change)
        found.append(
            [one.solve(right) for one in (before, factor)]
            + [one.solve_transposed(right) for one in (before, factor)]
        )
    for other in found[1:]:
        assert np.allclose(found[0], other, rtol=1e-9, atol=1e-12)


def test_no_digit_tells_whether_loops_are_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Answers are the same to the last bit, whatever was asked in the process before."""
    domain = eke.Domain(a=eke.Integer(0, 19))
    random, found = np.random.default_rng(5), []
    ends = np.sort(random.integers(0, 20, (90, 2)), axis=1).tolist()
    history = [
        Measurement(eke.count(a=(low, high)).on(domain), Laplace(2.0 + low), (float(high),))
        for low, high in ends
    ]
    for way in ("long", "compiled"):
        chosen(monkeypatch, residues, way)
        chosen(monkeypatch, steps, way)
        known = Inference(domain, history)
        questions = [eke.count(a=(k, k + 9)).on(domain) for k in range(10)]
        beliefs = [known.posterior(one) for one in questions]
        found.append([(one.value, one.halfwidth(0.95)) for one in beliefs if one is not None])
    assert len(found[0]) > 2
    assert found[0] == found[1]


def test_a_short_history_loads_neither_numba_nor_scipy() -> None:
    """Free answers from it, and what they need, run with NumPy alone; a long one loads Numba.

    So do a few answers from a long one that was taken up from its parts.
    """
    script = """
import sys
import eke
from eke.history import Measurement
from eke.inference import Inference, compiled
from eke.privacy.law import Laplace
domain = eke.Domain(a=eke.Integer(0, 9))
rows = [Measurement(eke.count(a=(0, k)).on(domain), Laplace(2.0), (5.0,)) for k in range(9)]
print(Inference(domain, rows).posterior(eke.count(a=(2, 5)).on(domain)).halfwidth(0.95) > 0)
print({"numba", "scipy"} & set(sys.modules))
compiled.SMALL = 4
known = Inference(domain, rows[:7])
print({"numba", "scipy"} & set(sys.modules))
for _ in range(10):
    known = Inference(domain, rows)
print("numba" in sys.modules)
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=120
    )
    assert done.stdout.splitlines() == ["True", "set()", "set()", "True"]
