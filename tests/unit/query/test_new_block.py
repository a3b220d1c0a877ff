"""A new kind of block is one class: two are made here, and everything works with them.

Of one a record changes several answers, of the other exactly one.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

import eke
from eke.data import open_source
from eke.domain import Domain, Integer, Replace
from eke.engine import Beginning, Vault
from eke.engine.exact import exact_answers
from eke.errors import PrivacyError, QueryError
from eke.history import Measurement
from eke.inference import Inference
from eke.inference.features import HistoryFeatures, kernel, table_of
from eke.ledger import Ledger
from eke.mechanism import secret
from eke.planning import Demand, Part, Plan, Workload, part_for
from eke.planning.online.past import is_block
from eke.planning.online.rent import released_as_zeros
from eke.privacy.accountant import Accountant, cell_losses
from eke.privacy.concentrated import CONCENTRATED
from eke.privacy.law import DiscreteGaussian, DiscreteLaplace, DiscreteLaw
from eke.privacy.measure import Measure
from eke.privacy.pure import PURE
from eke.privacy.record_loss import NANO
from eke.query import Block, Neighbours, Prior, Query, Term, count, kinds, total
from eke.query.block import BlockOf
from eke.query.kinds import KINDS, block_from_document
from tests.unit.privacy.loss_twin import LossTwin

# -- the new kind --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Running(Block):
    """Running totals of a question along one attribute: up to its first value, its second, ..."""

    kind: ClassVar[str] = "running"
    along: str
    of: Query

    @property
    def domain(self) -> Domain:
        return self.of.domain

    @property
    def attributes(self) -> tuple[str, ...]:
        return self.domain.in_order({self.along, *self.of.attributes})

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.domain[self.along].size,)

    @property
    def exponent(self) -> int:
        return self.of.exponent

    @property
    def inside(self) -> None:
        """None: a record is in every total from its own value on."""

    @property
    def grouped(self) -> None:
        return None

    @property
    def matrices(self) -> None:
        """None: the question may be a sum of several products."""

    def reach(self, _: int) -> None:
        return None

    def cell(self, index: int) -> Query:
        up_to = (np.arange(self.cells) <= index).astype(np.int64)
        factors = ((self.along, up_to),)
        return Query.of(self.domain, [Term(Fraction(1), factors)]).pointwise(self.of)

    def exact_answers(
        self, attributes: Sequence[str], codes: NDArray[np.int64], counts: NDArray[np.int64]
    ) -> list[int]:
        totals = [0] * self.cells
        own = codes[:, list(attributes).index(self.along)].tolist()
        for first, coefficient, number in zip(
            own, self.of.numerators(attributes, codes), counts.tolist(), strict=True
        ):
            for place in range(first, self.cells):
                totals[place] += coefficient * number
        return totals

    def rebuilt(self, domain: Domain) -> Running:
        return Running(self.along, self.of.rebuilt(domain))

    @property
    def description(self) -> str:
        return f"running totals of {self.of.description} along {self.along}"

    def to_document(self) -> dict[str, Any]:
        return {"running": self.along, "of": self.of.to_document()}

    @staticmethod
    def from_document(domain: Domain, document: Mapping[str, Any]) -> Running:
        return Running(document["running"], Query.from_document(domain, document["of"]))


@dataclass(frozen=True, slots=True, eq=False)
class Alike(Block):
    """Two counts: of records whose values of two attributes agree, and of all others."""

    kind: ClassVar[str] = "alike"
    domain: Domain = field()
    attributes: tuple[str, ...] = field()

    @property
    def shape(self) -> tuple[int, ...]:
        return (2,)

    @property
    def exponent(self) -> int:
        return 0

    @property
    def inside(self) -> Query:
        """Everybody: a record is in one of both."""
        return count().on(self.domain)

    @property
    def grouped(self) -> None:
        return None

    @property
    def matrices(self) -> None:
        return None

    def reach(self, _: int) -> None:
        return None

    def cell(self, index: int) -> Query:
        rows, columns = self.domain.sizes(self.attributes)
        table = np.abs(np.eye(rows, columns) - index)
        return eke.table(self.attributes, table).on(self.domain)

    def exact_answers(
        self, _: Sequence[str], codes: NDArray[np.int64], counts: NDArray[np.int64]
    ) -> list[int]:
        agree = sum(int(n) for (a, b), n in zip(codes.tolist(), counts, strict=True) if a == b)
        return [agree, sum(counts.tolist()) - agree]

    def rebuilt(self, domain: Domain) -> Alike:
        return Alike(domain, self.attributes)

    @property
    def description(self) -> str:
        return f"{' = '.join(self.attributes)} or not"

    def to_document(self) -> dict[str, Any]:
        return {"alike": list(self.attributes)}

    @staticmethod
    def from_document(domain: Domain, document: Mapping[str, Any]) -> Alike:
        return Alike(domain, tuple(document["alike"]))


# -- what works with it --------------------------------------------------------------------------

DOMAIN = Domain(a=Integer(0, 3, null=Replace(0)), b=Integer(0, 2, null=Replace(0)))
ROWS = pd.DataFrame({"a": [0, 0, 1, 3, 3, 3, 2], "b": [0, 1, 1, 2, 0, 0, 2]})
QUARTERS = (total("b") / 4 - count(a=(1, 2))).on(DOMAIN)
BLOCKS = [
    Running("a", count().on(DOMAIN)),
    Running("b", QUARTERS),
    Alike(DOMAIN, ("a", "b")),
]
EACH = pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.description)
BOTH = pytest.mark.parametrize("measure", [PURE, CONCENTRATED])


@pytest.fixture
def entered(monkeypatch: pytest.MonkeyPatch) -> None:
    more = {"running": Running, "alike": Alike}
    monkeypatch.setattr(kinds, "KINDS", MappingProxyType({**KINDS, **more}))


def law_of(measure: Measure, exponent: int) -> DiscreteLaw:
    made = DiscreteLaplace if measure is PURE else DiscreteGaussian
    return made(1_234_567, exponent - 18)


def by_hand(block: Block) -> list[Fraction]:
    """The exact answers from the coefficients of every row, one question at a time."""
    codes = ROWS[list(DOMAIN.names)].to_numpy()
    found = []
    for query in block.queries():
        whole = sum(query.numerators(DOMAIN.names, codes))
        found.append(whole * Fraction(2) ** query.exponent)
    return found


@EACH
@BOTH
@pytest.mark.parametrize("neighbours", ["add_remove", "replace_one"])
def test_it_is_priced(block: Block, measure: Measure, neighbours: Neighbours):
    """Against every unit there is; a record never loses more than is charged."""
    law = law_of(measure, block.exponent)
    truth = LossTwin(DOMAIN, neighbours).largest_after(block, law)
    accountant = Accountant(DOMAIN, measure, neighbours)
    price, after = accountant.price(block, law), accountant.after(block, law, NANO**2)
    assert price >= truth
    assert after >= truth
    if neighbours == "add_remove":
        assert after < truth + block.cells + 1  # each question's loss is rounded up
    if block is not BLOCKS[1] and neighbours == "add_remove":
        assert price == math.ceil(truth), "no more than it must"
    accountant.add(block, law, after)
    assert accountant.spent == after
    assert accountant.after(count(a=1).on(DOMAIN), law, NANO**2) >= after


@EACH
def test_what_a_record_adds(block: Block):
    cells = np.array(list(np.ndindex(*DOMAIN.shape)))
    for power in (1, 2):
        added = np.zeros(len(cells))
        for query in block.queries():
            numbers = np.array(query.numerators(DOMAIN.names, cells)) * 2.0**query.exponent
            added += np.abs(numbers) ** power
        unit = 2.0 ** (power * block.exponent)
        assert block.largest_reach(power) * unit >= added.max()
        if block is not BLOCKS[1]:
            assert block.largest_reach(power) * unit == added.max()


def test_losses_of_its_questions_add_up():
    found = cell_losses(BLOCKS[0], DiscreteLaplace(1, 0))
    table = sum(losses for names, losses, _ in found if names)
    assert (np.asarray(table) + int(found[-1][1])).tolist() == [4 * NANO, 3 * NANO, 2 * NANO, NANO]


@EACH
def test_it_is_answered_exactly(block: Block):
    (counts,) = open_source(ROWS, DOMAIN).counts([block.needed])
    found = exact_answers(block, counts)
    unit = Fraction(2) ** found.exponent
    assert [number * unit for number in secret._EXACT.__get__(found)] == by_hand(block)


@EACH
def test_history_tells_of_its_questions(block: Block):
    values = tuple(map(float, by_hand(block)))
    inference = Inference(DOMAIN, [Measurement(block, DiscreteGaussian(8, 0), values)])
    for query, value in zip(block.queries(), values, strict=True):
        found = inference.linear(query)
        assert found is not None
        assert found[0] == pytest.approx(value)
    if block is BLOCKS[0]:
        difference = inference.linear(count(a=(1, 3)).on(DOMAIN))
        assert difference is not None
        assert difference[0] == pytest.approx(5.0)
        assert difference[1].variance == pytest.approx(2.0 * DiscreteGaussian(8, 0).variance)


@EACH
def test_features_are_those_of_its_questions(block: Block):
    matrix = np.array([table_of(query, DOMAIN.names) for query in block.queries()])
    found = kernel(HistoryFeatures.of(DOMAIN, [block]), Prior(DOMAIN))
    np.testing.assert_allclose(found, matrix @ matrix.T / DOMAIN.size, atol=1e-12)


@EACH
def test_it_is_stored_and_read_again(block: Block, entered: None):
    document = json.loads(json.dumps(block.to_document()))
    again = block_from_document(DOMAIN, document)
    assert type(again) is type(block)
    assert again.to_document() == document
    part = part_for(block, 5.0, PURE)
    assert Part.from_document(DOMAIN, part.to_document()).law == part.law
    assert len(released_as_zeros(part).values) == block.cells
    assert not is_block(part)


@EACH
def test_it_is_released(block: Block, entered: None, folder: Path):
    """Through the junction, with noise of a thousandth."""
    ledger = Ledger.create(folder / "a.eke", {}, limit=10**15)
    source = open_source(ROWS, DOMAIN)
    vault = Vault(ledger, source, Beginning(DOMAIN, PURE, "add_remove"))
    text = vault.release(
        Plan((part_for(block, 0.001, PURE),)),
        analyst="ann",
        key="k",
        digest="d",
        answer=lambda _facts, released, _cost: json.dumps(released[0].values),
    )
    assert json.loads(text) == pytest.approx([float(v) for v in by_hand(block)], abs=0.1)


@EACH
def test_nothing_is_measured_before_it_is_entered(block: Block, folder: Path):
    ledger = Ledger.create(folder / "a.eke", {}, limit=10**15)
    source = open_source(ROWS, DOMAIN)
    vault = Vault(ledger, source, Beginning(DOMAIN, PURE, "add_remove"))
    with pytest.raises(PrivacyError, match="nothing derived"):
        vault.release(
            Plan((part_for(block, 1.0, PURE),)),
            analyst="ann",
            key="k",
            digest="d",
            answer=lambda *_: "",
        )
    assert ledger.balance().spent == 0


@EACH
def test_what_is_for_groups_of_attributes_says_so(block: Block, entered: None):
    demand = {"query": block.to_document(), "within": 1.0, "confidence": 0.9}
    with pytest.raises(QueryError, match="not asked for"):
        Demand.from_document(DOMAIN, demand)
    with pytest.raises(QueryError, match="a workload is made of"):
        Workload.of(DOMAIN, [block])


def test_it_reads_as_it_says():
    assert BLOCKS[0].description == "running totals of count along a"
    assert BLOCKS[0].keys() == [(0,), (1,), (2,), (3,)]


@pytest.mark.parametrize("part", sorted(BlockOf.__abstractmethods__))
def test_a_forgotten_part_shows(part: str):
    """Positive control: a class without one of its parts cannot be made."""
    forgetful = type("Forgetful", (Running,), {part: getattr(Block, part), "__slots__": ()})
    with pytest.raises(TypeError, match="abstract"):
        forgetful("a", count().on(DOMAIN))
