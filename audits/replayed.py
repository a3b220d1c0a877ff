"""Replay on neighbours, failures after a charge, and publications: counted here, tested there."""

from __future__ import annotations

from pathlib import Path

import pytest

from audits.place import memory_folder
from audits.row import Row, Scale, number
from eke.engine import draws as product
from eke.publish import lda, synthesis
from tests.privacy import test_draws_once as faults
from tests.privacy.replay.leaks import LEAKS, leaking
from tests.privacy.replay.play import replay_triples
from tests.property import test_publications as publications


def replay(scale: Scale) -> tuple[Row, ...]:
    """Nothing that an outsider sees differs between neighbours but noise, on any surface."""
    found = replay_triples(scale.of(10_000, 40), seed=1)
    for example in found.examples:
        print(example)  # into the log of the check
    with leaking(LEAKS["a refusal quotes the data"].leak):
        leaky = replay_triples(40, seed=7).differences
    return (
        Row(
            title="replay on neighbouring tables, every surface",
            samples=f"{number(found.triples)} triples on {len(found.by_surface)} surfaces",
            figure=f"{found.differences} differences",
            control=f"a refusal that quotes the number of rows: {leaky} of 40 differ",
            passed=found.differences == 0,
            caught=leaky > 0,
        ),
    )


def draws(scale: Scale) -> tuple[Row, ...]:
    """An error in one call after another that follows a charge: nothing is drawn anew."""
    each = scale.of(100, 3)
    problems, tried = [], 0
    for name in faults.PATHS if scale.full else ("ask", "release"):
        with memory_folder() as folder, pytest.MonkeyPatch.context() as patched:
            problems += faults.inject_everywhere(folder, name, faults.counting(patched), each)
            tried += each
    with memory_folder() as folder, pytest.MonkeyPatch.context() as patched:
        patched.setattr(product.Draws, "_take_in", lambda *_: None)
        patched.setattr(product, "_unstored", faults.Forgetful())
        forgotten = faults.inject_everywhere(folder, "pca", faults.counting(patched), 8)
    return (
        Row(
            title="failures after the data was touched: draws per charge at most 1",
            samples=f"{number(tried)} errors in calls after the charge",
            figure=f"{len(problems)} drawn twice, left open or refunded",
            control=f"a release that forgets its draws: {len(forgotten)} of 8",
            passed=not problems,
            caught=bool(forgotten),
        ),
    )


def publishing(scale: Scale) -> tuple[Row, ...]:
    """Random publications with next to no budget and with plenty: none fails after its charge."""
    wanted = scale.of(10_000, 6)
    problems, charged = _published(wanted, seed=20)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(synthesis, "within_most_rows", publications.out_of_memory)
        patched.setattr(lda, "within_most_rows", publications.out_of_memory)
        failed, _ = _published(30, seed=2)
    return (
        Row(
            title="publications with budgets from 1e-9 to 100",
            samples=f"{number(wanted)} publications, {number(charged)} charged",
            figure=f"{len(problems)} failed after the charge",
            control=f"noisy totals beyond memory: {len(failed)} of 30 failed",
            passed=not problems and charged > 0,
            caught=bool(failed),
        ),
    )


def _published(count: int, seed: int) -> tuple[list[str], int]:
    with memory_folder() as folder:
        return publications.problems_of(Path(folder), count, seed)
