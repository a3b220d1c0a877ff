"""Diagrams against functions that are written out cell by cell."""

import itertools
import pickle

import numpy as np
import pytest

from eke.domain import Domain, Integer
from eke.errors import SqlError
from eke.question import logic as truth
from eke.sql import logic
from eke.sql.diagram import Diagrams
from eke.sql.effort import MOST_STEPS, Effort
from eke.sql.place import SqlText
from eke.sql.value import weighted_boxes

DOMAIN = Domain(a=Integer(0, 4), b=Integer(0, 2), c=Integer(0, 3))
CELLS = list(itertools.product(range(5), range(3), range(4)))
LABELS = (True, False, None)


def fresh():
    return Diagrams(DOMAIN, Effort(SqlText(""), DOMAIN))


def random_pair(diagrams, rng, depth):
    """A random condition as a diagram and as a function of the cell."""
    if depth == 0:
        axis = int(rng.integers(3))
        name, size = DOMAIN.names[axis], DOMAIN.shape[axis]
        codes = rng.integers(0, 3, size)
        leaves = [diagrams.leaf(label) for label in LABELS]
        return diagrams.over(name, leaves, codes), lambda cell: LABELS[codes[cell[axis]]]
    first, one = random_pair(diagrams, rng, depth - 1)
    if rng.random() < 0.2:
        return logic.negated(diagrams, first), lambda cell: truth.opposite(one(cell))
    second, two = random_pair(diagrams, rng, depth - 1)
    operation = (truth.both, truth.either)[int(rng.integers(2))]
    return (
        diagrams.joined(operation, first, second),
        lambda cell: operation(one(cell), two(cell)),
    )


def covered(boxes):
    """How often each cell lies in weighted boxes."""
    return [
        sum(w * int(np.prod([box[n][c] for n, c in zip("abc", cell, strict=True) if n in box]))
            for w, box in boxes)
        for cell in CELLS
    ]  # fmt: skip


@pytest.mark.parametrize("seed", range(60))
def test_boxes_are_the_cells_with_a_label(seed):
    rng = np.random.default_rng(seed)
    diagrams = fresh()
    diagram, function = random_pair(diagrams, rng, 3)
    for label in LABELS:
        expected = [int(function(cell) is label) for cell in CELLS]
        boxes = list(diagrams.boxes(diagram, label))
        assert covered([(1, box) for box in boxes]) == expected
        assert len(boxes) == diagrams.paths(diagram, label)
        assert covered(weighted_boxes(diagrams, diagram, label)) == expected
    met = {function(cell) for cell in CELLS}
    assert set(diagrams.labels(diagram)) == met


@pytest.mark.parametrize("seed", range(30))
def test_labels_of_rows_and_single_boxes(seed):
    rng = np.random.default_rng(seed)
    diagrams = fresh()
    diagram, function = random_pair(diagrams, rng, 3)
    codes = dict(zip("abc", np.array(CELLS).T, strict=True))
    labels = diagrams.chosen(diagram, codes, len(CELLS))
    assert list(labels) == [function(cell) for cell in CELLS]
    asked = diagrams.attributes(diagram)
    for at, name in enumerate("abc"):
        moved = [
            {function((*t[:at], c, *t[at + 1 :])) for c in range(DOMAIN.shape[at])} for t in CELLS
        ]
        assert (name in asked) == any(len(one) > 1 for one in moved)
    alone = diagrams.single_boxes(diagram, 1_000)
    for label, box in alone.items():
        assert covered([(1, box)]) == [int(function(cell) is label) for cell in CELLS]
        assert covered(weighted_boxes(diagrams, diagram, label)) == covered([(1, box)])
    single = [label for label in diagrams.labels(diagram) if diagrams.paths(diagram, label) == 1]
    assert set(alone) == set(single)
    assert diagrams.single_boxes(diagram, diagrams.paths(diagram) - 1) == {}


def test_equal_functions_are_the_same_object():
    diagrams = fresh()
    a = diagrams.where("a", np.arange(5) > 2)
    b = diagrams.where("b", np.arange(3) > 0)
    not_a, not_b = logic.negated(diagrams, a), logic.negated(diagrams, b)
    left = logic.negated(diagrams, diagrams.joined(truth.both, a, b))
    assert left is diagrams.joined(truth.either, not_a, not_b)
    assert left is diagrams.joined(truth.either, not_b, not_a)
    assert diagrams.joined(truth.either, a, not_a) is diagrams.true
    assert diagrams.joined(truth.both, b, not_b) is diagrams.false


def test_a_table_is_the_diagram_of_its_entries():
    diagrams = fresh()
    table = np.random.default_rng(1).integers(0, 2, (5, 4)).astype(np.int8)
    diagram = diagrams.from_table(("a", "c"), (diagrams.false, diagrams.true), table)
    expected = [int(table[cell[0], cell[2]]) for cell in CELLS]
    assert covered([(1, box) for box in diagrams.boxes(diagram, True)]) == expected


def test_a_disjunction_of_many_columns_stays_short():
    domain = Domain({f"a{i}": Integer(0, 9) for i in range(30)})
    diagrams = Diagrams(domain, Effort(SqlText(""), domain))
    parts = [diagrams.where(name, np.arange(10) == 3) for name in domain.names]
    whole = logic.folded(diagrams, truth.either, parts)
    assert diagrams.paths(whole, True) == 30
    assert [w for w, _ in weighted_boxes(diagrams, whole)] == [1, -1]


def test_true_and_one_are_different_labels():
    diagrams = fresh()
    assert diagrams.leaf(True) is not diagrams.leaf(1)
    assert diagrams.leaf("a") is diagrams.leaf("a")


def test_effort_ends_in_an_error_at_the_place():
    effort = Effort(SqlText("SELECT"), Domain(a=Integer(0, 999_999)))
    effort.spend(MOST_STEPS)
    with pytest.raises(SqlError, match="1:1: the question takes too long"):
        effort.spend(1)


def test_an_error_survives_pickling():
    error = SqlError("no", 3, 7)
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.line, again.column) == ("3:7: no", 3, 7)


@pytest.mark.parametrize("first", LABELS)
@pytest.mark.parametrize("second", LABELS)
def test_three_valued_logic(first, second):
    """Kleene's tables: AND is the minimum and OR the maximum of false < unknown < true."""
    rank = {False: 0, None: 1, True: 2}
    label = {value: key for key, value in rank.items()}
    assert truth.both(first, second) is label[min(rank[first], rank[second])]
    assert truth.either(first, second) is label[max(rank[first], rank[second])]
    assert truth.opposite(first) is label[2 - rank[first]]
