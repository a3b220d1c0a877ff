"""`eke draft` and `eke init`: from a table to a dataset."""

from __future__ import annotations

from pathlib import Path

import pytest

import eke
from tests.command_line import Run

People = tuple[Path, Path]


def test_draft_writes_a_domain_and_warns_that_it_is_private(
    people: People, tmp_path: Path, run: Run
) -> None:
    target = tmp_path / "draft.yaml"
    shown = run("draft", people[0], "-o", target)
    assert shown.code == 0, shown.err
    assert shown.out == ""
    assert "Private until confirmed" in shown.err
    assert set(eke.read_domain(target).names) == {"age", "sex", "hours"}
    assert "is PRIVATE" in target.read_text("utf-8")


def test_draft_does_not_replace_a_file_unless_told(
    people: People, tmp_path: Path, run: Run
) -> None:
    target = tmp_path / "draft.yaml"
    target.write_text("mine", "utf-8")
    shown = run("draft", people[0], "-o", target)
    assert shown.code == 1
    assert "--force" in shown.err
    assert target.read_text("utf-8") == "mine"
    assert run("draft", people[0], "-o", target, "--force").code == 0


def test_a_draft_that_nobody_checked_protects_nothing(
    people: People, tmp_path: Path, run: Run
) -> None:
    draft = tmp_path / "draft.yaml"
    run("draft", people[0], "-o", draft)
    shown = run("init", people[0], draft, "--epsilon", 1, "-o", tmp_path / "new.eke")
    assert shown.code == 1
    assert "still the draft" in " ".join(shown.err.split())
    assert not (tmp_path / "new.eke").exists()
    lines = draft.read_text("utf-8").splitlines()
    checked = [line for line in lines if not line.lstrip().startswith("#")]
    draft.write_text("\n".join(checked), "utf-8")
    assert run("init", people[0], draft, "--epsilon", 1, "-o", tmp_path / "new.eke").code == 0


def test_init_names_the_dataset_after_the_table(
    people: People, monkeypatch: pytest.MonkeyPatch, run: Run
) -> None:
    table, _ = people
    monkeypatch.chdir(table.parent)
    shown = run("init", "people.csv", "people.yaml", "--rho", "0.1")
    assert shown.code == 0, shown.err
    assert "people.eke protects people.csv" in shown.words
    assert "limit rho 0.1" in shown.words
    assert "Next: eke ask people.eke" in shown.words
    assert eke.open(table.parent / "people.eke").budget.measure == "rho"


def test_init_passes_on_what_create_takes(people: People, tmp_path: Path, run: Run) -> None:
    made, other = tmp_path / "a.eke", tmp_path / "b.eke"
    options = "--epsilon 2 --policy direct --unit age --rows 3"
    assert run("init", *people, *options.split(), "-o", made).code == 0
    settings = eke.open(made).settings
    assert settings["policy"] == "direct"
    assert settings["unit"] == {"column": "age", "rows": 3}
    options = "--epsilon 2 --neighbours replace_one"
    assert run("init", *people, *options.split(), "-o", other).code == 0
    assert eke.open(other).settings["neighbours"] == "replace_one"


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        ("", 2, "--epsilon or --rho"),
        ("--epsilon 1 --rho 1", 2, "--epsilon or --rho"),
        ("--epsilon -1", 1, "positive"),
        ("--epsilon 1 --neighbours both", 2, "neighbours"),
        ("--epsilon 1 --policy best", 2, "policy"),
        ("--epsilon 1 --table people", 1, ""),
        ("--epsilon 1 --unit nothing", 1, "nothing"),
    ],
)
def test_init_refuses_what_makes_no_sense_and_leaves_no_file(
    people: People, tmp_path: Path, run: Run, options: str, code: int, said: str
) -> None:
    made = tmp_path / "new.eke"
    shown = run("init", *people, "-o", made, *options.split())
    assert shown.code == code
    assert said in " ".join(shown.err.split())
    assert not made.exists()


def test_init_does_not_replace_a_dataset(people: People, tmp_path: Path, run: Run) -> None:
    made = tmp_path / "new.eke"
    assert run("init", *people, "--epsilon", 1, "-o", made).code == 0
    before = made.read_bytes()
    assert run("init", *people, "--epsilon", 9, "-o", made).code == 1
    assert made.read_bytes() == before


def test_text_files_of_any_name_are_read_with_csv_options(tmp_path: Path, run: Run) -> None:
    table, domain = tmp_path / "people.data", tmp_path / "people.yaml"
    table.write_text("30\tFemale\n?\tMale\n", "utf-8")
    domain.write_text(
        "format: eke-domain/1\nattributes:\n"
        "  age: {type: integer, low: 0, high: 99, 'null': bucket}\n"
        "  sex: {type: categorical, values: [Female, Male]}\n",
        "utf-8",
    )
    made = tmp_path / "people.eke"
    options = ("--columns", "age, sex", "--null", "?", "--delimiter", r"\t", "--epsilon", 50)
    shown = run("init", table, domain, *options, "-o", made)
    assert shown.code == 0, shown.err
    answer = run("ask", made, "SELECT COUNT(*) FROM p WHERE age IS NULL", "-w", "0.1", "--json")
    assert round(answer.json["value"]) == 1
    plain = run("draft", table, "-o", tmp_path / "draft.yaml")
    assert plain.code == 1
    assert "cannot tell" in plain.err
    assert "--columns" in plain.err
