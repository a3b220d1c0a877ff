"""The figures in the READMEs of the reproductions are those that a full run printed."""

from pathlib import Path

import pytest

from reproductions.answering import kept
from reproductions.answering.report import REPRODUCTIONS, Report, command_line


@pytest.mark.parametrize("paper", ["bayes", "comp", "cube", "hist", "online"])
def test_the_figures_in_a_readme_are_those_of_the_run(paper: str) -> None:
    folder = REPRODUCTIONS / paper
    figures = kept.read(folder)
    assert figures
    readme = (folder / "README.md").read_text("utf-8")
    assert kept.with_summary(readme, figures) == readme
    assert kept.tables_page(figures) == (folder / "tables.md").read_text("utf-8")


def test_a_figure_changed_by_hand_is_noticed() -> None:
    """Positive control."""
    folder = REPRODUCTIONS / "cube"
    readme = (folder / "README.md").read_text("utf-8")
    changed = readme.replace("worse than F", "better than F")
    assert changed != readme
    assert kept.with_summary(changed, kept.read(folder)) != changed


def test_what_a_run_says_is_kept_at_once_and_replaces_what_was_said(tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / "plots").mkdir(parents=True)
    (home / "README.md").write_text(f"before\n\n{kept.START}\n{kept.END}\n\nafter\n", "utf-8")
    for run, value in (("--seed 1", 0.25), ("--seed 2", 0.5)):
        report = Report(tmp_path / "out", False, 1, 1, home, run)
        report.table("errors of Q*1", ["method", "error"], [["F+", value]])
        report.picture("figure4").write_bytes(b"a picture")
        report.says("4", "small | large", f"it is {value}")
    assert (home / "plots" / "figure4.png").read_bytes() == b"a picture"
    readme = (home / "README.md").read_text("utf-8")
    assert "| 4 | small \\| large | it is 0.5 |" in readme
    assert "0.25" not in readme
    assert readme.startswith("before\n")
    assert readme.endswith("\n\nafter\n")
    tables = (home / "tables.md").read_text("utf-8")
    assert "| F+ | 0.5 |" in tables
    assert "--seed 2" in tables


@pytest.mark.parametrize("small", [["--quick"], ["--data", "other.csv"]])
def test_only_full_runs_on_the_tables_of_the_repository_are_kept(small: list[str]) -> None:
    with pytest.raises(SystemExit):
        command_line("CUBE", ["4"], ["--keep", *small])
