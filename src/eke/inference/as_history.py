"""What is known from outside in the form of measurements, for models that read lists of these.

Models of a history (`shrinkage`, `max_entropy`) take rows with noise. What others measured has its
own; a fact has that of what is public, by which maximum entropy knows that it must be met exactly,
or for shrinkage, whose equations are solved in floating point, a thousandth of the smallest noise
beside it. What follows from facts alone is not asked of a model at all (`Inference.public`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from eke.history import PUBLIC, Measurement, Outside
from eke.privacy.law import Gaussian

SHARE_OF_NOISE = 1e-3
"""Of the deviation of the smallest noise: how closely shrinkage keeps to facts."""
SHARE_TO_CHOOSE = 1.0
"""The same while its strength is chosen: as if they had been measured as well as anything.

Answers that are known far better than others would make it believe in a prior that explains these.
"""


def outside_measurements(outside: Sequence[Outside]) -> list[Measurement]:
    """Facts and outside tables about records, over columns whose values can be listed."""
    measured = [
        each.measurement() for one in outside for each in one.statements if each.query.attributes
    ]
    return [one for one in measured if not one.query.people and not _reads_wide(one)]


def softened(measurements: Sequence[Measurement], share: float) -> list[Measurement]:
    """The same measurements, facts with a share of the smallest noise, which solvers can tell."""
    noisy = [one.law.variance for one in measurements if one.law != PUBLIC]
    law = Gaussian(share**2 * min(noisy, default=1.0))
    return [replace(one, law=law) if one.law == PUBLIC else one for one in measurements]


def _reads_wide(measurement: Measurement) -> bool:
    block = measurement.query
    return any(
        attribute.is_wide and name in block.read for name, attribute in block.domain.attributes
    )
