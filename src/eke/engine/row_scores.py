"""Row scores: a few weighted sums of each record's features, released row by row with noise.

The score of a record is an integer: whole-number features, which depend on one attribute each,
times whole-number weights. How far one record can move its scores is computed here from these
integers, so the junction need not trust whoever chose the weights. See docs/proofs/pca.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from eke.arrays import IntArray
from eke.data import Rows
from eke.domain import Domain
from eke.engine.draws import text_of
from eke.errors import PrivacyError
from eke.mechanism import Secret
from eke.privacy.concentrated import root_above
from eke.privacy.law import DiscreteLaw
from eke.privacy.measure import Measure
from eke.privacy.measures import measure_of
from eke.privacy.noise_grid import check_exponent
from eke.query.vector import frozen_array, height

MOST_EXACT_SCORES = 12
"""Up to here the L1 sensitivity is exact: 2^11 patterns of signs are tried."""
_LARGEST_WEIGHT = 2**24
_LARGEST_FEATURE = 2**17


@dataclass(frozen=True, slots=True, eq=False)
class RowScores:
    """What to release of each row: `features @ weights` in units of 2^exponent.

    tables: for each attribute its features by code, (codes, columns); weights: (all columns,
    scores), the columns in the order of the tables.
    """

    tables: tuple[tuple[str, IntArray], ...]
    weights: IntArray
    exponent: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", frozen_array(self.weights))
        frozen = tuple((name, frozen_array(table)) for name, table in self.tables)
        object.__setattr__(self, "tables", frozen)
        arrays = (self.weights, *(table for _, table in self.tables))
        if any(array.dtype != np.int64 or array.ndim != 2 for array in arrays):
            raise PrivacyError("features and weights of row scores must be matrices of integers")
        columns = sum(table.shape[1] for _, table in self.tables)
        if self.weights.shape[0] != columns or not self.weights.shape[1] or columns > 2**14:
            raise PrivacyError("row scores need one weight for each feature and score")
        if height(self.weights) > _LARGEST_WEIGHT:
            raise PrivacyError("the weights of row scores must be at most 2^24 in size")
        if any(height(table) > _LARGEST_FEATURE for _, table in self.tables):
            raise PrivacyError("the features of row scores must be at most 2^17 in size")
        check_exponent(self.exponent)

    @property
    def count(self) -> int:
        """The number of scores of each row."""
        return int(self.weights.shape[1])

    def reach(self, measure: Measure) -> int:
        """How far one replaced record can move its scores, in units: L1, or L2 rounded up.

        Privacy: only that record's own row of scores changes, so this bounds the whole release,
        however many rows there are.
        """
        if measure.order == 1:
            return largest_sum_of_changes(self.tables, self.weights)
        if measure.order == 2:
            return root_above(largest_sum_of_squares(self.tables, self.weights))
        raise PrivacyError(f"how far scores of rows move is not known in {measure}")

    def loss_nano(self, law: DiscreteLaw) -> int:
        """The loss of a record whose row is replaced by any other, in nano-units, rounded up."""
        return law.loss_nano(self.reach(measure_of(law)) * Fraction(2) ** self.exponent)

    def law_within(self, row_loss: int, measure: Measure) -> DiscreteLaw:
        """The least noise with which these scores cost at most `row_loss` nano-units."""
        return law_within(self.reach(measure), self.exponent, row_loss, measure)

    def text(self, law: DiscreteLaw) -> str:
        """What tells these scores, under this noise, from all others."""
        return text_of(
            {
                "tables": [[name, table.tolist()] for name, table in self.tables],
                "weights": self.weights.tolist(),
                "exponent": self.exponent,
                "law": law.to_json(),
            }
        )


def law_within(reach: int, exponent: int, row_loss: int, measure: Measure) -> DiscreteLaw:
    """The least noise with which numbers that a record moves by `reach` units cost `row_loss`.

    In fractions: with Laplace scale b the loss is reach/b, with deviation σ it is reach²/2σ².
    """
    if row_loss < 1:
        raise PrivacyError("scores of rows need a loss of at least one nano-unit")
    unit = Fraction(2) ** exponent
    moved = max(reach, 1)
    return measure.law(measure.noise_steps(moved, row_loss) * unit, exponent)


def checked_scores(scores: object, domain: Domain) -> RowScores:
    """The junction's own copy of row scores, of exactly known types, over its own domain.

    Privacy: what they cost and what is released follow from the same numbers, which nobody else
    holds.
    """
    if type(scores) is not RowScores:
        raise PrivacyError("only RowScores can be released row by row, and nothing derived of them")
    names = [name for name, _ in scores.tables]
    if len(set(names)) != len(names) or any(name not in domain for name in names):
        raise PrivacyError("row scores have one table of features for an attribute of the domain")
    tables = tuple((name, table.view()) for name, table in scores.tables)
    copy = RowScores(tables, scores.weights.view(), scores.exponent)
    if any(len(table) != domain[name].size for name, table in copy.tables):
        raise PrivacyError("row scores need features for every value of an attribute")
    return copy


def exact_scores(scores: RowScores, rows: Rows) -> Secret:
    """The exact scores of each row, row after row.

    Privacy: 64-bit sums that cannot overflow: at most 2^14 columns of 2^17 times 2^24, which
    `RowScores` makes sure of in Python integers.
    """
    total = np.zeros((len(rows.codes), scores.count), np.int64)
    for table, weights in _by_attribute(scores.tables, scores.weights):
        name, features = table
        total += (features @ weights)[rows.codes[:, rows.attributes.index(name)]]
    return Secret(total.ravel().tolist(), scores.exponent)


def largest_sum_of_changes(tables: Sequence[tuple[str, IntArray]], weights: IntArray) -> int:
    """The largest Σ |change of a score| when a record is replaced, or a bound above it.

    For signs s the sum is at most Σ over attributes of the range of features · (weights s), and
    for the signs of the changes themselves it is attained; so the largest over all signs is exact.
    """
    scores = weights.shape[1]
    if scores > MOST_EXACT_SCORES:  # Cauchy-Schwarz, as COMP Lemma 2
        return root_above(scores * largest_sum_of_squares(tables, weights))
    patterns = np.arange(2 ** (scores - 1))[:, np.newaxis] >> np.arange(scores)  # the last is +1
    signs = 1 - 2 * (patterns & 1)  # (patterns, scores)
    reach = np.zeros(len(signs), np.int64)
    for (_, features), theirs in _by_attribute(tables, weights):
        signed = theirs @ signs.T  # (columns, patterns)
        if features.shape[1] == 1:
            reach += np.abs(signed[0]) * int(np.ptp(features))
        else:
            reach += np.ptp(features @ signed, axis=0)
    return int(reach.max())


def largest_sum_of_squares(tables: Sequence[tuple[str, IntArray]], weights: IntArray) -> int:
    """A bound on Σ (change of a score)² when a record is replaced.

    The smaller of ‖WᵀW‖ times the largest squared distance of two records, the norm bounded by
    the largest row sum, and of the sum of the squared ranges of single scores.
    """
    distance, ranges = 0, np.zeros(weights.shape[1], np.int64)
    for (_, features), theirs in _by_attribute(tables, weights):
        distinct = np.unique(features, axis=0)
        if features.shape[1] == 1:
            distance += int(np.ptp(distinct)) ** 2
        else:
            gram = distinct @ distinct.T
            lengths = np.diag(gram)
            distance += int((lengths[:, np.newaxis] + lengths - 2 * gram).max())
        ranges += np.ptp(distinct @ theirs, axis=0)
    norm = max(sum(abs(int(entry)) for entry in row) for row in weights.T @ weights)
    return min(norm * distance, sum(int(r) ** 2 for r in ranges))


def _by_attribute(
    tables: Sequence[tuple[str, IntArray]], weights: IntArray
) -> list[tuple[tuple[str, IntArray], IntArray]]:
    pairs, first = [], 0
    for name, features in tables:
        last = first + features.shape[1]
        pairs.append(((name, features), weights[first:last]))
        first = last
    return pairs
