"""Quantiles: MEDIAN, PERCENTILE_CONT … WITHIN GROUP, QUANTILE_DISC and the like, as ladders."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from sqlglot import exp

from eke.question.calendar import Calendar
from eke.question.ladder import Ladder, checked_share
from eke.sql.chosen import CHOSEN, ChosenMedian, ChosenQuantile, checked_chosen
from eke.sql.finishing import constant_of
from eke.sql.value import Moment, Number, Reading, Value, as_number, reached_codes

_ORDER = (
    "a percentile is of what it is ordered by: write PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY "
    "age), or QUANTILE_CONT(age, 0.5)"
)
_SHARE = "the share of a quantile is a number between 0 and 1, such as 0.5; write one"
_SHARE_OF_CHOSEN = "say the share below it, as in CHOSEN_QUANTILE(age, 0.9), or ask CHOSEN_MEDIAN"
_ONE_COLUMN = (
    "a quantile is of one column, or of something that follows from one, such as age / 10; write "
    "QUANTILE_CONT(age, 0.5)"
)

_WIDE = (
    "over a column of {:,} values a quantile is of the column itself, shifted or times a number; "
    "ask for that, and calculate with the answer"
)


def asked_quantile(reading: Reading, node: exp.Expr) -> tuple[exp.Expr, Fraction, bool]:
    """(what it is a quantile of, the share below it, whether it is interpolated)."""
    share = Fraction(1, 2)
    if isinstance(node, (exp.Median, ChosenMedian)):
        return node.this, share, isinstance(node, exp.Median)
    if isinstance(node, exp.WithinGroup):
        ordered = node.args["expression"].expressions
        if not isinstance(node.this, (exp.PercentileCont, exp.PercentileDisc)) or len(ordered) != 1:
            raise reading.error(node, _ORDER)
        share = _share(reading, node.this.this)
        is_between = isinstance(node.this, exp.PercentileCont)
        return ordered[0].this, 1 - share if ordered[0].args.get("desc") else share, is_between
    given = node.args.get("expression") or node.args.get("quantile")
    if given is None and isinstance(node, ChosenQuantile):
        raise reading.error(node, _SHARE_OF_CHOSEN)
    if given is None:
        raise reading.error(node, _ORDER)
    is_between = isinstance(node, (exp.PercentileCont, exp.ApproxQuantile))
    return node.this, _share(reading, given), is_between


def ranked_number(reading: Reading, node: exp.Expr, value: Value) -> Number:
    """The number that records are ranked by: of a date or a time, its day or second."""
    return value.number if isinstance(value, Moment) else as_number(reading, node, value)


def ladder_of(
    reading: Reading, node: exp.Expr, of: Value, share: Fraction, *, is_between: bool
) -> Ladder:
    """The numbers that the quantile may be, from the values of the one column behind them."""
    ladder = _counted_ladder(reading, node, of, share, is_between=is_between)
    return checked_chosen(reading, node, ladder) if isinstance(node, CHOSEN) else ladder


def _counted_ladder(
    reading: Reading, node: exp.Expr, of: Value, share: Fraction, *, is_between: bool
) -> Ladder:
    number = ranked_number(reading, node, of)
    value = number.polynomial(reading.diagrams)
    if len(value.attributes) != 1:
        raise reading.error(node, _ONE_COLUMN)
    (name,) = value.attributes
    attribute, line = reading.domain[name], number.line
    if line is not None and line.attribute == name and not isinstance(of, Moment):
        even = Ladder.even(
            reading.domain,
            name,
            share,
            is_between=is_between,
            slope=line.slope,
            shift=line.intercept,
        )
        if even is not None:
            return even
    if attribute.is_wide:
        raise reading.error(node, _WIDE.format(attribute.size))
    reading.effort.spend(attribute.size // 10 + 100)
    unit, whole = value.vector(reading.domain, name)
    calendar = Calendar.of(of.kind, attribute) if isinstance(of, Moment) else None
    if calendar is not None:
        unit /= calendar.unit
    numbers = np.asarray(whole, np.float64) * unit.numerator / unit.denominator
    if attribute.has_bucket and not _is_last_reached(reading, number, name):
        numbers[-1] = math.nan
    halves = attribute.half_widths()
    scale = Fraction(1)
    if halves is not None and line is not None and line.attribute == name:
        scale = abs(line.slope)
    elif halves is not None:
        halves = (max(number.blur.values(), default=Fraction(0)),) * len(halves)
    return Ladder.of(
        name, numbers, halves, share, is_between=is_between, scale=scale, calendar=calendar
    )


def _is_last_reached(reading: Reading, number: Number, name: str) -> bool:
    """Whether what is missing has a number, as COALESCE gives it one."""
    codes = reading.domain[name].size
    reached = reached_codes(reading.diagrams, number.known, name, codes)
    return bool(reached) and reached[-1] == codes - 1


def _share(reading: Reading, node: exp.Expr) -> Fraction:
    share = constant_of(reading, node)
    if share is None:
        raise reading.error(node, _SHARE)
    return checked_share(share)
