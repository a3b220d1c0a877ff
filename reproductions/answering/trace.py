"""Trace: what a system did with a workload, and the papers' four figures of merit.

ᾱ, the answering ratio R_a, the relative error E and the reliability R_i are cumulative: the value
at query t is over the queries 1..t (BAYES Def. 6.1-6.3, ONLINE Def. 5.1-5.3).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from reproductions.answering.paper_systems import System
from reproductions.answering.source import NoisySource
from reproductions.answering.workload import Workload

Reals = NDArray[np.float64]
Curves: TypeAlias = dict[str, Reals]
"""Name of the figure of merit to its value after each query; NaN before the first answer."""


@dataclass(frozen=True, slots=True)
class Trace:
    """One entry for each query; refused ones have NaN for value, low and high."""

    spent: Reals
    paid: NDArray[np.bool_]
    guaranteed: NDArray[np.bool_]
    value: Reals
    low: Reals
    high: Reals
    truth: Reals
    within: Reals

    @property
    def answered(self) -> NDArray[np.bool_]:
        return ~np.isnan(self.value)


def run(system: System, workload: Workload, source: NoisySource) -> Trace:
    """The trace of a system that is asked the whole workload, in order."""
    number = len(workload)
    spent = np.zeros(number)
    paid, guaranteed = np.zeros(number, np.bool_), np.zeros(number, np.bool_)
    replies = np.full((number, 3), np.nan)
    for index, query in enumerate(workload.coefficients):
        reply = system.ask(query, float(workload.within[index]), workload.delta)
        spent[index] = system.spent
        if reply is not None:
            paid[index], guaranteed[index] = reply.paid, reply.guaranteed
            replies[index] = reply.value, reply.low, reply.high
    truth = np.array([source.truth(query) for query in workload.coefficients])
    value, low, high = replies.T
    return Trace(spent, paid, guaranteed, value, low, high, truth, workload.within)


def online_curves(trace: Trace) -> Curves:
    """ONLINE: errors relative to ε (eq. 54), reliability of [L, U] itself (eq. 53)."""
    held = (trace.low <= trace.truth) & (trace.truth <= trace.high)
    return _curves(trace, np.abs(trace.value - trace.truth) / trace.within, held)


def bayes_curves(trace: Trace) -> Curves:
    """BAYES: errors relative to 2ε (eq. 41), reliability of [L, L + 2ε] (eq. 40)."""
    held = (trace.low <= trace.truth) & (trace.truth <= trace.low + 2.0 * trace.within)
    return _curves(trace, np.abs(trace.value - trace.truth) / (2.0 * trace.within), held)


def _curves(trace: Trace, error: Reals, held: NDArray[np.bool_]) -> Curves:
    answered = trace.answered
    asked = np.arange(1, len(answered) + 1)
    so_far = np.cumsum(answered)
    with np.errstate(invalid="ignore"):
        return {
            "spent": trace.spent,
            "answered": np.cumsum(trace.guaranteed) / asked,
            "error": np.cumsum(np.where(answered, error, 0.0)) / so_far,
            "reliability": np.cumsum(held & answered) / so_far,
            "paid": np.cumsum(trace.paid) / asked,
        }


Score = Callable[[Trace], Curves]
