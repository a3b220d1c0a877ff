"""Foresight: whole marginals and single questions measured together, their noise chosen offline.

Every set of attributes has a table, every question a measurement of its own, each with its own
noise; least squares over all of them answers the questions. The variances follow in closed form
(`inference.residuals` for the tables, one update for the questions), and so do their derivatives,
so that the loss with which all questions are accurate enough can be brought down by descent. The
result is achievable, and not the optimum: with Laplace noise the problem is not convex.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from benchmarks.lab.questions import Questions
from eke.inference import ComposedNoise, halfwidth
from eke.privacy.concentrated import CONCENTRATED
from eke.privacy.measure import Measure
from eke.privacy.pure import PURE

FloatArray = NDArray[np.float64]

_SHARPNESS = (20.0, 100.0, 400.0)  # of the smooth maxima, one round each


@dataclass(frozen=True, slots=True, eq=False)
class Spending:
    """Prices of a table over each set of attributes, and of each question."""

    loss: float
    tables: FloatArray  # (subsets,)
    singles: FloatArray  # (questions,)


class Problem:
    """The loss of a spending, and its derivatives."""

    def __init__(self, questions: Questions, measure: Measure, *, tables: bool = True) -> None:
        self.questions, self.measure = questions, measure
        subsets, shape = questions.subsets, questions.shape
        self.needed = questions.gaussian
        if measure == PURE:
            self.needed = np.minimum(questions.gaussian, questions.laplace)
        # What a table over A says about component B, over its noise's precision.
        self.merged = np.array(
            [
                [
                    1.0 / math.prod(shape[k] for k in outer if k not in inner)
                    if set(inner) <= set(outer)
                    else 0.0
                    for outer in subsets
                ]
                for inner in subsets
            ]
        )
        inner = [questions.inner(one) for one in subsets]
        self.used = [i for i, one in enumerate(inner) if one.any()]
        self.inner = np.array([inner[i] for i in self.used])
        self.reach = np.abs(questions.coefficients)
        if measure == CONCENTRATED:
            self.reach = self.reach**2
        # Precision of a unit of loss: ε²/2 of Laplace noise, 2ρ of Gaussian noise.
        self.power, self.unit = (2.0, 0.5) if measure == PURE else (1.0, 2.0)
        self.own = (1.0 / (self.unit * self.needed)) ** (1.0 / self.power)  # price of a question
        top = float(self.own.max())
        count = len(subsets)
        self.low = np.log(np.concatenate([np.full(count, 2e-3 * top), 1e-3 * self.own]))
        self.high = np.log(np.concatenate([np.full(count, 30.0 * top), 2.0 * self.own]))
        if not tables:
            self.high[:count] = self.low[:count]
        self.start = np.clip(
            np.log(np.concatenate([np.full(count, top), 0.5 * self.own])), self.low, self.high
        )
        self.tables = count

    def posterior(self, prices: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """(C, D, MC): covariance by tables, noise of the questions, weight of the questions."""
        table, single = prices[: self.tables], prices[self.tables :]
        precision = self.merged @ (self.unit * table**self.power)
        covariance = np.tensordot(1.0 / precision[self.used], self.inner, 1)
        noise = 1.0 / (self.unit * single**self.power)
        weight = np.linalg.solve(covariance + np.diag(noise), covariance)
        return covariance, noise, weight

    def scaled_loss(self, x: FloatArray, sharpness: float) -> tuple[float, FloatArray]:
        """The logarithm of the loss, all prices scaled so that each question is answered."""
        prices = np.exp(x)
        table, single = prices[: self.tables], prices[self.tables :]
        covariance, noise, weight = self.posterior(prices)
        rest = np.eye(len(noise)) - weight
        variances = np.maximum(np.einsum("ij,ji->i", covariance, rest), 1e-300)
        excess, share = _soft_maximum(np.log(variances / self.needed) / self.power, sharpness)
        share = share / (self.power * variances)
        spread = (rest * share) @ rest.T
        by_component = np.tensordot(self.inner, spread, 2)
        precision = self.merged @ (self.unit * table**self.power)
        by_precision = np.zeros(self.tables)
        by_precision[self.used] = -by_component / precision[self.used] ** 2
        slope_tables = (self.merged.T @ by_precision) * self.unit * self.power * table**self.power
        slope_singles = -np.einsum("ij,j,ij->i", weight, share, weight) * noise * self.power
        reach = self.reach
        losses = table.sum() + (single.astype(np.float32) @ reach).astype(np.float64)
        loss, cells = _soft_maximum(np.log(losses), 4.0 * sharpness)
        cells = cells / losses
        slope_tables = slope_tables + cells.sum() * table
        slope_singles = slope_singles + (reach @ cells.astype(np.float32)) * single
        return excess + loss, np.concatenate([slope_tables, slope_singles])

    def solved(self, steps: int) -> Spending:
        """The best spending found, scaled so that every question is answered."""
        x = self.start
        for sharpness in _SHARPNESS:
            x = minimize(
                self.scaled_loss,
                x,
                args=(sharpness,),
                jac=True,
                method="L-BFGS-B",
                bounds=list(zip(self.low, self.high, strict=True)),
                options={"maxiter": steps, "maxcor": 20},
            ).x
            if self.measure == PURE:  # what an interval allows depends on the mixture
                self.needed = self._allowed(np.exp(x))
        loss = math.exp(self.scaled_loss(x, 1e6)[0])
        prices = np.exp(x)
        variances = self._variances(prices)
        prices *= float((variances / self.needed).max()) ** (1.0 / self.power)
        return Spending(loss, prices[: self.tables], prices[self.tables :])

    def _variances(self, prices: FloatArray) -> FloatArray:
        covariance, _, weight = self.posterior(prices)
        return np.asarray(np.einsum("ij,ji->i", covariance, np.eye(len(weight)) - weight))

    def _allowed(self, prices: FloatArray) -> FloatArray:
        """The variance that each answer may have, as a sum of many cells and a few questions.

        The cells together are nearly Gaussian; of the questions that one Laplace noise is taken
        that has their fourth cumulant.
        """
        _, noise, weight = self.posterior(prices)
        shares = weight**2 * noise[:, None] / self._variances(prices)
        share = np.sqrt((shares**2).sum(axis=0)).clip(0.0, 1.0)
        grid = np.linspace(0.0, 1.0, 9)
        found = np.empty(len(share))
        for level in np.unique(self.questions.confidence):
            own = self.questions.confidence == level
            laws = [ComposedNoise(np.array([math.sqrt(s / 2.0)]), 1.0 - s) for s in grid]
            widths = np.array([halfwidth(law, float(level)) for law in laws])
            found[own] = np.interp(share[own], grid, widths)
        return np.asarray((self.questions.within / found) ** 2)

    def errors(self, spending: Spending, rng: np.random.Generator) -> FloatArray:
        """The errors of all answers for one draw of the noise."""
        questions = self.questions
        precision = self.merged @ (self.unit * spending.tables**self.power)
        component = {one: np.zeros([questions.shape[k] for k in one]) for one in questions.subsets}
        for outer, price in zip(questions.subsets, spending.tables, strict=True):
            own = self.unit * price**self.power
            drawn = self._noise(rng, own, [questions.shape[k] for k in outer])
            for place, inner in enumerate(questions.subsets):
                if set(inner) <= set(outer):
                    axes = tuple(i for i, k in enumerate(outer) if k not in inner)
                    share = own * self.merged[place, questions.subsets.index(outer)]
                    component[inner] += share / precision[place] * drawn.sum(axis=axes)
        by_tables = np.zeros(len(questions))
        for inner, table in component.items():
            outside = [k for k in range(len(questions.shape)) if k not in inner]
            left = np.broadcast_to(table, (len(questions), *table.shape))
            for k in inner:
                left = np.einsum("qi...,qi->q...", left, questions.deviations[k])
            by_tables += questions.means[:, outside].prod(axis=1) * left
        prices = np.concatenate([spending.tables, spending.singles])
        _, noise, weight = self.posterior(prices)
        single = np.array([float(self._noise(rng, 1.0 / v, [])) for v in noise])
        return np.asarray(by_tables - weight.T @ by_tables + weight.T @ single)

    def _noise(self, rng: np.random.Generator, precision: float, shape: list[int]) -> FloatArray:
        deviation = precision**-0.5
        if self.measure == PURE:
            return np.asarray(rng.laplace(0.0, deviation / math.sqrt(2.0), shape))
        return np.asarray(rng.normal(0.0, deviation, shape))


def _soft_maximum(values: FloatArray, sharpness: float) -> tuple[float, FloatArray]:
    """A smooth upper bound of the maximum, and its derivative."""
    top = float(values.max())
    weights = np.exp(sharpness * (values - top))
    total = float(weights.sum())
    return top + math.log(total) / sharpness, weights / total
