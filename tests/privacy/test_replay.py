"""Record and replay of query objects: decisions depend on nothing but the noisy values.

The same requests are put to a table and to its neighbour. The noisy values are taken from a tape,
the same for both, so that both histories are equal; then everything else must be equal as well:
decisions, charges, status, error texts, keys, group keys, and every byte of the ledger but times,
hashes and its random name. Decisions are then made again from the exported ledger alone.

All other surfaces, and tables as hostile as can be, are in `test_replay_surfaces.py`.

All randomness comes from generators seeded here, so a failing pair can be run again.
"""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import eke
from eke.domain import Integer, domain_from_document
from eke.engine import Snapshot, Vault, measuring
from eke.errors import EkeError
from eke.history import PUBLIC, Measurement, Row
from eke.inference import Inference
from eke.ledger import Entry
from eke.mechanism import refine_with_noise, reveal_with_noise
from eke.planning import (
    AccountsAtHand,
    Decision,
    Facts,
    Past,
    Plan,
    QuestionDemand,
    Requirement,
    decide_relative,
    spend_on,
)
from eke.privacy.accountant import Accountant
from eke.privacy.measures import measure_named
from eke.query import Kronecker, count
from eke.session.ask import request
from tests.deciding import decide, demand_of
from tests.parts import in_long, parts
from tests.random_questions import random_domain, random_question

REQUESTS = 25
FEW, PAIRS = 3, 10
BAD: list[dict[str, Any]] = [
    {"within": -1},
    {"within": "narrow"},
    {"confidence": 1.0},
    {"query": eke.count(nobody=3)},
    {"query": "SELECT"},
    {"key": ""},
    {"policy": "best"},
]


# --- what is put to both tables ------------------------------------------------------------------


@dataclass(frozen=True)
class Pair:
    """Two neighbouring tables, the settings of their datasets, and the requests put to both."""

    domain: eke.Domain
    tables: tuple[pd.DataFrame, pd.DataFrame]
    settings: dict[str, Any]
    requests: list[dict[str, Any]]
    tape: int


def random_pair(seed: int) -> Pair:
    rng = np.random.default_rng(seed)
    settings: dict[str, Any] = {"epsilon": 1.0} if rng.random() < 0.5 else {"rho": 0.05}
    kind = str(rng.choice(["row", "unit", "replace"]))
    closed = bool(rng.random() < 0.7) if kind == "replace" else None
    domain = random_domain(rng, attributes=3, largest=5, closed=closed)
    table = random_table(rng, domain, rows=int(rng.choice([0, 1, 5, 60])))
    if kind == "replace":
        settings["neighbours"] = "replace_one"
        neighbour = table.copy()
        if len(table):
            other = random_table(rng, domain, rows=1)
            neighbour.iloc[int(rng.integers(len(table)))] = other.iloc[0]
    elif kind == "unit":
        settings["unit"] = eke.Unit("id", rows=int(rng.integers(1, 4)))
        neighbour = table[table["id"] != table["id"].iloc[0]] if len(table) else table
    else:
        neighbour = pd.concat([table, random_table(rng, domain, rows=1)], ignore_index=True)
    tables = (table, neighbour) if rng.random() < 0.5 else (neighbour, table)
    requests = [random_request(rng, domain) for _ in range(REQUESTS)]
    return Pair(domain, tables, settings, requests, seed)


def random_table(rng: np.random.Generator, domain: eke.Domain, rows: int) -> pd.DataFrame:
    """Rows of declared values, and now and then of nulls and of values outside the domain."""
    columns: dict[str, Any] = {}
    for name, attribute in domain.attributes:
        declared = list(attribute.declared)
        odd: list[object] = (
            [None, 10**6, -(10**6)] if isinstance(attribute, Integer) else [None, "elsewhere"]
        )
        values = [
            declared[int(rng.integers(len(declared)))]
            if rng.random() < 0.9
            else odd[int(rng.integers(len(odd)))]
            for _ in range(rows)
        ]
        kind = "Int64" if isinstance(attribute, Integer) else "string"
        columns[name] = pd.array(values, dtype=kind)  # type: ignore[call-overload]
    columns["id"] = rng.integers(0, max(1, rows // 3), size=rows)
    return pd.DataFrame(columns)


def random_request(rng: np.random.Generator, domain: eke.Domain) -> dict[str, Any]:
    wanted: dict[str, Any] = {
        "query": random_question(rng, domain, blocks=0.25),
        "within": float(10 ** rng.uniform(0, 3.5)),
        "confidence": float(rng.choice([0.5, 0.9, 0.95, 0.999])),
        "policy": str(rng.choice(["top_up", "look_ahead", "direct"])),
        "analyst": str(rng.choice(["ann", "bob"])),
        "key": None if rng.random() < 0.5 else f"key-{int(rng.integers(0, 12))}",
    }
    if rng.random() < 0.15:
        del wanted["within"]
        wanted["spend"] = float(10 ** rng.uniform(-3.5, -0.5))
    elif rng.random() < 0.1:
        wanted["within"] = f"{rng.uniform(1, 90):.3f} %"
    elif rng.random() < 0.1:
        wanted |= BAD[int(rng.integers(len(BAD)))]
    return wanted


# --- recording -----------------------------------------------------------------------------------


@dataclass
class Made:
    """A decision, with all that it was made from but the ledger."""

    as_of: int
    query: Any
    requirement: Requirement
    policy: Any
    decision: Decision
    spend: int | None = None  # nano-units, where a price was given instead of a half-width
    is_share: bool = False  # of the value, where that was given


@dataclass
class Record:
    """What one table gave: the outcome of each request, the ledger, and the decisions behind it."""

    outcomes: list[str] = field(default_factory=list)
    ledger: str = ""
    exported: str = ""
    decisions: list[Made] = field(default_factory=list)


def taped(seed: int, drawn: Callable[..., list[int]]) -> Callable[..., list[int]]:
    """Noisy values that depend on law and place only; the real ones are drawn and thrown away."""
    rng = np.random.default_rng(seed)

    def taken(*given: Any) -> list[int]:
        real = drawn(*given)
        return [int(x) for x in np.round(rng.laplace(size=len(real)) * given[-1].steps)]

    return taken


def play(pair: Pair, which: int, path: Path, patch: pytest.MonkeyPatch) -> Record:
    """Put all requests of a pair to one of its tables."""
    record = Record()
    session = eke.create(path, pair.tables[which], pair.domain, analyst="ann", **pair.settings)
    deciding = vars(request)["decide"]  # possibly a leaky one
    spending, sharing = (vars(request)[name] for name in ("spend_on", "decide_relative"))

    def recorded(demand: QuestionDemand, facts: Facts, policy: Any) -> Decision:
        decision: Decision = deciding(demand, facts, policy)
        (block,), ((_, within),) = demand.question.blocks, demand.columns
        wanted = Requirement(within, demand.confidence)
        made = Made(session._vault.sequence, block, wanted, policy, decision)
        record.decisions.append(made)
        return decision

    def recorded_price(
        demand: QuestionDemand, facts: Facts, policy: Any, most: int, **steps: Any
    ) -> Decision:
        decision: Decision = spending(demand, facts, policy, most, **steps)
        (block,) = demand.question.blocks
        wanted = Requirement(1.0, demand.confidence)
        made = Made(session._vault.sequence, block, wanted, policy, decision, most)
        record.decisions.append(made)
        return decision

    def recorded_share(demand: QuestionDemand, facts: Facts, policy: Any) -> Decision:
        decision: Decision = sharing(demand, facts, policy)
        (block,), ((_, within),) = demand.question.blocks, demand.columns
        wanted = Requirement(within, demand.confidence)
        made = Made(session._vault.sequence, block, wanted, policy, decision, is_share=True)
        record.decisions.append(made)
        return decision

    with patch.context() as inner:
        inner.setattr(measuring, "reveal_with_noise", taped(pair.tape, reveal_with_noise))
        refining = taped(pair.tape + 1, refine_with_noise)
        inner.setattr(measuring, "refine_with_noise", refining)
        inner.setattr(request, "decide", recorded)
        inner.setattr(request, "spend_on", recorded_price)
        inner.setattr(request, "decide_relative", recorded_share)
        inner.setattr("secrets.token_hex", _counted())
        for wanted in pair.requests:
            record.outcomes.append(outcome(session, wanted))
    entries = session.ledger_entries()
    record.ledger = json.dumps([public_part(entry) for entry in entries], sort_keys=True)
    record.exported = exported(entries)
    path.unlink()
    return record


def _counted() -> Callable[[int], str]:
    """Names for requests without a key: random ones would differ between the two tables."""
    numbers = iter(range(10**6))
    return lambda _length: f"{next(numbers):032d}"


def outcome(session: eke.Session, wanted: dict[str, Any]) -> str:
    """Everything that an analyst can see of a request, times aside; budgets are in the ledger."""
    try:
        answer = session.ask(**wanted)
    except EkeError as error:
        seen: list[object] = [type(error).__name__, str(error), repr(getattr(error, "refusal", ""))]
    else:
        seen = [repr(answer), answer.explain()]
    return json.dumps(seen)


def public_part(entry: Entry) -> dict[str, object]:
    """An entry without what is random: the ledger's name and its salted private document."""
    random = ("identity", "private_sha256")
    about = {key: value for key, value in entry.about.items() if key not in random}
    return {
        "sequence": entry.sequence,
        "kind": entry.kind,
        "about": about,
        "payload": dict(entry.payload),
    }


def exported(entries: list[Entry]) -> str:
    return json.dumps(
        [
            {"kind": e.kind, "sequence": e.sequence, "about": e.about, "payload": e.payload}
            for e in entries
        ]
    )


def differences(pair: Pair, folder: Path, patch: pytest.MonkeyPatch) -> tuple[Counter, Record]:
    """What differs between the two tables of a pair."""
    first, second = (play(pair, which, folder / f"{which}.eke", patch) for which in (0, 1))
    found: Counter = Counter(triples=len(first.outcomes))
    found["outcomes"] = sum(
        mine != theirs for mine, theirs in zip(first.outcomes, second.outcomes, strict=True)
    )
    mine, theirs = ([m.decision for m in r.decisions] for r in (first, second))
    found["decisions"] = mine != theirs
    found["ledgers"] = first.ledger != second.ledger
    for text in first.outcomes:
        name = json.loads(text)[0].partition("(")[0]
        found[name] += 1
    return found, first


# --- recomputing ---------------------------------------------------------------------------------


def recomputed(text: str, made: list[Made]) -> list[Decision]:
    """The same decisions by an auditor who has the exported ledger and no data."""
    entries = json.loads(text)
    settings = entries[0]["payload"]
    listed = domain_from_document(settings["domain"])
    domain = eke.Domain({name: listed[name] for name in settings["attributes"]})
    rows = 1 if settings["unit"] is None else settings["unit"]["rows"]
    accountant = Accountant(
        domain, measure_named(settings["measure"]), settings["neighbours"], rows
    )
    inference = Inference(domain)
    if settings["public_rows"] is not None:
        everyone = float(settings["public_rows"])
        inference.append(Row(count().on(domain), everyone, PUBLIC))
    known: list[Measurement] = []
    refined: set[int] = set()
    accounts = AccountsAtHand(accountant, measurements=known, refined=refined)
    facts = Facts(inference, accounts, entries[0]["about"]["limit"])
    found, waiting = [], list(made)
    for entry in entries:
        if entry["kind"] == "reserve":
            plan = Plan.from_document(domain, entry["payload"]["plan"])
            for part in plan.parts:
                accountant.add(part.query, part.charged, entry["about"]["spent_after"])
                if part.refines is not None:
                    refined.add(part.refines.place)
            facts.past.learn(plan)
        elif entry["kind"] == "commit":
            documents = entry["payload"]["measurements"]
            released = [Measurement.from_document(domain, one) for one in documents]
            inference.extend_all(released)
            known += released
        while waiting and waiting[0].as_of == entry["sequence"]:
            asked = waiting.pop(0)
            # The question, too, as a document: nothing of the session's objects is used.
            document = asked.query.to_document()
            query = type(asked.query).from_document(domain, document)
            demand = demand_of(query, asked.requirement)
            if asked.is_share:
                last = (len(demand.within) - 1,)
                demand = replace(demand, relative=last)
                found.append(decide_relative(demand, facts, asked.policy))
            elif asked.spend is not None:
                found.append(spend_on(demand, facts, asked.policy, asked.spend))
            else:
                found.append(decide(query, asked.requirement, facts, asked.policy))
    assert waiting == []
    return found


# --- the tests -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as name:
        yield Path(name)


Played = tuple[Counter, list[Record]]


def play_pairs(seeds: range, folder: Path) -> Played:
    found: Counter = Counter()
    records = []
    for seed in seeds:
        with pytest.MonkeyPatch.context() as patch:
            counted, record = differences(random_pair(seed), folder, patch)
        found.update(counted)
        records.append(record)
    return found, records


@pytest.fixture(scope="module", params=[range(FEW), in_long(range(FEW, PAIRS))], ids=str)
def played(folder: Path, request: pytest.FixtureRequest) -> Played:
    return play_pairs(request.param, folder)


def check_equal(found: Counter, triples: int) -> None:
    assert found["triples"] >= triples
    assert found["outcomes"] == 0
    assert found["decisions"] == 0
    assert found["ledgers"] == 0
    # Everything that can happen did happen, often.
    for name in ("Answer", "Refused", "KeyConflict", "QueryError", "AccuracyError"):
        assert found[name] >= max(1, triples // 250)


def check_recomputed(records: list[Record], decisions: int) -> int:
    """How many decisions were made, all of them the same when made again."""
    made = [m.decision for record in records for m in record.decisions]
    again = [d for record in records for d in recomputed(record.exported, record.decisions)]
    assert len(made) >= decisions
    assert sum(mine != theirs for mine, theirs in zip(made, again, strict=True)) == 0
    kinds = Counter(decision.action for decision in made)
    assert min(kinds[action] for action in ("history", "measure", "refuse")) > decisions // 20
    return len(made)


def test_neighbouring_tables_differ_in_nothing_but_the_noise(played):
    """N = 75 triples of table, neighbour and request, and 175 in the long part: 0 differences."""
    check_equal(played[0], REQUESTS * len(played[1]))
    prices = [m for record in played[1] for m in record.decisions if m.spend is not None]
    shares = [m for record in played[1] for m in record.decisions if m.is_share]
    for kind in (prices, shares):
        assert {made.decision.action for made in kind} >= {"measure", "refuse"}


def test_decisions_can_be_recomputed_from_the_ledger_alone(played, record_property):
    """Half of the requests come to a decision, at least; all are equal."""
    record_property("decisions", check_recomputed(played[1], REQUESTS * len(played[1]) // 2))


@pytest.mark.parametrize("seed", parts(2))
def test_purchases_can_be_recomputed_from_the_ledger_alone(folder, seed):
    """A pair that is asked about ranges again and again: blocks are bought, and replayed.

    Under pure DP they are tables; under zCDP, in the long part, a wavelet along the longer
    attribute is among them.
    """
    with pytest.MonkeyPatch.context() as patch:
        counted, record = differences(ranges_pair(seed), folder, patch)
    assert counted["outcomes"] == counted["decisions"] == counted["ledgers"] == 0
    made = [m.decision for m in record.decisions]
    assert recomputed(record.exported, record.decisions) == made
    bought = [d.plan.parts[0].query for d in made if d.plan and d.plan.instead_of]
    assert bought
    assert any(isinstance(block, Kronecker) for block in bought) == (seed == 1)
    # Positive control: an auditor who forgets what was demanded before decides otherwise.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Past, "learn", lambda _self, _plan: None)
        assert recomputed(record.exported, record.decisions) != made


def ranges_pair(seed: int) -> Pair:
    """Neighbouring tables and ranges over two attributes, under `look_ahead`."""
    rng = np.random.default_rng(seed)
    size = 8 if seed % 2 == 0 else 40
    domain = eke.Domain(a=Integer(0, size - 1), b=Integer(0, 3))
    table = random_table(rng, domain, rows=60)
    neighbour = pd.concat([table, random_table(rng, domain, rows=1)], ignore_index=True)
    requests = []
    for _ in range(REQUESTS if seed % 2 == 0 else 40):
        low, high = np.sort(rng.integers(0, size, size=2)).tolist()
        asked = eke.count(a=(low, high), b=(0, int(rng.integers(4))))
        within = float(rng.uniform(60, 200))
        requests.append({"query": asked, "within": within, "policy": "look_ahead"})
    settings: dict[str, Any] = {"epsilon": 1.0} if seed % 2 == 0 else {"rho": 0.05}
    return Pair(domain, (table, neighbour), settings, requests, seed)


@pytest.mark.parametrize("pairs", [1, in_long(2)])
def test_a_leaky_decision_is_caught(folder, monkeypatch, pairs):
    """Positive control, N = 1 or 2 pairs: a decision that looks at the parity of the row count."""
    rows: list[int] = [0]
    shown = Vault._up_to_date

    def look(self: Vault) -> Snapshot:
        rows[0] = self._source.counts([()])[0].total
        return shown(self)

    deciding: Any = vars(request)["decide"]

    def leaky(demand: QuestionDemand, facts: Facts, policy: Any) -> Decision:
        stretch = 1 + 1e-6 * (rows[0] % 2)
        laxer = tuple(None if width is None else stretch * width for width in demand.within)
        found: Decision = deciding(replace(demand, within=laxer), facts, policy)
        return found

    monkeypatch.setattr(Vault, "_up_to_date", look)
    monkeypatch.setattr(request, "decide", leaky)
    found, _ = play_pairs(range(4 - pairs, 4), folder)
    assert found["outcomes"] > 2
    assert found["ledgers"] > 0


def test_another_decision_is_not_recomputed(played):
    """Positive control: an auditor notices a decision that is off by one nano-unit."""
    record = played[1][0]
    first = record.decisions[0]
    forged = Decision(first.decision.action, first.decision.cost + 1, first.decision.known)
    assert recomputed(record.exported, record.decisions)[0] != forged


@pytest.mark.long
def test_ten_thousand_triples_and_decisions(folder, record_property):
    """N = 10,000 triples and at least 10,000 decisions."""
    found, records = play_pairs(range(1000, 1000 + 520), folder)
    check_equal(found, 10_000)
    record_property("decisions", check_recomputed(records, 10_000))
