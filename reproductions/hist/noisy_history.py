"""A history of random questions with noisy answers, and maximum entropy models of it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eke.inference.features import HistoryFeatures, TableGroup
from eke.inference.max_entropy import Fit, SamplingEffort, constraints_of, fit_max_entropy
from eke.inference.shrinkage import DenseKernel, Evidence, Noise
from eke.privacy.law import Laplace
from eke.query import Prior
from reproductions.answering.experiment import SEED
from reproductions.hist.setting import (
    census,
    model_answers,
    pairs,
    random_questions,
    root_mean_square,
    true_answers,
)

Reals = NDArray[np.float64]
PLAIN, PRIOR = "uniform prior", "0.02-DP prior"
NOISE = 5000.0  # the scale b; the sensitivity of 5,000 questions is at most 5,000, so ε = 1
FOLDS = 5
PREDICTED_FOLDS = 3  # of maximum entropy; each needs fits of its own, and all are alike
_EXACT_CELLS = 2**16  # larger models are sampled, so that the figures show one method


@dataclass(frozen=True, slots=True)
class Size:
    """How large the experiments are."""

    measured: int
    asked: int
    repetitions: int  # with fresh questions and fresh noise
    effort: SamplingEffort
    fold_effort: SamplingEffort
    curve_alphas: tuple[float, ...]  # of maximum entropy
    fold_alphas: tuple[float, ...]

    @staticmethod
    def of(quick: bool) -> Size:
        if quick:
            few = SamplingEffort(1024, most_steps=20)
            return Size(300, 200, 2, few, few, (3e-3, 3e-2), (3e-3, 3e-2))
        alphas = (1e-3, 3e-3, 1e-2, 2e-2)
        efforts = SamplingEffort(8192, most_steps=40), SamplingEffort(4096, most_steps=24)
        return Size(5000, 2000, 2, *efforts, (*alphas, 4e-2), alphas)


@dataclass(frozen=True, slots=True, eq=False)
class History:
    """Questions with true and noisy answers."""

    questions: HistoryFeatures
    truth: Reals
    noisy: Reals
    laplace_scale: float

    @staticmethod
    def drawn(
        kind: str, number: int, laplace_scale: float, generator: np.random.Generator
    ) -> History:
        questions = random_questions(kind, number, generator)
        truth = true_answers(questions)
        noise = generator.laplace(0.0, laplace_scale, number)
        return History(questions, truth, truth + noise, laplace_scale)

    def evidence(self, prior: Prior | None) -> Evidence[DenseKernel]:
        variances = np.full(len(self.noisy), 2.0 * self.laplace_scale**2)
        noise = Noise.of_covariance(variances)
        return Evidence.of(self.questions, self.noisy, noise, prior, float(census().total))

    def part(self, rows: NDArray[np.intp]) -> History:
        """Some of the questions, numbered anew."""
        place = np.full(len(self.noisy), -1, np.intp)
        place[rows] = np.arange(len(rows))
        groups = []
        for group in self.questions.groups:
            kept = place[group.rows] >= 0
            tables = group.dense()[kept]
            groups.append(TableGroup(group.attributes, place[group.rows][kept], tables))
        questions = HistoryFeatures(census().domain, groups=[g for g in groups if len(g.rows)])
        return History(questions, self.truth[rows], self.noisy[rows], self.laplace_scale)

    def off(self, found: Reals) -> float:
        """The RMSE of some answers."""
        return root_mean_square(found - self.truth)


@dataclass(frozen=True, slots=True, eq=False)
class EntropyModel:
    """A fitted maximum entropy model as its pair marginals."""

    fit: Fit
    marginals: dict[tuple[str, ...], Reals]

    @staticmethod
    def of(
        history: History,
        prior: Prior | None,
        alpha: float,
        effort: SamplingEffort,
        start: EntropyModel | None = None,
    ) -> EntropyModel:
        laws = [Laplace(history.laplace_scale)] * len(history.noisy)
        constraints = constraints_of(
            history.questions, history.noisy, laws, total=float(census().total), alpha=alpha
        )
        fit = fit_max_entropy(
            constraints,
            prior,
            generator=np.random.default_rng(SEED),
            effort=effort,
            exact_cells=_EXACT_CELLS,
            start=None if start is None else start.fit,
        )
        shares: dict[tuple[str, ...], Reals] = {
            pair: fit.distribution.marginal(pair).reshape(-1) for pair in pairs()
        }
        return EntropyModel(fit, shares)

    def answers(self, questions: HistoryFeatures) -> Reals:
        return census().total * model_answers(questions, self.marginals)


def entropy_path(
    history: History, prior: Prior | None, alphas: Sequence[float], effort: SamplingEffort
) -> list[EntropyModel]:
    """Models at rising α, each started from the one before."""
    models: list[EntropyModel] = []
    for alpha in alphas:
        start = models[-1] if models else None
        models.append(EntropyModel.of(history, prior, alpha, effort, start))
    return models


def cross_validated_entropy(
    history: History, prior: Prior | None, alphas: Sequence[float], effort: SamplingEffort
) -> list[float]:
    """The RMSE of maximum entropy at each α, estimated from noisy answers alone (HIST §3.5).

    Models are fitted without one fold each, as by all five; some of the folds are predicted, which
    leaves the estimate unbiased and saves two fifths of the time.
    """
    sums, answers = np.zeros(len(alphas)), 0
    everything = np.arange(len(history.noisy))
    for fold in range(min(FOLDS, PREDICTED_FOLDS)):
        held = history.part(everything[fold::FOLDS])
        rest = history.part(np.setdiff1d(everything, everything[fold::FOLDS]))
        answers += len(held.noisy)
        for place, model in enumerate(entropy_path(rest, prior, alphas, effort)):
            errors = (model.answers(held.questions) - held.noisy) ** 2
            sums[place] += float(errors.sum()) - 2.0 * history.laplace_scale**2 * len(errors)
    return [math.sqrt(max(total / answers, 0.0)) for total in sums]
