"""Sums and counts over many tables equal those of one table at a time."""

import numpy as np
import pytest
from numpy.typing import NDArray

from eke.domain import Domain, Integer
from eke.inference.max_entropy.gibbs import GibbsPlan, cells_of, counted
from eke.inference.max_entropy.table_layout import AttributeSet, TableLayout

DOMAIN = Domain(a=Integer(0, 2), b=Integer(0, 0), c=Integer(0, 4), d=Integer(0, 1))
SETS: list[list[AttributeSet]] = [
    [("a", "c"), ("b",), ("a", "b", "d"), ("c", "d")],
    [("d", "a"), ("c",)],
    [()],
    [],
]


def random_records(rows: int) -> NDArray[np.int64]:
    generator = np.random.default_rng(rows)
    return np.stack([generator.integers(0, size, rows) for size in DOMAIN.shape], axis=1)


@pytest.mark.parametrize("sets", SETS)
@pytest.mark.parametrize("rows", [0, 1, 50])
def test_all_tables_at_once_are_one_after_another(sets: list[AttributeSet], rows: int) -> None:
    generator, records = np.random.default_rng(1), random_records(rows)
    tables = {own: generator.standard_normal(DOMAIN.sizes(own)).reshape(-1) for own in sets}
    layout = TableLayout.of(DOMAIN, sets)
    expected = np.zeros(rows)
    for own in sets:
        expected += tables[own][cells_of(DOMAIN, records, own)]
    np.testing.assert_allclose(layout.sums(records, layout.flat(tables)), expected, atol=1e-12)
    shares = layout.shares(records)
    assert list(shares) == sets
    for own in sets:
        wanted = counted(DOMAIN, records, own) if rows else 0.0 * tables[own]
        np.testing.assert_allclose(shares[own], wanted)


def test_lines_are_copies_of_tables_with_each_attribute_last() -> None:
    generator, sets = np.random.default_rng(2), SETS[0]
    tables = {own: generator.standard_normal(DOMAIN.sizes(own)) for own in sets}
    plan = GibbsPlan.of(DOMAIN, sets)
    lines = plan.lines(plan.layout.flat(tables))
    for k, name in enumerate(DOMAIN.names):
        for pair in range(plan.first[k], plan.first[k + 1]):
            own = sets[plan.table[pair]]
            copy = np.moveaxis(tables[own], own.index(name), -1).reshape(-1)
            found = lines[plan.start[pair] : plan.start[pair] + len(copy)]
            np.testing.assert_allclose(found, copy - copy.max(), atol=1e-12)
