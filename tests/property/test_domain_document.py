"""Any domain survives being written to YAML or JSON and read back."""

import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from eke.domain import (
    Attribute,
    Binned,
    Boolean,
    Categorical,
    Domain,
    Integer,
    Replace,
    domain_from_document,
    domain_to_document,
    read_domain,
    write_domain,
)

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)
FINITE = st.floats(allow_nan=False, allow_infinity=False)
EDGES = st.one_of(st.integers(-(2**53) + 1, 2**53 - 1), FINITE)


@st.composite
def rules(draw, values, *, clamps):
    null = draw(st.sampled_from(["drop", "bucket", "replace"]))
    outside = draw(st.sampled_from(["drop", "bucket", "replace", *(["clamp"] if clamps else [])]))
    return {
        key: Replace(draw(st.sampled_from(values))) if rule == "replace" else rule
        for key, rule in (("null", null), ("outside", outside))
    }


@st.composite
def attributes(draw) -> Attribute:
    kind = draw(st.sampled_from(["texts", "numbers", "flags", "boolean", "integer", "binned"]))
    if kind == "boolean":
        return Boolean(**draw(rules([True, False, 1], clamps=False)))
    if kind == "integer":
        low = draw(st.integers(-(2**53) + 1, 2**53 - 1000))
        high = low + draw(st.integers(0, 900))
        return Integer(low, high, **draw(rules([low, high], clamps=True)))
    if kind == "binned":
        edges = sorted(draw(st.lists(EDGES, min_size=2, max_size=6, unique_by=float)))
        return Binned(edges, **draw(rules([edges[0], edges[-1]], clamps=True)))
    pool = {"texts": TEXTS, "numbers": st.integers(), "flags": st.booleans()}[kind]
    values = draw(st.lists(pool, min_size=1, max_size=5, unique=True))
    return Categorical(*values, **draw(rules(values, clamps=False)))


@given(st.dictionaries(NAMES, attributes(), min_size=1, max_size=4))
@settings(max_examples=120)
def test_domains_round_trip_through_documents_and_files(named):
    domain = Domain(named)
    assert domain_from_document(domain_to_document(domain)) == domain
    with tempfile.TemporaryDirectory() as folder:
        for name in ("domain.yaml", "domain.json", "domain.txt"):
            path = Path(folder) / name
            write_domain(domain, path)
            back = read_domain(path)
            assert back == domain
            assert back.names == domain.names
            # Equality alone would not tell True from 1 or 1 from 1.0.
            assert repr(back) == repr(domain)


@given(st.recursive(st.one_of(TEXTS, FINITE, st.none()), st.lists), attributes())
@settings(max_examples=60)
def test_whatever_the_raw_value_there_is_a_code_or_a_dropped_row(raw, attribute):
    code = attribute.code(raw)
    assert (code is None and attribute.drops) or (code is not None and 0 <= code < attribute.size)
