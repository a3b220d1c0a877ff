"""Releasing: many tables at once, with their price, and what would be worth it."""

from typing import TYPE_CHECKING

from eke.late import late_names

if TYPE_CHECKING:
    from eke.session.release.advise import advice_from
    from eke.session.release.measured import (
        checked_parts,
        measure_plan,
        planned,
        refining_parts,
        workload_of,
    )
    from eke.session.release.price import price_of
    from eke.session.release.released import release_of

__all__ = [
    "advice_from",
    "checked_parts",
    "measure_plan",
    "planned",
    "price_of",
    "refining_parts",
    "release_of",
    "workload_of",
]

if not TYPE_CHECKING:
    __getattr__ = late_names(
        __name__,
        {
            "advise": "advice_from",
            "measured": "checked_parts measure_plan planned refining_parts workload_of",
            "price": "price_of",
            "released": "release_of",
        },
    )
