"""The demonstration shows what it promises, on the real Adult table."""

from __future__ import annotations

import io
import re
from importlib.metadata import PackagePath, PathDistribution
from pathlib import Path

import pytest
from rich.console import Console

import eke
from eke.cli import demo
from eke.cli.demo import AFTERNOON, run_demo


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """What the demo prints, and where it put its files."""
    folder = tmp_path_factory.mktemp("demo")
    console = Console(record=True, width=100, file=io.StringIO())
    run_demo(folder, console)
    return console.export_text(), folder


def test_every_question_has_value_interval_source_and_budget_left(
    shown: tuple[str, Path],
) -> None:
    text, _ = shown
    lines = re.findall(r"(free|paid \d\.\d{4}) +left (\d\.\d{4})", text)
    assert len(lines) == len(AFTERNOON)
    left = [float(amount) for _, amount in lines]
    assert left == sorted(left, reverse=True)
    for (source, _), before, after in zip(lines[1:], left, left[1:], strict=False):
        assert source != "free" or before == after
    assert sum(source == "free" for source, _ in lines) >= 4
    assert len({asked.analyst for asked in AFTERNOON}) == 3


def test_repeat_is_free_refusal_advises_and_claim_has_a_probability(
    shown: tuple[str, Path],
) -> None:
    text = " ".join(shown[0].split())
    assert re.search(r"Ben repeats.*Free: what was released before.*Ana wants", text)
    refusal = text[text.index("refused:") :]
    assert "Nothing was" in refusal
    assert re.search(r"is free now \(ask with within=[\d.]+\)", refusal)
    assert re.search(r"narrowest interval the remaining budget can buy is ±[\d.]+", refusal)
    probability = re.search(r"what was released: ([01]\.\d{3})", text)
    assert probability is not None
    assert 0.0 <= float(probability[1]) <= 1.0


def test_report_has_posteriors_and_budget_over_time(shown: tuple[str, Path]) -> None:
    _, folder = shown
    page = (folder / "report.html").read_text("utf-8")
    assert page.count("aria-label='posterior density'") >= 8
    assert "epsilon spent after each paid question" in page
    assert "Everything released" in page
    assert not re.search(r"(src|href)=['\"]?http", page)


def test_dataset_is_intact_and_open_for_more(shown: tuple[str, Path]) -> None:
    _, folder = shown
    session = eke.open(folder / "adult.eke")
    assert session.verify().problems == ()
    again = session.ask(AFTERNOON[1].query, AFTERNOON[1].within)
    assert again.free


def test_the_table_is_what_a_wheel_installed_else_that_of_the_checkout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert demo.adult_file() == Path(__file__).resolve().parents[2] / "data" / "adult.data.gz"
    table = tmp_path / "share" / "eke" / "adult.data.gz"
    listed = PackagePath("share/eke/adult.data.gz")
    listed.dist = PathDistribution(tmp_path / "eke-0.1.0.dist-info")
    monkeypatch.setattr(demo, "files", lambda _: [listed])
    monkeypatch.setattr(demo, "__file__", str(tmp_path / "eke" / "cli" / "demo.py"))
    monkeypatch.chdir(tmp_path)
    with pytest.raises(eke.EkeError, match="install eke again"):
        demo.adult_file()
    table.parent.mkdir(parents=True)
    table.touch()
    assert demo.adult_file() == table
