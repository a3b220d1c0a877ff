"""COMP Fig. 2: rows published by PCA against Laplace noise and the exponential mechanism."""

from __future__ import annotations

from typing import Any

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
from reproductions.comp.baselines import exponential_rows, laplace_rows
from reproductions.comp.pca_picture import Errors, draw_figure_2, say_figure_2
from reproductions.comp.records import Records, all_features
from reproductions.comp.simulate import exact_moments, noisy_moments

Floats = NDArray[np.float64]
EPSILONS = (0.1, 0.25, 0.5, 1.0, 1.25, 1.5)


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


def figure_2(report: Report, records: Records) -> dict[str, Any]:
    """F-norm error of PCA with k components, Laplace and exponential."""
    codes = records.codes
    trials = 2 if report.quick else 10
    epsilons = (0.5, 1.5) if report.quick else EPSILONS
    if report.quick:
        codes = codes[np.random.default_rng(report.seed).permutation(len(codes))[:4000]]
    features = all_features(records.domain)
    x = features.encode(codes)
    measured = statistics_for(features, None, count=False)
    spectrum = np.linalg.eigvalsh(exact_moments(x).covariance)[::-1]
    energy = np.cumsum(spectrum) / spectrum.sum()
    report.table(
        "Fig. 2a: energy of the leading components",
        ("components", "share"),
        [(k, float(energy[k - 1])) for k in (1, 2, 3, 5, 10, 15) if k <= len(energy)],
    )
    counts = [k for k in ((1, 2, 5, 10) if report.quick else range(1, 11)) if k <= features.width]
    rng = np.random.default_rng(report.seed)
    errors: Errors = {}
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
    tests = _show(report, errors)
    draw_figure_2(report, energy, errors, tests)
    say_figure_2(report, energy, errors, tests)
    report.keep(
        "figure 2",
        {
            str(e): {name: np.array(v).mean(axis=0) for name, v in own.items()}
            for e, own in errors.items()
        },
    )
    return {"errors": errors, "energy": energy}


def _show(report: Report, errors: Errors) -> dict[str, dict[float, float]]:
    """Tables of errors and tests; the larger p of both tests on decoded rows, by method and ε."""
    decoded: dict[str, dict[float, float]] = {}
    for place, kind in ((0, "before decoding"), (1, "decoded to labels")):
        names = list(next(iter(errors.values())))
        header = ("squared error of a row", *(f"ε = {e:g}" for e in errors))
        for title, of in (("mean", np.mean), ("standard deviation", np.std)):
            rows = [
                (name, *(float(of([v[place] for v in own[name]])) for own in errors.values()))
                for name in names
            ]
            report.table(f"Fig. 2b: F-norm² / n, {kind}, {title}", header, rows)
        tests = {
            name: {e: _larger_p(own, name, place) for e, own in errors.items()}
            for name in names
            if name.startswith("PCA")
        }
        header = ("larger p of both tests", *(f"ε = {e:g}" for e in errors))
        report.table(
            f"Fig. 2c: t-tests, smaller than Laplace and exponential, {kind}",
            header,
            [(name, *by.values()) for name, by in tests.items()],
        )
        report.keep(f"figure 2 tests, {kind}", {n: list(by.values()) for n, by in tests.items()})
        decoded = tests
    return decoded


def _larger_p(own: dict[str, list[tuple[float, float]]], name: str, place: int) -> float:
    """The larger p of two tests that the error is smaller; 1 where it is not."""
    mine = [v[place] for v in own[name]]
    tests = [
        ttest_ind(mine, [v[place] for v in own[other]], equal_var=False)
        for other in ("Laplace", "Exponential")
    ]
    return float(max(t.pvalue if t.statistic < 0 else 1.0 for t in tests))
