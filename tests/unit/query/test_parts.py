"""Parts keep their names under others' and come back, and documents go through arrays."""

from __future__ import annotations

import numpy as np

from eke.query.parts import as_bytes, from_bytes, under, within


def test_parts_under_a_name_are_those_that_were_put_there() -> None:
    one, other = {"x": np.arange(2), "y/z": np.arange(3)}, {"x": np.arange(4)}
    together = {**within("a", one), **within("a b", other), **within("b/a", other)}
    for name, parts in (("a", one), ("a b", other), ("b/a", other)):
        found = under(name, together)
        assert list(found) == list(parts)
        assert all(found[part] is array for part, array in parts.items())
    assert under("b", together).keys() == {"a/x"}
    assert under("c", together) == {}


def test_documents_come_back() -> None:
    document = {"text": "ä “quoted”", "numbers": [1, 2.5, 10**40], "none": None}
    assert from_bytes(as_bytes(document)) == document
