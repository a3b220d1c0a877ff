"""Round edges: bins and bounds that follow the data roughly and look like a person chose them."""

from __future__ import annotations

import math
from collections.abc import Iterable

_LARGEST = 1e300  # so that widths and sums of two bounds stay finite


def round_step(width: float) -> float:
    """The smallest of 1, 2, 5, 10, 20, ... (or 0.5, 0.2, ...) that is not below a width."""
    power = 10.0 ** math.floor(math.log10(width))
    return next(
        step for step in (factor * power for factor in (1, 2, 5, 10, 20)) if step >= width * 0.999
    )


def round_bounds(low: int, high: int) -> tuple[int, int]:
    """Whole bounds moved outwards to multiples of about a twentieth of the range."""
    if high - low < 20:
        return low, high
    step = int(round_step((high - low) / 20))
    return low // step * step, -(-high // step) * step


def round_edges(
    low: float, high: float, inner: Iterable[float], *, spike: bool, whole: bool
) -> list[float]:
    """Increasing edges around [low, high], near the given inner cuts.

    Distances from the lower end are rounded to two digits. With `spike`, the lowest value gets a
    bin of its own (whole numbers only).
    """
    low, high = max(low, -_LARGEST), min(high, _LARGEST)
    edges: list[float] = []
    if (high - low) / 100 > 0:
        grain = round_step((high - low) / 100)
        first, last = (tidy(n * grain) for n in (math.floor(low / grain), math.ceil(high / grain)))
        cuts = {tidy(first + _two_digits(cut - first)) for cut in inner}
        if spike and whole:
            cuts.add(low + 1)
        edges = [first, *sorted(cut for cut in cuts if first < cut < last), last]
    if not edges or not edges[0] <= low < high <= edges[-1]:
        # So narrow a range, so far from zero, that no rounding fits: the plain bounds.
        edges = [low, high if high > low else low + max(1.0, abs(low) / 1000)]
    return _whole(edges) if whole else edges


def _two_digits(distance: float) -> float:
    return float(f"{distance:.1e}")


def tidy(number: float) -> float:
    """Without the dust of floating-point products: 0.30000000000000004 becomes 0.3."""
    return float(f"{number:.12g}")


def _whole(edges: list[float]) -> list[float]:
    """Distinct whole edges, as integers where they are exact."""
    distinct = sorted({math.floor(edge) for edge in edges[:-1]} | {math.ceil(edges[-1])})
    return [edge if abs(edge) < 2**53 else float(edge) for edge in distinct]
