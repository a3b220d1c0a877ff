"""Differential PCA (COMP §3.1): noisy components of the table, and each row seen through them.

First and second moments are measured like any question; the eigenvectors of their covariance span
the space that rows are projected on; the projections leave the vault row by row with noise, and
are turned back into labels. The k of "auto" comes from the noisy spectrum and costs nothing.
See docs/proofs/pca.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np

from eke.arrays import FloatArray
from eke.engine import Measuring, RowScoring, ScoreRows
from eke.errors import PrivacyError, QueryError
from eke.history import Measurement
from eke.planning import Facts, Plan
from eke.privacy.record_loss import NANO
from eke.publish.components import Components, noisy_scores, pick_components, weight_bits
from eke.publish.features import features_of
from eke.publish.moments import statistics_for
from eke.publish.published import Published
from eke.publish.publisher import (
    InferenceThrough,
    Setting,
    check_options,
    check_size,
    chosen_attributes,
    number_of_rows,
)
from eke.publish.row_share import share_of_moments
from eke.publish.split import check_split, plan_within
from eke.query import Block

Recovery: TypeAlias = Literal["plain", "shrunk"]
OPTIONS = ("components", "attributes", "split", "recovery")
_NEEDS_REPLACE_ONE = (
    "pca publishes one row for each row of the table, in order, so it needs a dataset whose number "
    "of rows is public: neighbours='replace_one', rows as units, and a domain that drops no row "
    "(null= and outside= other than 'drop' and 'never'); or publish with 'lda'"
)


class Pca:
    """A publication by principal components; also what chooses the scores of its own rows."""

    seconds: ClassVar[float] = 0.0

    def __init__(self, setting: Setting, options: Mapping[str, Any]) -> None:
        check_options(options, OPTIONS, "pca")
        if not setting.publishes_rows or setting.public_rows is None:
            raise PrivacyError(_NEEDS_REPLACE_ONE)
        number_of_rows(None, setting)
        names = chosen_attributes(setting.domain, options.get("attributes"))
        self._rules = setting.rules(names, None)
        features = features_of(setting.domain, names)
        self._components = _check_components(options.get("components", "auto"), features.width)
        self._recovery = _check_recovery(options.get("recovery", "plain"))
        split = check_split(options.get("split", "expected_error"))
        self._setting, self._total = setting, setting.public_rows
        self._measured = statistics_for(features, None, count=False)
        shrunk = self._recovery == "shrunk"
        share = share_of_moments(
            self._measured, self._components or 1, split, setting, shrunk=shrunk
        )
        row_loss = max(1, int((1.0 - share) * setting.budget))
        moments = plan_within(
            self._measured.statistics,
            split,
            setting.budget - row_loss,
            domain=setting.domain,
            measure=setting.measure,
            neighbours=setting.neighbours,
        )
        self.plan: Plan = Plan(moments.parts, row_loss)
        weight_bits(features, self._components, row_loss=row_loss, measure=setting.measure)
        self.measuring: Measuring = RowScoring(self._score)
        self.stores_rows = True
        self._chosen: Components | None = None
        self._values: FloatArray | None = None
        check_size(self.plan, setting.public_rows)

    # -- in the vault --------------------------------------------------------------------------

    def _score(self, score_rows: ScoreRows, measured: Sequence[Measurement]) -> None:
        """Choose the components and release scores. Privacy: sees released values alone."""
        statistics = zip(self._measured.statistics, measured, strict=True)
        known = {id(statistic.query): one.values for statistic, one in statistics}

        def estimate(query: Block) -> FloatArray:
            return np.array(known[id(query)])

        shrunk = self._recovery == "shrunk"
        chosen = pick_components(
            self._measured.features,
            self._measured.moments(estimate, float(self._total)),
            self._components,
            row_loss=self.plan.row_loss,
            measure=self._setting.measure,
            shrunk=shrunk,
        )
        steps, law = score_rows(chosen.row_scores)
        self._values = chosen.recover(noisy_scores(chosen.row_scores, law, steps), shrunk)
        self._chosen = chosen

    def stored(self, facts: Facts, measured: Sequence[Measurement], cost: int) -> str:
        if self._chosen is None or self._values is None:
            raise PrivacyError("the rows of this publication were not released")
        features, chosen = self._measured.features, self._chosen
        receipt = {
            "mechanism": "pca",
            "components": chosen.row_scores.count,
            "measure": self._setting.measure.name,
            "cost": cost / NANO,
            "budget": self._setting.budget / NANO,
            "row_loss": self.plan.row_loss / NANO,
            "measurements": len(measured),
            "row_noise_deviation": float(chosen.law.variance) ** 0.5,
            "spectrum": [float(value) for value in chosen.spectrum],
            "notes": [
                "row i comes from row i of the table, through components and noise",
                f"{chosen.row_scores.count} of {features.width} components were kept",
            ],
        }
        codes = self._rules.kept_by(features.decode(self._values))
        return Published(self._setting.domain, features.names, codes, receipt).to_text()

    # -- afterwards ----------------------------------------------------------------------------

    def finish(self, stored: str, inference_through: InferenceThrough) -> Published:
        return Published.from_text(self._setting.domain, stored)


def _check_components(components: object, width: int) -> int | None:
    if components == "auto":
        return None
    if type(components) is not int:
        raise QueryError("components must be a whole number, or 'auto'")
    if not 1 <= components <= width:
        raise QueryError(
            f"components must be from 1 to {width}, the number of features of these attributes"
        )
    return components


def _check_recovery(recovery: object) -> Recovery:
    if recovery == "plain":
        return "plain"
    if recovery == "shrunk":
        return "shrunk"
    raise QueryError("recovery must be 'plain', as in the paper, or 'shrunk'")
