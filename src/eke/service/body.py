"""Bodies: what a request may hold. Unknown fields, texts for numbers and NaN are refused."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from eke.planning.online.question_demand import MOST_RECORDS
from eke.service.account import Role
from eke.sql.guard import MOST_CHARACTERS

_Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
_HalfWidth = _Positive | Annotated[str, Field(pattern=r"^[0-9.]{1,20} ?(%|[a-z]{3,7})$")]


class Body(BaseModel):
    """The strictness that all bodies share."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class LinearTerm(Body):
    """A product of factors: for each attribute runs [coefficient, how often] over its values."""

    weight: str = Field(max_length=2000)
    factors: dict[str, list[list[int]]] = Field(max_length=100)


class LinearForm(Body):
    """A linear question in the form of `Query.to_document`, as the history shows it."""

    constant: str = Field("0", max_length=2000)
    terms: list[LinearTerm] = Field(max_length=1000)
    people: bool = False


class MarginalForm(Body):
    """One linear question for each combination of values of some attributes."""

    marginal: list[str] = Field(min_length=1, max_length=20)
    inside: LinearForm


class FormulaForm(Body):
    """A formula of linear questions, for all or for each combination of some values."""

    formula: dict[str, Any] = Field(
        description='{"answer": 0}, {"constant": "1/2"}, {"root": …}, {"sign": "/", "of": […, …]}'
    )
    of: list[LinearForm] = Field(min_length=1, max_length=64)
    by: list[str] = Field(default=[], max_length=20)


QueryForm = LinearForm | MarginalForm | FormulaForm


class SqlQuestion(Body):
    """A question in SQL with the accuracy that it needs."""

    sql: str = Field(min_length=1, max_length=MOST_CHARACTERS)
    within: _HalfWidth | dict[str, _HalfWidth] | None = Field(
        None,
        description='Half-width: a number, "2 %" of the value, or "6 hours" of a quantile of dates '
        "or times; or one for each column; or in the SQL itself.",
    )
    confidence: float | None = Field(None, gt=0, lt=1)
    spend: _Positive | None = Field(
        None, description="Instead of within: what it may cost at most; or in the SQL itself."
    )
    groups_of: int | None = Field(
        None, ge=1, le=MOST_RECORDS, description="Records that a group needs to be so accurate."
    )
    policy: Literal["top_up", "direct", "look_ahead"] | None = None


class SqlOrQuery(Body):
    """Either a text or a linear form."""

    sql: str | None = Field(None, min_length=1, max_length=MOST_CHARACTERS)
    query: QueryForm | None = Field(None, description="Instead of SQL, a canonical form.")

    @model_validator(mode="after")
    def _one_of_them(self) -> Self:
        if (self.sql is None) == (self.query is None):
            raise ValueError("give the question as sql or as query")
        return self


class QuestionBody(SqlOrQuery):
    """A question, in SQL or as a linear form, with the accuracy that it needs."""

    within: _HalfWidth | dict[str, _HalfWidth] | None = Field(
        None,
        description='Half-width: a number, "2 %" of the value, or "6 hours" of a quantile of dates '
        "or times; or one for each column; or in the SQL itself.",
    )
    confidence: float | None = Field(None, gt=0, lt=1)
    spend: _Positive | None = Field(
        None, description="Instead of within: what it may cost at most; or in the SQL itself."
    )
    groups_of: int | None = Field(
        None, ge=1, le=MOST_RECORDS, description="Records that a group needs to be so accurate."
    )
    policy: Literal["top_up", "direct", "look_ahead"] | None = None


class Estimated(SqlOrQuery):
    """A question that history is to answer as well as it can, for nothing."""

    method: Literal["blue", "shrinkage", "max_entropy"] = "shrinkage"
    confidence: float = Field(0.95, gt=0, lt=1)
    prior: Literal["marginals", "uniform"] | dict[str, list[float] | dict[str, float]] = Field(
        "marginals",
        description='"marginals", what history says of single columns; "uniform"; or the weights '
        "of the values of columns: a list of all, or an object of labels that are texts.",
    )
    alpha: _Positive | None = Field(None, description="How weak the prior is; else it is chosen.")
    folds: int | None = Field(
        None, ge=2, le=50, description="In how many parts answers are held out to choose alpha."
    )


class Claimed(SqlOrQuery):
    """A claim about what a question's true answers are."""

    claim: str = Field(
        min_length=2,
        max_length=100,
        description='"> 10000", "<= 0.5", "10 to 20"; of dates and times "> 2013-06-30".',
    )


class AskBody(QuestionBody):
    """A question to be answered."""

    posterior: bool = Field(False, description="Also the density of a single number, to draw.")


class AskManyBody(Body):
    """Questions to be answered one after the other."""

    questions: list[AskBody] = Field(min_length=1, max_length=50)


class CurveBody(Body):
    """A question whose price is wanted at several half-widths."""

    sql: str = Field(min_length=1, max_length=MOST_CHARACTERS)
    within: list[_Positive] = Field(min_length=1, max_length=24)
    confidence: float | None = Field(None, gt=0, lt=1)


class SignIn(Body):
    """A token to begin a browser session with."""

    token: str = Field(min_length=1, max_length=200)


class NewLimit(Body):
    """A limit in the dataset's own measure."""

    limit: _Positive


class NewCap(Body):
    """What an analyst may spend in all; null for no cap."""

    cap: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None


_Value = float | Annotated[str, Field(pattern=r"^-?[0-9./eE+-]{1,400}$")]


class AssertionBody(SqlOrQuery):
    """What somebody else says about one question, or about each cell of a table."""

    values: list[_Value] = Field(
        min_length=1, max_length=100_000, description='In order; texts such as "1/3" are exact.'
    )
    law: dict[str, Any] | None = Field(
        None, description='The noise: {"kind": "laplace", "laplace_scale": 10}; null for a fact.'
    )


class NewOutside(Body):
    """Statements of one source."""

    source: str = Field(min_length=1, max_length=500)
    statements: list[AssertionBody] = Field(min_length=1, max_length=1000)


class NewGuard(Claimed):
    """A claim that is not to become more probable than this."""

    threshold: float = Field(gt=0, lt=1, description="The probability from which it is closed.")
    note: str = Field("", max_length=500, description="Why, for everybody who reads the history.")


class NewAccount(Body):
    """An account; its first token comes with the answer."""

    name: str = Field(min_length=1, max_length=100)
    role: Role
    datasets: list[str] | None = Field(None, max_length=200)
    days: Annotated[float, Field(gt=0, le=36_500)] | None = None


class NewToken(Body):
    """How long a further token is valid."""

    days: Annotated[float, Field(gt=0, le=36_500)] | None = None


_SettingText = Annotated[str, Field(max_length=100)]


class NewSettings(Body):
    """What the connections of an account begin with, for tools that speak PostgreSQL."""

    settings: Annotated[dict[_SettingText, _SettingText], Field(max_length=20)]


class NewUnit(Body):
    """What is protected: one value of an id column with so many rows."""

    column: str = Field(min_length=1, max_length=200)
    rows: int = Field(ge=1, le=1_000_000)


_FileName = Annotated[str, Field(min_length=1, max_length=200)]


class NewView(Body):
    """A SELECT over files in the server's folder, by the names that it calls them."""

    sql: str = Field(min_length=1, max_length=MOST_CHARACTERS)
    tables: dict[_FileName, _FileName] = Field(min_length=1, max_length=20)


class _FileOrView(Body):
    file: _FileName | None = None
    view: NewView | None = None

    @model_validator(mode="after")
    def _has_a_table(self) -> Self:
        if (self.file is None) == (self.view is None):
            raise ValueError("give a file or a view")
        return self


class NewDataset(_FileOrView):
    """A dataset to be made from a file in the server's folder, or a view over several."""

    name: str = Field(min_length=1, max_length=64)
    domain: dict[str, Any]
    epsilon: _Positive | None = None
    rho: _Positive | None = None
    neighbours: Literal["add_remove", "replace_one"] = "add_remove"
    unit: NewUnit | None = None


class Promised(Body):
    """A view over files in the server's folder, and whom a dataset of it would be about."""

    view: NewView
    neighbours: Literal["add_remove", "replace_one"] = "add_remove"
    unit: NewUnit | None = None


class Drafted(_FileOrView):
    """A file, or a view over several, whose domain is to be drafted."""
