"""The pictures of COMP Fig. 2, and what they show."""

from __future__ import annotations

import math
from typing import TypeAlias

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from reproductions.answering.report import Report

Errors: TypeAlias = dict[float, dict[str, list[tuple[float, float]]]]
"""ε -> method -> for each trial the squared error of a row, before and after decoding."""
SIGNIFICANT = 0.01
_STYLES = {
    "PCA auto": ("#D55E00", "-"),
    "PCA auto, shrunk": ("#009E73", "-"),
    "Laplace": ("#999999", "--"),
    "Exponential": ("#CC79A7", "--"),
}


def draw_figure_2(
    report: Report,
    energy: NDArray[np.float64],
    errors: Errors,
    tests: dict[str, dict[float, float]],
) -> None:
    """Energy, errors with every k, and box plots for each ε with stars where p < 0.01."""
    height = 1 + math.ceil(len(errors) / 3)
    figure = plt.figure(figsize=(13, 11 * height / 3), layout="constrained")
    grid = figure.add_gridspec(height, 3)
    top = [figure.add_subplot(grid[0, column]) for column in range(3)]
    top[0].plot(np.arange(1, len(energy) + 1), energy, marker=".")
    top[0].set(xlabel="components", ylabel="energy", ylim=(0, 1.02), title="(a)")
    for place, panel, title in ((0, top[1], "before decoding"), (1, top[2], "(b) decoded")):
        _curves(panel, errors, place)
        panel.set(xlabel="ε", ylabel="squared error of a row", title=title)
    top[1].set_yscale("log")
    handles, labels = top[2].get_legend_handles_labels()
    for number, (epsilon, own) in enumerate(errors.items()):
        panel = figure.add_subplot(grid[1 + number // 3, number % 3])
        names = list(own)
        panel.boxplot([[decoded for _, decoded in own[name]] for name in names])
        short = [n.replace("PCA ", "").replace("auto, shrunk", "shr") for n in names]
        short = [s.replace("Laplace", "LAP").replace("Exponential", "EXP") for s in short]
        panel.set_xticks(range(1, len(names) + 1), short, fontsize=7)
        panel.set(title=f"(c) ε = {epsilon:g}, decoded", ylabel="squared error of a row")
        panel.margins(y=0.12)
        for place, name in enumerate(names, start=1):
            if tests.get(name, {}).get(epsilon, 1.0) < SIGNIFICANT:
                highest = max(decoded for _, decoded in own[name])
                panel.annotate("∗", (place, highest), ha="center", va="bottom")
    figure.legend(handles, labels, loc="outside lower center", ncols=7, fontsize=8)
    figure.savefig(report.picture("figure2"), dpi=90)
    plt.close(figure)


def _curves(panel: Axes, errors: Errors, place: int) -> None:
    """Means with the least and largest of the trials as a band."""
    names = list(next(iter(errors.values())))
    counts = [name for name in names if name.removeprefix("PCA ").isdigit()]
    shades = plt.get_cmap("Blues")(np.linspace(0.35, 1.0, len(counts)))
    for name in names:
        values = np.array([[v[place] for v in own[name]] for own in errors.values()])
        if name in counts:
            colour, dash = shades[counts.index(name)], "-"
        else:
            colour, dash = _STYLES[name]
        panel.plot(list(errors), values.mean(axis=1), dash, color=colour, marker=".", label=name)
        low, high = values.min(axis=1), values.max(axis=1)
        panel.fill_between(list(errors), low, high, color=colour, alpha=0.15, linewidth=0)


def say_figure_2(
    report: Report,
    energy: NDArray[np.float64],
    errors: Errors,
    tests: dict[str, dict[float, float]],
) -> None:
    """Energy, and from which ε on PCA has the smaller error."""
    shares = [f"{energy[k - 1]:.1%} with {k}" for k in (10, 15) if k <= len(energy)]
    report.says("2a", "ten eigenvectors carry more than 90 %", ", ".join(shares))
    won = []
    for name, by in tests.items():
        epsilons = [f"{e:g}" for e, p in by.items() if p < SIGNIFICANT]
        where = "every ε" if len(epsilons) == len(by) else "ε = " + ", ".join(epsilons)
        won.append(f"{name.removeprefix('PCA ')}: {where if epsilons else 'none'}")
    report.says(
        "2b, 2c",
        "PCA with k = 1 to 10 has a smaller F-norm than Laplace and exponential at every ε, "
        "p < 0.01; the error grows with k",
        f"decoded, p < 0.01 against both, by k: {'; '.join(won)}. {_growth(errors)}",
    )

    def row(name: str) -> str:
        return ", ".join(f"{np.mean([v[1] for v in own[name]]):.2f}" for own in errors.values())

    report.says(
        "2, eke",
        "",
        f"squared error of a row for ε = {', '.join(f'{e:g}' for e in errors)}: "
        + "; ".join(f"{name} {row(name)}" for name in _STYLES),
    )


def _growth(errors: Errors) -> str:
    """For how many neighbouring k, at all ε, the larger one has the larger error."""
    steps = []
    for own in errors.values():
        counts = [name for name in own if name.removeprefix("PCA ").isdigit()]
        means = [float(np.mean([v[1] for v in own[name]])) for name in counts]
        steps += list(np.diff(means) > 0.0)
    return f"The error grows with k in {sum(steps)} of {len(steps)} steps"
