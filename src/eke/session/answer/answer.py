"""Answer: a number or a table of numbers with their intervals, what it cost, where it came from."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from eke.domain import plain_label
from eke.errors import AccuracyError, QueryError
from eke.inference import Posterior
from eke.session.answer import html
from eke.session.answer.cell import Cell
from eke.session.answer.receipt import Receipt, Receipted

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

NOT_HOW_FAR = (
    "of a chosen quantile it is known how many records it is off, and not how far; make the claim "
    "about MEDIAN or QUANTILE_DISC"
)
Belief = Callable[[int, int], Posterior]
"""What is known about the true value in a row and a column, computed when somebody looks."""


@dataclass(frozen=True, slots=True)
class First:
    """Of `ORDER BY … LIMIT k`: which rows are truly among the first k.

    All of it holds at once, with the confidence of the answer.

    Attributes:
        surely: of each row shown, whether it is surely one of them.
        others: the keys of rows that are not shown and may be one of them, those first that may be
            farthest ahead.
        more: how many such rows are not listed.
    """

    surely: tuple[bool, ...]
    others: tuple[tuple[object, ...], ...]
    more: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        others = [[plain_label(label) for label in key] for key in self.others]
        return {"surely": list(self.surely), "others": others, "more": self.more}


@dataclass(frozen=True, slots=True, repr=False)
class Answer(Receipted):
    """A number or a table of numbers with their intervals. Made by `session.ask`.

    What is asked for together shares one receipt. Same history, same answer, for everyone who
    asks. An answer that is one number has `value` and `interval`; of a table these are `values`
    and `intervals`, if it has one column of them, and `len()` is the number of rows. HAVING, ORDER
    BY and LIMIT have acted on the noisy rows. In a notebook an answer shows itself.

    Attributes:
        columns: their names.
        is_key: which of them are keys.
        rows: a key is its label (a bin is the pair of its edges), a value has `value`, `low` and
            `high`, None where a formula such as a division by zero has none. A quantile of dates or
            times has texts, such as "2013-06-14".
        receipt: what it cost and why, in all details.
        is_named: True when its values have names of their own, as SQL gives them.
        is_block: True for a linear question or a marginal as it is.
        caveats: what bins, bounds and rules of the domain leave open, besides the noise; a sentence
            each. Intervals and posteriors of averages allow for bins already.
        first: of `ORDER BY … LIMIT k` by noisy values, which rows are truly among the first k; else
            None.

    Example:
        >>> by_sex = session.ask(eke.marginal("sex"), within=60)
        >>> by_sex.keys, by_sex.free
        ((('F',), ('M',)), False)
        >>> women = session.ask("SELECT COUNT(*) AS n FROM people WHERE sex = 'F'", within=60)
        >>> women.within <= 60, women.free, women.columns
        (True, True, ('n',))
        >>> 0 <= women.probability(above=200) <= 1
        True
        >>> print(women.explain())
        SELECT COUNT(*) ...
        Free: what was released before already gives ±... was asked for.
        ...
    """

    columns: tuple[str, ...]
    is_key: tuple[bool, ...]
    rows: tuple[tuple[Any, ...], ...]
    receipt: Receipt
    is_named: bool = True
    is_block: bool = field(default=False, compare=False)
    caveats: tuple[str, ...] = field(default=(), compare=False, kw_only=True)
    first: First | None = field(default=None, compare=False, kw_only=True)
    _belief: Belief | None = field(default=None, repr=False, compare=False)

    # -- one number ----------------------------------------------------------------------------

    @property
    def is_number(self) -> bool:
        """True for one value without keys; False for a table, or without a value or an interval."""
        return self.is_key == (False,) and len(self.rows) == 1 and self.rows[0][0].low is not None

    @property
    def value(self) -> Any:
        """The estimate of the true answer: a number, or the text of a date or a time."""
        return self._number.value

    @property
    def interval(self) -> tuple[Any, Any]:
        """Where the true answer lies, with probability `confidence`."""
        return self._number.low, self._number.high

    @property
    def variance(self) -> float:
        """The variance of the estimate's error."""
        self._require_number()
        return self.variances[0]

    @property
    def within(self) -> float:
        """Half the width of the interval: at most what was asked for, and what bins leave open.

        Of dates in days, of timestamps and times of day in steps of the column.
        """
        numbers = self._number.numbers
        return float(numbers.high - numbers.low) / 2.0

    @property
    def posterior(self) -> Posterior:
        """The belief about the true answer: density, any interval, any probability.

        About dates and times it is one about numbers: of days since 1970, or of the column's steps
        since 1970 or midnight.
        """
        self._require_number()
        return self.belief(0, 0)

    def probability(self, *, above: Any = None, below: Any = None) -> float:
        """The probability of a claim: that the true answer is above, below or between."""
        if self.rank_error is not None:
            raise QueryError(NOT_HOW_FAR)
        calendar = self._number.calendar
        if calendar is not None:
            above, below = (None if x is None else calendar.number(x) for x in (above, below))
        return self.posterior.probability(above=above, below=below)

    # -- a table -------------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def attributes(self) -> tuple[str, ...]:
        """The names of the keys."""
        return tuple(name for name, is_key in zip(self.columns, self.is_key, strict=True) if is_key)

    @property
    def keys(self) -> tuple[tuple[Any, ...], ...]:
        """The labels of each row."""
        return tuple(
            tuple(cell for cell, is_key in zip(row, self.is_key, strict=True) if is_key)
            for row in self.rows
        )

    @property
    def values(self) -> tuple[Any, ...]:
        """The value of each row, of an answer with one column of values."""
        return tuple(cell.value for cell in self._cells())

    @property
    def intervals(self) -> tuple[tuple[Any, Any], ...]:
        """The interval of each row."""
        return tuple((cell.low, cell.high) for cell in self._cells())

    @property
    def variances(self) -> tuple[float, ...]:
        """The variance of each row's error."""
        (column,) = self._value_columns
        return tuple(
            self.belief(row, column).variance if cell.variance is None else cell.variance
            for row, cell in enumerate(self._cells())
        )

    def belief(self, row: int, column: int) -> Posterior:
        """What is known about the true value in a row and a column."""
        if self._belief is None:
            raise QueryError("this answer came without what is known about each of its values")
        return self._belief(row, column)

    def simultaneous(self, confidence: float) -> list[tuple[Any, Any]]:
        """Intervals that hold all at once with this confidence: one for each value, row by row."""
        places = [(row, column) for row in range(len(self)) for column in self._value_columns]
        intervals = simultaneous([self.belief(*place) for place in places], confidence)
        cells = [self.rows[row][column] for row, column in places]
        return [_told(cell, ends) for cell, ends in zip(cells, intervals, strict=True)]

    # -- shown ---------------------------------------------------------------------------------

    def __repr__(self) -> str:
        if self.is_number:
            value, low, high = map(html.shown, (self.value, *self.interval))
            return f"Answer({value}, {low} to {high}, {self.source})"
        return f"Answer({len(self)} rows of {', '.join(self.columns)}; {self.source})"

    def explain(self) -> str:
        """A few lines: the question, the answer, and why it cost what it cost."""
        lines = [self.receipt.question, self._sentence(), self.receipt.sentence(), *self.caveats]
        return "\n".join(lines)

    def _sentence(self) -> str:
        if not self.is_number:
            return f"{len(self)} rows."
        calendar = self._number.calendar
        value, low, high = map(html.shown, (self.value, *self.interval))
        if self.rank_error is not None:
            return f"{value}, chosen; at most {self.rank_error:,} records off its place."
        width = f"{self.within:.4g}" if calendar is None else calendar.length_text(self.within)
        return (
            f"{value}, and with probability {self.confidence:.4g} between {low} and {high} "
            f"(±{width})."
        )

    @property
    def flat_columns(self) -> list[str]:
        """The names of the columns, with those of the interval's ends after each value.

        The ends are `name_low` and `name_high`, or `low` and `high` where the value has no name;
        where a column is called so already, `name_low_2` and the like.
        """
        names: list[str] = []
        taken = set(self.columns)
        for name, is_key in zip(self.columns, self.is_key, strict=True):
            names.append(name)
            if not is_key:
                ends = (f"{name}_low", f"{name}_high") if self.is_named else ("low", "high")
                names += [_distinct(end, taken) for end in ends]
        return names

    def flat_rows(self) -> list[tuple[Any, ...]]:
        """The rows under `flat_columns`; the label of a bin is a text."""
        return [tuple(self._flat(row)) for row in self.rows]

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        names = self.flat_columns
        if self.is_number:
            (row,) = self.flat_rows()
            shown: dict[str, Any] = dict(zip(("value", "low", "high"), row, strict=True))
        else:
            rows = [dict(zip(names, row, strict=True)) for row in self.flat_rows()]
            shown = {"columns": names, "rows": rows}
            if self.first is not None:
                shown["first"] = self.first.to_dict()
        chosen = {} if self.rank_error is None else {"rank_error": self.rank_error}
        return {
            "question": self.receipt.question,
            **shown,
            **chosen,
            "confidence": self.confidence,
            "source": self.source,
            "cost": self.cost,
            "caveats": list(self.caveats),
        }

    def to_pandas(self) -> pd.DataFrame:
        """A frame under `flat_columns`; of one number, a row with its question, source and cost."""
        import pandas as pd  # noqa: PLC0415 - slow to load

        if self.is_number:
            return pd.DataFrame([self._number_row()])
        return pd.DataFrame(self.flat_rows(), columns=self.flat_columns)

    def to_arrow(self) -> pa.Table:
        """The same as an Arrow table."""
        import pyarrow as pa  # noqa: PLC0415 - slow to load

        if self.is_number:
            return pa.Table.from_pylist([self._number_row()])
        columns = list(zip(*self.flat_rows(), strict=True)) or [()] * len(self.flat_columns)
        return pa.table(dict(zip(self.flat_columns, map(list, columns), strict=True)))

    def _number_row(self) -> dict[str, Any]:
        """One number as a row of a table, where caveats have no place."""
        return {name: value for name, value in self.to_dict().items() if name != "caveats"}

    def to_json(self) -> str:
        """What `to_dict` holds, as text."""
        return json.dumps(self.to_dict())

    def _repr_html_(self) -> str:
        if self.is_number:
            paid = f"{'free' if self.free else 'paid'}, cost {self.receipt.measure} {self.cost:.6g}"
            shown = html.number(self.value, self.interval, self.confidence)
            numbers, calendar = self._number.numbers, self._number.calendar
            curve = html.curve(self.posterior, (numbers.low, numbers.high), calendar)
            body = f"{shown} · {paid}{curve}"
        else:
            body = html.table(self.flat_columns, self.flat_rows())
        below = " ".join([self.receipt.sentence(), *self.caveats])
        return html.framed(self.receipt.question, body, below)

    # -- inside --------------------------------------------------------------------------------

    @property
    def _number(self) -> Cell:
        """The cell of an answer that is one number."""
        self._require_number()
        cell: Cell = self.rows[0][0]
        return cell

    def _require_number(self) -> None:
        if not self.is_number:
            raise QueryError(
                f"the answer is a table of {len(self)} rows; look at its rows, keys and values, "
                "or take to_pandas()"
            )

    @property
    def _value_columns(self) -> list[int]:
        return [place for place, is_key in enumerate(self.is_key) if not is_key]

    def _cells(self) -> list[Cell]:
        """The values of an answer with one column of them."""
        if len(self._value_columns) != 1:
            raise QueryError(
                f"the answer has {len(self._value_columns)} values in each row; look at its rows"
            )
        (column,) = self._value_columns
        return [row[column] for row in self.rows]

    def _flat(self, row: tuple[Any, ...]) -> Iterator[Any]:
        for cell, is_key in zip(row, self.is_key, strict=True):
            if is_key:
                yield plain_label(cell)
            else:
                yield from (cell.value, cell.low, cell.high)


def _told(cell: Cell, ends: tuple[float, float]) -> tuple[Any, Any]:
    """The ends of an interval as its cell is told."""
    told = Cell(None, *ends).told(cell.calendar)
    return told.low, told.high


def _distinct(name: str, taken: set[str]) -> str:
    """The name, or with a number after it if it is taken; from now on it is."""
    numbered = (f"{name}_{number}" for number in range(2, len(taken) + 3))
    free = next(other for other in (name, *numbered) if other not in taken)
    taken.add(free)
    return free


def simultaneous(answers: Sequence[Answer | Posterior], confidence: float) -> list[tuple[Any, Any]]:
    """Intervals for a declared family of questions that all hold together with this confidence.

    A union bound: each of k intervals is taken at 1 - (1 - confidence)/k, whatever their
    dependence. Name all questions that could have been reported, before looking at any answer:
    then the ones picked afterwards by their answers are still covered.

    Args:
        answers: numbers, or posteriors.
        confidence: that all of them hold.

    Returns:
        (low, high) of each.

    Example:
        >>> women = session.ask(eke.count(sex="F"), within=60)
        >>> men = session.ask(eke.count(sex="M"), within=60)
        >>> (low, high), _ = eke.simultaneous([women, men], confidence=0.95)
        >>> low < women.interval[0] and women.interval[1] < high
        True
    """
    if not answers:
        raise AccuracyError("name the answers that must hold together")
    if not 0.0 < confidence < 1.0:
        raise AccuracyError("confidence must lie strictly between 0 and 1, for example 0.95")
    each = 1.0 - (1.0 - confidence) / len(answers)
    return [
        _told(one._number, one.posterior.interval(each))  # noqa: SLF001 - its own
        if isinstance(one, Answer)
        else one.interval(each)
        for one in answers
    ]
