"""`eke plan`: what a release of many tables would measure, its errors, and what they cost."""

from __future__ import annotations

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
        if as_json:
            output().raw(json_text(plan_document(offer.plan, offer.price)))
        else:
            show_plan(output(), offer)
