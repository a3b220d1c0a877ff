"""HIST Fig. 2 and 3's studies: RMSE against α by both methods, repeated with fresh questions."""

from __future__ import annotations

import math
import multiprocessing
import os
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from eke.inference.shrinkage import DenseKernel, Evidence, choose_alpha
from eke.query import Prior
from reproductions.answering.report import Report
from reproductions.hist.noisy_history import (
    NOISE,
    PLAIN,
    PRIOR,
    EntropyModel,
    History,
    Size,
    cross_validated_entropy,
    entropy_path,
)
from reproductions.hist.setting import noisy_prior
from reproductions.hist.shrinkage_path import ShrinkagePath

Curve = list[tuple[float, float]]
Reals = NDArray[np.float64]
Job = TypeVar("Job")
Result = TypeVar("Result")
KINDS = ("range", "counting")
METHODS = ("kernel PCA", "max entropy")


@dataclass(frozen=True, slots=True)
class StudyJob:
    """One kind of past questions, with one prior, drawn once."""

    quick: bool
    seed: int
    past: str
    label: str
    repetition: int = 0


@dataclass(frozen=True, slots=True)
class Study:
    """RMSE against α of one kind of past questions with one prior, by both methods.

    Curves are named "past", "new range", "new counting" and "CV" (of past questions that were
    held back, estimated from noisy answers).
    """

    job: StudyJob
    noisy: float
    unbiased: float
    curves: Mapping[str, Mapping[str, Curve]]  # by method and name
    chosen: Mapping[str, Mapping[str, float]]  # at the cross-validated α, which is "alpha"
    convergence: list[str]
    seconds: float  # of a processor


@dataclass(frozen=True, slots=True)
class Band:
    """The mean of some curves between the least and the largest."""

    alphas: Reals
    mean: Reals
    low: Reals
    high: Reals

    @staticmethod
    def of(curves: Sequence[Curve]) -> Band:
        """On the α of the first curve; the others are read there, straight between their points.

        The grid of shrinkage follows the questions, so it moves a little with every draw of them.
        """
        alphas = np.array([alpha for alpha, _ in curves[0]])
        rows = []
        for curve in curves:
            own, errors = np.array(curve).T
            rows.append(np.interp(np.log(alphas), np.log(own), errors))
        return Band(alphas, np.mean(rows, axis=0), np.min(rows, axis=0), np.max(rows, axis=0))


@dataclass(frozen=True, slots=True)
class Repeated:
    """The same study with fresh questions, fresh noise and a fresh prior each time."""

    runs: Sequence[Study]

    @property
    def past(self) -> str:
        return self.runs[0].job.past

    @property
    def label(self) -> str:
        return self.runs[0].job.label

    @property
    def noisy(self) -> list[float]:
        return [each.noisy for each in self.runs]

    @property
    def unbiased(self) -> list[float]:
        return [each.unbiased for each in self.runs]

    def curves(self, method: str, name: str) -> list[Curve]:
        """The curve of each repetition."""
        return [each.curves[method][name] for each in self.runs]

    def band(self, method: str, name: str) -> Band:
        return Band.of(self.curves(method, name))

    def chosen(self, method: str, name: str) -> list[float]:
        """RMSE at the α that cross-validation chose, in each repetition."""
        return [each.chosen[method][name] for each in self.runs]


@lru_cache(maxsize=1)
def drawn(
    quick: bool, seed: int, repetition: int
) -> tuple[dict[str, History], dict[str, History], Prior]:
    """(past, new, prior) of Fig. 2 and 3: questions of both kinds and the noisy marginals."""
    size, generator = Size.of(quick), np.random.default_rng([seed, 2, repetition])
    past = {kind: History.drawn(kind, size.measured, NOISE, generator) for kind in KINDS}
    new = {kind: History.drawn(kind, size.asked, NOISE, generator) for kind in KINDS}
    return past, new, noisy_prior(generator)


def study(job: StudyJob) -> Study:
    """Everything that Fig. 2 and 3 show of one kind of questions with one prior, drawn once."""
    started = time.process_time()
    size = Size.of(job.quick)
    pasts, new, measured = drawn(job.quick, job.seed, job.repetition)
    history, prior = pasts[job.past], measured if job.label == PRIOR else None
    evidence = history.evidence(prior)
    choice = choose_alpha(evidence)
    # The last but one is as good as unbiased, the last the chosen one.
    path = ShrinkagePath(evidence, [*choice.alphas, _unbiased(evidence), choice.alpha])
    found = {"past": [history.off(values) for values in path.past()]}
    for kind, asked in new.items():
        found[f"new {kind}"] = [asked.off(values) for values in path.new(asked.questions)]
    grid = choice.alphas.tolist()
    shrinkage = {name: _curve(grid, errors[:-2]) for name, errors in found.items()}
    shrinkage["CV"] = _curve(grid, choice.root_mean_squared_errors.tolist())
    chosen = {name: errors[-1] for name, errors in found.items()}
    chosen |= {"alpha": choice.alpha, "CV": math.sqrt(max(choice.least_error, 0.0))}
    unbiased = found["past"][-2]
    del evidence, path

    models = entropy_path(history, prior, size.curve_alphas, size.effort)
    entropy = {"past": _curve(size.curve_alphas, [off(m, history) for m in models])}
    for kind, asked in new.items():
        entropy[f"new {kind}"] = _curve(size.curve_alphas, [off(m, asked) for m in models])
    estimated = cross_validated_entropy(history, prior, size.fold_alphas, size.fold_effort)
    entropy["CV"] = _curve(size.fold_alphas, estimated)
    best, least = min(entropy["CV"], key=lambda point: point[1])
    entropy_chosen = {name: dict(curve)[best] for name, curve in entropy.items()}
    entropy_chosen |= {"alpha": best, "CV": least}
    return Study(
        job,
        history.off(history.noisy),
        unbiased,
        dict(zip(METHODS, (shrinkage, entropy), strict=True)),
        dict(zip(METHODS, (chosen, entropy_chosen), strict=True)),
        [f"α = {a:g}: {m.fit.convergence}" for a, m in zip(size.curve_alphas, models, strict=True)],
        time.process_time() - started,
    )


_studied: dict[tuple[bool, int], list[Repeated]] = {}


def studies(report: Report) -> list[Repeated]:
    """The four studies that Fig. 2 and 3 are drawn from, made once."""
    key = (report.quick, report.seed)
    if key not in _studied:
        jobs = [
            StudyJob(*key, past, label, repetition)
            for repetition in range(Size.of(report.quick).repetitions)
            for past in KINDS
            for label in (PLAIN, PRIOR)
        ]
        done = side_by_side(study, jobs, report.workers)
        for each in done:
            print(
                f"\npast {each.job.past}, {each.job.label}, repetition {each.job.repetition}: "
                f"{each.seconds:.0f} processor seconds"
            )
            print(*(f"  max entropy, {line}" for line in each.convergence), sep="\n")
        _studied[key] = [
            Repeated([each for each in done if (each.job.past, each.job.label) == (past, label)])
            for past in KINDS
            for label in (PLAIN, PRIOR)
        ]
        report.keep("studies", [_kept(each) for each in done])
    return _studied[key]


def side_by_side(work: Callable[[Job], Result], jobs: Sequence[Job], workers: int) -> list[Result]:
    """The results of all jobs, in as many processes as there are workers."""
    if workers == 1:
        return [work(job) for job in jobs]
    # Each process computes on one thread; the others would only wait for each other.
    os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(min(workers, len(jobs)), context) as pool:
        return list(pool.map(work, jobs))


def off(model: EntropyModel, asked: History) -> float:
    """The RMSE of a model's answers."""
    return asked.off(model.answers(asked.questions))


def least(curve: Curve) -> tuple[float, float]:
    """(α, RMSE) where a curve is lowest."""
    return min(curve, key=lambda point: point[1])


def with_spread(values: Sequence[float]) -> str:
    """Mean ± standard deviation over repetitions; the mean alone if there is one."""
    text = f"{np.mean(values):.4g}"
    return f"{text} ± {np.std(values, ddof=1):.2g}" if len(values) > 1 else text


def _curve(alphas: Sequence[float], errors: Sequence[float]) -> Curve:
    return list(zip(alphas, errors, strict=True))


def _unbiased(evidence: Evidence[DenseKernel]) -> float:
    """An α with almost no shrinkage, still resolved by floating point: BLUE."""
    rows = np.abs(evidence.kernel.matrix).sum(axis=1)
    largest = float(rows.max() / evidence.noise.variances.min())
    return 1e5 / math.sqrt(largest)


def _kept(each: Study) -> dict[str, Any]:
    return {
        "past": each.job.past,
        "prior": each.job.label,
        "repetition": each.job.repetition,
        "noisy": each.noisy,
        "BLUE": each.unbiased,
        **{
            method: {"curves": each.curves[method], "chosen": each.chosen[method]}
            for method in METHODS
        },
        "convergence": each.convergence,
    }
