"""The accountant against every possible unit, on random adaptive histories.

All randomness comes from generators seeded here, so a failing history can be run again.
"""

from __future__ import annotations

import math
import sys
import time
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eke.domain import Categorical, Domain, Integer
from eke.privacy import accountant as accounting
from eke.privacy import loss_tables, stretches
from eke.privacy.accountant import Accountant
from eke.privacy.concentrated import CONCENTRATED
from eke.privacy.extremum import maximum
from eke.privacy.law import DiscreteGaussian, DiscreteLaplace, DiscreteLaw, choose_grid
from eke.privacy.loss_tables import LARGEST_TABLE, LossTables
from eke.privacy.measure import Measure
from eke.privacy.noise_grid import MOST_STEPS
from eke.privacy.pure import PURE
from eke.privacy.record_loss import NANO
from eke.privacy.stretches import stretched
from eke.query import Marginal, Neighbours, Query, Term, count, moment
from eke.query.runs import steps_of
from tests.parts import in_long
from tests.random_questions import random_conditions, random_domain, random_question
from tests.unit.privacy.loss_twin import LossTwin, noise_scale, record_loss

NINE = (79, 2, 17, 51, 9, 7, 6, 50, 50)


def random_law(rng: np.random.Generator, measure: Measure, exponent: int) -> DiscreteLaw:
    family = DiscreteLaplace if measure == PURE else DiscreteGaussian
    return family(int(rng.integers(1, 200)) << max(0, 3 - exponent), min(exponent, 3))


def random_measured(rng: np.random.Generator, domain: Domain) -> Query | Marginal:
    """A question that can be measured: without constant, and not always zero."""
    while True:
        asked = random_question(rng, domain, blocks=0.35).on(domain)
        if isinstance(asked, Query):
            asked = Query(domain, asked.terms, Fraction(0))
        if not (asked.inside if isinstance(asked, Marginal) else asked).is_zero:
            return asked


def play(seed: int, make: Callable[..., Accountant]) -> Counter[str]:
    """One adaptive history of up to eight measurements; what was found, by kind.

    After each decision the certified loss is compared with the loss of the unit that loses most.
    """
    rng = np.random.default_rng(seed)
    measure: Measure = PURE if rng.random() < 0.5 else CONCENTRATED
    neighbours: Neighbours = "add_remove" if rng.random() < 0.5 else "replace_one"
    rows = int(rng.choice([1, 1, 2, 3]))
    # Few cells where many records move at once: the twin tries every multiset of moves.
    size = (2, 4) if (rows, neighbours) == (1, "replace_one") else (2, 2) if rows > 1 else (3, 4)
    domain = random_domain(rng, attributes=size[0], largest=size[1])
    accountant, twin = make(domain, measure, neighbours, rows), LossTwin(domain, neighbours, rows)
    factor = rows if measure == PURE else rows**2
    limit = int(NANO * 10.0 ** rng.uniform(-3, 1))
    found: Counter[str] = Counter()
    charged = 0
    for _ in range(int(rng.integers(1, 9))):
        measured = random_measured(rng, domain)
        inside = measured.inside if isinstance(measured, Marginal) else measured
        law = random_law(rng, measure, inside.exponent)
        before, after = accountant.spent, accountant.after(measured, law, limit)
        truth = twin.largest_after(measured, law)
        found["decisions"] += 1
        found["under-counts"] += after < truth
        # Each measurement is rounded up once for a cell, by less than one nano-unit.
        exact = truth <= after < truth + factor * (charged + 1) or after == before
        found["inexact"] += neighbours == "add_remove" and not exact
        found["decreases"] += after < before
        found["changed by looking"] += accountant.spent != before
        if after <= limit:
            accountant.add(measured, law, after)
            twin.add(measured, law)
            charged += 1
            found["under-counts"] += accountant.spent < twin.largest
            found["decreases"] += accountant.spent < before
        else:
            found["refusals"] += 1
    return found


def play_all(make: Callable[..., Accountant], histories: int) -> Counter[str]:
    return sum((play(seed, make) for seed in range(histories)), Counter())


@pytest.mark.parametrize("histories", [200, in_long(1000)])
def test_no_unit_ever_loses_more_than_is_accounted_for(histories):
    """N = 200 random adaptive histories, about 900 decisions; exact for add_remove."""
    found = play_all(Accountant, histories)
    assert found["under-counts"] == 0
    assert found["inexact"] == 0
    assert found["decreases"] == 0
    assert found["changed by looking"] == 0
    assert found["decisions"] > 4 * histories
    assert 0.4 * histories < found["refusals"] < 0.7 * found["decisions"], "both outcomes occurred"


@pytest.mark.parametrize("histories", [80, in_long(400)])
def test_columns_in_stretches_are_accounted_for_as_exactly(monkeypatch, histories):
    """N = 80 of these histories, with every column of more than one value in stretches."""
    monkeypatch.setattr(stretches, "MOST_VALUES", 1)
    found = play_all(Accountant, histories)
    assert found["under-counts"] == 0
    assert found["inexact"] == 0
    assert found["decreases"] == 0


@pytest.mark.parametrize(
    ("room", "histories"),
    [(2, 80), *(pytest.param(n, 400, marks=pytest.mark.long) for n in (2, 4))],
)
def test_small_tables_of_stretches_never_count_too_little(monkeypatch, room, histories):
    """N = 80 or 400 histories in which tables of stretches are too large again and again."""
    monkeypatch.setattr(stretches, "MOST_VALUES", 1)
    monkeypatch.setattr(loss_tables, "LARGEST_TABLE", room)
    monkeypatch.setattr(accounting, "LARGEST_TABLE", room)
    found = play_all(Accountant, histories)
    assert found["under-counts"] == 0
    assert found["decreases"] == 0
    assert found["inexact"] > histories / 20, "some tables were bounded"


@pytest.mark.parametrize("broken", ["coarsened", "aligned"])
@pytest.mark.parametrize("histories", [80, in_long(200)])
def test_stretches_with_less_than_their_largest_loss_are_caught(monkeypatch, broken, histories):
    """Positive control, N = 80 or 200 histories: the least loss, or that of the first stretch."""
    monkeypatch.setattr(stretches, "MOST_VALUES", 1)
    for module in (loss_tables, accounting):
        monkeypatch.setattr(module, "LARGEST_TABLE", 2)
    if broken == "coarsened":

        def least(cells, axis, own, coarser):
            finer = np.union1d(own, coarser)
            starts = np.searchsorted(finer, np.append(0, coarser[:-1]), side="right")
            whole = stretches.expanded(cells, axis, own, finer)
            return np.minimum.reduceat(whole, starts, axis)

        monkeypatch.setattr(loss_tables, "coarsened", least)
    else:
        monkeypatch.setattr(
            loss_tables,
            "expanded",
            lambda cells, axis, _, finer: cells.take([0] * len(finer), axis),
        )
    assert play_all(Accountant, histories)["under-counts"] > 5


WIDE = Domain(
    price=Integer(0, 599_999), day=Integer(0, 299_999), kind=Categorical(*"abc"), age=Integer(0, 9)
)


def wide_question(rng: np.random.Generator, *, sums: bool) -> Query:
    """A sum or a difference of counts, and of sums, over ranges of two wide columns."""
    total = None
    for _ in range(int(rng.integers(1, 4))):
        where: dict[str, object] = {}
        for name in ("price", "day"):
            if rng.random() < 0.7:
                low, high = sorted(rng.integers(0, WIDE[name].size, 2).tolist())
                where[name] = (low, high)
        if rng.random() < 0.5:
            where["kind"] = str(rng.choice(list("abc")))
        powers = {"price": int(rng.integers(1, 3))} if sums and rng.random() < 0.5 else {"age": 1}
        part = moment(powers, where=where) if rng.random() < 0.6 else count(where)
        part = part * float(rng.choice([1, -1, 0.5]))
        total = part if total is None else total + part
    assert total is not None
    return total.on(WIDE)


def some_cells(
    rng: np.random.Generator, history: list[tuple[Query, DiscreteLaw]]
) -> list[tuple[int, ...]]:
    """Cells at the ends of all stretches, and between them, in every combination of some."""
    codes: dict[str, list[int]] = {"kind": [0, 1, 2], "age": [0, 9]}
    for name in ("price", "day"):
        stops = {0, WIDE[name].size}
        for query, _ in history:
            for term in query.terms:
                stops |= {int(one) for n, v in term.vectors if n == name for one in steps_of(v)[0]}
        near = {stop + k for stop in stops for k in (-1, 0)}
        codes[name] = sorted(code for code in near if 0 <= code < WIDE[name].size)
    return [tuple(int(rng.choice(codes[name])) for name in WIDE.names) for _ in range(60)] + [
        tuple(cell) for cell in product(*(codes[name][:6] for name in WIDE.names))
    ]


def true_losses(
    history: list[tuple[Query, DiscreteLaw]], cells: list[tuple[int, ...]]
) -> list[Fraction]:
    """What a record in each of some cells loses, by the definition."""
    losses = [Fraction(0)] * len(cells)
    for query, law in history:
        unit, scale = Fraction(2) ** query.exponent, noise_scale(law)
        for place, number in enumerate(query.numerators(WIDE.names, np.array(cells))):
            moved = abs(number * unit) / scale
            losses[place] += NANO * (moved if law.loss_unit == "epsilon" else moved**2 / 2)
    return losses


@pytest.mark.parametrize("measure", [PURE, CONCENTRATED])
@pytest.mark.parametrize("sums", [False, True])
@pytest.mark.parametrize("histories", [4, in_long(15)])
def test_wide_columns_are_never_under_counted(measure, sums, histories):
    """N = 4 or 15 histories of four questions over columns of 300,000 and 600,000 values.

    Without sums over a wide column, the figure is the loss of the worst cell, or one that is not
    sampled: it is compared with the loss that the tables themselves have for each.
    """
    rng = np.random.default_rng(17)
    for _ in range(histories):
        accountant = Accountant(WIDE, measure, "add_remove")
        history: list[tuple[Query, DiscreteLaw]] = []
        for _ in range(4):
            query = wide_question(rng, sums=sums)
            if query.is_zero:
                continue
            law = law_for(query, measure, rng)
            accountant.add(query, law, accountant.after(query, law, 2**59))
            history.append((query, law))
        cells = some_cells(rng, history)
        for cell, truth in zip(cells, true_losses(history, cells), strict=True):
            assert accountant.spent >= truth
            told = accountant._losses.cells.at(dict(zip(WIDE.names, cell, strict=True)))
            assert told >= truth
            if not sums:
                assert told < truth + len(history) + 1


def test_bounds_of_terms_do_not_cancel_out():
    """One term rises with the price and another falls: at the end, twice the largest is left."""
    most = WIDE["price"].size - 1
    rising, days = np.arange(most + 1), np.arange(WIDE["day"].size)
    terms = [
        Term(Fraction(2), (("price", rising), ("day", (days < 10).astype(np.int64)))),
        Term(Fraction(-1), (("price", rising[::-1].copy()), ("day", (days < 11).astype(np.int64)))),
    ]
    query, law = Query.unrounded(WIDE, terms), DiscreteLaplace(10**6, 0)
    after = Accountant(WIDE, PURE, "add_remove").after(query, law, 2**59)
    assert after >= NANO * Fraction(2 * most, 10**6)
    narrow = stretched(query)
    bounds = [term for one in narrow.queries for term in one.terms]
    careless = Query.unrounded(narrow.queries[0].domain, bounds)  # the control: all in one query
    assert max(map(abs, careless.extremes())) < 2 * most


def test_disjoint_ranges_of_a_wide_column_cost_as_much_as_one():
    domain, law = Domain(price=Integer(0, 999_999)), DiscreteLaplace(10, 0)
    accountant = Accountant(domain, PURE, "add_remove")
    for place in range(20):
        query = count(price=(50_000 * place, 50_000 * place + 49_999)).on(domain)
        accountant.add(query, law, accountant.after(query, law, NANO))
    assert accountant.spent == NANO // 10


class Forgetful(Accountant):
    """Positive control: accounts for the last measurement only."""

    def _with(self, before, query, law):
        nothing = accounting._Losses(LossTables(before.cells.sizes), LossTables(before.cells.sizes))
        self._spent = 0
        return super()._with(nothing, query, law)


def test_accounting_for_the_last_measurement_only_is_caught():
    """Positive control, N = 50 histories."""
    assert play_all(Forgetful, 50)["under-counts"] > 20


def test_a_mean_over_cells_instead_of_the_maximum_is_caught(monkeypatch):
    """Positive control, N = 50 histories."""

    def mean_loss(tables: LossTables, enough: int) -> int:
        return round(sum(float(table.cells.mean()) for table in tables))

    monkeypatch.setattr(accounting, "_certified", mean_loss)
    assert play_all(Accountant, 50)["under-counts"] > 20


@pytest.mark.parametrize("neighbours", ["add_remove", "replace_one"])
def test_a_factor_for_the_rows_of_a_unit_is_needed(neighbours, monkeypatch):
    """Positive control: k instead of k² for zCDP is caught by the twin."""
    domain = Domain(a=Integer(0, 1))
    measured, law = count(a=1).on(domain), DiscreteGaussian(5, 0)
    twin = LossTwin(domain, neighbours, 3)
    right = Accountant(domain, CONCENTRATED, neighbours, 3)
    assert right.after(measured, law, NANO) >= twin.largest_after(measured, law)
    monkeypatch.setattr(right, "_factor", 3)
    assert right.after(measured, law, NANO) < twin.largest_after(measured, law)


@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=60)
def test_the_order_of_questions_does_not_matter(seed):
    rng = np.random.default_rng(seed)
    domain = random_domain(rng)
    measured = [random_measured(rng, domain) for _ in range(4)]
    laws = [
        random_law(rng, CONCENTRATED, (m.inside if isinstance(m, Marginal) else m).exponent)
        for m in measured
    ]
    last = []
    for order in (range(4), rng.permutation(4)):
        accountant = Accountant(domain, CONCENTRATED, "replace_one")
        for i in order:
            accountant.add(measured[i], laws[i], 0)
        last.append(accountant.after(measured[0], laws[0], 10**6))
    assert last[0] == last[1]


# --- supports too large for a table --------------------------------------------------------------


def nine_attributes() -> Domain:
    """The nine attributes of HIST's experiment."""
    kinds = {
        name: Categorical(*(f"v{i}" for i in range(size))) if size < 10 else Integer(0, size - 1)
        for name, size in zip("abcdefghi", NINE, strict=True)
    }
    return Domain(kinds)


def large_query(rng: np.random.Generator, domain: Domain) -> Query:
    """A question over more cells than a table may have: a count, a moment, or a mixture."""
    numeric = [name for name, a in domain.attributes if isinstance(a, Integer)]
    while True:
        kind = int(rng.integers(0, 3))
        if kind == 0:
            asked = count(random_conditions(rng, domain, most=9))
        elif kind == 1:
            names = rng.choice(numeric, size=3, replace=False)
            powers = {str(name): int(rng.integers(1, 3)) for name in names}
            asked = moment(powers, where=random_conditions(rng, domain, most=2))
        else:
            parts = [count(random_conditions(rng, domain, most=4)) for _ in range(4)]
            weights = [float(rng.choice([1, -1, 2, 0.1])) for _ in parts]
            asked = parts[0] * weights[0]
            for part, weight in zip(parts[1:], weights[1:], strict=True):
                asked = asked + part * weight
        query = asked.on(domain)
        if query.support_size > LARGEST_TABLE:
            return query


def true_loss(history: list[tuple[Query | Marginal, DiscreteLaw]], cell: list[int]) -> Fraction:
    return sum((record_loss(m, law, tuple(cell)) for m, law in history), Fraction(0))


def climbed(
    history: list[tuple[Query | Marginal, DiscreteLaw]], domain: Domain, cell: list[int]
) -> Fraction:
    """The largest true loss that coordinate ascent finds from a cell."""
    best, improved = true_loss(history, cell), True
    while improved:
        improved = False
        for axis, size in enumerate(domain.shape):
            for code in range(0, size, max(1, size // 6)):
                trial = [*cell[:axis], code, *cell[axis + 1 :]]
                loss = true_loss(history, trial)
                if loss > best:
                    best, cell, improved = loss, trial, True
    return best


def law_for(query: Query, measure: Measure, rng: np.random.Generator) -> DiscreteLaw:
    """Noise of one to twenty times the largest coefficient, if that can be drawn."""
    low, high = query.extremes()
    wanted = max(-low, high) * Fraction(float(rng.uniform(1, 20)))
    wanted = min(wanted, MOST_STEPS * Fraction(2) ** query.exponent)
    if measure == PURE:
        return choose_grid(DiscreteLaplace, wanted, query.exponent)
    return choose_grid(DiscreteGaussian, wanted, query.exponent)


@pytest.mark.parametrize("measure", [PURE, CONCENTRATED])
@pytest.mark.parametrize("neighbours", ["add_remove", "replace_one"])
def test_large_supports_are_never_under_counted(measure, neighbours):
    """N = 4 histories of up to four questions over more than 2^18 cells of nine attributes.

    The loss is at least the true loss of 40 sampled cells, of the cell that the bound itself names
    as the worst, and of the best cells that coordinate ascent reaches from some of them.
    """
    domain = nine_attributes()
    rng = np.random.default_rng(5)
    for _ in range(4):
        accountant = Accountant(domain, measure, neighbours)
        history: list[tuple[Query | Marginal, DiscreteLaw]] = []
        for _ in range(4):
            query = large_query(rng, domain)
            law = law_for(query, measure, rng)
            after = accountant.after(query, law, 2**59)
            if after <= 2**59:
                accountant.add(query, law, after)
                history.append((query, law))
        cells = [[int(rng.integers(0, n)) for n in domain.shape] for _ in range(40)]
        witness = maximum(accountant._losses.cells).witness
        assert witness is not None
        cells.append([witness[name] for name in domain.names])
        for cell in cells:
            assert accountant.spent >= true_loss(history, cell)
        for cell in cells[-2:]:
            assert accountant.spent >= climbed(history, domain, cell)


def test_an_uneven_weight_is_not_rounded_down():
    """A bound over fewer attributes has a weight of more bits than the coefficient grid."""
    domain = Domain({name: Integer(0, 99) for name in "abcd"})
    query = moment(c=3, d=3, where={"a": (0, 3), "b": (0, 3)}).on(domain)
    assert query.support_size > LARGEST_TABLE
    law = DiscreteLaplace(2**20, 0)
    truth = record_loss(query, law, (0, 0, 99, 99))
    after = Accountant(domain, PURE, "add_remove").after(query, law, 2**59)
    assert truth <= after < truth + 1


@pytest.mark.parametrize("repeats", [1, 3, 4, 16])
def test_losses_beyond_64_bits_do_not_wrap_around(repeats):
    """Four terms of 2^62 nano-units each once summed to nearly nothing."""
    domain = Domain({f"a{i}": Integer(0, 29) for i in range(8)})
    places = [(0, 1, 2), (3, 4, 5), (6, 7, 5), (0, 7, 4)]
    parts = [count({f"a{i}": (0, 14), f"a{j}": (0, 14), f"a{k}": 3}) for i, j, k in places]
    query = (parts[0] + parts[1] + parts[2] + parts[3]).on(domain)
    assert query.support_size > LARGEST_TABLE
    deviation = math.sqrt(NANO / (2 * repeats * 2**60))
    for nearby in range(-3, 4):
        law = DiscreteGaussian(round(deviation * 2**60) + nearby, -60)
        for neighbours in ("add_remove", "replace_one"):
            accountant = Accountant(domain, CONCENTRATED, neighbours)
            assert accountant.after(query, law, NANO) >= 2**60


@pytest.mark.long
def test_time_of_a_decision(capsys):
    """No assertion on time: N = 1,000 mixed questions over the nine attributes, figures printed."""
    domain, rng = nine_attributes(), np.random.default_rng(1)
    for neighbours in ("add_remove", "replace_one"):
        accountant = Accountant(domain, PURE, neighbours)
        limit, seconds, refused = 20 * NANO, [], 0
        for _ in range(1000):
            measured = random_measured(rng, domain)
            inside = measured.inside if isinstance(measured, Marginal) else measured
            law = law_for(inside, PURE, rng)
            begun = time.perf_counter()
            after = accountant.after(measured, law, limit)
            seconds.append(time.perf_counter() - begun)
            assert after >= accountant.spent
            if after <= limit:
                accountant.add(measured, law, after)
            else:
                refused += 1
        assert accountant.spent <= limit
        with capsys.disabled():
            sys.stdout.write(
                f"\n{neighbours}: {refused} refused; per decision median "
                f"{np.median(seconds) * 1e3:.1f} ms, mean {np.mean(seconds) * 1e3:.1f} ms, "
                f"largest {max(seconds) * 1e3:.0f} ms\n"
            )
