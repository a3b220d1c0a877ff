"""`eke plan`: what a release of many tables would measure, its errors, and what they cost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from eke.cli.opening import opened
from eke.cli.options import AsJson, Confidence, Data, Dataset, ServerAddress, ServerToken
from eke.cli.plan_picture import show_plan
from eke.cli.screen import output
from eke.cli.workload import (
    BudgetToSpend,
    Containing,
    HalfOfNext,
    Marginals,
    Over,
    Prefixes,
    Ranges,
    Sql,
    Strategy,
    StrategyMatrix,
    UpTo,
    WithinEach,
    WorkloadOptions,
    offer_for,
)
from eke.codec.printed import json_text, plan_document

if TYPE_CHECKING:
    from eke.session import PlannedRelease

EXAMPLES = """\
Examples:
  $ eke plan adult.eke --marginals 2 --budget 0.5
  $ eke plan adult.eke --over sex,income --ranges age --budget 0.2
  $ eke plan adult.eke --up-to 1 --within 100 --confidence 0.99
  $ eke plan adult.eke "SELECT COUNT(*) FROM t GROUP BY CUBE (sex, age)" -b 1
  $ eke plan adult --marginals 1 --budget 0.1 --server https://eke.org
"""


def plan(
    path: Dataset,
    sql: Sql = None,
    marginals: Marginals = None,
    up_to: UpTo = None,
    half_of_next: HalfOfNext = None,
    containing: Containing = None,
    over: Over = None,
    ranges: Ranges = None,
    prefixes: Prefixes = None,
    budget: BudgetToSpend = None,
    within: WithinEach = None,
    confidence: Confidence = None,
    strategy: Strategy = "auto",
    strategy_matrix: StrategyMatrix = None,
    delta: Annotated[
        float | None,
        typer.Option("--delta", help="For a rho: also what rules for (ε, δ) would make of it."),
    ] = None,
    data: Data = None,
    server: ServerAddress = None,
    token: ServerToken = None,
    as_json: AsJson = False,
) -> None:
    """Compare ways to release many tables at once. Nothing is spent.

    Say which tables, and either a budget or an accuracy. Every strategy is shown with the error
    that its answers would have, exactly, and with what the same quality would cost.
    """
    wanted = WorkloadOptions(
        sql=sql,
        marginals=marginals,
        up_to=up_to,
        half_of_next=half_of_next,
        containing=containing,
        over=over,
        ranges=ranges,
        prefixes=prefixes,
        budget=budget,
        within=within,
        confidence=confidence,
        strategy=strategy,
        strategy_matrix=strategy_matrix,
    )
    wanted.check()
    with opened(path, server=server, token=token, as_json=as_json, data=data) as place:
        offer = offer_for(place, wanted)
        rules = [] if delta is None else _rules(offer.plan, delta)
        if as_json:
            document = plan_document(offer.plan, offer.price)
            output().raw(json_text(document | ({"rules": rules} if rules else {})))
        else:
            show_plan(output(), offer)
            for line in rules:
                output().line(output().escape(line), indent=2)


def _rules(plan: PlannedRelease, delta: float) -> list[str]:
    """What follows the table of strategies when there is a delta."""
    return plan.explain(delta).removeprefix(plan.explain()).strip("\n").splitlines()
