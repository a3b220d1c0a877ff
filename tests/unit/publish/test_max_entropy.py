"""Synthesis with a simulated curator: what it spends, what it finds, what it returns."""

import math
from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from eke.domain import Categorical, Domain, Integer
from eke.errors import PrivacyError
from eke.privacy.concentrated import CONCENTRATED
from eke.privacy.law import Gaussian, Laplace
from eke.privacy.measure import Measure
from eke.privacy.pure import PURE
from eke.publish.coarse import CoarseMarginal
from eke.publish.max_entropy import Recipe, synthesise
from eke.publish.selection import (
    Candidate,
    mean_distance,
    measuring_law,
    score_sensitivity,
    scores,
    selection_epsilon,
    split_of_singles,
)

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

    def __init__(self, codes: NDArray[np.int64], measure: Measure, seed: int = 1) -> None:
        self.codes, self.measure_of_loss = codes, measure
        self.generator = np.random.default_rng(seed)
        self.spent = 0.0

    def counts(self, block: CoarseMarginal) -> NDArray[np.int64]:
        columns = [DOMAIN.names.index(name) for name in block.attributes]
        grouped = [g[self.codes[:, k]] for g, k in zip(block.groups, columns, strict=True)]
        cells = np.ravel_multi_index(tuple(grouped), block.shape)
        return np.bincount(cells, minlength=block.cells)

    def measure(
        self, block: CoarseMarginal, law: Laplace | Gaussian
    ) -> tuple[NDArray[np.float64], Laplace | Gaussian]:
        self.spent += law.loss_nano(1) / 1e9
        return self.counts(block) + self.generator.normal(0, law.variance**0.5, block.cells), law

    def choose(self, candidates: Sequence[Candidate], epsilon: float) -> int:
        self.spent += epsilon if self.measure_of_loss == PURE else epsilon**2 / 8.0
        race = epsilon / 2.0 * scores(candidates, self.counts)
        return int(np.argmax(race + self.generator.gumbel(size=len(race))))


@pytest.mark.parametrize(("measure", "loss"), [(CONCENTRATED, 0.5), (PURE, 3.0)])
def test_a_synthesis_spends_its_loss_and_finds_what_belongs_together(
    measure: Measure, loss: float
) -> None:
    table = make_table()
    curator = SimulatedCurator(table, measure)
    made = synthesise(DOMAIN, curator, loss, measure, generator=np.random.default_rng(2))
    assert curator.spent == pytest.approx(loss, rel=1e-5)
    assert {made.pairs[0], made.pairs[1]} == {("age", "pay"), ("sex", "job")}
    assert len(made.codes) == pytest.approx(len(table), abs=60)
    for columns in ((0, 3), (1, 2)):
        shape = [DOMAIN.shape[k] for k in columns]
        both = [
            np.bincount(
                np.ravel_multi_index(tuple(t[:, k] for k in columns), shape),
                minlength=math.prod(shape),
            )
            / len(t)
            for t in (table, made.codes)
        ]
        assert 0.5 * np.abs(both[0] - both[1]).sum() < 0.15


def test_rows_come_back_in_the_tables_own_values() -> None:
    curator = SimulatedCurator(make_table(500), CONCENTRATED)
    made = synthesise(
        DOMAIN, curator, 0.5, CONCENTRATED, rows=37, generator=np.random.default_rng(3)
    ).table()
    assert list(made.columns) == list(DOMAIN.names)
    assert len(made) == 37
    assert set(made["job"]) <= set("abcdef")
    assert made["age"].between(0, 19).all()


def test_a_single_attribute_needs_no_pairs() -> None:
    lone = Domain(age=Integer(0, 3))

    class Lone:
        def measure(
            self, block: CoarseMarginal, law: Laplace | Gaussian
        ) -> tuple[NDArray[np.float64], Laplace | Gaussian]:
            return np.array([10.0, 20.0, 30.0, 40.0]), law

        def choose(self, candidates: Sequence[Candidate], epsilon: float) -> int:
            raise AssertionError("there is nothing to choose")

    made = synthesise(lone, Lone(), 1.0, CONCENTRATED, generator=np.random.default_rng(0))
    assert np.bincount(made.codes[:, 0]).tolist() == [10, 20, 30, 40]


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
