"""Rows from history as it is: a maximum entropy model of everything released, and draws of it.

Nothing is measured and nothing is spent; the rows are as good as history is.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np

from eke.errors import EstimateError
from eke.history import Measurement
from eke.inference import Inference
from eke.inference.max_entropy import constraints_of_history, fit_max_entropy
from eke.inference.shrinkage import Evidence, prior_from_history
from eke.publish.published import Published
from eke.publish.publisher import Setting, within_most_rows
from eke.publish.row_rules import RowRules
from eke.query import Prior, count

ALPHA = 0.01
"""Of rows; `session.estimate(method="max_entropy")` chooses its own by held-out answers."""
MOST_TERMS = 12_000
"""History of more noisy answers must determine the number of records, or rows must be given."""


class HistoryModel:
    """A publication that reads history only.

    Privacy: free; it is handed released measurements and has no handle on data.
    """

    def __init__(
        self, setting: Setting, names: tuple[str, ...], rows: int | None, rules: RowRules
    ) -> None:
        self._setting, self._names, self._rows, self._rules = setting, names, rows, rules
        self._known: tuple[Measurement, ...] = ()

    def stored(self, history: Sequence[Measurement]) -> str:
        """Which part of history the rows come from."""
        if not history:
            raise EstimateError("there is no history yet; ask a question with a budget first")
        for name, attribute in self._setting.domain.attributes:
            if attribute.is_wide and any(name in known.query.read for known in history):
                raise EstimateError(
                    f"history is about {name!r}, and rows that follow from it would list all its "
                    f"{attribute.size:,} values; publish without from_history=, and leave "
                    f"{name!r} out with attributes=[...]"
                )
        self._known = tuple(history)
        return json.dumps({"through": max(one.sequence for one in history)})

    def published(self, through: int, inference: Inference) -> Published:
        """The rows that history up to an entry of the ledger explains best."""
        setting = self._setting
        known = [one for one in self._known if one.sequence <= through]
        prior = prior_from_history(setting.domain, known)
        total = self._total(known, inference, prior)
        constraints = constraints_of_history(setting.domain, known, total=total, alpha=ALPHA)
        fit = fit_max_entropy(constraints, prior)
        wanted, counted = within_most_rows(total, setting.most_rows)
        if self._rows is not None:
            wanted, counted = self._rows, []
        codes = fit.distribution.sample(wanted, np.random.default_rng())
        notes = [
            "rows follow what was released before; nothing was measured for them",
            f"the model: {fit.convergence}",
            *counted,
        ]
        if constraints.left_out:
            notes.append(f"{len(constraints.left_out)} released answers span too many cells")
        receipt = {
            "mechanism": "max_entropy",
            "measure": setting.measure.name,
            "cost": 0.0,
            "budget": 0.0,
            "measurements": 0,
            "history": len(known),
            "total": total,
            "notes": notes,
        }
        places = [setting.domain.names.index(name) for name in self._names]
        rows = self._rules.kept_by(codes[:, places])
        return Published(setting.domain, self._names, rows, receipt)

    def _total(self, known: Sequence[Measurement], inference: Inference, prior: Prior) -> float:
        """The number of records: public, determined by history, or fitted through the prior."""
        if self._setting.public_rows is not None:
            return max(float(self._setting.public_rows), 1.0)
        everyone = inference.linear(count().on(self._setting.domain))
        if everyone is not None:
            return max(everyone[0], 1.0)
        if sum(len(one.values) for one in known) > MOST_TERMS:
            raise EstimateError(
                "history does not say how many records there are; ask for COUNT(*) once"
            )
        evidence = Evidence.of_history(self._setting.domain, known, prior)
        precision = evidence.means / evidence.noise.variances
        weight = float(precision @ evidence.means)
        return max(float(precision @ evidence.values) / max(weight, 1e-300), 1.0)
