"""Row report: published rows for people, as one HTML file that loads nothing from elsewhere.

What was measured in each column and in columns together, with which noise; how far the rows are
from it, beside what noise alone would make; public facts; and how far numbers from rows may be off.
`row_picture.py` draws it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Protocol

import numpy as np

from eke.arrays import Codes, FloatArray
from eke.domain import Attribute, Domain
from eke.publish import row_picture as picture
from eke.publish.row_basis import FactCheck, RowBasis, TableDistance, distances, fact_checks
from eke.publish.row_estimate import RowEstimate
from eke.publish.row_files import CSV_CELLS, RowPieces
from eke.publish.row_picture import shown
from eke.question.expression import mean

MOST_BARS = 12
"""Of one column: values next to each other, or rare ones, share a bar."""
_MOST_TABLES, _MOST_FACTS, _FIRST_ROWS = 400, 200, 8
_MOST_TOGETHER = 50  # columns of a heat map
_LOOKED_AT = 200_000  # rows, to see which columns go together
_SURE = 1.959964
_TOO_FAR = 1.5  # times what noise alone makes


class ReportedRows(Protocol):
    """What a report needs to know of published rows."""

    @property
    def domain(self) -> Domain: ...
    @property
    def attributes(self) -> tuple[str, ...]: ...
    @property
    def codes(self) -> Codes: ...
    @property
    def receipt(self) -> Mapping[str, Any]: ...
    @property
    def caveats(self) -> tuple[str, ...]: ...
    @property
    def notes(self) -> tuple[str, ...]: ...
    @property
    def cost(self) -> float: ...
    @property
    def sequence(self) -> int | None: ...
    @property
    def basis(self) -> RowBasis | None: ...
    def __len__(self) -> int: ...
    def estimate(self, question: Any, /) -> RowEstimate: ...


@dataclass(frozen=True, slots=True)
class _Bar:
    """Some values of a column: how many rows, scaled, and how many were measured, if any were."""

    label: str
    rows: float
    measured: float | None
    half_width: float


def report_of(published: ReportedRows) -> str:
    """The report as HTML.

    Privacy: post-processing. It reads published rows, released measurements and public facts; the
    protected table is not looked at, and it may be given to whoever may see the rows.
    """
    columns = dict(zip(published.attributes, published.codes.T, strict=True))
    total = _total(published)
    basis = published.basis
    tables: list[TableDistance] = []
    checks: list[FactCheck] = []
    if basis is not None:
        tables = list(distances(basis, published.domain, columns, total))
        checks = list(fact_checks(basis, columns))
    parts = [
        _head(published, total, tables),
        _notes(published),
        _single(published, columns, tables, total),
        _together(published, columns, tables),
        _facts(checks),
        _numbers(published),
        _first(published),
    ]
    mechanism = str(published.receipt.get("mechanism", "rows"))
    return picture.page(f"Published rows: {mechanism}", "".join(parts))


def _total(published: ReportedRows) -> float:
    """How many records there are: publicly, or as they are estimated, as far as that is known."""
    if published.basis is not None and published.basis.records is not None:
        return float(published.basis.records)
    return float(published.receipt.get("total", len(published)))


def _head(published: ReportedRows, total: float, tables: Sequence[TableDistance]) -> str:
    receipt = published.receipt
    facts = [("rows", f"{len(published):,}")]
    accuracy = receipt.get("accuracy")
    if published.basis is not None and published.basis.records is not None:
        facts.append(("records, public", f"{total:,.0f}"))
    elif accuracy is not None:
        half = _SURE * float(accuracy["total_variance"]) ** 0.5
        facts.append(("records, at 95 %", f"{max(total - half, 0):,.0f} to {total + half:,.0f}"))
    elif "total" in receipt:
        facts.append(("records, estimated", f"{total:,.0f}"))
    cost = f"{receipt['measure']} {shown(published.cost)}" if published.cost else "nothing"
    facts += [("paid", cost), ("columns", f"{len(published.attributes):,}")]
    if tables:
        far = sum(one.ratio > _TOO_FAR for one in tables)
        facts.append(("measured tables compared", f"{len(tables):,}"))
        facts.append((f"further off than {_TOO_FAR} × noise", f"{far:,}"))
    entry = "" if published.sequence is None else f", entry {published.sequence} of the ledger"
    return picture.heading(
        "Published rows",
        f"By {receipt.get('mechanism', 'an unknown mechanism')}{entry}.",
        facts,
    )


def _notes(published: ReportedRows) -> str:
    said = [*published.notes, *published.caveats]
    if published.basis is None:
        said.append(
            "What was measured is in the history of the dataset, and not here: a report that is "
            "made where the dataset is compares the rows with it."
        )
    elif not published.basis.measured:
        said.append("Nothing was measured for these rows: they are compared with history.")
    return picture.section("What to know", picture.sentences(said))


# -- single columns -------------------------------------------------------------------------------


def _single(
    published: ReportedRows,
    columns: Mapping[str, Codes],
    tables: Sequence[TableDistance],
    total: float,
) -> str:
    cards = []
    for name in published.attributes:
        attribute = published.domain[name]
        counts = np.bincount(columns[name], minlength=attribute.size).astype(float)
        scaled = counts * total / max(len(published), 1)
        own_tables = [one for one in tables if one.attributes == (name,) and one.counts]
        fine = [one for one in own_tables if one.fine]
        bars = [
            (bar.label, bar.rows, bar.measured, bar.half_width)
            for bar in _bars(attribute, scaled, _joined(fine))
        ]
        cards.append(picture.column_card(name, bars, _said_of(attribute, own_tables)))
    legend = picture.bars_legend(measured=any(one.fine for one in tables))
    return picture.section("Columns", legend + picture.grid(cards))


def _joined(tables: Sequence[TableDistance]) -> tuple[FloatArray, float] | None:
    """(counts, variance of each) of a column that was measured once or more."""
    if not tables:
        return None
    weights = np.array([one.deviation**-2.0 for one in tables])
    values = np.array([one.values for one in tables])
    return weights @ values / weights.sum(), float(1.0 / weights.sum())


def _bars(
    attribute: Attribute, rows: FloatArray, measured: tuple[FloatArray, float] | None
) -> Iterator[_Bar]:
    for label, codes in _bins(attribute, rows):
        half = 0.0 if measured is None else _SURE * (measured[1] * len(codes)) ** 0.5
        values = None if measured is None else float(measured[0][codes].sum())
        yield _Bar(label, float(rows[codes].sum()), values, half)


def _bins(attribute: Attribute, rows: FloatArray) -> list[tuple[str, Codes]]:
    """Which values share a bar: neighbours of a column that is ordered, else the rare ones."""
    every = np.arange(attribute.size)
    if attribute.size <= MOST_BARS:
        return [(attribute.label_text(code), every[code : code + 1]) for code in every.tolist()]
    if attribute.is_ordered:
        listed = every[: attribute.size - attribute.has_bucket]
        pieces = [part for part in np.array_split(listed, MOST_BARS - 1) if len(part)]
        named = [(_range_text(attribute, part), part) for part in pieces]
        rest = every[len(listed) :]
        return named + [(attribute.label_text(int(code)), rest) for code in rest]
    largest = np.argsort(-rows, kind="stable")[: MOST_BARS - 1]
    rest = np.setdiff1d(every, largest)
    named = [(attribute.label_text(int(code)), np.array([code])) for code in largest]
    return [*named, (f"{len(rest):,} others", rest)]


def _range_text(attribute: Attribute, codes: Codes) -> str:
    first, last = attribute.label_text(int(codes[0])), attribute.label_text(int(codes[-1]))
    return first if len(codes) == 1 else f"{first} to {last}"


def _said_of(attribute: Attribute, tables: Sequence[TableDistance]) -> str:
    values = f"{attribute.size:,} values"
    if not tables:
        return f"{values}; not measured by itself."
    noise = " and ".join(
        dict.fromkeys(f"{one.law} ±{shown(one.deviation)} a count" for one in tables)
    )
    best = min(tables, key=lambda one: one.deviation)
    return (
        f"{values}; measured {_times(len(tables))} with noise {noise}. A count of the rows is "
        f"{shown(best.distance)} off on average; noise alone makes {shown(best.expected)}."
    )


def _times(number: int) -> str:
    return {1: "once", 2: "twice"}.get(number, f"{number:,} times")


# -- columns together -----------------------------------------------------------------------------


def _together(
    published: ReportedRows, columns: Mapping[str, Codes], tables: Sequence[TableDistance]
) -> str:
    names = published.attributes[:_MOST_TOGETHER]
    if len(names) < 2:
        return ""
    off: dict[tuple[str, str], list[float]] = {}
    for compared in tables:
        for pair in combinations(compared.attributes, 2):
            off.setdefault((pair[0], pair[1]), []).append(compared.ratio)
    ratios = {pair: float(np.mean(values)) for pair, values in off.items()}
    maps = []
    if ratios:
        maps.append(
            picture.heat_map(
                "How far rows are from what was measured",
                "In multiples of what noise alone makes, on average over the tables that hold both "
                "columns: about 1 or less is as near as can be told. Empty: never measured "
                "together.",
                names,
                ratios,
                most=2.0,
            )
        )
    maps.append(
        picture.heat_map(
            "Which columns go together in the rows",
            "Cramér's V of the rows, from 0 (one says nothing of the other) to 1.",
            names,
            _associations(published, columns, names),
            most=1.0,
        )
    )
    several = [one for one in tables if len(one.attributes) > 1]
    listed = [
        (
            " × ".join(one.attributes) if one.counts else one.question,
            f"{len(one.values):,}",
            f"{one.law} ±{shown(one.deviation)}",
            shown(one.distance),
            shown(one.expected),
            f"{one.ratio:.2f}",
        )
        for one in sorted(several, key=lambda one: -one.ratio)[:_MOST_TABLES]
    ]
    others = [one for one in tables if len(one.attributes) == 1 and not one.counts]
    listed += [
        (
            one.question,
            f"{len(one.values):,}",
            f"{one.law} ±{shown(one.deviation)}",
            shown(one.distance),
            shown(one.expected),
            f"{one.ratio:.2f}",
        )
        for one in others
    ]
    heads = ("measured", "numbers", "noise", "rows are off by", "noise alone", "ratio")
    table = picture.table(
        "Measured tables", heads, listed, "Nothing was measured of columns together."
    )
    return picture.section("Columns together", picture.grid(maps, wide=True) + table)


def _associations(
    published: ReportedRows, columns: Mapping[str, Codes], names: Sequence[str]
) -> dict[tuple[str, str], float]:
    """Cramér's V of each pair, values of long columns in ranges, from at most so many rows."""
    step = max(len(published) // _LOOKED_AT, 1)
    short, sizes = {}, {}
    for name in names:
        codes = columns[name][::step]
        size = min(published.domain[name].size, MOST_BARS)
        short[name] = codes * size // published.domain[name].size
        sizes[name] = size
    result = {}
    for pair in combinations(names, 2):
        first, second = pair
        flat = short[first] * sizes[second] + short[second]
        counts = np.bincount(flat, minlength=sizes[first] * sizes[second]).astype(float)
        result[first, second] = _cramer(counts.reshape(sizes[first], sizes[second]))
    return result


def _cramer(counts: FloatArray) -> float:
    """Cramér's V (1946, §21.9) of a table of counts; 0 where a side has one value only."""
    counts = counts[counts.sum(axis=1) > 0][:, counts.sum(axis=0) > 0]
    if min(counts.shape) < 2:
        return 0.0
    total = counts.sum()
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / total
    squared = float(((counts - expected) ** 2 / expected).sum())
    return float(min((squared / total / (min(counts.shape) - 1)) ** 0.5, 1.0))


# -- facts, numbers, rows -------------------------------------------------------------------------


def _facts(checks: Sequence[FactCheck]) -> str:
    if not checks:
        return picture.section("Public facts", picture.sentences(["None was registered."]))
    broken = [one for one in checks if one.holds is False]
    unseen = sum(one.holds is None for one in checks)
    held = len(checks) - len(broken) - unseen
    said = f"{held:,} hold, {len(broken):,} do not, {unseen:,} are about columns that are not here."
    first = sorted(checks, key=lambda one: {False: 0, True: 1, None: 2}[one.holds])[:_MOST_FACTS]
    listed = [
        (
            one.question,
            shown(float(one.says)),
            "–" if one.rows is None else shown(float(one.rows)),
            {True: "holds", False: "broken", None: "not here"}[one.holds],
            one.source,
        )
        for one in first
    ]
    table = picture.table(
        "Public facts", ("fact", "says", "rows", "", "source"), listed, "", texts=(0, 3, 4)
    )
    return picture.section("Public facts", picture.sentences([said]) + table)


def _numbers(published: ReportedRows) -> str:
    """Averages of columns of numbers, with the intervals that rows deserve."""
    if "accuracy" not in published.receipt or not len(published):
        return ""
    listed = []
    for name in published.attributes:
        if published.domain[name].sql_kind not in {"number", "midpoint"}:
            continue
        estimate = published.estimate(mean(name))
        if estimate.value is None or estimate.interval is None:
            continue
        low, high = estimate.interval
        listed.append((name, shown(estimate.value), shown(low), shown(high)))
    spread = published.receipt["accuracy"]["spread"]
    said = ["A number computed from rows is no number of the table; this is where the table's is."]
    if spread is not None:
        said.append(
            f"Counts of columns together are off as if the rows were a sample with {spread:.2g} "
            "times its variance."
        )
    heads = ("average of", "rows", "from", "to, at 95 %")
    table = picture.table("Averages", heads, listed, "") if listed else ""
    return picture.section("Numbers from the rows", picture.sentences(said) + table)


def _first(published: ReportedRows) -> str:
    first = RowPieces(published.domain, published.attributes, published.codes[:_FIRST_ROWS])
    few = next(first.tables(CSV_CELLS)).to_pandas()
    rows = [
        tuple("missing" if missing else str(value) for value, missing in zip(*pair, strict=True))
        for pair in zip(few.to_numpy().tolist(), few.isna().to_numpy().tolist(), strict=True)
    ]
    names = tuple(map(str, few.columns))
    table = picture.table("First rows", names, rows, "There are no rows.", texts=range(len(names)))
    return picture.section("First rows", table)
