"""Noisy scores of rows as samples: many rows with one record's value, scored as PCA does."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from eke.data import Rows
from eke.domain import Domain, Integer
from eke.engine.row_scores import RowScores, exact_scores
from eke.mechanism import reveal_with_noise
from eke.privacy.pure import PURE
from eke.publish.components import MOST_WEIGHT_BITS
from eke.publish.features import FEATURE_BITS, features_of

FARTHEST = 20


class RowSampler:
    """Rows of one attribute with values from 0 to 20, one score each.

    The noise is that which `row_loss` nano-units of ε buy for the farthest two values; values d
    apart lose d/20 of it.
    """

    def __init__(self, row_loss: int) -> None:
        self._domain = Domain(a=Integer(0, FARTHEST))
        features = features_of(self._domain, self._domain.names)
        tables = tuple((f.name, f.table) for f in features.all)
        weights = np.array([[2**MOST_WEIGHT_BITS]], np.int64)
        self._scores = RowScores(tables, weights, -(MOST_WEIGHT_BITS + FEATURE_BITS))
        self.law = self._scores.law_within(row_loss, PURE)

    def scores(self, value: int, count: int) -> NDArray[np.int64]:
        """Noisy scores of rows that all have this value, in steps of the law."""
        rows = Rows(self._domain.names, np.full((count, 1), value))
        return np.array(reveal_with_noise(exact_scores(self._scores, rows), self.law), np.int64)
