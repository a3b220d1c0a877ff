"""What stands where on the page of Python, and the stage of its examples."""

from __future__ import annotations

from dataclasses import dataclass

HEAD = """\
# Python

<!-- Made by `make reference` from the docstrings in src/eke; change those. -->

Every public name of `eke`. Signatures are shown without annotations; `help(eke.create)` has them.
Each example runs by itself, on a new session that is made like this:
"""

STAGE = """\
import pandas as pd

import eke

people = pd.DataFrame(
    {
        "age": [34, 51, 29, 44, 67, 38, 25, 80] * 50,
        "sex": ["F", "M", "F", "M", "F", "M", "F", "F"] * 50,
        "hours": [40.0, 38.5, 20.0, 60.0, 0.0, 40.0, 35.0, 0.0] * 50,
        "smoker": [True, False, False, True, False, False, True, None] * 50,
    }
)
domain = eke.Domain(
    age=eke.Integer(0, 99),
    sex=eke.Categorical("F", "M"),
    hours=eke.Binned([0, 20, 35, 40, 60, 100]),
    smoker=eke.Boolean(null="bucket"),
)
session = eke.create("people.eke", people, domain, epsilon=1.0, analyst="ana")
"""


@dataclass(frozen=True, slots=True)
class Section:
    """One section: its title, what is said before the first name, and the names in their order.

    A name with a dot is not in `eke` itself: `session.Estimate` is what `session.estimate` gives.
    """

    title: str
    names: tuple[str, ...]
    text: str = ""


SECTIONS = (
    Section(
        "Describing a table",
        (
            *(
                "Domain",
                "Categorical",
                "Boolean",
                "Integer",
                "Numeric",
                "Decimal",
                "Real",
                "Binned",
            ),
            *("Date", "Timestamp", "Time"),
            *("domain.Attribute", "Replace", "Lookup", "read_lookup", "read_domain"),
            *("write_domain", "Unit"),
        ),
        """
        An attribute has two rules: `null` for missing values, `outside` for values that it does not
        declare. A rule is `"drop"` (the row is left out), `"bucket"` (a cell of its own, whose
        label is None), `"clamp"` (the nearest bound), `"never"` (a public statement that there are
        none, checked when the dataset is created) or a `Replace`. How to:
        docs/how-to/protect-a-table.md.
        """,
    ),
    Section(
        "Naming a file",
        ("CsvFile", "ParquetFile", "PostgreSQLTable", "SparkTable", "DuckDBFile", "View"),
        "A path is enough when its ending says what it is. These say how to read it.",
    ),
    Section(
        "Protecting and opening",
        ("create", "check", "data.TableCheck", "open", "Session", "connect"),
    ),
    Section(
        "Writing questions",
        (
            *("count", "total", "moment", "table", "constant", "marginal"),
            *("mean", "median", "people", "quantile", "ratio", "variance", "deviation", "root"),
        ),
        """
        Questions can be added, subtracted, and multiplied or divided by numbers. A condition is a
        value, a pair `(low, high)` with both ends included (None leaves an end open), a list of
        values, or None for the bucket. On a `Binned` attribute the ends must be edges and the range
        is [low, high). Conditions on several attributes are joined by AND. An attribute whose name
        is no keyword goes into `where`: `eke.count({"hours per week": (0, 20)})`.
        """,
    ),
    Section(
        "Releasing many tables",
        (
            *("Workload", "all_marginals", "marginals_up_to", "marginals_and_half_of_next"),
            *("marginals_and_those_with", "grouping_sets", "ranges", "prefixes"),
            *("ReleasePlan", "session.Price", "Release", "session.ReleasedTable"),
            "session.Adjustment",
        ),
        "How to: docs/how-to/release-tables.md. What is behind it: docs/concepts/workloads.md.",
    ),
    Section(
        "Reading answers",
        (
            *(
                "Answer",
                "simultaneous",
                "Preview",
                "session.Estimate",
                "session.TableEstimate",
                "session.Claim",
            ),
            *("Budget", "History", "publish.Published", "publish.RowEstimate"),
            *("publish.RowErrors", "write_report"),
        ),
    ),
    Section(
        "Telling what is public elsewhere",
        ("Fact", "NoisyTable", "session.Known"),
        """
        `session.add_fact`, `session.learn`, `session.outside` and `session.forget` are members of a
        session. How to: docs/how-to/use-public-facts.md.
        """,
    ),
    Section(
        "Guarding a claim",
        ("session.GuardState",),
        """
        `session.guard`, `session.guards` and `session.lift` are members of a session. How to:
        docs/how-to/guard-a-claim.md.
        """,
    ),
    Section("Errors and version", ("EkeError", "Refused", "__version__")),
)

# How a kind of column serves data engines, files and SQL is told in `eke.domain.attribute`; the
# page is for whoever writes questions and reads answers.
SHOWN = {
    **dict.fromkeys(("Categorical", "Boolean", "Integer", "Numeric", "Binned"), ()),
    **dict.fromkeys(("Date", "Timestamp", "Time"), ()),
    "domain.Attribute": ("declared", "labels", "size", "has_bucket", "drops", "code"),
}
"""Of which classes only some members are shown."""

HIDDEN = ("register_as", "remaining_text", "with_caveats", "without_password")
"""Members that only eke itself uses."""

FIRST = {
    "Answer": (
        *("value", "interval", "within", "confidence", "free", "source", "cost", "caveats"),
        *(
            "explain()",
            "is_number",
            "variance",
            "posterior",
            "probability(*, above=None, below=None)",
        ),
        *("columns", "is_key", "rows", "attributes", "keys", "values", "intervals", "variances"),
    )
}
"""Members that are listed before the others."""

VALUES = {"__version__": "The version of eke, as a text."}
"""What is said of public names that have no docstring because they are plain values."""

WITHOUT_EXAMPLE = (
    "session.GuardState",
    "session.Known",
    "data.TableCheck",
    "session.Price",
    "session.Adjustment",
    "session.ReleasedTable",
    "session.TableEstimate",
    "session.Claim",
    "publish.RowEstimate",
    "publish.RowErrors",
)
"""What another example on the page makes and shows."""
