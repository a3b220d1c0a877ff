"""Plans for the release of whole workloads. Blind to the data."""

from eke.planning.release.plan import ReleasePlan, plan_release
from eke.planning.release.section import Alternative, Part, Section, Table

__all__ = ["Alternative", "Part", "ReleasePlan", "Section", "Table", "plan_release"]
