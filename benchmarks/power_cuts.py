"""What a power cut leaves of a ledger, for several ways in which SQLite can sync it.

The system calls of 25 releases are recorded under strace. Then the power is cut, in simulation, at
random calls. What was written to a file since its last sync is kept or lost at random, call by
call, and some of it is torn at a sector; of the names made or removed since the last sync of the
folder, only the first few are kept. The ledger is opened from what is left, and every reservation
and every answer that had been acknowledged before the cut is looked for.

    python benchmarks/power_cuts.py [--cuts 200] [--modes TRUNCATE/FULL ...] [--out cuts.json]

A mode overrides two settings of SQLite; all else is the ledger's own code. TRUNCATE/FULL is what
the ledger uses: the script fails if it loses anything, or if the ledger uses another mode by now.
Two of the other modes are known to be weaker: they show that the simulation can find a loss.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from sqlalchemy import Engine, event

from eke.errors import EkeError
from eke.ledger import Ledger

OWN_MODE = "TRUNCATE/FULL"
MODES = (OWN_MODE, "DELETE/EXTRA", "DELETE/FULL", "TRUNCATE/NORMAL")
LEVELS = ("OFF", "NORMAL", "FULL", "EXTRA")  # in the order of the numbers SQLite reports
RELEASES = 25
COST = 3
ANALYST = "ann"
LEDGER = "ledger.eke"
ACKNOWLEDGED = b"acknowledged"
SECTOR = 512
TORN = 0.2
FOLDER = 0  # the number of the folder; files are numbered from 1
# The last five could change a file as well, but SQLite does without them: they are only looked for.
RECORDED = (
    "openat,close,pwrite64,ftruncate,fsync,fdatasync,?unlink,unlinkat,"
    "write,writev,pwritev,fallocate,sync_file_range"
)


# --- what is recorded ----------------------------------------------------------------------------


def release_all(path: Path, mode: str) -> None:
    """Create a ledger and release from it, saying after each transaction what is acknowledged."""
    set_mode(mode)
    ledger = Ledger.create(path, {}, limit=COST * RELEASES)
    acknowledge("created", "")
    for number in range(RELEASES):
        key = str(number)
        with ledger.exclusive() as book:
            reservation = book.reserve(
                analyst=ANALYST, key=key, digest=key, payload={}, spent_after=book.spent + COST
            )
        acknowledge("reserved", key)
        with ledger.exclusive() as book:
            book.commit(reservation.sequence, {}, answer=key)
        acknowledge("released", key)


def acknowledge(what: str, key: str) -> None:
    """Say in one system call, which the trace shows in its place, what the caller now relies on."""
    os.write(sys.stdout.fileno(), b"%s %s %s\n" % (ACKNOWLEDGED, what.encode(), key.encode()))


def set_mode(mode: str) -> None:
    """Override the ledger's settings, unless they are its own, and make sure they are in force."""
    journal, level = mode.split("/")

    def override(connection: sqlite3.Connection, _: object) -> None:
        if mode != OWN_MODE:
            connection.execute(f"PRAGMA journal_mode = {journal}")
            connection.execute(f"PRAGMA synchronous = {level}")
        (journal_now,) = connection.execute("PRAGMA journal_mode").fetchone()
        (level_now,) = connection.execute("PRAGMA synchronous").fetchone()
        if (journal_now.upper(), LEVELS[level_now]) != (journal, level):
            raise SystemExit(f"the ledger runs in {journal_now}/{LEVELS[level_now]}, not in {mode}")

    event.listen(Engine, "connect", override)  # runs after the ledger has configured a connection


# --- the trace -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Write:
    """Bytes written to a file."""

    file: int
    offset: int
    content: bytes


@dataclass(frozen=True, slots=True)
class Resize:
    """A file cut off or extended."""

    file: int
    size: int


@dataclass(frozen=True, slots=True)
class Sync:
    """All changes of one file, or of the folder's names, forced to the disk."""

    file: int


@dataclass(frozen=True, slots=True)
class Name:
    """A file that got its name, or lost it."""

    name: str
    file: int
    present: bool


@dataclass(frozen=True, slots=True)
class Acknowledgement:
    """What the caller was told: from here on a power cut must not undo it."""

    what: str
    key: str


Change = Write | Resize
Call = Change | Sync | Name | Acknowledgement


class Trace:
    """The calls in a trace that concern one folder, in order."""

    def __init__(self, folder: Path) -> None:
        self.calls: list[Call] = []
        self._folder = folder
        self._opened: dict[int, int] = {}  # descriptor: file
        self._named: dict[str, int] = {}  # name: file
        self._files = FOLDER

    def read(self, lines: Iterable[str]) -> None:
        """Take in the calls that succeeded, from lines such as `fsync(5)   = 0`."""
        for line in lines:
            found = re.match(r"(\w+)\((.*)\)\s+= (\d+)", line)
            if found is None:
                continue
            call, arguments, result = found[1], found[2], int(found[3])
            if call == "openat":
                self._open(path_in(arguments), result)
            elif call.startswith("unlink"):
                self._remove(path_in(arguments))
            else:
                self._use(call, arguments, result)

    def _open(self, path: Path, descriptor: int) -> None:
        self._opened.pop(descriptor, None)
        if path == self._folder:
            self._opened[descriptor] = FOLDER
        elif path.parent == self._folder:
            if path.name not in self._named:
                self._files += 1
                self._named[path.name] = self._files
                self.calls.append(Name(path.name, self._files, present=True))
            self._opened[descriptor] = self._named[path.name]

    def _remove(self, path: Path) -> None:
        if path.parent == self._folder:
            self.calls.append(Name(path.name, self._named.pop(path.name), present=False))

    def _use(self, call: str, arguments: str, result: int) -> None:
        numbers = [int(part) for part in arguments.split(", ") if part.isdecimal()]
        file = self._opened.get(numbers[0])
        if file is None:
            if call == "write" and text_in(arguments).startswith(ACKNOWLEDGED):
                _, what, key = text_in(arguments).decode().rstrip("\n").split(" ")
                self.calls.append(Acknowledgement(what, key))
        elif call == "close":
            del self._opened[numbers[0]]
        elif call == "pwrite64":
            self.calls.append(Write(file, numbers[-1], text_in(arguments)[:result]))
        elif call == "ftruncate":
            self.calls.append(Resize(file, numbers[-1]))
        elif call in ("fsync", "fdatasync"):
            self.calls.append(Sync(file))
        else:
            raise SystemExit(f"this simulation does not know what {call} does to a file")


def text_in(arguments: str) -> bytes:
    """The text among the arguments of a call, which strace shows in hexadecimal."""
    found = re.search(r'"((?:\\x[0-9a-f]{2})*)"', arguments)
    return b"" if found is None else bytes.fromhex(found[1].replace("\\x", ""))


def path_in(arguments: str) -> Path:
    """The path among the arguments of a call."""
    return Path(os.fsdecode(text_in(arguments)))


def record(strace: str, mode: str, folder: Path) -> list[Call]:
    """The calls of all releases in one mode; only the main thread is traced, which makes them."""
    trace, work = folder / "trace", folder / "work"
    work.mkdir()
    tracing = [strace, "-xx", "-s", str(2**20), "-o", str(trace), "-e", f"trace={RECORDED}"]
    script = [sys.executable, __file__, "--modes", mode, "--release-into", str(work / LEDGER)]
    subprocess.run([*tracing, *script], stdout=subprocess.DEVNULL, check=True)
    found = Trace(work)
    with trace.open(encoding="ascii") as lines:
        found.read(lines)
    return found.calls


# --- the power cut -------------------------------------------------------------------------------


class Disk:
    """What has surely reached the disk, and what may have."""

    def __init__(self) -> None:
        self._durable: dict[int, bytearray] = {}
        self._pending: dict[int, list[Change]] = {}
        self._names: dict[str, int] = {}
        self._pending_names: list[Name] = []

    def take(self, call: Call) -> None:
        """Carry out one call."""
        match call:
            case Write() | Resize():
                self._pending[call.file].append(call)
            case Name():
                self._durable.setdefault(call.file, bytearray())
                self._pending.setdefault(call.file, [])
                self._pending_names.append(call)
            case Sync(file=file) if file == FOLDER:
                rename(self._names, self._pending_names)
                self._pending_names = []
            case Sync(file=file):
                for change in self._pending[file]:
                    apply(change, self._durable[file])
                self._pending[file] = []

    def after_cut(self, generator: np.random.Generator) -> dict[str, bytes]:
        """The files that are found after a power cut: the name and the content of each."""
        names = dict(self._names)
        several = len(self._pending_names)
        kept = (0, several, int(generator.integers(several + 1)))[generator.integers(3)]
        rename(names, self._pending_names[:kept])
        share = generator.random()  # from cuts that lose everything to cuts that lose nothing
        found = {}
        for name, file in names.items():
            content = bytearray(self._durable[file])
            for change in self._pending[file]:
                if generator.random() < share:
                    apply(perhaps_torn(change, generator), content)
            found[name] = bytes(content)
        return found


def rename(names: dict[str, int], changes: Iterable[Name]) -> None:
    """Add and remove names, in order."""
    for change in changes:
        if change.present:
            names[change.name] = change.file
        else:
            names.pop(change.name, None)


def apply(change: Change, content: bytearray) -> None:
    """Change the content of a file as one call does; gaps are filled with zeros."""
    end = change.size if isinstance(change, Resize) else change.offset + len(change.content)
    if end > len(content):
        content.extend(bytes(end - len(content)))
    if isinstance(change, Write):
        content[change.offset : end] = change.content
    else:
        del content[end:]


def perhaps_torn(change: Change, generator: np.random.Generator) -> Change:
    """The same change, or, of some writes, only the first sectors."""
    if isinstance(change, Resize) or generator.random() >= TORN:
        return change
    sectors = int(generator.integers(len(change.content) + 1)) // SECTOR
    return Write(change.file, change.offset, change.content[: sectors * SECTOR])


# --- the judgement -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of the ledger over all cuts in one mode."""

    mode: str
    calls: int
    syncs: int
    cuts: int
    unreadable: int
    lost: int


def cut_often(mode: str, calls: list[Call], cuts: int, folder: Path) -> Outcome:
    """The outcome of cutting the power at random calls, after the ledger has been created."""
    generator = np.random.default_rng(20260101)
    unreadable = lost = done = 0
    disk = Disk()
    created = next(i for i, call in enumerate(calls) if isinstance(call, Acknowledgement))
    for cut in sorted(generator.integers(created + 1, len(calls), cuts).tolist()):
        for call in calls[done:cut]:
            disk.take(call)
        done = cut
        with tempfile.TemporaryDirectory(dir=folder) as place:
            for name, content in disk.after_cut(generator).items():
                (Path(place) / name).write_bytes(content)
            try:
                lost += count_lost(Path(place) / LEDGER, calls[:cut])
            except EkeError:
                unreadable += 1
    syncs = sum(isinstance(call, Sync) for call in calls)
    return Outcome(mode, len(calls), syncs, cuts, unreadable, lost)


def count_lost(path: Path, calls: Iterable[Call]) -> int:
    """How many acknowledged records the ledger, opened as after any crash, does not hold."""
    ledger = Ledger.open(path)
    lost = 0
    for call in calls:
        if isinstance(call, Acknowledgement) and call.what != "created":
            request = ledger.find(ANALYST, call.key)
            lost += request is None or (call.what == "released" and request.answer != call.key)
    return lost


def print_row(*columns: object) -> None:
    """Print one row of the table."""
    widths = (22, 5, 18, 25)
    cells = [f"{column!s:<{width}}" for column, width in zip(columns, widths, strict=True)]
    print("|", " | ".join(cells), "|", flush=True)


def usable_strace() -> str | None:
    """The path of strace; None, having said why, when nothing can be recorded here."""
    strace = shutil.which("strace")
    if strace is None:
        print("skipped: strace is not installed (Debian and Ubuntu: apt-get install strace)")
        return None
    probe = [strace, "-o", os.devnull, sys.executable, "-S", "-c", ""]
    if subprocess.run(probe, capture_output=True, check=False).returncode:
        print("skipped: strace may not trace here (a container needs the capability SYS_PTRACE)")
        return None
    return strace


def main() -> None:
    """Run the simulation."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cuts", type=int, default=200, help="power cuts in each mode")
    parser.add_argument("--modes", choices=MODES, nargs="+", default=list(MODES))
    parser.add_argument("--out", type=Path, help="write the figures as JSON")
    parser.add_argument("--release-into", type=Path, help=argparse.SUPPRESS)  # the traced process
    options = parser.parse_args()
    if options.release_into:
        release_all(options.release_into, options.modes[0])
        return
    strace = usable_strace()
    if strace is None:
        return
    outcomes = []
    print_row("journal, synchronous", "cuts", "ledgers unreadable", "acknowledged records lost")
    print("|---|---|---|---|")
    for mode in options.modes:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name).resolve()
            calls = record(strace, mode, folder)
            outcome = cut_often(mode, calls, options.cuts, folder)
        outcomes.append(outcome)
        label = mode.replace("/", ", ") + (" (ours)" if mode == OWN_MODE else "")
        print_row(label, outcome.cuts, outcome.unreadable, outcome.lost)
    if options.out:
        text = json.dumps([asdict(outcome) for outcome in outcomes], indent=2)
        options.out.write_text(text + "\n", "utf-8")
    if any(o.unreadable or o.lost for o in outcomes if o.mode == OWN_MODE):
        raise SystemExit("the ledger lost what it had acknowledged")


if __name__ == "__main__":
    main()
