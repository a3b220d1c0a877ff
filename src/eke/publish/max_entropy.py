"""A synthetic table from a maximum entropy model over privately selected marginals.

Measure every attribute by itself; group its values no finer than the noise allows (`coarse.py`);
then, round by round, let the private selection name the pair that the model explains worst,
measure it, and fit again. The model's records, each group opened up by its attribute's own
marginal, are the synthetic table. Data is touched by the `Curator` alone, which is handed in: it
pays for and records everything it does.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Protocol

import numpy as np

from eke.arrays import Codes, FloatArray
from eke.domain import Domain, Integer
from eke.errors import PrivacyError
from eke.inference.features import HistoryFeatures
from eke.inference.max_entropy import (
    Constraints,
    Fit,
    constraints_of,
    fit_max_entropy,
    junction_tree,
)
from eke.inference.max_entropy.model import systematic_draws
from eke.inference.shrinkage import onto_simplex
from eke.privacy.law import Gaussian, Laplace, NoiseLaw
from eke.privacy.measure import Measure
from eke.publish.coarse import CoarseMarginal, Labels, groups_of_values
from eke.publish.publisher import MOST_ROWS, within_most_rows
from eke.publish.selection import (
    Candidate,
    mean_distance,
    measuring_law,
    selection_epsilon,
    split_of_singles,
)
from eke.query import Block, marginal

if TYPE_CHECKING:
    import pandas as pd

_MOST_RECORDS = 2.0**40  # with hardly any budget, noise is beyond any table


class Curator(Protocol):
    """Who may touch the data: the engine's junction, or a simulation in an evaluation."""

    def measure(
        self, block: CoarseMarginal, law: Laplace | Gaussian
    ) -> tuple[FloatArray, NoiseLaw]:
        """(noisy counts, the law of the noise really drawn); paid for and recorded."""
        ...

    def choose(self, candidates: Sequence[Candidate], epsilon: float) -> int:
        """The index drawn by the exponential mechanism over `selection.scores`; paid likewise."""
        ...


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a budget becomes a synthetic table. The defaults were chosen on public tables."""

    singles_share: float = 0.4  # of the loss, for the one-dimensional marginals
    selection_share: float = 0.1  # of each round's loss, for choosing
    rounds_each: float = 2.2  # rounds for each attribute
    most_groups: int = 20
    least_noises: float = 8.0  # a group holds at least so many noise deviations
    alpha_noises: float = 15.0  # weights of the model stay below about this
    most_cells: int = 2**16  # of the junction tree
    round_steps: int = 40  # of the fit between two rounds; the last fit takes as many as it needs
    most_repeats: int = 2  # of one pair

    def __post_init__(self) -> None:
        if not (0.0 < self.singles_share < 1.0 and 0.0 < self.selection_share < 1.0):
            raise PrivacyError("shares of a budget must lie strictly between 0 and 1")

    def round_loss(self, loss: float, attributes: int) -> float:
        """What one round may lose, of the loss of the whole."""
        rounds = self.rounds(attributes)
        return (1.0 - self.singles_share) * loss / rounds if rounds else 0.0

    def measuring_law(self, round_loss: float, measure: Measure) -> Laplace | Gaussian:
        """The noise with which a round measures what it has chosen."""
        return measuring_law((1.0 - self.selection_share) * round_loss, measure)

    def rounds(self, attributes: int) -> int:
        """How many pairs are measured: no more than there are, each so often at most."""
        if attributes < 2:
            return 0
        wanted = max(1, round(self.rounds_each * attributes))
        return min(wanted, self.most_repeats * math.comb(attributes, 2))


@dataclass(frozen=True, slots=True, eq=False)
class Synthesis:
    """A synthetic table as codes, and what it was made from."""

    domain: Domain
    codes: Codes  # (rows, attributes)
    total: float  # the estimated number of records
    groups: dict[str, Labels]
    pairs: tuple[tuple[str, str], ...]  # in the order they were chosen
    fit: Fit

    def table(self) -> pd.DataFrame:
        """The rows in the table's own schema."""
        return decoded(self.domain, self.codes)


def synthesise(
    domain: Domain,
    curator: Curator,
    loss: float,
    measure: Measure,
    *,
    rows: int | None = None,
    most_rows: int = MOST_ROWS,
    recipe: Recipe | None = None,
    generator: np.random.Generator | None = None,
) -> Synthesis:
    """A synthetic table for this loss; as many rows as the table is estimated to have, or fewer.

    Privacy: the losses handed to the curator add up to `loss`: the one-dimensional marginals take
    `singles_share` of it, and each round the same part of the rest, for choosing and measuring.
    `generator` draws records from the finished model and is no part of any guarantee.
    """
    plan = Recipe() if recipe is None else recipe
    source = np.random.default_rng() if generator is None else generator
    work = _Workshop(domain, curator, plan, measure)
    rounds = plan.rounds(len(domain))
    for_singles = plan.singles_share * loss if rounds else loss
    work.measure_singles(for_singles)
    per_round = plan.round_loss(loss, len(domain))
    work.group_values(per_round)
    for _ in range(rounds):
        work.add_pair(per_round)
    fit = work.fitted()
    wanted = within_most_rows(work.total, most_rows)[0] if rows is None else rows
    coarse = fit.distribution.sample(wanted, source)
    codes = work.opened(coarse, source)
    return Synthesis(domain, codes, work.total, work.groups, tuple(work.pairs), fit)


def decoded(domain: Domain, codes: Codes) -> pd.DataFrame:
    """Rows of codes as a table of the domain's labels."""
    import pandas as pd  # noqa: PLC0415 - slow to load

    return pd.DataFrame(
        {
            name: np.array(attribute.labels, dtype=object)[codes[:, column]]
            for column, (name, attribute) in enumerate(domain.attributes)
        }
    )


class _Workshop:
    """The state of a synthesis: what was measured so far, and the model of it."""

    def __init__(self, domain: Domain, curator: Curator, recipe: Recipe, measure: Measure) -> None:
        self.domain, self.curator, self.recipe, self.measure = domain, curator, recipe, measure
        self.total = 1.0
        self.groups: dict[str, Labels] = {}
        self.pairs: list[tuple[str, str]] = []
        self._singles: dict[str, tuple[FloatArray, NoiseLaw]] = {}
        self._shares: dict[str, FloatArray] = {}
        self._coarse = domain
        self._blocks: list[Block] = []
        self._values: list[FloatArray] = []
        self._laws: list[NoiseLaw] = []
        self._fit: Fit | None = None

    def measure_singles(self, loss: float) -> None:
        """Every attribute by itself, and the number of records from all of them."""
        losses = split_of_singles(self.domain.shape, loss, self.measure)
        for name, part in zip(self.domain.names, losses, strict=True):
            every = np.arange(self.domain[name].size, dtype=np.int64)
            block = CoarseMarginal(self.domain, (name,), (every,))
            self._singles[name] = self.curator.measure(block, measuring_law(part, self.measure))
        precisions = {n: 1.0 / (len(v) * law.variance) for n, (v, law) in self._singles.items()}
        weighted = sum(precisions[n] * float(v.sum()) for n, (v, _) in self._singles.items())
        self.total = min(max(weighted / sum(precisions.values()), 1.0), _MOST_RECORDS)
        for name, (values, _) in self._singles.items():
            self._shares[name] = onto_simplex(values, self.total)

    def group_values(self, round_loss: float) -> None:
        """Groups of values, and the one-dimensional marginals as constraints over them."""
        least = 0.0
        if round_loss > 0.0:
            deviation = self._law(round_loss).variance ** 0.5
            least = self.recipe.least_noises * deviation / self.total
        self.groups = groups_of_values(
            self.domain, self._shares, most=self.recipe.most_groups, least_share=least
        )
        self._coarse = Domain({n: Integer(0, int(g.max())) for n, g in self.groups.items()})
        for name, (values, law) in self._singles.items():
            labels = self.groups[name]
            block = marginal(name).on(self._coarse)
            members = np.bincount(labels)
            laws = [Gaussian(float(m * law.variance)) for m in members]
            self._add(block, np.bincount(labels, weights=values).astype(np.float64), laws)

    def add_pair(self, loss: float) -> None:
        """Choose one more pair privately and measure it."""
        law = self._law(loss)
        candidates = self._candidates(law)
        if not candidates:
            return  # every pair would outgrow the junction tree; what is left stays unspent
        spent = selection_epsilon(self.recipe.selection_share * loss, self.measure)
        block = candidates[self.curator.choose(candidates, spent)].marginal
        values, drawn = self.curator.measure(block, law)
        first, second = block.attributes
        self.pairs.append((first, second))
        self._add(marginal(first, second).on(self._coarse), values, [drawn] * block.cells)

    def fitted(self, most_steps: int = 500) -> Fit:
        """The model of everything measured so far."""
        self._fit = fit_max_entropy(
            self._constraints(), start=self._fit, tolerance=0.02, most_steps=most_steps
        )
        return self._fit

    def opened(self, coarse: Codes, generator: np.random.Generator) -> Codes:
        """Records of groups with a value drawn inside each, by the attribute's own marginal."""
        codes = np.empty_like(coarse)
        for column, (name, labels) in enumerate(self.groups.items()):
            inside = np.zeros((int(labels.max()) + 1, len(labels)))
            inside[labels, np.arange(len(labels))] = self._shares[name]
            codes[:, column] = systematic_draws(inside, coarse[:, column], generator)
        return codes

    def _law(self, loss: float) -> Laplace | Gaussian:
        return self.recipe.measuring_law(loss, self.measure)

    def _add(self, block: Block, values: FloatArray, laws: Sequence[NoiseLaw]) -> None:
        self._blocks.append(block)
        self._values.append(values)
        self._laws.extend(laws)

    def _constraints(self) -> Constraints:
        typical = float(np.median([law.variance for law in self._laws])) ** 0.5
        alpha = self.recipe.alpha_noises * typical / self.total
        features = HistoryFeatures.of(self._coarse, self._blocks)
        values = np.concatenate(self._values)
        return constraints_of(features, values, self._laws, total=self.total, alpha=alpha)

    def _candidates(self, law: Laplace | Gaussian) -> list[Candidate]:
        model = self.fitted(self.recipe.round_steps).distribution
        sizes = dict(zip(self._coarse.names, self._coarse.shape, strict=True))
        candidates = []
        for pair in combinations(self.domain.names, 2):
            if self.pairs.count(pair) >= self.recipe.most_repeats:
                continue
            if pair not in self.pairs and (
                junction_tree(sizes, [*self.pairs, pair]).cells > self.recipe.most_cells
            ):
                continue
            block = CoarseMarginal(self.domain, pair, tuple(self.groups[name] for name in pair))
            expected = self.total * model.marginal(pair).reshape(-1)
            candidates.append(Candidate(block, expected, mean_distance(law, block.cells)))
        return candidates
