"""Row: one line of the scoreboard, and Check: whoever measures some of them."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

ROOT = Path(__file__).resolve().parents[1]
Verdict = Literal["passed", "FAILED", "CONTROL MISSED"]


@dataclass(frozen=True, slots=True)
class Scale:
    """How much is tried: `full` for `make audit`, `tiny` for `make test`, the code being the same.

    What a tiny number of samples can show is less: the controls are then broken more roughly.
    """

    name: Literal["full", "tiny"]

    @property
    def full(self) -> bool:
        return self.name == "full"

    def of(self, full: int, tiny: int) -> int:
        """The number for this scale."""
        return full if self.full else tiny


FULL, TINY = Scale("full"), Scale("tiny")


@dataclass(frozen=True, slots=True)
class Row:
    """What one check found.

    `control` says what the same check made of a version that is broken on purpose, and `caught`
    whether it noticed: a check that cannot fail shows nothing. `commit` is what was checked.
    """

    title: str
    samples: str
    figure: str
    control: str
    passed: bool
    caught: bool
    commit: str = ""

    def __post_init__(self) -> None:
        for text in (self.title, self.samples, self.figure, self.control):
            if not text or "|" in text or "\n" in text:
                raise ValueError("the texts of a row are single, non-empty lines without bars")

    @property
    def verdict(self) -> Verdict:
        if not self.passed:
            return "FAILED"
        return "passed" if self.caught else "CONTROL MISSED"

    def to_document(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Check:
    """A check that can be run alone: `python audits/run.py NAME`.

    `function` of `audits/<module>.py` takes the scale and gives the rows; it is imported when it is
    run, for some modules load whole servers. `needs` are files of the repository without which
    there is nothing to run; `minutes` is about what the full scale takes, so that long checks are
    begun first. One that is `alone` runs when all others are done: it measures time.
    """

    name: str
    module: str
    function: str
    minutes: float = 1.0
    needs: tuple[str, ...] = ()
    alone: bool = False

    def run(self, scale: Scale) -> tuple[Row, ...]:
        """The rows of this check; one that says so when a needed file is missing."""
        missing = [name for name in self.needs if not (ROOT / name).exists()]
        if missing:
            return (broken(self.name, f"there is no {', '.join(missing)}"),)
        measure = getattr(import_module(f"audits.{self.module}"), self.function)
        rows: tuple[Row, ...] = measure(scale)
        return rows


def broken(check: str, reason: str) -> Row:
    """The row of a check that could not be run: that is a failure, not a gap."""
    line = " ".join(reason.replace("|", "/").split()) or "no reason given"
    return Row(check, "0", line[-300:], "not run", passed=False, caught=False)


def number(value: int) -> str:
    """A count as the scoreboard shows it: 1,000,000."""
    return f"{value:,}"
