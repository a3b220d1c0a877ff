"""Utility: how near published rows are to the real ones; for the curator only.

Privacy: a `Utility` is computed from the real table without any noise. It is not a release, carries
that warning wherever it is shown, and nothing in eke stores or publishes it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from eke.arrays import Codes
from eke.domain import Attribute, Domain
from eke.errors import DataError, QueryError
from eke.publish import utility_html
from eke.publish.classifiers import Score, score_classifiers
from eke.publish.features import features_of
from eke.publish.published import Published

if TYPE_CHECKING:
    import pandas as pd

WARNING = (
    "computed from the real table without noise: not private, for the curator only; do not publish"
)
MOST_BINS = 20
"""Numbers with more values are compared in this many ranges of equal width."""
_WAYS = {1: "one-way", 2: "two-way", 3: "three-way"}


@dataclass(frozen=True, slots=True)
class Agreement:
    """Published against real distribution of some attributes.

    `error` is Σ |p - p̃|, from 0 to 2 (HIST eq. 42); `divergence` is KL(published ‖ real) in bits,
    half a record being added to every real cell so that it is finite.
    """

    attributes: tuple[str, ...]
    error: float
    divergence: float


@dataclass(frozen=True, slots=True)
class Utility:
    """A comparison of published with real rows. Not private: see `warning`."""

    rows: tuple[int, int]
    agreements: tuple[Agreement, ...]
    entropy: tuple[float, float]
    squared_error: float | None
    scores: tuple[Score, ...]
    warning: str = WARNING

    def error(self, ways: int) -> float:
        """The mean error over all sets of so many attributes."""
        return float(np.mean([a.error for a in self._of(ways)]))

    def divergence(self, ways: int) -> float:
        """The mean divergence over all sets of so many attributes."""
        return float(np.mean([a.divergence for a in self._of(ways)]))

    def _of(self, ways: int) -> list[Agreement]:
        agreements = [a for a in self.agreements if len(a.attributes) == ways]
        if not agreements:
            raise QueryError(f"no {ways} attributes were compared")
        return agreements

    def figures(self) -> dict[str, float]:
        """All figures by name."""
        shown: dict[str, float] = {"rows published": self.rows[0], "rows real": self.rows[1]}
        for ways, name in _WAYS.items():
            if any(len(a.attributes) == ways for a in self.agreements):
                shown[f"{name} error (0 to 2)"] = self.error(ways)
                shown[f"{name} divergence (bits)"] = self.divergence(ways)
        shown["entropy of published rows (bits)"] = self.entropy[0]
        shown["entropy of real rows (bits)"] = self.entropy[1]
        if self.squared_error is not None:
            shown["squared error of a row (F-norm² / rows)"] = self.squared_error
        for score in self.scores:
            shown[f"{score.classifier} trained on {score.trained_on}: accuracy"] = score.accuracy
            shown[f"{score.classifier} trained on {score.trained_on}: AUC"] = score.auc
        return shown

    def to_pandas(self) -> pd.DataFrame:
        import pandas as pd  # noqa: PLC0415 - slow to load

        figures = self.figures()
        frame = pd.DataFrame({"figure": list(figures), "value": list(figures.values())})
        frame.attrs["warning"] = self.warning
        return frame

    def __str__(self) -> str:
        lines = [f"{name:<52} {value:,.4g}" for name, value in self.figures().items()]
        return "\n".join([self.warning, *lines])

    def _repr_html_(self) -> str:
        bars = [(a.attributes[0], a.error) for a in self._of(1)]
        pairs = [
            (" × ".join(a.attributes), a.error) for a in self.agreements if len(a.attributes) == 2
        ]
        worst = sorted(pairs, key=lambda pair: -pair[1])[:12]
        charts = utility_html.bars("one-way errors", bars) + utility_html.bars(
            "largest two-way errors", worst
        )
        return utility_html.page(self.warning, self.figures(), charts)


def compare(
    published: Published,
    real: pd.DataFrame,
    *,
    target: str | None = None,
    held_out: pd.DataFrame | None = None,
) -> Utility:
    """How near the rows are to a real table, and how good classifiers trained on them are.

    Classifiers predict `target` on `held_out`, real rows that the publication has not seen, or on
    the real table when there are none; they need scikit-learn.
    """
    domain, names = published.domain, published.attributes
    true = code_frame(real, domain, names)
    if not len(true) or not len(published):
        raise DataError("there are no rows to compare")
    made = published.codes
    coarse = [_in_ranges(domain[name], place, made, true) for place, name in enumerate(names)]
    agreements = [
        _agreement([names[p] for p in places], [coarse[p] for p in places])
        for ways in _WAYS
        for places in combinations(range(len(names)), ways)
    ]
    aligned = published.receipt["mechanism"] == "pca" and len(true) == len(made)
    scores: tuple[Score, ...] = ()
    if target is not None:
        test = true if held_out is None else code_frame(held_out, domain, names)
        scores = score_classifiers(domain, names, target, made=made, true=true, test=test)
    return Utility(
        (len(made), len(true)),
        tuple(agreements),
        (entropy(made), entropy(true)),
        squared_error(domain, names, made, true) if aligned else None,
        scores,
    )


def code_frame(frame: pd.DataFrame, domain: Domain, names: tuple[str, ...]) -> Codes:
    """The codes of a real table, (rows, attributes), without the rows that the domain drops."""
    import pandas as pd  # noqa: PLC0415 - slow to load

    missing = [name for name in names if name not in frame.columns]
    if missing:
        raise DataError(f"the table has no column {', '.join(map(repr, missing))}")
    columns = []
    for name in names:
        places, values = pd.factorize(frame[name], use_na_sentinel=False)
        known = [domain[name].code(value) for value in values]
        columns.append(np.array([-1 if code is None else code for code in known], np.int64)[places])
    codes = np.stack(columns, axis=1) if len(frame) else np.zeros((0, len(names)), np.int64)
    return np.asarray(codes[(codes >= 0).all(axis=1)])


def entropy(codes: Codes) -> float:
    """The entropy of the distribution of whole records, in bits."""
    counts = np.unique(codes, axis=0, return_counts=True)[1]
    shares = counts / counts.sum()
    return float(-(shares * np.log2(shares)).sum())


def squared_error(domain: Domain, names: tuple[str, ...], made: Codes, true: Codes) -> float:
    """‖X - X̂‖² / rows over the features of COMP, for rows that belong together."""
    features = features_of(domain, names)
    return float(((features.encode(made) - features.encode(true)) ** 2).sum() / len(true))


def divergence(made: NDArray[Any], true: NDArray[Any]) -> float:
    """KL(made ‖ true) of two histograms in bits, with half a record more in every true cell."""
    p = made / made.sum()
    q = (true + 0.5) / (true.sum() + 0.5 * len(true))
    some = p > 0
    return float((p[some] * np.log2(p[some] / q[some])).sum())


@dataclass(frozen=True, slots=True, eq=False)
class _Compared:
    """One attribute of published and real rows, its codes below `size`."""

    made: Codes
    true: Codes
    size: int


def _in_ranges(attribute: Attribute, place: int, made: Codes, true: Codes) -> _Compared:
    """A long numeric attribute cut into a few ranges, the bucket by itself; others as they are."""
    declared = attribute.size - attribute.has_bucket
    if declared <= MOST_BINS or not attribute.is_ordered:
        return _Compared(made[:, place], true[:, place], attribute.size)

    def cut(codes: Codes) -> Codes:
        return np.where(codes < declared, codes * MOST_BINS // declared, MOST_BINS)

    return _Compared(cut(made[:, place]), cut(true[:, place]), MOST_BINS + attribute.has_bucket)


def _agreement(names: Sequence[str], columns: Sequence[_Compared]) -> Agreement:
    shape = tuple(column.size for column in columns)
    made = np.ravel_multi_index(tuple(column.made for column in columns), shape)
    true = np.ravel_multi_index(tuple(column.true for column in columns), shape)
    counts = [np.bincount(cells, minlength=math.prod(shape)) for cells in (made, true)]
    error = np.abs(counts[0] / len(made) - counts[1] / len(true)).sum()
    return Agreement(tuple(names), float(error), divergence(counts[0], counts[1]))
