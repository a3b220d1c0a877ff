"""The obvious version of the data layer: plain Python over lists of rows, and hostile values."""

from __future__ import annotations

import hashlib
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from operator import mul
from pathlib import Path
from unittest.mock import patch

from eke.data import Counts
from eke.data.row_sample import PRIME, RowSample
from eke.data.server_source import AnySource
from eke.domain import (
    Attribute,
    Binned,
    Boolean,
    Categorical,
    Domain,
    Integer,
    Numeric,
    Replace,
    Rule,
)
from eke.domain.temporal import Temporal
from eke.privacy.unit import Unit
from tests.unit.data.hostile_days import dates_with_every_rule

DATA = Path(__file__).parents[3] / "data"
CANARY = "canary-7f3a"
OUTSIDE = object()  # a list, bytes: no number and no text

FIXED = RowSample("2/fixed")

Row = dict[str, object]

_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?", re.ASCII)
_WORDS = {"true": 1, "t": 1, "yes": 1, "y": 1, "false": 0, "f": 0, "no": 0, "n": 0}

HOSTILE_TEXTS = [
    *(None, "", "a", "A", " a ", "é", "e\u0301", "日本", "o'k", 'q"q', "\\", "%", "0", "1", "30"),
    *("-0", "+5", "5.", ".5", "-2.5", "1e3", "1e999", "-1e999", "1e-999", "inf", "-Infinity"),
    *("nan", "NaN", "+nan", "true", "FALSE", "Yes", "n", "1_000", "0x1F", "1,5", "٣", "--1", "1e"),
    *("2.9999999999999999999", "9007199254740993", "9" * 50, CANARY, "x" * 10_000, "🙂", "NULL"),
]
HOSTILE_FLOATS = [
    *(None, math.nan, math.inf, -math.inf, 0.0, -0.0, 1.0, 0.1, 0.30000000000000004, 2.5, 5.999),
    *(6.0, -3.0, -3.0000001, 1e308, -1e308, 1.7976931348623157e308, 5e-324, 2.0**53, 2.0**63),
    *(math.nextafter(2.5, math.inf), math.nextafter(2.5, 0), math.nextafter(0.1, 0), 2.0**64),
]
HOSTILE_INTS = [
    *(None, 0, 1, 2, 5, 6, -1, -3, -4, 127, -128, 255, 2**31 - 1, -(2**31), 2**53 - 1, 2**53),
    *(2**53 + 1, 2**63 - 1, -(2**63), 2**63, 2**64 - 1, 2**70, -(2**70), 2**70 + 1, 10**30),
    *(10**38 - 1, -(10**38 - 1), 2**127 - 1, -(2**127), 2**128 - 1),
]


def attributes_with_every_rule() -> list[Attribute]:
    """Every kind of attribute, with every rule for missing and for outside values."""
    plain: list[tuple[Rule, Rule]] = [
        *(("drop", "drop"), ("bucket", "bucket"), ("drop", "bucket"), ("bucket", "drop")),
    ]
    clamped: list[tuple[Rule, Rule]] = [*plain, ("drop", "clamp"), ("bucket", "clamp")]
    texts = ("a", "é", "o'k", "30", "\\", "日本", "true")
    wholes = (0, -5, 1, 127, 2**53 - 1)
    huge = (0, 2**53 + 1, 2**63, -(2**70), 10**30)
    attributes: list[Attribute] = [Boolean(*rules) for rules in plain]
    attributes += [Boolean(Replace(True), Replace(False)), Boolean("drop", Replace(1))]
    for null, outside in (*plain, (Replace("é"), Replace("a"))):
        attributes.append(Categorical(*texts, null=null, outside=outside))
    for values in (wholes, huge, (True, False)):
        for null, outside in (*plain, (Replace(values[1]), Replace(values[0]))):
            attributes.append(Categorical(*values, null=null, outside=outside))
    for low, high in ((-3, 5), (2**53 - 4, 2**53 - 1), (0, 0), (-(2**39), 2**39 - 1)):
        for null, outside in (*clamped, (Replace(high), "clamp"), (Replace(low), Replace(high))):
            attributes.append(Integer(low, high, null, outside))
    edges: list[tuple[float, ...]] = [
        *((0, 0.1, 0.30000000000000004, 2.5), (-(2.0**70), 0, 2**53 - 1, 2.0**53, 2.0**64, 1e30)),
        *((-1e308, 0.0, 1e308), (-3, 5)),
    ]
    for cuts in edges:
        for null, outside in (*clamped, (Replace(0), "clamp"), (Replace(0), Replace(0.05))):
            attributes.append(Binned(cuts, null, outside))
    grids = ((0, 25, 0.1), (-3, 16, 0.5), (-1000, 4096, 2**40 - 0.25), (-1, 10**12, 0.01))
    for first, steps, step in grids:
        grid = Numeric(first, first + steps * step, step)
        replaced: tuple[Rule, Rule] = Replace(grid.low), Replace(grid.high)
        for null, outside in (*clamped, ("never", "never"), replaced):
            attributes.append(Numeric(grid.low, grid.high, step, null, outside))
    return [*attributes, *dates_with_every_rule()]


def reads_texts(attribute: Attribute) -> bool:
    """False for whole-number categories that text files refuse, being too large to tell apart."""
    return not isinstance(attribute, Categorical) or not any(
        isinstance(v, int) and abs(v) >= 2**53 for v in attribute.values
    )


def value_of_text(text: str | None, attribute: Attribute) -> object:
    """The raw value that a field of a text file stands for."""
    if text is None:
        return None
    listed = isinstance(attribute, Categorical) and isinstance(attribute.values[0], str)
    if listed or isinstance(attribute, Temporal):
        return text
    short = text.strip(" \t\n\r\v\f")
    if isinstance(attribute, Boolean) and short.lower() in _WORDS:
        return _WORDS[short.lower()]
    word = short.lower().lstrip("+-") if re.fullmatch(r"[+-]?[A-Za-z]+", short, re.ASCII) else ""
    if word == "nan":
        return math.nan
    if word in ("inf", "infinity") or _NUMBER.fullmatch(short):
        return float(short)
    return text


def coded_rows(rows: Iterable[Row], domain: Domain) -> list[tuple[Row, tuple[int, ...]]]:
    """Each row inside the domain with its codes, in the given order."""
    kept = []
    for row in rows:
        codes = [a.code(row[name]) for name, a in domain.attributes]
        if None not in codes:
            kept.append((row, tuple(code for code in codes if code is not None)))
    return kept


def cell_counts(
    rows: Iterable[Row],
    domain: Domain,
    unit: Unit | None = None,
    sample: RowSample | None = FIXED,
) -> Counter[tuple[int, ...]]:
    """GROUP BY of the whole domain: drop, truncate, count; without a sample, by codes."""
    coded = coded_rows(rows, domain)
    if unit is None:
        return Counter(codes for _, codes in coded)
    by_id: dict[object, list[tuple[int, ...]]] = {}
    for row, codes in coded:
        by_id.setdefault(row[unit.column], []).append(codes)
    return Counter(
        codes
        for who, some in by_id.items()
        for codes in ordered(some, sample, slow_mark(who))[: unit.rows]
    )


def slow_mark(who: object) -> int:
    """The mark of an id whose rows all spell it alike; 0 for one that has none."""
    if isinstance(who, float) and who == int(who):
        who = int(who)
    if type(who) not in (int, str):
        return 0
    return int(hashlib.md5(str(who).encode(), usedforsecurity=False).hexdigest(), 16) >> 104


def ordered(
    rows: Sequence[tuple[int, ...]], sample: RowSample | None = FIXED, mark: int = 0
) -> list[tuple[int, ...]]:
    """The coded rows of one id, those first that are kept first."""
    if sample is None:
        return sorted(rows)
    factors = sample.form(2 * len(rows[0]))
    digits = {codes: [*(c % PRIME for c in codes), *(c // PRIME for c in codes)] for codes in rows}
    forms = {codes: sum(map(mul, factors, digits[codes])) % PRIME for codes in rows}
    digest = sum(polynomial(sample.digesting, forms[codes]) for codes in rows)
    if sample.uses_marks:
        digest += mark * sample.marking
    seen: Counter[tuple[int, ...]] = Counter()
    numbered = []
    for codes in rows:
        number = polynomial(sample.ordering, forms[codes] + seen[codes] + digest)
        numbered.append((number, codes, seen[codes]))
        seen[codes] += 1
    return [codes for _, codes, _ in sorted(numbered)]


def polynomial(coefficients: Sequence[int], at: int) -> int:
    """The value of a polynomial modulo the prime, term by term."""
    terms = (c * int(at**power) for power, c in enumerate(reversed(coefficients)))
    return sum(terms) % PRIME


@contextmanager
def fixed_sample(sample: RowSample = FIXED) -> Iterator[None]:
    """Sources opened in the block draw this key, so that the rows they keep can be compared."""
    with patch.object(RowSample, "draw", lambda: sample):
        yield


def marginal(
    cells: Counter[tuple[int, ...]], domain: Domain, attributes: Sequence[str]
) -> Counter[tuple[int, ...]]:
    """The counts of some attributes, in the order given."""
    places = [domain.names.index(name) for name in attributes]
    counts: Counter[tuple[int, ...]] = Counter()
    for codes, count in cells.items():
        counts[tuple(codes[place] for place in places)] += count
    return counts


def as_counter(counts: Counts) -> Counter[tuple[int, ...]]:
    pairs = zip(counts.codes.tolist(), counts.counts.tolist(), strict=True)
    return Counter({tuple(codes): count for codes, count in pairs})


def all_cells(source: AnySource) -> Counter[tuple[int, ...]]:
    return as_counter(source.counts([source.domain.names])[0])
