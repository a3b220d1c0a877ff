"""Questions as matrices: what the offline yardstick and the lower bound reckon with."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from benchmarks.lab.traces import Trace

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Questions:
    """The distinct demands of a trace, each a product of vectors, over cells that matter."""

    shape: tuple[int, ...]
    coefficients: NDArray[np.float32]  # (questions, cells)
    means: FloatArray  # (questions, attributes)
    deviations: tuple[FloatArray, ...]  # for each attribute (questions, values)
    gaussian: FloatArray  # (questions,) variance that Gaussian noise may have
    laplace: FloatArray  # the same for Laplace noise
    within: FloatArray
    confidence: FloatArray
    times: NDArray[np.int64]  # how often each arrives

    def __len__(self) -> int:
        return len(self.times)

    def only(self, kept: NDArray[np.bool_]) -> Questions:
        """Some of the questions."""
        return Questions(
            self.shape,
            self.coefficients[kept],
            self.means[kept],
            tuple(one[kept] for one in self.deviations),
            self.gaussian[kept],
            self.laplace[kept],
            self.within[kept],
            self.confidence[kept],
            self.times[kept],
        )

    @property
    def subsets(self) -> list[tuple[int, ...]]:
        """All sets of attributes, the empty one first."""
        every = range(len(self.shape))
        return [one for r in range(len(self.shape) + 1) for one in combinations(every, r)]

    def inner(self, subset: tuple[int, ...]) -> FloatArray:  # (questions, questions)
        """The inner products of the questions' parts in one component (`inference.residuals`)."""
        outside = [k for k in range(len(self.shape)) if k not in subset]
        factor = self.means[:, outside].prod(axis=1)
        total = np.outer(factor, factor)
        for k in subset:
            total *= self.deviations[k] @ self.deviations[k].T
        return total


def questions_of(trace: Trace) -> Questions:
    """The questions of a trace whose demands are single products."""
    domain = trace.table.domain
    names, shape = domain.names, domain.shape
    often = Counter(trace.arrivals)
    demands = [trace.demands[place] for place in often]
    coefficients = np.zeros((len(demands), math.prod(shape)), np.float32)
    means = np.ones((len(demands), len(names)))
    deviations = tuple(np.zeros((len(demands), size)) for size in shape)
    gaussian, laplace = np.zeros(len(demands)), np.zeros(len(demands))
    for place, demand in enumerate(demands):
        (term,) = demand.query.terms
        table = np.full([1] * len(names), float(term.weight))
        for name, vector in term.factors:
            axis = names.index(name)
            values = vector.astype(np.float64)
            table = table * values.reshape([-1 if i == axis else 1 for i in range(len(names))])
            means[place, axis] = values.mean()
            deviations[axis][place] = values - values.mean()
        means[place, 0] *= float(term.weight)
        deviations[0][place] *= float(term.weight)
        coefficients[place] = np.broadcast_to(table, shape).ravel()
        wanted, missing = demand.requirement, 1.0 - demand.requirement.confidence
        gaussian[place] = (wanted.within / float(-ndtri(missing / 2.0))) ** 2
        laplace[place] = 2.0 * (wanted.within / -math.log(missing)) ** 2
    return Questions(
        shape,
        coefficients,
        means,
        deviations,
        gaussian,
        laplace,
        np.array([demand.requirement.within for demand in demands]),
        np.array([demand.requirement.confidence for demand in demands]),
        np.array(list(often.values())),
    )
