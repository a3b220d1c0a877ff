"""The pictures of docs/concepts/look-ahead.md.

python -m benchmarks.lab.pictures
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from benchmarks.lab.systems import Deciding
from benchmarks.lab.traces import Trace, adult, conjunctions, drifting
from eke.planning import Policy, top_up
from eke.planning.look_ahead.look_ahead import look_ahead
from eke.privacy.pure import PURE
from eke.privacy.record_loss import NANO

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "concepts" / "pictures"
STYLES: list[tuple[Policy, str]] = [(top_up, "#009E73"), (look_ahead, "#D55E00")]


def curves(trace: Trace, policy: Policy) -> tuple[list[float], list[float], list[float]]:
    """(loss, share answered, rents) after each arrival."""
    system = Deciding(trace.table, trace.limit, PURE, np.random.default_rng(1), policy)
    losses: list[float] = []
    answered: list[float] = []
    rents: list[float] = []
    count = 0
    for place in trace.arrivals:
        count += system.ask(trace.demands[place]) is not None
        losses.append(system.spent / NANO)
        answered.append(count / (len(answered) + 1))
        rents.append(system.facts.past.rent_loss(system.facts.accountant) / NANO)
    return losses, answered, rents


def main() -> None:
    """Draw both pictures."""
    FOLDER.mkdir(exist_ok=True)
    figure = Figure(figsize=(9, 3.2))
    left, right = figure.subplots(1, 2)
    trace = conjunctions(np.random.default_rng([8, 1]), 1500)
    for policy, colour in STYLES:
        losses, _, rents = curves(trace, policy)
        left.plot(losses, color=colour, label=policy.name)
        if policy is look_ahead:
            left.plot([3 * r for r in rents], color=colour, ls=":", label="3 × rents: the bound")
    left.set(title="Conjunctive counts", xlabel="arrivals", ylabel="loss (epsilon)")
    left.legend(frameon=False, fontsize=8)
    trace = drifting(np.random.default_rng([8, 3]), adult(), 300)
    for policy, colour in STYLES:
        right.plot(curves(trace, policy)[1], color=colour, label=policy.name)
    right.set(
        title="Drifting interests", xlabel="arrivals", ylabel="share answered", ylim=(0, 1.05)
    )
    right.legend(frameon=False, fontsize=8)
    figure.tight_layout()
    figure.savefig(FOLDER / "look-ahead.png", dpi=90)


if __name__ == "__main__":
    main()
