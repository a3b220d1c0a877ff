"""Draft of one column: an attribute that fits its values, or the reason why it is left out.

It looks at the different values of a column and how often each occurs.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from math import ceil, floor, nan
from typing import Any

import ibis
import numpy as np

from eke.data.coding import FALSE_WORDS, TRUE_WORDS, spelled_number
from eke.data.moments import (
    FIRST_SECOND,
    LAST_SECOND,
    is_missing,
    step_number,
    step_of_told,
    told_moment,
)
from eke.data.round_edges import round_bounds, round_edges, round_step, tidy
from eke.data.sealed import Engine
from eke.domain import (
    Attribute,
    Binned,
    Boolean,
    Categorical,
    Date,
    Integer,
    Numeric,
    Replace,
    Rule,
    Time,
    Timestamp,
)
from eke.domain.date import MOST_DAYS
from eke.domain.placing import TimeSteps
from eke.domain.rule import EXACT, number_text
from eke.domain.step import UNITS
from eke.domain.timestamp import MOST_STEPS
from eke.domain.zone import DAY, FIRST

MISSING_WORDS = ("na", "n/a", "n.a.", "null", "none", "nan", "?", "-", ".", "missing")
_WIDEST = 10_000  # values of a column of numbers, unless bins are wanted
_WIDEST_BINNED, _BINS = 1000, 20
_DIGITS = 4  # after the point that are looked for
_DUST = 1e-6  # of a step: the rounding of doubles
_NEARLY_ALL, _MOST_ROWS, _SPIKE = 0.9, 0.5, 0.25
_FEW = 12  # so few whole numbers over so wide a range are labels
_EMPTY = "left out: it holds no values"
_ID = (
    "If it names the individuals to protect, make it the unit; ids and free text are no attributes"
)
_ANY_MOMENT = TimeSteps(FIRST_SECOND, LAST_SECOND, 1, None, "UTC")
_ANY_CLOCK = TimeSteps(0, DAY - 1, 1, None, None, is_clock=True)
_DERIVE = "derive what matters from it (the year, the month, a category) and add that as a column"
_USUAL = {"month": (1, 12), "day": (1, 31), "hour": (0, 23), "minute": (0, 59), "second": (0, 59)}
_PERSONAL = {"name", "email", "mail", "phone", "telephone", "address", "street", "ssn", "passport"}

Drafted = tuple[Attribute | None, str]


@dataclass(frozen=True, slots=True, repr=False)
class ColumnDraft:
    """One column while it is drafted: where its values are, its name, and what is wanted.

    `counted` are its different values (`v`), numbers as doubles and dates and times as numbers of
    seconds, how often each occurs (`n`), and for the texts of a text file the numbers that they
    spell (`x`); None where its type has no attribute.
    """

    engine: Engine
    name: str
    kind: Any  # the type of the column
    counted: Any  # an Ibis table
    from_text: bool
    max_categories: int
    bins: int | None
    missing: tuple[str, ...] = ()  # texts that mean that there is no value

    @staticmethod
    def of(
        engine: Engine,
        name: str,
        values: Any,  # an Ibis column
        *,
        from_text: bool,
        max_categories: int,
        bins: int | None,
    ) -> ColumnDraft:
        """A column whose values were counted: all that follows looks at the counts alone."""
        kind = values.type()
        number = kind.is_numeric() and not kind.is_boolean()
        counted = None
        if number or kind.is_string() or kind.is_boolean():
            column = values.cast("float64") if number else values
            grouped = column.name("v").as_table().group_by("v").aggregate(n=ibis._.count())
            if from_text and kind.is_string():
                grouped = grouped.mutate(x=spelled_number(grouped.v, Integer(0, 0)))
            counted = engine.hold(grouped)
        elif kind.is_date() or kind.is_timestamp() or kind.is_time():
            column = step_number(values, _ANY_CLOCK if kind.is_time() else _ANY_MOMENT)
            counted = engine.hold(
                column.name("v").as_table().group_by("v").aggregate(n=ibis._.count())
            )
        return ColumnDraft(engine, name, kind, counted, from_text, max_categories, bins)

    def drafted(self) -> Drafted:
        """The attribute and a note, or None and the reason."""
        counted = self.counted
        if counted is None:
            return None, f"left out: type {self.kind} has no attribute of its own; {_DERIVE}"
        if self.kind.is_date() or self.kind.is_timestamp():
            return self._moments(
                counted, in_utc=bool(self.kind.is_timestamp() and self.kind.timezone)
            )
        if self.kind.is_time():
            return self._clocks(counted)
        if self.kind.is_string():
            if self.missing:
                present = ~counted.v.isin(self.missing)
                numbers = {}
                if self.from_text:  # as if there were no text: neither a number nor none
                    numbers["x"] = ibis.cases((present | counted.v.isnull(), counted.x), else_=nan)
                counted = counted.select(v=ibis.cases((present, counted.v)), n="n", **numbers)
            return self._text(counted)
        return self._truth(counted) if self.kind.is_boolean() else self._number(counted)

    def missing_words(self) -> set[str]:
        """Texts such as NA in a column that holds numbers otherwise."""
        if not self.from_text or not self.kind.is_string():
            return set()
        texts = self.counted
        numbers = texts.x
        words = texts.v.strip().lower().isin(MISSING_WORDS)
        spelled, others = self._row(
            texts,
            (numbers.notnull() & ~numbers.isnan() & ~words).sum(),
            (numbers.isnull() & ~words).sum(),
        )
        if not spelled or others:
            return set()
        listed = self.engine.fetch(texts.filter(words).select("v"))["v"].to_pylist()
        return {text.strip() for text in listed}

    # -- texts ---------------------------------------------------------------------------------

    def _text(self, texts: Any) -> Drafted:
        present, distinct, missing, words, others, dates, clocks = self._row(
            texts,
            texts.n.sum(where=texts.v.notnull()),
            texts.v.count(),
            texts.n.sum(where=texts.v.isnull()),
            texts.v.lower().isin([*TRUE_WORDS, *FALSE_WORDS]).sum(),
            texts.x.isnull().sum() if self.from_text else ibis.literal(0),
            *(
                (texts.v.notnull() & told_moment(texts.v, kind).notnull()).sum()
                for kind in (_ANY_MOMENT, _ANY_CLOCK)
            ),
        )
        null: Rule = "bucket" if missing else "never"
        if not present:
            return None, _EMPTY
        if self.from_text and (words == distinct or not others):
            truth = Boolean(null, "never"), "true or false, spelled out"
            return truth if words == distinct else self._number(texts.select(v="x", n="n"))
        personal = distinct > _FEW and self._words & _PERSONAL
        if distinct in (dates, clocks):
            return self._told(texts, is_clock=clocks == distinct)
        if personal:
            return None, f"left out: it identifies people. {_ID}"
        if distinct > self.max_categories:
            return self._many_texts(texts, present, distinct, null)
        listed = self.engine.fetch(texts.filter(texts.v.notnull()).select("v"))["v"].to_pylist()
        return Categorical(*sorted(listed), null=null, outside="never"), "the texts that occur"

    def _many_texts(self, texts: Any, present: int, distinct: int, null: Rule) -> Drafted:
        if distinct >= _NEARLY_ALL * present:
            return None, "left out: nearly every row has its own text. " + _ID
        often = texts.filter(texts.v.notnull()).order_by(ibis.desc("n"), "v")
        listed = self.engine.fetch(often.limit(self.max_categories))
        if sum(listed["n"].to_pylist()) < _MOST_ROWS * present:
            counts = sorted(self.engine.fetch(often.select("n"))["n"].to_pylist())
            usual = counts[int(0.95 * len(counts))]
            return None, (
                f"left out: {distinct:,} different texts, of which 95 % have at most {usual:,} "
                f"rows. {_ID}"
            )
        frequent = sorted(listed["v"].to_pylist())
        other = next(text for text in ("other", "(other)", "(any other)") if text not in frequent)
        return Categorical(*frequent, other, null=null, outside=Replace(other)), (
            f"the {self.max_categories} most frequent texts of {distinct:,}; "
            f"all others count as {other!r}"
        )

    def _truth(self, values: Any) -> Drafted:
        present, missing = self._row(
            values,
            values.n.sum(where=values.v.notnull()),
            values.n.sum(where=values.v.isnull()),
        )
        if not present:
            return None, _EMPTY
        return Boolean("bucket" if missing else "never", "never"), "true or false"

    # -- moments -------------------------------------------------------------------------------

    def _told(self, texts: Any, *, is_clock: bool) -> Drafted:
        """Moments that texts spell; they are in UTC if any says how far it is from there."""
        kind = _ANY_CLOCK if is_clock else _ANY_MOMENT
        told = self.engine.hold(texts.select(told=told_moment(texts.v, kind), n="n"))
        is_zoned = ~is_missing(told.told) & (told.told % 2 != 0)
        seconds = told.select(
            v=ibis.cases((~is_missing(told.told), step_of_told(told.told, kind))), n="n"
        )
        (zoned,) = self._row(told, is_zoned.sum())
        return self._clocks(seconds) if is_clock else self._moments(seconds, in_utc=bool(zoned))

    def _moments(self, seconds: Any, *, in_utc: bool) -> Drafted:
        """Days or hours, between the first and the last day of the years that occur."""
        present, missing, low, high, *off = self._seconds(seconds, ("day", "hour"))
        if not present:
            return None, _EMPTY
        # A text may tell a moment of the first or last day that is beyond the calendar in UTC.
        ends = [min(max(int(end), FIRST_SECOND), LAST_SECOND) // DAY + FIRST for end in (low, high)]
        first, last = (date.fromordinal(end) for end in ends)
        first, last = first.replace(month=1, day=1), last.replace(month=12, day=31)
        days = (last - first).days + 1
        bounds = f"{first} to {last} is too long, declare it as a Date between closer bounds"
        if days > MOST_DAYS or first.year < 2 or last.year > 9998:
            return None, f"left out: it holds dates; {bounds}"
        zone, null = "UTC" if in_utc else None, _null(missing)
        where = ", beginning in UTC; write your own zone" if zone else ""
        if not off[0] or 24 * days > MOST_STEPS:
            cut = "; a time counts for its day" if off[0] else ""
            return Date(first, last, null, "never", zone=zone), f"days of whole years{where}{cut}"
        finer = "; a time counts for its hour, or write a shorter step" if off[1] else ""
        hours = Timestamp(first, last, "hour", null, "never", zone=zone)
        return hours, f"hours of whole years{where}{finer}"

    def _clocks(self, seconds: Any) -> Drafted:
        """Times of day, by the longest step that holds them all, or by minutes."""
        present, missing, _, high, *off = self._seconds(seconds, ("hour", "minute"))
        if not present:
            return None, _EMPTY
        step = "minute" if off[0] else "hour"
        note = f"times of day by the {step}" + ("; seconds are cut off" if off[1] else "")
        outside: Rule = "clamp" if high >= DAY else "never"  # some engines know 24:00
        return Time(step=step, null=_null(missing), outside=outside), note

    def _seconds(self, seconds: Any, units: Sequence[str]) -> tuple[Any, ...]:
        """How many there are and how many are missing, the ends, and how many are off each unit."""
        return self._row(
            seconds,
            seconds.n.sum(where=seconds.v.notnull()),
            seconds.n.sum(where=seconds.v.isnull()),
            seconds.v.min(),
            seconds.v.max(),
            *((seconds.v % UNITS[unit] != 0).sum() for unit in units),
        )

    # -- numbers -------------------------------------------------------------------------------

    def _number(self, numbers: Any) -> Drafted:
        missing, infinite = self._row(
            numbers,
            numbers.n.sum(where=numbers.v.isnull() | numbers.v.isnan()),
            numbers.n.sum(where=numbers.v.isinf()),
        )
        numbers = numbers.filter(numbers.v.notnull() & ~numbers.v.isnan() & ~numbers.v.isinf())
        present, distinct, low, high, whole = self._row(
            numbers,
            numbers.n.sum(),
            numbers.v.nunique(),
            numbers.v.min(),
            numbers.v.max(),
            (numbers.v == numbers.v.floor()).all(),
        )
        if not present:
            return None, _EMPTY
        rules: dict[str, Any] = {
            "null": "bucket" if missing else "never",
            "outside": "clamp" if infinite else "never",
        }
        beyond = "; infinities count as the outermost" if infinite else ""
        if whole and high - low <= (_WIDEST if self.bins is None else _WIDEST_BINNED):
            bounds, note = self._bounds(int(low), int(high))
            return Integer(*bounds, **rules), f"whole numbers, {note}{beyond}"
        if whole and distinct == present > _FEW:
            return None, "left out: every row has its own number. " + _ID
        if whole and distinct <= _FEW and max(-low, high) < EXACT:
            listed = self.engine.fetch(numbers.select("v").distinct())["v"].to_pylist()
            rules["outside"] = "drop" if infinite else "never"
            return Categorical(*sorted(map(int, listed)), **rules), "the whole numbers that occur"
        if self.bins is not None or max(-low, high) * _WIDEST >= EXACT:
            edges = self._edges(numbers, bool(whole))
            return Binned(edges, null=rules["null"]), (
                "numbers in bins, more of them where there are more rows, edges rounded; "
                f"averages may be off by half a bin{beyond}"
            )
        grid, note = self._grid(numbers, (low, high), rules)
        return grid, f"{note}{beyond}"

    def _bounds(self, low: int, high: int) -> tuple[tuple[int, int], str]:
        for word in sorted(self._words & set(_USUAL)):
            first, last = _USUAL[word]
            if first <= low and high <= last:
                return (first, last), f"{first} to {last}, as {word}s are"
        return round_bounds(low, high), "bounds rounded outwards"

    def _grid(
        self, numbers: Any, ends: tuple[float, float], rules: dict[str, Any]
    ) -> tuple[Attribute, str]:
        """Numbers on the coarsest grid that holds them all, or rounded to ten thousand steps."""
        low, high = ends
        finer = ""
        for digits in range(_DIGITS + 1):
            scaled = numbers.v * float(10**digits)
            (exact,) = self._row(numbers, ((scaled - scaled.round()).abs() < _DUST).all())
            if exact and (high - low) * 10**digits > _WIDEST:
                exactly = f"type: decimal, scale: {digits}" if digits else "step: 1"
                finer = f"; {exactly} would keep them as they are, for exact sums"
                break
            if exact:
                whole = round_bounds(round(low * 10**digits), round(high * 10**digits))
                first, last = (tidy(end / 10**digits) for end in whole)
                grid = Numeric(first, last, tidy(10.0**-digits), **rules)
                return grid, "numbers, exact on this grid, bounds rounded outwards"
        step = tidy(round_step((high - low) / _WIDEST))
        first, last = (tidy(place * step) for place in (floor(low / step), ceil(high / step)))
        rounded = Numeric(first, last, step, null=rules["null"])
        return rounded, f"numbers, rounded to multiples of {number_text(step)}{finer}"

    def _edges(self, numbers: Any, whole: bool) -> list[float]:
        """Edges of bins that would hold the same number of rows each, and look chosen."""
        bins = self.bins or _BINS
        fetched = self.engine.fetch(numbers.order_by("v"))
        values = np.array(fetched["v"].to_pylist(), float)
        counts = np.array([int(n) for n in fetched["n"].to_pylist()])
        shares = np.arange(1, bins) / bins if bins > 1 else np.array([0.5])
        passed = np.cumsum(counts) / counts.sum()
        cuts = values[np.searchsorted(passed, shares)].tolist()
        if len(set(cuts)) < bins / 2:
            # Most rows share a few values: let every value have its say, once.
            cuts += np.quantile(values, shares).tolist()
        spike = counts[0] >= _SPIKE * counts.sum()
        return round_edges(float(values[0]), float(values[-1]), cuts, spike=spike, whole=whole)

    # -- inside --------------------------------------------------------------------------------

    @property
    def _words(self) -> set[str]:
        """The words that the name of the column is made of."""
        return set(re.findall(r"[a-z]+", self.name.lower()))

    def _row(self, table: Any, *expressions: Any) -> tuple[Any, ...]:
        """The values of some aggregates of a table, 0 for a sum over nothing.

        DuckDB sums whole numbers in 128 bits, which arrive as Decimal.
        """
        named = {f"x{place}": expression for place, expression in enumerate(expressions)}
        result = self.engine.fetch(table.aggregate(**named))
        values = (result[name].to_pylist()[0] for name in named)
        return tuple(int(v or 0) if v is None or isinstance(v, Decimal) else v for v in values)


def _null(missing: int) -> Rule:
    return "bucket" if missing else "never"
