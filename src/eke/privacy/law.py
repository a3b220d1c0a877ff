"""Noise laws: the family of distributions of a measurement's noise and its parameters.

Every law says, of its own noise, `variance`, `tail(x)` and `characteristic(t)`; what it costs a
record, `loss_nano(coefficient)`, in the unit `loss_unit`; and the continuous law next to it, for
inference: `laplace_scale` and `gaussian_variance`, one of which is zero. The discrete laws, which
are the only ones that `eke.mechanism` draws, also say `mass(k)`. A law belongs to one measure:
where two measures price one noise, each has a class of it, entered here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias, TypeGuard

from eke.errors import PrivacyError
from eke.privacy.continuous_law import Gaussian, Laplace
from eke.privacy.discrete_gaussian import DiscreteGaussian
from eke.privacy.discrete_laplace import DiscreteLaplace
from eke.privacy.noise_grid import choose_grid
from eke.privacy.refinement import Refinement

__all__ = [
    "Charged",
    "DiscreteGaussian",
    "DiscreteLaplace",
    "DiscreteLaw",
    "Gaussian",
    "Laplace",
    "NoiseLaw",
    "Refinement",
    "charged_from_json",
    "choose_grid",
    "is_drawn",
    "law_from_json",
    "noise_in",
]

DiscreteLaw: TypeAlias = DiscreteLaplace | DiscreteGaussian
NoiseLaw: TypeAlias = DiscreteLaw | Laplace | Gaussian
Charged: TypeAlias = NoiseLaw | Refinement
"""What a measurement costs a record by: its noise, or by how much it refines a noise before."""

_FIELDS: dict[str, tuple[type[NoiseLaw], tuple[str, ...]]] = {
    DiscreteLaplace.kind: (DiscreteLaplace, ("steps", "exponent")),
    DiscreteGaussian.kind: (DiscreteGaussian, ("steps", "exponent")),
    Laplace.kind: (Laplace, ("laplace_scale",)),
    Gaussian.kind: (Gaussian, ("noise_variance",)),
}
DRAWN: tuple[type[DiscreteLaw], ...] = (DiscreteLaplace, DiscreteGaussian)


def is_drawn(law: object) -> TypeGuard[DiscreteLaw]:
    """Whether something is exactly one of the discrete laws, and nothing derived from one.

    Privacy: what a subclass says of its price need not be what is drawn. Types are compared by
    identity, for a metaclass could claim to be equal to anything.
    """
    return any(type(law) is family for family in DRAWN)


def noise_in(law: Charged) -> NoiseLaw:
    """The law of the noise in what was released; of a refinement, the finer one."""
    return law.fine if isinstance(law, Refinement) else law


def charged_from_json(document: Mapping[str, object]) -> Charged:
    """The law, or the refinement, whose `to_json` gave this document."""
    if document.get("kind") != Refinement.kind:
        return law_from_json(document)
    numbers: dict[str, Any] = {name: document[name] for name in ("steps", "exponent", "before")}
    return Refinement(**numbers)


def law_from_json(document: Mapping[str, object]) -> NoiseLaw:
    """The law whose `to_json` gave this document; anything else is refused, not guessed at."""
    kind = document.get("kind") if isinstance(document, Mapping) else None
    if not isinstance(kind, str) or kind not in _FIELDS:
        raise PrivacyError(f"a noise law needs a 'kind', one of {', '.join(_FIELDS)}")
    family, names = _FIELDS[kind]
    if set(document) != {"kind", *names}:
        raise PrivacyError(f"a {kind} law has exactly the fields {', '.join(names)} and kind")
    values: dict[str, object] = {name: document[name] for name in names}
    # The constructors check type and range of every field.
    return family(**values)  # type: ignore[arg-type]
