"""COMP Fig. 3 and 4: what classifiers learn from LDA publishing and DiffGen, and information."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from numpy.typing import NDArray

from eke.privacy.pure import PURE
from eke.publish.classifiers import area_under_roc, classifier_models
from eke.publish.features import Features, features_of
from eke.publish.greedy import Distance, sample_greedily
from eke.publish.moments import statistics_for
from eke.publish.repair import repair
from eke.publish.split import Split, noise_scales
from eke.publish.utility import divergence, entropy
from eke.query import Neighbours
from reproductions.answering.report import Report
from reproductions.comp.adult import TARGET, adult_domain, adult_table, coded
from reproductions.comp.diffgen import Generalised, Utility, diffgen
from reproductions.comp.pca_figures import EPSILONS
from reproductions.comp.simulate import exact_moments, noisy_moments

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Outcome:
    """One release: accuracy and AUC of both classifiers, entropy and divergence."""

    lda_accuracy: float
    lda_auc: float
    tree_accuracy: float
    tree_auc: float
    entropy: float
    divergence: float


FIELDS = ("lda_accuracy", "lda_auc", "tree_accuracy", "tree_auc", "entropy", "divergence")


@dataclass(frozen=True, slots=True, eq=False)
class Halves:
    """Two thirds to publish, one third to test on: codes and classes."""

    features: Features
    train: Codes
    train_classes: Codes
    test: Codes
    test_classes: Codes


def figures_3_and_4(report: Report) -> dict[str, Any]:
    """Accuracy, AUC, entropy and KL of LDA publishing against DiffGen."""
    domain = adult_domain()
    codes = coded(adult_table(), domain)
    features = features_of(domain, [name for name in domain.names if name != TARGET])
    rng = np.random.default_rng(report.seed)
    trials = 1 if report.quick else 10
    epsilons = (1.0,) if report.quick else EPSILONS
    if report.quick:
        codes = codes[rng.permutation(len(codes))[:9000]]
    outcomes: dict[str, dict[float, list[Outcome]]] = {}
    bounds: list[Outcome] = []
    for _ in range(trials):
        order = rng.permutation(len(codes))
        cut = 2 * len(codes) // 3
        train, test = codes[order[:cut]], codes[order[cut:]]
        halves = Halves(features, train[:, :-1], train[:, -1], test[:, :-1], test[:, -1])
        bounds.append(_judge(halves, halves.train, halves.train_classes))
        for epsilon in epsilons:
            for name, outcome in _releases(halves, epsilon, rng).items():
                outcomes.setdefault(name, {}).setdefault(epsilon, []).append(outcome)
    lowest = max(np.mean(codes[:, -1] == 0), np.mean(codes[:, -1] == 1))
    _show(report, outcomes, bounds, float(lowest))
    _draw(report, outcomes, bounds, float(lowest))
    return {"outcomes": outcomes, "bounds": bounds}


def _releases(halves: Halves, epsilon: float, rng: np.random.Generator) -> dict[str, Outcome]:
    found = {
        "LDA (eke)": _lda(halves, epsilon, rng),
        "LDA, sizes for free": _lda(halves, epsilon, rng, honest=False),
        "LDA, as the paper": _lda(
            halves, epsilon, rng, split="paper", distance="absolute", honest=False
        ),
        "LDA, paper + sizes": _lda(halves, epsilon, rng, split="paper", distance="absolute"),
    }
    utilities: tuple[Utility, ...] = ("InfoGain", "Max")
    for utility in utilities:
        made = diffgen(
            halves.features, halves.train, halves.train_classes, epsilon, utility=utility, rng=rng
        )
        found[f"DiffGen {utility}"] = _judge_generalised(halves, made)
    return found


def _lda(
    halves: Halves,
    epsilon: float,
    rng: np.random.Generator,
    *,
    split: Split = "expected_error",
    distance: Distance = "squared",
    honest: bool = True,
) -> Outcome:
    measured = statistics_for(halves.features, TARGET, count=False)
    priced = measured.statistics if honest else measured.statistics[1:]
    relation: Neighbours = "add_remove" if distance == "squared" else "replace_one"
    scales = noise_scales(priced, split, epsilon, PURE, relation)
    scales = scales if honest else [0.0, *scales]
    exact = exact_moments(halves.features.encode(halves.train), halves.train_classes)
    moments = noisy_moments(measured, exact, scales, rng, honest_sizes=honest)
    if distance == "squared":
        second = [
            (2.0 * b * b, s.cells)
            for b, s in zip(scales, measured.statistics, strict=True)
            if s.column is not None
        ]
        deviation = (sum(v * m for v, m in second) / sum(m for _, m in second)) ** 0.5
        moments = repair(moments, deviation).moments
    sample = sample_greedily(halves.features, moments, distance)
    return _judge(halves, sample.codes, sample.classes)


def _scores(
    made: Floats, classes: Codes, test: Floats, truth: Codes
) -> tuple[float, float, float, float]:
    found = []
    for _, model in classifier_models():
        model.fit(made, classes)
        found.append(float((model.predict(test) == truth).mean()))
        found.append(area_under_roc(model.predict_proba(test), model.classes_, truth))
    return found[0], found[1], found[2], found[3]


def _judge(halves: Halves, codes: Codes, classes: Codes) -> Outcome:
    scores = _scores(
        halves.features.encode(codes),
        classes,
        halves.features.encode(halves.test),
        halves.test_classes,
    )
    spread = [
        np.bincount(codes[:, place], minlength=len(feature.table)).astype(float)
        for place, feature in enumerate(halves.features.all)
    ]
    whole = np.concatenate([_coarse(halves, codes), classes[:, np.newaxis]], axis=1)
    return Outcome(*scores, entropy(whole), _mean_divergence(halves, spread))


def _judge_generalised(halves: Halves, made: Generalised) -> Outcome:
    values, classes = made.rows()
    test = made.encode(halves.features, made.generalise(halves.test))
    scores = _scores(made.encode(halves.features, values), classes, test, halves.test_classes)
    spread = []
    for place, feature in enumerate(halves.features.all):
        histogram = np.zeros(len(feature.table))
        counts = np.bincount(values[:, place], minlength=len(made.members[place]))
        for count, members in zip(counts, made.members[place], strict=True):
            histogram[members] += count / len(members)
        spread.append(histogram)
    whole = np.concatenate([values, classes[:, np.newaxis]], axis=1)
    return Outcome(*scores, entropy(whole), _mean_divergence(halves, spread))


def _coarse(halves: Halves, codes: Codes) -> Codes:
    """Numbers in at most 20 ranges, so that entropies of records are comparable."""
    columns = []
    for place, feature in enumerate(halves.features.all):
        size = len(feature.table)
        columns.append(
            codes[:, place] * 20 // size if feature.numeric and size > 20 else codes[:, place]
        )
    return np.stack(columns, axis=1)


def _mean_divergence(halves: Halves, spread: list[Floats]) -> float:
    """KL(released ‖ original) in bits, the mean over attributes; numbers in 20 ranges."""
    found = []
    for place, feature in enumerate(halves.features.all):
        made, size = spread[place], len(feature.table)
        true: Floats = np.bincount(halves.train[:, place], minlength=size).astype(np.float64)
        if feature.numeric and size > 20:
            ranges = np.arange(size) * 20 // size
            true = np.bincount(ranges, weights=true, minlength=20).astype(np.float64)
            made = np.bincount(ranges, weights=made, minlength=20).astype(np.float64)
        found.append(divergence(made, true))
    return float(np.mean(found))


def _mean(outcomes: list[Outcome], name: str) -> float:
    return float(np.mean([getattr(o, name) for o in outcomes]))


def _show(
    report: Report,
    outcomes: dict[str, dict[float, list[Outcome]]],
    bounds: list[Outcome],
    lowest: float,
) -> None:
    report.table(
        "Fig. 3: bounds",
        ("", *FIELDS),
        [
            ("original data", *(_mean(bounds, name) for name in FIELDS)),
            ("commonest class", lowest, 0.5, lowest, 0.5, "", ""),
        ],
    )
    for name in FIELDS:
        rows = [(method, *(_mean(own[e], name) for e in own)) for method, own in outcomes.items()]
        spreads = [
            (method, *(float(np.std([getattr(o, name) for o in own[e]])) for e in own))
            for method, own in outcomes.items()
        ]
        epsilons = next(iter(outcomes.values()))
        title = name.replace("_", " ")
        report.table(
            f"Fig. {3 if name in FIELDS[:4] else 4}: {title}",
            ("mean", *(f"ε = {e:g}" for e in epsilons)),
            rows,
        )
        report.keep(
            title,
            {"mean": {r[0]: r[1:] for r in rows}, "deviation": {r[0]: r[1:] for r in spreads}},
        )


def _draw(
    report: Report,
    outcomes: dict[str, dict[float, list[Outcome]]],
    bounds: list[Outcome],
    lowest: float,
) -> None:
    for number, names in (("figure3", FIELDS[:4]), ("figure4", FIELDS[4:])):
        figure, panels = plt.subplots(1, len(names), figsize=(4.2 * len(names), 3.8))
        for panel, name in zip(panels, names, strict=True):
            for method, own in outcomes.items():
                values = [[getattr(o, name) for o in own[e]] for e in own]
                panel.errorbar(
                    list(own),
                    np.mean(values, axis=1),
                    np.std(values, axis=1),
                    label=method,
                    capsize=2,
                )
            if name != "divergence":
                panel.axhline(_mean(bounds, name), color="black", linestyle=":")
            if name.endswith("accuracy"):
                panel.axhline(lowest, color="grey", linestyle=":")
            panel.set(xlabel="ε", title=name.replace("_", " "))
        panels[0].legend(fontsize=7)
        figure.tight_layout()
        figure.savefig(report.picture(number), dpi=110)
        plt.close(figure)
