"""Hypothesis strategies: small domains, questions over them, and other spellings of a question."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from hypothesis import strategies as st

from eke.domain import Attribute, Binned, Boolean, Categorical, Domain, Integer
from tests.oracle import Constant, Count, Moment, Question, Scaled, Sum, Table, as_table

# Few bits, so that no sum of products is ever rounded.
WEIGHTS = st.one_of(
    st.integers(-6, 6).map(Fraction),
    st.builds(Fraction, st.integers(-9, 9), st.sampled_from([2, 4, 8])),
)


@st.composite
def attributes(draw: st.DrawFn, most: int = 4) -> Attribute:
    size = draw(st.integers(1, most))
    null: Any = draw(st.sampled_from(["drop", "bucket"]))
    kind = draw(st.sampled_from(["categorical", "boolean", "integer", "binned"]))
    if kind == "boolean":
        return Boolean(null=null, outside=draw(st.sampled_from(["drop", "bucket"])))
    if kind == "categorical":
        outside: Any = draw(st.sampled_from(["drop", "bucket"]))
        return Categorical(*"abcdef"[:size], null=null, outside=outside)
    outside = draw(st.sampled_from(["clamp", "drop", "bucket"]))
    low = draw(st.integers(-3, 3))
    if kind == "integer":
        return Integer(low, low + size - 1, null=null, outside=outside)
    steps = draw(st.lists(st.sampled_from([1, 2]), min_size=size, max_size=size))
    edges = [low + sum(steps[:i]) for i in range(size + 1)]
    return Binned(edges, null=null, outside=outside)


@st.composite
def domains(draw: st.DrawFn, most_attributes: int = 3, most_values: int = 3) -> Domain:
    number = draw(st.integers(1, most_attributes))
    return Domain({f"x{i}": draw(attributes(most_values)) for i in range(number)})


@st.composite
def conditions(draw: st.DrawFn, attribute: Attribute) -> Any:
    """A condition that at least one declared value or the bucket meets."""
    declared = attribute.declared
    kinds = ["list"]
    if attribute.has_bucket:
        kinds.append("bucket")
    if isinstance(attribute, (Integer, Binned)):
        kinds.append("range")
    if not isinstance(attribute, Binned):
        kinds.append("value")
    kind = draw(st.sampled_from(kinds))
    if kind == "bucket":
        return None
    if kind == "value":
        return draw(st.sampled_from(declared))
    if kind == "list":
        values = draw(st.lists(st.sampled_from(attribute.labels), min_size=1, max_size=4))
        return draw(st.sampled_from([values, set(values), frozenset(values)]))
    first = draw(st.integers(0, len(declared) - 1))
    last = draw(st.integers(first, len(declared) - 1))
    if isinstance(attribute, Binned):
        low: Any = attribute.edges[first]
        high: Any = attribute.edges[last + 1]
    else:
        assert isinstance(attribute, Integer)
        low, high = attribute.low + first, attribute.low + last
    if first == 0 and draw(st.booleans()):
        low = None
    if last == len(declared) - 1 and draw(st.booleans()):
        high = None
    return (low, high)


@st.composite
def _where(draw: st.DrawFn, domain: Domain) -> dict[str, Any]:
    names = draw(st.lists(st.sampled_from(domain.names), unique=True, max_size=3))
    return {name: draw(conditions(domain[name])) for name in names}


@st.composite
def _atoms(draw: st.DrawFn, domain: Domain, *, tables: bool) -> Question:
    numeric = [n for n, a in domain.attributes if not isinstance(a, Categorical)]
    kinds = ["count", *(["moment"] if numeric else []), *(["table"] if tables else [])]
    kind = draw(st.sampled_from(kinds))
    if kind == "count":
        return Count(draw(_where(domain)))
    if kind == "moment":
        names = draw(st.lists(st.sampled_from(numeric), min_size=1, max_size=2, unique=True))
        powers = {name: draw(st.integers(1, 2)) for name in names}
        return Moment(powers, draw(_where(domain)))
    names = draw(st.lists(st.sampled_from(domain.names), min_size=1, max_size=2, unique=True))
    part = Domain({name: domain[name] for name in names})
    values = {
        tuple(cell.values()): draw(WEIGHTS)
        for cell in (dict(zip(names, key, strict=True)) for key in _keys(part))
    }
    return Table(tuple(names), tuple(domain[name].labels for name in names), values)


def _keys(domain: Domain) -> list[tuple[Any, ...]]:
    found: list[tuple[Any, ...]] = [()]
    for _, attribute in domain.attributes:
        found = [(*key, label) for key in found for label in attribute.labels]
    return found


@st.composite
def questions(
    draw: st.DrawFn, domain: Domain, most_parts: int = 3, *, tables: bool = True
) -> Question:
    """A weighted sum of counts, moments, tables and perhaps a constant."""
    parts: list[Question] = [
        Scaled(draw(WEIGHTS), draw(_atoms(domain, tables=tables)))
        for _ in range(draw(st.integers(1, most_parts)))
    ]
    if draw(st.booleans()):
        parts.append(Constant(draw(WEIGHTS)))
    return Sum(tuple(parts))


@st.composite
def respelled(
    draw: st.DrawFn, question: Question, domain: Domain, *, tables: bool = True
) -> Question:
    """Another way to write the same question."""
    ways = ["inside", "inside", "thirds", "negated", "halves", "cancel"]
    how = draw(st.sampled_from([*ways, "table"] if tables else ways))
    inside = draw(_respelled_inside(question, domain, tables=tables))
    if how == "negated":
        return Scaled(Fraction(-1), Scaled(Fraction(-1), inside))
    if how == "halves":
        return Sum((Scaled(Fraction(1, 2), question), Scaled(Fraction(1, 2), inside)))
    if how == "thirds":
        return Scaled(Fraction(1, 3), Scaled(Fraction(3), inside))
    if how == "cancel":
        other = draw(questions(domain, most_parts=2, tables=tables))
        less = draw(_respelled_inside(other, domain, tables=tables))
        return Sum((other, inside, Scaled(Fraction(-1), less)))
    if how == "table":
        return Sum((Constant(question.offset()), as_table(question, domain)))
    return inside


@st.composite
def _respelled_inside(
    draw: st.DrawFn, question: Question, domain: Domain, *, tables: bool
) -> Question:
    if isinstance(question, Sum):  # reorder
        parts = [draw(respelled(part, domain, tables=tables)) for part in question.parts]
        return Sum(tuple(draw(st.permutations(parts))))
    if isinstance(question, Scaled) and isinstance(question.part, Sum):  # distribute
        return Sum(tuple(Scaled(question.factor, part) for part in question.part.parts))
    if isinstance(question, Scaled):
        return Scaled(question.factor, draw(respelled(question.part, domain, tables=tables)))
    return draw(_split(question, domain)) if isinstance(question, Count) else question


@st.composite
def _split(draw: st.DrawFn, question: Count, domain: Domain) -> Question:
    """The count as a sum of counts over the labels of one attribute that meet its condition."""
    name = draw(st.sampled_from(domain.names))
    labels = domain[name].labels
    here = question.where.get(name, list(labels))
    met = [label for label in labels if Count({name: here}).at({name: label})]
    return Sum(tuple(Count({**question.where, name: [label]}) for label in met))
