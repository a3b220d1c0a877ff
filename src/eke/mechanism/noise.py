"""Integer noise in grid steps: from OpenDP's exact samplers, for whole tables from `table_noise`.

OpenDP adds its noise to an integer vector and saturates at 64 bits. eke hands it zeros and adds
the noise to exact answers itself, as Python integers of any size, so no answer can saturate. On
integer domains OpenDP has no grid of its own: the scale is taken as the exact rational value of the
double it is given, and up to 2^53 steps that double is the integer.

OpenDP draws one number in 15 to 35 µs (Canonne, Kamath and Steinke 2020), whatever their number.
So 256 and more are drawn together by `table_noise`, of the same law and as exactly.

The bits come from OpenDP's cryptographic generator, seeded by the operating system, or from the
operating system itself. Nothing here takes a seed.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from opendp.domains import atom_domain, vector_domain
from opendp.measurements import make_gaussian, make_laplace
from opendp.metrics import l1_distance, l2_distance
from opendp.mod import Measurement, OpenDPException, enable_features

from eke.errors import PrivacyError
from eke.mechanism.table_noise import MOST_STEPS, OUT_OF_RANGE, draw_gaussian, draw_laplace
from eke.privacy.law import DiscreteGaussian, DiscreteLaplace, DiscreteLaw

enable_features("contrib")

# OpenDP states a loss as a double rounded up: at most one unit in the last place above the truth.
_ROUNDING = Fraction(1, 2**52)
MANY = 256
"""So many draws and more are made together."""

_LIMITS = np.iinfo(np.int64)


def draw(law: DiscreteLaw, count: int) -> NDArray[np.int64]:
    """`count` independent draws of the law's integer K: noise in steps of 2^law.exponent.

    Privacy: this is where all noise of eke comes from. The draws depend on the law and the count
    alone, both public, and so does who draws them; OpenDP prices the law in any case. A draw of
    2^63 steps or more cannot be represented; it has probability below e^-1024 and is an error here,
    not a saturated value.
    """
    if not isinstance(law, (DiscreteLaplace, DiscreteGaussian)):
        raise PrivacyError("only discrete laws are drawn; put the noise on a grid by choose_grid")
    if count < 0:
        raise PrivacyError("the number of draws cannot be negative")
    if count == 0:
        return np.zeros(0, dtype=np.int64)
    measurement = _measurement(law)
    if count >= MANY and law.steps <= MOST_STEPS:
        several = draw_laplace if isinstance(law, DiscreteLaplace) else draw_gaussian
        return several(law.steps, count)
    try:
        noise = np.array(measurement([0] * count), dtype=np.int64)
    except OpenDPException as problem:
        raise PrivacyError("OpenDP could not draw the noise; nothing was released") from problem
    if noise.max() == _LIMITS.max or noise.min() == _LIMITS.min:
        raise PrivacyError(OUT_OF_RANGE)
    return noise


@lru_cache(maxsize=1024)
def _measurement(law: DiscreteLaw) -> Measurement:
    """OpenDP's mechanism for the law, after OpenDP's own privacy map has confirmed our price."""
    answers = vector_domain(atom_domain(T="i64"))
    if isinstance(law, DiscreteLaplace):
        measurement = make_laplace(
            answers, l1_distance(T="i64"), scale=float(law.steps), MO="MaxDivergence"
        )
        price = Fraction(1, law.steps)
    else:
        measurement = make_gaussian(
            answers,
            l2_distance(T="i64"),
            scale=float(law.steps),
            MO="ZeroConcentratedDivergence",
        )
        price = Fraction(1, 2 * law.steps**2)
    stated = Fraction(measurement.map(1))  # type: ignore[no-untyped-call]
    if stated > price * (1 + _ROUNDING):
        raise PrivacyError("OpenDP prices this noise above eke; use the version eke is tested with")
    return measurement
