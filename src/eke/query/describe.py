"""A sentence for a query, made from its canonical form, so that any spelling reads the same."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from eke.domain import Attribute, Domain
from eke.query.canonical import Term
from eke.query.vector import IntVector

_MOST_TERMS = 4
_MOST_WEIGHTS = 4
# Powers are put on the coefficient grid, so they are recognised up to its rounding.
_ROUNDING = Fraction(1, 10**8)


def sentence(domain: Domain, terms: Sequence[Term], constant: Fraction) -> str:
    """The text of a single query."""
    parts = _parts(domain, terms)
    shown = parts[:_MOST_TERMS]
    if len(parts) > _MOST_TERMS:
        shown.append((Fraction(1), f"{len(parts) - _MOST_TERMS} more terms"))
    if constant or not shown:
        shown.append((constant, ""))
    return _sum(shown)


def _parts(domain: Domain, terms: Sequence[Term]) -> list[tuple[Fraction, str]]:
    """Weights and texts of the terms, shifted sums put right.

    Additive questions are stored as a count and functions that vanish at some code, e.g.
    sum(age − 17) + 17 × count; that reads better as sum(age).
    """
    parts, everyone = [], Fraction(0)
    for term in terms:
        shifted = _shifted_sum(domain, term)
        if shifted is not None:
            slope, origin = shifted
            parts.append((slope, f"sum({term.factors[0][0]})"))
            everyone -= slope * origin
        elif term.factors:
            parts.append(_term(domain, term))
        else:
            everyone += term.weight
    return [*parts, (everyone, "count")] if everyone else parts


def _shifted_sum(domain: Domain, term: Term) -> tuple[Fraction, Fraction] | None:
    """(slope, origin) when the term is slope · (number − origin) of one numeric attribute."""
    if len(term.factors) != 1:
        return None
    ((name, vector),) = term.factors
    attribute = domain[name]
    # Two different values lie on a line anyway; they read better one by one.
    if not attribute.has_numbers or len(np.unique(vector)) < 3:
        return None
    numbers = attribute.numbers()
    low, high = numbers.index(min(numbers)), numbers.index(max(numbers))
    slope = (int(vector[high]) - int(vector[low])) / (numbers[high] - numbers[low])
    if not slope:
        return None
    origin = numbers[low] - int(vector[low]) / slope
    ratio = _ratio(vector, [n - origin for n in numbers])
    return None if ratio is None else (term.weight * ratio, origin)


def _term(domain: Domain, term: Term) -> tuple[Fraction, str]:
    weight, conditions, columns = term.weight, [], []
    for name, vector in term.factors:
        attribute = domain[name]
        if _is_selection(vector):
            conditions.append(_condition(name, attribute, vector))
            continue
        power, ratio = _power(attribute, vector)
        weight *= ratio
        if power:
            columns.append(name if power == 1 else f"{name}^{power}")
            numbers = np.array([n != 0 for n in attribute.numbers()])
            if (numbers & (vector == 0)).any():
                conditions.append(_condition(name, attribute, vector))
        else:
            columns.append(_weights(name, attribute, vector))
    what = f"sum({' · '.join(columns)})" if columns else "count"
    where = f" where {' and '.join(conditions)}" if conditions else ""
    return weight, f"{what}{where}"


def _is_selection(vector: IntVector) -> bool:
    return bool(((vector == 0) | (vector == 1)).all())


def _condition(name: str, attribute: Attribute, vector: IntVector) -> str:
    chosen = np.flatnonzero(vector)
    first, last = int(chosen[0]), int(chosen[-1])
    in_a_row = len(chosen) > 1 and last - first + 1 == len(chosen)
    between = attribute.range_text(first, last) if in_a_row else None
    if between is not None:
        return f"{name} {between}"
    texts = [attribute.label_text(int(code)) for code in chosen]
    missing = [attribute.label_text(int(code)) for code in np.flatnonzero(vector == 0)]
    if not attribute.has_numbers and len(missing) < len(texts) and len(missing) <= 3:
        return f"{name} ≠ {' or '.join(missing)}"
    shown = texts if len(texts) <= 5 else [*texts[:4], f"{len(texts) - 4} more"]
    return f"{name} = {' or '.join(shown)}"


def _power(attribute: Attribute, vector: IntVector) -> tuple[int, Fraction]:
    """(p, ratio) with vector = ratio · number^p wherever it is not 0; (0, 1) if there is no p."""
    if attribute.is_ordered:
        numbers = attribute.numbers()
        for power in (1, 2, 3, 4):
            used = [n**power if v else Fraction(0) for n, v in zip(numbers, vector, strict=True)]
            ratio = _ratio(vector, used)
            if ratio is not None:
                return power, ratio
    return 0, Fraction(1)


def _ratio(vector: IntVector, numbers: Sequence[Fraction]) -> Fraction | None:
    """The factor between a vector and some numbers, or None unless they are proportional."""
    largest = int(np.argmax(np.abs(vector)))
    if not numbers[largest]:
        return None
    ratio = int(vector[largest]) / numbers[largest]
    allowed = _ROUNDING * abs(int(vector[largest]))
    close = all(abs(int(v) - ratio * n) <= allowed for v, n in zip(vector, numbers, strict=True))
    return ratio if close else None


def _weights(name: str, attribute: Attribute, vector: IntVector) -> str:
    used = np.flatnonzero(vector)
    if len(used) > _MOST_WEIGHTS:
        return f"weights of {name}"
    each = (f"{attribute.label_text(int(code))}: {int(vector[code])}" for code in used)
    return f"weights of {name} {{{', '.join(each)}}}"


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
