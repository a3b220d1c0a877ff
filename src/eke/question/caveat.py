"""Caveats: where an answer, a table or new rows may differ from the truth besides the noise.

Bins, bounds and rules are part of the public domain. What they leave open is added to an interval
where a bound follows from the domain (averages), and said in a sentence where none does.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from eke.domain import Domain
from eke.domain.caveat import as_values, left_out
from eke.query import Query
from eke.question.formula import Formula
from eke.question.question import Question

_MISSED = (
    "Who has more records than are counted may be missed where only some of them meet a condition: "
    "numbers of people are too small then, never too large."
)


def caveats(question: Question) -> tuple[str, ...]:
    """Sentences on what the domain leaves open of this question; none if it is exact."""
    insides = [block.inside for block in question.blocks]
    groups = question.groups
    by = [key for place in range(len(groups.each)) for key in groups.keys_of(place)]
    keys = {part for key in by for query in key.parts for part in query.attributes}
    named = {key.attribute for key in by if key.attribute is not None}
    blurred = {name for inside in insides for name in inside.blur}
    chosen = keys | named | {name for inside in insides for name in inside.attributes}
    return (
        *_rolled_up(question),
        *_blurred(question, insides),
        *([_MISSED] if chosen and any(inside.people for inside in insides) else []),
        *as_values(question.domain, question.about | blurred),
        *left_out(question.domain),
    )


def table_caveats(
    domain: Domain, names: Iterable[str], singles: Iterable[Query] = ()
) -> tuple[str, ...]:
    """The same of tables of counts over columns, and of single questions beside them."""
    looked, blurred = set(names), set()
    for query in singles:
        looked |= {*query.attributes, *query.blur}
        blurred |= _blurred_in(query)
    beyond = "a sum may be off by that much for each record, beyond its standard error"
    return (
        *(_known_to(domain, name, beyond) for name in domain.in_order(blurred)),
        *as_values(domain, looked),
        *left_out(domain),
    )


def row_caveats(domain: Domain, names: Iterable[str]) -> tuple[str, ...]:
    """The same of new rows with these columns, which hold one number for each bin or step."""
    columns = domain.in_order(names)
    blurred = [name for name in columns if domain[name].widest_half()]
    return (
        *(_known_to(domain, name, "the rows hold the numbers in the middle") for name in blurred),
        *as_values(domain, columns),
        *left_out(domain),
    )


def bias(question: Question, formula: Formula) -> float | None:
    """By how much a column may be off whatever the noise; None when the domain sets no bound.

    An average of numbers that are each off by at most b is off by at most b. A sum is off by that
    much for each record, and how many there are is not public.
    """
    blurs = [float(_total(block.inside)) for block in question.blocks]
    return formula.off_by(blurs, question.is_average)


def _rolled_up(question: Question) -> list[str]:
    """A sentence on totals, whose keys look like missing values wherever rows are shown."""
    keys, groupings = question.group_by, question.groups.each
    grouped = [at for at in range(len(keys)) if any(one.has(at) for one in groupings)]
    names = [
        keys[at].name
        for at in grouped
        if any(not one.has(at) and one.shown[at] is None for one in groupings)
    ]
    if not names:
        return []
    shown = ", ".join(names)
    totals = f"Rows without a value of {shown} may be totals over all of its values"
    return [f"{totals}, and not about missing ones: GROUPING({names[0]}) is 1 in totals."]


def _blurred_in(query: Query) -> set[str]:
    """The columns whose bins a single question leaves open.

    A question that was written down and read again has its numbers alone: unless it counts, it is
    taken for a sum over all its columns.
    """
    known = {name for name, bound in query.blur.items() if bound}
    if known or set(query.extremes()) <= {Fraction(0), Fraction(1)}:
        return known
    return {name for name in query.attributes if query.domain[name].widest_half()}


def _total(query: Query) -> Fraction:
    return sum(query.blur.values(), Fraction(0))


def _blurred(question: Question, insides: list[Query]) -> list[str]:
    names = {name for inside in insides for name, bound in inside.blur.items() if bound}
    if not names:
        return []
    known = [bias(question, c.formula) for c in question.columns if not c.is_key]
    sentences = []
    for name in question.domain.in_order(names):
        if all(off is not None for off in known):
            allowed = "the intervals allow for that"
        elif any(known):
            allowed = "the intervals of averages allow for that, and those of sums do not"
        else:
            allowed = "a sum may be off by that much for each record, beyond its interval"
        sentences.append(_known_to(question.domain, name, allowed))
    return sentences


def _known_to(domain: Domain, name: str, allowed: str) -> str:
    half = domain[name].widest_half()
    return (
        f"{name} is known only to within ±{float(half):.6g}, because of its bins or its step; "
        f"{allowed}. Declared with a finer step, it would be exact."
    )
