"""Differential LDA (COMP §3.2): class sizes, class sums and pooled second moments, then rows.

What is measured are ordinary questions, kept in history, so everything asked before sharpens them;
the class sizes, which the paper uses for free, are paid for. The rows come from the greedy sampler
and cost nothing more. See docs/proofs/lda.md.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from eke.arrays import FloatArray
from eke.engine import PARTS_ALONE, Measuring
from eke.errors import EstimateError, QueryError
from eke.history import Measurement
from eke.inference import Inference
from eke.planning import Facts, Plan
from eke.privacy.record_loss import NANO
from eke.publish.features import features_of
from eke.publish.greedy import Distance, check_distance, sample_greedily
from eke.publish.moments import Estimate, Moments, statistics_for
from eke.publish.published import Published
from eke.publish.publisher import (
    InferenceThrough,
    Setting,
    check_options,
    check_size,
    chosen_attributes,
    number_of_rows,
    within_most_rows,
)
from eke.publish.repair import repair
from eke.publish.split import check_split, plan_within
from eke.query import Block

MOST_CLASSES = 64
OPTIONS = ("target", "attributes", "split", "distance", "rows")


class Lda:
    """A publication by linear discriminant analysis."""

    seconds: ClassVar[float] = 0.0

    def __init__(self, setting: Setting, options: Mapping[str, Any]) -> None:
        check_options(options, OPTIONS, "lda")
        domain, target = setting.domain, options.get("target")
        if not isinstance(target, str):
            raise QueryError("name the attribute that holds the class: target='...'")
        if target not in domain:
            raise QueryError(
                f"the target {target!r} is not in the domain, which has {', '.join(domain.names)}"
            )
        if not 2 <= domain[target].size <= MOST_CLASSES:
            raise QueryError(
                f"the target {target!r} has {domain[target].size} declared values; lda needs from "
                f"two to {MOST_CLASSES} classes"
            )
        names = [n for n in chosen_attributes(domain, options.get("attributes")) if n != target]
        self._setting, self._target = setting, target
        self._distance: Distance = check_distance(options.get("distance", "squared"))
        self._measured = statistics_for(features_of(domain, names), target, count=False)
        self._rows = number_of_rows(options.get("rows"), setting)
        published = setting.domain.in_order([*names, target])
        self._rules = setting.rules(published, options.get("rows"))
        self.measuring: Measuring = PARTS_ALONE
        self.stores_rows = False
        self.plan: Plan = plan_within(
            self._measured.statistics,
            check_split(options.get("split", "expected_error")),
            setting.budget // setting.group_factor,
            domain=domain,
            measure=setting.measure,
            neighbours=setting.neighbours,
        )
        check_size(self.plan, setting.public_rows)

    def stored(self, facts: Facts, measured: Sequence[Measurement], cost: int) -> str:
        return json.dumps({"through": measured[0].sequence, "cost_nano": cost})

    def finish(self, stored: str, inference_through: InferenceThrough) -> Published:
        document = json.loads(stored)
        moments = self._measured.moments(estimate_from(inference_through(document["through"])))
        return self.published(moments, document["cost_nano"])

    def published(self, moments: Moments, cost_nano: int) -> Published:
        """The rows that follow some moments, at a cost."""
        features, setting = self._measured.features, self._setting
        if setting.public_rows is not None:
            sizes = _adding_up_to(setting.public_rows, moments.sizes)
            moments = Moments(sizes, moments.sums, moments.products)
        repaired = repair(moments, self._noise_deviation())
        total = repaired.moments.total
        rows, counted = within_most_rows(total, setting.most_rows)
        if self._rows is not None:
            rows, counted = self._rows, []
        shrunk = repaired.moments if total < 1.0 else _scaled(repaired.moments, rows)
        sample = sample_greedily(features, shrunk, self._distance)
        names = setting.domain.in_order([*features.names, self._target])
        columns = dict(zip(features.names, sample.codes.T, strict=True))
        columns[self._target] = sample.classes
        notes = [
            "rows follow released class sizes, class sums and second moments and nothing else",
            f"{repaired.lifted} of {features.width + 1} directions were lifted to the noise level",
            *counted,
        ]
        if repaired.indefinite:
            notes.append("the noisy second moments were indefinite before that")
        if not len(sample.classes):
            notes.append("the noisy class sizes are zero or less: the table is too small for this")
        receipt = {
            "mechanism": "lda",
            "target": self._target,
            "measure": setting.measure.name,
            "cost": cost_nano / NANO,
            "budget": setting.budget / NANO,
            "measurements": len(self.plan.parts),
            "noise_deviation": self._noise_deviation(),
            "class_sizes": [float(size) for size in moments.sizes],
            "notes": notes,
        }
        codes = self._rules.kept_by(np.stack([columns[name] for name in names], axis=1))
        return Published(setting.domain, names, codes, receipt)

    def _noise_deviation(self) -> float:
        """The root mean square noise of the second moments."""
        second = [
            (part.law.variance, statistic.cells)
            for part, statistic in zip(self.plan.parts, self._measured.statistics, strict=True)
            if statistic.column is not None
        ]
        cells = sum(count for _, count in second)
        return (
            math.sqrt(sum(variance * count for variance, count in second) / cells) if cells else 0.0
        )


def _scaled(moments: Moments, rows: int) -> Moments:
    """The moments of so many rows with the same means; class sizes are whole and add up."""
    factor = rows / moments.total
    sizes = _adding_up_to(rows, moments.sizes)
    return Moments(sizes, moments.sums * factor, moments.products * factor)


def _adding_up_to(total: int, sizes: FloatArray) -> FloatArray:
    """Whole, non-negative class sizes with a known sum, in proportion to the noisy ones."""
    positive = np.maximum(sizes, 0.0)
    if positive.sum() <= 0.0:
        positive = np.ones(len(sizes))
    exact = positive * (total / positive.sum())
    whole = np.floor(exact)
    largest_rests = np.argsort(whole - exact, kind="stable")[: total - int(whole.sum())]
    whole[largest_rests] += 1.0
    return np.asarray(whole)


def estimate_from(inference: Inference) -> Estimate:
    """The best linear unbiased estimates from all of history."""

    def estimate(query: Block) -> FloatArray:
        values = []
        for single in query.queries():
            known = inference.estimate(single)
            if known is None:
                raise EstimateError("history does not determine the moments of this publication")
            values.append(known.value)
        return np.array(values)

    return estimate
