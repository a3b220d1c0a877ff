"""The wheel of the checkout, and an environment with the wheel, its base dependencies, no more.

Nothing is downloaded: the build uses the setuptools of this environment, and the dependencies are
links to those installed here.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import venv
from importlib.metadata import Distribution, distribution
from pathlib import Path
from zipfile import ZipFile

from packaging.requirements import Requirement

from tests.command_line import Shown

ROOT = Path(__file__).resolve().parents[1]
_PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check", "-q")


def build(folder: Path) -> Path:
    """The wheel of the checkout, built from a copy so that the checkout stays as it is."""
    copy = folder / "checkout"
    shutil.copytree(
        ROOT / "src",
        copy / "src",
        ignore=shutil.ignore_patterns("__pycache__", "*.egg-info", "*.nb[ci]"),
    )
    shutil.copytree(ROOT / "data", copy / "data")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, copy)
    _run(*_PIP, "wheel", "--no-deps", "--no-index", "--no-build-isolation", "-w", folder, copy)
    (found,) = folder.glob("*.whl")
    return found


def held(wheel: Path) -> list[str]:
    """The names of the files in a wheel."""
    with ZipFile(wheel) as archive:
        return archive.namelist()


class Environment:
    """A virtual environment that holds a wheel and what it needs without extras."""

    def __init__(self, folder: Path, wheel: Path) -> None:
        self._binaries = folder / "bin"
        venv.create(folder, symlinks=True)
        (packages,) = folder.glob("lib/python*/site-packages")
        _run(
            *_PIP,
            *("--python", self._binaries / "python"),
            *("install", "--no-deps", "--no-index", "--no-compile", wheel),
        )
        (metadata,) = packages.glob("eke-*.dist-info")
        self.names = _link(Distribution.at(metadata), packages)

    def call(self, command: str, *words: object, folder: Path, **variables: str) -> Shown:
        """What a program of the environment prints at 80 columns, with no variable of ours."""
        kept = {name: os.environ[name] for name in ("HOME", "LANG", "PATH") if name in os.environ}
        done = subprocess.run(
            [self._binaries / command, *map(str, words)],
            cwd=folder,
            env={**kept, "COLUMNS": "80", "TERM": "dumb", "PYTHONUTF8": "1", **variables},
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=False,
        )
        return Shown(done.returncode, done.stdout, done.stderr)


def _link(wanted: Distribution, packages: Path) -> set[str]:
    """Link what a distribution needs, directly or not, into a folder; the names of all of it."""
    names: set[str] = set()
    waiting = [(wanted, frozenset({""}))]
    while waiting:
        owner, extras = waiting.pop()
        for requirement in map(Requirement, owner.requires or ()):
            marker = requirement.marker
            if marker and not any(marker.evaluate({"extra": extra}) for extra in extras):
                continue
            found = distribution(requirement.name)
            if found.name in names:
                continue
            names.add(found.name)
            waiting.append((found, frozenset({"", *requirement.extras})))
            for top in {path.parts[0] for path in found.files or ()} - {"..", "__pycache__"}:
                (packages / top).symlink_to(Path(str(found.locate_file(top))))
    return names


def _run(*words: object) -> None:
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
