"""Synthetic rows from a maximum entropy model (HIST §4), paid for or from history as it is.

With a budget: every attribute is measured by itself, then pairs are selected privately, round by
round, and measured (`max_entropy.py`); the junction charges all of it first. With
`from_history=True` the model explains what was released before, and nothing is spent. See
docs/proofs/selection.md.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from eke.arrays import FloatArray
from eke.domain import Domain
from eke.engine import PARTS_ALONE, ChoiceOption, Desk, Measuring, Selecting, Selection
from eke.engine.adaptive import LARGEST_NUMBER as LARGEST
from eke.errors import PrivacyError, QueryError
from eke.history import Measurement
from eke.planning import Facts, Part, Plan, part_for
from eke.privacy.accountant import Accountant
from eke.privacy.law import DiscreteGaussian, DiscreteLaplace, Gaussian, Laplace, choose_grid
from eke.privacy.record_loss import NANO
from eke.publish.coarse import CoarseMarginal
from eke.publish.from_history import HistoryModel
from eke.publish.max_entropy import Curator, Recipe, Synthesis, synthesise
from eke.publish.patience import max_entropy_seconds
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
from eke.publish.selection import (
    Candidate,
    measuring_law,
    selection_epsilon,
    split_of_singles,
)
from eke.query import Kronecker, marginal

OPTIONS = ("rows", "attributes", "from_history", "patient")
MOST_PAIR_CELLS = 2**22
"""Pairs over more cells are not counted; bin one of the attributes."""
_SCORE_EXPONENT = -8
_TOO_SMALL = "this budget is too small to measure anything with; give more of it"


class MaxEntropy:
    """A publication by maximum entropy; also what decides its own adaptive steps."""

    def __init__(self, setting: Setting, options: Mapping[str, Any]) -> None:
        check_options(options, OPTIONS, "max_entropy")
        self._setting = setting
        self._names = chosen_attributes(setting.domain, options.get("attributes"))
        self._rows = number_of_rows(options.get("rows"), setting)
        self._synthesis: Synthesis | None = None
        self._unspent = 0
        self.seconds = 0.0
        if not isinstance(options.get("patient", False), bool):
            raise QueryError("patient is True or False")
        self.measuring: Measuring = PARTS_ALONE
        self.stores_rows = False
        self.plan: Plan | None = None
        self._history: HistoryModel | None = None
        if _check_from_history(options.get("from_history", False)):
            self._history = HistoryModel(setting, self._names, self._rows)
            return
        if len(self._names) < 2:
            raise QueryError("max_entropy publishes at least two attributes; ask for a marginal")
        pairs = tuple(combinations(self._names, 2))
        for pair in pairs:
            if np.prod([float(size) for size in setting.domain.sizes(pair)]) > MOST_PAIR_CELLS:
                raise QueryError(
                    f"{pair[0]!r} and {pair[1]!r} have too many values together; declare one of "
                    "them in wider bins, or leave one out with attributes=[...]"
                )
        self._recipe = Recipe()
        self._rounds = self._recipe.rounds(len(self._names))
        self.seconds = max_entropy_seconds(len(self._names))
        self.plan = self._planned()
        self.measuring = Selecting(self._select, pairs)
        self.stores_rows = True
        check_size(self.plan, setting.public_rows)

    def _planned(self) -> Plan:
        setting = self._setting
        once = 1 if setting.neighbours == "add_remove" else 2
        loss = self._recipe.singles_share * setting.budget / NANO / (once * setting.group_factor)
        sizes = setting.domain.sizes(self._names)
        parts = []
        for name, portion in zip(
            self._names, split_of_singles(sizes, loss, setting.measure), strict=True
        ):
            law = measuring_law(portion, setting.measure)
            scale = law.laplace_scale or law.variance**0.5
            parts.append(part_for(marginal(name).on(setting.domain), scale, setting.measure))
        accountant = Accountant(
            setting.domain, setting.measure, setting.neighbours, setting.rows_per_unit
        )
        later = setting.budget - sum(accountant.price(part.query, part.law) for part in parts)
        plan = Plan(tuple(parts), later_loss=max(later, 0))
        if self._usable(plan) <= 0.0 or self._rehearsed(plan, accountant) > plan.later_loss:
            raise PrivacyError(_TOO_SMALL)
        return plan

    def _rehearsed(self, plan: Plan, accountant: Accountant) -> int:
        """What all rounds will cost, as the desk will count it; raises if noise is too wide.

        Privacy: a step that costs more than what is left would fail after the charge, so that is
        found out here. Every pair costs what this one costs: a record is in one of its cells.
        """
        recipe, measure = self._recipe, self._setting.measure
        loss = recipe.round_loss(self._loss(plan), len(self._names))
        halves = tuple(
            np.minimum(np.arange(size), 1) for size in self._setting.domain.sizes(self._names[:2])
        )
        pair = CoarseMarginal(self._setting.domain, self._names[:2], halves).block()
        try:
            measuring = _drawn(recipe.measuring_law(loss, measure))
            choosing = _choosing(selection_epsilon(recipe.selection_share * loss, measure))
        except PrivacyError:
            raise PrivacyError(_TOO_SMALL) from None
        chosen = accountant.price_of_choice(pair.largest_reach(1), choosing)
        return self._rounds * (accountant.price(pair, measuring) + chosen)

    @property
    def _moved(self) -> int:
        """How many times the loss of a record that is added a neighbour may lose."""
        return self._setting.measure.raised(1 if self._setting.neighbours == "add_remove" else 2)

    def _usable(self, plan: Plan) -> float:
        """What rounds may use, in whole units.

        The losses of a choice and of a measurement are rounded up to whole nano-units first, and
        multiplied afterwards.
        """
        slack = self._rounds * (self._moved + 1) * self._setting.group_factor
        return (plan.later_loss * (1.0 - 1e-9) - slack) / NANO

    def _loss(self, plan: Plan) -> float:
        """The loss of singles and rounds together, of a record that is added."""
        factor = self._moved * self._setting.group_factor
        return self._usable(plan) / factor / (1.0 - self._recipe.singles_share)

    # -- in the vault --------------------------------------------------------------------------

    def _select(self, desk: Desk, measured: Sequence[Measurement]) -> None:
        """Select, measure and fit. Privacy: sees released values and the desk alone."""
        if self.plan is None:
            raise PrivacyError("a publication from history measures nothing")
        setting = self._setting
        clerk = _Clerk(setting.domain, desk, dict(zip(self._names, measured, strict=True)))
        self._synthesis = synthesise(
            Domain({name: setting.domain[name] for name in self._names}),
            clerk,
            self._loss(self.plan),
            setting.measure,
            rows=self._rows,
            most_rows=setting.most_rows,
            recipe=self._recipe,
        )
        self._unspent = desk.left

    def stored(self, facts: Facts, measured: Sequence[Measurement], cost: int) -> str:
        if self._history is not None:
            return self._history.stored(measured)
        made = self._synthesis
        if made is None:
            raise PrivacyError("nothing was measured for this publication")
        notes = [
            "rows follow released marginals of single attributes and of selected pairs",
            f"the model: {made.fit.convergence}",
        ]
        if self._rows is None:
            notes += within_most_rows(made.total, self._setting.most_rows)[1]
        receipt = {
            "mechanism": "max_entropy",
            "measure": self._setting.measure.name,
            "cost": cost / NANO,
            "budget": self._setting.budget / NANO,
            "measurements": len(measured),
            "unspent": self._unspent / NANO,
            "pairs": [list(pair) for pair in made.pairs],
            "groups": {name: int(labels.max()) + 1 for name, labels in made.groups.items()},
            "total": made.total,
            "notes": notes,
        }
        return Published(self._setting.domain, self._names, made.codes, receipt).to_text()

    # -- afterwards ----------------------------------------------------------------------------

    def finish(self, stored: str, inference_through: InferenceThrough) -> Published:
        if self._history is None:
            return Published.from_text(self._setting.domain, stored)
        through = int(json.loads(stored)["through"])
        return self._history.published(through, inference_through(through))


class _Clerk(Curator):
    """The desk as a synthesis sees it: coarse marginals in, noisy counts out."""

    def __init__(self, domain: Domain, desk: Desk, singles: Mapping[str, Measurement]) -> None:
        self._domain, self._desk, self._singles = domain, desk, singles

    def measure(
        self, block: CoarseMarginal, law: Laplace | Gaussian
    ) -> tuple[FloatArray, DiscreteLaplace | DiscreteGaussian]:
        if len(block.attributes) == 1:  # in the plan, and measured with it
            measurement = self._singles[block.attributes[0]]
        else:
            measurement = self._desk.measure(Part(self._on_domain(block), _drawn(law)))
        if not isinstance(measurement.law, (DiscreteLaplace, DiscreteGaussian)):
            raise PrivacyError("only discrete noise is ever drawn")
        return np.array(measurement.values), measurement.law

    def choose(self, candidates: Sequence[Candidate], epsilon: float) -> int:
        per_record = 2.0**-_SCORE_EXPONENT
        # With hardly any budget numbers can be beyond all records; there they are cut off.
        options = tuple(
            ChoiceOption(
                self._on_domain(candidate.marginal),
                np.rint(np.minimum(candidate.expected * per_record, LARGEST)).astype(np.int64),
                round(min(candidate.noise_distance * per_record, LARGEST)),
            )
            for candidate in candidates
        )
        law = _choosing(epsilon)
        return self._desk.choose(Selection(options, _SCORE_EXPONENT, law))

    def _on_domain(self, block: CoarseMarginal) -> Kronecker:
        return CoarseMarginal(self._domain, block.attributes, block.groups).block()


def _drawn(law: Laplace | Gaussian) -> DiscreteLaplace | DiscreteGaussian:
    """The law on a grid, with at least as much noise."""
    if isinstance(law, Laplace):
        return choose_grid(DiscreteLaplace, law.laplace_scale, 0)
    return choose_grid(DiscreteGaussian, law.variance**0.5, 0)


def _choosing(epsilon: float) -> DiscreteLaplace:
    """The noise of a choice with this ε."""
    return choose_grid(DiscreteLaplace, 2.0 / epsilon, _SCORE_EXPONENT)


def _check_from_history(chosen: object) -> bool:
    if not isinstance(chosen, bool):
        raise QueryError("from_history must be True or False")
    return chosen
