"""The desk: every step is priced from its own numbers, paid before it is drawn, and drawn once."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from eke.data import Counts, Rows
from eke.domain import Domain, Integer
from eke.engine import ChoiceOption, Desk, RowScores, Selection, adaptive
from eke.engine.adaptive import LARGEST_NUMBER, checked_selection, exact_distances, measurement
from eke.engine.draws import Wanted
from eke.errors import PrivacyError
from eke.inference.progress import silent
from eke.mechanism import reveal_with_noise, secret
from eke.planning import Part, Plan, part_for
from eke.privacy.accountant import Accountant
from eke.privacy.concentrated import CONCENTRATED
from eke.privacy.law import DiscreteGaussian, DiscreteLaplace
from eke.privacy.measure import Measure
from eke.privacy.pure import PURE
from eke.privacy.record_loss import NANO
from eke.query import Kronecker, Neighbours, count, marginal

DOMAIN = Domain(a=Integer(0, 2), b=Integer(0, 1))
PART = part_for(count(a=0).on(DOMAIN), 4.0, PURE)
A = Counts(("a",), np.array([[0], [1], [2]]), np.array([5, 7, 11]))
B = Counts(("b",), np.array([[0], [1]]), np.array([3, 20]))


class Drawer:
    """Draws at once, and writes down what for; each time after a look that was told."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.looking = False

    def look(self) -> None:
        assert not self.looking
        self.looking = True

    def take(self, wanted: Sequence[Wanted]) -> list[list[int]]:
        assert self.looking
        self.looking = False
        self.texts += [one.what for one in wanted]
        return [one.draw() for one in wanted]


@pytest.fixture(autouse=True)
def without_noise(monkeypatch):
    monkeypatch.setattr(secret, "draw", lambda _law, number: np.zeros(number, np.int64))


@pytest.fixture
def drawer() -> Drawer:
    return Drawer()


def open_desk(
    drawer: Drawer,
    *,
    later: int = 0,
    row_loss: int = 0,
    measure: Measure = PURE,
    neighbours: Neighbours = "add_remove",
    rows: Rows | None = None,
    progress=silent,
) -> Desk:
    plan = Plan((PART,), row_loss, later)
    accountant = Accountant(DOMAIN, measure, neighbours)
    counts: dict[tuple[str, ...], Counts] = {("a",): A, ("b",): B}
    return Desk(plan, accountant, drawer, counts=counts, rows=rows, progress=progress)


def block(name: str, times: int = 1) -> Kronecker:
    return Kronecker(DOMAIN, (name,), (times * np.eye(DOMAIN[name].size, dtype=np.int64),))


def option(name: str, expected: Sequence[int], handicap: int = 0, times: int = 1) -> ChoiceOption:
    return ChoiceOption(block(name, times), np.array(expected, np.int64), handicap)


def test_a_step_may_cost_all_that_is_left_and_no_more(drawer):
    part = part_for(marginal("a").on(DOMAIN), 4.0, PURE)
    desk = open_desk(drawer, later=NANO // 2 + 7)
    found = desk.measure(part)
    assert found.values == (5.0, 7.0, 11.0)
    assert (found.query, found.law) == (part.query, part.law)
    assert desk.left == NANO // 4 + 7
    desk.measure(part)
    assert desk.left == 7
    with pytest.raises(PrivacyError, match="costs more"):
        desk.measure(part)
    assert desk.left == 7
    assert len(desk.measured) == len(drawer.texts) == 2
    exact = open_desk(drawer, later=NANO // 4)
    exact.measure(part)
    assert exact.left == 0
    short = open_desk(drawer, later=NANO // 4 - 1)
    with pytest.raises(PrivacyError, match="costs more"):
        short.measure(part)


def test_what_was_drawn_is_told_apart_by_question_and_noise(drawer):
    desk = open_desk(drawer, later=NANO)
    parts = [part_for(marginal(name).on(DOMAIN), 8.0, PURE) for name in "ab"]
    for part in parts:
        desk.measure(part)
    assert [json.loads(text) for text in drawer.texts] == [part.to_document() for part in parts]


@pytest.mark.parametrize(
    ("measure", "neighbours", "price"),
    [
        (PURE, "add_remove", NANO // 2),  # 2 · 2 / 8
        (PURE, "replace_one", NANO),
        (CONCENTRATED, "add_remove", NANO // 32),  # (2/8)² / 2
        (CONCENTRATED, "replace_one", NANO // 8),
    ],
)
def test_a_choice_costs_the_largest_reach_of_all_options(drawer, measure, neighbours, price):
    options = (option("a", [0, 0, 0]), option("b", [0, 0], times=2))
    selection = Selection(options, 0, DiscreteLaplace(8, 0))
    assert selection.reach == 2
    desk = open_desk(drawer, later=price, measure=measure, neighbours=neighbours)
    desk.choose(selection)
    assert desk.left == 0
    short = open_desk(drawer, later=price - 1, measure=measure, neighbours=neighbours)
    with pytest.raises(PrivacyError, match="costs more"):
        short.choose(selection)
    assert len(drawer.texts) == 1
    law = selection.law.to_json()
    told = json.loads(drawer.texts[0])
    assert {key: told[key] for key in ("exponent", "law", "picks")} == {
        "exponent": 0,
        "law": law,
        "picks": 1,
    }


def test_without_noise_the_best_option_is_chosen(drawer):
    """|5-5| + |7-7| + |11-12| = 1 and |3-3| + |20-15| - 3 = 2."""
    options = (option("a", [5, 7, 12]), option("b", [3, 15], handicap=3))
    desk = open_desk(drawer, later=NANO)
    assert desk.choose(Selection(options, 0, DiscreteLaplace(8, 0))) == [1]
    assert desk.choose(Selection(options[::-1], 0, DiscreteLaplace(8, 0))) == [0]


def test_several_picks_are_paid_one_by_one_and_are_different(drawer):
    options = tuple(option("a", [5, 7, expected]) for expected in (11, 13, 12))
    law = DiscreteLaplace(8, 0)
    desk = open_desk(drawer, later=NANO)
    assert desk.choose(Selection(options, 0, law, picks=2)) == [1, 2]
    assert desk.left == NANO - 2 * (NANO // 4)
    with pytest.raises(PrivacyError, match="costs more"):
        desk.choose(Selection(options, 0, law, picks=3))
    assert desk.left == NANO // 2
    for picks in (0, 4, 1.0, True):
        with pytest.raises(PrivacyError, match="picks"):
            Selection(options, 0, law, picks=picks)  # type: ignore[arg-type]


def test_every_choice_has_a_text_of_its_own():
    law = DiscreteLaplace(8, 0)
    first, second = option("a", [1, 2, 3]), option("b", [4, 5])
    texts = [
        Selection(options, exponent, law, picks).text()
        for options, exponent, picks in [
            ((first, second), 0, 1),
            ((second, first), 0, 1),
            ((first, second), 0, 2),
            ((first, option("b", [4, 6])), 0, 1),
            ((first, option("b", [4, 5], handicap=1)), 0, 1),
            ((first, option("b", [4, 5], times=2)), 0, 1),
            ((first,), 0, 1),
        ]
    ]
    assert len(set(texts)) == len(texts)
    assert Selection((first, second), 0, law).text() == texts[0]


def test_counts_of_more_attributes_serve_for_fewer(drawer):
    """The slow twin: the counts of the attributes themselves."""
    generator = np.random.default_rng(3)
    cells = np.array(list(np.ndindex(3, 2)))
    both = Counts(("a", "b"), cells, generator.integers(1, 9, len(cells)))
    desk = open_desk(drawer, later=NANO)
    desk._counts = {("a", "b"): both}
    groups = np.array([[1, 0, 1], [0, 1, 0]])
    table = np.zeros((3, 2), np.int64)
    table[tuple(cells.T)] = both.counts
    for names, matrices in [
        (("a",), (groups,)),
        (("a", "b"), (groups, np.eye(2, dtype=np.int64))),
        (("b",), (np.array([[2, -1]]),)),
    ]:
        axes = tuple(k for k, name in enumerate("ab") if name not in names)
        own = Kronecker(DOMAIN, names, matrices)
        slow = own.exact(table.sum(axis=axes)).ravel().tolist()
        assert desk._answers(own).tolist() == slow
        part = part_for(own, 64.0, PURE)
        assert list(desk.measure(part).values) == slow  # the drawer of these tests adds no noise
    alone = desk.measure(part_for(marginal("a").on(DOMAIN), 64.0, PURE))
    assert list(alone.values) == table.sum(axis=1).tolist()


@pytest.mark.parametrize("exponent", [0, -1, -3])
def test_distances_are_those_of_the_definition(exponent):
    options = (
        option("a", [5, -7, 12]),
        replace(option("b", [3, 15], handicap=-9, times=2), weight=5),
    )
    selection = Selection(options, exponent, DiscreteLaplace(8, -4))
    assert selection.reach == 10
    unit = 2**-exponent
    expected = [
        sum(abs(c * unit - e) for c, e in zip([5, 7, 11], [5, -7, 12], strict=True)),
        5 * (sum(abs(2 * c * unit - e) for c, e in zip([3, 20], [3, 15], strict=True)) + 9),
    ]
    exact = [
        np.array(one.block.exact_answers(table.attributes, table.codes, table.counts))
        for one, table in zip(options, (A, B), strict=True)
    ]
    found = exact_distances(selection, exact)
    assert found.exponent == exponent
    assert reveal_with_noise(found, DiscreteLaplace(1, exponent)) == expected


def scores() -> RowScores:
    return RowScores((("a", np.array([[0], [1], [3]])),), np.array([[2]]), 0)


ROWS = Rows(("b", "a"), np.array([[0, 2], [1, 0], [1, 1]]))


@pytest.mark.parametrize("measure", [PURE, CONCENTRATED])
def test_rows_are_scored_once_with_the_noise_that_was_paid_for(drawer, measure):
    desk = open_desk(drawer, row_loss=NANO // 4, measure=measure, rows=ROWS)
    steps, law = desk.score_rows(scores())
    assert [step * law.step for step in steps] == [6, 0, 2]
    assert law == scores().law_within(NANO // 4, measure)
    assert drawer.texts == [scores().text(law)]
    with pytest.raises(PrivacyError, match="once"):
        desk.score_rows(scores())


def test_rows_need_a_loss_rows_and_an_open_desk(drawer):
    for desk in (
        open_desk(drawer, rows=ROWS),
        open_desk(drawer, row_loss=NANO),
        open_desk(drawer, later=NANO, rows=ROWS),
    ):
        with pytest.raises(PrivacyError, match="once"):
            desk.score_rows(scores())
    desk = open_desk(drawer, row_loss=NANO, rows=ROWS)
    with desk as same:
        assert same is desk
    with pytest.raises(PrivacyError, match="once"):
        desk.score_rows(scores())
    desk._rows = ROWS  # closed is closed, even for whoever puts the rows back
    with pytest.raises(PrivacyError, match="once"):
        desk.score_rows(scores())
    assert drawer.texts == []


def test_a_closed_desk_holds_nothing(drawer):
    desk = open_desk(drawer, later=NANO, row_loss=NANO, rows=ROWS)
    with desk:
        desk.measure(part_for(marginal("a").on(DOMAIN), 4.0, PURE))
    assert desk._counts == {}
    assert desk._known == {}
    assert desk._rows is None
    assert desk._open is False
    assert len(desk.measured) == 1
    with pytest.raises(PrivacyError, match="over"):
        desk.measure(part_for(marginal("a").on(DOMAIN), 4.0, PURE))
    with pytest.raises(PrivacyError, match="over"):
        desk.choose(Selection((option("a", [0, 0, 0]),), 0, DiscreteLaplace(8, 0)))
    assert desk.left == 3 * NANO // 4


def test_only_what_was_named_before_is_counted(drawer):
    desk = open_desk(drawer, later=NANO)
    both = Counts(("a", "b"), np.array([[0, 0]]), np.array([1]))
    assert both.attributes not in desk._counts
    with pytest.raises(PrivacyError, match="names all"):
        desk.measure(part_for(marginal("a", "b").on(DOMAIN), 4.0, PURE))
    assert desk.left == NANO


def test_progress_is_the_share_of_the_allowance(drawer):
    told: list[tuple[str, float]] = []
    desk = open_desk(drawer, later=NANO, progress=lambda name, share: told.append((name, share)))
    part = part_for(marginal("a").on(DOMAIN), 4.0, PURE)
    desk.measure(part)
    desk.measure(part)
    assert told == [("measuring", 0.25), ("measuring", 0.5)]
    rows = open_desk(drawer, row_loss=NANO, rows=ROWS, progress=lambda *one: told.append(one))
    rows.score_rows(scores())
    assert told[-1] == ("measuring", 1.0)
    both = open_desk(
        drawer, later=1, row_loss=NANO, rows=ROWS, progress=lambda *one: told.append(one)
    )
    both.score_rows(scores())
    assert told[-1] == ("measuring", 0.0)


def test_noise_of_another_kind_of_loss_is_refused_at_the_desk(drawer):
    desk = open_desk(drawer, later=NANO, measure=CONCENTRATED)
    with pytest.raises(PrivacyError, match="losses are in rho"):
        desk.measure(part_for(marginal("a").on(DOMAIN), 4.0, PURE))


def test_steps_become_values_on_the_grid():
    part = Part(count(a=0).on(DOMAIN), DiscreteGaussian(8, -2))
    found = measurement(part, [5])
    assert found.values == (1.25,)
    assert found.query is part.query
    assert found.law is part.law


@pytest.mark.parametrize("sign", [1, -1])
def test_expected_counts_and_handicaps_have_limits(sign):
    option("a", [sign * LARGEST_NUMBER, 0, 0])
    option("a", [0, 0, 0], handicap=sign * LARGEST_NUMBER)
    with pytest.raises(PrivacyError, match=r"2\^52"):
        option("a", [sign * (LARGEST_NUMBER + 1), 0, 0])
    with pytest.raises(PrivacyError, match=r"2\^52"):
        option("a", [0, 0, 0], handicap=sign * (LARGEST_NUMBER + 1))


def test_the_grid_of_scores_has_limits():
    one = (option("a", [0, 0, 0]),)
    Selection(one, -30, DiscreteLaplace(8, -30))
    Selection(one, 0, DiscreteLaplace(8, 0))
    for exponent, law in ((-31, -31), (1, 0), (-1, 0), (1, 1)):
        with pytest.raises(PrivacyError, match="grid"):
            Selection(one, exponent, DiscreteLaplace(8, law))


def test_nobody_else_holds_the_numbers_of_a_choice():
    expected = np.zeros(3, np.int64)
    first = ChoiceOption(block("a"), expected, 4, 3)
    expected[0] = 9
    assert first.expected.tolist() == [0, 0, 0]
    selection = Selection((first, option("b", [1, 2])), -1, DiscreteLaplace(8, -2))
    own = checked_selection(selection, DOMAIN)
    assert own is not selection
    assert (own.exponent, own.law) == (-1, DiscreteLaplace(8, -2))
    for one, two in zip(own.options, selection.options, strict=True):
        assert one is not two
        assert (one.handicap, one.weight) == (two.handicap, two.weight)
        assert one.block.to_document() == two.block.to_document()
        assert one.expected.tolist() == two.expected.tolist()
        assert not np.shares_memory(one.expected, two.expected)


def test_only_exact_types_are_chosen_from():
    class Other(Selection):
        pass

    class Better(ChoiceOption):
        pass

    law = DiscreteLaplace(8, 0)
    fine = option("a", [0, 0, 0])
    with pytest.raises(PrivacyError, match="only a Selection"):
        checked_selection(Other((fine,), 0, law), DOMAIN)
    better = Better(block("a"), np.zeros(3, np.int64), 0)
    with pytest.raises(PrivacyError, match="made of options"):
        checked_selection(Selection((fine, better), 0, law), DOMAIN)
    whole = marginal("a").on(DOMAIN)
    table = ChoiceOption(whole, np.zeros(3, np.int64), 0)  # type: ignore[arg-type]
    with pytest.raises(PrivacyError, match="blocks of products"):
        checked_selection(Selection((table,), 0, law), DOMAIN)
    wrong = Selection((fine,), 0, DiscreteGaussian(8, 0))  # type: ignore[arg-type]
    with pytest.raises(PrivacyError, match="losses are in"):
        checked_selection(wrong, DOMAIN)
    with pytest.raises(PrivacyError, match="discrete Laplace"):
        checked_selection(Selection((fine,), False, law), DOMAIN)
    with pytest.raises(PrivacyError, match="another domain"):
        checked_selection(Selection((fine,), 0, law), Domain(a=Integer(0, 2)))


def test_a_desk_keeps_no_more_counts_than_there_is_room_for(drawer, monkeypatch):
    monkeypatch.setattr(adaptive, "MOST_KNOWN", 4)
    desk = open_desk(drawer, later=NANO)
    for times in range(1, 9):
        again = [desk._answers(block("a", times)).tolist() for _ in range(2)]
        assert again[0] == again[1] == (times * desk._answers(block("a"))).tolist()
        assert sum(map(len, desk._known.values())) <= 4
