"""Lower bounds on the privacy loss of anything that can be sampled on two neighbouring tables.

`audit_epsilon` plays the game of a distinguisher: an output comes from table a or table b by a
fair coin, and the distinguisher guesses the table on outputs that it finds telling and stays
silent on all others. Under epsilon-differential privacy each guess, given the output, is right with
probability at most e^ε/(1+e^ε), whatever the rule. So the number of right guesses is at most
binomial, and a Clopper–Pearson bound on the share of right guesses is a bound on ε: exact, with
one interval where a ratio of two estimated probabilities needs two.

The rule is chosen on one part of the samples and judged on the rest, so choosing it among many
costs no confidence.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

Integers = NDArray[np.int64]
Bits = NDArray[np.bool_]

# The part of the samples on which the rule is chosen. Small, because the power lies in the rest.
_CHOOSING = 0.1
# Hundreds of rules compete; at this level luck alone does not make one of them win.
_CHOOSING_CONFIDENCE = 1 - 1e-10
# Quantiles of the pooled samples at which thresholds are tried; dense in the middle, where the
# half lines on either side hold most of the samples.
_CUTS = (0, 0.02, 0.1, 0.2, 0.3, 0.4, 0.45, 0.475, 0.49, 0.5)
_VALUES = 32
_LOW_BITS = 8


@dataclass(frozen=True, slots=True)
class Rule:
    """A distinguisher: where it says b, where it says a; silent elsewhere."""

    name: str
    says_b: Callable[[Integers], Bits]
    says_a: Callable[[Integers], Bits]


def audit_epsilon(
    sample_a: ArrayLike,  # (n,) integers released on table a
    sample_b: ArrayLike,  # (n,) integers released on its neighbour b
    *,
    confidence: float,
    coins: np.random.Generator,
) -> float:
    """A number that is at most the true ε with at least the given confidence; 0 if unsure."""
    choose_a, judge_a = _split(sample_a)
    choose_b, judge_b = _split(sample_b)
    best = max(
        _rules(choose_a, choose_b),
        # A bound, not an estimate, so that three lucky outputs do not beat half a million.
        key=lambda rule: _loss_bound(*_score(rule, choose_a, choose_b), _CHOOSING_CONFIDENCE),
    )
    right, wrong = _score(best, *_fair_labels(judge_a, judge_b, coins))
    return _loss_bound(right, wrong, confidence)


def audit_rho(sample_a: ArrayLike, sample_b: ArrayLike, *, confidence: float) -> float:
    """A lower bound on ρ for noise known to be Gaussian in shape, with the given confidence.

    For Gaussian noise ρ = μ²/2 where μ is the shift in standard deviations, and any threshold t
    shows it: μ = Φ⁻¹(P_b(y >= t)) - Φ⁻¹(P_a(y >= t)). The two probabilities get one-sided
    Clopper–Pearson bounds that share the error. The shape is tested elsewhere.
    """
    choose_a, judge_a = _split(sample_a)
    choose_b, judge_b = _split(sample_b)
    threshold = np.median(np.concatenate([choose_a, choose_b]))
    if np.median(choose_b) < np.median(choose_a):
        judge_a, judge_b = judge_b, judge_a
    share = 1 - (1 - confidence) / 2
    least_b = _share_bound(*_counts(judge_b >= threshold), share)
    least_a = _share_bound(*_counts(judge_a < threshold), share)
    shift = stats.norm.ppf(least_b) + stats.norm.ppf(least_a)
    return float(max(shift, 0.0) ** 2 / 2)


def _split(sample: ArrayLike) -> tuple[Integers, Integers]:
    values = np.asarray(sample)
    if values.dtype.kind != "i" or values.ndim != 1 or len(values) < 20:
        raise ValueError("an audit needs a list of at least 20 released 64-bit integers")
    cut = round(_CHOOSING * len(values))
    return values[:cut], values[cut:]


def _fair_labels(
    sample_a: Integers, sample_b: Integers, coins: np.random.Generator
) -> tuple[Integers, Integers]:
    """As many of each sample as fair coins ask for, which makes the right guesses binomial."""
    size = min(len(sample_a), len(sample_b))
    # Ten standard deviations of room, so that the coins never ask for more than there is.
    tosses = 2 * size - math.ceil(10 * math.sqrt(size))
    if tosses <= 0:
        raise ValueError("an audit needs at least some hundred samples a side")
    heads = int(coins.binomial(tosses, 0.5))
    return sample_a[: tosses - heads], sample_b[:heads]


def _score(rule: Rule, sample_a: Integers, sample_b: Integers) -> tuple[int, int]:
    """(right, wrong) guesses of the rule."""
    right = rule.says_b(sample_b).sum() + rule.says_a(sample_a).sum()
    wrong = rule.says_b(sample_a).sum() + rule.says_a(sample_b).sum()
    return int(right), int(wrong)


def _counts(hits: Bits) -> tuple[int, int]:
    return int(hits.sum()), int((~hits).sum())


def _loss_bound(right: int, wrong: int, confidence: float) -> float:
    """ln(q/(1-q)) of the Clopper–Pearson lower bound q on the share of right guesses."""
    share = _share_bound(right, wrong, confidence)
    return max(math.log(share / (1 - share)), 0.0) if share > 0 else 0.0


def _share_bound(successes: int, failures: int, confidence: float) -> float:
    """The one-sided Clopper–Pearson lower bound on a binomial probability."""
    if successes == 0:
        return 0.0
    return float(stats.beta.ppf(1 - confidence, successes, failures + 1))


def _rules(sample_a: Integers, sample_b: Integers) -> Iterator[Rule]:
    """Half lines, pairs of half lines with a silent middle, single values, and low bits."""
    pooled = np.concatenate([sample_a, sample_b])
    quantiles = [*_CUTS, *(1 - cut for cut in _CUTS)]
    cuts = np.unique(np.quantile(pooled, quantiles, method="lower"))
    for low in cuts:
        yield from _both_ways(f"y <= {low}", _at_most(low), _never)
        yield from _both_ways(f"y >= {low}", _at_least(low), _never)
        for high in cuts[cuts > low]:
            yield from _both_ways(f"y >= {high}, not y <= {low}", _at_least(high), _at_most(low))
    values, counts = np.unique(pooled, return_counts=True)
    for value in values[np.argsort(-counts)[:_VALUES]]:
        yield from _both_ways(f"y = {value}", _equals(-1, value), _never)
    for bits in range(1, _LOW_BITS + 1):
        mask = (1 << bits) - 1
        shares = [np.bincount(s & mask, minlength=mask + 1) / len(s) for s in (sample_a, sample_b)]
        # Only the residue that differs most is worth judging.
        residue = int(np.argmax(np.abs(shares[0] - shares[1])))
        yield from _both_ways(f"y mod {mask + 1} = {residue}", _equals(mask, residue), _never)


def _both_ways(
    name: str, one: Callable[[Integers], Bits], other: Callable[[Integers], Bits]
) -> Iterator[Rule]:
    """The rule that says b where `one` holds and a where `other` does, and its reverse."""
    yield Rule(f"b where {name}", one, other)
    yield Rule(f"a where {name}", other, one)


def _at_most(threshold: int) -> Callable[[Integers], Bits]:
    return lambda y: y <= threshold


def _at_least(threshold: int) -> Callable[[Integers], Bits]:
    return lambda y: y >= threshold


def _equals(mask: int, value: int) -> Callable[[Integers], Bits]:
    return lambda y: (y & mask) == value


def _never(sample: Integers) -> Bits:
    return np.zeros(len(sample), dtype=np.bool_)
