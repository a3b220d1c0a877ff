"""View: a curator's SELECT over several tables, protected as if its result were one table."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from eke.data.server_table import is_postgresql_address
from eke.data.view import ViewTable, named_tables, tables_of_database
from eke.errors import DataError
from eke.sql.view import read_view


class View(ViewTable):
    """A SELECT over several tables, which `create` protects as if its result were one table.

    It works row by row: expressions, CASE, casts, WHERE, JOIN and LEFT JOIN by equal keys, UNION
    ALL; or it makes one row of the rows of an id: GROUP BY, DISTINCT. What else looks at several
    rows (windows, LIMIT, subqueries) or depends on anything but the tables is refused; see
    docs/how-to/protect-a-view.md.

    Args:
        sql: the SELECT, in DuckDB's SQL, or PostgreSQL's for tables there.
        tables: the tables by the names that the SELECT calls them: paths, `CsvFile` and its like,
            DataFrames and Arrow tables, or `PostgreSQLTable`s of one server. Instead of them a
            DuckDB file or the address of a PostgreSQL database whose tables the SELECT names.

    Attributes:
        plan: what was read of the SELECT: its columns, joins, and what follows from them.

    Raises:
        SqlError: when the SELECT is not one that a view may be.
        DataError: when a table is of no known kind.

    Example:
        >>> visits = pd.DataFrame({"patient": [1, 1, 2], "cost": [30, 50, 20]})
        >>> patients = pd.DataFrame({"patient": [1, 2], "sex": ["F", "M"]})
        >>> view = eke.View(
        ...     "SELECT v.patient, v.cost, p.sex FROM visits v JOIN patients p USING (patient)",
        ...     tables={"visits": visits, "patients": patients},
        ... )
        >>> print(view.promise(eke.Unit("patient", rows=2)).sentence())
        Protected: all rows of visits and patients that belong to one patient.
        >>> costs = eke.Domain(cost=eke.Integer(0, 100), sex=eke.Categorical("F", "M"))
        >>> unit = eke.Unit("patient", rows=2)
        >>> eke.create("costs.eke", view, costs, epsilon=1.0, unit=unit)
        Session(2 attributes, 202 cells; epsilon 0 spent of 1, 1 remaining)
    """

    __slots__ = ()

    def __init__(self, sql: str, tables: Mapping[str, Any] | str | Path) -> None:
        if not isinstance(sql, str):
            raise DataError("the SELECT of a view is a text; read it from its file first")
        if isinstance(tables, Mapping):
            dialect, named = named_tables(tables)
            plan = read_view(sql, list(named), dialect)
        elif isinstance(tables, (str, Path)):
            server = is_postgresql_address(tables)
            plan = read_view(sql, None, "postgres" if server else "duckdb")
            _, named = named_tables(tables_of_database(tables, plan.tables))
        else:
            raise DataError("a view needs its tables by name: tables={'visits': 'visits.csv', ...}")
        object.__setattr__(self, "plan", plan)
        object.__setattr__(self, "tables", named)
