"""Bad requests: an error of ours that says what to do, and nothing lost."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

import eke
from eke.errors import EkeError
from tests.unit.session.conftest import DOMAIN, make_people

REQUESTS = 500

NO_NUMBERS: list[Any] = [
    *(math.nan, math.inf, -math.inf, 0, -1, -0.5, "60", "", None, True, False, [], [60], {}, ()),
    *(object(), 5j, Decimal("NaN"), Decimal(5), b"60", np.array([1.0, 2.0]), 10**400),
    *(np.nan, np.float32("inf"), Fraction(-1, 3), lambda: 60, range(5), type),
]
NO_VALUES: list[Any] = [
    *(math.nan, math.inf, "nobody", "", 16, 27, -1, 10**30, 20.5, True, object(), [], set(), {}),
    *((), (1,), (1, 2, 3), (30, 40), (20, 19), ("a", "b"), (math.nan, 3), (True, 20), [17, "x"]),
    *([[17]], {"a": 1}, b"17", 5j, [None], (np.array([1]), 3), Decimal("NaN"), [math.nan]),
]
NO_NAMES: list[Any] = ["height", "", "SEX", "sex ", "sex\0", "x" * 10_000, "__class__", "ség"]
NO_QUESTIONS: list[Any] = [
    *(None, 5, "count()", "SELECT 1", [], {}, object(), eke.count, eke, math.nan, b"x", (), 1j),
    *([eke.count()], {"query": eke.count()}, eke.Domain(a=eke.Boolean()), eke.Unit("x")),
]


def pick(rng: np.random.Generator, choices: list[Any]) -> Any:
    return choices[int(rng.integers(len(choices)))]


def good(rng: np.random.Generator) -> Any:
    return pick(rng, [eke.count(sex="Female"), eke.marginal("city"), eke.total("age")])


def other_domain(rng: np.random.Generator) -> Any:
    domain = pick(
        rng,
        [
            eke.Domain(sex=eke.Categorical("Female", "Male")),
            eke.Domain(sex=eke.Categorical("Male", "Female"), age=eke.Integer(17, 26)),
            eke.Domain(age=eke.Integer(0, 10)),
        ],
    )
    return pick(rng, [eke.count(), eke.marginal(domain.names[0])]).on(domain)


def bad_accuracy(rng: np.random.Generator, ask: Callable[..., Any]) -> None:
    if rng.random() < 0.5:
        ask(good(rng), within=pick(rng, [*NO_NUMBERS, 1e-300, 1e300]))
    else:
        given = [number for number in NO_NUMBERS if number is not None]  # None is the usual 0.95
        ask(good(rng), within=60, confidence=pick(rng, [*given, 1, 1.0, 95, 1.5]))


def bad_condition(rng: np.random.Generator, ask: Callable[..., Any]) -> None:
    where = {pick(rng, ["sex", "age", "city"]): pick(rng, NO_VALUES)}
    if rng.random() < 0.5:
        ask(eke.count(where), within=60)
    else:
        ask(eke.marginal("sex", where=where), within=60)


def bad_name(rng: np.random.Generator, ask: Callable[..., Any]) -> None:
    name = pick(rng, NO_NAMES)
    makers: list[Callable[[], Any]] = [
        lambda: eke.count({name: 1}),
        lambda: eke.total(name),
        lambda: eke.moment({name: 2}),
        lambda: eke.marginal(name),
        lambda: eke.marginal("sex", name),
        lambda: eke.table(name, [1, 2]),
        lambda: eke.count(sex="Female") + eke.count({name: 3}),
    ]
    ask(pick(rng, makers)(), within=60)


def bad_expression(rng: np.random.Generator, ask: Callable[..., Any]) -> None:
    weight = pick(rng, [math.nan, math.inf, -math.inf, "2", None, True, [2], 1j])
    makers: list[Callable[[], Any]] = [
        lambda: eke.count() * weight,
        lambda: eke.count() + weight,
        lambda: eke.count() / weight,
        lambda: eke.constant(weight),
        lambda: eke.count() / 0,
        lambda: eke.total("sex"),
        lambda: eke.moment(age=pick(rng, [0, 5, -1, 1.5, "2", True])),
        eke.moment,
        lambda: eke.table("age", [1, 2, 3]),
        lambda: eke.table("age", [[1, 2], [3]]),
        lambda: eke.table("age", [weight] * 10),
        lambda: eke.table(["age", "age"], [[1]]),
        eke.marginal,
        lambda: eke.marginal("sex", of=eke.count() + 5),
        lambda: eke.marginal("sex", of=eke.count(), where={"age": 17}),
        lambda: eke.count(pick(rng, [["sex"], "sex", 5, ("sex", "Male")])),
        lambda: eke.count({"sex": "Male"}, sex="Female"),
    ]
    ask(pick(rng, makers)(), within=60)


def bad_question(rng: np.random.Generator, ask: Callable[..., Any]) -> None:
    ask(other_domain(rng) if rng.random() < 0.3 else pick(rng, NO_QUESTIONS), within=60)


def bad_option(rng: np.random.Generator, ask: Callable[..., Any]) -> None:
    options = pick(
        rng,
        [
            {"policy": "best"},
            {"policy": 5},
            {"policy": ["top_up"]},
            {"key": ""},
            {"key": 7},
            {"key": "a\nb"},
            {"key": "x" * 256},
            {"key": ["k"]},
            {"analyst": "a\0b"},
            {"analyst": 7},
            {"analyst": "x" * 300},
            {"analyst": ["ann"]},
        ],
    )
    ask(pick(rng, [eke.count(sex="Female"), eke.marginal("city")]), within=60, **options)


def too_much(rng: np.random.Generator, ask: Callable[..., Any]) -> None:
    if rng.random() < 0.3:
        ask(eke.marginal("age", "sex", "city", "zip", "door"), within=60)
    else:
        ask(good(rng), within=float(10 ** rng.uniform(-90, -0.5)))


KINDS: list[Callable[[np.random.Generator, Callable[..., Any]], None]] = [
    bad_accuracy,
    bad_condition,
    bad_name,
    bad_expression,
    bad_question,
    bad_option,
    too_much,
]


def test_bad_requests_cost_nothing(new):
    """N = 500 generated requests: each raises an EkeError, the ledger stays as it is."""
    more = {"zip": eke.Integer(0, 999), "door": eke.Integer(0, 99)}
    wide = eke.Domain({**dict(DOMAIN.attributes), **more})
    rows = make_people()
    rows["zip"] = np.arange(len(rows)) % 1000
    rows["door"] = np.arange(len(rows)) % 100
    session = new(domain=wide, data=rows)
    session.ask(eke.count(age=17), within=100)
    before, budget = session.ledger_entries(), session.budget
    rng = np.random.default_rng(42)
    outcomes: Counter[str] = Counter()
    silent = 0
    for number in range(REQUESTS):
        kind = KINDS[number % len(KINDS)]
        # A preview takes no key, and shows a refusal instead of raising it.
        look = kind not in {bad_option, too_much} and rng.random() < 0.3
        try:
            kind(rng, session.preview if look else session.ask)
        except EkeError as error:
            outcomes[type(error).__name__] += 1
            silent += len(str(error)) < 20
        else:
            outcomes[f"{kind.__name__} passed"] += 1
    assert silent == 0, "an error says what is wrong and what to do"
    assert session.ledger_entries() == before
    assert session.budget == budget
    passed = {name: n for name, n in outcomes.items() if name.endswith("passed")}
    assert passed == {}
    assert len(outcomes) >= 4, "several kinds of error occurred"
