"""Statements from outside: what they must be, how they are written down, and when they hold."""

from __future__ import annotations

from fractions import Fraction

import pytest

from eke.domain import Categorical, Domain, Integer
from eke.errors import FactError
from eke.history import PUBLIC, Assertion, Outside
from eke.history.outside import in_force, removed
from eke.privacy.law import DiscreteLaplace, Gaussian, Laplace
from eke.query import count, marginal

DOMAIN = Domain(sex=Categorical("F", "M"), age=Integer(0, 9))
WOMEN = Assertion(count(sex="F").on(DOMAIN), (Fraction(134),))
NOISY = Assertion(marginal("sex").on(DOMAIN), (Fraction(1, 3), Fraction(-2)), Laplace(3.0))


@pytest.mark.parametrize("law", [None, Laplace(2.0), Gaussian(9.0), DiscreteLaplace(7, -3)])
def test_what_is_written_down_is_read_again(law: object) -> None:
    statement = Assertion(marginal("age").on(DOMAIN), tuple(map(Fraction, range(10))), law)  # type: ignore[arg-type]
    told = Outside("Yearbook", (WOMEN, statement), by="ann")
    again = Outside.from_document(DOMAIN, told.to_document(), 7, "noon")
    assert again.statements == told.statements
    assert (again.source, again.by, again.sequence, again.at) == ("Yearbook", "ann", 7, "noon")
    assert again.is_fact is (law is None)


def test_a_fact_is_taken_with_the_noise_of_what_is_public() -> None:
    assert WOMEN.measurement().law == PUBLIC
    assert NOISY.measurement().law == Laplace(3.0)
    assert NOISY.measurement().values == (1 / 3, -2.0)
    both = Outside("Yearbook", (WOMEN, NOISY))
    assert both.facts == [WOMEN]
    assert len(both.learned) == 1
    assert not both.is_fact


def test_statements_hold_from_their_entry_until_they_are_removed() -> None:
    known = (Outside("a", (WOMEN,), 3), Outside("b", (NOISY,), 5))
    assert removed(known, 3, 9)[0].until == 9
    ended = removed(known, 3, 9)
    assert [one.source for one in in_force(ended)] == ["b"]
    for sequence, names in [(2, ""), (3, "a"), (5, "ab"), (8, "ab"), (9, "b"), (99, "b")]:
        assert "".join(one.source for one in in_force(ended, sequence)) == names


@pytest.mark.parametrize("source", ["", "  ", "a\nb", "x" * 501, None])
def test_a_source_is_a_text_that_others_can_follow(source: object) -> None:
    with pytest.raises(FactError, match="source"):
        Outside(source, (WOMEN,))  # type: ignore[arg-type]


def test_what_cannot_be_said_is_refused() -> None:
    with pytest.raises(FactError, match="nothing to register"):
        Outside("Yearbook", ())
    with pytest.raises(FactError, match="2 numbers, and 1 were given"):
        Assertion(marginal("sex").on(DOMAIN), (Fraction(1),))
    with pytest.raises(FactError, match="without its constant"):
        Assertion((count() + 3).on(DOMAIN), (Fraction(1),))
    with pytest.raises(FactError, match="is a fact"):
        Assertion(count().on(DOMAIN), (Fraction(1),), Gaussian(1e-12))


def test_records_say_what_is_exact() -> None:
    exact, noisy = Outside("Yearbook", (WOMEN, NOISY), 4, "ann", "noon").to_records()
    assert (exact["kind"], exact["value"], exact["noise_deviation"]) == ("fact", 134.0, 0.0)
    assert (noisy["kind"], noisy["value"], noisy["cells"]) == ("learned", None, 2)
    assert noisy["noise_deviation"] == pytest.approx(18**0.5)
