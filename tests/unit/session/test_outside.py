"""Facts and tables of others in a session: exact, free, written down, and removable."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import eke
from eke.engine import outside
from eke.errors import FactError, LedgerError, QueryError
from eke.ledger import Ledger
from eke.session import Estimate
from eke.session.ask.aim import Aim
from eke.session.free_answer import free_answer
from tests.unit.session.conftest import DOMAIN, make_people

# Of 400 rows: 134 Female; 40 of each age; nothing in these tests depends on what the rows hold.
WOMEN = eke.Fact(eke.count(sex="Female"), 134, "Yearbook, table 2")
ALL = eke.Fact(eke.count(), 400, "Yearbook, table 1")


def estimated(session: eke.Session, asked: Any, method: Any = "blue") -> Estimate:
    """The estimate of a question with one number."""
    found = session.estimate(asked, method)
    assert isinstance(found, Estimate)
    return found


def test_what_follows_from_facts_is_exact_and_free(session: eke.Session) -> None:
    first, second = session.add_fact(ALL), session.add_fact(WOMEN)
    answer = session.ask(eke.count(sex="Male"), within=1)
    assert (answer.value, answer.interval, answer.cost) == (266.0, (266.0, 266.0), 0.0)
    assert answer.caveats[-1] == (
        "Rests on public facts as the curator registered them: Yearbook, table 1; Yearbook, "
        "table 2."
    )
    assert session.budget.spent_nano == 0
    assert [one.sequence for one in session.facts] == [first, second]
    assert session.facts[0].source == "Yearbook, table 1"
    assert session.facts[0].by == "ann"
    assert not session.history


def test_facts_make_questions_cheaper_and_are_charged_to_nobody(
    new: Callable[..., eke.Session],
) -> None:
    plain, told = new(), new()
    told.add_fact(eke.Fact(eke.marginal("sex"), [134, 266], "Yearbook"))
    for session in (plain, told):
        session.ask(eke.marginal("sex", "city"), within=60)
    assert plain.budget.spent_nano == told.budget.spent_nano
    assert plain.shares.spent == told.shares.spent
    question = eke.count(sex="Female", city="d")
    with_fact, without = (estimated(one, question).within for one in (told, plain))
    assert with_fact is not None
    assert without is not None
    assert with_fact < 0.9 * without
    released = told.history.estimate
    rest = sum(released(eke.count(sex="Female", city=c)).value for c in DOMAIN["city"].labels)
    assert rest == pytest.approx(134, abs=1e-5)


def test_nobody_who_meets_a_condition_is_in_any_part_of_it(session: eke.Session) -> None:
    session.add_fact(eke.Fact(eke.count(sex="Female", age=(17, 18)), 0, "By law"))
    answer = session.ask(
        "SELECT city, COUNT(*) FROM people WHERE sex = 'Female' AND age = 17 GROUP BY city",
        within=1,
    )
    assert answer.values == (0.0, 0.0, 0.0)
    assert answer.cost == 0.0
    session.ask(eke.count(sex="Female"), within=40)
    older = session.ask(eke.count(sex="Female", age=(19, 26)), within=40)
    assert older.free, "the same number, since nobody is left out"


def test_what_others_measured_is_used_with_its_noise(session: eke.Session) -> None:
    office = eke.NoisyTable(eke.marginal("sex"), {"Male": 260, "Female": 140}, noise_variance=100)
    number = session.learn(office, source="Office, release 7")
    answer = session.ask(eke.count(), within=30)
    assert answer.value == pytest.approx(400)
    assert answer.variance == pytest.approx(200)
    assert answer.cost == 0.0
    assert answer.caveats[-1] == (
        "Rests on noisy tables that others released, with the noise stated: Office, release 7."
    )
    assert session.outside[0].kind == "learned"
    assert session.outside[0].noise_deviation == 10.0
    assert session.facts == ()
    with pytest.raises(FactError, match="holds no fact that is in force"):
        session.remove_fact(number)
    session.forget(number)
    assert not session.outside
    assert not session.preview(eke.count(), within=30).free


def test_the_history_of_another_dataset_is_learned(new: Callable[..., eke.Session]) -> None:
    other = new()
    other.ask(eke.count(sex="Female"), within=20)
    other.ask(eke.marginal("age"), within=40)
    other.ask(eke.count(sex="Female"), within=10)  # refines the first: learned once
    here = new()
    here.learn(other.history, source="Region B")
    assert len(here.outside) == 2
    for question in (eke.count(sex="Female"), eke.count(age=20), eke.count()):
        theirs, ours = estimated(other, question), estimated(here, question)
        assert ours.value == pytest.approx(theirs.value)
        assert ours.interval == pytest.approx(theirs.interval)
    assert here.budget.spent_nano == 0
    strangers = eke.create(
        Path(here._vault.ledger.place).with_name("strangers.eke"),
        make_people(),
        eke.Domain(age=eke.Integer(0, 99)),
        epsilon=1,
    )
    with pytest.raises(FactError, match=r"'sex' is not declared there|'age' is not declared there"):
        strangers.learn(other.history, source="Region B")


def test_removing_a_fact_leaves_what_was_answered(session: eke.Session) -> None:
    number = session.add_fact(ALL)
    before = session.ask(eke.count(), within=1, key="monday")
    session.remove_fact(number)
    assert session.facts == ()
    again = session.ask(eke.count(), within=1, key="monday")
    assert (again.value, again.interval, again.caveats) == (400.0, (400.0, 400.0), before.caveats)
    assert again.posterior.interval(0.99) == (400.0, 400.0), "as history stood then"
    assert not session.preview(eke.count(), within=1).free
    with pytest.raises(FactError, match="holds no fact"):
        session.remove_fact(number)
    session.add_fact(eke.Fact(eke.count(), 401, "Yearbook, corrected"))
    assert session.ask(eke.count(), within=1).value == 401.0


def test_measurements_before_and_after_a_fact_give_the_same(
    new: Callable[..., eke.Session],
) -> None:
    session = new()
    session.ask(eke.marginal("city"), within=50)
    session.add_fact(ALL)
    session.ask(eke.count(city="d", sex="Male"), within=50)
    reopened = eke.open(session._vault.ledger.place, data=make_people())
    for question in (eke.count(city="d"), eke.count(city=["d", "b & c"])):
        now, then = estimated(session, question), estimated(reopened, question)
        assert (now.value, now.interval) == (then.value, then.interval)
    assert reopened.outside == session.outside
    assert reopened.verify().intact


@pytest.mark.parametrize(
    ("fact", "told"),
    [
        (eke.Fact(eke.count(sex="Female"), 135, "B"), r"contradicts 'Yearbook, table 2' \(entry 3"),
        (eke.Fact(eke.count(sex="Male"), 10, "B"), r"table 1' \(entry 2\) and 'Yearbook, table 2'"),
        (eke.Fact(eke.marginal("sex"), [134, 267], "B"), "contradicts"),
        (
            eke.Fact(eke.marginal("sex", "city"), [45, 45, 45, 89, 89, 88], "B"),
            r"all of it together contradicts 'Yearbook, table 1' \(entry 2\) and 'Yearb",
        ),
        (eke.Fact(eke.count(age=17), -1, "B"), "whole number of at least 0"),
        (eke.Fact(eke.count(age=17), 0.5, "B"), "whole number of at least 0"),
        (eke.Fact(eke.count(age=17), 401, "B"), "it is public that there are 400 records"),
        (eke.Fact(eke.count(age=17), float("nan"), "B"), "no number of reasonable size"),
        (eke.Fact(eke.count(age=17), True, "B"), "not true or false"),
        (eke.Fact(eke.count(age=17), 40, " "), "say where this is published"),
        (eke.Fact(eke.count(age=17), 40, "B" * 501), "at most 500 characters"),
        (eke.Fact(eke.marginal("sex"), [134], "B"), "is about 2 numbers, and 1 were given"),
        (eke.Fact(eke.marginal("sex"), {"Female": 134}, "B"), "Male has no number"),
        (
            eke.Fact(eke.marginal("sex"), {"Female": 1, "Male": 2, "x": 3}, "B"),
            "x is no cell of this table",
        ),
    ],
)
def test_what_makes_no_sense_is_refused_and_registers_nothing(
    session: eke.Session, fact: eke.Fact, told: str
) -> None:
    session.add_fact(ALL)
    session.add_fact(WOMEN)
    entries = len(session.ledger_entries())
    with pytest.raises(FactError, match=told):
        session.add_fact(fact)
    assert len(session.ledger_entries()) == entries


def test_questions_without_one_linear_number_are_no_facts(session: eke.Session) -> None:
    for asked in (eke.mean("age"), "SELECT COUNT(*), SUM(age) FROM people"):
        with pytest.raises(QueryError, match="one count or sum"):
            session.add_fact(eke.Fact(asked, 1, "Yearbook"))
    with pytest.raises(FactError, match="say which noise"):
        session.learn(eke.NoisyTable(eke.count(), 1), source="Office")
    with pytest.raises(FactError, match="learn takes"):
        session.learn([1], source="Office")  # type: ignore[list-item]


def test_a_redundant_fact_is_accepted_and_changes_nothing(session: eke.Session) -> None:
    session.add_fact(ALL)
    session.add_fact(WOMEN)
    number = session.add_fact(eke.Fact(eke.marginal("sex"), [134, 266], "Another yearbook"))
    assert session.ask(eke.count(sex="Male"), within=1).interval == (266.0, 266.0)
    session.forget(number)
    assert session.ask(eke.count(sex="Male"), within=1).interval == (266.0, 266.0)


def test_the_table_is_neither_read_nor_compared(
    session: eke.Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A wrong fact is taken as it is: whether it is wrong must not be told."""
    source = type(session._vault._source)
    touched = [name for name in ("counts", "load", "rows") if hasattr(source, name)]
    assert touched

    def never(*_: object, **__: object) -> None:
        raise AssertionError("the table was touched")

    for name in touched:
        monkeypatch.setattr(source, name, never)
    session.add_fact(eke.Fact(eke.count(sex="Female"), 7, "A wrong yearbook"))
    assert session.ask(eke.count(sex="Female"), within=1).value == 7.0


def test_sums_and_decimals_keep_their_unit(folder: Path) -> None:
    domain = eke.Domain(price=eke.Decimal(0, 10, 2))
    shop = eke.create(folder / "shop.eke", pd.DataFrame({"price": [1.25, 2.5]}), domain, epsilon=1)
    asked = "SELECT SUM(price) FROM shop"
    shop.add_fact(eke.Fact(asked, "3.75", "Annual report"))
    assert shop.ask(asked, within=1).interval == (3.75, 3.75)
    with pytest.raises(FactError, match="contradicts 'Annual report'"):
        shop.add_fact(eke.Fact(asked, 3.76, "Another report"))


def test_facts_about_bins_that_eke_does_not_know_exactly_are_refused(folder: Path) -> None:
    domain = eke.Domain(hours=eke.Binned([0, 10, 20]))
    work = eke.create(folder / "work.eke", pd.DataFrame({"hours": [1, 12]}), domain, epsilon=1)
    with pytest.raises(FactError, match="knows hours only to its bins"):
        work.add_fact(eke.Fact(eke.total("hours"), 13, "Annual report"))
    work.add_fact(eke.Fact(eke.count(hours=(0, 10)), 1, "Annual report"))


def test_long_columns_have_facts_too(folder: Path) -> None:
    """A range of a column with 10⁹ values, and a structural zero in another part of it."""
    domain = eke.Domain(id=eke.Integer(0, 10**9 - 1), sex=eke.Categorical("F", "M"))
    table = pd.DataFrame({"id": [1, 2, 3], "sex": ["F", "M", "F"]})
    wide = eke.create(folder / "wide.eke", table, domain, epsilon=1)
    wide.add_fact(eke.Fact(eke.count(), 3, "Register"))
    wide.add_fact(eke.Fact(eke.count(id=(10**6, None)), 0, "Register, rules"))
    answer = wide.ask(eke.count(id=(0, 10**6 - 1)), within=1)
    assert (answer.value, answer.cost) == (3.0, 0.0)
    assert wide.ask(eke.count(id=(2 * 10**6, 3 * 10**6), sex="F"), within=1).value == 0.0


def test_the_public_number_under_replace_one_is_a_fact_among_others(folder: Path) -> None:
    closed = eke.Domain(
        sex=eke.Categorical("Female", "Male", outside=eke.Replace("Male"), null=eke.Replace("Male"))
    )
    session = eke.create(
        folder / "closed.eke", make_people(), closed, epsilon=1, neighbours="replace_one"
    )
    with pytest.raises(FactError, match="contradicts the public number of records"):
        session.add_fact(eke.Fact(eke.count(), 399, "Yearbook"))
    session.add_fact(WOMEN)
    assert session.ask(eke.count(sex="Male"), within=1).interval == (266.0, 266.0)


@pytest.mark.parametrize("method", ["blue", "shrinkage", "max_entropy"])
def test_every_method_tells_a_fact_as_it_is(session: eke.Session, method: str) -> None:
    session.ask(eke.marginal("city"), within=50)
    session.add_fact(eke.Fact(eke.marginal("sex", "age"), [7, 20] * 10, "Census, table P1"))
    known = estimated(session, eke.count(sex="Male", age=(17, 20)), method)
    assert known.value == 54.0
    assert known.public
    cells = session.estimate(eke.marginal("sex", "age"), method)  # type: ignore[arg-type]
    assert [cell.value for cell in cells.cells] == [7.0, 20.0] * 10  # type: ignore[union-attr]
    if method != "blue":
        one_by_one = [
            estimated(session, eke.count(sex="Male", city=city), method).value
            for city in DOMAIN["city"].labels
        ]
        assert sum(one_by_one) == pytest.approx(135, abs=0.5)


def test_a_light_answer_says_what_the_session_says(session: eke.Session) -> None:
    session.add_fact(ALL)
    session.ask(eke.marginal("sex"), within=50)
    path = Path(session._vault.ledger.place)
    sql = "SELECT COUNT(*) FROM people WHERE sex = 'Male'"
    light = free_answer(path, sql, Aim(60, None))
    assert light is not None
    here = session.ask(sql, within=60)
    assert (light.value, light.interval, light.caveats) == (here.value, here.interval, here.caveats)


def test_history_lists_it_with_its_source(session: eke.Session) -> None:
    session.ask(eke.count(), within=50)
    session.add_fact(WOMEN)
    measured, outside = session.history.to_records()
    assert "source" not in measured
    assert outside["source"] == "Yearbook, table 2"
    assert outside["analyst"] == "ann"
    assert outside["noise_deviation"] == 0.0
    assert len(session.history) == 1
    assert session.history.outside[0].is_fact


def test_the_ledger_keeps_both_entries(session: eke.Session) -> None:
    session.forget(session.add_fact(WOMEN))
    registered, removed = session.ledger_entries()[-2:]
    assert (registered.kind, removed.kind) == ("register", "remove")
    assert registered.payload["source"] == "Yearbook, table 2"
    assert registered.payload["by"] == "ann"
    assert removed.payload == {"entry": registered.sequence, "by": "ann"}
    assert json.dumps(registered.payload["statements"]).count('"134"') == 1


@pytest.mark.parametrize(
    ("kind", "payload"),
    [
        ("register", {"by": "ann"}),
        ("register", {"by": "ann", "source": "x", "statements": [{"query": {}}]}),
        ("remove", {"entry": 99}),
        ("remove", {}),
    ],
)
def test_entries_of_unknown_form_release_nothing(
    session: eke.Session, kind: str, payload: dict[str, object]
) -> None:
    place = session._vault.ledger.place
    with Ledger.open(place).exclusive() as book:
        book.note(kind, payload)
    with pytest.raises(LedgerError, match="unknown form"):
        eke.open(place, data=make_people()).preview(eke.count(), within=9)


@pytest.mark.parametrize("written", ["1e400", "1e-400", "1/0", "", "12_0", "0x10", "nan", "1.5/2"])
def test_numbers_are_written_with_digits(session: eke.Session, written: str) -> None:
    with pytest.raises(FactError, match="no number of reasonable size"):
        session.add_fact(eke.Fact(eke.count(age=17), written, "Yearbook"))


def test_noise_that_is_none_is_a_fact(session: eke.Session) -> None:
    with pytest.raises(FactError, match="is a fact"):
        session.learn(eke.NoisyTable(eke.count(), 400, noise_variance=1e-12), source="Office")


def test_there_is_an_end_to_numbers_that_are_kept_one_by_one(
    session: eke.Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outside, "MOST_SINGLE_IN_ALL", 12)
    number = session.add_fact(eke.Fact(eke.marginal("age"), [40] * 10, "Census"))
    with pytest.raises(FactError, match="13 numbers from outside would have to be kept one by one"):
        session.add_fact(eke.Fact(eke.marginal("city"), [134, 133, 133], "Census"))
    session.forget(number)
    session.add_fact(eke.Fact(eke.marginal("city"), [134, 133, 133], "Census"))


def test_of_two_curators_who_contradict_each_other_the_second_is_told(
    session: eke.Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other one registers between the first look and the lock."""
    plain = outside.check_outside
    came: list[bool] = []

    def late(*words: Any) -> None:
        plain(*words)
        if not came:
            came.append(True)
            session.add_fact(ALL)

    monkeypatch.setattr(outside, "check_outside", late)
    with pytest.raises(FactError, match="contradicts 'Yearbook, table 1'"):
        session.add_fact(eke.Fact(eke.count(), 401, "Another"))
    assert [one.value for one in session.facts] == [400.0]
