"""Whole counts: numbers of rows that meet linear equations exactly, next to numbers that do not.

What is public of a table are equations in integers between the numbers of rows of each sort. Two
steps find whole numbers near to given ones that meet them: real ones first, moved by weighted least
squares, so that many numbers move a little and none becomes negative; then whole ones next to
these, by mixed integer programming (HiGHS). Whether numbers meet the equations is decided in
integers. Work is limited by the solver's own count of steps, never by the clock.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import coo_array, csr_array, diags_array, hstack
from scipy.sparse.linalg import lsqr

from eke.arrays import Codes, FloatArray

LARGEST_COEFFICIENT = 2**40
"""Beyond this the solver's doubles say little about integers."""
_MOST_NODES = 400
_ROUNDS = 40
_REACH = 3.0  # how far from the real numbers whole ones are looked for at first


@dataclass(frozen=True, slots=True, eq=False)
class Equations:
    """Σ coefficient · number = value, in integers, and how large each number may be."""

    rows: Codes  # (entries,) the equation of each entry
    places: Codes  # (entries,) its number
    coefficients: Codes  # (entries,)
    values: Codes  # (equations,)
    low: Codes  # (numbers,)
    high: Codes  # (numbers,)

    def hold(self, numbers: Codes) -> bool:
        """True when whole numbers meet all of them, decided in integers."""
        if (numbers < self.low).any() or (numbers > self.high).any():
            return False
        sums = [0] * len(self.values)  # Python's integers: nothing overflows
        used = numbers[self.places]
        for row, number, coefficient in zip(
            self.rows.tolist(), used.tolist(), self.coefficients.tolist(), strict=True
        ):
            sums[row] += number * coefficient
        return bool(sums == self.values.tolist())

    def with_bounds(self, low: Codes, high: Codes) -> Equations:
        """The same equations between other bounds."""
        return Equations(self.rows, self.places, self.coefficients, self.values, low, high)

    @property
    def matrix(self) -> csr_array:
        """The coefficients; (equations, numbers)."""
        shape = (len(self.values), len(self.low))
        entries = (self.coefficients.astype(np.float64), (self.rows, self.places))
        return csr_array(coo_array(entries, shape=shape))


def whole_near(equations: Equations, target: FloatArray) -> Codes | None:
    """Whole numbers that meet the equations, next to these; None when none were found."""
    low, high = equations.low, equations.high
    near = spread(equations, target)
    for reach in (_REACH, None):
        within = equations
        if reach is not None:
            within = equations.with_bounds(
                np.clip(np.floor(near - reach), low, high).astype(np.int64),
                np.clip(np.ceil(near + reach), low, high).astype(np.int64),
            )
        numbers = _rounded(within, near)
        if numbers is not None:
            return numbers
    return None


def spread(equations: Equations, target: FloatArray) -> FloatArray:
    """Real numbers between the bounds that meet the equations, each moved in proportion to itself.

    Where that is not possible, as near to it as was found.
    """
    matrix = equations.matrix
    numbers = np.clip(target, equations.low, equations.high).astype(np.float64)
    free = equations.low < equations.high
    for _ in range(_ROUNDS):
        lacking = equations.values - matrix @ numbers
        if np.abs(lacking).max(initial=0.0) <= 1e-6:
            break
        roots = np.sqrt(np.where(free, numbers - equations.low + 1.0, 0.0))
        step = roots * lsqr(matrix @ diags_array(roots), lacking, atol=1e-12, btol=1e-12)[0]
        moved = numbers + step
        numbers = np.clip(moved, equations.low, equations.high)
        free &= moved >= equations.low
    return numbers


def nearest_in(equations: Equations, place: int, wanted: int) -> Codes | None:
    """Whole numbers that meet the equations, one of them as near as can be to what is wanted.

    None when there are none, or none were found.
    """
    base = equations.low.copy()
    base[place] = min(max(wanted, equations.low[place]), equations.high[place])
    costs = np.zeros((3, len(base)))
    costs[:, place] = 1.0
    return _solved(equations, base, costs)


def _rounded(equations: Equations, near: FloatArray) -> Codes | None:
    """Whole numbers between the bounds, the sum of their distances from real ones about least."""
    base = np.clip(np.floor(near), equations.low, equations.high).astype(np.int64)
    ones = np.ones(len(near))
    return _solved(equations, base, np.stack([ones - 2.0 * (near - base), ones, ones]))


def _solved(equations: Equations, base: Codes, costs: FloatArray) -> Codes | None:
    """Whole numbers at the least cost: of the first step up, of each one more, of each one down.

    So costs grow at whole numbers only: where equations are those of tables, a corner of the linear
    programme is whole already.
    """
    matrix, size = equations.matrix, len(base)
    up = np.minimum(1, equations.high - base)
    values = equations.values - matrix @ base.astype(np.float64)
    for whole in (0.0, 1.0):
        solved = milp(
            costs.reshape(-1),
            integrality=np.full(3 * size, whole),
            bounds=Bounds(
                np.zeros(3 * size),
                np.concatenate([up, equations.high - base - up, base - equations.low]),
            ),
            constraints=[LinearConstraint(hstack([matrix, matrix, -matrix]), values, values)],
            # What presolving finds by itself is written to the standard output.
            options={"node_limit": _MOST_NODES, "mip_rel_gap": 1e-3, "presolve": not whole},
        )
        if solved.x is None:
            return None
        first, more, less = np.rint(solved.x).astype(np.int64).reshape(3, size)
        numbers = base + first + more - less
        if equations.hold(numbers):
            return numbers
    return None
