"""HIST Fig. 2, 3 and 4: how close estimates come, against α, m and the noise."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eke.inference.features import Features, TableGroup
from eke.inference.max_entropy import Effort, Fit, constraints_of, fit_max_entropy
from eke.inference.shrinkage import Evidence, Noise, Shrinkage, ShrinkagePath, choose_alpha
from eke.privacy.law import Laplace
from eke.query import Prior
from reproductions.answering.experiment import SEED
from reproductions.answering.figure import Line, Panel, save_grid
from reproductions.answering.report import Report
from reproductions.hist.setting import (
    census,
    model_answers,
    noisy_prior,
    pairs,
    random_questions,
    root_mean_square,
    true_answers,
)

Reals = NDArray[np.float64]
PLAIN, PRIOR = "uniform prior", "0.02-DP prior"
NOISE = 5000.0  # the scale b of the noise
EXACT_CELLS = 2**16  # larger models are sampled, so that the figures show one method


@dataclass(frozen=True, slots=True)
class Size:
    """How large the experiments are."""

    measured: int
    asked: int
    chains: int
    entropy_alphas: tuple[float, ...]
    folds_alphas: tuple[float, ...]

    @staticmethod
    def of(quick: bool) -> Size:
        if quick:
            return Size(300, 200, 1024, (3e-3, 3e-2), (3e-3, 3e-2))
        return Size(5000, 2000, 8192, (1e-3, 3e-3, 1e-2, 3e-2), (3e-3, 1e-2, 3e-2))


@dataclass(frozen=True, slots=True, eq=False)
class History:
    """Questions with true and noisy answers."""

    questions: Features
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

    def evidence(self, prior: Prior | None) -> Evidence:
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
        questions = Features(census().domain, groups=[g for g in groups if len(g.rows)])
        return History(questions, self.truth[rows], self.noisy[rows], self.laplace_scale)


def max_entropy(
    history: History,
    prior: Prior | None,
    alpha: float,
    size: Size,
    *,
    start: Fit | None = None,
    seed: int = SEED,
) -> tuple[Fit, dict[tuple[str, ...], Reals]]:
    """(fit, pair marginals) of the maximum entropy model."""
    laws = [Laplace(history.laplace_scale)] * len(history.noisy)
    constraints = constraints_of(
        history.questions, history.noisy, laws, total=float(census().total), alpha=alpha
    )
    fit = fit_max_entropy(
        constraints,
        prior,
        generator=np.random.default_rng(seed),
        effort=Effort(size.chains),
        exact_cells=EXACT_CELLS,
        start=start,
    )
    return fit, {pair: fit.distribution.marginal(pair).reshape(-1) for pair in pairs()}


def figure_2(report: Report) -> dict[str, Any]:
    """RMSE of past and new questions against α, and one table at the chosen α."""
    size, total = Size.of(report.quick), census().total
    generator = np.random.default_rng([report.seed, 2])
    laplace_scale = NOISE  # the sensitivity of 5,000 questions is at most 5,000, so ε = 1
    ranges = History.drawn("range", size.measured, laplace_scale, generator)
    counts = History.drawn("counting", size.measured, laplace_scale, generator)
    new = {
        kind: History.drawn(kind, size.asked, laplace_scale, generator)
        for kind in ("range", "counting")
    }
    priors = {PLAIN: None, PRIOR: noisy_prior(generator)}
    curves: dict[str, dict[str, list[tuple[float, float]]]] = {p: {} for p in "abcd"}
    chosen: list[list[object]] = []
    for panel, history in (("a", ranges), ("b", counts)):
        for label, prior in priors.items():
            evidence = history.evidence(prior)
            choice = choose_alpha(evidence)
            # The last but one is as good as unbiased, the last the chosen one.
            path = ShrinkagePath(evidence, [*choice.alphas, _unbiased(evidence), choice.alpha])
            name, past = f"kernel PCA, {label}", path.past()
            curves[panel][name] = _curve(choice.alphas, past[:-2], history.truth)
            entry: list[object] = [panel, label, _off(history.noisy, history.truth)]
            entry += [_off(past[-2], history.truth), _off(past[-1], history.truth)]
            if panel == "a":
                for to, kind in (("c", "range"), ("d", "counting")):
                    found = path.new(new[kind].questions)
                    curves[to][name] = _curve(choice.alphas, found[:-2], new[kind].truth)
            entry.append(
                _entropy_curves(
                    curves, panel, label=label, history=history, prior=prior, new=new, size=size
                )
            )
            chosen.append([*entry, choice.alpha, choice.least_error**0.5])
            print(f"\nFig. 2{panel}, {label}: done", flush=True)
    header = ["panel", "prior", "noisy", "BLUE", "shrinkage", "max entropy", "alpha", "CV estimate"]
    report.table(
        "Fig. 2: RMSE of past questions, shrinkage at the cross-validated α", header, chosen
    )
    for panel, lines in curves.items():
        best = [[n, *min(points, key=lambda p: p[1])] for n, points in lines.items()]
        report.table(f"Fig. 2{panel}: least RMSE on the curve", ["method", "alpha", "RMSE"], best)
    titles = {
        "a": "(a) past range",
        "b": "(b) past counting",
        "c": "(c) new range, past range",
        "d": "(d) new counting, past range",
    }
    panels = [_panel(curves[p], titles[p]) for p in "abcd"]
    save_grid(report.picture("figure2"), [panels[:2], panels[2:]])
    result = {"curves": curves, "chosen": chosen, "records": total}
    report.keep("figure2", result)
    return result


def figure_3(report: Report) -> dict[str, Any]:
    """Cross-validated against true RMSE of new range questions."""
    size = Size.of(report.quick)
    generator = np.random.default_rng([report.seed, 3])
    history = History.drawn("range", size.measured, NOISE, generator)
    new = History.drawn("range", size.asked, 1.0, generator)
    lines: dict[str, list[tuple[float, float]]] = {}
    for label, prior in ((PLAIN, None), (PRIOR, noisy_prior(generator))):
        evidence = history.evidence(prior)
        choice = choose_alpha(evidence)
        found = ShrinkagePath(evidence, choice.alphas).new(new.questions)
        lines[f"kernel PCA, {label}: true"] = _curve(choice.alphas, found, new.truth)
        lines[f"kernel PCA, {label}: CV"] = list(
            zip(choice.alphas.tolist(), choice.root_mean_squared_errors.tolist(), strict=True)
        )
        true, estimated = _entropy_folds(history, new, prior, size)
        lines[f"max entropy, {label}: true"] = true
        lines[f"max entropy, {label}: CV"] = estimated
    rows = [[n, *min(points, key=lambda p: p[1])] for n, points in lines.items()]
    report.table("Fig. 3: least RMSE on each curve", ["curve", "alpha", "RMSE"], rows)
    chosen = {n: p for n, p in lines.items() if n.startswith("kernel")}
    others = {n: p for n, p in lines.items() if n.startswith("max")}
    panels = [_panel(chosen, "kernel PCA"), _panel(others, "max entropy")]
    save_grid(report.picture("figure3"), [panels])
    report.keep("figure3", lines)
    return {"lines": lines}


def figure_4(report: Report) -> dict[str, Any]:
    """RMSE of new range questions against the number of measured ones and the noise."""
    size = Size.of(report.quick)
    generator = np.random.default_rng([report.seed, 4])
    new = History.drawn("range", size.asked, 1.0, generator)
    prior = noisy_prior(generator)
    full = size.measured
    settings = [(m, NOISE) for m in (full // 10, full // 4, full // 2, full)]
    settings += [(full // 2, times * NOISE) for times in (0.1, 0.3, 3.0)]
    rows: list[list[object]] = []
    for m, laplace_scale in settings:
        history = History.drawn("range", m, laplace_scale, generator)
        entry: list[object] = [m, laplace_scale]
        for belief in (None, prior):
            evidence = history.evidence(belief)
            choice = choose_alpha(evidence)
            found = Shrinkage(evidence, choice.alpha).estimate(new.questions).values
            entry.append(_off(found, new.truth))
        for belief in (None, prior):
            _, marginals = max_entropy(history, belief, 0.01, size)
            found = census().total * model_answers(new.questions, marginals)
            entry.append(_off(found, new.truth))
        rows.append(entry)
    names = [f"{m}, {p}" for m in ("kernel PCA", "max entropy") for p in (PLAIN, PRIOR)]
    report.table("Fig. 4: RMSE of new range questions", ["m", "b", *names], rows)
    panels = []
    for column, (title, xlabel, part) in enumerate(
        [("b as in Fig. 2", "m", rows[:4]), (f"m = {full // 2}", "b", [rows[2], *rows[4:]])]
    ):
        ordered = sorted(part, key=lambda entry: float(str(entry[column])))
        x = [float(str(entry[column])) for entry in ordered]
        lines = [
            Line(name, x, [float(str(entry[2 + k])) for entry in ordered], "o")
            for k, name in enumerate(names)
        ]
        panels.append(Panel(lines, xlabel, "RMSE", title, xlog=True, ylog=True))
    save_grid(report.picture("figure4"), [panels])
    report.keep("figure4", rows)
    return {"rows": rows}


def _entropy_curves(
    curves: dict[str, dict[str, list[tuple[float, float]]]],
    panel: str,
    *,
    label: str,
    history: History,
    prior: Prior | None,
    new: dict[str, History],
    size: Size,
) -> float:
    """Fill in the curves of maximum entropy; the least RMSE of past questions on its own."""
    total, fit, name = census().total, None, f"max entropy, {label}"
    targets = [(panel, history)]
    targets += [("c", new["range"]), ("d", new["counting"])] if panel == "a" else []
    for alpha in size.entropy_alphas:
        fit, marginals = max_entropy(history, prior, alpha, size, start=fit)
        for to, asked in targets:
            off = _off(total * model_answers(asked.questions, marginals), asked.truth)
            curves[to].setdefault(name, []).append((alpha, off))
    return min(off for _, off in curves[panel][name])


def _entropy_folds(
    history: History, new: History, prior: Prior | None, size: Size
) -> tuple[list[tuple[float, float]], list[tuple[float, float]]]:
    """(true, cross-validated) RMSE of maximum entropy against α (HIST §3.5 serves both methods)."""
    total, folds = census().total, 5
    sums = dict.fromkeys(size.folds_alphas, 0.0)
    for fold in range(folds):
        test = np.arange(fold, len(history.noisy), folds)
        train = np.setdiff1d(np.arange(len(history.noisy)), test)
        fit, held = None, history.part(test)
        for alpha in size.folds_alphas:
            fit, marginals = max_entropy(history.part(train), prior, alpha, size, start=fit)
            found = total * model_answers(held.questions, marginals)
            errors = (found - held.noisy) ** 2 - 2.0 * history.laplace_scale**2
            sums[alpha] += float(errors.sum())
    estimated = [(a, math.sqrt(max(s / len(history.noisy), 0.0))) for a, s in sums.items()]
    true, fit = [], None
    for alpha in size.folds_alphas:
        fit, marginals = max_entropy(history, prior, alpha, size, start=fit)
        found = total * model_answers(new.questions, marginals)
        true.append((alpha, _off(found, new.truth)))
    return true, estimated


def _curve(alphas: Reals, found: Reals, truth: Reals) -> list[tuple[float, float]]:
    return [(float(a), _off(values, truth)) for a, values in zip(alphas, found, strict=True)]


def _off(found: Reals, truth: Reals) -> float:
    return root_mean_square(found - truth)


def _unbiased(evidence: Evidence) -> float:
    """An α with almost no shrinkage, still resolved by floating point: BLUE."""
    largest = float(np.abs(evidence.kernel).sum(axis=1).max() / evidence.noise.variances.min())
    return 1e5 / math.sqrt(largest)


def _panel(lines: dict[str, list[tuple[float, float]]], title: str) -> Panel:
    drawn = [Line(n, [p[0] for p in points], [p[1] for p in points]) for n, points in lines.items()]
    return Panel(drawn, "α", "RMSE", title, xlog=True, ylog=True)
