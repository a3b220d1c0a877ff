"""Classifiers: what can be learned from published rows, tried on real ones (COMP §4.4).

scikit-learn is optional; without it there are no scores. Not private, see `utility`.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eke.arrays import Codes
from eke.domain import Domain
from eke.errors import QueryError
from eke.publish.features import features_of

_LEAST_LEAF = 50
_LDA_SHRINKAGE = 1e-4  # dummies add up to one, so the plain covariance has no inverse


@dataclass(frozen=True, slots=True)
class Score:
    """How well a classifier predicts real rows: share of right ones, and area under the ROC."""

    classifier: str
    trained_on: str
    accuracy: float
    auc: float


def score_classifiers(
    domain: Domain,
    names: tuple[str, ...],
    target: str,
    *,
    made: Codes,
    true: Codes,
    test: Codes,
) -> tuple[Score, ...]:
    """Scores of a linear discriminant and a decision tree on the test rows.

    Trained on published rows, and on the real ones for comparison; the commonest class alone comes
    last, as the least that can be achieved.
    """
    if target not in names or len(names) < 2:
        raise QueryError(f"the target must be one of {', '.join(names)}, beside other attributes")
    if find_spec("sklearn") is None:
        return ()
    place = names.index(target)
    features = features_of(domain, [name for name in names if name != target])

    def parts(codes: Codes) -> tuple[NDArray[np.float64], Codes]:
        return features.encode(np.delete(codes, place, axis=1)), codes[:, place]

    numbers, classes = parts(test)
    scores = []
    for trained_on, codes in (("published rows", made), ("real rows", true)):
        own_numbers, own_classes = parts(codes)
        if len(np.unique(own_classes)) < 2:
            continue
        for name, model in classifier_models():
            model.fit(own_numbers, own_classes)
            accuracy = float((model.predict(numbers) == classes).mean())
            auc = area_under_roc(model.predict_proba(numbers), model.classes_, classes)
            scores.append(Score(name, trained_on, accuracy, auc))
    commonest = int(np.bincount(true[:, place]).argmax())
    scores.append(Score("commonest class", "real rows", float((classes == commonest).mean()), 0.5))
    return tuple(scores)


def area_under_roc(chances: NDArray[np.float64], labels: Codes, classes: Codes) -> float:
    """The mean, over classes that occur, of the area of one class against the rest.

    The probability that a row of the class gets a higher chance than another row; ties are half.
    """
    areas = []
    for column, label in enumerate(labels):
        inside = classes == label
        if inside.all() or not inside.any():
            continue
        _, places, counts = np.unique(chances[:, column], return_inverse=True, return_counts=True)
        ranks = (np.cumsum(counts) - 0.5 * (counts - 1))[places]
        many = int(inside.sum())
        wins = ranks[inside].sum() - many * (many + 1) / 2.0
        areas.append(wins / (many * (len(classes) - many)))
    return float(np.mean(areas)) if areas else 0.5


def classifier_models() -> list[tuple[str, Any]]:
    """A linear discriminant and a decision tree, untrained; needs scikit-learn."""
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis  # noqa: PLC0415
    from sklearn.tree import DecisionTreeClassifier  # noqa: PLC0415

    return [
        ("LDA", LinearDiscriminantAnalysis(solver="lsqr", shrinkage=_LDA_SHRINKAGE)),
        ("decision tree", DecisionTreeClassifier(min_samples_leaf=_LEAST_LEAF, random_state=0)),
    ]
