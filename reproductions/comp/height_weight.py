"""COMP Fig. 1: noise on one component of height and weight against noise on both, at every ε."""

from __future__ import annotations

from math import sqrt
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from numpy.typing import NDArray

from reproductions.answering.report import Report

EPSILONS = (0.1, 0.25, 0.5, 1.0, 1.25, 1.5)
RANGES = np.array([[150.0, 200.0], [40.0, 120.0]])
PRINTED_ATTRIBUTES, PRINTED_COMPONENT = 6197.27, 2750.08  # the paper's errors at ε = 1
PEOPLE = 100
Floats = NDArray[np.float64]


def figure_1(report: Report) -> dict[str, Any]:
    """Heights and weights of 100 simulated men: squared error of both kinds of noise."""
    rng = np.random.default_rng(report.seed)
    trials = 20 if report.quick else 200
    height = rng.normal(176.0, 7.0, PEOPLE)
    weight = 80.0 + 1.1 * (height - 176.0) + rng.normal(0.0, 6.0, PEOPLE)
    people = np.clip(np.stack([height, weight], axis=1), RANGES[:, 0], RANGES[:, 1])
    rows, raw, drawn = [], {}, {}
    for epsilon in EPSILONS:
        releases = [_both(people, epsilon, rng) for _ in range(trials)]
        drawn[epsilon] = releases[0]
        errors = np.array([[_error(made, people) for made in release] for release in releases])
        attributes, component = errors.mean(axis=0)
        rows.append((epsilon, float(attributes), float(component)))
        raw[epsilon] = errors
    spans = [
        f"{raw[e][:, place].min():,.0f} to {raw[e][:, place].max():,.0f}"
        for e in EPSILONS
        for place in (0, 1)
    ]
    report.table(
        f"Fig. 1: mean squared error of a record, {trials} trials",
        ("ε", "attributes", "component", "least to largest, attributes", "component"),
        [(*row, spans[2 * i], spans[2 * i + 1]) for i, row in enumerate(rows)],
    )
    _draw(report, people, drawn, raw)
    report.keep("figure 1", {str(e): [a, c] for e, a, c in rows})
    at_one = next(row for row in rows if row[0] == 1.0)
    narrow, wide = widths_as_printed()
    report.says(
        "1",
        f"at ε = 1 noise on the component gives MSE {PRINTED_COMPONENT:.0f}, noise on both "
        f"attributes {PRINTED_ATTRIBUTES:.0f}; the difference grows as ε falls",
        f"{at_one[2]:,.0f} against {at_one[1]:,.0f} at ε = 1 with ranges of 50 cm and 80 kg (the "
        f"paper does not state its own); "
        + ", ".join(f"{c:,.0f} against {a:,.0f} at {e:g}" for e, a, c in rows if e != 1.0)
        + f". If the paper charges the sum of both ranges for its component, ranges of "
        f"{narrow:.0f} and {wide:.0f} give its two numbers",
    )
    return {"rows": rows}


def _both(people: Floats, epsilon: float, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """The people with noise on both attributes, and on the component.

    The component is common knowledge here, as in the paper: weight rises with height.
    """
    widths = RANGES[:, 1] - RANGES[:, 0]
    direction = np.array([1.0, 1.1]) / np.hypot(1.0, 1.1)
    centre = RANGES.mean(axis=1)
    reach = float(np.abs(direction) @ widths)
    noisy = people + rng.laplace(0.0, 2.0 * widths / epsilon, people.shape)
    scores = (people - centre) @ direction + rng.laplace(0.0, reach / epsilon, len(people))
    return noisy, np.outer(scores, direction) + centre


def widths_as_printed() -> tuple[float, float]:
    """Ranges w, v for which the expected errors at ε = 1 are those that the paper prints.

    With half of ε for each attribute that is 8(w² + v²); with noise of scale w + v on the component
    2(w + v)², where what the component leaves out is taken as nothing.
    """
    total = sqrt(PRINTED_COMPONENT / 2.0)
    squares = PRINTED_ATTRIBUTES / 8.0
    apart = sqrt(2.0 * squares - total**2)
    return (total - apart) / 2.0, (total + apart) / 2.0


def _error(made: Floats, people: Floats) -> float:
    return float(((made - people) ** 2).sum() / len(people))


def _draw(
    report: Report,
    people: Floats,
    drawn: dict[float, tuple[Floats, Floats]],
    raw: dict[float, Floats],
) -> None:
    """The people and both noisy versions at each ε, and the errors against ε."""
    figure, panels = plt.subplots(2, 4, figsize=(15, 7), layout="constrained")
    places = list(panels.flat)
    for panel, (epsilon, (noisy, line)) in zip(places, drawn.items(), strict=False):
        for points, mark, label in (
            (noisy, "o", "noise on height and weight"),
            (line, "^", "noise on the component"),
            (people, "+", "people"),
        ):
            panel.scatter(points[:, 0], points[:, 1], marker=mark, s=14, label=label)
        panel.set(xlabel="height", ylabel="weight", title=f"ε = {epsilon:g}")
    handles, labels = places[0].get_legend_handles_labels()
    for place, label, colour in ((0, "attributes", "C0"), (1, "component", "C1")):
        values = np.array([errors[:, place] for errors in raw.values()])
        places[6].plot(list(raw), values.mean(axis=1), marker=".", color=colour, label=label)
        low, high = values.min(axis=1), values.max(axis=1)
        places[6].fill_between(list(raw), low, high, alpha=0.3, color=colour, linewidth=0)
    places[6].set(xlabel="ε", title="mean squared error, least to largest", yscale="log")
    places[7].axis("off")
    places[7].legend(handles, labels, loc="center")
    figure.savefig(report.picture("figure1"), dpi=80)
    plt.close(figure)
