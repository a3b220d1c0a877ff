"""The learner of HIST §4.2 for all pairs of attributes, compiled: one chain, one record, one step.

A record moves by one Metropolis step for each attribute with uniform proposals; then every weight
moves by γ·(π_i − f_i(record)) and is cut at its bound. The plain form does just that. The thrifty
form is what the paper hints at for marginals: only the 36 cells of the record are touched, and a
weight catches up on its steady part, γ·π_i for each step, when it is next read. Between two visits
it moves one way only, so cutting late is cutting at every step, and both forms agree.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from eke.inference.max_entropy import Constraints

Reals = NDArray[np.float64]
Codes = NDArray[np.int64]
GAMMA = 1e-4  # the paper's learning rate
ITERATIONS = 1_000_000  # "roughly", says the paper


class SingleChain:
    """The state of the learner; pairs of attributes in the order of the constraints."""

    def __init__(self, constraints: Constraints, seed: int = 3) -> None:
        domain = constraints.domain
        self.sizes = np.array(domain.shape, np.int64)
        self.targets, self.bounds = constraints.targets, constraints.bounds
        self.weights = np.zeros(constraints.size)
        self.seen = np.zeros(constraints.size, np.int64)  # the step up to which a weight is right
        self.starts = np.zeros((len(domain), len(domain)), np.int64)
        place = 0
        for own in constraints.attribute_sets:
            i, j = (domain.names.index(name) for name in own)
            self.starts[i, j] = self.starts[j, i] = place
            place += domain.shape[i] * domain.shape[j]
        self.state = np.zeros(len(domain), np.int64)
        self.steps, self.seed = 0, seed

    def learn(self, steps: int, *, thrifty: bool = True) -> None:
        """So many steps."""
        moving = (self.state, self.weights, self.seen)
        self._run(moving, (GAMMA, self.steps, steps, thrifty), 1)
        self.steps += steps

    def draw(self, records: int, every: int) -> Codes:
        """Records at the weights as they are, one after so many steps."""
        moving = (self.state.copy(), self.caught_up(), self.seen)
        return self._run(moving, (0.0, 0, every, True), records)

    def _run(
        self,
        moving: tuple[Codes, Reals, Codes],
        settings: tuple[float, int, int, bool],
        records: int,
    ) -> Codes:
        self.seed += 1
        found = np.empty((records, len(self.sizes)), np.int64)
        given, layout = (self.targets, self.bounds), (self.starts, self.sizes)
        _learn(found, moving, given, layout, settings, self.seed)
        return found

    def caught_up(self) -> Reals:
        """The weights after the last step."""
        moved = self.weights + GAMMA * self.targets * (self.steps - self.seen)
        return np.clip(moved, -self.bounds, self.bounds)


@njit(cache=True)
def _learn(  # noqa: PLR0917 - compiled code knows no keywords
    found: Codes,
    moving: tuple[Codes, Reals, Codes],
    given: tuple[Reals, Reals],
    layout: tuple[Codes, Codes],
    settings: tuple[float, int, int, bool],
    seed: int,
) -> None:  # pragma: no cover - compiled
    gamma, first, steps, thrifty = settings
    np.random.seed(seed)  # noqa: NPY002 - compiled code knows only the legacy generator
    for row in range(len(found)):
        for step in range(first, first + steps):
            _move(moving, given, layout, gamma, step)
            if gamma > 0.0:
                _correct(moving, given, layout, gamma, step)
            if not thrifty:
                for cell in range(len(moving[1])):
                    moving[1][cell] = _weight(moving, given, cell, gamma, step + 1)
                    moving[2][cell] = step + 1
        found[row] = moving[0]


@njit(cache=True, inline="always")
def _weight(
    moving: tuple[Codes, Reals, Codes],
    given: tuple[Reals, Reals],
    cell: int,
    gamma: float,
    step: int,
) -> float:  # pragma: no cover - compiled
    """A weight before some step."""
    moved = moving[1][cell] + gamma * given[0][cell] * (step - moving[2][cell])
    return min(max(moved, -given[1][cell]), given[1][cell])


@njit(cache=True)
def _move(
    moving: tuple[Codes, Reals, Codes],
    given: tuple[Reals, Reals],
    layout: tuple[Codes, Codes],
    gamma: float,
    step: int,
) -> None:  # pragma: no cover - compiled
    """A Metropolis step for each attribute."""
    state, (starts, sizes) = moving[0], layout
    for k in range(len(sizes)):
        offered = np.random.randint(0, sizes[k])  # noqa: NPY002
        gain = 0.0
        for j in range(len(sizes)):
            if j == k:
                continue
            if k < j:
                new = starts[k, j] + offered * sizes[j] + state[j]
                old = starts[k, j] + state[k] * sizes[j] + state[j]
            else:
                new = starts[k, j] + state[j] * sizes[k] + offered
                old = starts[k, j] + state[j] * sizes[k] + state[k]
            gain += _weight(moving, given, new, gamma, step)
            gain -= _weight(moving, given, old, gamma, step)
        if np.log(np.random.random()) < gain:  # noqa: NPY002
            state[k] = offered


@njit(cache=True)
def _correct(
    moving: tuple[Codes, Reals, Codes],
    given: tuple[Reals, Reals],
    layout: tuple[Codes, Codes],
    gamma: float,
    step: int,
) -> None:  # pragma: no cover - compiled
    """The weights of the record's own cells after a step."""
    (state, weights, seen), (starts, sizes) = moving, layout
    targets, bounds = given
    for i in range(len(sizes)):
        for j in range(i + 1, len(sizes)):
            cell = starts[i, j] + state[i] * sizes[j] + state[j]
            moved = _weight(moving, given, cell, gamma, step) + gamma * (targets[cell] - 1.0)
            weights[cell] = min(max(moved, -bounds[cell]), bounds[cell])
            seen[cell] = step + 1
