"""`make reproductions` runs every paper side by side, says what each printed, and fails with one.

The papers' own runs are replaced by a script that stands where Python is expected.
"""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAPERS = {path.parent.name for path in (ROOT / "reproductions").glob("*/run.py")}
STANDS_IN = """#!/bin/sh
paper=$(basename $(dirname $1)); shift
echo "$paper" >>ran
echo "$paper was run with $*"
test "$paper" != "$FAILING" || { echo "$paper broke" >&2; exit 3; }
# The first two wait for each other: run one after the other, they give up.
case $paper in online|hist) tries=0
  until grep -q online ran && grep -q hist ran; do
    tries=$((tries + 1)); test $tries -lt 300 || exit 4; sleep 0.1; done;;
esac
echo "$paper is done"
"""


def make(folder: Path, *options: str, failing: str = "") -> subprocess.CompletedProcess[str]:
    """The target of the repository's Makefile, in a folder where everything is installed."""
    (folder / "bin").mkdir()
    script = folder / "bin" / "python"
    script.write_text(STANDS_IN, "utf-8")
    script.chmod(0o755)
    for installed in ("base", "stamp"):
        (folder / installed).touch()
    for needed in ("pyproject.toml", "constraints.txt"):
        (folder / needed).touch()
        os.utime(folder / needed, (0, 0))
    (folder / "stamp").touch()
    shutil.copy(ROOT / "Makefile", folder)
    command = ["make", "reproductions", *options, "BIN=bin", "BASE=base", "STAMP=stamp"]
    environment = {k: v for k, v in os.environ.items() if not k.startswith("MAKE")}
    return subprocess.run(
        command,
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env=environment | {"FAILING": failing},
    )


def test_every_paper_is_run_two_at_a_time(tmp_path: Path) -> None:
    done = make(tmp_path, "KEEP=--keep")
    assert done.returncode == 0, done.stderr
    ran = (tmp_path / "ran").read_text("utf-8").split()
    assert set(ran) == PAPERS
    assert len(ran) == len(PAPERS)
    for paper in PAPERS:
        whole = f"{paper} was run with --workers 1 --keep\n{paper} is done\n"
        assert whole in done.stdout
        assert (tmp_path / f"build/reproductions/{paper}.log").read_text("utf-8") == whole


@pytest.mark.parametrize("failing", ["online", "cube"])
def test_one_that_fails_fails_the_whole_and_not_the_others(tmp_path: Path, failing: str) -> None:
    done = make(tmp_path, failing=failing)
    assert done.returncode != 0
    assert f"{failing} broke" in done.stdout
    assert f"{failing} is done" not in done.stdout
    for paper in PAPERS - {failing}:
        assert f"{paper} is done" in done.stdout
