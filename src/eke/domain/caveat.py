"""Caveats: in what respect the counted table differs from the raw one, by the public rules.

Each sentence is about the domain alone and is the same whatever the data. A rule `never` gives
none: the curator has said that there are no such values, and that was checked.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from eke.domain.product import Domain
from eke.domain.rule import Replace

_NAMED = 6


def left_out(domain: Domain) -> list[str]:
    """Which records are not counted, in any answer."""
    missing = [name for name, attribute in domain.attributes if attribute.null == "drop"]
    undeclared = [name for name, attribute in domain.attributes if attribute.outside == "drop"]
    both = [name for name in missing if name in undeclared]
    kinds = {
        "missing or not declared": both,
        "missing": [name for name in missing if name not in both],
        "not declared": [name for name in undeclared if name not in both],
    }
    parts = [f"whose {_listed(names)} is {what}" for what, names in kinds.items() if names]
    comma = "," if len(parts) > 1 else ""
    return [f"Records {', or '.join(parts)}{comma} are not counted."] if parts else []


def as_values(domain: Domain, names: Iterable[str]) -> list[str]:
    """What counts as what, in the columns that an answer looks at."""
    sentences = []
    for name in domain.in_order(names):
        null, outside = domain[name].null, domain[name].outside
        if isinstance(null, Replace):
            sentences.append(f"Where {name} is missing, it counts as {null.value!r}.")
        if isinstance(outside, Replace):
            sentences.append(f"Undeclared values of {name} count as {outside.value!r}.")
        elif outside == "bucket":
            sentences.append(f"Undeclared values of {name} count as missing.")
        elif outside == "clamp":
            sentences.append(
                f"Undeclared values of {name} count as the declared value next to them."
            )
    return sentences


def _listed(names: Sequence[str]) -> str:
    if len(names) > _NAMED:
        return f"{', '.join(names[:_NAMED])} or {len(names) - _NAMED} more columns"
    return " or ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
