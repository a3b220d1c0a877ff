"""The greedy sampler of COMP §3.2: records whose moments follow given ones, one record at a time.

Each record is chosen so that the sums and second moments of all records so far stay next to the
wanted ones, one attribute after the other, dummies before numbers; attributes not yet chosen stand
at the mean of their class. The paper adds up absolute distances. An error of a thousand weighs no
more there than one of one, so errors pile up where single records cannot undo them; squared
distances, the default here, pull hardest where most is missing (herding: Welling 2009).
Post-processing: it sees released statistics only. `_sample` is the whole algorithm.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numba
import numpy as np

from eke.arrays import Codes, FloatArray
from eke.errors import QueryError
from eke.publish.features import Features
from eke.publish.moments import Moments

Distance: TypeAlias = Literal["squared", "absolute"]

_PASSES = 2
"""Attributes are chosen again when all others are known; more passes gained nothing."""


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """Records drawn for given moments: their classes, (rows,), and codes, (rows, features)."""

    classes: Codes
    codes: Codes


def check_distance(distance: object) -> Distance:
    """The distance by that name, or an error that lists them."""
    if distance == "squared":
        return "squared"
    if distance == "absolute":
        return "absolute"
    raise QueryError("distance must be 'squared', or 'absolute' as in the paper")


def sample_greedily(features: Features, moments: Moments, distance: Distance = "squared") -> Sample:
    """As many records of each class as the sizes say, rounded; none for a size below one half.

    Classes are spread evenly over the rows. The same moments give the same records.
    """
    sizes = np.maximum(np.rint(moments.sizes), 0.0).astype(np.int64)
    means = np.clip(moments.sums / np.maximum(moments.sizes, 1.0)[:, np.newaxis], 0.0, 1.0)
    # A numeric feature lists its levels, padded by infinity; a dummy feature lists none.
    numbers = [
        f.levels if f.numeric else (np.zeros(0), np.zeros(0, np.int64)) for f in features.all
    ]
    most = max(len(levels) for levels, _ in numbers)
    levels = np.full((len(numbers), most + 1), np.inf)
    codes_of = np.zeros((len(numbers), most + 1), np.int64)
    for place, (values, codes) in enumerate(numbers):
        levels[place, : len(values)] = values
        codes_of[place, : len(values)] = codes
    dummies_first = sorted(range(len(numbers)), key=lambda i: features.all[i].numeric)
    classes, drawn = _sample(
        sizes,
        means,
        np.ascontiguousarray(moments.products / max(moments.total, 1.0)),
        np.array([[f.columns.start, f.columns.stop] for f in features.all], np.int64),
        levels,
        codes_of,
        np.array(_PASSES * dummies_first if distance == "squared" else dummies_first, np.int64),
        distance == "squared",
    )
    return Sample(classes, drawn)


@numba.njit(cache=True)
def _sample(  # noqa: PLR0917 -- compiled code takes no keywords
    sizes: Codes,  # (classes,)
    means: FloatArray,  # (classes, p)
    products: FloatArray,  # (p, p), of one record
    spans: Codes,  # (features, 2), first column and the one after the last
    levels: FloatArray,  # (features, most levels)
    codes_of: Codes,
    order: Codes,  # in which features are chosen
    squared: bool,
) -> tuple[Codes, Codes]:
    rows, width = sizes.sum(), means.shape[1]
    classes = np.empty(rows, np.int64)
    codes = np.empty((rows, len(spans)), np.int64)
    drawn = np.zeros(len(sizes), np.int64)
    lacking_sums = np.zeros(means.shape)  # wanted so far, less what the records have
    lacking_products = np.zeros((width, width))
    record = np.empty(width)
    for row in range(rows):
        chosen, most = 0, -np.inf
        for label in range(len(sizes)):
            deficit = (row + 1) * sizes[label] / rows - drawn[label]
            if sizes[label] > 0 and deficit > most:
                chosen, most = label, deficit
        classes[row] = chosen
        drawn[chosen] += 1
        lacking_sums[chosen] += means[chosen]
        lacking_products += products
        record[:] = means[chosen]
        wanted = lacking_sums[chosen]
        for place in order:
            start, stop = spans[place]
            if levels[place, 0] == np.inf:
                code = _best_dummy(record, wanted, lacking_products, start, stop, squared)
                record[start:stop] = 0.0
                record[start + code] = 1.0
                codes[row, place] = code
            else:
                choices = levels[place]
                if squared:
                    level = _best_level_squared(record, wanted, lacking_products, start, choices)
                else:
                    level = _best_level_absolute(record, wanted, lacking_products, start, choices)
                record[start] = choices[level]
                codes[row, place] = codes_of[place, level]
        wanted -= record
        for i in range(width):
            if record[i] != 0.0:
                for j in range(width):
                    lacking_products[i, j] -= record[i] * record[j]
    return classes, codes


@numba.njit(cache=True)
def _best_dummy(  # noqa: PLR0917 -- compiled code takes no keywords
    record: FloatArray,
    wanted: FloatArray,
    lacking: FloatArray,
    start: int,
    stop: int,
    squared: bool,
) -> int:
    """The dummy of an attribute that, set to 1, lowers the distance most."""
    best, least = 0, np.inf
    for i in range(start, stop):
        change = _change(1.0, wanted[i], squared) + _change(1.0, lacking[i, i], squared)
        for j in range(len(record)):
            if j < start or j >= stop:
                change += _change(record[j], lacking[i, j], squared)
        if change < least:
            best, least = i - start, change
    return best


@numba.njit(cache=True)
def _change(value: float, lacking: float, squared: bool) -> float:
    """How the distance of one entry changes when a value is added to it."""
    if squared:
        return value * (value - 2.0 * lacking)
    return abs(value - lacking) - abs(lacking)


@numba.njit(cache=True)
def _best_level_squared(
    record: FloatArray, wanted: FloatArray, lacking: FloatArray, at: int, levels: FloatArray
) -> int:
    """The level z of a number with the least squared distance, z⁴ + a z² - 2 b z + constant.

    The derivative is convex for z > 0, so its largest root, if any, is where Newton's steps from
    the right arrive; else the least value is at an end.
    """
    a, b = 1.0 - 2.0 * lacking[at, at], wanted[at]
    for j in range(len(record)):
        if j != at:
            a += record[j] * record[j]
            b += record[j] * lacking[at, j]
    z = 1.0
    for _ in range(60):
        slope, bend = 2.0 * z**3 + a * z - b, 6.0 * z * z + a
        if slope <= 1e-12 or bend <= 0.0:
            break
        z -= slope / bend
        if z <= 0.0:
            z = 0.0
            break
    best, least = 0, np.inf
    for candidate in (z, 0.0, 1.0):
        low = _at_or_below(levels, candidate)
        for level in (low, low + 1):
            value = levels[level]
            if value != np.inf:
                distance = value * (value**3 + a * value - 2.0 * b)
                if distance < least:
                    best, least = level, distance
    return best


@numba.njit(cache=True)
def _best_level_absolute(
    record: FloatArray, wanted: FloatArray, lacking: FloatArray, at: int, levels: FloatArray
) -> int:
    """The level of a number with the least absolute distance, |z - b| + |z² - c| + Σ |a z - b|.

    It is least at a zero point of one of these terms, or at an end (COMP §3.2).
    """
    best, least = 0, np.inf
    for candidate in range(-4, len(record)):
        if candidate == -4:
            zero = 0.0
        elif candidate == -3:
            zero = 1.0
        elif candidate == -2:
            zero = wanted[at]
        elif candidate == -1:
            zero = np.sqrt(max(lacking[at, at], 0.0))
        elif candidate == at or record[candidate] < 1e-9:
            continue
        else:
            zero = lacking[at, candidate] / record[candidate]
        low = _at_or_below(levels, zero)
        for level in (low, low + 1):
            value = levels[level]
            if value != np.inf:
                distance = abs(value - wanted[at]) + abs(value * value - lacking[at, at])
                for j in range(len(record)):
                    if j != at:
                        distance += abs(record[j] * value - lacking[at, j])
                if distance < least:
                    best, least = level, distance
    return best


@numba.njit(cache=True)
def _at_or_below(levels: FloatArray, value: float) -> int:
    """The place of the last level that is not above a value, or the first level.

    The levels increase, infinity comes after them.
    """
    low, high = 0, len(levels) - 1
    while low < high:
        middle = (low + high + 1) // 2
        if levels[middle] <= value:
            low = middle
        else:
            high = middle - 1
    return low
