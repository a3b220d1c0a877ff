"""Theorem 2.2 of CUBE, the (ε, δ) noise, beside zCDP and the least Gaussian noise."""

from __future__ import annotations

from math import sqrt
from typing import Any

from eke.planning.workload.release import plan_release
from eke.planning.workload.workload import all_marginals
from eke.privacy.calibration import calibrations
from eke.privacy.concentrated import CONCENTRATED
from eke.privacy.pure import PURE
from reproductions.answering.report import Report
from reproductions.cube.tables import adult_eight

RHOS = (0.001, 0.01, 0.1, 0.5, 1.0, 2.0)
DELTA = 1e-6


def theorem_2_2(report: Report) -> dict[str, Any]:
    """The RMSE of the plan for all pairs of Adult's attributes, at the ε that each rho implies."""
    workload = all_marginals(adult_eight().domain, 2)
    unit = plan_release(workload, measure=CONCENTRATED, budget=0.5, compare=False).rmse
    pure = plan_release(workload, measure=PURE, budget=1.0, compare=False).rmse
    rows: list[list[Any]] = []
    over: list[tuple[float, float, bool]] = []
    for rho in RHOS:
        epsilon, rules = calibrations(rho, DELTA)
        errors = [unit * sqrt(rule.variance) for rule in rules]
        rows.append([rho, epsilon, *errors, "yes" if rules[1].suffices else "no", pure / epsilon])
        over.append((epsilon, rules[1].variance / rules[0].variance, rules[1].suffices))
    report.table(
        f"Th. 2.2 beside zCDP: RMSE of all pairs of Adult's attributes at δ = {DELTA:g}",
        ["ρ", "ε", "zCDP", "Th. 2.2", "least Gaussian", "Th. 2.2 holds", "Laplace"],
        rows,
    )
    report.says(
        "Theorem 2.2",
        "noise of variance 2Δ₂² ln(2/δ)/ε² is (ε, δ)-private",
        f"at δ = {DELTA:g} it asks for zCDP's variance times "
        + ", ".join(f"{ratio:.2f} (ε = {at:.2g})" for at, ratio, _ in over)
        + "".join(
            f"; at ε = {at:.3g} it is less than the least noise that is private: the theorem is "
            "false there"
            for at, _, is_enough in over
            if not is_enough
        ),
    )
    report.keep("theorem22", rows)
    return {"rows": rows}
