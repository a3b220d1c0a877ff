"""A sentence for a sum of products over a domain: how a query in canonical form reads.

Whole numbers and fractions of Python only: `eke history` lists measurements without NumPy.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import compress, islice
from operator import not_
from typing import TypeAlias

from eke.domain.attribute import Attribute
from eke.domain.product import Domain
from eke.domain.run_vector import RunVector

Listed: TypeAlias = list[int]  # a coefficient for each code of an attribute
Vector: TypeAlias = Listed | RunVector
Product: TypeAlias = tuple[Fraction, Sequence[tuple[str, Vector]]]
"""weight · Π_k factor_k, each factor over the attribute of this name."""

_MOST_TERMS = 4
_MOST_WEIGHTS = 4
# Powers are put on the coefficient grid, so they are recognised up to its rounding.
_ROUNDING = 10**8


def sentence(
    domain: Domain, products: Sequence[Product], constant: Fraction, counted: str = "count"
) -> str:
    """The text of a single query; `counted` says what is counted."""
    parts = _parts(domain, products, counted)
    shown = parts[:_MOST_TERMS]
    if len(parts) > _MOST_TERMS:
        shown.append((Fraction(1), f"{len(parts) - _MOST_TERMS} more terms"))
    if constant or not shown:
        shown.append((constant, ""))
    return _sum(shown)


def _parts(domain: Domain, products: Sequence[Product], counted: str) -> list[tuple[Fraction, str]]:
    """Weights and texts of the terms, shifted sums put right.

    Additive questions are stored as a count and functions that vanish at some code, e.g.
    sum(age − 17) + 17 × count; that reads better as sum(age).
    """
    parts, everyone = [], Fraction(0)
    for weight, factors in products:
        shifted = _shifted_sum(domain, weight, factors)
        if shifted is not None:
            slope, origin = shifted
            parts.append((slope, f"sum({factors[0][0]})"))
            everyone -= slope * origin
        elif factors:
            parts.append(_term(domain, weight, factors, counted))
        else:
            everyone += weight
    return [*parts, (everyone, counted)] if everyone else parts


def _shifted_sum(
    domain: Domain, weight: Fraction, factors: Sequence[tuple[str, Vector]]
) -> tuple[Fraction, Fraction] | None:
    """(slope, origin) when the term is slope · (number − origin) of one numeric attribute."""
    if len(factors) != 1:
        return None
    ((name, vector),) = factors
    attribute = domain[name]
    if isinstance(vector, RunVector):
        line = vector.shifted_sum(attribute)
        return None if line is None else (weight * line[0], line[1])
    # Two different values lie on a line anyway; they read better one by one.
    if not attribute.has_numbers or len(set(vector)) < 3:
        return None
    numbers, unit = attribute.whole_numbers()
    low, high = numbers.index(min(numbers)), numbers.index(max(numbers))
    slope = Fraction((vector[high] - vector[low]) * unit, numbers[high] - numbers[low])
    if not slope:
        return None
    origin = Fraction(numbers[low], unit) - vector[low] / slope
    # number / unit - origin, as whole numbers of a finer unit.
    shift = origin.numerator * unit
    moved = [number * origin.denominator - shift for number in numbers]
    ratio = _ratio(vector, moved, unit * origin.denominator)
    return None if ratio is None else (weight * ratio, origin)


def _term(
    domain: Domain, weight: Fraction, factors: Sequence[tuple[str, Vector]], counted: str
) -> tuple[Fraction, str]:
    conditions, columns = [], []
    for name, vector in factors:
        attribute = domain[name]
        if isinstance(vector, RunVector):
            ratio, column, condition = _of_runs(name, attribute, vector)
            weight *= ratio
            columns += [column] if column else []
            conditions += [condition] if condition else []
            continue
        if set(vector) <= {0, 1}:
            conditions.append(_condition(name, attribute, vector))
            continue
        power, ratio = _power(attribute, vector)
        weight *= ratio
        if power:
            columns.append(name if power == 1 else f"{name}^{power}")
            numbers, _ = attribute.whole_numbers()
            if any(compress(numbers, map(not_, vector))):
                conditions.append(_condition(name, attribute, vector))
        else:
            columns.append(_weights(name, attribute, vector))
    what = f"sum({' · '.join(columns)})" if columns else counted
    where = f" where {' and '.join(conditions)}" if conditions else ""
    return weight, f"{what}{where}"


def _of_runs(name: str, attribute: Attribute, vector: RunVector) -> tuple[Fraction, str, str]:
    """(factor, column, condition), of which the texts may be empty, of a wide column."""
    condition = vector.stretches_text(name, attribute)
    if vector.is_condition:
        return Fraction(1), "", condition
    powers = vector.power(attribute)
    if powers is None:
        return Fraction(1), f"weights of {name}", ""
    power, ratio = powers
    column = name if power == 1 else f"{name}^{power}"
    return ratio, column, condition if vector.leaves_numbers_out else ""


def _condition(name: str, attribute: Attribute, vector: Listed) -> str:
    missing = vector.count(0)
    chosen = len(vector) - missing
    first = next(_used(vector))
    last = len(vector) - 1 - next(_used(vector[::-1]))
    in_a_row = chosen > 1 and last - first + 1 == chosen
    between = attribute.range_text(first, last) if in_a_row else None
    if between is not None:
        return f"{name} {between}"
    if not attribute.has_numbers and missing < chosen and missing <= 3:
        others = [attribute.label_text(code) for code, v in enumerate(vector) if not v]
        return f"{name} ≠ {' or '.join(others)}"
    listed = chosen if chosen <= 5 else 4
    shown = [attribute.label_text(code) for code in islice(_used(vector), listed)]
    if chosen > listed:
        shown.append(f"{chosen - listed} more")
    return f"{name} = {' or '.join(shown)}"


def _power(attribute: Attribute, vector: Listed) -> tuple[int, Fraction]:
    """(p, ratio) with vector = ratio · number^p wherever it is not 0; (0, 1) if there is no p."""
    if attribute.is_ordered and attribute.has_numbers:
        numbers, unit = attribute.whole_numbers()
        for power in (1, 2, 3, 4):
            used = [n**power if v else 0 for n, v in zip(numbers, vector, strict=True)]
            ratio = _ratio(vector, used, unit**power)
            if ratio is not None:
                return power, ratio
    return 0, Fraction(1)


def _ratio(vector: Listed, numbers: Sequence[int], unit: int) -> Fraction | None:
    """The factor between a vector and numbers / unit, or None unless they are proportional."""
    height = max(map(abs, vector))
    largest = min(vector.index(v) for v in {height, -height} & set(vector))
    if not numbers[largest]:
        return None
    ratio = Fraction(vector[largest] * unit, numbers[largest])
    # |v - ratio · n / unit| <= |largest v| / _ROUNDING, multiplied by all denominators.
    scale, slope = ratio.denominator * unit, ratio.numerator
    allowed = abs(vector[largest]) * scale // _ROUNDING
    close = all(
        -allowed <= v * scale - slope * n <= allowed for v, n in zip(vector, numbers, strict=True)
    )
    return ratio if close else None


def _weights(name: str, attribute: Attribute, vector: Listed) -> str:
    used = list(_used(vector))
    if len(used) > _MOST_WEIGHTS:
        return f"weights of {name}"
    each = (f"{attribute.label_text(code)}: {vector[code]}" for code in used)
    return f"weights of {name} {{{', '.join(each)}}}"


def _used(vector: Listed) -> Iterator[int]:
    """The codes whose coefficient is not 0."""
    return compress(range(len(vector)), vector)


def _sum(parts: Sequence[tuple[Fraction, str]]) -> str:
    """Weights and texts as one sum, signs written as operators."""
    text = ""
    for weight, what in parts:
        size = abs(weight)
        body = _number(size) if not what else what if size == 1 else f"{_number(size)} × {what}"
        if not text:
            text = f"-{body}" if weight < 0 else body
        else:
            text += f" - {body}" if weight < 0 else f" + {body}"
    return text


def _number(value: Fraction) -> str:
    # Eight digits hide the coefficient grid: a tenth reads as 0.1.
    whole = value.denominator == 1 or value >= 10**8
    return str(round(value)) if whole else f"{float(value):.8g}"
