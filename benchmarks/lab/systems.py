"""Systems: no reuse, an exact cache, and eke's own decisions under a policy, on simulated noise.

`decide`, `Accountant` and `Inference` are what a session runs; only the noise is simulated, by an
injected generator.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from benchmarks.lab.finer import finer_noise
from benchmarks.lab.traces import Table, Trace
from eke.history import Measurement
from eke.inference import Inference, halfwidth
from eke.planning import (
    AccountsAtHand,
    Demand,
    Facts,
    Part,
    Plan,
    Policy,
    decide_demands,
    direct,
    part_for,
)
from eke.planning.online.facts import Missing
from eke.privacy.accountant import Accountant
from eke.privacy.law import NoiseLaw
from eke.privacy.measure import Measure
from eke.privacy.record_loss import NANO
from eke.query import Kronecker, Marginal


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer with the half-width of its interval."""

    value: float
    half: float
    free: bool


class System(Protocol):
    """Something that can be asked."""

    @property
    def spent(self) -> int: ...

    def ask(self, demand: Demand) -> Reply | None: ...


class Alone:
    """Measures every question by itself; with `remember` the same question is asked once."""

    def __init__(
        self, table: Table, limit: int, measure: Measure, rng: np.random.Generator, *,
        remember: bool,
    ) -> None:  # fmt: skip
        self._table, self._limit, self._rng, self._remember = table, limit, rng, remember
        self._accountant = Accountant(table.domain, measure, "add_remove")
        self._known: dict[str, list[Reply]] = {}

    @property
    def spent(self) -> int:
        return self._accountant.spent

    def ask(self, demand: Demand) -> Reply | None:
        digest = demand.query.digest if self._remember else ""
        for known in self._known.get(digest, ()):
            if known.half <= demand.requirement.within:
                return Reply(known.value, known.half, free=True)
        accountant, within = self._accountant, demand.requirement.within
        part = part_for(demand.query, direct(demand.requirement, None, accountant.measure),
                        accountant.measure)  # fmt: skip
        after = accountant.after(part.query, part.law, self._limit)
        if after > self._limit:
            return None
        accountant.add(part.query, part.law, after)
        value = self._table.truth(demand.query) + _noise(part.law, 1, self._rng)[0]
        reply = Reply(value, within, free=False)
        if self._remember:
            self._known.setdefault(digest, []).append(reply)
        return reply


@dataclass(frozen=True, slots=True)
class WithoutAdvice:
    """A policy whose refusals do not say what would be affordable: that takes most of the time."""

    policy: Policy

    @property
    def name(self) -> str:
        return self.policy.name

    def plan(self, missing: Sequence[Missing], facts: Facts) -> Plan:
        return self.policy.plan(missing, facts)

    def least_stretch(
        self, missing: Sequence[Missing], facts: Facts, rents: Sequence[Part]
    ) -> float | None:
        return None


class Deciding:
    """Answers through `eke.planning.online.decide` under one policy."""

    def __init__(
        self, table: Table, limit: int, measure: Measure, rng: np.random.Generator, policy: Policy
    ) -> None:
        self._table, self._rng, self._policy = table, rng, WithoutAdvice(policy)
        accountant = Accountant(table.domain, measure, "add_remove")
        self._measured: list[Measurement] = []
        self._refined: set[int] = set()
        accounts = AccountsAtHand(accountant, measurements=self._measured, refined=self._refined)
        self.facts = Facts(Inference(table.domain), accounts, limit)
        self.plans: list[Plan] = []
        # What was free once stays free: history only grows.
        self._met: dict[tuple[str, float, float], Reply] = {}

    @property
    def spent(self) -> int:
        return self.facts.accountant.spent

    def ask(self, demand: Demand) -> Reply | None:
        wanted, facts = demand.requirement, self.facts
        key = (demand.query.digest, wanted.within, wanted.confidence)
        if key in self._met:
            return self._met[key]
        decision = decide_demands([Demand(demand.query, wanted)], facts, self._policy)
        if decision.action == "refuse":
            return None
        if decision.plan is not None:
            self.measure(decision.plan)
        known = facts.inference.linear(demand.query)
        assert known is not None, "a question that is free or was just measured is determined"
        reply = Reply(known[0], halfwidth(known[1], wanted.confidence), decision.plan is None)
        self._met[key] = Reply(reply.value, reply.half, free=True)
        return reply

    def measure(self, plan: Plan) -> None:
        """Charge a plan and take in simulated noisy answers."""
        facts = self.facts
        after = facts.accountant.after_all([(p.query, p.charged) for p in plan.parts], facts.limit)
        for part in plan.parts:
            facts.accountant.add(part.query, part.charged, after)
            if isinstance(part.query, Marginal):
                exact = self._table.marginal(part.query.attributes).ravel().astype(np.float64)
            elif isinstance(part.query, Kronecker):
                counts = self._table.marginal(part.query.attributes)
                exact = part.query.exact(counts).ravel().astype(np.float64)
            else:
                exact = np.array([self._table.truth(part.query)])
            before: tuple[float, ...] = ()
            if part.refines is None:
                noise = _noise(part.law, len(exact), self._rng)
            else:
                before = self._measured[part.refines.place].values
                noise = finer_noise(np.array(before) - exact, part.charged, self._rng)
                self._refined.add(part.refines.place)
            values = tuple((exact + noise).tolist())
            measured = Measurement(
                part.query, part.law, values, refines=part.refines, before=before
            )
            facts.inference.extend(measured)
            self._measured.append(measured)
        facts.past.learn(plan)
        self.plans.append(plan)


def _noise(law: NoiseLaw, size: int, rng: np.random.Generator) -> NDArray[np.float64]:
    if law.laplace_scale:
        return rng.laplace(0.0, law.laplace_scale, size)
    return rng.normal(0.0, law.gaussian_variance**0.5, size)


@dataclass(slots=True)
class Figures:
    """What a system did with a trace."""

    system: str
    arrivals: int = 0
    answered: int = 0
    free: int = 0
    held: int = 0
    loss: float = 0.0
    errors: list[float] = field(default_factory=list)
    seconds: float = 0.0
    bought: int = 0

    def line(self) -> dict[str, float | str]:
        return {
            "system": self.system,
            "answered": self.answered / self.arrivals,
            "loss": self.loss,
            "free": self.free / self.arrivals,
            "error/within": float(np.mean(self.errors)) if self.errors else float("nan"),
            "coverage": self.held / self.answered if self.answered else float("nan"),
        }


def play(name: str, system: System, trace: Trace) -> Figures:
    """The figures of a system that is asked a whole trace."""
    found, start = Figures(name, len(trace.arrivals)), time.perf_counter()
    for place in trace.arrivals:
        demand = trace.demands[place]
        reply = system.ask(demand)
        if reply is None:
            continue
        error = abs(reply.value - trace.table.truth(demand.query))
        found.answered += 1
        found.free += reply.free
        found.held += error <= reply.half
        found.errors.append(error / demand.requirement.within)
    found.loss = system.spent / NANO
    found.seconds = time.perf_counter() - start
    if isinstance(system, Deciding):
        found.bought = sum(bool(plan.instead_of) for plan in system.plans)
    return found


Build = Callable[[Table, int, Measure, np.random.Generator], System]
