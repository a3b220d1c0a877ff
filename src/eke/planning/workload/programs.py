"""Programs: numbers under conditions whose answers are nearest to given ones, in three norms.

L1 and L∞ are linear programs (CUBE §3.3), solved by HiGHS. L2 without a floor is sparse least
squares; with one it is a quadratic program, solved by Mehrotra's predictor and corrector with a
dense factorisation, which is why the free numbers of that are limited.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from scipy.linalg import cho_factor, cho_solve, null_space
from scipy.sparse import csr_array, eye_array, hstack, vstack
from scipy.sparse.linalg import lsmr

from eke.arrays import FloatArray
from eke.errors import EstimateError

Norm: TypeAlias = Literal["l2", "l1", "linf"]

MOST_FREE = 3_000
"""Free numbers of a quadratic program, or of one under conditions: their matrices are dense."""
_MOST_STEPS = 100
_SOLVED = 1e-12
_TO_THE_EDGE = 0.995


@dataclass(frozen=True, slots=True, eq=False)
class Program:
    """Free numbers θ, so that design·θ is near a target.

    Where `floor` is given, floor·θ is at least zero; conditions·θ equals `values`.
    """

    design: csr_array[np.float64]  # (answers, free)
    target: FloatArray  # (answers,)
    floor: csr_array[np.float64] | None  # (cells, free)
    conditions: csr_array[np.float64]  # (conditions, free)
    values: FloatArray  # (conditions,)


def nearest(program: Program, norm: Norm) -> FloatArray:
    """The free numbers, to the solver's tolerance: what is at its floor may be a little below."""
    return _quadratic(program) if norm == "l2" else _linear(program, norm)


def too_many_free(free: int) -> str:
    """What is said where a quadratic program would be too large."""
    return (
        f"these answers hang together by {free:,} free numbers, and in L2 at most {MOST_FREE:,} "
        "can be found together; use norm='l1', or release less at a time"
    )


def _linear(program: Program, norm: Norm) -> FloatArray:
    from scipy.optimize import Bounds, LinearConstraint, milp  # noqa: PLC0415 - slow to load

    answers, free = program.design.shape
    design, target = program.design, program.target
    if norm == "l1":
        # design·θ + above - below = target, minimise the sum of both deviations.
        unit = eye_array(answers, format="csr")
        rows = [hstack([design, unit, -unit])]
        low, high, extra = [target], [target], 2 * answers
    else:
        # -most <= design·θ - target <= most, minimise the one number `most`.
        ones = csr_array(np.ones((answers, 1)))
        rows = [hstack([design, -ones]), hstack([design, ones])]
        low = [np.full(answers, -np.inf), target]
        high, extra = [target, np.full(answers, np.inf)], 1
    if program.floor is not None:
        cells = program.floor.shape[0]
        rows.append(hstack([program.floor, csr_array((cells, extra))]))
        low.append(np.zeros(cells))
        high.append(np.full(cells, np.inf))
    if len(program.values):
        rows.append(hstack([program.conditions, csr_array((len(program.values), extra))]))
        low.append(program.values)
        high.append(program.values)
    within = LinearConstraint(vstack(rows, format="csr"), np.concatenate(low), np.concatenate(high))
    goal = np.concatenate([np.zeros(free), np.ones(extra)])
    lowest = np.concatenate([np.full(free, -np.inf), np.zeros(extra)])
    # `milp` without whole numbers is the same HiGHS, and takes two-sided conditions.
    optimum = milp(goal, bounds=Bounds(lowest, np.inf), constraints=within)
    if optimum.x is None:
        raise EstimateError("the linear program was not solved; use norm='l2' instead")
    return np.asarray(optimum.x[:free], np.float64)


def _quadratic(program: Program) -> FloatArray:
    free = program.design.shape[1]
    if program.floor is None and not len(program.values):
        most = 20 * max(program.design.shape)
        solved = lsmr(program.design, program.target, atol=_SOLVED, btol=_SOLVED, maxiter=most)
        return np.asarray(solved[0], np.float64)
    if free > MOST_FREE:
        raise EstimateError(too_many_free(free))
    conditions = program.conditions.toarray()
    first, moves = np.zeros(free), np.eye(free)
    if len(conditions):
        first += np.linalg.lstsq(conditions, program.values, rcond=None)[0]
        moves = np.asarray(null_space(conditions), np.float64)
    design = np.asarray(program.design @ moves)  # (answers, moves)
    target = program.target - program.design @ first
    if program.floor is None:
        best = np.linalg.lstsq(design, target, rcond=None)[0]
        return np.asarray(first + moves @ best, np.float64)
    floor = np.asarray(program.floor @ moves)
    offset = np.asarray(program.floor @ first)
    # Cells that the conditions leave no choice about would have no room inside.
    loose = np.abs(floor).max(axis=1, initial=0.0) > 1e-9
    inner = _inside(design, target, csr_array(floor[loose]), offset[loose])
    return np.asarray(first + moves @ inner, np.float64)


def _inside(
    design: FloatArray, target: FloatArray, floor: csr_array[np.float64], offset: FloatArray
) -> FloatArray:
    """φ with floor·φ + offset >= 0 and least |design·φ - target|, by an interior-point method.

    Mehrotra (1992), for a quadratic goal: a step that ignores the floor tells how much of the
    complementarity to aim at, a second one with the same factors goes there.
    """
    scale = max(1.0, float(np.abs(target).max(initial=0.0)))
    curve, slope = design.T @ design, -(design.T @ (target / scale))
    told = offset / scale
    across = csr_array(floor.T)
    point = np.zeros(design.shape[1])
    room, pull = np.ones(len(told)), np.ones(len(told))
    for _ in range(_MOST_STEPS):
        short = room - floor @ point - told
        uneven = curve @ point + slope - across @ pull
        gap = float(room @ pull) / max(1, len(told))
        if max(gap, float(np.abs(short).max()), float(np.abs(uneven).max())) < _SOLVED * 100:
            break
        weighed = csr_array(across.multiply(pull / room) @ floor).toarray()
        ridge = 1e-14 * (np.trace(curve) + np.trace(weighed)) / len(point)
        factors = cho_factor(curve + weighed + ridge * np.eye(len(point)))

        def step(aim: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
            """Of the point, of its room, of the pull."""
            right = -uneven + across @ ((aim + pull * short) / room)  # noqa: B023 - used at once
            along = cho_solve(factors, right)  # noqa: B023
            wider = floor @ along - short  # noqa: B023
            return along, wider, (aim - pull * wider) / room  # noqa: B023

        _, wider, harder = step(-room * pull)
        reach = min(_length(room, wider), _length(pull, harder))
        ahead = float((room + reach * wider) @ (pull + reach * harder)) / len(told)
        aim = (ahead / gap) ** 3 * gap - room * pull - wider * harder
        along, wider, harder = step(aim)
        reach = _TO_THE_EDGE * min(_length(room, wider), _length(pull, harder))
        reach = min(1.0, reach)
        point, room, pull = point + reach * along, room + reach * wider, pull + reach * harder
    return point * scale


def _length(values: FloatArray, change: FloatArray) -> float:
    """How much of a change leaves all values positive; at most a little more than all of it."""
    falling = change < 0.0
    return min(1.0 / _TO_THE_EDGE, float((-values[falling] / change[falling]).min(initial=np.inf)))
