"""The page of the tutorial as tests read it: its commands, and what it shows below each."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tests.command_line import Shown

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "tutorial.md").read_text("utf-8")
# Not run by tests: they make the environment that runs the rest.
INSTALLING = ("python3 -m venv .venv", ". .venv/bin/activate", "pip install -c constraints.txt .")
CODES = {"refused:": 3, "error:": 1}


class Step(NamedTuple):
    """A command of the tutorial and what is printed below it."""

    command: str
    shown: str

    @property
    def words(self) -> list[str]:
        return shlex.split(self.command.replace("\\\n", " "))


def steps() -> Iterator[Step]:
    for block in re.findall(r"^```console\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            found = re.match(r"((?:[^\n]*\\\n)*[^\n]*\n)(.*)", part, re.DOTALL)
            assert found is not None
            yield Step(found[1].strip(), found[2])


def shape(text: str) -> str:
    """A text without what depends on the noise, the clock and the width of numbers."""
    text = re.sub(r"[▁▂▃▄▅▆▇█░]+", "~", text)
    text = re.sub(r"[├─●┤]+", "|", text)
    text = re.sub(r"\b[0-9a-f]{16}\b", "HASH", text)
    text = re.sub(r"[+-]?\d[\d,.:-]*(e[+-]?\d+)?", "#", text)
    return " ".join(text.split())


STEPS = list(steps())


def code() -> str:
    """The Python of the tutorial, as one program."""
    return "".join(re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL))


def lay_out(folder: Path) -> None:
    """Put into a folder what the commands of the tutorial find there: the data and the domain."""
    (folder / "data").symlink_to(ROOT / "data")
    (domain,) = re.findall(r"^```yaml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    (folder / "adult.yaml").write_text(domain, "utf-8")


def check(step: Step, found: Shown) -> None:
    """Fail unless a command printed what the tutorial shows below it, but for the noise."""
    printed = found.out + found.err
    assert found.code == next((c for word, c in CODES.items() if step.shown.startswith(word)), 0)
    if "…\n" in step.shown:  # an excerpt
        for part in step.shown.split("…\n"):
            assert shape(part) in shape(printed)
        return
    assert shape(printed) == shape(step.shown)
