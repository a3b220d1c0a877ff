"""`eke ask`, `preview` and `explain`: drawn for people, stable for scripts."""

from __future__ import annotations

import csv
import io
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import eke
from eke.engine import vault
from eke.errors import DataError
from tests.command_line import Run

WOMEN = "SELECT COUNT(*) FROM people WHERE sex = 'Female'"
BY_SEX = "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex"


def test_an_answer_shows_value_interval_posterior_and_price(dataset: Path, run: Run) -> None:
    shown = run("ask", dataset, WOMEN, "--within", "60")
    assert shown.code == 0, shown.err
    assert re.search(r"\d+ +\d+ to \d+ with probability 0\.95 \(±\d+\)", shown.out)
    assert re.search(r"[▁▂▃▄▅▆▇█]{60,}", shown.out)
    assert re.search(r"├─+●─+┤", shown.out)
    assert re.search(r"Paid epsilon|Free:", shown.out)
    assert max(map(len, shown.out.splitlines())) <= 80
    again = run("ask", dataset, WOMEN, "--within", "60")
    assert "Free:" in again.out


def test_groups_are_a_table_with_bars_on_one_scale(dataset: Path, run: Run) -> None:
    shown = run("ask", dataset, BY_SEX, "-w", "30")
    assert shown.code == 0, shown.err
    lines = shown.out.splitlines()
    women = next(line for line in lines if line.strip().startswith("Female"))
    men = next(line for line in lines if line.strip().startswith("Male"))
    assert women.index("●") > men.index("●"), "two of three are women"
    assert max(map(len, lines)) <= 80


@pytest.mark.parametrize("width", [40, 80, 120, 200])
def test_every_width_is_kept(dataset: Path, run: Run, width: int) -> None:
    text = "SELECT sex, hours, COUNT(*) AS n, AVG(age) AS a FROM people GROUP BY sex, hours"
    shown = run("ask", dataset, text, "-w", "n=60", "-w", "a=400", COLUMNS=str(width))
    assert shown.code == 0, shown.err
    assert max(map(len, shown.out.splitlines())) <= width
    assert ("●" in shown.out) == (width >= 120)
    assert "missing" in shown.out
    assert "20 to 40" in shown.words


def test_json_and_csv_hold_the_same_numbers(dataset: Path, run: Run) -> None:
    shown = run("ask", dataset, BY_SEX, "-w", "60", "--json").json
    table = run("ask", dataset, BY_SEX, "-w", "60", "--csv").out
    rows = list(csv.DictReader(io.StringIO(table)))
    assert [row["sex"] for row in rows] == [row["sex"] for row in shown["rows"]]
    for row, expected in zip(rows, shown["rows"], strict=True):
        assert {
            "value": float(row["n"]),
            "low": float(row["n_low"]),
            "high": float(row["n_high"]),
        } == expected["n"]
    one = run("ask", dataset, WOMEN, "-w", "60", "--csv").out
    assert one.splitlines()[0] == "value,low,high"
    assert run("ask", dataset, WOMEN, "-w", "60", "--csv", "--json").code == 2


def test_a_price_and_a_size_of_groups(dataset: Path, run: Run) -> None:
    offer = run("preview", dataset, WOMEN, "--spend", "0.05")
    assert "Would buy ±" in offer.out
    paid = run("ask", dataset, WOMEN, "--spend", "0.05", "--json").json
    assert paid["cost"] <= 0.05
    mean = "SELECT sex, AVG(age) FROM people GROUP BY sex"
    small = run("ask", dataset, mean, "-w", "2", "--groups-of", "100000")
    assert "2 of 2 groups have fewer than 100,000 records" in " ".join(small.out.split())
    share = run("ask", dataset, WOMEN, "-w", "20%", "--json").json
    assert (share["high"] - share["low"]) / 2 <= 0.2 * share["value"]
    assert run("ask", dataset, WOMEN, "-w", "twenty%").code == 1
    told = run("explain", dataset, WOMEN, "--spend", "0.05").out
    assert "Would buy" in told
    both = run("ask", dataset, WOMEN, "--spend", "0.05", "-w", "5")
    assert both.code == 1
    assert "not both" in both.err
    dear = run("ask", dataset, WOMEN, "--spend", "70")
    assert dear.code == 3
    assert "epsilon 70 was offered" in dear.err


def test_accuracy_stands_in_the_text_or_in_options(dataset: Path, run: Run) -> None:
    inline = run("ask", dataset, f"{WOMEN} ERROR WITHIN 60 AT CONFIDENCE 0.9", "--json").json
    options = run("ask", dataset, WOMEN, "-w", "60", "-c", "0.9", "--json").json
    assert inline["confidence"] == options["confidence"] == 0.9
    assert (inline["value"], inline["low"]) == (options["value"], options["low"])
    nothing = run("ask", dataset, WOMEN)
    assert nothing.code == 1
    assert "within" in nothing.err.lower()


def test_a_question_may_come_from_stdin(dataset: Path, run: Run) -> None:
    shown = run("ask", dataset, "-", "-w", "60", "--json", stdin=WOMEN)
    assert shown.json["value"] == run("ask", dataset, WOMEN, "-w", "60", "--json").json["value"]


def test_who_asks_is_written_down(dataset: Path, run: Run) -> None:
    text = "SELECT COUNT(*) FROM people WHERE age = {}"
    assert run("ask", dataset, text.format(20), "-w", "90", "--analyst", "ana").code == 0
    assert run("ask", dataset, text.format(21), "-w", "90", EKE_ANALYST="ben").code == 0
    names = [one["analyst"] for one in run("history", dataset, "--json").json]
    assert names[-2:] == ["ana", "ben"]


def test_a_key_gives_the_stored_answer(dataset: Path, run: Run) -> None:
    words = ("ask", dataset, "SELECT COUNT(*) FROM people WHERE age = 30", "-w", "90", "--json")
    first = run(*words, "--key", "monday")
    assert run(*words, "--key", "monday").out == first.out
    other = run("ask", dataset, WOMEN, "-w", "90", "--key", "monday")
    assert other.code == 1


def test_a_refusal_is_exit_code_3_and_says_what_is_affordable(dataset: Path, run: Run) -> None:
    before = run("budget", dataset, "--json").out
    shown = run("ask", dataset, WOMEN, "-w", "0.01")
    assert shown.code == 3
    assert shown.out == ""
    assert shown.err.startswith("refused: ")
    assert "Nothing was spent" in " ".join(shown.err.split())
    document = json.loads(run("ask", dataset, WOMEN, "-w", "0.01", "--json").err)
    assert document["exit_code"] == 3
    assert document["refusal"]["cost"] > document["refusal"]["remaining"]
    assert run("budget", dataset, "--json").out == before


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("SELECT * FROM people", "-w 60"),
        ("DROP TABLE people", "-w 60"),
        ("", "-w 60"),
        (WOMEN, "-w -5"),
        (WOMEN, "-w nan"),
        (WOMEN, "-w 60 -c 1"),
        (BY_SEX, "-w m=60"),
    ],
)
def test_bad_questions_are_one_sentence_and_free(
    dataset: Path, run: Run, text: str, options: str
) -> None:
    before = run("budget", dataset, "--json").out
    shown = run("ask", dataset, text, *options.split())
    assert shown.code == 1
    assert shown.out == ""
    assert shown.err.startswith("error: ")
    assert run("budget", dataset, "--json").out == before


def test_ascii_terminals_see_ascii_only(dataset: Path) -> None:
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            "from eke.cli import main; main()",
            "ask",
            str(dataset),
            WOMEN,
            "-w",
            "60",
        ],
        env={"PYTHONIOENCODING": "ascii", "COLUMNS": "80", "PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        check=True,
    )
    text = done.stdout.decode("ascii")
    assert "|" in text
    assert "o" in text
    assert "+/-" in text


def test_preview_spends_nothing(dataset: Path, run: Run) -> None:
    before = run("budget", dataset, "--json").out
    shown = run("preview", dataset, "SELECT COUNT(*) FROM people WHERE age = 44", "-w", "60")
    assert shown.code == 0
    assert "Would cost epsilon" in shown.words
    refused = run("preview", dataset, WOMEN, "-w", "0.01", "--json")
    assert refused.code == 0
    assert refused.json["action"] == "refuse"
    assert run("budget", dataset, "--json").out == before


def test_explain_a_question_shows_its_sums_and_the_history_behind_them(
    dataset: Path, run: Run
) -> None:
    run("ask", dataset, BY_SEX, "-w", "60")
    shown = run("explain", dataset, "SELECT COUNT(*) AS n, AVG(age) FROM people")
    assert shown.code == 0, shown.err
    assert "n = a0" in shown.words
    assert "AVG(age) = a1 / a0" in shown.words
    assert re.search(r"a0 = count: history gives ±[\d.]+", shown.words)
    assert re.search(r"\+(0\.\d+|1) × entry \d+, count by sex", shown.words)
    assert "say --within" in shown.words
    priced = run("explain", dataset, "SELECT COUNT(*) FROM people", "-w", "200", "--json").json
    assert priced["price"]["action"] == "history"
    session = eke.open(dataset)
    known = session.preview(eke.count(), within=200).known
    assert priced["aggregates"]["a0"]["known"] == pytest.approx(known)


def test_explain_a_measurement_shows_noise_and_charge(dataset: Path, run: Run) -> None:
    run("ask", dataset, BY_SEX, "-w", "60")
    entries = run("history", dataset, "--json").json
    shown = run("explain", dataset, entries[0]["sequence"])
    assert shown.code == 0, shown.err
    assert f"Entry {entries[0]['sequence']}" in shown.words
    assert "charged epsilon" in shown.words
    assert "discrete laplace noise" in shown.words
    reserved = run("explain", dataset, entries[0]["sequence"], "--json").json["charged_by"]
    assert run("explain", dataset, reserved, "--json").json["sequence"] == entries[0]["sequence"]
    assert run("explain", dataset, 1).code == 1
    assert run("explain", dataset, 10**6).code == 1


# -- broken off ----------------------------------------------------------------------------------


def remaining(dataset: Path, run: Run) -> float:
    return float(run("budget", dataset, "--json").json["remaining"])


@pytest.mark.parametrize("how", [KeyboardInterrupt(), MemoryError(), DataError("no table")])
def test_a_question_that_ends_after_its_charge_goes_on_by_its_key(
    dataset: Path, run: Run, monkeypatch: pytest.MonkeyPatch, how: BaseException
) -> None:
    words = (
        "ask",
        dataset,
        WOMEN,
        "-w",
        {KeyboardInterrupt: 17, MemoryError: 16}.get(type(how), 15),
    )
    before = remaining(dataset, run)

    def broken(*_: object) -> None:
        raise how

    with monkeypatch.context() as patch:
        patch.setattr(vault, "measured_parts", broken)
        shown = run(*words)
    assert shown.code == 1
    paid = before - remaining(dataset, run)
    assert paid > 0
    told = re.search(r"Charged so far: epsilon (\S+):", shown.err)
    assert told, shown.err
    assert float(told[1]) == pytest.approx(paid, rel=1e-5)
    found = re.search(r"run the same command with --key (once-\w+) to get it", shown.err)
    assert found, shown.err
    again = run(*words, "--key", found[1], "--json")
    assert again.code == 0, again.err
    assert again.json["cost"] == pytest.approx(paid)
    assert before - remaining(dataset, run) == pytest.approx(paid), "charged once"


def test_a_question_that_ends_before_its_charge_says_so(
    dataset: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(vault.Vault, "release", broken)
        shown = run("ask", dataset, WOMEN, "-w", 12)
    assert shown.code == 1
    assert "interrupted. Nothing was charged; run the same command again" in shown.err


def test_free_answers_leave_no_trace(dataset: Path, run: Run) -> None:
    run("ask", dataset, WOMEN, "-w", 200)
    before = eke.open(dataset).ledger_entries()
    assert "Free" in run("ask", dataset, WOMEN, "-w", 200).out
    assert eke.open(dataset).ledger_entries() == before


def test_a_question_asked_again_more_accurately_is_refined(dataset: Path, run: Run) -> None:
    asked = "SELECT COUNT(*) FROM people WHERE sex = 'Female' AND age > 61"
    first = run("ask", dataset, asked, "-w", "60", "--json").json
    finer = run("ask", dataset, asked, "-w", "40")
    assert "refined from" in finer.words
    assert first["cost"] > 0.0
    entries = run("history", dataset, "--json").json
    assert entries[-1]["refines"] == len(entries) - 2
    shown = run("explain", dataset, entries[-1]["sequence"])
    assert "it refines an answer to the same question" in shown.words
