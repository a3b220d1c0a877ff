"""HIST Fig. 5, 6 and 7: running time, joint distributions and range questions of published data."""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from eke.inference.features import HistoryFeatures
from eke.inference.max_entropy import SamplingEffort, constraints_of, fit_max_entropy
from eke.inference.shrinkage import Factorisation, Shrinkage, choose_alpha
from eke.privacy.law import Laplace
from eke.query import marginal
from reproductions.answering.figure import Line, Panel, save_grid
from reproductions.answering.report import Report
from reproductions.hist.noisy_history import NOISE, EntropyModel, History, Size
from reproductions.hist.randomised import Flipping, Retention
from reproductions.hist.setting import census, labels, pairs, root_mean_square

Reals = NDArray[np.float64]
METHODS = ("max entropy", "retention replacement", "flipping")
EPSILON = 1.0
_SMALL_DOMAIN = 10  # values; "small" in the paper's sentence on Fig. 6


def figure_5(report: Report) -> dict[str, Any]:
    """Seconds of both methods against the number of questions."""
    size = Size.of(report.quick)
    generator = np.random.default_rng([report.seed, 5])
    rows: list[list[float]] = []
    for share in (0.1, 0.2, 0.5, 1.0):
        m = int(share * size.measured)
        history = History.drawn("range", m, NOISE, generator)
        started = time.process_time()
        evidence = history.evidence(None)
        Shrinkage(Factorisation(evidence), 1e5).estimate(history.questions)
        kernel = time.process_time() - started
        choose_alpha(evidence)
        scan = time.process_time() - started
        started = time.process_time()
        EntropyModel.of(history, None, 0.01, size.effort)
        rows.append([float(m), kernel, scan, time.process_time() - started])
    names = ["kernel PCA", "kernel PCA and the choice of α", METHODS[0]]
    report.table("Fig. 5: processor seconds", ["m", *names], rows)
    x = [row[0] for row in rows]
    lines = [Line(name, x, [row[k] for row in rows], "o") for k, name in enumerate(names, 1)]
    panel = Panel(lines, "m", "processor seconds", "", xlog=True, ylog=True)
    save_grid(report.picture("figure5"), [[panel]])
    report.keep("figure5", rows)
    report.says(
        "5",
        "kernel PCA is inapplicable with too many questions; neither time depends on the data",
        f"for m = {', '.join(f'{row[0]:.0f}' for row in rows)}: "
        + "; ".join(
            f"{name} {', '.join(f'{row[k]:.3g}' for row in rows)} s"
            for k, name in enumerate(names, 1)
        ),
    )
    return {"rows": rows}


class Published:
    """One publication by each method, at ε = 1 (γ = e for the randomised responses)."""

    def __init__(self, report: Report) -> None:
        generator = np.random.default_rng([report.seed, 6])
        data = census()
        self.domain = data.domain
        blocks = [marginal(*pair).on(data.domain) for pair in pairs()]
        exact = np.concatenate([data.counts(pair) for pair in pairs()])
        laplace_scale = len(blocks) / EPSILON
        noisy = exact + generator.laplace(0.0, laplace_scale, len(exact))
        constraints = constraints_of(
            HistoryFeatures.of(data.domain, blocks),
            noisy,
            [Laplace(laplace_scale)] * len(exact),
            total=float(data.total),
            alpha=0.002,
        )
        effort = SamplingEffort(
            2048 if report.quick else 16384, most_steps=10 if report.quick else 16
        )
        started = time.process_time()
        fit = fit_max_entropy(constraints, generator=generator, effort=effort)
        self.seconds = time.process_time() - started
        self.convergence = str(fit.convergence)
        self.records = fit.distribution
        self.rows = fit.distribution.sample(8 * effort.chains, generator)
        self.retention = Retention(data, EPSILON, generator)
        self.flipping = Flipping(data, EPSILON, generator)

    def joints(self, attributes: Sequence[str]) -> list[Reals]:
        """The estimated joint distribution by each method, flat."""
        return [
            self.records.marginal(attributes).reshape(-1),
            self.retention.joint(attributes),
            self.flipping.joint(attributes),
        ]


def figures_6_and_7(report: Report) -> dict[str, Any]:
    """Errors of bivariate and trivariate joints (eq. 42), and RMSE of k-D range questions."""
    published = Published(report)
    print(f"\nmax entropy, all pairs: {published.seconds:.1f} s; {published.convergence}")

    data = census()
    result: dict[str, Any] = {}
    triples = list(combinations(data.domain.names, 3))
    for title, sets in (
        ("bivariate", pairs()),
        ("trivariate", triples[:: 12 if report.quick else 1]),
    ):
        errors = []
        for attributes in sets:
            truth = data.counts(attributes) / data.total
            found = published.joints(attributes)
            errors.append([min(float(np.abs(f - truth).sum()), 1.0) for f in found])
        table = np.array(errors)
        report.table(
            f"Fig. 6: {title} error, truncated at 1, over {len(sets)} joints",
            ["method", "mean", "median", "largest"],
            [
                [m, float(e.mean()), float(np.median(e)), float(e.max())]
                for m, e in zip(METHODS, table.T, strict=True)
            ],
        )
        result[title] = {"sets": [list(s) for s in sets], "errors": table}
    _draw_joints(report, result)
    _say_joints(report, result)
    result["ranges"] = _ranges(report, published)
    report.keep("figure6", result)
    return result


def _say_joints(report: Report, result: dict[str, Any]) -> None:
    sizes = dict(zip(census().domain.names, census().domain.shape, strict=True))
    statements = {
        "bivariate": "maximum entropy is best in all cases; randomised responses behave well only "
        "where domains are small",
        "trivariate": "randomised responses mean nothing any more, maximum entropy is reasonable",
    }
    for letter, (kind, paper) in zip("ab", statements.items(), strict=True):
        sets, errors = result[kind]["sets"], np.asarray(result[kind]["errors"])
        means = ", ".join(f"{m} {e:.3f}" for m, e in zip(METHODS, errors.mean(axis=0), strict=True))
        best = int((errors[:, 0] <= errors[:, 1:].min(axis=1)).sum())
        small = np.array([max(sizes[name] for name in names) <= _SMALL_DOMAIN for names in sets])
        tops = (int((column >= 1.0).sum()) for column in errors.T)
        cut = ", ".join(f"{top} ({m})" for m, top in zip(METHODS, tops, strict=True))
        here = (
            f"mean error (eq. 42, cut at 1) over {len(sets)} joints: {means}; maximum entropy is "
            f"best in "
            f"{best}; cut at 1: {cut}"
        )
        if small.any():
            among = ", ".join(f"{e:.3f}" for e in errors[small].mean(axis=0))
            here += f". Where all have at most {_SMALL_DOMAIN} values ({small.sum()}): {among}"
        report.says(f"6{letter}", paper, here)


def _ranges(report: Report, published: Published) -> list[list[float]]:
    generator = np.random.default_rng([report.seed, 7])
    data, number = census(), 20 if report.quick else 100
    rows: list[list[float]] = []
    for k in range(1, min(5, len(data.domain)) + 1):
        off: list[list[float]] = []
        for _ in range(number):
            chosen = sorted(generator.choice(len(data.domain), k, replace=False))
            vectors = {}
            for column in chosen:
                low, high = sorted(generator.integers(0, data.domain.shape[column], 2))
                inside = np.zeros(data.domain.shape[column])
                inside[low : high + 1] = 1.0
                vectors[int(column)] = inside
            truth = _mean(data.codes, vectors)
            found = [
                _mean(published.rows, vectors),
                published.retention.range_share(vectors),
                published.flipping.range_share(vectors),
            ]
            off.append([data.total * (value - truth) for value in found])
        errors = np.array(off)
        rows.append([float(k), *(root_mean_square(column) for column in errors.T)])
    report.table("Fig. 7: RMSE of random k-D range questions", ["k", *METHODS], rows)
    lines = [
        Line(m, [r[0] for r in rows], [r[1 + i] for r in rows], "o") for i, m in enumerate(METHODS)
    ]
    save_grid(report.picture("figure7"), [[Panel(lines, "k", "RMSE", "", ylog=True)]])
    report.says(
        "7",
        "maximum entropy has a remarkable advantage for random k-D ranges",
        f"RMSE for k = 1 to {len(rows)}, "
        + "; ".join(
            f"{m} {', '.join(f'{row[1 + i]:.3g}' for row in rows)}" for i, m in enumerate(METHODS)
        ),
    )
    return rows


def _mean(codes: NDArray[np.int64], vectors: dict[int, Reals]) -> float:
    product = np.ones(len(codes))
    for column, vector in vectors.items():
        product *= vector[codes[:, column]]
    return float(product.mean())


def _draw_joints(report: Report, result: dict[str, Any]) -> None:
    """Pairs as squares; triples as a row for each pair and a column for the third attribute."""
    letters, names = labels(), list(census().domain.names)
    size = len(letters)
    couples = list(combinations(range(size), 2))
    figure = Figure(figsize=(9.0, 10.5), layout="constrained")
    charts = figure.subplots(2, 3, height_ratios=[1, 2.6])
    image = None
    for row, kind in enumerate(("bivariate", "trivariate")):
        errors = np.asarray(result[kind]["errors"])
        for chart, method, column in zip(charts[row], METHODS, errors.T, strict=True):
            grid = np.full((size if row == 0 else len(couples), size), np.nan)
            for chosen, value in zip(result[kind]["sets"], column, strict=True):
                places = [names.index(name) for name in chosen]
                for last in places:
                    rest = [place for place in places if place != last]
                    line = rest[0] if row == 0 else couples.index((rest[0], rest[1]))
                    grid[line, last] = value
            image = chart.imshow(grid, vmin=0.0, vmax=1.0, cmap="Greys", aspect="auto")
            chart.set_facecolor("#cfe3f5")
            chart.set_xticks(range(size), letters, fontsize=7)
            marks = letters if row == 0 else [letters[i] + letters[j] for i, j in couples]
            chart.set_yticks(range(len(marks)), marks, fontsize=7 if row == 0 else 6)
            chart.set_title(f"({'ab'[row]}) {method}: mean {np.mean(column):.3f}", fontsize=9)
    if image is not None:
        figure.colorbar(image, ax=charts, location="bottom", shrink=0.5, label="error, cut at 1")
    figure.savefig(report.picture("figure6"), dpi=80)
