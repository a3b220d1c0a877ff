"""Change the release path in thousands of small ways, and see which changes no test notices.

    python audits/mutants.py [--jobs 2]        # make mutants

What is changed is a copy in `.mutants`, with mutmut; a run that was interrupted goes on, and once
a file has changed it tries again what survived. Remove `.mutants` to try everything again.

A mutant is killed by a test that fails or runs far too long, or by mypy, which `make test` runs as
well. One that every test lets pass is a survivor, and so is one that no test runs. Each survivor
needs a reason in `audits/survivors.toml`: why it is no other program, or why what it changes is
not a promise. The result goes to `audits/mutants.json`, which the scoreboard shows.

Not changed are: what stands in a line that raises an error, which is its text, for the texts are
advice and no promise (whether it is raised is decided elsewhere, and that is changed); the names
of failpoints; and what mutmut cannot change: statements outside of functions, and functions with
decorators, such as properties.
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
from collections.abc import Collection, Iterator, Sequence
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
    "src/eke/ledger/required.py",
    "src/eke/privacy/*.py",
)

NOT_MUTATED = (
    # A function in it tells mypy what a law is, and under mutmut's wrapper it no longer does.
    "src/eke/privacy/law.py",
    # What a view does to its tables: read when a dataset is made or opened, never by a release.
    "src/eke/privacy/view.py",
)

TESTS = (
    "tests/unit/engine",
    "tests/unit/mechanism",
    "tests/unit/ledger/test_book.py",
    "tests/unit/ledger/test_store.py",
    "tests/unit/privacy",
    "tests/unit/session/test_caps.py",
    "tests/unit/session/test_keys.py",
    "tests/unit/session/test_nobody_waits.py",
    "tests/unit/session/test_opening.py",
    "tests/unit/session/test_publishing.py",
    "tests/privacy/test_draws_once.py",
    "tests/privacy/test_publication_sensitivity.py",
    "tests/property/test_accounting.py",
    "tests/property/test_exact_integers.py",
)
# Tests that look at the code itself, or exchange a part of it, and find mutmut's wrappers instead.
NOT_THESE = (
    "walking_the_attributes",
    "test_only_the_junction",
    "test_everything_drawn",
    "test_logging_tells_nothing",
    "test_the_search_finds_what_was_wrong_before",
    "test_a_release_that_forgets_its_draws_is_caught",
    "postgresql",  # only because a server must be started for every mutant
)
# Lines that are left as they are: texts of errors, names of failpoints.
UNCHANGED = (r"^\s*raise\b", r"^\s*failpoint\(")
# mutmut writes a method many times into its class, and comments of its own for type checkers.
TYPES = (
    "--output",
    "json",
    "--no-warn-unused-ignores",
    "--disable-error-code",
    "no-redef",
    "--no-warn-return-any",
)
SURVIVED = ("survived", "no tests")
KILLED = ("killed", "timeout", "types")
# What mutmut's codes mean: pytest's own, signals that end what runs too long, and mutmut's.
_STATUS = {
    **dict.fromkeys((1, 3, -11), "killed"),
    **dict.fromkeys((-24, -9, 24, 36, 152, 255), "timeout"),
    **dict.fromkeys((5, 33), "no tests"),
    37: "types",
    0: "survived",
}


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
    """A copy of the files of the project, as they are now, with mutmut's settings."""
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "src", "tests", "data"],  # noqa: S607
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    names = [name for name in listed.stdout.splitlines() if (ROOT / name).exists()]
    changed = [name for name in names if not _same(ROOT / name, COPY / name)]
    remove_all_but(set(names))
    for name in changed:
        (COPY / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, COPY / name)
    (COPY / "plugin").mkdir(parents=True, exist_ok=True)
    shutil.copyfile(ROOT / "audits/mutant_tests.py", COPY / "plugin/mutant_tests.py")
    lines = [f"{name} = {json.dumps(value)}" for name, value in settings().items()]
    project = re.sub(
        r"(?m)^enable_error_code.*\n", "", (ROOT / "pyproject.toml").read_text("utf-8")
    )
    (COPY / "pyproject.toml").write_text("\n".join([project, "[tool.mutmut]", *lines, ""]), "utf-8")
    fresh = [name for name in names if is_mutated(name) and not _meta(name).exists()]
    for name in fresh:  # mutmut goes by times, and may have copied it before as it is
        (COPY / name).touch()
    if changed or fresh:  # other tests may run a function by now
        (COPY / "mutants/mutmut-stats.json").unlink(missing_ok=True)
    forget(survivors=bool(changed))


def is_mutated(name: str) -> bool:
    """Whether a file of the project is one that is changed."""
    return name not in NOT_MUTATED and any(fnmatchcase(name, pattern) for pattern in MUTATED)


def _meta(name: str) -> Path:
    """Where mutmut writes what became of the mutants of a file."""
    return COPY / "mutants" / f"{name}.meta"


def remove_all_but(names: Collection[str]) -> None:
    """Take away from the copy, and from mutmut's copy of it, what the project has no more."""
    for name in ("src", "tests", "data"):
        for root in (COPY, COPY / "mutants"):
            for path in list((root / name).rglob("*")):
                file = path.with_suffix("") if path.suffix in {".meta", ".spans"} else path
                if path.is_file() and str(file.relative_to(root)) not in names:
                    path.unlink()


def settings() -> dict[str, object]:
    """What mutmut is told."""
    unfit = " and ".join(f"not {name}" for name in NOT_THESE)
    checked = [name.replace("*.py", "") for name in MUTATED]
    return {
        "source_paths": ["src"],
        "only_mutate": list(MUTATED),
        "do_not_mutate": list(NOT_MUTATED),
        "do_not_mutate_patterns": list(UNCHANGED),
        "also_copy": ["tests", "data", "pyproject.toml", "plugin"],
        "pytest_add_cli_args": ["-p", "mutant_tests", "-p", "no:cacheprovider", "-k", unfit],
        "pytest_add_cli_args_test_selection": list(TESTS),
        "type_check_command": [sys.executable, "-m", "mypy", *TYPES, *checked],
        # `mutant_tests` stops what runs too long, by processor time. mutmut goes by the clock,
        # and other work on the machine would kill mutants: only what waits for ever meets that.
        "timeout_multiplier": 1.0,
        "timeout_constant": 300.0,
        # A process that has run DuckDB cannot be forked: its threads are gone, and queries hang.
        "process_isolation": "forkserver",
    }


def status_of(code: int | None) -> str:
    """What became of a mutant: one of `KILLED`, one of `SURVIVED`, or undecided."""
    return "undecided" if code is None else _STATUS.get(code, "undecided")


def forget(*, survivors: bool) -> None:
    """Have mutmut try again what was interrupted, and what survived too, if a test may be new."""
    kept = KILLED if survivors else (*KILLED, *SURVIVED)
    for meta in (COPY / "mutants/src").rglob("*.meta"):
        document = json.loads(meta.read_text("utf-8"))
        codes: dict[str, int | None] = document["exit_code_by_key"]
        document["exit_code_by_key"] = {
            name: code if status_of(code) in kept else None for name, code in codes.items()
        }
        meta.write_text(json.dumps(document, indent=4), "utf-8")


def _same(one: Path, other: Path) -> bool:
    return other.exists() and one.read_bytes() == other.read_bytes()


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
    for meta in sorted((COPY / "mutants/src").rglob("*.meta")):
        codes: dict[str, int | None] = json.loads(meta.read_text("utf-8"))["exit_code_by_key"]
        source = meta.with_suffix("").relative_to(COPY / "mutants")
        for name, code in codes.items():
            yield name, status_of(code), source


def function_of(name: str) -> str:
    """The function that a mutant of mutmut's changes, as a reader knows it."""
    module, _, mangled = name.rpartition("__mutmut_")[0].rpartition(".")
    function = mangled.removeprefix("xǁ").replace("ǁ", ".").removeprefix("x_")
    return f"{module.removeprefix('eke.')}.{function}"


def told(name: str, difference: str) -> Survivor:
    """What a mutant changed, from the lines that differ."""
    changed = difference.splitlines()[2:]
    removed = " ".join(line[1:].strip() for line in changed if line.startswith("-"))
    added = " ".join(line[1:].strip() for line in changed if line.startswith("+"))
    return Survivor(function_of(name), removed, added)


def counted(
    states: Sequence[str], survivors: Sequence[Survivor], known: Sequence[Reason]
) -> dict[str, Any]:
    """The numbers, and each survivor with its reason."""
    numbers = Counter(states)
    reasoned = [
        (one.text, next((reason.why for reason in known if reason.covers(one)), None))
        for one in survivors
    ]
    tried = sum(numbers[name] for name in (*KILLED, *SURVIVED))
    return {
        "killed": sum(numbers[name] for name in KILLED),
        "by_types": numbers["types"],
        "survived": len(survivors),
        "explained": sum(why is not None for _, why in reasoned),
        "undecided": len(states) - tried,
        "survivors": [
            {"mutant": text, "reason": why}
            for text, why in sorted(reasoned, key=lambda pair: pair[0])
        ],
    }


def result() -> dict[str, Any]:
    """What was found, and on which commit."""
    from mutmut.mutation.diff_apply import get_diff_for_mutant  # noqa: PLC0415 - of an extra

    found = list(outcomes())
    os.chdir(COPY)  # where mutmut looks for sources
    survivors = [
        told(name, get_diff_for_mutant(name, path=source))
        for name, status, source in found
        if status in SURVIVED
    ]
    return {"commit": _commit(), **counted([one[1] for one in found], survivors, reasons())}


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
