"""Synthetic rows that follow marginals, paid for or from history as it is.

With a budget: every attribute is measured by itself, then marginals of two and three attributes
are selected privately, turn by turn, and measured (`synthesis.py`); the junction charges all of it
first. With `from_history=True` a maximum entropy model (HIST §4) explains what was released before,
and nothing is spent. See docs/proofs/selection.md.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
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
from eke.publish.candidates import attribute_sets
from eke.publish.coarse import CoarseMarginal
from eke.publish.from_history import HistoryModel
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
from eke.publish.purpose import FULL_WEIGHT, Purpose
from eke.publish.recipe import Recipe
from eke.publish.selection import (
    Candidate,
    measuring_law,
    selection_epsilon,
    split_of_singles,
)
from eke.publish.synthesis import LEAST_STEP, Curator, Synthesis, rehearse, synthesise
from eke.query import Kronecker, marginal

OPTIONS = ("rows", "attributes", "from_history", "patient", "target", "workload")
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
        self._rules = setting.rules(self._names, options.get("rows"))
        self._synthesis: Synthesis | None = None
        self._unspent = 0
        self.seconds = 0.0
        if not isinstance(options.get("patient", False), bool):
            raise QueryError("patient is True or False")
        self.measuring: Measuring = PARTS_ALONE
        self.stores_rows = False
        self.plan: Plan | None = None
        self._history: HistoryModel | None = None
        target, workload = options.get("target"), options.get("workload")
        self._purpose = Purpose.of(setting.domain, self._names, target, workload)
        if _check_from_history(options.get("from_history", False)):
            if target is not None or workload is not None:
                raise QueryError(
                    "target= and workload= say what to measure, and from_history=True measures "
                    "nothing; leave them out"
                )
            self._history = HistoryModel(setting, self._names, self._rows, self._rules)
            return
        if len(self._names) < 2:
            raise QueryError("max_entropy publishes at least two attributes; ask for a marginal")
        for pair in combinations(self._names, 2):
            if np.prod([float(size) for size in setting.domain.sizes(pair)]) > MOST_PAIR_CELLS:
                raise QueryError(
                    f"{pair[0]!r} and {pair[1]!r} have too many values together; declare one of "
                    "them in wider bins, or leave one out with attributes=[...]"
                )
        self._recipe = Recipe()
        ordered = sum(setting.domain[name].is_ordered for name in self._names)
        self.seconds = max_entropy_seconds(len(self._names), setting.public_rows, ordered)
        self.plan = self._planned()
        self.measuring = Selecting(self._select, self._attribute_sets())
        self.stores_rows = True
        check_size(self.plan, setting.public_rows)

    def _attribute_sets(self) -> tuple[tuple[str, ...], ...]:
        """What may come to be counted; triples of many values only as far as they can be."""
        sets = attribute_sets(self._names, self._recipe)
        sizes = [math.prod(self._setting.domain.sizes(names)) for names in sets]
        within = (size <= MOST_PAIR_CELLS for size in sizes)
        self._sets = tuple(names for names, small in zip(sets, within, strict=True) if small)
        return (*((name,) for name in self._names), *self._sets)

    def _planned(self) -> Plan:
        setting = self._setting
        loss = self._recipe.singles_share * setting.budget / NANO / self._factor
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
        self._rehearse(plan.later_loss, accountant)
        rehearse()
        return plan

    def _rehearse(self, allowance: int, accountant: Accountant) -> None:
        """Raise if the least step that may come could not be paid for, or its noise not be drawn.

        Privacy: a step that failed would do so after the charge, so that is found out here. A table
        over groups costs what this one costs: a record is in one of its cells.
        """
        recipe, measure = self._recipe, self._setting.measure
        left = self._loss_of(allowance)
        loss = LEAST_STEP * left / recipe.most_steps(len(self._names))
        again = 0.5 * recipe.singles_share * left  # see `Recipe.singles_again`
        singles = split_of_singles(self._setting.domain.sizes(self._names), again, measure)
        halves = tuple(
            np.minimum(np.arange(size), 1) for size in self._setting.domain.sizes(self._names[:2])
        )
        pair = CoarseMarginal(self._setting.domain, self._names[:2], halves).block()
        try:
            measuring = _drawn(measuring_law((1.0 - recipe.selection_share) * loss, measure))
            most = FULL_WEIGHT if self._purpose.pairs else 1
            choosing = _choosing(selection_epsilon(recipe.selection_share * loss, measure), most)
            _drawn(measuring_law(min(singles), measure))
        except PrivacyError:
            raise PrivacyError(_TOO_SMALL) from None
        chosen = accountant.price_of_choice(most * pair.largest_reach(1), choosing)
        if accountant.price(pair, measuring) + chosen > allowance:
            raise PrivacyError(_TOO_SMALL)

    @property
    def _factor(self) -> int:
        """How many times the loss of a record that is added a unit may lose."""
        moved = self._setting.measure.raised(1 if self._setting.neighbours == "add_remove" else 2)
        return moved * self._setting.group_factor

    def _loss_of(self, left: int) -> float:
        """What is left in nano-units, as the loss of a record that is added.

        Less than that by what the steps of a turn may be rounded up by: losses are rounded up to
        whole nano-units first, and multiplied afterwards.
        """
        # The last turn may measure and choose twice as often as the others.
        steps = 2 * len(self._names) + 4 * (
            self._recipe.most_steps(len(self._names)) // self._recipe.passes + 1
        )
        slack = steps * (self._factor + self._setting.group_factor)
        return max(left * (1.0 - 1e-9) - slack, 0.0) / NANO / self._factor

    # -- in the vault --------------------------------------------------------------------------

    def _select(self, desk: Desk, measured: Sequence[Measurement]) -> None:
        """Select, measure and fit. Privacy: sees released values and the desk alone."""
        if self.plan is None:
            raise PrivacyError("a publication from history measures nothing")
        setting = self._setting
        clerk = _Clerk(setting.domain, desk, self._loss_of)
        self._synthesis = synthesise(
            Domain({name: setting.domain[name] for name in self._names}),
            clerk,
            [(np.array(one.values), one.law) for one in measured],
            setting.measure,
            rows=self._rows,
            most_rows=setting.most_rows,
            recipe=self._recipe,
            sets=self._sets,
            rules=self._rules,
            purpose=self._purpose,
        )
        self._unspent = desk.left

    def stored(self, facts: Facts, measured: Sequence[Measurement], cost: int) -> str:
        if self._history is not None:
            return self._history.stored(measured)
        made = self._synthesis
        if made is None:
            raise PrivacyError("nothing was measured for this publication")
        apart = f"{made.distance:.2g} deviations of their noise"
        notes = [
            "rows follow released counts of single attributes and of selected pairs and triples",
            f"they differ from these counts by {apart} (root mean square)",
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
            "pairs": made.chosen(2),
            "triples": made.chosen(3),
            "total": made.total,
            "accuracy": made.accuracy.to_document(),
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

    def __init__(self, domain: Domain, desk: Desk, loss_of: Callable[[int], float]) -> None:
        self._domain, self._desk, self._loss_of = domain, desk, loss_of
        self._blocks: dict[CoarseMarginal, Kronecker] = {}  # turn by turn the same are offered

    @property
    def left(self) -> float:
        return self._loss_of(self._desk.left)

    def measure(
        self, block: CoarseMarginal, law: Laplace | Gaussian
    ) -> tuple[FloatArray, DiscreteLaplace | DiscreteGaussian]:
        measurement = self._desk.measure(Part(self._on_domain(block), _drawn(law)))
        if not isinstance(measurement.law, (DiscreteLaplace, DiscreteGaussian)):
            raise PrivacyError("only discrete noise is ever drawn")
        return np.array(measurement.values), measurement.law

    def choose(self, candidates: Sequence[Candidate], epsilon: float, picks: int) -> list[int]:
        per_record = 2.0**-_SCORE_EXPONENT
        offered = [candidate.marginal for candidate in candidates]
        self._blocks = {block: self._on_domain(block) for block in offered}  # others are let go of
        # Weights as small as they can be: without a purpose, all are one.
        common = math.gcd(*(candidate.weight for candidate in candidates))
        # With hardly any budget numbers can be beyond all records; there they are cut off.
        options = tuple(
            ChoiceOption(
                self._on_domain(candidate.marginal),
                np.rint(np.minimum(candidate.expected * per_record, LARGEST)).astype(np.int64),
                round(min(candidate.noise_distance * per_record, LARGEST)),
                candidate.weight // common,
            )
            for candidate in candidates
        )
        law = _choosing(epsilon, max(option.weight for option in options))
        return self._desk.choose(Selection(options, _SCORE_EXPONENT, law, picks))

    def _on_domain(self, block: CoarseMarginal) -> Kronecker:
        if block not in self._blocks:
            whole = CoarseMarginal(self._domain, block.attributes, block.groups)
            self._blocks[block] = whole.block()
        return self._blocks[block]


def _drawn(law: Laplace | Gaussian) -> DiscreteLaplace | DiscreteGaussian:
    """The law on a grid, with at least as much noise."""
    if isinstance(law, Laplace):
        return choose_grid(DiscreteLaplace, law.laplace_scale, 0)
    return choose_grid(DiscreteGaussian, law.variance**0.5, 0)


def _choosing(epsilon: float, most_weight: int) -> DiscreteLaplace:
    """The noise of a choice with this ε, whose scores count up to so many times."""
    return choose_grid(DiscreteLaplace, 2.0 * most_weight / epsilon, _SCORE_EXPONENT)


def _check_from_history(chosen: object) -> bool:
    if not isinstance(chosen, bool):
        raise QueryError("from_history must be True or False")
    return chosen
