"""COMP Fig. 3 and 4: what classifiers learn from LDA publishing and DiffGen, and information.

All curves hold for `replace_one`, the relation of the paper's proofs. What eke's own publishing has
under `add_remove` is a line of the tables only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from numpy.typing import NDArray

from eke.privacy.pure import PURE
from eke.publish.classifiers import area_under_roc, classifier_models
from eke.publish.features import Features
from eke.publish.greedy import Distance, sample_greedily
from eke.publish.moments import statistics_for
from eke.publish.repair import repair
from eke.publish.split import Split, noise_scales
from eke.publish.utility import divergence, entropy
from eke.query import Neighbours
from reproductions.answering.report import Report
from reproductions.comp.diffgen import Generalised, Utility, diffgen
from reproductions.comp.outcome import (
    FIELDS,
    OTHER_RELATION,
    ByMethod,
    Outcome,
    mean,
    say_figure_3,
    say_figure_4,
    show_field,
)
from reproductions.comp.pca_figures import EPSILONS
from reproductions.comp.records import Records
from reproductions.comp.simulate import exact_moments, noisy_moments

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]


RELATION: Neighbours = "replace_one"


@dataclass(frozen=True, slots=True, eq=False)
class Halves:
    """Two thirds to publish, one third to test on: codes and classes."""

    features: Features
    target: str
    train: Codes
    train_classes: Codes
    test: Codes
    test_classes: Codes


def figures_3_and_4(report: Report, records: Records) -> dict[str, Any]:
    """Accuracy, AUC, entropy and KL of LDA publishing against DiffGen."""
    codes, features = records.codes, records.features()
    rng = np.random.default_rng(report.seed)
    trials = 1 if report.quick else 10
    epsilons = (1.0,) if report.quick else EPSILONS
    if report.quick:
        codes = codes[rng.permutation(len(codes))[:9000]]
    outcomes: ByMethod = {}
    bounds: list[Outcome] = []
    for _ in range(trials):
        order = rng.permutation(len(codes))
        cut = 2 * len(codes) // 3
        train, test = codes[order[:cut]], codes[order[cut:]]
        halves = Halves(
            features, records.target, train[:, :-1], train[:, -1], test[:, :-1], test[:, -1]
        )
        bounds.append(_judge(halves, halves.train, halves.train_classes))
        for epsilon in epsilons:
            for name, outcome in _releases(halves, epsilon, rng).items():
                outcomes.setdefault(name, {}).setdefault(epsilon, []).append(outcome)
    lowest = float(np.bincount(codes[:, -1]).max() / len(codes))
    _show(report, outcomes, bounds, lowest)
    _draw(report, outcomes, bounds, lowest)
    say_figure_3(report, outcomes, bounds, lowest)
    show_figure_4(report, outcomes)
    say_figure_4(report, outcomes, bounds)
    return {"outcomes": outcomes, "bounds": bounds}


def _releases(halves: Halves, epsilon: float, rng: np.random.Generator) -> dict[str, Outcome]:
    found = {
        "LDA (eke)": _lda(halves, epsilon, rng),
        "LDA, sizes for free": _lda(halves, epsilon, rng, honest=False),
        "LDA, as the paper": _lda(
            halves, epsilon, rng, split="paper", distance="absolute", honest=False
        ),
        "LDA, paper + sizes": _lda(halves, epsilon, rng, split="paper", distance="absolute"),
        OTHER_RELATION: _lda(halves, epsilon, rng, relation="add_remove"),
    }
    utilities: tuple[Utility, ...] = ("InfoGain", "Max")
    for utility in utilities:
        made = diffgen(
            halves.features,
            halves.train,
            halves.train_classes,
            epsilon,
            utility=utility,
            neighbours=RELATION,
            rng=rng,
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
    relation: Neighbours = RELATION,
) -> Outcome:
    measured = statistics_for(halves.features, halves.target, count=False)
    priced = measured.statistics if honest else measured.statistics[1:]
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
    if len(np.unique(classes)) < 2:  # nothing to tell apart: the only class is always said
        share = float((truth == classes[0]).mean()) if len(classes) else 0.0
        return share, 0.5, share, 0.5
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


def _show(report: Report, outcomes: ByMethod, bounds: list[Outcome], lowest: float) -> None:
    report.table(
        "Fig. 3: bounds",
        ("", *FIELDS),
        [
            ("original data", *(mean(bounds, name) for name in FIELDS)),
            ("commonest class", lowest, 0.5, lowest, 0.5, "", ""),
        ],
    )
    for name in FIELDS[:4]:
        show_field(report, "3", outcomes, name)


def show_figure_4(report: Report, outcomes: ByMethod) -> None:
    """Entropy and divergence."""
    for name in FIELDS[4:]:
        show_field(report, "4", outcomes, name)


def _draw(report: Report, outcomes: ByMethod, bounds: list[Outcome], lowest: float) -> None:
    for number, names in (("figure3", FIELDS[:4]), ("figure4", FIELDS[4:])):
        figure, panels = plt.subplots(
            1, len(names), figsize=(4.2 * max(len(names), 3), 3.8), layout="constrained"
        )
        for panel, name in zip(panels, names, strict=True):
            for method, own in outcomes.items():
                if method == OTHER_RELATION:
                    continue
                values = [[getattr(o, name) for o in own[e]] for e in own]
                panel.errorbar(
                    list(own),
                    np.mean(values, axis=1),
                    np.std(values, axis=1),
                    label=method,
                    capsize=2,
                )
            if name != "divergence":
                panel.axhline(mean(bounds, name), color="black", linestyle=":")
            if name.endswith("accuracy"):
                panel.axhline(lowest, color="grey", linestyle=":")
            panel.set(xlabel="ε", title=name.replace("_", " "))
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=6, fontsize=8)
        figure.savefig(report.picture(number), dpi=110)
        plt.close(figure)
