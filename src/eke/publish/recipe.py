"""Recipe: how a budget becomes measurements. Rules that follow from the budget and public facts."""

from __future__ import annotations

import math
from dataclasses import dataclass

from eke.errors import PrivacyError


@dataclass(frozen=True, slots=True)
class Recipe:
    """How much goes where. The defaults were chosen on public tables."""

    singles_share: float = 0.1  # of the loss, for the one-dimensional marginals at first
    most_singles_share: float = 0.4  # with what is spent on them again where noise drowns them
    singles_error: float = 0.003  # the mean distance of a column, by its noise, that is worth it
    spread_error: float = 0.03  # of a column's variance by noise, beyond which groups are measured
    spread_groups: int = 20
    selection_share: float = 0.1  # of each step's loss, for choosing
    most_steps_each: float = 16.0  # measurements for each attribute
    least_steps_each: float = 1.5
    step_error: float = 0.05  # the distance by noise that a table of `step_cells` may have
    step_cells: int = 64
    passes: int = 40  # measurements are chosen in so many turns
    levels: tuple[int, ...] = (
        8,
        20,
        50,
        2**20,
    )  # groups of values, at most, that pairs are offered in
    triple_levels: tuple[int, ...] = (8, 20)
    least_noises: float = 4.0  # a group holds at least so many noise deviations
    most_cells: int = 2**17  # of a table
    most_triples: int = 2048
    most_options: int = 1024  # of one choice
    most_coefficients: int = 2**22  # of a block
    most_numbers: int = 2**25  # coefficients and counts of all options of one choice
    sweeps: int = 3  # of the rows after each turn
    last_sweeps: int = 20
    least_rows: int = 2**12
    most_rows: int = 2**17
    patience: float = 2.0  # by how much the loss of a step grows when they no longer teach

    def __post_init__(self) -> None:
        shares = (self.singles_share, self.most_singles_share, self.selection_share)
        if not all(0.0 < share < 1.0 for share in shares):
            raise PrivacyError("shares of a budget must lie strictly between 0 and 1")

    def most_steps(self, attributes: int) -> int:
        """The most measurements to begin with."""
        return max(1, round(self.most_steps_each * attributes))

    def fitted_rows(self, total: float) -> int:
        """How many rows are fitted to what is measured of a table with so many records."""
        return int(min(max(total, self.least_rows), self.most_rows))

    def steps(self, attributes: int, total: float, deviation_of_all: float) -> int:
        """How many measurements the rest of the budget is divided into, to begin with.

        `deviation_of_all` is that of the noise if all went to one. So many that the noise of each
        stays below what it is worth measuring for: more steps, each with more noise.
        """
        allowed = self.step_error * 2.0 * total / (self.step_cells * math.sqrt(2.0 / math.pi))
        wanted = (allowed / max(deviation_of_all, 1e-300)) ** 2
        least = max(1, round(self.least_steps_each * attributes))
        return int(min(max(wanted, least), self.most_steps(attributes)))

    def singles_again(self, share_error: float) -> float:
        """The share of the loss for the single columns once more, from their error after the first.

        Nothing, or at least half of what they had: the error falls with the root of what is spent.
        """
        needed = self.singles_share * (share_error / self.singles_error) ** 2
        more = min(needed, self.most_singles_share) - self.singles_share
        return more if more >= 0.5 * self.singles_share else 0.0
