"""Audit of the private selection of marginals (docs/proofs/selection.md)."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from eke.engine import ChoiceOption, Selection
from eke.engine.adaptive import exact_distances
from eke.mechanism import secret
from eke.privacy.accountant import Accountant
from eke.privacy.concentrated import CONCENTRATED
from eke.privacy.law import DiscreteLaplace
from eke.privacy.pure import PURE
from eke.privacy.record_loss import NANO
from tests.privacy.audit import audit_epsilon
from tests.privacy.sampled_choice import CELLS, DOMAIN, MORE, block, chosen, tables, worst_selection

CONFIDENCE = 0.9999


def exact(selection: Selection, cells: np.ndarray) -> np.ndarray:
    counted = tables(cells)
    own = []
    for option in selection.options:
        held = counted[option.block.attributes]
        own.append(np.array(option.block.exact_answers(held.attributes, held.codes, held.counts)))
    return np.array(secret._EXACT.__get__(exact_distances(selection, own)))


@pytest.mark.parametrize("weights", [(1, 1, 1), (7, 1, 3)])
@pytest.mark.parametrize("neighbours", ["add_remove", "replace_one"])
def test_no_neighbour_moves_a_score_further_than_charged(neighbours, weights):
    """60 random tables, every neighbour of each; the largest change is reached, so it is tight."""
    generator = np.random.default_rng()
    largest = 0
    coarse = block("x", "y", groups={"x": [0, 0, 1]})
    for _ in range(60):
        cells = generator.integers(1, 6, (3, 2))
        options = tuple(
            ChoiceOption(
                b, generator.integers(-20, 120, b.cells), int(generator.integers(0, 9)), weight
            )
            for b, weight in zip((block("x"), block("x", "y"), coarse), weights, strict=True)
        )
        selection = Selection(options, -3, DiscreteLaplace(64, -3))
        assert selection.reach == max(weights)
        before = exact(selection, cells)
        places = list(product(range(3), range(2)))
        removed = [None, *places] if neighbours == "add_remove" else places
        for gone, come in product(removed, [None, *places]):
            if neighbours == "add_remove" and (gone is None) == (come is None):
                continue
            if neighbours == "replace_one" and come is None:
                continue
            other = cells.copy()
            for place, change in ((gone, -1), (come, 1)):
                if place is not None:
                    other[place] += change
            largest = max(largest, int(np.abs(exact(selection, other) - before).max()))
    assert largest == 8 * max(weights) * (1 if neighbours == "add_remove" else 2)  # in steps of 1/8


@pytest.mark.parametrize("neighbours", ["add_remove", "replace_one"])
def test_chances_of_weighted_options_keep_to_the_price(neighbours):
    """Every neighbour of 40 random tables, in exact chances; the control is priced unweighted."""
    generator = np.random.default_rng()
    worst, weights = 0.0, (9, 1)
    law = DiscreteLaplace(90, 0)
    for _ in range(40):
        cells = generator.integers(1, 6, (3, 2))
        options = tuple(
            ChoiceOption(b, generator.integers(0, 12, b.cells), 0, weight)
            for b, weight in zip((block("x"), block("y")), weights, strict=True)
        )
        selection = Selection(options, 0, law)
        price = Accountant(DOMAIN, PURE, neighbours).price_of_choice(selection.reach, law) / NANO
        places = list(product(range(3), range(2)))
        removed = [None, *places] if neighbours == "add_remove" else places
        before = log_chances(exact(selection, cells), law)
        for gone, come in product(removed, [None, *places]):
            if (neighbours == "add_remove" and (gone is None) == (come is None)) or (
                neighbours == "replace_one" and come is None
            ):
                continue
            other = cells.copy()
            for place, change in ((gone, -1), (come, 1)):
                if place is not None:
                    other[place] += change
            apart = np.abs(log_chances(exact(selection, other), law) - before).max()
            assert apart <= price + 1e-12
            worst = max(worst, float(apart))
    unweighted = Accountant(DOMAIN, PURE, neighbours).price_of_choice(1, law) / NANO
    assert worst > 2.0 * unweighted


def log_chances(scores: np.ndarray, law: DiscreteLaplace) -> np.ndarray:
    """Of the exponential mechanism, by its definition."""
    powers = scores.astype(float) / law.steps
    return np.asarray(powers - powers.max() - np.log(np.exp(powers - powers.max()).sum()))


@pytest.mark.parametrize("neighbours", ["add_remove", "replace_one"])
@pytest.mark.parametrize("measure", [PURE, CONCENTRATED])
def test_the_price_is_that_of_the_proof(measure, neighbours):
    """2Δ/b, or (Δ/b)²/2, in exact fractions and rounded up; a unit of 3 rows has 3Δ."""
    law = DiscreteLaplace(7, -1)
    for rows in (1, 3):
        moved = Fraction(rows * (1 if neighbours == "add_remove" else 2)) / Fraction(7, 2)
        true = 2 * moved if measure == PURE else moved**2 / 2
        price = Accountant(DOMAIN, measure, neighbours, rows).price_of_choice(1, law)
        assert 0 <= price - true * NANO < rows**2


@pytest.mark.parametrize(("scale", "handicap", "flagged"), [(2, 6, False), (1, 4, True)])
def test_a_choice_costs_what_is_charged(monkeypatch, scale, handicap, flagged):
    """N = 6,000 a side at ε = 1; control with half the noise, whose true loss is 2.

    The record moves one score up and the other down, and the option it favours has a chance of
    0.05: the worst case. A true claim is contradicted in less than 1 run in 10,000.
    """
    monkeypatch.setattr(secret, "TRIES_EACH", 4)
    selection = worst_selection(scale, handicap)
    assert (
        Accountant(DOMAIN, PURE, "add_remove").price_of_choice(
            selection.reach, DiscreteLaplace(2, 0)
        )
        == NANO
    )
    sides = [chosen(table, selection, 6000) for table in (CELLS, MORE)]
    bound = audit_epsilon(*sides, confidence=CONFIDENCE, coins=np.random.default_rng())
    assert (bound > 1.0) is flagged
    assert bound > 0.4  # an audit that sees nothing would prove nothing
