"""Facts and tables of others: what history says with them, against least squares with equations."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from eke.domain import Domain, Integer
from eke.history import Assertion, Measurement, Outside
from eke.inference import Inference, halfwidth, state
from eke.inference import exactly as facts_alone
from eke.privacy.law import Gaussian, Laplace
from eke.query import Block, count, marginal
from tests.parts import parts
from tests.unit.inference.dense import cells, matrix_of, product_query

ROUNDING = 1e-5  # the method of weighting keeps to facts to a millionth of a record


def fact(query, *values, source="a yearbook") -> Outside:
    return Outside(source, (Assertion(query, tuple(Fraction(value) for value in values)),))


def learned(query, law, *values, source="another office") -> Outside:
    told = tuple(Fraction(float(value)) for value in values)
    return Outside(source, (Assertion(query, told, law),))


def least_squares(dense):
    """(estimate, variance) of each question by least squares under equations; None if it has none.

    x = x0 + Nz for all tables that meet the equations, and then z by least squares.
    """
    equations, exact, answers, noisy, variances = dense
    count_of_cells = equations.shape[1]
    start = np.linalg.pinv(equations, rcond=1e-10) @ exact if len(equations) else 0.0
    if len(equations):
        _, sizes, axes = np.linalg.svd(equations)
        free = axes[int((sizes > 1e-9 * max(sizes.max(), 1.0)).sum()) :].T
    else:
        free = np.eye(count_of_cells)
    start = np.zeros(count_of_cells) if not len(equations) else start
    design = answers @ free / np.sqrt(variances)[:, None]
    solved = np.linalg.pinv(design, rcond=1e-10)
    left = (noisy - answers @ start) / np.sqrt(variances)

    def answered(asked):
        wanted = asked @ free
        weights = wanted @ solved  # of the whitened answers
        if not np.allclose(weights @ design, wanted, atol=1e-7):
            return None
        return float(asked @ start + weights @ left), float(weights @ weights)

    return answered


def random_world(rng: np.random.Generator):
    """A domain, a table, statements that are true of it, and noisy answers about it."""
    domain = Domain({name: Integer(0, int(rng.integers(1, 4))) for name in "abc"})
    everyone = np.array(cells(domain))
    truth = rng.integers(0, 40, len(everyone))
    known = []
    if rng.random() < 0.6:  # a condition that nobody meets
        names = rng.choice(list("abc"), 2, replace=False)
        nobody = count({str(name): int(rng.integers(0, domain[str(name)].size)) for name in names})
        truth = truth * (matrix_of([nobody.on(domain)])[0] == 0)
        known.append(fact(nobody.on(domain), 0))

    def of(query) -> Fraction:
        return Fraction(int(matrix_of([query])[0] @ truth))

    for _ in range(rng.integers(1, 4)):
        query = product_query(domain, rng).without_constant()
        if rng.random() < 0.3:
            query = count(a=0).on(domain)
        if not query.is_zero:
            known.append(fact(query, of(query)))
    if rng.random() < 0.5:
        public = marginal(str(rng.choice(list("abc")))).on(domain)
        known.append(fact(public, *[of(query) for query in public.queries()]))
    law = Laplace if rng.random() < 0.5 else Gaussian
    measured: list[Measurement] = []
    for _ in range(rng.integers(0, 6)):
        block: Block = product_query(domain, rng).without_constant()
        if rng.random() < 0.4:
            block = marginal(*rng.choice(list("abc"), 2, replace=False).tolist()).on(domain)
        if all(query.is_zero for query in block.queries()):
            continue
        noisy = [float(of(query)) + rng.normal(0, 5) for query in block.queries()]
        if rng.random() < 0.3:
            known.append(learned(block, law(float(rng.uniform(1, 9))), *noisy))
        else:
            measured.append(
                Measurement(block, law(float(rng.uniform(1, 9))), tuple(noisy), len(measured) + 1)
            )
    return domain, known, measured, of


def as_matrices(domain, known, measured):
    """Equations and noisy answers over all cells: of a condition nobody meets, one for each."""
    equations, exact, answers, noisy, variances = [], [], [], [], []
    for statement in (each for one in known for each in one.statements):
        taken = statement.measurement()
        for query, value in zip(taken.query.queries(), taken.values, strict=True):
            row = matrix_of([query])[0]
            if statement.is_exact and facts_alone.is_impossible(statement):
                for cell in np.flatnonzero(row):
                    equations.append(np.eye(len(row))[cell])
                    exact.append(0.0)
            elif statement.is_exact:
                equations.append(row)
                exact.append(value)
            else:
                answers.append(row)
                noisy.append(value)
                variances.append(taken.law.variance)
    for one in measured:
        for row in one.rows():
            answers.append(matrix_of([row.query])[0])
            noisy.append(row.value)
            variances.append(row.law.variance)
    size = domain.size
    shape = (len(answers), size)
    return (
        np.array(equations).reshape(-1, size),
        np.array(exact),
        np.array(answers).reshape(shape),
        np.array(noisy),
        np.array(variances),
    )


@pytest.mark.parametrize("seed", parts(80, 25))
def test_estimates_are_those_of_least_squares_under_equations(seed):
    """The slow twin knows every cell of the table; 12 questions a history."""
    rng = np.random.default_rng(seed)
    domain, known, measured, of = random_world(rng)
    inference = Inference(domain, measured, known)
    twin = least_squares(as_matrices(domain, known, measured))
    for _ in range(12):
        query = product_query(domain, rng)
        expected = twin(matrix_of([query])[0])
        found = inference.linear(query)
        if expected is None:
            assert found is None
            continue
        assert found is not None
        value, noise = found
        scale = max(1.0, float(np.abs(matrix_of([query])).max()))
        assert value == pytest.approx(
            expected[0] + float(query.constant), abs=ROUNDING * scale, rel=1e-6
        )
        assert noise.variance == pytest.approx(expected[1], abs=1e-8 * scale**2, rel=1e-5)
        if expected[1] < 1e-12:  # a fact, exactly, whatever was measured
            assert inference.public(query) == float(of(query) + query.constant)
            assert halfwidth(noise, 0.99) == 0.0


@pytest.mark.parametrize("seed", parts(40, 12))
def test_tables_that_are_kept_whole_meet_the_facts_too(seed, monkeypatch):
    """Small tables are kept whole here, so that both ways can be compared with all cells.

    A condition that nobody meets is then used for questions and its own count; what more it says
    of released tables is not found, so that intervals may be wider, and never narrower.
    """
    monkeypatch.setattr(state, "LEAST_CELLS", 0)
    monkeypatch.setattr(facts_alone, "LEAST_TABLE", 2)
    rng = np.random.default_rng(1000 + seed)
    domain, known, measured, _ = random_world(rng)
    inference = Inference(domain, measured, known)
    twin = least_squares(as_matrices(domain, known, measured))
    has_zero = bool(inference.exactly.zeros)
    for _ in range(12):
        query = product_query(domain, rng)
        expected = twin(matrix_of([query])[0])
        found = inference.linear(query)
        if expected is None:
            assert found is None
            continue
        if has_zero:
            assert found is None or found[1].variance >= expected[1] * (1 - 1e-5) - 1e-8
            continue
        assert found is not None
        scale = max(1.0, float(np.abs(matrix_of([query])).max()))
        assert found[0] == pytest.approx(
            expected[0] + float(query.constant), abs=1e-3 * scale, rel=1e-5
        )
        assert found[1].variance == pytest.approx(expected[1], abs=1e-6 * scale**2, rel=1e-4)


def test_many_facts_beside_tables_with_much_noise_lose_no_digits() -> None:
    """100 public rows that a released table knows alike, and a public table kept whole.

    The covariance of these rows is singular but for a noise of a millionth of a record: without
    `RESOLUTION_OF_FACTS` what is left of it is rounding, and no number.
    """
    rng = np.random.default_rng(4)
    domain = Domain(age=Integer(0, 9), sex=Integer(0, 1), region=Integer(0, 49))
    truth = rng.integers(0, 90, (10, 2, 50)).astype(float)
    by_sex, by_age = truth.sum(axis=0), truth.sum(axis=1)
    known = [
        fact(count().on(domain), int(truth.sum())),
        fact(marginal("sex", "region").on(domain), *by_sex.reshape(-1).astype(int)),
        fact(marginal("age", "region").on(domain), *by_age.reshape(-1).astype(int)),
    ]
    released = marginal("age", "sex").on(domain)
    noisy = truth.sum(axis=2).reshape(-1) + rng.laplace(0, 500, 20)
    law = Laplace(500.0)
    measured = [
        Measurement(released, law, tuple(noisy), 1),
        Measurement(count(age=(0, 4), sex=1).on(domain), law, (float(truth[:5, 1].sum()),), 2),
    ]
    monkey = pytest.MonkeyPatch()
    with monkey.context() as patched:
        patched.setattr(state, "LEAST_CELLS", 0)
        inference = Inference(domain, measured, known)
    assert len(inference.tables) == 2
    twin = least_squares(as_matrices(domain, known, measured))
    for question in (
        count(age=3, sex=0),
        count(age=(2, 7), sex=1),
        count(age=(0, 4), sex=1),
        count(age=(0, 8), sex=0),
    ):
        query = question.on(domain)
        expected = twin(matrix_of([query])[0])
        found = inference.linear(query)
        assert expected is not None
        assert found is not None
        assert found[0] == pytest.approx(expected[0], abs=0.05)
        assert found[1].variance == pytest.approx(expected[1], rel=1e-4)
    sums = inference.table(released)
    assert sums is not None
    np.testing.assert_allclose(sums.values.reshape(10, 2).sum(axis=0), by_sex.sum(axis=1), atol=0.1)
