"""Figures: a grid of line charts with one legend, as small PNG files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike
from PIL import Image

# Okabe and Ito's colours, which everybody can tell apart. The papers' methods are dashed.
STYLES: dict[str, tuple[str, str]] = {
    "improved baseline": ("#999999", "--"),
    "BLUE (BAYES)": ("#0072B2", "--"),
    "least squares": ("#E69F00", "--"),
    "product (ONLINE)": ("#CC79A7", "--"),
    "eke direct": ("#000000", "-"),
    "eke top_up": ("#009E73", "-"),
    "exact": ("#000000", "--"),
    # CUBE: the same noise everywhere is dashed, the best noise solid.
    "I": ("#999999", "--"),
    "Q": ("#D55E00", "--"),
    "Q+": ("#D55E00", "-"),
    "F": ("#0072B2", "--"),
    "F+": ("#0072B2", "-"),
    "C": ("#E69F00", "--"),
    "C+": ("#E69F00", "-"),
    "eke auto": ("#000000", "-"),
}
_SPARE = ("#0072B2", "#D55E00", "#009E73", "#E69F00", "#CC79A7", "#56B4E9", "#000000")
_MOST_POINTS = 250
_COLOURS = 128


@dataclass(frozen=True, slots=True)
class Line:
    """One curve."""

    label: str
    x: ArrayLike
    y: ArrayLike
    marker: str = ""
    low: ArrayLike | None = None  # a band around the curve
    high: ArrayLike | None = None


@dataclass(frozen=True, slots=True)
class Panel:
    """One chart: its curves and axes."""

    lines: Sequence[Line]
    xlabel: str
    ylabel: str
    title: str = ""
    xlog: bool = False
    ylog: bool = False
    ylim: tuple[float, float] | None = None


def save_grid(path: Path, rows: Sequence[Sequence[Panel]]) -> None:
    """Write the panels as one picture, rows by columns, with a common legend below."""
    height, width = len(rows), len(rows[0])
    breadth = 4.2 if width > 1 else 6.0
    figure = Figure(figsize=(breadth * width, 2.3 * height + 0.4), layout="constrained")
    axes = figure.subplots(height, width, squeeze=False)
    labels: dict[str, Artist] = {}
    for row, axes_row in zip(rows, axes, strict=True):
        for panel, chart in zip(row, axes_row, strict=True):
            _draw(chart, panel, labels)
    figure.legend(
        list(labels.values()),
        list(labels),
        loc="outside lower center",
        fontsize=8,
        ncols=min(len(labels), 3 * width if width > 1 else 2),
        frameon=False,
    )
    drawn = BytesIO()
    figure.savefig(drawn, dpi=90, format="png")
    # A palette makes the file a third of the size; octrees keep the colours of thin lines apart.
    flat = Image.open(drawn).convert("RGB").quantize(_COLOURS, Image.Quantize.FASTOCTREE)
    flat.save(path, optimize=True)


def _draw(chart: Axes, panel: Panel, labels: dict[str, Artist]) -> None:
    for line in panel.lines:
        x, y = np.asarray(line.x, float), np.asarray(line.y, float)
        if len(x) > _MOST_POINTS:
            kept = np.unique(np.linspace(0, len(x) - 1, _MOST_POINTS).round().astype(int))
            x, y = x[kept], y[kept]
        else:
            kept = np.arange(len(x))
        colour, dash = STYLES.get(line.label, ("", "-"))
        if not colour:
            unknown = [label for label in labels if label not in STYLES]
            place = unknown.index(line.label) if line.label in unknown else len(unknown)
            colour = _SPARE[place % len(_SPARE)]
        (drawn,) = chart.plot(
            x,
            y,
            color=colour,
            linestyle=dash,
            linewidth=1.4,
            marker=line.marker,
            markersize=3,
            zorder=3 if dash == "--" else 2,  # dashes show what is beneath them
        )
        labels.setdefault(line.label, drawn)
        if line.low is not None and line.high is not None:
            low, high = np.asarray(line.low, float)[kept], np.asarray(line.high, float)[kept]
            chart.fill_between(x, low, high, color=colour, alpha=0.15, linewidth=0, zorder=1)
    chart.set_xlabel(panel.xlabel, fontsize=8)
    chart.set_ylabel(panel.ylabel, fontsize=8)
    if panel.title:
        chart.set_title(panel.title, fontsize=9)
    if panel.xlog:
        chart.set_xscale("log")
    if panel.ylog:
        chart.set_yscale("log")
    if panel.ylim is not None:
        chart.set_ylim(*panel.ylim)
    chart.tick_params(labelsize=7)
    chart.grid(color="#dddddd", linewidth=0.6)
