"""HIST Fig. 2, 3 and 4: how close estimates come, against α, m and the noise.

Pictures show means over repetitions between the least and the largest, tables means ± standard
deviations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eke.inference.shrinkage import Factorisation, Shrinkage, choose_alpha
from reproductions.answering.figure import Line, Panel, save_grid
from reproductions.answering.report import Report
from reproductions.hist.noisy_history import NOISE, PLAIN, PRIOR, EntropyModel, History, Size
from reproductions.hist.setting import noisy_prior
from reproductions.hist.studies import (
    KINDS,
    METHODS,
    Band,
    Repeated,
    least,
    off,
    side_by_side,
    studies,
    with_spread,
)

FIGURE_2 = {
    "a": "an appropriate α beats both ends; a prior helps much, kernel PCA most, and its effect "
    "vanishes as α grows",
    "b": "the same for past counting questions",
    "c": "new questions from past ones alone: kernel PCA needs a small α; both still work",
    "d": "the same for new questions of another kind",
}
PANELS = (
    ("a", "range", "past", "past range"),
    ("b", "counting", "past", "past counting"),
    ("c", "range", "new range", "new range, past range"),
    ("d", "range", "new counting", "new counting, past range"),
)


def figure_2(report: Report) -> dict[str, Any]:
    """RMSE of past and new questions against α, and one table at the chosen α."""
    done = studies(report)
    repetitions = len(done[0].runs)
    rows = []
    for each in done:
        for name in ("past", *(f"new {kind}" for kind in KINDS)):
            unaided = ["", ""]
            if name == "past":
                unaided = [with_spread(each.noisy), with_spread(each.unbiased)]
            ours = [with_spread(each.chosen(method, name)) for method in METHODS]
            rows.append([each.past, each.label, name, *unaided, *ours])
    header = ["measured", "prior", "questions", "noisy", "BLUE", *METHODS]
    report.table(
        f"RMSE at the cross-validated α of each method, {repetitions} repetition(s)", header, rows
    )
    report.table(
        "the cross-validated α, the RMSE it promised and the best α in hindsight (past questions)",
        ["measured", "prior", "method", "alpha", "CV estimate", "best alpha", "its RMSE"],
        [
            [each.past, each.label, method, *_promised(each, method)]
            for each in done
            for method in METHODS
        ],
    )
    panels = [
        [_panel(done, past, name, method, f"({letter}) {title}: {method}") for method in METHODS]
        for letter, past, name, title in PANELS
    ]
    save_grid(report.picture("figure2"), panels)
    for letter, past, name, _ in PANELS:
        report.says(f"2{letter}", FIGURE_2[letter], _at_chosen(done, past, name))
    return {"studies": done, "table": rows}


def _promised(each: Repeated, method: str) -> list[str]:
    """(α by cross-validation, its estimate of the RMSE, best α for past questions, its RMSE)."""
    best = [least(curve) for curve in each.curves(method, "past")]
    return [
        _extent(each.chosen(method, "alpha")),
        with_spread(each.chosen(method, "CV")),
        _extent([alpha for alpha, _ in best]),
        with_spread([error for _, error in best]),
    ]


def _at_chosen(done: Sequence[Repeated], past: str, name: str) -> str:
    """Mean RMSE at the cross-validated α, and at both ends of the α tried, in words."""
    parts = []
    for each in done:
        if each.past != past:
            continue
        for method in METHODS:
            curve = each.band(method, name).mean
            ends = f"{curve[0]:.4g} and {curve[-1]:.4g} at the ends"
            parts.append(
                f"{method}, {each.label} {with_spread(each.chosen(method, name))} ({ends})"
            )
    unaided = next(each for each in done if each.past == past)
    noisy = ""
    if name == "past":
        noisy = f"noisy {with_spread(unaided.noisy)}, BLUE {with_spread(unaided.unbiased)}; "
    return f"RMSE at the cross-validated α: {noisy}{'; '.join(parts)}"


def figure_3(report: Report) -> dict[str, Any]:
    """Cross-validated against true RMSE of new range questions."""
    done = [each for each in studies(report) if each.past == "range"]
    panels, rows, regrets = [], [], []
    for method in METHODS:
        lines = []
        marker = "o" if method == METHODS[1] else ""
        for each in done:
            pairs = {"true": "new range", "CV": "CV"}
            found = {name: each.curves(method, curve) for name, curve in pairs.items()}
            best = {name: [least(curve) for curve in curves] for name, curves in found.items()}
            for name, curves in found.items():
                lines.append(_line(f"{each.label}, {name}", Band.of(curves), marker))
                alphas, errors = zip(*best[name], strict=True)
                rows.append([method, each.label, name, _extent(alphas), with_spread(errors)])
            # Both curves of a repetition have the same α, but for those that were too dear for CV.
            at_cv = [
                dict(curve)[alpha]
                for curve, (alpha, _) in zip(found["true"], best["CV"], strict=True)
            ]
            lowest = with_spread([error for _, error in best["true"]])
            regrets.append([method, each.label, with_spread(at_cv), lowest])
        panels.append(Panel(lines, "α", "RMSE", method, xlog=True, ylog=True))
    header = ["method", "prior", "RMSE of new range questions", "alpha", "least RMSE"]
    report.table(
        f"Fig. 3: least RMSE on each curve, {len(done[0].runs)} repetition(s)", header, rows
    )
    report.table(
        "true RMSE of new range questions at the α that CV chose, and the least of all α tried",
        ["method", "prior", "at the α of CV", "least"],
        regrets,
    )
    save_grid(report.picture("figure3"), [panels])
    report.says(
        "3",
        "the curves are almost identical, cross-validation often overestimates; its α usually "
        "minimises the true RMSE, too",
        "; ".join(
            f"{method}, {label}, {name}: least {error} at α = {alpha}"
            for method, label, name, alpha, error in rows
        )
        + ". True RMSE at the α that cross-validation chose: "
        + "; ".join(
            f"{at_cv} ({method}, {label}; least {lowest})"
            for method, label, at_cv, lowest in regrets
        ),
    )
    return {"rows": rows}


@dataclass(frozen=True, slots=True)
class SettingJob:
    """One number of questions and one noise of Fig. 4, drawn once."""

    quick: bool
    seed: int
    number: int
    measured: int
    laplace_scale: float
    repetition: int = 0


def errors_of_setting(job: SettingJob) -> list[float]:
    """RMSE of new range questions: kernel PCA with both priors, then maximum entropy."""
    size = Size.of(job.quick)
    shared = np.random.default_rng([job.seed, 4, job.repetition])
    new = History.drawn("range", size.asked, 1.0, shared)
    prior = noisy_prior(shared)
    generator = np.random.default_rng([job.seed, 4, job.repetition, 1 + job.number])
    history = History.drawn("range", job.measured, job.laplace_scale, generator)
    found = []
    for belief in (None, prior):
        evidence = history.evidence(belief)
        estimator = Shrinkage(Factorisation(evidence), choose_alpha(evidence).alpha)
        found.append(new.off(estimator.estimate(new.questions).values))
    models = [EntropyModel.of(history, belief, 0.01, size.effort) for belief in (None, prior)]
    return [*found, *(off(model, new) for model in models)]


def figure_4(report: Report) -> dict[str, Any]:
    """RMSE of new range questions against the number of measured ones and the noise."""
    size = Size.of(report.quick)
    full, repetitions = size.measured, size.repetitions
    settings = [(m, NOISE) for m in (full // 10, full // 4, full // 2, full)]
    settings += [(full // 2, times * NOISE) for times in (0.1, 0.3, 3.0)]
    jobs = [
        SettingJob(report.quick, report.seed, k, *given, repetition)
        for k, given in enumerate(settings)
        for repetition in range(repetitions)
    ]
    # (settings, repetitions, methods with priors)
    found = np.array(side_by_side(errors_of_setting, jobs, report.workers))
    found = found.reshape(len(settings), repetitions, -1)
    names = [f"{method}, {prior}" for method in METHODS for prior in (PLAIN, PRIOR)]
    rows = [
        [*given, *(with_spread(errors) for errors in by_repetition.T)]
        for given, by_repetition in zip(settings, found, strict=True)
    ]
    report.table(
        f"Fig. 4: RMSE of new range questions, {repetitions} repetition(s)",
        ["m", "b", *names],
        rows,
    )
    _draw_settings(report, names, settings, found)
    report.keep("figure4", {"settings": settings, "errors": found})
    report.says(
        "4",
        "maximum entropy often has the lower RMSE; kernel PCA is comparable with a prior",
        "; ".join(
            f"m = {row[0]}, b = {row[1]:g}: "
            + ", ".join(f"{error} ({name})" for name, error in zip(names, row[2:], strict=True))
            for row in rows
        ),
    )
    return {"settings": settings, "errors": found}


def _draw_settings(
    report: Report,
    names: Sequence[str],
    settings: Sequence[tuple[int, float]],
    found: NDArray[np.float64],
) -> None:
    """Against m at the noise of Fig. 2, and against the noise at half its questions."""
    half = settings[2][0]
    panels = []
    for column, (title, xlabel, part) in enumerate(
        [("b as in Fig. 2", "m", (0, 1, 2, 3)), (f"m = {half}", "b", (2, 4, 5, 6))]
    ):
        places = sorted(part, key=lambda place: settings[place][column])
        x = [settings[place][column] for place in places]
        errors = found[places]
        lines = [
            Line(
                name,
                x,
                errors[:, :, k].mean(axis=1),
                "o",
                low=errors[:, :, k].min(axis=1),
                high=errors[:, :, k].max(axis=1),
            )
            for k, name in enumerate(names)
        ]
        panels.append(Panel(lines, xlabel, "RMSE", title, xlog=column == 1, ylog=True))
    save_grid(report.picture("figure4"), [panels])


def _extent(values: Sequence[float]) -> str:
    """From the least to the largest, to three digits."""
    low, high = f"{min(values):.3g}", f"{max(values):.3g}"
    return low if low == high else f"{low} to {high}"


def _line(label: str, band: Band, marker: str = "") -> Line:
    return Line(label, band.alphas, band.mean, marker, low=band.low, high=band.high)


def _panel(done: Sequence[Repeated], past: str, name: str, method: str, title: str) -> Panel:
    """One method's RMSE against its α; the α of both methods have nothing in common."""
    lines = []
    for each in done:
        if each.past != past:
            continue
        band = each.band(method, name)
        lines.append(_line(each.label, band, "o" if method == METHODS[1] else ""))
        if name == "past" and each.label == PLAIN:  # neither depends on the prior
            ends = band.alphas[[0, -1]]
            for label, errors in (("noisy answers", each.noisy), ("BLUE", each.unbiased)):
                least_most = ([min(errors)] * 2, [max(errors)] * 2)
                lines.append(
                    Line(
                        label,
                        ends,
                        [float(np.mean(errors))] * 2,
                        low=least_most[0],
                        high=least_most[1],
                    )
                )
    return Panel(lines, "α", "RMSE", title, xlog=True, ylog=True)
