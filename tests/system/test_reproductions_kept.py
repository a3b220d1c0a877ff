"""The figures in the READMEs of the reproductions are those that a full run printed."""

import pytest

from reproductions.answering import kept
from reproductions.answering.report import REPRODUCTIONS


@pytest.mark.parametrize("paper", ["comp", "cube", "hist"])
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
