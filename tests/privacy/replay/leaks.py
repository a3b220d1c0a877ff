"""Leaks put in on purpose, one or more for each surface: what the comparison must catch.

Each looks at the exact number of rows, which differs between two neighbours, and lets it show where
nothing of the kind may: in a refusal, a list of groups, a plan, an error, a header, a file.
"""

from __future__ import annotations

import dataclasses
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import pytest

import eke
from eke import dbapi
from eke.cli import failure as cli_failure
from eke.dbapi.cursor import Cursor
from eke.engine import Desk, Vault
from eke.engine.draws import Draws
from eke.errors import EstimateError, LedgerError
from eke.history import RankChoice
from eke.publish import Published
from eke.publish.synthesis import _Workshop
from eke.service import failure, gate
from eke.service.job import Jobs
from eke.service.route import question
from eke.session import history
from eke.session import publish as publishing
from eke.session import release as releasing
from eke.session.ask import answering, reading
from eke.session.ask.claim import Claim
from eke.session.ask.estimator import Estimator
from eke.session.ask.request import Request
from eke.session.release import measured as release
from tests.privacy.replay.asking import shown
from tests.privacy.replay.releasing import published
from tests.privacy.replay.retrying import Death, Fault, struck
from tests.privacy.replay.world import World

_sources: list[Any] = []
Leak = Callable[[pytest.MonkeyPatch], None]


def odd() -> bool:
    """Whether the table opened last has an odd number of rows."""
    return bool(_sources[-1].counts([()])[0].total % 2)


@contextmanager
def leaking(leak: Leak) -> Iterator[None]:
    """Within it the leak is open."""
    plain = Vault.__init__

    def watched(self: Vault, ledger: Any, source: Any, *rest: Any) -> None:
        _sources.append(source)
        plain(self, ledger, source, *rest)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Vault, "__init__", watched)
        leak(patch)
        yield
    _sources.clear()


def around(owner: Any, name: str, wrong: Callable[[Any], Any]) -> Leak:
    """The leak that spoils what a function gives when the number of rows is odd."""
    plain = vars(owner)[name] if name in vars(owner) else getattr(owner, name)  # maybe late

    def spoiled(*words: Any, **named: Any) -> Any:
        found = plain(*words, **named)
        return wrong(found) if odd() else found

    return lambda patch: patch.setattr(owner, name, spoiled)


def failing(owner: Any, name: str, error: Exception) -> Leak:
    """The leak that fails for one of the neighbours only."""

    def raising(_: Any) -> Any:
        raise error

    return around(owner, name, raising)


def _without_last_group(answer: Any) -> Any:
    rows = getattr(answer, "rows", None)
    return answer if not rows else dataclasses.replace(answer, rows=rows[:-1])


def _with_note(document: dict[str, Any]) -> dict[str, Any]:
    return {**document, "message": document["message"] + " (some cells are empty)"}


def _without_last_row(published: Published) -> Published:
    return dataclasses.replace(published, codes=published.codes[:-1])


def _dearer(plan: Any) -> Any:
    return dataclasses.replace(plan, budget=plan.budget * (1.0 + 1e-9))


@dataclass(frozen=True, slots=True)
class Control:
    """A leak, the surface on which it must show, and a request that comes past it."""

    surface: str
    leak: Leak
    do: Callable[[World], object]


_GROUPS = "SELECT town, COUNT(*) AS n FROM people GROUP BY town"
_ROWS: dict[str, Any] = {"mechanism": "lda", "epsilon": 0.5, "options": {"target": "rich"}}


def _database(world: World) -> object:
    with dbapi.connect(world.session, 50.0) as connection:
        return connection.cursor().execute(_GROUPS).fetchall()


def _max_entropy(world: World) -> object:
    return published(world, "max_entropy", {"epsilon": 2.0, "rows": 20}, "k")


def _interrupted(world: World) -> object:
    with suppress(Death), struck(Fault("engine.drawn", 1, Death)):
        world.session.ask(_GROUPS, 50.0, key="k")
    return shown(world.session.ask(_GROUPS, 50.0, key="k"))


LEAKS: dict[str, Control] = {
    "a refusal quotes the data": Control(
        "query",
        around(answering, "advice", lambda text: f"{text} There are few rows."),
        lambda w: w.session.ask(eke.count(), 1e-6),
    ),
    "an empty group is left out": Control(
        "sql",
        around(Request, "answer", _without_last_group),
        lambda w: shown(w.session.ask(_GROUPS, 50.0)),
    ),
    "a cursor sorts by exact counts": Control(
        "database", around(Cursor, "fetchall", lambda rows: rows[::-1]), _database
    ),
    "a choice says how far off it is": Control(
        "choice",
        around(RankChoice, "rank_error", lambda error: error + 1),
        lambda w: shown(w.session.ask("SELECT CHOSEN_MEDIAN(age) FROM people", spend=0.1)),
    ),
    "a choice is charged by what was counted": Control(
        "choice",
        around(RankChoice, "price", lambda price: price + 1),
        lambda w: shown(w.session.ask("SELECT CHOSEN_MEDIAN(age) FROM people", within="20 %")),
    ),
    "a claim is surer of one table": Control(
        "claim",
        around(Claim, "to_dict", lambda said: {**said, "probability": 1.0}),
        lambda w: w.session.claim(eke.count(), "> 10").to_dict(),
    ),
    "an explanation shows more of one table": Control(
        "explanation",
        around(reading, "_formula", lambda text: f"{text} + 0"),
        lambda w: w.session.explain(_GROUPS, 50.0, None),
    ),
    "an estimate fails for one table": Control(
        "estimate",
        failing(Estimator, "estimate", EstimateError("the table is too small")),
        lambda w: repr(w.session.estimate(eke.count())),
    ),
    "a plan looks at the data": Control(
        "plan",
        around(releasing, "planned", _dearer),
        lambda w: repr(w.session.plan([("town",)], budget=0.1).budget),
    ),
    "a release fails for one table": Control(
        "release",
        failing(release, "release_text", ValueError("a cell is empty")),
        lambda w: repr(w.session.release(w.session.plan([("town",)], budget=0.1))),
    ),
    "a publication has as many rows as the table": Control(
        "publication", around(publishing, "publish", _without_last_row), _max_entropy
    ),
    "an adaptive release looks at the data": Control(
        "publication", around(_Workshop, "_candidates", lambda found: found[:-1]), _max_entropy
    ),
    "a choice is made of exact scores": Control(
        "publication",
        around(Desk, "choose", lambda places: [0 if place else 1 for place in places]),
        _max_entropy,
    ),
    "an exit code": Control(
        "command",
        around(cli_failure, "exit_code", lambda code: code + 1),
        lambda w: w.command("ask", _GROUPS, "-w", "1e-6", "--json"),
    ),
    "an export has a column too many": Control(
        "export",
        around(history.History, "to_records", lambda rows: [{**row, "rows": 1} for row in rows]),
        lambda w: w.command("export", "history"),
    ),
    "a header": Control(
        "http",
        around(gate.Gate, "_headers", lambda found: [*found, (b"x-cells", b"few")]),
        lambda w: w.http("GET", "/budget", "ann"),
    ),
    "one of many answers": Control(
        "ask many",
        around(question, "error_document", _with_note),
        lambda w: w.http("POST", "/ask-many", "ann", {"questions": [{"sql": "SELECT"}]}),
    ),
    "a job fails for one table": Control(
        "job",
        failing(Jobs, "_publish", ValueError("no rows")),
        lambda w: w.job(_ROWS, "ann", Idempotency_Key="k"),
    ),
    "a retry is refused for one table": Control(
        "retry",
        failing(Vault, "complete", LedgerError("this key has an unfinished paid request")),
        _interrupted,
    ),
    "a retry draws anew for one table": Control(
        "retry", around(Draws, "_key", lambda key: (secrets.token_hex(8), key[1])), _interrupted
    ),
    "a status": Control(
        "retry over HTTP",
        around(failure, "status_of", lambda status: status + 1),
        lambda w: w.http("POST", "/ask", "ann", {"sql": "SELECT", "within": 5.0}),
    ),
}
