"""Reproduces CUBE Fig. 4 to 6, checks Table 1 and Th. 2.2; see README.md in this folder."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from math import comb, sqrt
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")  # one thread: processor time is then working time
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import numpy as np

from eke.planning.workload.release import plan_release
from eke.planning.workload.workload import Workload, all_marginals
from eke.privacy.calibration import calibrations
from eke.privacy.concentrated import CONCENTRATED
from eke.privacy.pure import PURE
from reproductions.answering.figure import Line, Panel, save_grid
from reproductions.answering.report import BUILD, Report
from reproductions.cube.methods import (
    EKE,
    NAMES,
    Outcome,
    exact_answers,
    plan_of,
    simulate,
    workload_of,
)
from reproductions.cube.tables import CodedTable, adult_eight, binary_attributes

WORKLOADS = ("Q1", "Q*1", "Qa1", "Q2", "Q*2", "Qa2")
EPSILONS = np.round(np.arange(0.1, 1.01, 0.1), 1)
SEED = 20130408
FIGURES = ("4", "5", "6", "table1", "theorem22")
RHOS = (0.001, 0.01, 0.1, 0.5, 1.0, 2.0)
DELTA = 1e-6
RELEASES = 10


def accuracy(
    report: Report, table: CodedTable, workloads: Sequence[str], figure: str
) -> dict[str, Any]:
    """Relative error against epsilon for every method, one panel a workload (Fig. 4 and 5)."""
    generator = np.random.default_rng(report.seed)
    found: dict[str, dict[str, Outcome]] = {}
    for name in workloads:
        workload = workload_of(table, name)
        # Few cells scatter more.
        runs = 2 if report.quick else RELEASES * (4 if name.endswith("1") else 1)
        found[name] = {m: simulate(table, workload, m, generator, runs) for m in NAMES}
    report.table(
        f"Fig. {figure}, {table.name}: relative error at epsilon = 1",
        ["workload", *NAMES],
        [[name, *(outcomes[m].relative for m in NAMES)] for name, outcomes in found.items()],
    )
    report.table(
        f"Fig. {figure}: what non-uniform noise saves, in per cent of the RMSE before consistency",
        ["workload", "Q+", "F+", "C+", "eke against the best of the seven"],
        [[name, *_savings(outcomes)] for name, outcomes in found.items()],
    )
    panels = [
        Panel(
            [Line(m, EPSILONS, outcomes[m].relative / EPSILONS) for m in NAMES],
            "epsilon",
            "relative error",
            title=f"{table.name}, {name}",
            ylog=True,
        )
        for name, outcomes in found.items()
    ]
    columns = min(3, len(panels))
    save_grid(
        report.picture(f"figure{figure}"),
        [panels[i : i + columns] for i in range(0, len(panels) - columns + 1, columns)],
    )
    result = {
        name: {m: _plain(outcome) for m, outcome in outcomes.items()}
        for name, outcomes in found.items()
    }
    report.keep(f"figure{figure}", result)
    return result


def _savings(outcomes: dict[str, Outcome]) -> list[float]:
    saved = [
        100.0 * (1.0 - outcomes[f"{name}+"].expected / outcomes[name].expected)
        for name in ("Q", "F", "C")
    ]
    best = min(outcomes[m].relative for m in NAMES if m != EKE)
    return [*saved, 100.0 * (1.0 - outcomes[EKE].relative / best)]


def _plain(outcome: Outcome) -> dict[str, float]:
    return {
        "relative": outcome.relative,
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


def bounds(report: Report) -> dict[str, Any]:
    """Table 1: the mean L1 noise of a k-way marginal against the paper's bounds, as simulated."""
    generator = np.random.default_rng(report.seed)
    rows = []
    for width in (8,) if report.quick else (8, 12, 16):
        table = binary_attributes(width, generator, 1000)
        for ways in (1, 2) if report.quick else (1, 2, 3):
            workload = workload_of(table, f"Q{ways}")
            subsets = comb(width, ways)
            coefficients = sum(comb(width, i) for i in range(ways + 1))
            limits = {
                "I": sqrt(2) * 2 ** ((width + ways) / 2),
                "Q": sqrt(2) * 2**ways * subsets,
                "F": coefficients * sqrt(2 ** (3 + ways)),
                "F+": sqrt(6) * (ways + 1) * sqrt(comb(width + ways, ways) * subsets),
            }
            for method, limit in limits.items():
                noise = _mean_noise(table, workload, method, generator)
                rows.append([width, ways, method, noise, limit, noise / limit])
    report.table(
        "Table 1: expected L1 noise of a marginal at epsilon = 1",
        ["d", "k", "method", "simulated", "bound", "ratio"],
        rows,
    )
    report.keep("table1", rows)
    return {"rows": rows}


def _mean_noise(
    table: CodedTable, workload: Workload, method: str, generator: np.random.Generator
) -> float:
    """The mean over marginals and releases of Σ |noise| of a marginal's cells."""
    plan = plan_of(workload, method)
    shapes = [(part, exact_answers(table, part.measured).shape) for part in plan.parts]
    found = []
    for _ in range(RELEASES):
        noise = [generator.laplace(0.0, part.noise_scale, shape) for part, shape in shapes]
        found += [np.abs(table.values).sum() for table in plan.recover(noise)]
    return float(np.mean(found))


def calibrated(report: Report) -> dict[str, Any]:
    """Th. 2.2 beside zCDP and the least Gaussian noise, and Laplace noise at the same epsilon.

    RMSE of the plan for all pairs of Adult's attributes, at the epsilon that each rho implies.
    """
    workload = all_marginals(adult_eight().domain, 2)
    unit = plan_release(workload, measure=CONCENTRATED, budget=0.5, compare=False).rmse
    pure = plan_release(workload, measure=PURE, budget=1.0, compare=False).rmse
    rows: list[list[Any]] = []
    for rho in RHOS:
        epsilon, rules = calibrations(rho, DELTA)
        errors = [unit * sqrt(rule.variance) for rule in rules]
        rows.append([rho, epsilon, *errors, "yes" if rules[1].suffices else "no", pure / epsilon])
    report.table(
        f"Th. 2.2 beside zCDP: RMSE of all pairs of Adult's attributes at delta = {DELTA:g}",
        ["rho", "epsilon", "zCDP", "Th. 2.2", "least Gaussian", "Th. 2.2 holds", "Laplace"],
        rows,
    )
    report.keep("theorem22", rows)
    return {"rows": rows}


def main(argv: Sequence[str] | None = None) -> dict[str, Any]:
    """Run the figures asked for; their results by figure."""
    parser = argparse.ArgumentParser(description="Reproduces the experiments of CUBE.")
    parser.add_argument("--quick", action="store_true", help="smaller settings, seconds each")
    parser.add_argument("--out", type=Path, default=BUILD / "cube", help="folder to write to")
    parser.add_argument("--figures", nargs="+", choices=FIGURES)
    parser.add_argument("--seed", type=int, default=SEED)
    chosen = parser.parse_args(argv)
    wanted = set(chosen.figures or FIGURES)
    report = Report(chosen.out, chosen.quick, chosen.seed, 1)
    workloads = WORKLOADS[:3] if chosen.quick else WORKLOADS
    results: dict[str, Any] = {}
    if "4" in wanted:
        results["4"] = accuracy(report, adult_eight(), workloads, "4")
    if wanted & {"5", "6"}:
        width = 8 if chosen.quick else 16
        table = binary_attributes(width, np.random.default_rng(chosen.seed))
        results["5"] = accuracy(report, table, workloads, "5")
        results["6"] = running_time(report, results["5"])
    if "table1" in wanted:
        results["table1"] = bounds(report)
    if "theorem22" in wanted:
        results["theorem22"] = calibrated(report)
    report.write()
    return results


if __name__ == "__main__":
    main()
