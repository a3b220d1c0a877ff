"""What a plan costs when records are replaced, or a unit has several of them."""

from __future__ import annotations

from eke.planning.workload.release.section import Section
from eke.privacy.measure import Measure
from eke.query import Block, Neighbours


def loss_factor(
    section: Section, measure: Measure, neighbours: Neighbours, rows_per_unit: int = 1
) -> float:
    """By how much a unit loses more than a single record that is added or removed.

    A replaced record leaves one cell for another. Absolute values add, so a pure loss is at most
    twice as large. (a - b)² <= a² + b² when coefficients have one sign, so a zCDP loss is at most
    twice as large then; otherwise (a - b)² <= 2a² + 2b², four times.
    """
    if neighbours == "add_remove":
        return float(measure.group_factor(rows_per_unit))
    signed = any(_may_be_signed(part.measured) for part in section.parts())
    return measure.group_factor(rows_per_unit) * (measure.raised(2.0) if signed else 2.0)


def _may_be_signed(measured: Block) -> bool:
    if measured.inside is None:
        return True
    low, high = measured.inside.extremes()
    return low < 0 < high
