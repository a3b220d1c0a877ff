"""HIST Fig. 2, 3 and 4: how close estimates come, against α, m and the noise."""

from __future__ import annotations

import math
import multiprocessing
import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeVar

import numpy as np

from eke.inference.shrinkage import (
    DenseKernel,
    Evidence,
    Factorisation,
    Shrinkage,
    choose_alpha,
)
from eke.query import Prior
from reproductions.answering.figure import Line, Panel, save_grid
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
Job = TypeVar("Job")
Result = TypeVar("Result")
FIGURE_2 = {
    "a": "an appropriate α beats both ends; a prior helps much, kernel PCA most, and its effect "
    "vanishes as α grows",
    "b": "the same for past counting questions",
    "c": "new questions from past ones alone: kernel PCA needs a small α; both still work",
    "d": "the same for new questions of another kind",
}
KINDS = ("range", "counting")
METHODS = ("kernel PCA", "max entropy")


@dataclass(frozen=True, slots=True)
class StudyJob:
    """One kind of past questions, with one prior."""

    quick: bool
    seed: int
    past: str
    label: str


@dataclass(frozen=True, slots=True)
class Study:
    """RMSE against α of one kind of past questions with one prior, by both methods.

    Curves are named "past", "new range", "new counting" and "CV" (of past questions that were
    held back, estimated from noisy answers).
    """

    job: StudyJob
    noisy: float
    unbiased: float
    shrinkage: dict[str, Curve]
    shrinkage_chosen: dict[str, float]  # at the cross-validated α, which is "alpha"
    entropy: dict[str, Curve]
    entropy_chosen: dict[str, float]
    convergence: list[str]
    seconds: float  # of a processor

    def curves(self, method: str) -> dict[str, Curve]:
        return self.shrinkage if method == METHODS[0] else self.entropy


@lru_cache(maxsize=1)
def drawn(quick: bool, seed: int) -> tuple[dict[str, History], dict[str, History], Prior]:
    """(past, new, prior) of Fig. 2 and 3: questions of both kinds and the noisy marginals."""
    size, generator = Size.of(quick), np.random.default_rng([seed, 2])
    past = {kind: History.drawn(kind, size.measured, NOISE, generator) for kind in KINDS}
    new = {kind: History.drawn(kind, size.asked, NOISE, generator) for kind in KINDS}
    return past, new, noisy_prior(generator)


def study(job: StudyJob) -> Study:
    """Everything that Fig. 2 and 3 show of one kind of questions with one prior."""
    started = time.process_time()
    size = Size.of(job.quick)
    pasts, new, measured = drawn(job.quick, job.seed)
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
    entropy = {"past": _curve(size.curve_alphas, [_off(m, history) for m in models])}
    for kind, asked in new.items():
        entropy[f"new {kind}"] = _curve(size.curve_alphas, [_off(m, asked) for m in models])
    estimated = cross_validated_entropy(history, prior, size.fold_alphas, size.fold_effort)
    entropy["CV"] = _curve(size.fold_alphas, estimated)
    best, least = min(entropy["CV"], key=lambda point: point[1])
    entropy_chosen = {name: dict(curve)[best] for name, curve in entropy.items()}
    entropy_chosen |= {"alpha": best, "CV": least}
    return Study(
        job,
        history.off(history.noisy),
        unbiased,
        shrinkage,
        chosen,
        entropy,
        entropy_chosen,
        [f"α = {a:g}: {m.fit.convergence}" for a, m in zip(size.curve_alphas, models, strict=True)],
        time.process_time() - started,
    )


_studied: dict[tuple[bool, int], list[Study]] = {}


def studies(report: Report) -> list[Study]:
    """The four studies that Fig. 2 and 3 are drawn from, made once."""
    key = (report.quick, report.seed)
    if key not in _studied:
        jobs = [StudyJob(*key, past, label) for past in KINDS for label in (PLAIN, PRIOR)]
        _studied[key] = side_by_side(study, jobs, report.workers)
        for each in _studied[key]:
            print(f"\npast {each.job.past}, {each.job.label}: {each.seconds:.0f} processor seconds")
            print(*(f"  max entropy, {line}" for line in each.convergence), sep="\n")
        report.keep("studies", [_kept(each) for each in _studied[key]])
    return _studied[key]


def figure_2(report: Report) -> dict[str, Any]:
    """RMSE of past and new questions against α, and one table at the chosen α."""
    done = studies(report)
    rows = []
    for each in done:
        names = ["past", *(f"new {kind}" for kind in KINDS)]
        for name in names:
            unaided = [each.noisy, each.unbiased] if name == "past" else ["", ""]
            ours = [each.shrinkage_chosen[name], each.entropy_chosen[name]]
            rows.append([each.job.past, each.job.label, name, *unaided, *ours])
    header = ["measured", "prior", "questions", "noisy", "BLUE", "shrinkage", "max entropy"]
    report.table("RMSE at the cross-validated α of each method", header, rows)
    report.table(
        "the cross-validated α, the RMSE it promised and the best α in hindsight (past questions)",
        ["measured", "prior", "method", "alpha", "CV estimate", "best alpha", "its RMSE"],
        [
            [each.job.past, each.job.label, method, chosen["alpha"], chosen["CV"], *_least(curves)]
            for each in done
            for method, chosen, curves in (
                (METHODS[0], each.shrinkage_chosen, each.shrinkage["past"]),
                (METHODS[1], each.entropy_chosen, each.entropy["past"]),
            )
        ],
    )
    panels = [
        [_panel(done, past, name, method, f"({letter}) {title}: {method}") for method in METHODS]
        for letter, past, name, title in (
            ("a", "range", "past", "past range"),
            ("b", "counting", "past", "past counting"),
            ("c", "range", "new range", "new range, past range"),
            ("d", "range", "new counting", "new counting, past range"),
        )
    ]
    save_grid(report.picture("figure2"), panels)
    for letter, past, name in (
        ("a", "range", "past"),
        ("b", "counting", "past"),
        ("c", "range", "new range"),
        ("d", "range", "new counting"),
    ):
        report.says(f"2{letter}", FIGURE_2[letter], _at_chosen(done, past, name))
    return {"studies": done, "table": rows}


def _at_chosen(done: Sequence[Study], past: str, name: str) -> str:
    """RMSE at the cross-validated α, and at both ends of the α tried, in words."""
    parts = []
    for each in done:
        if each.job.past != past:
            continue
        for method, chosen in (
            (METHODS[0], each.shrinkage_chosen),
            (METHODS[1], each.entropy_chosen),
        ):
            curve = each.curves(method)[name]
            ends = f"{curve[0][1]:.4g} and {curve[-1][1]:.4g} at the ends"
            parts.append(f"{method}, {each.job.label} {chosen[name]:.4g} ({ends})")
    unaided = next(each for each in done if each.job.past == past)
    noisy = f"noisy {unaided.noisy:.4g}, BLUE {unaided.unbiased:.4g}; " if name == "past" else ""
    return f"RMSE at the cross-validated α: {noisy}{'; '.join(parts)}"


def figure_3(report: Report) -> dict[str, Any]:
    """Cross-validated against true RMSE of new range questions."""
    done = [each for each in studies(report) if each.job.past == "range"]
    panels, rows = [], []
    for title in METHODS:
        lines = []
        for each in done:
            curves = each.curves(title)
            for name, curve in (("true", curves["new range"]), ("CV", curves["CV"])):
                marker = "o" if title == METHODS[1] else ""
                lines.append(_line(f"{each.job.label}, {name}", curve, marker))
                rows.append([title, each.job.label, name, *_least(curve)])
        panels.append(Panel(lines, "α", "RMSE", title, xlog=True, ylog=True))
    header = ["method", "prior", "RMSE of new range questions", "alpha", "least RMSE"]
    report.table("Fig. 3: least RMSE on each curve", header, rows)
    save_grid(report.picture("figure3"), [panels])
    report.says(
        "3",
        "the curves are almost identical, cross-validation often overestimates; its α usually "
        "minimises the true RMSE, too",
        "; ".join(
            f"{title}, {label}, {name}: {least:.4g} at α = {alpha:.3g}"
            for title, label, name, alpha, least in rows
        ),
    )
    return {"rows": rows}


@dataclass(frozen=True, slots=True)
class SettingJob:
    """One number of questions and one noise of Fig. 4."""

    quick: bool
    seed: int
    number: int
    measured: int
    laplace_scale: float


def errors_of_setting(job: SettingJob) -> list[float]:
    """RMSE of new range questions: kernel PCA with both priors, then maximum entropy."""
    size = Size.of(job.quick)
    shared = np.random.default_rng([job.seed, 4])
    new = History.drawn("range", size.asked, 1.0, shared)
    prior = noisy_prior(shared)
    generator = np.random.default_rng([job.seed, 4, job.number])
    history = History.drawn("range", job.measured, job.laplace_scale, generator)
    found = []
    for belief in (None, prior):
        evidence = history.evidence(belief)
        estimator = Shrinkage(Factorisation(evidence), choose_alpha(evidence).alpha)
        found.append(new.off(estimator.estimate(new.questions).values))
    models = [EntropyModel.of(history, belief, 0.01, size.effort) for belief in (None, prior)]
    return [*found, *(_off(model, new) for model in models)]


def figure_4(report: Report) -> dict[str, Any]:
    """RMSE of new range questions against the number of measured ones and the noise."""
    full = Size.of(report.quick).measured
    settings = [(m, NOISE) for m in (full // 10, full // 4, full // 2, full)]
    settings += [(full // 2, times * NOISE) for times in (0.1, 0.3, 3.0)]
    jobs = [SettingJob(report.quick, report.seed, k, *given) for k, given in enumerate(settings)]
    found = side_by_side(errors_of_setting, jobs, report.workers)
    rows = [[*given, *errors] for given, errors in zip(settings, found, strict=True)]
    names = [f"{m}, {p}" for m in METHODS for p in (PLAIN, PRIOR)]
    report.table("Fig. 4: RMSE of new range questions", ["m", "b", *names], rows)
    _draw_settings(report, names, rows, full)
    report.keep("figure4", rows)
    report.says(
        "4",
        "maximum entropy often has the lower RMSE; kernel PCA is comparable with a prior",
        "; ".join(
            f"m = {row[0]}, b = {row[1]:g}: "
            + ", ".join(f"{value:.4g} ({name})" for name, value in zip(names, row[2:], strict=True))
            for row in rows
        ),
    )
    return {"rows": rows}


def _draw_settings(
    report: Report, names: Sequence[str], rows: Sequence[Sequence[float]], full: int
) -> None:
    panels = []
    for column, (title, xlabel, part) in enumerate(
        [("b as in Fig. 2", "m", rows[:4]), (f"m = {full // 2}", "b", [rows[2], *rows[4:]])]
    ):
        ordered = sorted(part, key=lambda row: row[column])
        x = [row[column] for row in ordered]
        lines = [
            Line(name, x, [row[2 + k] for row in ordered], "o") for k, name in enumerate(names)
        ]
        panels.append(Panel(lines, xlabel, "RMSE", title, xlog=column == 1, ylog=True))
    save_grid(report.picture("figure4"), [panels])


def side_by_side(work: Callable[[Job], Result], jobs: Sequence[Job], workers: int) -> list[Result]:
    """The results of all jobs, in as many processes as there are workers."""
    if workers == 1:
        return [work(job) for job in jobs]
    # Each process computes on one thread; the others would only wait for each other.
    os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(min(workers, len(jobs)), context) as pool:
        return list(pool.map(work, jobs))


def _off(model: EntropyModel, asked: History) -> float:
    return asked.off(model.answers(asked.questions))


def _curve(alphas: Sequence[float], errors: Sequence[float]) -> Curve:
    return list(zip(alphas, errors, strict=True))


def _least(curve: Curve) -> tuple[float, float]:
    return min(curve, key=lambda point: point[1])


def _unbiased(evidence: Evidence[DenseKernel]) -> float:
    """An α with almost no shrinkage, still resolved by floating point: BLUE."""
    rows = np.abs(evidence.kernel.matrix).sum(axis=1)
    largest = float(rows.max() / evidence.noise.variances.min())
    return 1e5 / math.sqrt(largest)


def _line(label: str, curve: Curve, marker: str = "") -> Line:
    return Line(label, [point[0] for point in curve], [point[1] for point in curve], marker)


def _panel(done: Sequence[Study], past: str, name: str, method: str, title: str) -> Panel:
    """One method's RMSE against its α; the α of both methods have nothing in common."""
    lines = []
    for each in done:
        if each.job.past != past:
            continue
        curve = each.curves(method)[name]
        lines.append(_line(each.job.label, curve, "o" if method == METHODS[1] else ""))
        if name == "past":
            ends = [curve[0][0], curve[-1][0]]
            lines.append(Line("noisy answers", ends, [each.noisy] * 2))
            lines.append(Line("BLUE", ends, [each.unbiased] * 2))
    return Panel(lines, "α", "RMSE", title, xlog=True, ylog=True)


def _kept(each: Study) -> dict[str, Any]:
    return {
        "past": each.job.past,
        "prior": each.job.label,
        "noisy": each.noisy,
        "BLUE": each.unbiased,
        "kernel PCA": {"curves": each.shrinkage, "chosen": each.shrinkage_chosen},
        "max entropy": {"curves": each.entropy, "chosen": each.entropy_chosen},
        "convergence": each.convergence,
    }
