"""Rules for (ε, δ): the errors that one plan would have by each, as lines of text."""

from __future__ import annotations

import math

from eke.errors import PrivacyError
from eke.privacy.calibration import calibrations
from eke.privacy.concentrated import CONCENTRATED
from eke.privacy.measure import Measure


def compared_rules(measure: Measure, budget: float, rmse: float, delta: float) -> list[str]:
    """The variance and the error of a plan under each rule that gives the (ε, δ) of its ρ."""
    if measure != CONCENTRATED:
        raise PrivacyError("a plan in epsilon has no delta; leave it out")
    epsilon, rules = calibrations(budget, delta)
    planned, theorem = rules[0].variance, rules[1]
    said = f"rho = {budget:g} is epsilon = {epsilon:.4g} at delta = {delta:g}"
    lines = [
        f"{said}; noise for that statement:",
        f"  {'rule':<24}{'variance':>12}{'RMSE':>12}",
    ]
    for rule in rules:
        error = rmse * math.sqrt(rule.variance / planned)
        short = "" if rule.suffices else "  too little"
        lines.append(f"  {rule.rule:<24}{rule.variance:>12.4g}{error:>12.4g}{short}")
    times = max(theorem.variance, planned) / min(theorem.variance, planned)
    if not theorem.suffices:
        told = "Th. 2.2 does not hold at this epsilon: it asks for less than any noise needs"
    elif theorem.variance > planned:
        told = f"zCDP is tighter: Th. 2.2 asks for {times:.3g} times the variance"
    else:
        told = f"Th. 2.2 is tighter: zCDP asks for {times:.3g} times the variance"
    return [*lines, f"{told}.", "A rho adds up with later ones; the others are for one release."]
