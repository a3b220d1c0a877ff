"""Lookups from tables: a CSV or Parquet file, or a frame of pandas, polars or Arrow."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from eke.domain.lookup import Cell, Lookup
from eke.errors import DomainError

_TEXT = {".csv": ",", ".txt": ",", ".tsv": "\t", ".tab": "\t"}
_PARQUET = (".parquet", ".pq")
# No leading zeros: 01234 is a postal code.
_NUMBER = re.compile(r"-?(0|[1-9][0-9]{0,17})(\.[0-9]{1,18})?([eE][+-]?[0-9]{1,2})?")
_TRUTHS = {"true": True, "false": False}


def read_lookup(
    name: str,
    table: Any,
    keys: Sequence[str],
    columns: Sequence[str] | None = None,
    *,
    null: str | Sequence[str] = (),
) -> Lookup:
    """A lookup from a file or a frame.

    In a text file an empty field is NULL. A column in which every field is a number is one of
    numbers (01234 is none), one of true and false holds truth values; keys stay as they are written
    and are compared as what they are joined with.

    Args:
        name: what questions call it.
        table: a CSV file with a header (`.tsv` with tabs) or a Parquet file, or a pandas or polars
            frame, or an Arrow table.
        keys: the columns that find a row; no two rows have the same.
        columns: the other columns to keep; by default all.
        null: texts of a text file that mean NULL, too, such as "NA".

    Raises:
        DomainError: when the file cannot be read, or is no lookup.

    Example:
        >>> import pandas as pd
        >>> words = pd.DataFrame({"sex": ["F", "M"], "word": ["girl", "boy"]})
        >>> eke.read_lookup("schools", words, ["sex"])
        Lookup(name='schools', keys=('sex',), columns=('sex', 'word'))
    """
    nulls = {"", *((null,) if isinstance(null, str) else null)}
    is_path = isinstance(table, (str, Path))
    try:
        read = _file(Path(table), list(keys), nulls) if is_path else _frame(table)
    except DomainError as problem:
        raise DomainError(f"lookup {name!r}: {problem}") from problem
    chosen = read if columns is None else _chosen(name, read, [*keys, *columns])
    return Lookup(name, keys, chosen)


def _chosen(name: str, columns: Mapping[str, Any], wanted: list[str]) -> dict[str, Any]:
    unknown = [column for column in wanted if column not in columns]
    if unknown:
        raise DomainError(
            f"lookup {name!r} has no column {unknown[0]!r}; the columns are {', '.join(columns)}"
        )
    return {column: columns[column] for column in wanted}


def _file(path: Path, keys: list[str], nulls: set[str]) -> dict[str, list[Any]]:
    if path.suffix in _PARQUET:
        import pyarrow as pa  # noqa: PLC0415 - slow to load
        import pyarrow.parquet as pq  # noqa: PLC0415

        try:
            return dict(pq.read_table(path, partitioning=None).to_pydict())
        except (OSError, pa.ArrowException) as problem:
            raise DomainError(f"cannot read {path.name} as Parquet") from problem
    if path.suffix not in _TEXT:
        raise DomainError(f"cannot read {path.name}; write a CSV or Parquet file")
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            lines = list(csv.reader(file, delimiter=_TEXT[path.suffix], strict=True))
    except (OSError, UnicodeDecodeError, csv.Error) as problem:
        raise DomainError(f"cannot read {path.name}: {problem}") from problem
    lines = [line for line in lines if line]
    if not lines:
        raise DomainError(f"{path.name} is empty; its first line names the columns")
    header = [field.strip() for field in lines[0]]
    wrong = next((at for at, line in enumerate(lines, 1) if len(line) != len(header)), None)
    if wrong is not None:
        raise DomainError(f"line {wrong} of {path.name} has not as many fields as the first")
    if len(set(header)) < len(header):
        raise DomainError(f"{path.name} names a column twice; rename one")
    columns: dict[str, list[Any]] = {}
    for at, name in enumerate(header):
        stripped = (line[at].strip() for line in lines[1:])
        fields = [None if field in nulls else field for field in stripped]
        columns[name] = list(fields) if name in keys else _typed(fields)
    return columns


def _typed(fields: list[str | None]) -> list[Cell]:
    """The fields as numbers or truth values, if every one of them is such."""
    known = [field for field in fields if field is not None]
    if known and all(_NUMBER.fullmatch(field) for field in known):
        return [None if field is None else _number(field) for field in fields]
    if known and all(field.lower() in _TRUTHS for field in known):
        return [None if field is None else _TRUTHS[field.lower()] for field in fields]
    return list(fields)


def _number(field: str) -> int | float:
    return int(field) if field.lstrip("-").isdecimal() else float(field)


def _frame(table: Any) -> dict[str, list[Any]]:
    """The columns of a frame as lists."""
    if hasattr(table, "to_pydict"):  # Arrow
        return dict(table.to_pydict())
    if hasattr(table, "to_dicts"):  # polars
        return dict(table.to_dict(as_series=False))
    if hasattr(table, "iloc") and hasattr(table, "columns"):  # pandas
        return {name: list(table[name]) for name in table.columns}
    raise DomainError("it is made of a CSV or Parquet file, or of a pandas, polars or Arrow table")
