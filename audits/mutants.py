"""Change the release path in thousands of small ways, and see which changes no test notices.

    python audits/mutants.py [--jobs 2]        # make mutants

What is changed is a copy in `.mutants`, with mutmut; a run that was interrupted goes on. A mutant
that every test lets pass is a survivor, and so is one that no test runs. Each needs a reason in
`audits/survivors.toml`: why what it changes is not a promise. The result goes to
`audits/mutants.json`, which the scoreboard shows.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
COPY = ROOT / ".mutants"
REASONS = ROOT / "audits/survivors.toml"
RESULT = ROOT / "audits/mutants.json"

MUTATED = (
    "src/eke/engine/*.py",
    "src/eke/mechanism/*.py",
    "src/eke/ledger/book.py",
    "src/eke/privacy/accountant.py",
    "src/eke/privacy/block_loss.py",
    "src/eke/privacy/record_loss.py",
    "src/eke/privacy/noise_grid.py",
)
TESTS = (
    "tests/unit/engine",
    "tests/unit/mechanism",
    "tests/unit/ledger/test_book.py",
    "tests/unit/privacy",
    "tests/property/test_exact_integers.py",
)
# Tests that look at the code itself, or exchange a part of it, and find mutmut's wrappers instead.
NOT_THESE = (
    "walking_the_attributes",
    "test_only_the_junction",
    "test_everything_drawn",
    "test_logging_tells_nothing",
    "test_the_search_finds_what_was_wrong_before",
)
# mutmut 3.8 asks pytest for a name that pytest 9 has made private.
_PLUGIN = """from _pytest.nodes import Node

if not hasattr(Node, "_nodeid"):
    Node._nodeid = property(lambda node: node.nodeid)
"""
SURVIVED = ("survived", "no tests")
KILLED = ("killed", "timeout", "segfault")


@dataclass(frozen=True, slots=True)
class Survivor:
    """A change that no test noticed."""

    function: str
    removed: str
    added: str

    @property
    def text(self) -> str:
        return f"{self.function}: {self.removed or '(nothing)'} → {self.added or '(nothing)'}"


@dataclass(frozen=True, slots=True)
class Reason:
    """Why some survivors do no harm: those of a function whose lines have a pattern."""

    function: str
    line: str
    why: str

    def covers(self, survivor: Survivor) -> bool:
        """Both the function, with * for anything, and the removed or added line must fit."""
        lines = f"{survivor.removed}\n{survivor.added}"
        return fnmatchcase(survivor.function, self.function) and bool(re.search(self.line, lines))


def reasons(path: Path = REASONS) -> tuple[Reason, ...]:
    """The reasons on file."""
    document = tomllib.loads(path.read_text("utf-8"))
    return tuple(Reason(**one) for one in document["reason"])


def prepare() -> None:
    """A copy of what is under version control, as it is now, with mutmut's settings."""
    listed = subprocess.run(
        ["git", "ls-files", "src", "tests", "data", "pyproject.toml"],  # noqa: S607
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    for name in listed.stdout.splitlines():
        source, target = ROOT / name, COPY / name
        if source.exists() and not (target.exists() and _same(source, target)):
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)
    (COPY / "plugin").mkdir(exist_ok=True)
    (COPY / "plugin/pytest_names.py").write_text(_PLUGIN, "utf-8")
    unfit = " and ".join(f"not {name}" for name in NOT_THESE)
    settings = {
        "source_paths": ["src"],
        "only_mutate": list(MUTATED),
        "also_copy": ["tests", "data", "pyproject.toml", "src", "plugin"],
        "pytest_add_cli_args": ["-p", "pytest_names", "-p", "no:cacheprovider", "-k", unfit],
        "pytest_add_cli_args_test_selection": list(TESTS),
    }
    lines = [f"{name} = {json.dumps(value)}" for name, value in settings.items()]
    project = (ROOT / "pyproject.toml").read_text("utf-8")
    (COPY / "pyproject.toml").write_text("\n".join([project, "[tool.mutmut]", *lines, ""]), "utf-8")


def _same(one: Path, other: Path) -> bool:
    return one.read_bytes() == other.read_bytes()


def run(jobs: int) -> None:
    """Let mutmut try every mutant that was not tried yet."""
    environment = {
        **os.environ,
        **dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"),
        "PYTHONPATH": str(COPY / "plugin"),
    }
    command = [sys.executable, "-m", "mutmut", "run", "--max-children", str(jobs)]
    subprocess.run(command, cwd=COPY, env=environment, check=True)


def outcomes() -> Iterator[tuple[str, str, Path]]:
    """(name, status, source) of every mutant."""
    from mutmut.stats import status_by_exit_code  # noqa: PLC0415 - of an extra

    for meta in sorted((COPY / "mutants/src").rglob("*.meta")):
        codes: dict[str, int | None] = json.loads(meta.read_text("utf-8"))["exit_code_by_key"]
        source = meta.with_suffix("").relative_to(COPY / "mutants")
        for name, code in codes.items():
            yield name, status_by_exit_code[code], source


def survivor(name: str, source: Path) -> Survivor:
    """What a mutant changed."""
    from mutmut.mutation.diff_apply import get_diff_for_mutant  # noqa: PLC0415 - of an extra

    changed = get_diff_for_mutant(name, path=source).splitlines()[2:]
    removed = " ".join(line[1:].strip() for line in changed if line.startswith("-"))
    added = " ".join(line[1:].strip() for line in changed if line.startswith("+"))
    function = name.rpartition("__mutmut_")[0].replace("ǁ", ".").replace(".x_", ".")
    return Survivor(function.replace(".x.", ".").removeprefix("eke."), removed, added)


def result() -> dict[str, Any]:
    """The numbers, and each survivor with its reason."""
    found = list(outcomes())
    states = Counter(status for _, status, _ in found)
    known = reasons()
    os.chdir(COPY)  # where mutmut looks for sources
    survivors = [survivor(name, source) for name, status, source in found if status in SURVIVED]
    reasoned = [
        (one.text, next((reason.why for reason in known if reason.covers(one)), None))
        for one in survivors
    ]
    tried = sum(states[name] for name in (*KILLED, *SURVIVED))
    return {
        "commit": _commit(),
        "killed": sum(states[name] for name in KILLED),
        "survived": len(survivors),
        "explained": sum(why is not None for _, why in reasoned),
        "undecided": len(found) - tried,
        "survivors": [{"mutant": text, "reason": why} for text, why in sorted(reasoned)],
    }


def _commit() -> str:
    from audits.board import commit  # noqa: PLC0415 - after the path is set

    return commit()


def main() -> None:
    """Try all mutants and write the result; fail when one survives without a reason."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=2, help="mutants side by side")
    options = parser.parse_args()
    sys.path.insert(0, str(ROOT))
    prepare()
    run(options.jobs)
    found = result()
    RESULT.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", "utf-8")
    for one in found["survivors"]:
        if one["reason"] is None:
            print(one["mutant"])
    total = found["killed"] + found["survived"]
    print(f"{found['killed']} of {total} killed, {found['explained']} of the others explained")
    if found["explained"] < found["survived"] or found["undecided"]:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
