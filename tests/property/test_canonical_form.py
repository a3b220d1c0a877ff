"""Two spellings of one question meet, and different questions do not (small domains, all cells)."""

import json
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import strategies as st

from eke.domain import Categorical, Domain, Integer
from eke.query import Query, Term, canonical, constant, count, linear, moment, table, total
from tests import oracle
from tests.parts import law
from tests.questions import domains, questions, respelled


@law(st.data(), few=25, many=100)
def test_another_spelling_is_the_same_query(data):
    domain = data.draw(domains())
    question = data.draw(questions(domain))
    other = data.draw(respelled(question, domain))
    # The respelling itself is checked by the oracle, so that the test cannot fool itself.
    values = oracle.dense(question, domain)
    assert values == oracle.dense(other, domain)
    first, second = question.expression().on(domain), other.expression().on(domain)
    assert oracle.written_out(first) == values
    assert oracle.evaluated(first) == values
    assert first.constant == question.offset()
    assert first == second
    assert hash(first) == hash(second)
    assert first.digest == second.digest


@law(st.data(), few=25, many=100)
def test_queries_are_equal_exactly_when_their_dense_vectors_are(data):
    domain = data.draw(domains(most_attributes=2, most_values=2))
    first, second = (data.draw(questions(domain, most_parts=2)) for _ in range(2))
    same = oracle.dense(first, domain) == oracle.dense(second, domain)
    same &= first.offset() == second.offset()
    left, right = first.expression().on(domain), second.expression().on(domain)
    assert (left == right) == same
    assert (left.digest == right.digest) == same
    assert ((left - right).is_zero and left.constant == right.constant) == same


@law(st.data(), few=17, many=70)
def test_canonical_form_is_a_fixed_point_and_documents_are_exact(data):
    domain = data.draw(domains())
    query = data.draw(questions(domain)).expression().on(domain)
    written = json.loads(json.dumps(query.to_document()))
    read = Query.from_document(domain, written)
    assert read == query
    assert read.to_document() == query.to_document()
    assert Query.of(domain, query.terms, query.constant) == query
    assert Query.unrounded(domain, query.terms, query.constant) == query
    assert query * 1 == query
    assert query + query == query * 2
    negated = -query
    assert -negated == query


@law(st.data(), few=25, many=100)
def test_algebra_of_queries_is_algebra_of_dense_vectors(data):
    domain = data.draw(domains())
    first, second = (data.draw(questions(domain, most_parts=2)) for _ in range(2))
    left, right = first.expression().on(domain), second.expression().on(domain)
    a, b = oracle.dense(first, domain), oracle.dense(second, domain)
    assert oracle.written_out(left + right) == [x + y for x, y in zip(a, b, strict=True)]
    assert oracle.written_out(left - right) == [x - y for x, y in zip(a, b, strict=True)]
    assert oracle.written_out(Fraction(3, 4) * left) == [Fraction(3, 4) * x for x in a]
    assert oracle.written_out(left.pointwise(right)) == [x * y for x, y in zip(a, b, strict=True)]
    assert (left + right).constant == first.offset() + second.offset()
    assert left.pointwise(right).constant == 0
    assert left.pointwise(right) == right.pointwise(left)


@law(st.data(), few=17, many=70)
def test_terms_are_reduced_and_mention_only_what_matters(data):
    domain = data.draw(domains())
    question = data.draw(questions(domain))
    query = question.expression().on(domain)
    values = np.array(oracle.dense(question, domain), object).reshape(domain.shape)
    for axis, name in enumerate(domain.names):
        varies = bool((values != np.take(values, [0], axis=axis)).any())
        assert (name in query.attributes) == varies
    assert query.is_zero == (not any(values.reshape(-1)))
    for term in query.terms:
        assert term.weight != 0
        assert [n for n, _ in term.factors] == list(domain.in_order(n for n, _ in term.factors))
        for _, vector in term.factors:
            assert np.gcd.reduce(vector) == 1
            assert vector[np.flatnonzero(vector)[0]] > 0
            assert (vector != vector[0]).any()
            assert not vector.flags.writeable


@law(st.data(), few=17, many=70)
def test_best_effort_for_large_supports_is_never_another_function(data):
    """With the dense limit lowered to 3 cells the path of large supports is checked by brute force.

    Sensitivity and the exponent stay on the safe side, documents stay exact.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(canonical, "DENSE_CELLS", 3)
        patch.setattr(linear, "DENSE_CELLS", 3)
        domain = data.draw(domains())
        question = data.draw(questions(domain, tables=False))
        other = data.draw(respelled(question, domain, tables=False))
        values = oracle.dense(question, domain)
        for query in (question.expression().on(domain), other.expression().on(domain)):
            assert oracle.written_out(query) == values
            assert oracle.evaluated(query) == values
            low, high = query.extremes()
            assert low <= min(values)
            assert max(values) <= high
            assert all((v / Fraction(2) ** query.exponent).denominator == 1 for v in values)
            again = Query.from_document(domain, query.to_document())
            assert again == query
            assert again.to_document() == query.to_document()


def test_usual_spellings_over_large_supports_meet():
    domain = Domain({f"a{i}": Integer(0, 59) for i in range(4)})
    assert domain.size > canonical.DENSE_CELLS
    box = {f"a{i}": (10, 40) for i in range(4)}
    whole = count(box)
    split = count({**box, "a2": (10, 20)}) + count({**box, "a2": (21, 40)})
    across = 2 * split - count({**box, "a0": (10, 11)}) - count({**box, "a0": (12, 40)})
    for other in (split, across, whole + total("a1") - total("a1")):
        assert other.on(domain) == whole.on(domain)
    assert (whole - split).on(domain).is_zero


def test_large_supports_keep_their_values_at_random_cells():
    """80 random sums over 12,960,000 cells, each checked at 50 random cells."""
    domain = Domain({f"a{i}": Integer(-5, 54) for i in range(4)})
    random = np.random.default_rng(7)
    places = random.integers(0, 60, (50, 4))
    labels = places - 5
    for _ in range(80):
        pieces, expected = [], np.zeros(50, object)
        for _ in range(int(random.integers(1, 6))):
            low, high = np.sort(random.integers(-5, 55, (4, 2)), axis=1).T
            kept = random.random(4) < 0.7
            where = {f"a{i}": (int(low[i]), int(high[i])) for i in range(4) if kept[i]}
            power = {f"a{int(random.integers(4))}": int(random.integers(1, 4))}
            weight = int(random.integers(-9, 10))
            pieces.append(weight * moment(power, where=where))
            (name, exponent), *_ = power.items()
            inside = (((low <= labels) & (labels <= high)) | ~kept).all(axis=1)
            numbers = labels[:, int(name[1])].astype(object) ** exponent
            expected = expected + weight * numbers * inside
        query = sum(pieces, constant(0)).on(domain)
        unit = Fraction(2) ** query.exponent
        assert [n * unit for n in query.numerators(domain.names, places)] == list(expected)


def test_attributes_that_cancel_leave_a_small_support():
    """After merging, the rest is canonicalised through its table like any small question."""
    domain = Domain(x=Integer(0, 999), y=Integer(0, 999), a=Integer(0, 2), b=Integer(0, 2))
    left = count(x=(0, 4), y=3, a=1) + count(a=1) + count(b=1) - count(x=(0, 4), y=3, a=1)
    right = table(("a", "b"), [[0, 1, 0], [1, 2, 1], [0, 1, 0]])
    assert left.on(domain) == right.on(domain)


def test_wide_coefficients_of_small_supports_are_canonical_too():
    """Cancelling parts may need more than 62 bits although the sum does not."""
    domain = Domain(a=Integer(0, 2), b=Integer(0, 3))
    huge = np.array([2**61, 3, 1], np.int64)
    other = np.array([1, 2**55, 0, -5], np.int64)
    small = count(a=1, b=2).on(domain)
    wide = Query.unrounded(domain, [Term(Fraction(1), (("a", huge), ("b", other)))])
    terms = [*wide.terms, *small.terms, *(Term(-t.weight, t.factors) for t in wide.terms)]
    assert Query.unrounded(domain, terms) == small
    both = Query.unrounded(domain, [*wide.terms, *small.terms])
    expected = [
        x + y for x, y in zip(oracle.written_out(wide), oracle.written_out(small), strict=True)
    ]
    assert oracle.written_out(both) == expected
    assert both.extremes() == (min(expected), max(expected))
    assert Query.from_document(domain, both.to_document()) == both


@pytest.mark.parametrize(
    ("question", "terms"),
    [
        (total("age") + total("hours"), 3),
        (total("age") - total("hours") + count(sex="F"), 4),
        (count(age=(20, 30)) + count(hours=(40, 50)), 2),
        (count() + count(age=42, sex="M"), 2),
        (moment(age=1, hours=1), 1),
        (total("age", sex="F") + 3 * total("hours", sex="M"), 2),
    ],
)
def test_additive_questions_stay_short(question, terms):
    domain = Domain(
        age=Integer(17, 90),
        hours=Integer(1, 99),
        sex=Categorical("F", "M"),
    )
    assert len(question.on(domain).terms) <= terms
