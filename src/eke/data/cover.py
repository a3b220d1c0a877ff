"""Cover: which few tables to count so that all the wanted ones are sums of them.

Each table that an engine counts in a scan costs one look-up a row, however small it is; small
tables that fit together are therefore counted as one. Only the domain is looked at, so what is
counted is public.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod

from eke.domain import Domain
from eke.errors import DataError

MOST_CELLS = 2**24
"""The largest table that is collected, by its domain: half a gigabyte if no cell is empty."""
_JOINT_CELLS = 2**16  # measured: larger tables leave the caches and win nothing


def cover(attribute_sets: Iterable[Sequence[str]], domain: Domain) -> tuple[tuple[str, ...], ...]:
    """Sets of attributes, in the domain's order, such that each wanted one lies in one of them.

    The largest come first; a smaller one joins the set that grows least by it, as long as that
    stays a small table.
    """
    wanted = {domain.in_order(names) for names in attribute_sets}
    if () in wanted:
        wanted = (wanted - {()}) or {(min(domain.names, key=lambda name: domain.sizes([name])),)}
    sets: list[tuple[str, ...]] = []
    for names in sorted(wanted, key=lambda names: (-cells(names, domain), names)):
        if any(set(names) <= set(known) for known in sets):
            continue
        joint = [domain.in_order((*known, *names)) for known in sets]
        growth = [
            (cells(both, domain) / cells(known, domain), place)
            for place, (both, known) in enumerate(zip(joint, sets, strict=True))
            if cells(both, domain) <= _JOINT_CELLS
        ]
        if growth:
            place = min(growth)[1]
            sets[place] = joint[place]
        else:
            sets.append(names)
    return tuple(sets)


def cells(names: Sequence[str], domain: Domain) -> int:
    """The number of cells of a set of attributes, empty ones included."""
    return prod(domain.sizes(names))


def check_size(names: Sequence[str], domain: Domain) -> None:
    """Raise when a set of attributes has more cells than are ever collected.

    Privacy: a rule about the domain alone, so that a question is refused before it is paid, and
    for every table alike.
    """
    if cells(names, domain) > MOST_CELLS:
        raise DataError(
            f"this needs exact counts of {cells(names, domain):,} cells ({', '.join(names)}); a "
            f"table that is counted by marginals gives at most {MOST_CELLS:,} at once. Nothing was "
            "spent: ask about fewer attributes or coarser bins, or protect the table with "
            "collect='cells', if its non-empty cells fit in memory"
        )
