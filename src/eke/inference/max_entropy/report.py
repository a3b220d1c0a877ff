"""How well a maximum entropy fit converged, in the only unit that matters: the noise."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FitDistance:
    """Distances from the optimum's conditions, in deviations of each constraint's noise.

    HIST runs its chain for a fixed number of steps; here a fit stops when what is left to gain is
    small against the noise, or says that it did not get there.
    """

    method: str  # "exact" or "gibbs"
    steps: int
    worst: float
    root_mean_square: float
    sampling_error: float  # root mean square that sampling alone explains; 0 for exact sums
    tolerance: float
    dual: float | None = None

    @property
    def converged(self) -> bool:
        return self.root_mean_square <= self.tolerance + self.sampling_error

    def __str__(self) -> str:
        verdict = "converged" if self.converged else "did not converge"
        return (
            f"{verdict} after {self.steps} steps ({self.method}): off by "
            f"{self.root_mean_square:.3g} noise deviations (root mean square), "
            f"{self.worst:.3g} at worst; sampling explains {self.sampling_error:.3g}"
        )
