"""A small dataset for the commands, and a shell to call them in."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.command_line import Run, call, write_people


@pytest.fixture(scope="session")
def run() -> Run:
    return call


@pytest.fixture
def people(tmp_path: Path) -> tuple[Path, Path]:
    return write_people(tmp_path)


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory, run: Run) -> Path:
    """A dataset with a limit of epsilon 20; the tests of a module share what they spend."""
    folder = tmp_path_factory.mktemp("dataset")
    table, domain = write_people(folder)
    made = run("init", table, domain, "--epsilon", "20", "-o", folder / "people.eke")
    assert made.code == 0, made.err
    return folder / "people.eke"
