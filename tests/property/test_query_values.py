"""Extremes, exponents, numerators, exact answers and sensitivities against all cells."""

from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from eke.domain import Domain, Integer
from eke.query import Query, Term, sensitivity
from tests import oracle
from tests.parts import law
from tests.questions import domains, questions


def changes(domain: Domain, values: list[Fraction], neighbours: str) -> list[Fraction]:
    """Every change of the answer between two neighbouring tables, one record at a time."""
    if neighbours == "add_remove":
        return [sign * v for v in values for sign in (1, -1)]
    # A record whose raw values are dropped is in the table without being in any cell.
    places = values if domain.total else [*values, Fraction(0)]
    return [after - before for before in places for after in places]


def greatest_exponent(values: list[Fraction]) -> int:
    """The largest e for which all values are integers times 2^e, found by trying."""
    if not any(values):
        return 0
    exponent = 400
    while any((v / Fraction(2) ** exponent).denominator != 1 for v in values):
        exponent -= 1
    return exponent


@law(st.data(), few=30, many=120)
def test_extremes_exponent_and_sensitivity_are_those_of_all_cells(data):
    domain = data.draw(domains())
    question = data.draw(questions(domain))
    query = question.expression().on(domain)
    values = oracle.dense(question, domain)
    assert query.extremes() == (min(values), max(values))
    assert query.exponent == greatest_exponent(values)
    for neighbours in ("add_remove", "replace_one"):
        assert sensitivity(query, neighbours) == max(changes(domain, values, neighbours))


@law(st.data(), few=20, many=80)
def test_exact_answers_are_sums_over_records(data):
    domain = data.draw(domains())
    question = data.draw(questions(domain))
    query = question.expression().on(domain)
    cells = oracle.cells(domain)
    places = data.draw(st.lists(st.integers(0, len(cells) - 1), max_size=6))
    counts = data.draw(st.lists(st.integers(0, 2**60), min_size=len(places), max_size=len(places)))
    expected = sum(
        (n * question.at(cells[i]) for i, n in zip(places, counts, strict=True)), Fraction(0)
    )
    codes = oracle.codes(domain)[places].reshape(len(places), len(domain))
    answer = query.exact(domain.names, codes, np.array(counts, np.int64))
    assert answer * Fraction(2) ** query.exponent == expected
    # Only the query's own attributes are needed, in any order.
    own = tuple(reversed(query.attributes))
    columns = [domain.names.index(name) for name in own]
    assert query.exact(own, codes[:, columns], np.array(counts, np.int64)) == answer


wide_vectors = st.lists(st.integers(-(2**62) + 1, 2**62 - 1), min_size=3, max_size=3)


@given(
    st.lists(
        st.tuples(st.integers(-(2**40), 2**40), st.integers(-60, 60), wide_vectors, wide_vectors),
        min_size=1,
        max_size=3,
    )
)
@settings(max_examples=80)
def test_integers_beyond_int64_stay_exact(parts):
    domain = Domain(a=Integer(0, 2), b=Integer(0, 2), c=Integer(0, 1))
    terms, expected = [], [Fraction(0)] * 18
    for number, exponent, first, second in parts:
        weight = number * Fraction(2) ** exponent
        vectors = (("a", np.array(first, np.int64)), ("b", np.array(second, np.int64)))
        terms.append(Term(weight, vectors))
        for i, (a, b, _) in enumerate(oracle.codes(domain).tolist()):
            expected[i] += weight * first[a] * second[b]
    query = Query.unrounded(domain, terms)
    assert oracle.written_out(query) == expected
    assert oracle.evaluated(query) == expected
    assert query.extremes() == (min(expected), max(expected))
    assert query.exponent <= greatest_exponent(expected) or query.is_zero
    for neighbours in ("add_remove", "replace_one"):
        brute = max(changes(domain, expected, neighbours))
        assert sensitivity(query, neighbours) == brute
    counts = np.full(18, 2**61, np.int64)
    answer = query.exact(domain.names, oracle.codes(domain), counts)
    assert answer * Fraction(2) ** query.exponent == 2**61 * sum(expected)
    assert oracle.written_out(Query.from_document(domain, query.to_document())) == expected


@law(st.data(), few=15, many=60)
def test_tables_hold_all_coefficients(data):
    domain = data.draw(domains())
    question = data.draw(questions(domain))
    query = question.expression().on(domain)
    kept = [axis for axis, name in enumerate(domain.names) if name in query.attributes]
    table = query.table()
    assert table.dtype == np.int64
    assert table.shape == tuple(domain.shape[axis] for axis in kept)
    unit = Fraction(2) ** query.exponent
    values = oracle.dense(question, domain)
    for code, value in zip(oracle.codes(domain).tolist(), values, strict=True):
        assert int(table[tuple(code[axis] for axis in kept)]) * unit == value
