"""The documentation: its examples run, its links lead somewhere, its lists are complete."""

from __future__ import annotations

import importlib
import io
import math
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest
from rich.console import Console

import eke
from eke import errors
from eke.cli.demo import run_demo
from eke.inference.regression import RESOLUTION
from eke.inference.state import LEAST_CELLS
from eke.planning.online.question_demand import MOST_ROWS, MOST_TABLE_ROWS
from eke.privacy.loss_tables import LARGEST_TABLE
from eke.query.canonical import DENSE_CELLS
from eke.session.release.measured import MOST_SINGLE_ANSWERS
from eke.sql.grouping import MOST_GROUPS
from eke.wire.setting import ConnectionSettings

ROOT = Path(__file__).resolve().parents[2]
INDEX = ROOT / "docs" / "README.md"
README = ROOT / "README.md"
PAGES = [README, *sorted((ROOT / "docs").rglob("*.md"))]

FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def blocks(page: Path, language: str) -> list[tuple[int, str]]:
    """(line number, code) of the fenced blocks in a language."""
    text = page.read_text("utf-8")
    return [
        (text.count("\n", 0, found.start(2)) + 1, found[2])
        for found in FENCE.finditer(text)
        if found[1] == language
    ]


@cache
def prose(page: Path) -> str:
    """The text of a page without its fenced blocks."""
    return FENCE.sub("", page.read_text("utf-8"))


def run_blocks(page: Path) -> dict[str, object]:
    """The names that the Python blocks of a page leave, run in order as one program."""
    names: dict[str, object] = {"__name__": "__main__"}
    for line, code in blocks(page, "python"):
        # Empty lines in front, so that a traceback shows the page's own line numbers.
        exec(compile("\n" * (line - 1) + code, str(page), "exec"), names)
    return names


# Its Python goes on where its commands end: tests/system/test_tutorial.py runs both.
TUTORIAL = ROOT / "docs" / "tutorial.md"


@pytest.mark.parametrize(
    "page", [p for p in PAGES[1:] if blocks(p, "python") and p != TUTORIAL], ids=name_of
)
def test_python_blocks_run(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "data").symlink_to(ROOT / "data")
    monkeypatch.chdir(tmp_path)
    run_blocks(page)
    assert "Traceback" not in capsys.readouterr().out


def test_a_failing_block_is_noticed(tmp_path: Path) -> None:
    """Positive control."""
    page = tmp_path / "page.md"
    page.write_text("text\n\n```python\nx = 1\n```\n\n```python\nassert x == 2\n```\n", "utf-8")
    with pytest.raises(AssertionError):
        run_blocks(page)


def test_the_example_of_the_readme_is_short_and_does_what_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ((_, code),) = blocks(README, "python")
    assert len([line for line in code.splitlines() if line]) <= 12
    (tmp_path / "data").symlink_to(ROOT / "data")
    monkeypatch.chdir(tmp_path)
    names = run_blocks(README)
    by_sex, everyone = names["by_sex"], names["everyone"]
    assert isinstance(by_sex, eke.Answer)
    assert not by_sex.is_number
    assert not by_sex.free
    assert isinstance(everyone, eke.Answer)
    assert everyone.free
    assert 290_000 < everyone.value < 310_000, "the labels of the domain are those of the table"


# -- links ---------------------------------------------------------------------------------------


@cache
def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, made as code hosts make them."""
    titles = HEADING.findall(prose(page))
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def links(page: Path) -> Iterator[tuple[Path, str]]:
    """(file, anchor) of every relative link."""
    for target in LINK.findall(prose(page)):
        if re.match(r"[a-z]+:", target):
            continue
        place, _, anchor = target.partition("#")
        yield (page.parent / place).resolve() if place else page, anchor


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_relative_links_resolve(page: Path) -> None:
    found = list(links(page))
    assert [name_of(file) for file, _ in found if not file.exists()] == []
    assert [a for file, a in found if a and a not in anchors(file)] == []
    assert all(ROOT in file.parents for file, _ in found), "a link leaves the repository"


def test_every_page_can_be_reached_from_the_index() -> None:
    reached, waiting = set(), [INDEX]
    while waiting:
        page = waiting.pop()
        if page not in reached and page in PAGES:
            reached.add(page)
            waiting += [file for file, _ in links(page)]
    assert {name_of(page) for page in PAGES} - {name_of(page) for page in reached} == set()
    listed = {file for file, _ in links(INDEX)}
    assert {name_of(p) for p in PAGES} - {name_of(p) for p in listed} == {name_of(INDEX)}


def resolve(dotted: str) -> object:
    """The object that a dotted name such as eke.query.Query.numerators stands for."""
    first, *rest = dotted.split(".")
    found: object = importlib.import_module(first)
    so_far = first
    for part in rest:
        so_far += f".{part}"
        if isinstance(found, ModuleType) and not hasattr(found, part):
            importlib.import_module(so_far)
        found = getattr(found, part)
    return found


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_code_names_exist(page: Path) -> None:
    quoted = re.findall(r"`([^`\n]+)`", prose(page))
    for text in quoted:
        dotted = re.match(r"eke(\.[A-Za-z_]\w*)+", text)
        if dotted and dotted[0] not in ConnectionSettings("").values:  # SET eke.within = …
            resolve(dotted[0])
        elif re.fullmatch(r"[\w./-]+(\.py|\.toml|/)", text) and "/" in text:
            assert any((base / text).exists() for base in (ROOT, ROOT / "src" / "eke")), text


def test_a_missing_name_is_noticed() -> None:
    """Positive control."""
    with pytest.raises((AttributeError, ModuleNotFoundError)):
        resolve("eke.query.Nothing.like_this")


# -- the README ----------------------------------------------------------------------------------


def section(page: Path, title: str) -> str:
    """The text under a heading, up to the next heading of the same or a higher rank."""
    text = page.read_text("utf-8")
    found = re.search(rf"^(#+) {re.escape(title)}$", text, re.MULTILINE)
    assert found is not None, f"{name_of(page)} has no section {title!r}"
    rest = text[found.end() :]
    end = re.search(rf"^#{{1,{len(found[1])}}} ", rest, re.MULTILINE)
    return rest[: end.start()] if end else rest


def packages() -> set[str]:
    return {init.parent.name for init in (ROOT / "src" / "eke").glob("*/__init__.py")}


def test_the_map_lists_every_package_and_only_these() -> None:
    listed = re.findall(r"^\| \[`(\w+)`\]", section(README, "A map"), re.MULTILINE)
    assert set(listed) == packages()
    assert len(listed) == len(set(listed))


def test_what_is_not_there_yet_is_not_there() -> None:
    _, _, planned = section(README, "Status").partition("Not yet")
    named = set(re.findall(r"\(`(\w+)`\)", planned))
    assert named == {"sql", "publish", "service"} - packages(), "update the README's status"


def test_the_status_names_the_version() -> None:
    assert f"version {eke.__version__}." in section(README, "Status")


def masked(line: str) -> str:
    """A line of the demo without what the noise decides, and with single blanks."""
    number = r"-?[\d,]+"
    return " ".join(re.sub(rf"{number} +{number} to {number}", "(noisy)", line).split())


def test_figures_of_the_demo_are_not_stale(tmp_path: Path) -> None:
    printed = io.StringIO()
    run_demo(tmp_path, Console(file=printed, width=200))
    shown = [masked(line) for line in printed.getvalue().splitlines()]
    text = section(README, "What the demo prints")
    assert "<!-- from: make demo -->" in text
    excerpt = [line for _, code in blocks(README, "text") for line in code.splitlines()]
    assert len(excerpt) > 10
    assert [line for line in excerpt if masked(line) not in shown] == []
    # The sentence of the introduction, too.
    spent = re.search(r"epsilon 0\.(\d{3})\d* spent of 1,", printed.getvalue())
    free = sum(" free left " in line for line in shown)
    asked = free + sum(bool(re.search(r" paid \S+ left ", line)) for line in shown)
    assert spent is not None
    assert (asked, free) == (12, 5)
    why = " ".join(section(README, "Why").split())
    assert "twelve questions, five of them free" in why
    assert f"spend 0.{spent[1]} of an epsilon of 1" in why


LIMITS = "docs/concepts/known-limits.md"


@pytest.mark.parametrize(
    ("page", "figure"),
    [
        (LIMITS, f"at most {MOST_ROWS:,} cells"),
        (LIMITS, f"more than {LARGEST_TABLE:,} cells"),
        (LIMITS, f"at most {LEAST_CELLS:,} cells"),
        (LIMITS, f"more than {MOST_SINGLE_ANSWERS:,} answers"),
        (LIMITS, f"a relative squared distance of 1e-{round(-math.log10(RESOLUTION))}, "),
        (LIMITS, f"a dense `eke.table` {DENSE_CELLS:,} cells"),
        ("README.md", f"marginals of up to {MOST_TABLE_ROWS:,} cells"),
        (LIMITS, f"at most {MOST_TABLE_ROWS:,} cells by `ask`"),
        ("docs/reference/sql.md", f"at most {MOST_GROUPS:,} groups"),
        ("docs/reference/python.md", f"at most {DENSE_CELLS:,}."),
        ("docs/proofs/accounting.md", f"Up to 2^{LARGEST_TABLE.bit_length() - 1} cells"),
    ],
)
def test_figures_of_the_code_are_not_stale(page: str, figure: str) -> None:
    assert figure in " ".join(re.sub(r"\*\*", "", (ROOT / page).read_text("utf-8")).split())


# -- the reference -------------------------------------------------------------------------------


def error_classes() -> dict[str, type[Exception]]:
    return {
        name: found
        for name, found in vars(errors).items()
        if isinstance(found, type) and issubclass(found, errors.EkeError)
    }


def test_every_error_is_in_the_reference_with_its_parents_and_advice() -> None:
    page = ROOT / "docs" / "reference" / "errors.md"
    rows = re.findall(r"^\| `(\w+)` \| (.+?) \| (.+?) \| (.+?) \|$", prose(page), re.MULTILINE)
    assert [name for name, *_ in rows] == list(error_classes())
    for name, parents, when, advice in rows:
        bases = [base.__name__ for base in error_classes()[name].__bases__]
        assert parents == ", ".join(f"`{base}`" for base in bases)
        assert len(when.split()) > 3
        assert len(advice.split()) > 2
    ((_, tree),) = blocks(page, "text")
    assert tree.strip() in "\n".join(
        re.sub(r"(\w)  .*", r"\1", line) for line in (errors.__doc__ or "").splitlines()
    ), "the tree is that of the module"


def test_the_glossary_has_each_word_once_and_in_bold() -> None:
    rows = section(ROOT / "docs" / "concepts" / "glossary.md", "Glossary").splitlines()
    words = [found[1] for row in rows if (found := re.match(r"\| \*\*(.+?)\*\*", row))]
    assert len(words) > 30
    assert len(set(words)) == len(words)
