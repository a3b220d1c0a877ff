"""What is measured of one release for COMP Fig. 3 and 4, its tables, and what they show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from reproductions.answering.report import Report

OTHER_RELATION = "LDA (eke), add_remove"
FIELDS = ("lda_accuracy", "lda_auc", "tree_accuracy", "tree_auc", "entropy", "divergence")


@dataclass(frozen=True, slots=True)
class Outcome:
    """One release: accuracy and AUC of both classifiers, entropy and divergence."""

    lda_accuracy: float
    lda_auc: float
    tree_accuracy: float
    tree_auc: float
    entropy: float
    divergence: float


ByMethod: TypeAlias = dict[str, dict[float, list[Outcome]]]
"""Method -> ε -> one outcome a trial."""


def mean(outcomes: Sequence[Outcome], name: str) -> float:
    """The mean over trials."""
    return float(np.mean([getattr(o, name) for o in outcomes]))


def show_field(report: Report, figure: str, outcomes: ByMethod, name: str) -> None:
    """Tables of the means over trials and of the standard deviations (the bars of the picture)."""
    epsilons = next(iter(outcomes.values()))
    title = name.replace("_", " ")
    means = [(method, *(mean(own[e], name) for e in own)) for method, own in outcomes.items()]
    spreads = [
        (method, *(float(np.std([getattr(o, name) for o in own[e]])) for e in own))
        for method, own in outcomes.items()
    ]
    header = tuple(f"ε = {e:g}" for e in epsilons)
    report.table(f"Fig. {figure}: {title}", ("mean", *header), means)
    report.table(f"Fig. {figure}: {title}, spread", ("standard deviation", *header), spreads)
    report.keep(
        title,
        {"mean": {r[0]: r[1:] for r in means}, "deviation": {r[0]: r[1:] for r in spreads}},
    )


def say_figure_3(
    report: Report, outcomes: ByMethod, bounds: Sequence[Outcome], lowest: float
) -> None:
    """Accuracy and AUC."""
    report.says(
        "3a",
        "LDA publishing is more accurate than DiffGen-InfoGain from ε = 0.25 on and slightly below "
        "DiffGen-Max at large ε; bounds 85.3 % and 75.5 %",
        f"bounds {mean(bounds, 'tree_accuracy'):.1%} (tree on the records), "
        f"{mean(bounds, 'lda_accuracy'):.1%} (LDA on the records) and {lowest:.1%}. "
        "Accuracy of LDA: "
        + "; ".join(_row(outcomes, method, "lda_accuracy") for method in _SHOWN)
        + f". Under `add_remove` eke has {_row(outcomes, OTHER_RELATION, 'lda_accuracy', False)}",
    )
    report.says(
        "3b",
        "AUC of LDA publishing is higher than DiffGen's for ε > 0.5, with the least deviation",
        "AUC of LDA: "
        + "; ".join(_row(outcomes, method, "lda_auc") for method in _SHOWN)
        + ". Standard deviations over the trials: "
        + "; ".join(_spread(outcomes, method, "lda_auc") for method in _SHOWN),
    )


def say_figure_4(report: Report, outcomes: ByMethod, bounds: Sequence[Outcome]) -> None:
    """Entropy and divergence."""
    report.says(
        "4a",
        "the entropy of LDA's rows is like that of the original; DiffGen has about 30 % and 20 %",
        f"original {mean(bounds, 'entropy'):.1f} bits; "
        + "; ".join(_row(outcomes, method, "entropy", form="{:.1f}") for method in _SHOWN),
    )
    report.says(
        "4b",
        "KL of LDA is the least, about a third of DiffGen's",
        "bits: " + "; ".join(_row(outcomes, m, "divergence", form="{:.2f}") for m in _SHOWN),
    )


_SHOWN = ("LDA (eke)", "LDA, as the paper", "DiffGen InfoGain", "DiffGen Max")


def _row(
    outcomes: ByMethod, method: str, name: str, named: bool = True, form: str = "{:.3f}"
) -> str:
    own = outcomes[method]
    values = ", ".join(form.format(mean(own[e], name)) for e in own)
    return f"{method} {values}" if named else values


def _spread(outcomes: ByMethod, method: str, name: str) -> str:
    own = outcomes[method]
    values = [float(np.std([getattr(o, name) for o in own[e]])) for e in own]
    return f"{method} {min(values):.3f} to {max(values):.3f}"
