"""COMP Fig. 1 and 2: noise on components against noise on attributes."""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from numpy.typing import NDArray
from scipy.stats import ttest_ind

from eke.privacy.pure import PURE
from eke.privacy.record_loss import NANO
from eke.publish.components import pick_components
from eke.publish.features import Features
from eke.publish.moments import Measured, statistics_for
from eke.publish.publisher import Setting
from eke.publish.row_share import share_of_moments
from eke.publish.split import Split, noise_scales
from reproductions.answering.report import Report
from reproductions.comp.adult import adult_domain, adult_table, all_features, coded
from reproductions.comp.baselines import exponential_rows, laplace_rows
from reproductions.comp.simulate import exact_moments, noisy_moments

Floats = NDArray[np.float64]
EPSILONS = (0.1, 0.25, 0.5, 1.0, 1.25, 1.5)


def figure_1(report: Report) -> dict[str, Any]:
    """Heights and weights of 100 simulated men: squared error of both kinds of noise."""
    rng = np.random.default_rng(report.seed)
    trials = 20 if report.quick else 200
    height = rng.normal(176.0, 7.0, 100)
    weight = 80.0 + 1.1 * (height - 176.0) + rng.normal(0.0, 6.0, 100)
    people = np.stack([height, weight], axis=1)
    ranges = np.array([[150.0, 200.0], [40.0, 120.0]])
    people = np.clip(people, ranges[:, 0], ranges[:, 1])
    widths = ranges[:, 1] - ranges[:, 0]
    # The component is common knowledge here, as in the paper: weight rises with height.
    direction = np.array([1.0, 1.1]) / np.hypot(1.0, 1.1)
    centre = ranges.mean(axis=1)
    reach = float(np.abs(direction) @ widths)
    epsilons = (0.5, 1.0, 2.0, 4.0)
    rows, kept = [], {}
    for epsilon in epsilons:
        apart, along = [], []
        for _ in range(trials):
            noisy = people + rng.laplace(0.0, 2.0 * widths / epsilon, people.shape)
            apart.append(((noisy - people) ** 2).sum() / len(people))
            scores = (people - centre) @ direction + rng.laplace(0.0, reach / epsilon, len(people))
            along.append(((np.outer(scores, direction) + centre - people) ** 2).sum() / len(people))
        rows.append((epsilon, float(np.mean(apart)), float(np.mean(along))))
        kept[str(epsilon)] = {"attributes": apart, "component": along}
    report.table("Fig. 1: mean squared error of a record", ("ε", "attributes", "component"), rows)
    figure, axes = plt.subplots(figsize=(5, 4))
    noisy = people + rng.laplace(0.0, 2.0 * widths, people.shape)
    scores = (people - centre) @ direction + rng.laplace(0.0, reach, len(people))
    line = np.outer(scores, direction) + centre
    for points, mark, label in (
        (people, "+", "people"),
        (line, "^", "noise on the component"),
        (noisy, "o", "noise on height and weight"),
    ):
        axes.scatter(points[:, 0], points[:, 1], marker=mark, s=14, label=label)
    axes.set(xlabel="height", ylabel="weight", title="ε = 1")
    axes.legend()
    figure.savefig(report.picture("figure1"), dpi=110)
    plt.close(figure)
    report.keep("figure 1", {str(e): [a, c] for e, a, c in rows})
    return {"rows": rows}


def pca_rows(
    features: Features,
    measured: Measured,
    x: Floats,
    epsilon: float,
    *,
    components: int | None,
    split: Split,
    shrunk: bool,
    rng: np.random.Generator,
) -> tuple[Floats, int]:
    """Recovered features of a simulated publication, before decoding, and the k used."""
    total = int(epsilon * NANO)
    setting = Setting(features.domain, PURE, "replace_one", total, len(x), True)
    share = share_of_moments(measured, components or 1, split, setting, shrunk=shrunk)
    scales = noise_scales(measured.statistics, split, share * epsilon, PURE, "replace_one")
    moments = noisy_moments(measured, exact_moments(x), scales, rng)
    row_loss = int((1.0 - share) * total)
    chosen = pick_components(
        features, moments, components, row_loss=row_loss, measure=PURE, shrunk=shrunk
    )
    scores = x @ chosen.directions.T
    scores += rng.laplace(0.0, chosen.law.laplace_scale, scores.shape)
    return chosen.recover(scores, shrunk), chosen.row_scores.count


def figure_2(report: Report) -> dict[str, Any]:
    """Adult: F-norm error of PCA with k components, Laplace and exponential."""
    domain = adult_domain()
    codes = coded(adult_table(), domain)
    trials = 2 if report.quick else 10
    epsilons = (0.5, 1.5) if report.quick else EPSILONS
    if report.quick:
        codes = codes[:4000]
    features = all_features(domain)
    x = features.encode(codes)
    measured = statistics_for(features, None, count=False)
    spectrum = np.linalg.eigvalsh(exact_moments(x).covariance)[::-1]
    energy = np.cumsum(spectrum) / spectrum.sum()
    report.table(
        "Fig. 2a: energy of the leading components",
        ("components", "share"),
        [(k, float(energy[k - 1])) for k in (1, 2, 3, 5, 10, 15)],
    )
    counts = (1, 2, 5, 10) if report.quick else tuple(range(1, 11))
    rng = np.random.default_rng(report.seed)
    errors: dict[float, dict[str, list[tuple[float, float]]]] = {}
    for epsilon in epsilons:
        own: dict[str, list[tuple[float, float]]] = {}

        def note(
            name: str, values: Floats, own: dict[str, list[tuple[float, float]]] = own
        ) -> None:
            decoded = features.encode(features.decode(values))
            found = [((made - x) ** 2).sum() / len(x) for made in (values, decoded)]
            own.setdefault(name, []).append((float(found[0]), float(found[1])))

        for _ in range(trials):
            for k in counts:
                values, _ = pca_rows(
                    features, measured, x, epsilon,
                    components=k, split="paper", shrunk=False, rng=rng,
                )  # fmt: skip
                note(f"PCA {k}", values)
            for name, shrunk in (("PCA auto", False), ("PCA auto, shrunk", True)):
                values, _ = pca_rows(
                    features, measured, x, epsilon,
                    components=None, split="expected_error", shrunk=shrunk, rng=rng,
                )  # fmt: skip
                note(name, values)
            note("Laplace", laplace_rows(features, codes, epsilon, rng))
            note("Exponential", features.encode(exponential_rows(features, codes, epsilon, rng)))
        errors[epsilon] = own
    _show(report, errors)
    _draw(report, energy, errors)
    report.keep(
        "figure 2",
        {
            str(e): {name: np.array(v).mean(axis=0) for name, v in own.items()}
            for e, own in errors.items()
        },
    )
    return {"errors": errors, "energy": energy}


def _show(report: Report, errors: dict[float, dict[str, list[tuple[float, float]]]]) -> None:
    for place, kind in ((0, "before decoding"), (1, "decoded to labels")):
        names = list(next(iter(errors.values())))
        rows = [
            (name, *(float(np.mean([v[place] for v in own[name]])) for own in errors.values()))
            for name in names
        ]
        header = ("squared error of a row", *(f"ε = {e:g}" for e in errors))
        report.table(f"Fig. 2b: F-norm² / n, {kind}", header, rows)
        tests = []
        for name in names:
            if not name.startswith("PCA"):
                continue
            worst = []
            for own in errors.values():
                mine = [v[place] for v in own[name]]
                found = [
                    ttest_ind(mine, [v[place] for v in own[other]], equal_var=False)
                    for other in ("Laplace", "Exponential")
                ]
                worst.append(max(f.pvalue if f.statistic < 0 else 1.0 for f in found))
            tests.append((name, *(float(p) for p in worst)))
        header = ("larger p of both tests", *(f"ε = {e:g}" for e in errors))
        report.table(
            f"Fig. 2c: t-tests, smaller than Laplace and exponential, {kind}", header, tests
        )
        report.keep(f"figure 2 tests, {kind}", {row[0]: row[1:] for row in tests})


def _draw(
    report: Report, energy: Floats, errors: dict[float, dict[str, list[tuple[float, float]]]]
) -> None:
    figure, panels = plt.subplots(1, 3, figsize=(13, 4))
    panels[0].plot(np.arange(1, len(energy) + 1), energy, marker=".")
    panels[0].set(xlabel="components", ylabel="energy", ylim=(0, 1.02))
    epsilons = list(errors)
    for place, panel, title in ((0, panels[1], "before decoding"), (1, panels[2], "decoded")):
        for name in (
            "PCA 1",
            "PCA 2",
            "PCA 5",
            "PCA 10",
            "PCA auto",
            "PCA auto, shrunk",
            "Laplace",
            "Exponential",
        ):
            mean = [np.mean([v[place] for v in errors[e][name]]) for e in epsilons]
            panel.plot(epsilons, mean, marker=".", label=name)
        panel.set(xlabel="ε", ylabel="squared error of a row", title=title)
        if place == 0:
            panel.set_yscale("log")
    panels[1].legend(fontsize=7)
    figure.tight_layout()
    figure.savefig(report.picture("figure2"), dpi=110)
    plt.close(figure)
