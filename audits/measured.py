"""Rows of measurements that other scripts make: the time of answers, and mutants of the code."""

from __future__ import annotations

import hashlib
import json
from importlib import import_module
from pathlib import Path
from typing import Any

from audits.checks import CHECKS
from audits.kept import sources
from audits.row import ROOT, Row, Scale, number

#: Where the script of mutants leaves its last result.
MUTANTS = "audits/mutants.json"
LEAST_KILLED = 0.9


def timing(scale: Scale) -> tuple[Row, ...]:
    """Times of paid answers on neighbouring tables, interleaved: the largest Welch's t of each.

    The waiting is skipped, or 10⁵ pairs would take six hours; that the machine's own waiting tells
    nothing more is measured on some that do wait. Hours can be broken off: slices are kept as long
    as the sources are the same.
    """
    measure: Any = import_module("benchmarks.timing").measure
    keep = _slices() if scale.name == "full" else None
    return tuple(
        _timing_row(title, measure(pairs=pairs, lanes=lanes, wait=wait, keep=keep))
        for title, pairs, lanes, wait in (
            ("timing of paid answers on neighbours", scale.of(100_000, 40), scale.of(2, 1), False),
            ("the same with real waiting", scale.of(2_000, 10), 1, True),
        )
    )


def _slices() -> Path | None:
    """Where slices of these sources are kept; None where files differ from the commit's."""
    (check,) = (one for one in CHECKS if one.name == "timing")
    audited = sources(check)
    if audited is None:
        return None
    return ROOT / ".audit" / f"timing-{hashlib.sha256(audited.encode()).hexdigest()[:16]}"


def _timing_row(title: str, found: Any) -> Row:
    return Row(
        title=title,
        samples=f"{number(found.pairs)} interleaved pairs",
        figure=(
            f"t = {found.neighbours:.2f}, by the size of the noise {found.noise:.2f}, "
            f"by chance up to {found.chance:.2f}; "
            f"steps taken: {in_runs(list(found.steps))}"
        ),
        control=f"without steps: t = {found.bare:.1f}",
        passed=found.hidden,
        caught=found.shown,
    )


def in_runs(numbers: list[int]) -> str:
    """Increasing numbers as a text, those that follow each other by the first and the last."""
    starts = [n for n in numbers if n - 1 not in numbers]
    ends = [n for n in numbers if n + 1 not in numbers]
    runs = zip(starts, ends, strict=True)
    return ", ".join(
        f"{a} to {b}" if b > a + 1 else f"{a}, {b}" if b > a else f"{a}" for a, b in runs
    )


def mutants(_scale: Scale) -> tuple[Row, ...]:
    """What the tests made of changed code, as the script of mutants last found it."""
    found = json.loads((ROOT / MUTANTS).read_text("utf-8"))
    return (mutant_row(found),)


def mutant_row(found: dict[str, Any]) -> Row:
    """The row of a result with the numbers killed, survived, and explained among these."""
    killed, survived = int(found["killed"]), int(found["survived"])
    explained, by_types = int(found.get("explained", 0)), int(found.get("by_types", 0))
    share = killed / max(1, killed + survived)
    return Row(
        title="mutants of the release path",
        samples=f"{number(killed + survived)} mutants",
        figure=(
            f"{share:.1%} killed ({number(by_types)} by their types, the others by tests), "
            f"{survived - explained} survivors without a reason"
        ),
        control="each mutant is one",
        passed=share >= LEAST_KILLED and survived == explained,
        caught=killed > 0,
    )
