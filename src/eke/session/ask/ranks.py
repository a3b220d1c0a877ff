"""Ranks: the order of the rows by their estimates, and what else it may be given their intervals.

The intervals hold all at once with the confidence asked for (a union bound over all rows), so that
what they say of the order holds with it, too: docs/proofs/ranks.md.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from eke.domain import plain_label
from eke.inference import FormulaPosterior, Joint, KnownTable, halfwidth
from eke.inference.functional import DRAWS
from eke.planning import QuestionDemand
from eke.question import Formula, Question, ResultRow
from eke.question.outcome import Ordering
from eke.question.rank import Ranking, possible_ranks
from eke.session.answer.answer import First
from eke.session.answer.cell import Cell
from eke.session.ask.known_cells import KnownCells

_ANYTHING = (-math.inf, math.inf)
_MOST_FIRST = 512  # rows whose intervals are looked at once more; of tables of counts all are
_NAMED = 12
_LISTED = 512  # rows that are not shown and may be among the first
_LEAST_DRAWS = 20
"""Beyond each end of an interval that is found by draws: of fewer its place is not known."""


def estimated_rows(demand: QuestionDemand, known: KnownCells) -> list[ResultRow]:
    """The estimates behind each row that there can be."""
    question = demand.question
    keys = question.keys()
    ladders = {place: ladder for _, place, ladder, _ in demand.quantiles}

    def value(block: int, row: int) -> float | None:
        if question.is_null(block, row):
            return None
        if block in ladders:
            return known.quantile(ladders[block], block, row).value
        return known.value(block, row)

    blocks = range(len(question.blocks))
    return [
        ResultRow(keys[row], tuple(value(block, row) for block in blocks))
        for row in question.places
    ]


def rank_cells(
    demand: QuestionDemand, rows: Sequence[ResultRow], known: KnownCells
) -> dict[int, dict[int, Cell]]:
    """The ranks of all rows, by column and row, each with the best and the worst possible one."""
    question = demand.question
    ranked = question.ranked(rows)
    cells: dict[int, dict[int, Cell]] = {}
    for column, asked in enumerate(question.columns):
        if asked.rank is None:
            continue
        ranking = question.ranks[asked.rank - len(question.group_by)]
        ranges = _ranges(ranking, rows, demand, known)
        cells[column] = {}
        for place, row in enumerate(question.places):
            rank = ranked[place].keys[asked.rank]
            best, worst = (rank, rank) if ranges is None else ranges[place]
            cells[column][row] = Cell(float(rank), float(best), float(worst))
    return cells


def first_rows(
    demand: QuestionDemand, shown: Sequence[int], known: KnownCells
) -> dict[str, dict[str, Any]]:
    """Of ORDER BY … LIMIT k: which rows are surely among the first k, and which others may be.

    As it is stored with an answer; nothing where rows are not ordered by noisy values first, where
    all are shown, or where HAVING or EXCEPT chooses by noise before.
    """
    question = demand.question
    order, limit, places = question.order_by, question.limit, question.places
    if limit is None or not order or question.chooses_rows or question.offset:
        return {}
    if not limit < len(places) or not order[0].by.aggregates():
        return {}
    if len(places) > _MOST_FIRST and _scaled_table(order[0].by, known) is None:
        return {}
    lows, highs = np.array(joint_intervals(order[0], demand, known)).T
    ranges = possible_ranks(lows, highs, descending=order[0].descending)
    surely = {row for row, (_, worst) in zip(places, ranges, strict=True) if worst <= limit}
    chosen = set(shown)
    others = [
        at for at, (best, _) in enumerate(ranges) if best <= limit and places[at] not in chosen
    ]
    others.sort(key=lambda at: -highs[at] if order[0].descending else lows[at])
    first = {
        "sure": len(surely),
        "surely": [row in surely for row in shown],
        "others": [places[at] for at in others[:_LISTED]],
        "more": max(0, len(others) - _LISTED),
    }
    return {"first": first}


def first_of(question: Question, body: Mapping[str, Any]) -> First | None:
    """What was stored of the first rows; None where nothing was, or only how many are sure."""
    first = body.get("first", {})
    if "surely" not in first:
        return None
    keys = question.shown_keys()
    others = tuple(keys[row] for row in first["others"])
    return First(tuple(first["surely"]), others, first["more"])


def first_sentence(
    question: Question, body: Mapping[str, Any], confidence: float
) -> tuple[str, ...]:
    """The same in words."""
    first = body.get("first")
    if first is None:
        return ()
    keys, others = question.shown_keys(), first["others"]
    names = ["/".join(str(plain_label(label)) for label in keys[row]) for row in others]
    unnamed = len(names) - _NAMED + first.get("more", 0)
    more = f" and {unnamed:,} more" if unnamed > 0 else ""
    sure, limit = first["sure"], question.limit
    odds = f"all at once with probability {confidence:.10g}"
    if not names:
        return (f"The rows shown are the first {limit:,}, {odds}.",)
    verb = "is" if sure == 1 else "are"
    told = (
        f"{sure:,} of the {len(body['shown']):,} rows shown {verb} surely among the first {limit:,}"
    )
    possible = f"Not shown, but possibly among them: {', '.join(names[:_NAMED])}{more}."
    return (f"{told}, {odds}. {possible}",)


def _ranges(
    ranking: Ranking, rows: Sequence[ResultRow], demand: QuestionDemand, known: KnownCells
) -> list[tuple[int, int]] | None:
    """The best and the worst rank of each row; None where no noise can change them."""
    first = ranking.order_by[0]
    if not any(one.by.aggregates() for one in ranking.order_by):
        return None
    intervals = joint_intervals(first, demand, known)
    ranges = [(0, 0)] * len(rows)
    for places in ranking.parts(rows):
        lows, highs = np.array([intervals[place] for place in places]).T
        possible = possible_ranks(lows, highs, descending=first.descending)
        for place, (best, worst) in zip(places, possible, strict=True):
            # Of equals before it, DENSE_RANK counts one; how many are equal is not known.
            ranges[place] = (min(best, 2) if ranking.word == "dense_rank" else best, worst)
    return ranges


def joint_intervals(
    ordering: Ordering, demand: QuestionDemand, known: KnownCells
) -> list[tuple[float, float]]:
    """Intervals of what rows are ordered by, one for each, that hold all at once.

    By a union bound, each is taken at 1 - (1 - confidence) / rows. What is ordered by keys first
    says nothing about the noise behind them: then anything is possible.
    """
    places = demand.question.places
    if not ordering.by.aggregates():
        return [_ANYTHING] * len(places)
    each = 1.0 - (1.0 - demand.confidence) / max(1, len(places))
    scaled = _scaled_table(ordering.by, known)
    if scaled is not None:
        return _table_intervals(*scaled, [known.cells[row] for row in places], each)
    return [_interval(ordering.by, row, each, demand, known) for row in places]


def _scaled_table(formula: Formula, known: KnownCells) -> tuple[KnownTable, float, float] | None:
    """The table of counts that a formula scales and shifts, with by how much; None for others."""
    scaled = formula.scale()
    if scaled is None or scaled[0] not in known.tables:
        return None
    place, scale = scaled
    return known.tables[place], float(scale), float(formula.value([0] * (place + 1)))


def _table_intervals(
    table: KnownTable, scale: float, shift: float, cells: Sequence[int], confidence: float
) -> list[tuple[float, float]]:
    """The intervals of cells, which have few laws of error among them: each width is found once."""
    widths = np.array([halfwidth(noise, confidence) for noise in table.noises])
    middles = scale * table.values[cells] + shift
    around = abs(scale) * widths[table.kinds[cells]]
    return list(zip((middles - around).tolist(), (middles + around).tolist(), strict=True))


def _interval(
    formula: Formula, row: int, confidence: float, demand: QuestionDemand, known: KnownCells
) -> tuple[float, float]:
    question = demand.question
    if not question.has_value(formula, row):
        return _ANYTHING
    scaled = formula.scale()
    if scaled is not None:
        place = scaled[0]
        ends = known.posterior(place, row).interval(confidence)
        low, high = (float(formula.value([end] * (place + 1))) for end in ends)
        return min(low, high), max(low, high)
    if formula.ladder is not None:
        low, high = known.quantile(formula.ladder, formula.aggregates()[0], row).interval(
            confidence
        )
        return float(low), float(high)
    places = formula.aggregates()
    over = formula.over(places)
    joint = Joint.of(known.inference, [question.query(place, row) for place in places])
    few = 0.5 * (1.0 - confidence) * DRAWS < _LEAST_DRAWS
    if joint is None or (few and over.ratio(len(places)) is None):
        return _ANYTHING
    seed = int(question.query(0, row).digest[:12], 16)
    return FormulaPosterior(over, joint, seed, question.bounds(formula)).interval(confidence)
