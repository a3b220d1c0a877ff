"""Answers that hang together, against programs with one variable for each cell of the domain."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog, nnls

import eke
from eke.errors import EkeError
from eke.planning.workload.agreement import (
    KINDS,
    agreed_answers,
    fitting_work,
    frame_of,
    largest_sets,
)
from eke.planning.workload.equations import Equation
from eke.planning.workload.programs import Norm
from eke.planning.workload.release.queries import workload_matrix
from eke.planning.workload.workload import Workload, all_marginals, prefixes, ranges
from tests.parts import in_long, parts

DOMAIN = eke.Domain(a=eke.Integer(0, 3), b=eke.Integer(0, 2), c=eke.Integer(0, 4))
NAMES = ("a", "b", "c")
ORDERS = {"l1": 1, "l2": 2, "linf": np.inf}
JOINED = Workload.of(
    DOMAIN,
    [eke.marginal("a", "b", "c"), eke.count(a=(1, 2), b=1), eke.total("a"), eke.count()],
) + ranges(DOMAIN, "c")
SPLIT = (
    prefixes(DOMAIN, "a", "b")
    + all_marginals(DOMAIN, 1)
    + Workload.of(DOMAIN, [eke.count(b=1, c=(1, 3)), eke.count(a=2, c=0) - eke.count(c=4)])
)
NORMS: tuple[Norm, ...] = ("l2", "l1", "linf")


def _noisy(workload: Workload, seed: int, noise: float = 4.0) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    matrix = workload_matrix(workload, NAMES)
    exact = matrix @ rng.integers(0, 2, matrix.shape[1])
    values = exact + rng.normal(0, noise, len(exact))
    shapes = [t.shape(DOMAIN) for t in workload.targets] + [()] * len(workload.queries)
    ends = np.cumsum([int(np.prod(shape)) for shape in shapes])[:-1]
    return [part.reshape(s) for part, s in zip(np.split(values, ends), shapes, strict=True)]


def _flat(answers) -> np.ndarray:
    return np.concatenate([np.reshape(a, -1) for a in answers])


def _cell_program(
    matrix: np.ndarray, target: np.ndarray, norm: Norm, cells: np.ndarray | None
) -> float:
    """The least distance of matrix·x from the target, with cells·x at least zero if given."""
    rows, count = matrix.shape
    slack = np.eye(rows) if norm == "l1" else np.ones((rows, 1))
    upper = np.block([[matrix, -slack], [-matrix, -slack]])
    below = np.concatenate([target, -target])
    if cells is not None:
        upper = np.vstack([upper, np.hstack([-cells, np.zeros((len(cells), slack.shape[1]))])])
        below = np.concatenate([below, np.zeros(len(cells))])
    goal = np.concatenate([np.zeros(count), np.ones(slack.shape[1])])
    bounds = [(None, None)] * count + [(0.0, None)] * slack.shape[1]
    solved = linprog(goal, A_ub=upper, b_ub=below, bounds=bounds)
    assert solved.fun is not None
    return float(solved.fun)


def _cells_that_count(workload: Workload) -> np.ndarray:
    """(cells of the largest marginals, cells of the domain)."""
    asked = [t.attributes for t in workload.targets] + [q.attributes for q in workload.queries]
    whole = Workload.of(DOMAIN, list(largest_sets(asked)))
    return workload_matrix(whole, NAMES)


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("workload", [JOINED, SPLIT])
@pytest.mark.parametrize("seed", parts(3))
def test_the_nearest_consistent_answers(workload, norm, seed):
    matrix, given = workload_matrix(workload, NAMES), _noisy(workload, seed)
    target = _flat(given)
    values = _flat(agreed_answers(workload, given, "consistent", norm).answers)
    base = np.linalg.lstsq(matrix, values, rcond=None)[0]
    np.testing.assert_allclose(matrix @ base, values, atol=1e-7)  # they come from one x
    distance = np.linalg.norm(values - target, ORDERS[norm])
    if norm == "l2":
        best = matrix @ np.linalg.lstsq(matrix, target, rcond=None)[0]
        np.testing.assert_allclose(values, best, atol=1e-7)
    else:
        assert distance == pytest.approx(_cell_program(matrix, target, norm, None))


@pytest.mark.parametrize("norm", ["l1", "linf"])
@pytest.mark.parametrize("workload", [JOINED, SPLIT])
@pytest.mark.parametrize("seed", parts(3))
def test_the_nearest_answers_without_negative_cells(workload, norm, seed):
    matrix, given = workload_matrix(workload, NAMES), _noisy(workload, seed)
    target, cells = _flat(given), _cells_that_count(workload)
    values = _flat(agreed_answers(workload, given, "nonnegative", norm).answers)
    distance = np.linalg.norm(values - target, ORDERS[norm])
    assert distance == pytest.approx(_cell_program(matrix, target, norm, cells), rel=1e-6)
    plain = _cell_program(matrix, target, norm, None)
    assert distance > plain + 1e-3 or (workload is SPLIT and norm == "linf")  # zero is a limit


@pytest.mark.parametrize("seed", parts(3))
def test_least_squares_without_negative_cells(seed):
    """Of one marginal: non-negative least squares over the cells. Of several: its conditions."""
    given, matrix = _noisy(JOINED, seed), workload_matrix(JOINED, NAMES)
    values = _flat(agreed_answers(JOINED, given, "nonnegative").answers)
    best = nnls(matrix, _flat(given))[0]
    np.testing.assert_allclose(values, matrix @ best, atol=1e-5)
    given, matrix = _noisy(SPLIT, seed), workload_matrix(SPLIT, NAMES)
    target, cells = _flat(given), _cells_that_count(SPLIT)
    values = _flat(agreed_answers(SPLIT, given, "nonnegative").answers)
    # Karush, Kuhn, Tucker: the slope is a sum of rows of cells that are zero, none negative.
    frame = frame_of(SPLIT, None, ())
    questions = np.asarray((frame.questions @ frame.cells).toarray())
    floor = np.asarray(frame.cells.toarray())
    free = np.linalg.lstsq(questions, values, rcond=None)[0]
    np.testing.assert_allclose(questions @ free, values, atol=1e-6)
    assert _cell_program(matrix, values, "linf", cells) < 1e-6  # such marginals exist
    slope = questions.T @ (questions @ free - target)
    inside = linprog(
        np.zeros(floor.shape[1]),
        A_ub=np.vstack([-floor, questions, -questions]),
        b_ub=np.concatenate([np.full(len(floor), 1e-6), values + 1e-6, 1e-6 - values]),
        bounds=(None, None),
    )
    assert inside.x is not None
    at_zero = floor[floor @ inside.x < 1e-4]
    assert nnls(at_zero.T, slope)[1] < 1e-3 * max(1.0, float(np.abs(slope).max()))


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("workload", [JOINED, SPLIT])
def test_whole_answers_are_those_of_one_table_of_whole_counts(workload, norm):
    given = _noisy(workload, 5)
    agreed = agreed_answers(workload, given, "whole", norm)
    values = _flat(agreed.answers)
    assert agreed.joint
    np.testing.assert_array_equal(values, np.rint(values))
    if workload is JOINED:
        base = values[: DOMAIN.size]  # the marginal over everything comes first
        assert base.min() >= 0.0
        np.testing.assert_array_equal(workload_matrix(workload, NAMES) @ base, values)
    else:
        cells = _cells_that_count(workload)
        assert _cell_program(workload_matrix(workload, NAMES), values, "linf", cells) < 1e-9


@pytest.mark.parametrize("norm", NORMS)
def test_what_is_public_is_met(norm):
    given = _noisy(SPLIT, 7)
    unit = np.zeros(3)
    unit[1] = 1.0
    facts = [Equation(("b",), unit, 9.0)]
    for kind in ("consistent", "nonnegative"):
        agreed = agreed_answers(SPLIT, given, kind, norm, total=31, equations=facts)
        by_b = agreed.answers[2]
        assert SPLIT.targets[2].attributes == ("b",)
        assert by_b[1] == pytest.approx(9.0, abs=1e-5)
        assert agreed.answers[0][-1, -1] == pytest.approx(31.0, abs=1e-5)


@pytest.mark.parametrize("size", [200, in_long(1000)])
def test_values_that_no_question_tells_apart_are_one(size):
    """A question over the cells of a large square is one about a few."""
    last, half = size - 1, size // 2
    wide = eke.Domain(x=eke.Integer(0, last), y=eke.Integer(0, last), z=eke.Integer(0, 5))
    asked = [
        eke.count(x=(10, 20), y=(0, half - 1)),
        eke.count(x=(10, 20)),
        eke.count(y=(half, last)),
    ]
    workload = Workload.of(wide, [*asked, eke.marginal("z")])
    assert frame_of(workload, None, ()).sizes == {"x": 2, "y": 2, "z": 6}
    assert fitting_work(workload) == 24 + 2 * 24  # all cells; then (x, y) and (z,) from them
    given = [np.full(6, 2.0), np.array(9.0), np.array(4.0), np.array(-3.0)]
    for kind in KINDS:
        z, both, x, y = agreed_answers(workload, given, kind).answers
        if kind == "consistent":
            np.testing.assert_allclose([*z, both, x, y], _flat(given), atol=1e-8)
        else:
            assert 0.0 <= both <= x + 1e-9
            assert y >= 0.0


def test_fitting_whole_marginals_reads_all_cells_for_each_of_a_few():
    # All 60 cells; (b, c) from them; (a, b) and (a, c), which share a, from them as well.
    assert fitting_work(all_marginals(DOMAIN, 2)) == 60 + 3 * 60
    large = eke.Domain(**{name: eke.Integer(0, 999) for name in "abc"})
    assert fitting_work(all_marginals(large, 1)) == 0  # they are rounded one by one


def test_constants_and_single_answers():
    workload = Workload.of(DOMAIN, [eke.count(a=1) + 5, eke.count(a=1)])
    for norm in NORMS:
        shifted, plain = agreed_answers(
            workload, [np.array(9.0), np.array(2.0)], "whole", norm
        ).answers
        assert shifted - plain == 5.0
    alone = agreed_answers(Workload.of(DOMAIN, [eke.count()]), [np.array(-2.5)], "nonnegative")
    assert float(alone.answers[0]) == pytest.approx(0.0, abs=1e-9)


def test_what_cannot_be_adjusted_is_refused():
    given = _noisy(JOINED, 0)
    with pytest.raises(EkeError, match="consistent, nonnegative or whole"):
        agreed_answers(JOINED, given, "nicer")  # type: ignore[arg-type]
    with pytest.raises(EkeError, match="norm must be"):
        agreed_answers(JOINED, given, "whole", "l3")  # type: ignore[arg-type]
    large = eke.Domain(a=eke.Integer(0, 299), b=eke.Integer(0, 299))
    workload = Workload.of(large, [eke.marginal("a", "b")]) + ranges(large, "a")
    with pytest.raises(EkeError, match="at most 20,000"):
        agreed_answers(workload, [np.zeros((300, 300)), np.zeros(45150)], "consistent")
