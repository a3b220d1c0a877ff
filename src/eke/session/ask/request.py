"""Request: a question with its accuracy and who asks; what to do about it, and its answer."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, TypeAlias

from eke.errors import EstimateError
from eke.history import Measurement
from eke.inference import Inference, Posterior
from eke.planning import (
    Decision,
    Facts,
    Policy,
    QuestionDemand,
    Requirement,
    check_price,
    checked,
    decide,
    decide_chosen,
    decide_quantiles,
    decide_relative,
    policy_named,
    spend_on,
    spend_on_chosen,
    spend_on_quantiles,
)
from eke.question import Question
from eke.question.chosen import check_accuracy, chosen_ladder
from eke.session.answer.answer import Answer
from eke.session.answer.cell import Cell
from eke.session.answer.qualified import qualified
from eke.session.answer.record import (
    Finding,
    Headline,
    answer_body,
    noise_text,
    read_rows,
    read_text,
    stored_text,
)
from eke.session.ask.aim import Aim, HalfWidth, by_column, half_width, price_of_nano
from eke.session.ask.chosen import chosen_sentence, chosen_text
from eke.session.ask.known_cells import KnownCells, entries_used, exact_posterior
from eke.session.ask.ranks import estimated_rows, first_of, first_rows, first_sentence, rank_cells
from eke.session.ask.work import Work, looking_work, plans_for, work_of

InferenceThrough: TypeAlias = Callable[[int], Inference]

DEFAULT_CONFIDENCE = 0.95
_ROUNDING = 1.0 + 1e-6


@dataclass(frozen=True, slots=True)
class Request:
    """A question to be answered; every value is to be as accurate as its column demands.

    With `spend`, as accurate as so many nano-units buy, whatever the demand says.
    """

    demand: QuestionDemand
    policy: str
    analyst: str
    spend: int | None = None

    @property
    def question(self) -> Question:
        return self.demand.question

    @property
    def in_steps(self) -> bool:
        """True when one measurement may not be the end of it."""
        return bool(self.demand.curved or self.demand.relative or self.demand.quantiles)

    @property
    def is_chosen(self) -> bool:
        """True when it is for one chosen quantile, whose widths are numbers of records."""
        return any(ladder.is_chosen for _, _, ladder, _ in self.demand.quantiles)

    @property
    def headline(self) -> Headline:
        demand = self.demand
        first = demand.columns[0][1]
        is_share = 0 in demand.relative_places
        within = None if self.spend is not None or is_share else first
        share = first if is_share else None
        text, size = self.question.text, demand.groups_of
        of_records = is_share and demand.columns[0][0].ladder is not None
        return Headline(text, within, demand.confidence, self.spend, size, share, of_records)

    @property
    def digest(self) -> str:
        """SHA-256 of what was requested: an idempotency key is bound to it."""
        within: Any = list(self.demand.within)
        body = {
            **self.question.identity,
            "within": within[-1] if self.question.is_block else within,
            "confidence": self.demand.confidence,
            "policy": self.policy,
        }
        if self.spend is not None:
            del body["within"]
            body["spend_nano"] = self.spend
        if self.demand.groups_of is not None:
            body["groups_of"] = self.demand.groups_of
        if self.demand.relative:
            body["relative"] = list(self.demand.relative)
        return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()

    def work(self, inference: Inference) -> Work:
        """How much work deciding and answering take with what is known."""
        return work_of(self.demand, inference, spends=self.spend is not None)

    def looking_work(self, inference: Inference) -> Work | None:
        """How much work it takes to answer from what is known; None when that is no use."""
        return None if self.spend is not None else looking_work(self.demand, inference)

    def decide(
        self, facts: Facts, policy: Policy | None = None, before: Sequence[int] = ()
    ) -> Decision:
        """What to do about it now, by the policy asked for or another one.

        `before` are the costs of the steps that were taken for it, in nano-units.
        """
        chosen = policy or policy_named(self.policy)
        if self.demand.quantiles:
            return self._decide_quantiles(facts, chosen, before)
        if self.demand.relative:
            return decide_relative(self.demand, facts, chosen)
        if self.spend is None:
            return decide(self.demand, facts, chosen)
        plans = plans_for(self.demand, len(facts.inference.rows))
        return spend_on(self.demand, facts, chosen, self.spend, before=before, plans=plans)

    def left_of(self, before: Sequence[int] = ()) -> int | None:
        """What may still be charged for it after some steps; None if only the limit says."""
        return None if self.spend is None else self.spend - sum(before)

    def if_useful(self, width: float | None) -> float | None:
        """A half-width of the first column, all others stretched alike, if it says anything.

        An interval as wide as all that an average can be says nothing: it is not worth an offer.
        """
        if width is None or self.is_chosen:
            return width
        first = self.demand.columns[0][1]
        columns = self.demand.columns[:1] if self.headline.within is None else self.demand.columns
        for formula, within in columns:
            low, high = self.question.bounds(formula)
            if width * (within / first) >= (high - low) / 2.0:
                return None
        return width

    def text(self, facts: Facts, finding: Finding) -> str:
        """The stored answer from the facts as they are now."""
        question, inference = self.question, facts.inference
        known = KnownCells.of(question, inference)
        if self.is_chosen:
            belief = self._posterior(0, 0, known)
            return chosen_text(
                self.demand, belief, facts, finding, headline=self.headline, asked=self._asked
            )
        is_plain = question.keeps_all and not question.ranks
        rows = [] if is_plain else estimated_rows(self.demand, known)
        shown = list(question.places)
        if not question.keeps_all:
            shown = [question.places[place] for place in question.result(rows)]
        ranks = rank_cells(self.demand, rows, known)

        def cell(column: int, row: int) -> Cell:
            return ranks[column][row] if column in ranks else self._cell(column, row, known)

        cells = [[cell(column, row) for column in self._value_columns] for row in shown]
        first = {**first_rows(self.demand, shown, known), **entries_used(question, inference)}
        body = {**answer_body(question, shown, cells), **self._asked, **first}
        headline = self.headline
        if headline.within is None:
            reached = _widest([self._accurate(row)[0] for row in cells])
            headline = replace(headline, within=reached)
            return stored_text(body, headline, reached, facts, finding)
        lead, shares = self.demand.columns[0][1], self.demand.relative_places
        widths = [
            (cell.high - cell.low) / 2.0 * (lead / within)
            for row in cells
            for place, (cell, (_, within)) in enumerate(
                zip(self._accurate(row), self.demand.columns, strict=True)
            )
            if cell.low is not None and cell.high is not None and place not in shares
        ]
        return stored_text(body, headline, max(widths, default=0.0), facts, finding)

    def answer(self, text: str, inference_through: InferenceThrough) -> Answer:
        """The answer that a stored text holds; its posteriors are computed when somebody looks."""
        body, receipt = read_text(text)
        question = self.question
        keys, (shown, cells) = question.keys(), read_rows(question, body)

        def belief(row: int, column: int) -> Posterior:
            return self._belief(column, shown[row], inference_through(receipt.through))

        rows = []
        for place, values in zip(shown, cells, strict=True):
            in_order = iter(values)
            at = (column.formula.key for column in question.columns)
            rows.append(tuple(next(in_order) if key is None else keys[place][key] for key in at))
        answer = Answer(
            tuple(column.name for column in question.columns),
            tuple(column.is_key for column in question.columns),
            tuple(rows),
            receipt,
            question.is_named,
            question.is_block,
            belief,
            first=first_of(question, body),
        )
        said = self._smaller_groups(cells) + first_sentence(question, body, receipt.confidence)
        said += chosen_sentence(receipt)
        return qualified(answer, question, said)

    # -- inside --------------------------------------------------------------------------------

    def _decide_quantiles(self, facts: Facts, policy: Policy, before: Sequence[int]) -> Decision:
        """The same for a question with quantiles: its other columns come first."""
        if self.is_chosen and self.spend is not None:
            return spend_on_chosen(self.demand, facts, self.spend, is_paid=bool(before))
        if self.is_chosen:
            return decide_chosen(self.demand, facts, policy)
        if self.spend is not None:
            return spend_on_quantiles(self.demand, facts, self.spend, before)
        others = self.demand.without_quantiles()
        if others.columns:
            decision = (decide_relative if others.relative else decide)(others, facts, policy)
            if decision.action != "history":
                return decision
        return decide_quantiles(self.demand, facts, policy)

    def _smaller_groups(self, cells: Sequence[Sequence[Cell]]) -> tuple[str, ...]:
        """A sentence about the groups that are too small to be as accurate as was asked for."""
        size = self.demand.groups_of
        if size is None or self.spend is not None:
            return ()
        values = [self._accurate(row) for row in cells]
        wider = sum(any(map(self._is_wider, row, range(len(row)))) for row in values)
        if not wider:
            return ()
        verb = "has" if wider == 1 else "have"
        which = "The group has" if len(cells) == 1 else f"{wider:,} of {len(cells):,} groups {verb}"
        rest = "what the same noise gives there is wider than asked for."
        return (f"{which} fewer than {size:,} records, by the estimates: {rest}",)

    def _is_wider(self, cell: Cell, place: int) -> bool:
        """Whether a cell of the column of values at a place is wider than was asked for."""
        formula, within = self.demand.columns[place]
        if place in self.demand.relative_places:
            if formula.ladder is not None:  # how many records it holds is not told by its width
                return False
            within *= abs(cell.value or 0.0)
        return _halfwidth(cell) > within * _ROUNDING

    @property
    def _asked(self) -> dict[str, Any]:
        """What to send to ask the same in SQL again, in the words of the HTTP API."""
        sql, inline = self.question.identity.get("sql"), self.question.requirement
        if sql is None:
            return {}
        asked: dict[str, Any] = {"sql": sql, "policy": self.policy}
        if inline is None and self.spend is not None:
            asked["spend"] = price_of_nano(self.spend)
        elif inline is None:
            demand = self.demand
            widths: dict[str, HalfWidth] = {
                column.name: f"{100.0 * width:.12g} %" if place in demand.relative else width
                for place, (column, width) in enumerate(
                    zip(self.question.columns, demand.within, strict=True)
                )
                if width is not None
            }
            first, *others = widths.values()
            asked["within"] = first if all(one == first for one in others) else widths
        if self.demand.groups_of is not None and (inline is None or inline.groups_of is None):
            asked["groups_of"] = self.demand.groups_of
        if inline is None or inline.confidence is None:
            asked["confidence"] = self.demand.confidence
        return {"asked": asked}

    def _accurate(self, row: Sequence[Cell]) -> list[Cell]:
        """The cells of a row whose accuracy is asked for: all but ranks."""
        columns = [column for column in self.question.columns if not column.is_key]
        return [cell for cell, one in zip(row, columns, strict=True) if one.rank is None]

    @property
    def _value_columns(self) -> list[int]:
        return [i for i, column in enumerate(self.question.columns) if not column.is_key]

    def _cell(self, column: int, row: int, known: KnownCells) -> Cell:
        formula = self.question.columns[column].formula
        if not self.question.has_value(formula, row):
            return Cell(None, None, None)
        posterior = self._posterior(column, row, known)
        scaled = formula.scale()
        value: float | None = posterior.value
        if value is None or not math.isfinite(value):
            return Cell(None, None, None)
        low, high = posterior.interval(self.demand.confidence)
        if scaled is not None:  # the posterior is that of the answer itself
            ends = [float(formula.value(_at(scaled[0], x))) for x in (low, high)]
            value = float(formula.value(_at(scaled[0], posterior.value)))
            low, high = min(ends), max(ends)
        if value is None or not math.isfinite(value):
            return Cell(None, None, None)
        # Kept, for history may have grown when it is read: then it would be inferred anew. Of a
        # formula it takes many draws, and is kept where it is the only one.
        keeps = self.question.is_block or (self.question.is_number and math.isfinite(low))
        variance = posterior.variance if keeps else None
        first, last = (end if math.isfinite(end) else None for end in (low, high))
        return Cell(value, first, last, variance)

    def _belief(self, column: int, row: int, inference: Inference) -> Posterior:
        """What is known about a cell itself, scaled and shifted as its column is."""
        formula = self.question.columns[column].formula
        scaled = formula.scale()
        if scaled is None or scaled[1] == 1.0:
            return self._posterior(column, row, KnownCells(self.question, inference, {}, ()))
        place = scaled[0]
        shift, moved = (formula.value(_at(place, Fraction(x))) for x in (0, 1))
        query = (moved - shift) * self.question.query(place, row)
        return exact_posterior(replace(query, constant=query.constant + shift), inference)

    def _posterior(self, column: int, row: int, known: KnownCells) -> Posterior:
        """What is known about a cell, or about the answer that it is, scaled and shifted."""
        formula = self.question.columns[column].formula
        scaled = formula.scale()
        if scaled is not None:
            return known.posterior(scaled[0], row)
        if formula.ladder is not None:
            return known.quantile(formula.ladder, formula.aggregates()[0], row)
        posterior = self.demand.posterior(column, row, known.inference)
        if posterior is None:
            raise EstimateError("history does not determine this question")
        return posterior


def request_of(question: Question, aim: Aim, *, policy: str, analyst: str) -> Request:
    """The request for a question; what it says itself about accuracy must not be said twice."""
    aim = aim.with_inline(question.requirement)
    sure = DEFAULT_CONFIDENCE if aim.confidence is None else aim.confidence
    nano = aim.spend_nano
    given = by_column(question, 1.0 if aim.within is None else aim.within)
    read = [
        (None, False) if one is None else half_width(one, column.formula.calendar)
        for one, column in zip(given, question.columns, strict=True)
    ]
    widths: tuple[Any, ...] = tuple(width for width, _ in read)
    relative = tuple(place for place, (_, is_share) in enumerate(read) if is_share)
    if question.is_block:  # the digests of such requests have always been made of plain floats
        (required,) = (Requirement(width, sure) for width in widths if width is not None)
        widths = tuple(None if width is None else required.within for width in widths)
        sure = required.confidence
    if chosen_ladder(question) is not None:
        check_accuracy(is_share=bool(relative), spends=nano is not None, groups_of=aim.groups_of)
    demand = checked(QuestionDemand(question, widths, sure, relative, aim.groups_of))
    if nano is not None:
        check_price(demand)
    return Request(demand, policy, analyst, nano)


def finding_of(
    facts: Facts, released: Sequence[Measurement], cost: int, known: float | None
) -> Finding:
    """How an answer came about that measurements were made for."""
    return Finding(
        "measured",
        released[0].sequence,
        cost=cost,
        price=sum(facts.accountant.price(one.query, one.charged) for one in released),
        known=known,
        noise=noise_text([one.charged for one in released]),
    )


def _halfwidth(cell: Cell) -> float:
    """Half the width of a cell's interval; infinite where it has no end or no value."""
    ends = (cell.low, cell.high)
    return math.inf if ends[0] is None or ends[1] is None else (ends[1] - ends[0]) / 2.0


def _widest(cells: Sequence[Cell]) -> float | None:
    """The widest half-width of some cells; None when one has none, or there are no cells."""
    widest = max((_halfwidth(cell) for cell in cells), default=math.inf)
    return widest if math.isfinite(widest) else None


def _at(index: int, value: float | Fraction) -> list[float | Fraction]:
    """A row of answers in which only one is looked at."""
    return [Fraction(0)] * index + [value]
