"""Commands with --server: what they print is what they print for the same dataset here."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pandas as pd
import pytest

import eke
from eke.service import Access, Account, Settings, create_app, open_datasets
from tests.command_line import Run, Shown, call
from tests.service import listening

WOMEN = "SELECT COUNT(*) FROM people WHERE sex = 'Female'"
BY_SEX = "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex"
CUBE = "SELECT COUNT(*) FROM people GROUP BY CUBE (sex, hours)"
LDA = ("publish", "lda", "--target", "sex")


class Served(NamedTuple):
    """A dataset and the address of a server that serves it, with tokens by account."""

    path: Path
    url: str
    tokens: dict[str, str]
    session: eke.Session

    def here(self, command: str, *words: object) -> Shown:
        return call(command, self.path, *words, EKE_ANALYST="ann")

    def there(self, command: str, *words: object, who: str = "ann", **more: str) -> Shown:
        found = {"EKE_SERVER": self.url, "EKE_TOKEN": self.tokens[who], **more}
        return call(command, self.path.stem, *words, **found)

    @property
    def spent(self) -> float:
        return self.session.budget.spent


@pytest.fixture(scope="module")
def served(dataset: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    access = Access(tmp_path_factory.mktemp("access") / "access.db")
    tokens = {}
    for name, role in (("ann", "analyst"), ("otto", "auditor")):
        access.add(Account(name, role))  # type: ignore[arg-type]
        tokens[name] = access.new_token(name).text
    app = create_app(open_datasets([str(dataset)], None), access, Settings(answer_step=0.0))
    with listening(app) as url:
        made = Served(dataset, url, tokens, eke.open(dataset))
        assert made.there("ask", WOMEN, "-w", 60).code == 0
        assert made.there("release", "--over", "sex,hours", "-b", 0.5, "--yes").code == 0
        yield made
    app.state.eke.jobs.stop()
    access.close()


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("eke.client.job._POLL_SECONDS", 0.02)
    monkeypatch.setattr("eke.client.wire._PAUSE_SECONDS", 0.0)


PRINTED: list[tuple[Any, ...]] = [
    ("ask", BY_SEX, "-w", 500),
    ("ask", BY_SEX, "-w", 500, "--claim", "> 100"),
    ("ask", WOMEN, "--claim", "100 to 250"),
    ("preview", WOMEN, "-w", 5),
    ("preview", WOMEN, "-w", 0.001),
    ("preview", BY_SEX, "-w", "n=40", "-c", 0.9, "--policy", "look_ahead"),
    ("budget",),
    ("history",),
    ("history", "--last", 1),
    ("explain", 4),
    ("explain", f"{BY_SEX} ORDER BY 2"),
    ("explain", WOMEN, "-w", 9, "--policy", "direct"),
    ("estimate", WOMEN),
    ("estimate", BY_SEX),
    ("estimate", WOMEN, "--method", "blue", "-c", 0.5),
    ("estimate", WOMEN, "--method", "max_entropy"),
    ("plan", "--marginals", 2, "-b", 1),
    ("plan", "--over", "sex", "--ranges", "hours", "-b", 1000),
    ("plan", "--over", "sex", "--over", "sex,hours", "-w", "sex=30", "-w", "hours,sex=60"),
    ("plan", CUBE, "-w", 50),
]
FORMS: tuple[tuple[str, ...], ...] = ((), ("--json",))


@pytest.mark.parametrize(
    ("words", "form"),
    [
        pytest.param(
            words,
            form,
            # Each is printed in one form in the short part, and budgets in both.
            marks=[] if (place + turn) % 2 == 0 or words == ("budget",) else [pytest.mark.long],
            id=" ".join(map(str, [*words, *form]))[:48],
        )
        for place, words in enumerate(PRINTED)
        for turn, form in enumerate(FORMS)
    ],
)
def test_what_is_printed_is_the_same(
    served: Served, words: tuple[Any, ...], form: tuple[str, ...]
) -> None:
    here, there = served.here(*words, *form), served.there(*words, *form)
    assert here.code == 0, here.err
    assert there == here


def test_an_answer_with_a_key_is_the_same(served: Served) -> None:
    words = ("ask", "SELECT COUNT(*) FROM people WHERE age < 30", "-w", 40, "--key", "young")
    there, here = served.there(*words, "--json"), served.here(*words, "--json")
    assert there.json["cost"] > 0
    assert there == here
    assert served.there(*words, "--csv") == served.here(*words, "--csv")


def test_a_release_is_the_same_and_paid_once(served: Served, tmp_path: Path) -> None:
    words = ("release", "--up-to", 1, "--ranges", "hours", "-b", 0.2, "--yes", "--key", "monday")
    before = served.spent
    there = served.there(*words, "-o", tmp_path / "there")
    assert there.code == 0, there.err
    assert "Measured:" in there.err
    assert before < served.spent <= before + 0.2
    here = served.here(*words, "-o", tmp_path / "here")
    assert there.words.replace("there", "here") == here.words
    assert there.err.splitlines()[0] == here.err.splitlines()[0]
    files = sorted(file.name for file in (tmp_path / "there").iterdir())
    assert len(files) == 5
    for file in files:
        assert (tmp_path / "there" / file).read_bytes() == (tmp_path / "here" / file).read_bytes()
    assert served.there(*words, "--json") == served.here(*words, "--json")
    assert served.spent <= before + 0.2


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_published_rows_are_the_same_and_paid_once(
    served: Served, tmp_path: Path, ending: str
) -> None:
    before = served.spent
    command, *words = (*LDA, "--epsilon", 1, "--key", f"rows-{ending}")
    there, here = tmp_path / f"there.{ending}", tmp_path / f"here.{ending}"
    shown = served.there(command, *words, "-o", there)
    assert shown.code == 0, shown.err
    assert shown.err == ""
    own = served.here(command, *words, "-o", here).words
    # What is suggested next names the dataset as it was named.
    assert own.replace(str(served.path), served.path.stem) == shown.words.replace("there", "here")
    assert there.read_bytes() == here.read_bytes()
    assert before < served.spent <= before + 1
    again = served.there(command, *words, "-o", there, "--json").json
    assert again == {**served.here(command, *words, "-o", here, "--json").json, "file": str(there)}
    assert served.spent <= before + 1


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("ask", WOMEN, "-w", 0.001), 3),
        (("ask", "SELECT COUNT(*) FROM people WHERE agee > 3", "-w", 9), 1),
        (("ask", WOMEN), 1),
        (("ask", WOMEN, "--claim", "9"), 1),
        (("ask", "SELECT SUM(hours), COUNT(*) FROM t", "-w", 1, "--claim", "> 9"), 1),
        (("ask", "SELECT CHOSEN_MEDIAN(age) FROM t", "--spend", 0.1, "--claim", "> 9"), 1),
        (("ask", "SELECT COUNT(*), SUM(hours) FROM people", "--claim", "> 9"), 1),
        (("estimate", "SELECT AVG(hours) FROM t"), 1),
        (("explain", 1), 1),
        (("plan", "--over", "nobody", "-b", 1), 1),
        (("plan", "--over", "sex", "-b", -1), 1),
        (("plan", "--over", "sex", "-b", 1, "--strategy", "magic"), 1),
        (("release", "--over", "sex", "-b", 1000, "--yes"), 3),
        (("release", "--over", "sex", "-b", 1), 2),
        (("release", "--over", "sex", "-b", 1, "--yes", "--key", "é"), 1),
        ((*LDA, "--epsilon", 1000, "-o", "rows.csv"), 3),
        ((*LDA, "--rho", 1, "-o", "rows.csv"), 1),
        ((*LDA, "--epsilon", 1, "-o", "nowhere/rows.csv"), 1),
        (("publish", "ica", "--epsilon", 1, "-o", "rows.csv"), 1),
        (("publish", "lda", "--epsilon", 1, "-o", "rows.csv"), 1),
    ],
    ids=lambda words: " ".join(map(str, words))[:40] if isinstance(words, tuple) else "",
)
def test_what_is_wrong_or_refused_costs_nothing(
    served: Served,
    words: tuple[Any, ...],
    code: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    before = served.spent
    shown = served.there(*words)
    assert shown.code == code
    assert shown.out == ""
    assert shown.err
    assert "Traceback" not in shown.err
    assert list(tmp_path.iterdir()) == []
    if code != 2:
        document = json.loads(served.there(*words, "--json").err)
        assert document["exit_code"] == code
    assert served.spent == before


def test_errors_are_those_of_a_dataset_here(served: Served) -> None:
    for words in (
        ("ask", "SELECT COUNT(*) FROM people WHERE agee > 3", "-w", 9),
        ("release", "--over", "sex", "-b", 1000, "--yes"),
        ("ask", WOMEN, "-w", 0.001),
        ("estimate", BY_SEX),
    ):
        assert served.there(*words, "--json") == served.here(*words, "--json")


# -- who and where ----------------------------------------------------------------------------


def test_a_missing_or_wrong_token_says_what_to_do(served: Served, run: Run) -> None:
    words = ("budget", "people", "--server", served.url)
    missing = run(*words)
    assert missing.code == 1
    assert "EKE_TOKEN" in missing.err
    assert "eke token new" in missing.err
    for wrong in ("eke_wrong", "é", "a b"):
        found = run(*words, "--json", EKE_TOKEN=wrong)
        assert found.code == 1
        assert json.loads(found.err)["error"] == "AccessDenied"
    assert run(*words, "--token", served.tokens["ann"]).code == 0


def test_an_auditor_looks_and_spends_nothing(served: Served, tmp_path: Path) -> None:
    before = served.spent
    assert served.there("plan", "--over", "sex", "-b", 1, who="otto").code == 0
    for words in (
        ("release", "--over", "sex", "-b", 0.1, "--yes"),
        (*LDA, "--epsilon", 0.1, "-o", tmp_path / "rows.csv"),
    ):
        shown = served.there(*words, "--json", who="otto")
        assert shown.code == 1
        assert json.loads(shown.err)["error"] == "AccessDenied"
        assert "curator or analyst" in shown.err
    assert served.spent == before


def test_a_server_that_is_not_there(run: Run) -> None:
    for url in ("http://127.0.0.1:1", "127.0.0.1:1", "https://", "http://a b", "http://[::"):
        shown = run("history", "people", "--server", url, EKE_TOKEN="eke_x")
        assert shown.code == 1, url
        assert "address" in shown.err
        assert "--key" not in shown.err, "nothing was sent"


def test_an_unknown_dataset_names_those_that_there_are(served: Served, run: Run) -> None:
    found = {"EKE_SERVER": served.url, "EKE_TOKEN": served.tokens["ann"]}
    shown = run("budget", "peeple", **found)
    assert shown.code == 1
    assert "no dataset 'peeple' for you; the server shows you people" in shown.err
    assert "--server" not in shown.err
    file = run("budget", served.path, **found)
    assert file.code == 1
    assert "--server ''" in file.err
    assert run("budget", served.path, "--server", "", **found).code == 0


def test_options_of_datasets_here_are_not_for_servers(served: Served, tmp_path: Path) -> None:
    rows = tmp_path / "rows.csv"
    for words in (
        ("budget",),
        ("history",),
        ("preview", WOMEN, "-w", 9),
        ("explain", 4),
        ("estimate", WOMEN),
        ("plan", "--over", "sex", "-b", 1),
        ("release", "--over", "sex", "-b", 0.1, "--yes"),
        (*LDA, "--epsilon", 0.1, "-o", rows),
        ("ask", WOMEN, "-w", 60),
    ):
        shown = served.there(*words, "--data", "people.csv")
        assert shown.code == 2
        assert "--data" in shown.err
    for words in (
        ("ask", WOMEN, "-w", 60),
        ("release", "--over", "sex", "-b", 0.1, "--yes"),
        (*LDA, "--epsilon", 0.1, "-o", rows),
    ):
        shown = served.there(*words, "--analyst", "eve")
        assert shown.code == 2
        assert "token" in shown.err
    assert served.there("ask", WOMEN, "-w", 60, EKE_ANALYST="eve").code == 0
    assert "eve" not in served.there("history").out
    shown = served.here("budget", "--token", "eke_x")
    assert shown.code == 2
    assert "--server" in shown.err


def test_a_cap_is_shown_to_whom_it_holds_for(served: Served) -> None:
    session = served.session
    spent = session.shares.spent["ann"] / 1e9
    try:
        session.change_cap("ann", spent + 0.05)
        assert served.there("budget", "--json").json["yours"] == pytest.approx(0.05, abs=1e-8)
        assert "You may spend 0.05 of what remains" in served.there("budget").words
        assert "You may spend" not in served.here("budget").words
        plan = served.there("plan", "--over", "sex", "-b", 1, "--json").json
        assert not plan["affordable"]
        assert plan["remaining"] == pytest.approx(0.05, abs=1e-8)
        session.change_cap(session.analyst, 0.0)
        assert served.here("budget", "--json").json["yours"] == 0
    finally:
        session.change_cap("ann", None)
        session.change_cap(session.analyst, None)


# -- broken off -------------------------------------------------------------------------------


def key_in(text: str) -> str:
    found = re.search(r"--key (\S+)", text)
    assert found, text
    return found[1]


@pytest.mark.parametrize(
    "how", [KeyboardInterrupt(), httpx.ConnectError("lost")], ids=["ctrl-c", "lost"]
)
def test_a_publication_goes_on_without_us(
    served: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: BaseException
) -> None:
    send, before = httpx.Client.request, served.spent

    def broken(client: httpx.Client, method: str, url: str, **more: Any) -> httpx.Response:
        if "/jobs/" in url:
            raise how
        return send(client, method, url, **more)

    command, *words = (*LDA, "--epsilon", 0.3, "-o", tmp_path / "rows.csv")
    with monkeypatch.context() as patch:
        patch.setattr(httpx.Client, "request", broken)
        shown = served.there(command, *words)
    assert shown.code == 1
    assert "If this ends early" in shown.err
    assert "not charged again" in shown.err
    assert not (tmp_path / "rows.csv").exists()
    after = served.there(command, *words, "--key", key_in(shown.err))
    assert after.code == 0, after.err
    assert len(pd.read_csv(tmp_path / "rows.csv")) > 0
    assert before < served.spent <= before + 0.3


@pytest.mark.parametrize(
    "how", [KeyboardInterrupt(), httpx.ReadTimeout("late")], ids=["ctrl-c", "late"]
)
@pytest.mark.parametrize(
    ("path", "command", "words", "most"),
    [
        ("/releases", "release", ("--over", "sex", "-b", 0.3, "--yes"), 0.3),
        ("/ask", "ask", ("SELECT COUNT(*) FROM people WHERE age < 31", "-w"), 3.0),
    ],
)
def test_what_is_bought_is_paid_once_if_its_answer_is_lost(
    served: Served,
    monkeypatch: pytest.MonkeyPatch,
    how: BaseException,
    path: str,
    command: str,
    words: tuple[object, ...],
    most: float,
) -> None:
    if command == "ask":  # the second time more accurately, or it would be free
        words = (*words, 3 if isinstance(how, KeyboardInterrupt) else 2)
    send, before = httpx.Client.request, served.spent

    def lost(client: httpx.Client, method: str, url: str, **more: Any) -> httpx.Response:
        found = send(client, method, url, **more)
        if url.endswith(path):
            raise how
        return found

    with monkeypatch.context() as patch:
        patch.setattr(httpx.Client, "request", lost)
        shown = served.there(command, *words, "--json")
    assert shown.code == 1
    document = json.loads(shown.err)
    assert document["error"] == "Unanswered"
    paid = served.spent
    assert before < paid <= before + most
    again = served.there(command, *words, "--key", key_in(document["message"]), "--json")
    assert again.code == 0, again.err
    assert again.json["cost"] == pytest.approx(paid - before)
    assert served.spent == paid
