"""Whatever is sent, nothing but an answer or a CatalogueError comes back."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from eke.catalogue import Catalogue, CatalogueError, engine
from tests.unit.catalogue.corpus import statements

TEXTS = [statement.text for statement in statements() if len(statement.text) < 600]
WORDS = sorted({word for text in TEXTS for word in text.split()})
PIECES = st.one_of(
    st.sampled_from(WORDS),
    st.sampled_from(["(", ")", "'", '"', ",", "::", "[", "]", "*", "--", "/*", "\\", "$1", "ANY"]),
    st.text(max_size=4),
)


@st.composite
def mutations(draw: st.DrawFn) -> str:
    words = draw(st.sampled_from(TEXTS)).split(" ")
    for _ in range(draw(st.integers(1, 4))):
        place = draw(st.integers(0, len(words)))
        words[place : place + draw(st.integers(0, 2))] = draw(st.lists(PIECES, max_size=2))
    return " ".join(words)


@given(text=mutations())
@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_mutated_statement_is_answered_or_refused(
    catalogue: Catalogue, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as hurried:
        hurried.setattr(engine, "MOST_SECONDS", 1.0)
        for ask in (catalogue.run, catalogue.describe):
            with suppress(CatalogueError):
                ask(text)
    assert catalogue.run("SELECT 1").rows == ((1,),)
