"""Budget: limit, spent and remaining, as people read them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from eke.privacy.record_loss import NANO

if TYPE_CHECKING:  # `eke budget` should not wait for any of them
    import pandas as pd
    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class Budget:
    """The dataset's loss so far against its limit, in epsilon or rho. It is `session.budget`.

    Attributes:
        measure: "epsilon" or "rho".
        limit_nano: the limit in whole nano-units.
        spent_nano: what is spent, in whole nano-units.

    Example:
        >>> print(session.budget)
        epsilon 0 spent of 1, 1 remaining
        >>> private = eke.create("zcdp.eke", people, domain, rho=0.1)
        >>> _ = private.release(private.plan([["sex"]], budget=0.1))
        >>> round(private.budget.epsilon(delta=1e-6), 2)
        2.14
    """

    measure: str
    limit_nano: int
    spent_nano: int

    @property
    def limit(self) -> float:
        """What may be spent in all."""
        return self.limit_nano / NANO

    @property
    def spent(self) -> float:
        """What is spent."""
        return self.spent_nano / NANO

    @property
    def remaining(self) -> float:
        """What the limit leaves."""
        return (self.limit_nano - self.spent_nano) / NANO

    def epsilon(self, delta: float | None = None) -> float:
        """The ε of what was spent: itself for pure DP, the (ε, δ) statement implied by ρ else."""
        from eke.privacy.measures import measure_named  # noqa: PLC0415 - NumPy

        return measure_named(self.measure).epsilon(self.spent, delta)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "measure": self.measure,
            "limit": self.limit,
            "spent": self.spent,
            "remaining": self.remaining,
        }

    def to_pandas(self) -> pd.DataFrame:
        """A frame of one row."""
        import pandas as pd  # noqa: PLC0415

        return pd.DataFrame([self.to_dict()])

    def to_arrow(self) -> pa.Table:
        """The same as an Arrow table."""
        import pyarrow as pa  # noqa: PLC0415

        return pa.Table.from_pylist([self.to_dict()])

    def __str__(self) -> str:
        return (
            f"{self.measure} {self.spent:.6g} spent of {self.limit:.6g}, "
            f"{self.remaining:.6g} remaining"
        )

    def _repr_html_(self) -> str:
        from eke.session.answer import html  # noqa: PLC0415 - posteriors, which are slow to load

        return html.bar(str(self), self.spent / self.limit)
