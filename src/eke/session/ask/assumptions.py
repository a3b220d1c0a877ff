"""Assumptions: the inputs of an estimate that its author may choose: HIST's prior, α and folds.

They are public: a prior is what somebody believes, or what a public table says. Nothing of them is
stored, and two people with the same assumptions get the same estimate.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from eke.errors import EstimateError

if TYPE_CHECKING:
    from eke.domain import Domain
    from eke.query import Prior

PriorName: TypeAlias = Literal["marginals", "uniform"]
PriorLike: TypeAlias = Any
""""marginals", "uniform", weights of the values of columns, or a public table."""

MOST_FOLDS = 50
_ADVICE = (
    'prior is "marginals" (what history says of single columns), "uniform", a public table, or '
    "positive weights of the values of columns, such as {'sex': {'F': 51, 'M': 49}}"
)
_HALF = 0.5  # a record for each value, so that what a public table lacks is not ruled out
_LEAST = 1e-12  # of a column's weight: a prior must be positive


@dataclass(frozen=True, slots=True)
class Assumptions:
    """What an estimate begins with; by default what history says of single columns.

    Attributes:
        prior: "marginals", "uniform", or the weights of each value of some columns.
        alpha: how far the table may be from the prior; None: cross-validation chooses.
        folds: into how many parts cross-validation deals the answers; None: as many as suit.
    """

    prior: PriorName | tuple[tuple[str, tuple[float, ...]], ...] = "marginals"
    alpha: float | None = None
    folds: int | None = None

    @staticmethod
    def of(
        domain: Domain,
        prior: PriorLike = "marginals",
        alpha: float | None = None,
        folds: int | None = None,
    ) -> Assumptions:
        """The assumptions that somebody wrote, checked against a domain.

        Privacy: free; nothing but the public domain is read.
        """
        if alpha is not None and (not _is_number(alpha) or not 0.0 < alpha < math.inf):
            raise EstimateError(
                "alpha is a finite number above 0; the larger, the weaker the prior"
            )
        if folds is not None and (
            not isinstance(folds, int) or isinstance(folds, bool) or not 2 <= folds <= MOST_FOLDS
        ):
            raise EstimateError(f"folds is a whole number from 2 to {MOST_FOLDS}")
        if alpha is not None and folds is not None:
            raise EstimateError("folds are for choosing alpha; give one of the two")
        return Assumptions(_prior(domain, prior), None if alpha is None else float(alpha), folds)

    def before(self, domain: Domain) -> Prior:
        """The prior before any history."""
        from eke.query import Prior  # noqa: PLC0415 - slow to load

        return Prior(domain, None if isinstance(self.prior, str) else dict(self.prior))

    def document(self) -> dict[str, Any]:
        """The fields of a request that differ from what is assumed by default."""
        told: dict[str, Any] = {}
        if self.prior != "marginals":
            told["prior"] = (
                self.prior
                if isinstance(self.prior, str)
                else {name: list(weights) for name, weights in self.prior}
            )
        if self.alpha is not None:
            told["alpha"] = self.alpha
        if self.folds is not None:
            told["folds"] = self.folds
        return told


DEFAULT = Assumptions()


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _prior(domain: Domain, prior: PriorLike) -> Any:
    if isinstance(prior, str):
        if prior not in ("marginals", "uniform"):
            raise EstimateError(f"there is no prior {prior!r}: {_ADVICE}")
        return prior
    columns = _columns(prior)
    if columns is not None:
        weights = {
            name: _counted(domain, name, values)
            for name, values in columns.items()
            if name in domain and not domain[name].is_wide
        }
        if not weights:
            raise EstimateError("the public table has none of the columns: " + _named(domain))
    elif isinstance(prior, Mapping) and prior:
        weights = {str(name): _weights(domain, str(name), given) for name, given in prior.items()}
    else:
        raise EstimateError(_ADVICE)
    return tuple((name, weights[name]) for name in domain.in_order(weights))


def _named(domain: Domain) -> str:
    return ", ".join(domain.names)


def _columns(prior: PriorLike) -> dict[str, Iterable[object]] | None:
    """The columns of a table of pandas, Polars or Arrow."""
    names = getattr(prior, "column_names", None)
    if names is None and not isinstance(prior, Mapping):
        names = getattr(prior, "columns", None)
    if names is None:
        return None
    return {str(name): _listed(prior[name]) for name in names}


def _listed(column: Any) -> list[object]:
    for way in ("to_pylist", "to_list", "tolist"):
        if hasattr(column, way):
            return list(getattr(column, way)())
    return list(column)


def _counted(domain: Domain, name: str, values: Iterable[object]) -> tuple[float, ...]:
    """How often each value of a column occurs in a public table, and half a record more."""
    attribute, codes = domain[name], {}
    counts = [_HALF] * attribute.size
    for raw in values:
        if raw not in codes:
            codes[raw] = attribute.code(raw)
        code = codes[raw]
        if code is not None:
            counts[code] += 1.0
    return tuple(counts)


def _weights(domain: Domain, name: str, given: object) -> tuple[float, ...]:
    """The weights of all values of a column; those of labels that are not named are nearly 0."""
    if name not in domain:
        raise EstimateError(f"the prior names {name!r}, which is none of: {_named(domain)}")
    attribute = domain[name]
    if attribute.is_wide:
        raise EstimateError(
            f"{name!r} has too many values ({attribute.size:,}) for a prior of each"
        )
    if isinstance(given, Mapping):
        numbers: list[Any] = [0.0] * attribute.size
        for label, weight in given.items():
            code = attribute.code(label)
            if code is None:
                raise EstimateError(f"the prior of {name!r} weighs {label!r}, which it cannot be")
            numbers[code] = weight
    elif isinstance(given, Sequence) and not isinstance(given, (str, bytes)):
        numbers = list(given)
    elif hasattr(given, "tolist"):
        numbers = list(given.tolist())
    else:
        raise EstimateError(_ADVICE)
    positive = all(_is_number(one) and 0.0 <= one < math.inf for one in numbers)
    if len(numbers) != attribute.size or not positive or not 0.0 < sum(numbers) < math.inf:
        raise EstimateError(
            f"the prior of {name!r} needs {attribute.size} finite weights of at least 0, or some "
            "of its labels with theirs"
        )
    least = _LEAST * sum(numbers)
    return tuple(max(float(one), least) for one in numbers)
