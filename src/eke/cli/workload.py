"""The workload that `eke plan` and `eke release` are given, and the plan for it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

import eke
from eke.cli.matrix_file import read_matrix
from eke.cli.options import half_widths, question_text
from eke.cli.screen import working

if TYPE_CHECKING:
    from eke.domain import Domain
    from eke.planning import Workload
    from eke.session import Dataset, PlannedRelease, Price

_PANEL = "Workload"
_WITHIN = "--within"

Sql: TypeAlias = Annotated[
    str | None,
    typer.Argument(
        metavar="SQL",
        help="Counts with GROUP BY CUBE, ROLLUP or GROUPING SETS, or - to read it from stdin.",
        show_default=False,
    ),
]
Marginals: TypeAlias = Annotated[
    int | None,
    typer.Option(
        "--marginals", metavar="K", help="All tables by K columns.", rich_help_panel=_PANEL
    ),
]
UpTo: TypeAlias = Annotated[
    int | None,
    typer.Option(
        "--up-to",
        metavar="K",
        help="All tables by at most K columns, the total included.",
        rich_help_panel=_PANEL,
    ),
]
HalfOfNext: TypeAlias = Annotated[
    int | None,
    typer.Option(
        "--half-of-next",
        metavar="K",
        help="All tables by K columns, and every other one by K + 1.",
        rich_help_panel=_PANEL,
    ),
]
Containing: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--with",
        metavar="COLUMN",
        help="With --marginals K: also those by K + 1 columns that have this one.",
        rich_help_panel=_PANEL,
    ),
]
Over: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--over",
        metavar="A,B,…",
        help="The table by these columns; repeatable.",
        rich_help_panel=_PANEL,
    ),
]
Ranges: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--ranges",
        metavar="A,B,…",
        help="All intervals of a column, all boxes of several; repeatable.",
        rich_help_panel=_PANEL,
    ),
]
Prefixes: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--prefixes",
        metavar="A,B,…",
        help="All counts up to a value; repeatable.",
        rich_help_panel=_PANEL,
    ),
]
BudgetToSpend: TypeAlias = Annotated[
    float | None,
    typer.Option("--budget", "-b", help="What it may cost, in the dataset's own measure."),
]
WithinEach: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        _WITHIN,
        "-w",
        metavar="NUMBER|A,B=NUMBER",
        help="How far a count may be off, in all tables or in one; the least cost is found.",
    ),
]
Strategy: TypeAlias = Annotated[
    str, typer.Option("--strategy", help="What to measure; auto takes the least error.")
]
StrategyMatrix: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--strategy-matrix",
        metavar="FILE",
        help="In place of it, rows of numbers to measure: CSV without a header, or .npy.",
    ),
]


@dataclass(frozen=True, slots=True)
class WorkloadOptions:
    """The options that say what is to be released, as they were typed."""

    sql: str | None
    marginals: int | None
    up_to: int | None
    half_of_next: int | None
    containing: str | None
    over: list[str] | None
    ranges: list[str] | None
    prefixes: list[str] | None
    budget: float | None
    within: list[str] | None
    confidence: float | None
    strategy: str
    strategy_matrix: Path | None

    def check_empty(self, beside: str) -> None:
        """Raise where a workload was said beside an option that has one of its own."""
        if any(value not in (None, "auto", []) for value in asdict(self).values()):
            raise typer.BadParameter("it has its own tables; leave out yours", param_hint=beside)

    def check(self) -> None:
        """Raise for what no dataset could make sense of."""
        if self.containing is not None and self.marginals is None:
            raise typer.BadParameter("say --marginals K as well", param_hint="--with")
        if self.strategy_matrix is not None and self.strategy != "auto":
            raise typer.BadParameter("leave out --strategy", param_hint="--strategy-matrix")
        if (self.budget is None) == (not self.within):
            raise typer.BadParameter(
                "say what it may cost (--budget 0.5) or how far counts may be off (--within 50)",
                param_hint="--budget",
            )
        if not any((self.sql, self.over, self.ranges, self.prefixes)) and all(
            one is None for one in (self.marginals, self.up_to, self.half_of_next)
        ):
            raise typer.BadParameter(
                "say what to release: --marginals 2, --over sex,age, --ranges age, SQL or others",
                param_hint="--marginals",
            )


@dataclass(frozen=True, slots=True)
class PricedPlan:
    """A plan with its price now."""

    plan: PlannedRelease
    price: Price


def offer_for(place: Dataset, wanted: WorkloadOptions) -> PricedPlan:
    """The plan with its price, with a spinner while it is made."""
    given = half_widths(wanted.within)
    within: float | dict[tuple[str, ...], float] | None
    if isinstance(given, dict):
        within = {tuple(_names(columns)): width for columns, width in given.items()}
    else:
        within = given
    file = wanted.strategy_matrix
    strategy = wanted.strategy if file is None else read_matrix(file)
    with working("Comparing strategies"):
        plan = place.plan(
            workload_of(wanted, place.domain),
            budget=wanted.budget,
            within=within,
            confidence=0.95 if wanted.confidence is None else wanted.confidence,
            strategy=strategy,
        )
        return PricedPlan(plan, place.price(plan))


def workload_of(wanted: WorkloadOptions, domain: Domain) -> Workload:
    """Everything that the options ask for; a table that is asked for twice is released once."""
    sets: list[Workload] = []
    if wanted.marginals is not None and wanted.containing is not None:
        sets.append(eke.marginals_and_those_with(domain, wanted.marginals, wanted.containing))
    elif wanted.marginals is not None:
        sets.append(eke.all_marginals(domain, wanted.marginals))
    if wanted.up_to is not None:
        sets.append(eke.marginals_up_to(domain, wanted.up_to))
    if wanted.half_of_next is not None:
        sets.append(eke.marginals_and_half_of_next(domain, wanted.half_of_next))
    if wanted.over:
        sets.append(eke.grouping_sets(domain, [_names(columns) for columns in wanted.over]))
    if wanted.sql is not None:
        text = question_text(wanted.sql)
        sets.append(eke.grouping_sets(domain, eke.sql.parse_grouping_sets(text, domain)))
    sets += [eke.ranges(domain, *_names(columns)) for columns in wanted.ranges or ()]
    sets += [eke.prefixes(domain, *_names(columns)) for columns in wanted.prefixes or ()]
    targets = dict.fromkeys(target for one in sets for target in one.targets)
    return eke.Workload(domain, tuple(targets))


def _names(columns: str) -> list[str]:
    return [name.strip() for name in columns.split(",") if name.strip()]
