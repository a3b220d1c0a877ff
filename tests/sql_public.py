"""Public functions of Adult as the SQL tests see them: lookups, derived columns, DuckDB's view."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from eke.domain import Date, Domain, Lookup, Time, Timestamp
from tests.sql_adult import Adult, compact_domain

SECTORS = {
    "Private": "private",
    "Self-emp-not-inc": "own",
    "Self-emp-inc": "own",
    "Federal-gov": "public",
    "Local-gov": "public",
    "State-gov": "public",
    "Without-pay": None,
    "Astronaut": "space",  # a key that the domain does not declare
}
LOOKUPS = (
    Lookup(
        "classes",
        ["workclass"],
        {
            "workclass": list(SECTORS),
            "sector": list(SECTORS.values()),
            "paid": [True, True, True, True, None, True, False, True],
            "rank": [3, 1, 1, 7, None, 5, 0, 99],
        },
    ),
    Lookup(
        "schooling",
        ["education_num"],
        {
            "education_num": [*range(1, 12), 13, 16, 40],
            "years": [0.5, 1.25, 4, 6, 8, 9, None, 11, 12, 12.75, 13, 16, 20.5, 99],
            "degree": [None] * 8 + ["school"] * 3 + ["college"] * 2 + ["none"],
        },
    ),
    Lookup(
        "bonus",
        ["sex", "tier"],
        {
            "sex": ["Female", "Female", "Female", "Male", "Male"],
            "tier": [1, 2, 3, 1, 3],
            "amount": [10, 20, 35, -5, 1],
            "age": [1, 2, 3, 4, 5],  # a name that the protected table has as well
        },
    ),
    Lookup("sectors", ["sector"], {"sector": ["private", "public"], "tax": [0.25, 0.5]}),
    Lookup("words", ["code"], {"code": [1, 2, 5, 16], "word": ["one", "two", "five", "sixteen"]}),
)
DERIVED = {
    "decade": "FLOOR(age / 10) * 10",
    "decade_after": "decade + 10",
    "couple": "marital_status LIKE 'Married%'",
    "who": "sex || '/' || tier::text",
    "trade": "classes.sector",
}


def dated_domain(derived: Mapping[str, str] = DERIVED) -> Domain:
    """Adult's columns with a day, a moment and a time of day, the lookups and derived columns."""
    domain = Domain(
        dict(compact_domain().attributes),
        day=Date("2012-01-01", "2013-12-31"),
        at=Timestamp("2013-01-01", "2013-12-31", "hour"),
        opens=Time(step="15 minutes"),
    )
    quarter = "EXTRACT(quarter FROM day)"
    return domain.with_lookups(*LOOKUPS).with_derived({**derived, "quarter": quarter})


def with_functions(domain: Domain) -> Domain:
    """A domain that has Adult's columns, with all of these."""
    return domain.with_lookups(*LOOKUPS).with_derived(DERIVED)


class Joined(Adult):
    """The rows of Adult, and DuckDB's tables of the same names."""

    def __init__(self, rows: int | None = None) -> None:
        super().__init__(rows)
        self.domain = with_functions(compact_domain())
        for one in LOOKUPS:
            columns = {name: list(one.column(name)) for name in one.columns}
            self.engine.register(f"raw_{one.name}", pa.table(columns))
            self.engine.execute(f"CREATE TABLE {one.name} AS SELECT * FROM raw_{one.name}")
        self.engine.execute(
            "CREATE OR REPLACE TABLE adult AS SELECT adult.*, FLOOR(age / 10) * 10 AS decade, "
            "FLOOR(age / 10) * 10 + 10 AS decade_after, marital_status LIKE 'Married%' AS couple, "
            "sex || '/' || tier::text AS who, classes.sector AS trade "
            "FROM adult LEFT JOIN classes USING (workclass)"
        )
