"""Writers at the limit, processes that die, disks that fail, and power cuts."""

from __future__ import annotations

import secrets
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from audits.place import memory_folder
from audits.row import Row, Scale, number
from benchmarks import power_cuts
from eke.ledger.failpoint import FAILPOINTS
from tests.postgresql_server import running_server
from tests.system.driving import drive_disk, drive_ledger, drive_releases

LONG = 2900


@contextmanager
def both_places() -> Iterator[dict[str, str]]:
    """A place for ledgers on each back end."""
    with ExitStack() as stack:
        folder = stack.enter_context(memory_folder())
        server = stack.enter_context(running_server())
        yield {
            "SQLite": str(folder),
            "PostgreSQL": server.address(f"t_{secrets.token_hex(8)}"),
        }


def writers(scale: Scale) -> tuple[Row, ...]:
    """64 processes that spend one limit, on each back end."""
    attempts = scale.of(200, 3)
    with both_places() as places:
        found = {n: drive_ledger(p, "race64", attempts, LONG) for n, p in places.items()}
        naive = [drive_ledger(p, "naive_race", 100, LONG) for p in places.values()]
    over = {name: max(0, one["spent"] - one["limit"]) for name, one in found.items()}
    unlike = sum(not one["spent"] == one["log"] == one["released"] for one in found.values())
    wrong = sum(len(one["problems"]) + (one["refused"] == 0) for one in found.values())
    beyond = [one["released"] - one["limit"] for one in naive]
    return (
        Row(
            title="64 writers at the limit",
            samples=f"64 × {number(attempts)} attempts on SQLite and on PostgreSQL",
            figure=f"overspent {sum(over.values())}; spent ≠ sum of the log in {unlike} of 2",
            control=f"read, check, write: {number(min(beyond))} over the limit at least",
            passed=not any(over.values()) and unlike == wrong == 0,
            caught=min(beyond) > 0,
        ),
    )


def kills(scale: Scale) -> tuple[Row, ...]:
    """`kill -9` at random instants of whole releases, and of one of two servers."""
    runs, pairs = scale.of(1000, 4), scale.of(100, 1)
    with both_places() as places:
        found = drive_releases(places["SQLite"], "random_kills", runs, LONG)
        servers = drive_releases(places["PostgreSQL"], "two_servers_killed", pairs, LONG)
        careless = drive_releases(places["SQLite"], "careless", 3)["problems"]
    problems = [*found["problems"], *servers["problems"], *servers["failed"]]
    unpaid = sum("without" in text and "record" in text for text in problems)
    between = found["found"]["reserved"]
    return (
        Row(
            title="kill −9 at random instants",
            samples=f"{number(runs)} kills, {pairs} of one of two servers",
            figure=(
                f"{unpaid} releases without a charge, {len(problems) - unpaid} other problems "
                f"after a retry ({between} kills between charge and answer)"
            ),
            control=f"releasing before storing: {len(careless)} problems in 3 kills",
            passed=not problems and found["killed"] == runs,
            caught=sum("without a record" in text for text in careless) == 3,
        ),
    )


def failpoints(scale: Scale) -> tuple[Row, ...]:
    """`kill -9` at every named place of the release path, on each back end."""
    with both_places() as places:
        tried = places if scale.full else {"SQLite": places["SQLite"]}
        found = {name: drive_releases(p, "failpoints", 3, LONG) for name, p in tried.items()}
        control = drive_releases(places["SQLite"], "uncharged", 1)["problems"]
        control += drive_releases(places["SQLite"], "forgetful", 1)["problems"]
    problems = [text for one in found.values() for text in one["problems"]]
    reached = {place.partition("@")[0] for one in found.values() for place in one["died"]}
    deaths = sum(len(one["died"]) for one in found.values())
    return (
        Row(
            title="kill −9 at every failpoint",
            samples=f"{deaths} deaths at {len(FAILPOINTS)} failpoints on {' and '.join(found)}",
            figure=f"{len(problems)} problems; {len(FAILPOINTS) - len(reached)} places not reached",
            control=f"charging half, or drawing anew at a retry: {len(control)} problems",
            passed=not problems and reached == set(FAILPOINTS),
            caught=all(
                any(sign in text for text in control)
                for sign in ("something else than the loss", "drawn twice")
            ),
        ),
    )


def disk_failures(scale: Scale) -> tuple[Row, ...]:
    """A full, broken, read-only or locked disk at each write of a release, or after a COMMIT."""
    with both_places() as places:
        tried = places if scale.full else {"SQLite": places["SQLite"]}
        found = {name: drive_disk(place, "failures", 60, LONG) for name, place in tried.items()}
        with memory_folder() as folder:
            control = drive_disk(str(folder), "swallowed", 60, LONG)["problems"]
    problems = [text for one in found.values() for text in one["problems"]]
    injected = sum(sum(one["injected"].values()) for one in found.values())
    kinds = min(len(one["injected"]) for one in found.values())
    return (
        Row(
            title="ENOSPC, EIO, read-only, locked at each ledger write",
            samples=f"{injected} failures on {' and '.join(found)}",
            figure=f"{len(problems)} releases unrecorded, charged twice or unanswered",
            control=f"ignoring failed writes: {len(control)} problems",
            passed=not problems and kinds == 8,
            caught=any("without a record" in text for text in control),
        ),
    )


def cuts(scale: Scale) -> tuple[Row, ...]:
    """The power is cut, in simulation, at random system calls of releases recorded by strace."""
    strace = power_cuts.usable_strace()
    if strace is None:
        raise AssertionError("power cuts need strace, and leave to trace; see CONTRIBUTING.md")
    count = scale.of(1000, 30)
    ours, weaker = (_cut(strace, mode, count) for mode in (power_cuts.OWN_MODE, "TRUNCATE/NORMAL"))
    return (
        Row(
            title="power cuts",
            samples=f"{number(count)} cuts of {power_cuts.RELEASES} releases",
            figure=f"{ours.lost} acknowledged records lost, {ours.unreadable} ledgers unreadable",
            control=f"synchronous = NORMAL: {weaker.lost} lost, {weaker.unreadable} unreadable",
            passed=ours.lost == ours.unreadable == 0,
            caught=weaker.lost + weaker.unreadable > 0,
        ),
    )


def _cut(strace: str, mode: str, count: int) -> Any:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        return power_cuts.cut_often(mode, power_cuts.record(strace, mode, folder), count, folder)
