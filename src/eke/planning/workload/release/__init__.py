"""Plans for the release of whole workloads. Blind to the data."""

from eke.planning.workload.release.plan import ReleasePlan, plan_of_block, plan_release
from eke.planning.workload.release.section import Alternative, PlannedBlock, Section, Table

__all__ = [
    "Alternative",
    "PlannedBlock",
    "ReleasePlan",
    "Section",
    "Table",
    "plan_of_block",
    "plan_release",
]
