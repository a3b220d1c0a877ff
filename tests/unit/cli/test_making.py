"""`eke draft`, `eke check` and `eke init`: from a table to a dataset."""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd
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


@pytest.mark.parametrize("command", [("check",), ("init", "--epsilon", "1")])
def test_whoever_forgets_the_domain_is_told_where_to_get_one(
    people: People, run: Run, command: tuple[str, ...]
) -> None:
    shown = run(*command, people[0])
    assert shown.code == 2
    assert "eke draft" in shown.err


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
    options = "--epsilon 2 --policy direct --unit age --rows 3 --allow-loss"
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


# -- what the domain does to the table -----------------------------------------------------------


def lossy(people: People, wrong: int) -> People:
    """People of whom so many of a thousand have a sex that is not declared, spelled in a secret."""
    table, domain = people
    lines = table.read_text("utf-8").splitlines()
    spoilt = [re.sub(r",\w+,", ",canary-sex,", line) for line in lines[1 : wrong + 1]]
    table.write_text("\n".join([lines[0], *spoilt, *lines[wrong + 1 :]]) + "\n", "utf-8")
    return table, domain


def test_check_prints_what_the_rules_do(people: People, run: Run) -> None:
    shown = run("check", *lossy(people, 30), "--unit", "age", "--rows", 3)
    assert shown.code == 0, shown.err
    assert "1,000 rows read, 180 kept (18.0 %)" in shown.words
    assert "790 rows truncated: 60 of 60 ids (age) have more than 3" in shown.words
    assert "sex 0 30 30 0 0 0 0 null: drop, outside: drop" in shown.words
    assert "hours 20 0 0 0 0 20 0 null: bucket, outside: clamp" in shown.words
    assert "Look: more than 5 % of the rows" in " ".join(shown.err.split())
    assert "for its curator alone" in shown.err
    assert "canary" not in shown.out + shown.err


def test_check_says_what_is_wrong_with_its_table(people: People, tmp_path: Path, run: Run) -> None:
    assert "no file" in run("check", tmp_path / "none.csv", people[1]).err
    assert "no column" in run("check", *people, "--unit", "nobody").err


@pytest.mark.parametrize(
    ("wrong", "said"), [(50, None), (51, "outside: drop"), (501, "more than half")]
)
def test_init_refuses_to_lose_much_of_the_table_unless_told(
    people: People, tmp_path: Path, run: Run, wrong: int, said: str | None
) -> None:
    made = tmp_path / "new.eke"
    words = ("init", *lossy(people, wrong), "--epsilon", 1, "-o", made)
    shown = run(*words)
    told = " ".join(shown.err.split())
    assert "Private: for you alone." in told
    assert f"1,000 rows read, {1000 - wrong} kept" in told
    assert f"Column 'sex' loses most: {wrong} rows dropped" in told
    if said is None:
        assert shown.code == 0
        assert made.exists()
        return
    assert shown.code == 1
    assert not made.exists()
    error = told.partition("error: ")[2]
    for part in (said, "'sex'", "Declare the public values", "--allow-loss"):
        assert part in error
    assert not re.search(r"\d{2}", error), "an error carries no counts"
    assert "rows read" not in run(*words, "--json").err
    assert run(*words, "--allow-loss").code == 0
    assert made.exists()


def test_init_refuses_a_unit_that_truncates_much(people: People, tmp_path: Path, run: Run) -> None:
    made = tmp_path / "new.eke"
    words = ("init", *people, "--epsilon", 1, "--unit", "age", "--rows", 3, "-o", made)
    shown = run(*words)
    assert shown.code == 1
    assert "ids of column 'age' have more rows than the 3" in " ".join(shown.err.split())
    assert not made.exists()


def test_no_count_of_a_check_is_stored(people: People, tmp_path: Path, run: Run) -> None:
    """The exact figures are in no entry, setting, report or JSON of the dataset."""
    made = tmp_path / "new.eke"
    table, domain = lossy(people, 37)
    shown = run("init", table, domain, "--epsilon", 1, "-o", made, "--json")
    assert shown.err == ""
    assert "963" not in shown.out
    assert b"963" not in re.sub(rb"[0-9a-f]{16,}|[0-9]{9,}", b"", made.read_bytes())
    for what in ("ledger", "report", "history"):
        assert "963" not in re.sub(r"[0-9a-f]{16,}|[0-9.]{9,}", "", run("export", made, what).out)


def test_verify_repeats_the_check_only_when_told(people: People, tmp_path: Path, run: Run) -> None:
    made = tmp_path / "new.eke"
    table, domain = lossy(people, 40)
    assert run("init", table, domain, "--epsilon", 1, "-o", made).code == 0
    assert "rows read" not in run("verify", made).out
    shown = run("verify", made, "--data")
    assert shown.code == 0
    assert shown.words.startswith("Intact")
    assert "1,000 rows read, 960 kept" in shown.words
    found = run("verify", made, "--data", "--json").json
    assert found["check"] == run("check", table, domain, "--json").json
    table.write_text(table.read_text("utf-8") + "30,Male,3\n", "utf-8")
    changed = run("verify", made, "--data")
    assert changed.code == 1
    assert "has changed" in changed.err


def test_a_table_in_memory_is_checked_in_python(people: People, tmp_path: Path, run: Run) -> None:
    eke.create(tmp_path / "m.eke", pd.read_csv(people[0]), people[1], epsilon=1.0)
    shown = run("verify", tmp_path / "m.eke", "--data")
    assert shown.code == 1
    assert "eke.check(table, domain)" in shown.err
