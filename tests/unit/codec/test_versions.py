"""Documents of other versions: readers take what they know, and fill in what is missing."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from eke.codec.answer import answer_document, read_answer
from eke.codec.estimate import estimate_document, read_estimate
from eke.codec.plain import read_record
from eke.codec.plan import read_plan
from eke.codec.preview import read_preview
from eke.codec.release import read_release
from eke.domain import Categorical, Domain, Integer
from eke.planning import all_marginals

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures/documents"
DOMAIN = Domain(sex=Categorical("Female", "Male"), age=Integer(17, 26))
KINDS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "number": read_answer,
    "marginal": read_answer,
    "table": read_answer,
    "estimate": read_estimate,
    "estimates": read_estimate,
    "preview": read_preview,
    "plan": lambda found: read_plan(found, all_marginals(DOMAIN, 1), {}),
    "release": lambda found: read_release(found, DOMAIN),
}


def frozen(kind: str) -> dict[str, Any]:
    """A document as version 0.1 wrote it."""
    found: dict[str, Any] = json.loads((FIXTURES / f"{kind}-1.json").read_text("utf-8"))
    return found


def with_more(document: Any) -> Any:
    """The document as a later version may write it: with a field more in every object."""
    if isinstance(document, dict):
        grown = {key: with_more(value) for key, value in document.items()}
        return grown if set(document) == {"from", "to"} else {**grown, "of a later version": [1]}
    return [with_more(one) for one in document] if isinstance(document, list) else document


@pytest.mark.parametrize("kind", KINDS)
def test_documents_of_the_first_version_are_read(kind: str) -> None:
    assert KINDS[kind](frozen(kind)) is not None


@pytest.mark.parametrize("kind", KINDS)
def test_what_a_later_version_adds_is_passed_over(kind: str) -> None:
    later = with_more(frozen(kind))
    if kind == "release":  # what was asked for is stored with the release, and strict
        later["workload"] = frozen(kind)["workload"]
    before, after = KINDS[kind](frozen(kind)), KINDS[kind](later)
    if kind == "plan":  # descriptions of its tables are handed on as they are
        before, after = (replace(plan, tables=()) for plan in (before, after))
    assert repr(after) == repr(before)


def test_what_is_read_is_what_was_written() -> None:
    for kind in ("number", "marginal", "table"):
        document = frozen(kind)
        again = answer_document(read_answer(document), posterior="posterior" in document)
        for name in ("kind", "receipt", "question", "cost", "why"):
            assert again[name] == document[name], kind
        assert read_answer(again) == read_answer(document)
    for kind in ("estimate", "estimates"):
        found = read_estimate(frozen(kind))
        assert repr(read_estimate(estimate_document(found))) == repr(found)


def test_a_release_without_caveats_gets_those_of_its_columns() -> None:
    first, document = read_release(frozen("release"), DOMAIN), frozen("release")
    assert "caveats" not in document
    assert first.caveats == (
        "Undeclared values of age count as the declared value next to them.",
        "Records whose sex is missing or not declared, or whose age is missing, are not counted.",
    )
    later = read_release({**document, "caveats": ["Of each id at most 2 are counted."]}, DOMAIN)
    assert later.caveats == (*first.caveats, "Of each id at most 2 are counted.")


def test_a_reader_that_takes_everything_is_caught() -> None:
    """Positive control: this is how readers were made before."""
    later = with_more(frozen("number"))["receipt"]
    kind = type(read_answer(frozen("number")).receipt)
    with pytest.raises(TypeError):
        kind(**later)
    assert read_record(kind, later) == read_answer(frozen("number")).receipt
