"""The rungs of the ladder to a maximum: which are climbed, in which order, and for how much."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from eke.privacy import branch_bound, extremum
from eke.privacy import elimination as elimination_module
from eke.privacy.elimination import Elimination
from eke.privacy.extremum import maximum
from eke.privacy.loss_tables import LARGEST_TOTAL, LossTables
from eke.privacy.shifted_pairs import Shifted, shifted

LOOP = [("a", "b"), ("b", "c"), ("c", "d"), ("a", "d"), ("a", "c"), ("b", "d")]


def loop_tables(rng: np.random.Generator, *, triple: bool = True) -> LossTables:
    """Pairs that disagree about where the maximum is, and a table of three attributes."""
    tables = LossTables(dict.fromkeys("abcd", 3))
    for pair in LOOP:
        tables.add(pair, rng.integers(0, 30, (3, 3)))
    if triple:
        tables.add(("a", "b", "c"), rng.integers(0, 40, (3, 3, 3)))
    return tables


def largest_loss(tables: LossTables) -> int:
    sizes = tables.sizes
    return max(
        tables.at(dict(zip(sizes, cell, strict=True))) for cell in np.ndindex(*sizes.values())
    )


class Watch:
    """What was done on the way to a maximum."""

    def __init__(self) -> None:
        self.rungs: list[str] = []
        self.cells = 0
        self.sweeps: list[tuple[int, int, int]] = []  # threshold, constant before and after
        self.caps: list[int | None] = []
        self.budgets: list[int] = []
        self.firsts: list[bool] = []


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> Watch:
    """Every rung as it is, and what it visits."""
    log = Watch()

    class Watched:
        """Shifted tables, however they are kept."""

        def __init__(self, losses: LossTables, shifted: Shifted) -> None:
            self._losses, self._shifted = losses, shifted

        def __getattr__(self, name: str) -> Any:
            return getattr(self._shifted, name)

        def with_rests(self) -> Watched:
            log.rungs.append("rests")
            log.cells += sum(table.cells.size for table in self._losses)
            return Watched(self._losses, self._shifted.with_rests())

        def sweep(self, threshold: int) -> None:
            log.rungs.append("sweep")
            log.cells += self._shifted.sweep_cost
            before = self._shifted.constant
            self._shifted.sweep(threshold)
            log.sweeps.append((threshold, before, self._shifted.constant))

        def likely_cell(self) -> dict[str, int]:
            log.rungs.append("likely cell")
            return self._shifted.likely_cell()

    def watched(losses: LossTables, threshold: int) -> Watched:
        log.rungs.append("pairs")
        log.cells += 8 * sum(table.cells.size for table in losses)
        return Watched(losses, shifted(losses, threshold))

    def eliminate(*args: Any, **options: Any) -> Elimination:
        log.rungs.append("eliminate")
        log.caps.append(options.get("largest_table"))
        return elimination_module.eliminate(*args, **options)

    def search(
        elimination: Elimination, threshold: int, *, first_is_enough: bool, budget: int
    ) -> branch_bound.BestCell:
        log.rungs.append("search")
        log.budgets.append(budget)
        log.firsts.append(first_is_enough)
        return branch_bound.search(
            elimination, threshold, first_is_enough=first_is_enough, budget=budget
        )

    monkeypatch.setattr(extremum, "shifted", watched)
    monkeypatch.setattr(extremum, "eliminate", eliminate)
    monkeypatch.setattr(extremum, "search", search)
    return log


def test_small_sums_are_solved_on_the_highest_rung_at_the_latest(seen: Watch) -> None:
    """N = 40; what is found is the maximum over every cell, with the cell that has it."""
    rng = np.random.default_rng(1)
    for number in range(40):
        tables = loop_tables(rng, triple=number % 2 == 0)
        truth = largest_loss(tables)
        result = maximum(tables)
        assert (result.upper, result.lower, result.exact) == (truth, truth, True)
        assert result.witness is not None
        assert tables.at(result.witness) == truth
        for enough in (truth - 1, truth):
            decided = maximum(tables, enough)
            assert (decided.upper <= enough) == (truth <= enough)
            assert (decided.lower > enough) == (truth > enough)
    assert seen.rungs.count("search") > 10, "the last rung was needed"
    assert seen.rungs.count("rests") > seen.rungs.count("search"), "not always"


def test_a_rung_that_settles_the_question_is_the_last(seen: Watch) -> None:
    tables = LossTables({"a": 2, "b": 2, "c": 2})
    tables.add(("a", "b"), np.array([[0, 9], [8, 0]]))
    assert maximum(tables).upper == 9
    assert seen.rungs == [], "a cell with all maxima"
    # The two tables want different values of b; moving loss along b makes them agree.
    tables.add(("b", "c"), np.array([[7, 6], [0, 3]]))
    assert maximum(tables).upper == 15
    assert set(seen.rungs) == {"pairs", "sweep"}


def test_no_more_is_visited_than_was_allowed(seen: Watch, monkeypatch: pytest.MonkeyPatch) -> None:
    """N = 15 sums, each with efforts that end anywhere on the ladder."""
    monkeypatch.setattr(extremum, "LEAST_GAIN", 1000)  # sweep as long as it helps at all
    rng = np.random.default_rng(2)
    ends = set()
    for _ in range(15):
        tables = loop_tables(rng)
        truth = largest_loss(tables)
        for effort in (0, 500, 700, 1200, 2000, 3000, 10_000):
            seen.rungs.clear()
            seen.cells = 0
            result = maximum(tables, effort=effort)
            assert seen.cells <= effort
            assert result.lower <= truth <= result.upper
            ends.add(seen.rungs[-1] if seen.rungs else "none")
    assert ends == {"none", "likely cell", "sweep", "search"}


def test_an_effort_that_just_suffices_is_enough(seen: Watch) -> None:
    tables = loop_tables(np.random.default_rng(3))
    cost = 8 * sum(table.cells.size for table in tables)
    assert maximum(tables, effort=cost - 1).upper == tables.total
    assert seen.rungs == []
    maximum(tables, effort=cost)
    assert seen.rungs == ["pairs", "likely cell"]


def test_sweeping_goes_on_while_it_closes_a_good_part_of_the_gap(seen: Watch) -> None:
    rng = np.random.default_rng(4)
    again = ended = 0
    for _ in range(30):
        seen.rungs.clear()
        seen.sweeps.clear()
        maximum(loop_tables(rng))
        sweeps = iter(seen.sweeps)
        for rung, following in zip(seen.rungs, [*seen.rungs[1:], "end"], strict=True):
            if rung != "sweep":
                continue
            threshold, before, after = next(sweeps)
            gap = before - threshold
            if following == "sweep":
                assert (before - after) * extremum.LEAST_GAIN >= gap
                again += 1
            elif following == "likely cell":
                assert (before - after) * extremum.LEAST_GAIN < gap
                ended += 1
            else:
                assert following in {"rests", "end"}, "the question was settled"
                assert after <= threshold
    assert again > 5
    assert ended > 5


@pytest.mark.parametrize(("more", "cap"), [(0, None), (1, extremum.LARGEST_PART)])
def test_an_elimination_that_would_be_too_large_is_split(
    seen: Watch, monkeypatch: pytest.MonkeyPatch, more: int, cap: int | None
) -> None:
    """It is charged as the largest that is not; a search of what is left has what then remains."""
    cells = extremum.LARGEST_ELIMINATION + more
    monkeypatch.setattr(extremum, "exact_cells", lambda *_: cells)
    rng = np.random.default_rng(5)
    while not seen.budgets:
        seen.cells = 0
        tables = loop_tables(rng)
        maximum(tables, enough=largest_loss(tables), effort=10**8)
    assert seen.caps == [cap]
    assert seen.budgets == [10**8 - seen.cells - extremum.LARGEST_ELIMINATION]
    assert seen.firsts == [True]
    seen.budgets.clear()
    while not seen.budgets:
        maximum(loop_tables(rng))
    assert seen.firsts == [True, False]


def test_losses_that_could_leave_64_bits_are_not_moved(seen: Watch) -> None:
    """Tables over 0, 2 and 3 attributes count 1, 5 and 10: eight times 16 times their total."""
    total = LARGEST_TOTAL // 8 // 16
    for less, moved in ((1, True), (0, False)):
        tables = LossTables({"a": 2, "b": 2, "c": 2})
        pair, triple = np.zeros((2, 2), np.int64), np.zeros((2, 2, 2), np.int64)
        pair[1, 1] = triple[0, 0, 0] = total // 4
        tables.add(("a", "b"), pair)
        tables.add(("a", "b", "c"), triple)
        tables.add((), np.array(total // 2 - less))
        assert tables.total == total - less
        result = maximum(tables)
        assert result.lower == total - total // 4 - less
        assert result.upper == (result.lower if moved else tables.total)
        assert bool(seen.rungs) == moved
        seen.rungs.clear()


def test_a_cell_is_shown_unless_the_answer_needs_none() -> None:
    tables = loop_tables(np.random.default_rng(6))
    truth = largest_loss(tables)
    nothing = maximum(tables, enough=tables.total, effort=0)
    assert (nothing.lower, nothing.witness) == (0, None)
    for result in (maximum(tables, effort=0), maximum(tables, enough=truth // 2, effort=0)):
        assert result.witness is not None
        assert result.lower == tables.at(result.witness) > truth // 2
    empty = maximum(LossTables({"a": 2}))
    assert (empty.upper, empty.lower, empty.exact, empty.witness) == (0, 0, True, {"a": 0})


def test_a_worse_cell_never_takes_the_place_of_a_better_one() -> None:
    """N = 100 sums, ended in the middle: the first cell that was tried is as good at most."""
    rng = np.random.default_rng(7)
    for _ in range(100):
        tables = loop_tables(rng)
        first = maximum(tables, effort=0)
        assert maximum(tables, effort=1000).lower >= first.lower
