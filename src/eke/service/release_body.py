"""Bodies of plans, releases and publications."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AliasChoices, Field

from eke.planning.workload.strategy.given import MOST_CELLS, MOST_ROWS
from eke.service.body import Body, LinearForm, SqlOrQuery
from eke.sql.guard import MOST_CHARACTERS

_Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
_Row = Annotated[
    list[Annotated[float, Field(allow_inf_nan=False)]], Field(min_length=1, max_length=MOST_CELLS)
]
_Names = Annotated[list[str], Field(max_length=100)]
_Ways = Annotated[int, Field(ge=0, le=1000)]
_Entry = _Names | str | dict[str, _Names | str | int | float]
_Workload = Annotated[list[_Entry], Field(max_length=100)]
_Sets = Annotated[list[_Names], Field(max_length=5000)]


class TargetForm(Body):
    """A table: along each attribute its cells, all ranges or all prefixes."""

    attributes: _Names
    along: list[Literal["cells", "ranges", "prefixes"]] = Field([], max_length=100)
    weight: _Positive = 1.0


class WeightedQuery(Body):
    """One linear question of a workload."""

    query: LinearForm
    weight: _Positive = 1.0


class WorkloadBody(Body):
    """A workload: everything that is named here, each table once."""

    sql: str | None = Field(
        None,
        min_length=1,
        max_length=MOST_CHARACTERS,
        description="Counts with GROUP BY CUBE, ROLLUP or GROUPING SETS.",
    )
    all_marginals: _Ways | None = Field(None, description="All tables by so many attributes.")
    up_to: _Ways | None = Field(None, description="All tables by at most so many attributes.")
    half_of_next: _Ways | None = Field(
        None,
        description="All tables by so many attributes, and every other one by one more.",
        validation_alias=AliasChoices("half_of_next", "half_above"),  # as it was called before
    )
    containing: str | None = Field(None, max_length=200)
    over: _Sets | None = Field(None, description="Tables by these attributes.")
    ranges: _Sets | None = None
    prefixes: _Sets | None = None
    targets: list[TargetForm] | None = Field(None, max_length=5000)
    queries: list[WeightedQuery] | None = Field(None, max_length=1000)


class TableWithin(Body):
    """The half-width of one table."""

    attributes: _Names
    within: _Positive


class Planned(Body):
    """A workload to be released, with a budget or with an accuracy."""

    workload: WorkloadBody
    budget: _Positive | None = Field(None, description="What it may cost, in the measure here.")
    within: _Positive | list[TableWithin] | None = Field(
        None, description="Half-width of every count, or of each table; the least cost is found."
    )
    confidence: float = Field(0.95, gt=0, lt=1)
    strategy: str = Field("auto", min_length=1, max_length=40)
    strategy_matrix: list[_Row] | None = Field(
        None,
        min_length=1,
        max_length=MOST_ROWS,
        description="In place of a name: rows to be measured, over the workload's cells.",
    )


class NewPublication(Body):
    """Rows to be published; what may be in `options` depends on the mechanism."""

    mechanism: Literal["max_entropy", "lda", "pca"]
    epsilon: _Positive | None = None
    rho: _Positive | None = None
    options: dict[str, bool | int | float | str | _Names | _Workload] = Field({}, max_length=10)


class AskedOfRows(SqlOrQuery):
    """A question about one number, for published rows to answer."""

    confidence: float = Field(0.95, gt=0, lt=1)
