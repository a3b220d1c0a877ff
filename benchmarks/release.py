"""A release of all pairs of Adult's 14 attributes, and a thousand questions answered from it.

148,137 cells in 91 tables are planned, released in one charge and kept. Then counts, ranges and
sums over one and two attributes are asked; every answer must be free. Printed: the time of each
step, the median and the worst time of a free answer, the error that was planned and the one that
was found, and the peak of memory.

    python benchmarks/release.py [--rho 0.5] [--questions 1000] [--out release.json]
"""

from __future__ import annotations

import argparse
import json
import math
import resource
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import eke

ROOT = Path(__file__).resolve().parents[1]


def adult() -> tuple[pd.DataFrame, eke.Domain]:
    """The table of codes, and its domain."""
    table = pd.read_csv(ROOT / "data" / "adult_pgm.csv.gz")
    sizes = json.loads((ROOT / "data" / "adult_pgm-domain.json").read_text("utf-8"))
    return table, eke.Domain({name: eke.Integer(0, size - 1) for name, size in sizes.items()})


def random_question(domain: eke.Domain, generator: np.random.Generator) -> tuple[str, Any]:
    """(kind, question) over one or two attributes."""
    chosen = [str(n) for n in generator.choice(domain.names, generator.integers(1, 3), False)]
    kind = str(generator.choice(["count", "range", "sum"]))
    if kind == "sum":
        where = {chosen[1]: int(generator.integers(domain[chosen[1]].size))} if chosen[1:] else None
        return f"{len(chosen)}-way sum", eke.total(chosen[0], where)
    conditions: dict[str, Any] = {}
    for name in chosen:
        low, high = sorted(int(v) for v in generator.integers(0, domain[name].size, 2))
        conditions[name] = (low, high) if kind == "range" else low
    return f"{len(chosen)}-way {kind}", eke.count(conditions)


def exact(question: Any, domain: eke.Domain, table: pd.DataFrame) -> float:
    """The answer without noise, from the rows themselves."""
    query = question.on(domain)
    codes = [table[name].to_numpy() for name in query.attributes]
    coefficients = query.table().astype(np.float64) * 2.0**query.exponent
    return float(coefficients[tuple(codes)].sum() + float(query.constant) if codes else len(table))


def run(rho: float, questions: int, folder: Path) -> dict[str, Any]:
    """The figures of one run."""
    table, domain = adult()
    generator = np.random.default_rng(20260101)
    session = eke.create(folder / "adult.eke", table, domain, rho=rho)
    found: dict[str, Any] = {"rho": rho}
    started = time.perf_counter()
    plan = session.plan(eke.all_marginals(domain, 2), budget=rho)
    found["plan_seconds"] = time.perf_counter() - started
    started = time.perf_counter()
    release = session.release(plan)
    found["release_seconds"] = time.perf_counter() - started
    found |= {
        "tables": len(release.tables),
        "cells": sum(one.values.size for one in release.tables),
        "answers": plan.answers,
        "planned_rmse": plan.rmse,
        "found_rmse": _found_rmse(release, table),
    }
    times: dict[str, list[float]] = defaultdict(list)
    ratios = []
    for _ in range(questions):
        kind, question = random_question(domain, generator)
        started = time.perf_counter()
        answer = session.ask(question, within=1e9)
        times[kind].append(1e3 * (time.perf_counter() - started))
        assert answer.free, kind
        deviation = math.sqrt(answer.variance)
        ratios.append((answer.value - exact(question, domain, table)) / deviation)
    every = np.concatenate([np.array(one) for one in times.values()])
    found |= {
        "questions": questions,
        "answer_ms": float(np.median(every)),
        "answer_ms_99": float(np.quantile(every, 0.99)),
        "answer_ms_worst": float(every.max()),
        "by_kind_ms": {kind: float(np.median(one)) for kind, one in sorted(times.items())},
        "errors_in_deviations": float(np.sqrt(np.mean(np.square(ratios)))),
        "peak_memory_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0,
        "file_mib": (folder / "adult.eke").stat().st_size / 2**20,
    }
    started = time.perf_counter()
    eke.open(folder / "adult.eke", data=table).ask(eke.count(), within=1e9)
    found["open_and_ask_seconds"] = time.perf_counter() - started
    return found


def _found_rmse(release: eke.Release, table: pd.DataFrame) -> float:
    total = cells = 0.0
    for one in release.tables:
        codes = [table[name].to_numpy() for name in one.attributes]
        flat = np.ravel_multi_index(codes, one.values.shape)
        true = np.bincount(flat, minlength=one.values.size).reshape(one.values.shape)
        total += float(np.square(one.values - true).sum())
        cells += one.values.size
    return math.sqrt(total / cells)


def show(found: dict[str, Any]) -> None:
    """Print the figures."""
    print(
        f"rho = {found['rho']:g}: {found['tables']} tables of {found['cells']:,} cells from "
        f"{found['answers']:,} noisy answers; RMSE planned {found['planned_rmse']:.3f}, "
        f"found {found['found_rmse']:.3f}"
    )
    print(f"planned in {found['plan_seconds']:.1f} s, released in {found['release_seconds']:.1f} s")
    print(
        f"{found['questions']:,} questions, all free: median {found['answer_ms']:.1f} ms, "
        f"99 % within {found['answer_ms_99']:.1f} ms, worst {found['answer_ms_worst']:.1f} ms; "
        f"errors {found['errors_in_deviations']:.3f} of their standard deviation"
    )
    for kind, median in found["by_kind_ms"].items():
        print(f"  {kind:<12} median {median:.1f} ms")
    print(
        f"peak memory {found['peak_memory_mib']:.0f} MiB; file {found['file_mib']:.1f} MiB; "
        f"opening it again and asking: {found['open_and_ask_seconds']:.1f} s"
    )


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rho", type=float, default=0.5)
    parser.add_argument("--questions", type=int, default=1000)
    parser.add_argument("--out", type=Path, help="write the figures as JSON")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = run(options.rho, options.questions, Path(folder))
    show(found)
    if options.out:
        options.out.write_text(json.dumps(found, indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    main()
