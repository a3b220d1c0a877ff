"""Synthesis with a simulated curator: what it spends, what it finds, what it returns."""

import math
from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pytest
from numpy.typing import NDArray

from eke.domain import Categorical, Domain, Integer
from eke.errors import PrivacyError
from eke.privacy.concentrated import CONCENTRATED
from eke.privacy.law import Gaussian, Laplace, NoiseLaw
from eke.privacy.measure import Measure
from eke.privacy.pure import PURE
from eke.publish.coarse import CoarseMarginal
from eke.publish.recipe import Recipe
from eke.publish.selection import (
    Candidate,
    mean_distance,
    measuring_law,
    score_sensitivity,
    scores,
    selection_epsilon,
    split_of_singles,
)
from eke.publish.sharpening import sharpened
from eke.publish.synthesis import Synthesis, synthesise

DOMAIN = Domain(
    age=Integer(0, 19), sex=Categorical("F", "M"), job=Categorical(*"abcdef"), pay=Integer(0, 9)
)


def make_table(rows: int = 6000) -> NDArray[np.int64]:
    """Age and pay go together, job and sex go together, the two pairs do not."""
    generator = np.random.default_rng(0)
    age = generator.integers(0, 20, rows)
    pay = np.clip(age // 2 + generator.integers(-1, 2, rows), 0, 9)
    sex = generator.integers(0, 2, rows)
    job = np.where(sex == 0, generator.integers(0, 3, rows), generator.integers(3, 6, rows))
    return np.stack([age, sex, job, pay], axis=1)


class SimulatedCurator:
    """Keeps accounts of what it is asked to do. Simulated noise: not a release."""

    def __init__(
        self, codes: NDArray[np.int64], measure: Measure, loss: float = 1.0, seed: int = 1
    ) -> None:
        self.codes, self.measure_of_loss, self.left = codes, measure, loss
        self.generator = np.random.default_rng(seed)

    def counts(self, block: CoarseMarginal) -> NDArray[np.int64]:
        columns = [DOMAIN.names.index(name) for name in block.attributes]
        grouped = [g[self.codes[:, k]] for g, k in zip(block.groups, columns, strict=True)]
        cells = np.ravel_multi_index(tuple(grouped), block.shape)
        return np.bincount(cells, minlength=block.cells)

    def measure(
        self, block: CoarseMarginal, law: Laplace | Gaussian
    ) -> tuple[NDArray[np.float64], Laplace | Gaussian]:
        self._pay(law.loss_nano(1) / 1e9)
        return self.counts(block) + self.generator.normal(0, law.variance**0.5, block.cells), law

    def choose(self, candidates: Sequence[Candidate], epsilon: float, picks: int) -> list[int]:
        self._pay(picks * (epsilon if self.measure_of_loss == PURE else epsilon**2 / 8.0))
        race = epsilon / 2.0 * scores(candidates, self.counts)
        order = np.argsort(-race - self.generator.gumbel(size=len(race)))
        return [int(place) for place in order[:picks]]

    def _pay(self, loss: float) -> None:
        self.left -= loss
        assert self.left > -1e-6, "spent more than was there"

    def singles(self) -> list[tuple[NDArray[np.float64], NoiseLaw]]:
        """The first tenth of what is there."""
        share = Recipe().singles_share * self.left
        losses = split_of_singles(DOMAIN.shape, share, self.measure_of_loss)
        blocks = [
            CoarseMarginal(DOMAIN, (name,), (np.arange(size),))
            for name, size in zip(DOMAIN.names, DOMAIN.shape, strict=True)
        ]
        return [
            self.measure(block, measuring_law(loss, self.measure_of_loss))
            for block, loss in zip(blocks, losses, strict=True)
        ]


def made_of(curator: SimulatedCurator, rows: int | None = None) -> Synthesis:
    return synthesise(DOMAIN, curator, curator.singles(), curator.measure_of_loss, rows=rows)


def distance(table: NDArray[np.int64], other: NDArray[np.int64], columns: Sequence[int]) -> float:
    """The total variation between two tables in some columns."""
    shape = [DOMAIN.shape[k] for k in columns]
    shares = [
        np.bincount(
            np.ravel_multi_index(tuple(one[:, k] for k in columns), shape),
            minlength=math.prod(shape),
        )
        / len(one)
        for one in (table, other)
    ]
    return 0.5 * float(np.abs(shares[0] - shares[1]).sum())


@pytest.mark.parametrize(("measure", "loss"), [(CONCENTRATED, 0.5), (PURE, 3.0)])
def test_a_synthesis_spends_its_loss_and_finds_what_belongs_together(
    measure: Measure, loss: float
) -> None:
    table = make_table()
    curator = SimulatedCurator(table, measure, loss)
    made = made_of(curator)
    assert curator.left == pytest.approx(0.0, abs=1e-3 * loss)
    assert len(made.codes) == pytest.approx(len(table), abs=60)
    assert made.distance < 2.0
    for columns in ((0, 3), (1, 2)):
        assert distance(table, made.codes, columns) < 0.1
    assert made.chosen(2) + made.chosen(3)


def test_the_same_noisy_numbers_give_the_same_rows() -> None:
    """What was interrupted must come to the same steps again: docs/proofs/selection.md."""
    both = [made_of(SimulatedCurator(make_table(800), CONCENTRATED, 0.1)) for _ in range(2)]
    assert (both[0].codes == both[1].codes).all()
    other = made_of(SimulatedCurator(make_table(800), CONCENTRATED, 0.1, seed=2))  # the control
    assert other.codes.shape != both[0].codes.shape or (other.codes != both[0].codes).any()


def test_more_budget_buys_more_truth() -> None:
    """2- and 3-way distances fall with each step of the loss, down to the table itself."""
    table = make_table(3000)
    found = []
    for loss in (1e-3, 1e-2, 1.0, 100.0):
        codes = made_of(SimulatedCurator(table, CONCENTRATED, loss), rows=3000).codes
        found.append(
            [
                np.mean([distance(table, codes, sets) for sets in combinations(range(4), ways)])
                for ways in (2, 3)
            ]
        )
    falling = np.diff(np.array(found), axis=0)
    assert (falling < 0.0).all()
    assert found[-1][0] < 0.01
    assert found[-1][1] < 0.05


def test_rows_come_back_in_the_tables_own_values() -> None:
    made = made_of(SimulatedCurator(make_table(500), CONCENTRATED, 0.5), rows=37).table()
    assert list(made.columns) == list(DOMAIN.names)
    assert len(made) == 37
    assert set(made["job"]) <= set("abcdef")
    assert made["age"].between(0, 19).all()


@pytest.mark.parametrize("loss", [1e-6, 1e4])
def test_any_budget_makes_rows(loss: float) -> None:
    made = made_of(SimulatedCurator(make_table(300), CONCENTRATED, loss), rows=20)
    assert made.codes.shape == (20, 4)
    assert (made.codes >= 0).all()
    assert (made.codes < DOMAIN.shape).all()


def test_no_rows_are_made_where_none_are_wanted() -> None:
    curator = SimulatedCurator(make_table(2), CONCENTRATED, 0.5)
    made = synthesise(DOMAIN, curator, curator.singles(), CONCENTRATED, rows=0)
    assert made.codes.shape == (0, 4)


def test_nobody_learns_from_noise_alone() -> None:
    """Of counts that are all noise next to nothing is believed; of clear ones nearly all."""
    generator = np.random.default_rng(4)
    expected = generator.uniform(0, 40, 200)
    noise = generator.normal(0, 10.0, 200)
    believed, doubt = sharpened(expected + noise, expected, 10.0)
    assert np.abs(believed - expected).sum() < 0.4 * np.abs(noise).sum()
    truth = expected + generator.normal(0, 1000.0, 200)
    believed, clear_doubt = sharpened(truth + noise, expected, 10.0)
    assert np.abs(believed - truth).sum() < 1.3 * np.abs(noise).sum()
    assert doubt < clear_doubt < 1.1 * 10.0 * 200


def test_scores_move_by_no_more_than_their_sensitivity() -> None:
    table, generator = make_table(300), np.random.default_rng(5)
    block = CoarseMarginal(DOMAIN, ("sex", "job"), (np.arange(2), np.arange(6)))
    candidates = [Candidate(block, generator.uniform(0, 50, 12), 3.0)]
    before = scores(candidates, SimulatedCurator(table, CONCENTRATED).counts)
    for row in range(20):
        fewer = np.delete(table, row, axis=0)
        after = scores(candidates, SimulatedCurator(fewer, CONCENTRATED).counts)
        assert abs(after - before).max() <= score_sensitivity("add_remove") + 1e-9
        other = table.copy()
        other[row] = (table[row] + 1) % DOMAIN.shape
        after = scores(candidates, SimulatedCurator(other, CONCENTRATED).counts)
        assert abs(after - before).max() <= score_sensitivity("replace_one") + 1e-9


def test_losses_and_laws_belong_together() -> None:
    assert measuring_law(0.5, CONCENTRATED).variance == pytest.approx(1.0)
    assert measuring_law(0.5, PURE).laplace_scale == pytest.approx(2.0)
    assert selection_epsilon(0.5, CONCENTRATED) == pytest.approx(2.0)
    assert selection_epsilon(0.5, PURE) == 0.5
    assert mean_distance(Laplace(2.0), 3) == pytest.approx(6.0)
    assert mean_distance(Gaussian(1.0), 1) == pytest.approx(math.sqrt(2.0 / math.pi))
    for loss in (0.0, -1.0, math.nan, math.inf):
        with pytest.raises(PrivacyError):
            measuring_law(loss, CONCENTRATED)
        with pytest.raises(PrivacyError):
            selection_epsilon(loss, PURE)
    with pytest.raises(PrivacyError):
        Recipe(singles_share=1.0)


@pytest.mark.parametrize("measure", [CONCENTRATED, PURE])
def test_the_split_of_singles_is_the_best_one(measure: Measure) -> None:
    sizes, generator = [85, 9, 2, 100], np.random.default_rng(0)

    def noise(parts: Sequence[float]) -> float:
        laws = [measuring_law(part, measure) for part in parts]
        return sum(mean_distance(law, size) for law, size in zip(laws, sizes, strict=True))

    best = split_of_singles(sizes, 1.0, measure)
    assert sum(best) == pytest.approx(1.0)
    for _ in range(200):
        assert noise(generator.dirichlet(np.ones(4)).tolist()) >= noise(best) - 1e-9


def test_a_single_attribute_needs_no_choice() -> None:
    lone = Domain(age=Integer(0, 3))

    class Lone:
        left = 1.0

        def measure(
            self, block: CoarseMarginal, law: Laplace | Gaussian
        ) -> tuple[NDArray[np.float64], Laplace | Gaussian]:
            raise AssertionError("all is known well enough")

        def choose(self, candidates: Sequence[Candidate], epsilon: float, picks: int) -> list[int]:
            raise AssertionError("there is nothing to choose")

    known = [(np.array([10.0, 20.0, 30.0, 40.0]), Gaussian(1e-6))]
    made = synthesise(lone, Lone(), known, CONCENTRATED)
    assert np.bincount(made.codes[:, 0]).tolist() == [10, 20, 30, 40]


class WatchedCurator(SimulatedCurator):
    """Keeps what was asked of it."""

    asked: list[list[CoarseMarginal]]

    def measure(
        self, block: CoarseMarginal, law: Laplace | Gaussian
    ) -> tuple[NDArray[np.float64], Laplace | Gaussian]:
        self.asked.append([block])
        return super().measure(block, law)

    def choose(self, candidates: Sequence[Candidate], epsilon: float, picks: int) -> list[int]:
        self.asked.append([one.marginal for one in candidates])
        return super().choose(candidates, epsilon, picks)


@pytest.mark.parametrize(("coefficients", "numbers"), [(120, 400), (2**22, 2**25)])
def test_blocks_and_choices_stay_within_memory(coefficients: int, numbers: int) -> None:
    """The control is a recipe with room for all there is."""
    curator = WatchedCurator(make_table(800), CONCENTRATED, 0.02)
    curator.asked = []
    singles = curator.singles()
    curator.asked.clear()
    recipe = Recipe(most_coefficients=coefficients, most_numbers=numbers)
    synthesise(DOMAIN, curator, singles, CONCENTRATED, recipe=recipe)
    largest = max(one.coefficients for asked in curator.asked for one in asked)
    together = max(sum(one.cells + one.coefficients for one in asked) for asked in curator.asked)
    assert (largest <= 120) == (coefficients == 120)
    assert (together <= 400) == (coefficients == 120)
