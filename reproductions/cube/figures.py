"""CUBE Fig. 4 to 6: the errors and times of the seven methods and of eke's own plans."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from reproductions.answering.figure import Line, Panel, save_grid
from reproductions.answering.report import Report
from reproductions.cube.methods import (
    EKE,
    NAMES,
    Outcome,
    as_plotted,
    simulate,
    workload_of,
)
from reproductions.cube.tables import CodedTable

EPSILONS = np.round(np.arange(0.1, 1.01, 0.1), 1)
RELEASES = 10
REWEIGHTED = "F+ for the plotted measure"


def accuracy(
    report: Report, table: CodedTable, workloads: Sequence[str], figure: str
) -> dict[str, Any]:
    """Relative error against epsilon for every method, one panel a workload (Fig. 4 and 5)."""
    generator = np.random.default_rng(report.seed)
    outcomes: dict[str, dict[str, Outcome]] = {}
    for name in workloads:
        workload = workload_of(table, name)
        runs = releases(report, name)
        outcomes[name] = {m: simulate(table, workload, m, generator, runs) for m in NAMES}
    report.table(
        f"Fig. {figure}, {table.name}: relative error at ε = 1",
        ["workload", *NAMES],
        [[name, *(by[m].relative for m in NAMES)] for name, by in outcomes.items()],
    )
    report.table(
        f"Fig. {figure}: standard errors of these means",
        ["workload", *NAMES],
        [[name, *(by[m].uncertain for m in NAMES)] for name, by in outcomes.items()],
    )
    report.table(
        f"Fig. {figure}: what non-uniform noise saves, in per cent of the RMSE before consistency",
        ["workload", "Q+", "F+", "C+", "eke against the best of the seven", "the same in RMSE"],
        [[name, *savings(by)] for name, by in outcomes.items()],
    )
    panels = [
        Panel(
            [Line(m, EPSILONS, by[m].relative / EPSILONS) for m in NAMES],
            "ε",
            "relative error",
            title=f"{table.name}, {name}",
            ylog=True,
        )
        for name, by in outcomes.items()
    ]
    columns = min(3, len(panels))
    save_grid(
        report.picture(f"figure{figure}"),
        [panels[i : i + columns] for i in range(0, len(panels) - columns + 1, columns)],
    )
    result = {name: {m: _plain(by[m]) for m in NAMES} for name, by in outcomes.items()}
    report.keep(f"figure{figure}", result)
    return result


def releases(report: Report, workload: str) -> int:
    """How many releases are simulated: few cells scatter more."""
    return 2 if report.quick else RELEASES * (4 if workload.endswith("1") else 1)


def fourier_weights(
    report: Report, table: CodedTable, workloads: Sequence[str]
) -> dict[str, dict[str, dict[str, float]]]:
    """F and F+ in both measures, and F+ with its noise chosen for the plotted one.

    Neither is post-processed. F+ minimises the sum of the variances of all cells; the plotted
    measure divides by the mean count of the marginal's cells, so marginals of many cells count for
    more, and F+ takes noise from small marginals at the expense of just these.
    """
    generator = np.random.default_rng(report.seed)
    result: dict[str, dict[str, dict[str, float]]] = {}
    for name in workloads:
        workload = workload_of(table, name)
        runs = 2 if report.quick else 4 * RELEASES
        tried = {"F": workload, "F+": workload, REWEIGHTED: as_plotted(workload)}
        result[name] = {
            label: _plain(simulate(table, asked, label[:2].strip(), generator, runs))
            for label, asked in tried.items()
        }
    rows = [
        [name, measure, *(by[label][measure] for label in by)]
        for name, by in result.items()
        for measure in ("absolute", "relative")
    ]
    report.table(
        f"Fig. 4, {table.name}: F and F+ in both measures at ε = 1",
        ["workload", "mean error of a cell", "F", "F+", REWEIGHTED],
        rows,
    )
    report.keep("fourier", result)
    return result


def savings(by: dict[str, Outcome]) -> list[float]:
    """What non-uniform noise saves for Q, F and C, and eke beside the best, in per cent."""
    saved = [
        100.0 * (1.0 - by[f"{name}+"].expected / by[name].expected) for name in ("Q", "F", "C")
    ]
    seven = [m for m in NAMES if m != EKE]
    plotted = 100.0 * (1.0 - by[EKE].relative / min(by[m].relative for m in seven))
    expected = 100.0 * (1.0 - by[EKE].expected / min(by[m].expected for m in seven))
    return [*saved, plotted, expected]


def _plain(outcome: Outcome) -> dict[str, float]:
    return {
        "relative": outcome.relative,
        "uncertain": outcome.uncertain,
        "absolute": outcome.absolute,
        "expected": outcome.expected,
        "seconds": outcome.seconds,
    }


def running_time(report: Report, results: dict[str, Any]) -> dict[str, Any]:
    """End-to-end processor seconds of one release of the binary table (Fig. 6)."""
    rows = [[name, *(by[m]["seconds"] for m in NAMES)] for name, by in results.items()]
    report.table(
        "Fig. 6: seconds of planning, noise, recovery and consistency", ["workload", *NAMES], rows
    )
    positions = np.arange(len(rows))
    lines = [Line(m, positions, [by[m]["seconds"] for by in results.values()], "o") for m in NAMES]
    title = "  ".join(f"{i}: {name}" for i, name in enumerate(results))
    panel = Panel(lines, "workload", "seconds", title=title, ylog=True)
    save_grid(report.picture("figure6"), [[panel]])
    times = {name: {m: by[m]["seconds"] for m in NAMES} for name, by in results.items()}
    report.keep("figure6", times)
    return times
