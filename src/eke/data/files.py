"""Files that hold a protected table, and how to read each: CSV, Parquet, DuckDB."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeAlias

from eke.data.source import Collect, check_collect
from eke.errors import DataError

_TEXT = (".csv", ".tsv", ".tab", ".txt")
_PARQUET = (".parquet", ".pq")
_DUCKDB = (".duckdb", ".ddb", ".db")
_WILD = frozenset("*?[]{}")


def _absolute(path: object) -> str:
    if not isinstance(path, (str, Path)):
        raise DataError("the path of a data file must be a string or a pathlib.Path")
    full = str(Path(path).expanduser().resolve())
    if _WILD & set(full):
        # The engine would take these for a pattern of many files.
        raise DataError(f"rename {full}: the characters {' '.join(sorted(_WILD))} are not allowed")
    return full


@dataclass(frozen=True, slots=True, init=False)
class CsvFile:
    """A delimited text file, plain or compressed with gzip.

    All columns are read as text. Where the domain declares numbers, text such as `30`, `-2.5` or
    `1e3` is read as that number, `inf` as an infinity and `nan` as missing; where it declares a
    Boolean, so are true/false, yes/no, t/f, y/n in any case. An empty field is NULL, in quotes or
    not, and so are the texts in `null`. Lines with too few fields are filled up with NULL, surplus
    fields are ignored, and lines that are not valid text at all are not part of the protected
    table. A stray quotation mark can swallow the lines after it: pass `quote=None` for files that
    do not use quotation marks.

    Args:
        path: the file; `.gz` at the end means that it is compressed.
        columns: the names of the columns, for a file whose first line is data already.
        header: True when the first line holds names; by default, when `columns` is not given.
        delimiter: one character; by default a tab for `.tsv` and `.tab`, else a comma.
        null: texts that mean a missing value, such as `"?"` or `("NA", "-")`.
        strip: remove blanks around each field (before it is compared with `null`).
        skip: lines to leave out at the start of the file.
        quote: the quotation mark, or None when the file has none.
        encoding: `utf-8`, `latin-1` or `utf-16`.

    Example:
        >>> people.to_csv("people.csv", sep=";", na_rep="?", index=False)
        >>> file = eke.CsvFile("people.csv", delimiter=";", null="?")
        >>> eke.create("csv.eke", file, domain, epsilon=1.0)
        Session(4 attributes, 3,000 cells; epsilon 0 spent of 1, 1 remaining)
    """

    path: str
    columns: tuple[str, ...] | None
    header: bool
    delimiter: str
    null: tuple[str, ...]
    strip: bool
    skip: int
    quote: str | None
    encoding: str

    def __init__(
        self,
        path: str | Path,
        *,
        columns: Sequence[str] | None = None,
        header: bool | None = None,
        delimiter: str | None = None,
        null: str | Sequence[str] = (),
        strip: bool = True,
        skip: int = 0,
        quote: str | None = '"',
        encoding: str = "utf-8",
    ) -> None:
        full = _absolute(path)
        plain = full.removesuffix(".gz")
        names = None if columns is None else tuple(columns)
        absent = (null,) if isinstance(null, str) else tuple(null)
        mark = (
            ("\t" if plain.endswith((".tsv", ".tab")) else ",") if delimiter is None else delimiter
        )
        if isinstance(columns, str) or (names is not None and not _are_names(names)):
            raise DataError("CsvFile columns must be a list of different, non-empty names")
        if names is None and header is False:
            raise DataError("a file without a header line needs CsvFile(path, columns=[...])")
        if not _is_character(mark) or not (quote is None or _is_character(quote)) or mark == quote:
            raise DataError("CsvFile delimiter and quote must be two different single characters")
        if not all(isinstance(text, str) for text in absent):
            raise DataError("CsvFile null must be a text or a list of texts")
        if type(skip) is not int or skip < 0:
            raise DataError("CsvFile skip must be a number of lines, 0 or more")
        if encoding not in ("utf-8", "latin-1", "utf-16"):
            raise DataError("CsvFile encoding must be utf-8, latin-1 or utf-16")
        object.__setattr__(self, "path", full)
        object.__setattr__(self, "columns", names)
        object.__setattr__(self, "header", names is None if header is None else bool(header))
        object.__setattr__(self, "delimiter", mark)
        object.__setattr__(self, "null", absent)
        object.__setattr__(self, "strip", bool(strip))
        object.__setattr__(self, "skip", skip)
        object.__setattr__(self, "quote", quote)
        object.__setattr__(self, "encoding", encoding)


@dataclass(frozen=True, slots=True)
class ParquetFile:
    """A Parquet file, read with the types it declares.

    Args:
        path: the file.
        collect: what is held of it in memory: "cells", all its non-empty ones, read once, or
            "marginals", only the tables of counts that questions need, each read in one scan when
            it is needed; see docs/how-to/move-to-postgresql.md#tables-past-one-machine.

    Example:
        >>> people.to_parquet("people.parquet")
        >>> eke.create("parquet.eke", eke.ParquetFile("people.parquet"), domain, epsilon=1.0)
        Session(4 attributes, 3,000 cells; epsilon 0 spent of 1, 1 remaining)
    """

    path: str
    collect: Collect = "cells"

    def __post_init__(self) -> None:
        object.__setattr__(self, "path", _absolute(self.path))
        check_collect(self.collect)


@dataclass(frozen=True, slots=True)
class DuckDBFile:
    """One table or view of a DuckDB database file, opened read-only.

    Args:
        path: the file.
        table: its name, with a schema or not; it may be left out when there is only one.
        collect: as in `ParquetFile`.

    Example:
        >>> eke.DuckDBFile("/lake/people.duckdb", table="main.people")  # opened by eke.create
        DuckDBFile(path='/lake/people.duckdb', table='main.people', collect='cells')
    """

    path: str
    table: str | None = None
    collect: Collect = "cells"

    def __post_init__(self) -> None:
        object.__setattr__(self, "path", _absolute(self.path))
        if self.table is not None and (not isinstance(self.table, str) or not self.table):
            raise DataError("DuckDBFile table must be the name of a table")
        check_collect(self.collect)


DataFile: TypeAlias = CsvFile | ParquetFile | DuckDBFile
_KINDS: dict[str, type[Any]] = {"csv": CsvFile, "parquet": ParquetFile, "duckdb": DuckDBFile}


def file_from_path(path: str | Path, table: str | None = None) -> DataFile:
    """The file at a path, of the kind that its name says."""
    name = Path(path).name.lower()
    if name.removesuffix(".gz").endswith(_TEXT) and table is None:
        return CsvFile(path)
    if name.endswith(_PARQUET) and table is None:
        return ParquetFile(str(path))
    if name.endswith(_DUCKDB):
        return DuckDBFile(str(path), table)
    if table is not None:
        raise DataError(f"table={table!r} is for DuckDB files ({', '.join(_DUCKDB)}); leave it out")
    raise DataError(
        f"cannot tell from its name what kind of file {path} is. Known endings: "
        f"{', '.join(_TEXT)} (also with .gz), {', '.join(_PARQUET)}, {', '.join(_DUCKDB)}; "
        "or name the kind yourself with eke.CsvFile, eke.ParquetFile or eke.DuckDBFile"
    )


def file_to_document(file: DataFile) -> dict[str, object]:
    """Plain JSON values that say which file it is and how to read it."""
    kind = next(kind for kind, known in _KINDS.items() if isinstance(file, known))
    fields = {k: list(v) if isinstance(v, tuple) else v for k, v in asdict(file).items()}
    return {"kind": kind, **fields}


def file_from_document(document: Mapping[str, object]) -> DataFile:
    """The file that `file_to_document` has written down."""
    fields = dict(document)
    kind = _KINDS.get(str(fields.pop("kind", None)))
    if kind is None:
        raise DataError("not a reference to a data file; open the table from its path again")
    try:
        file: DataFile = kind(**fields)
    except TypeError:
        raise DataError("the stored reference to the data file has unknown fields") from None
    return file


def _is_character(text: object) -> bool:
    return isinstance(text, str) and len(text) == 1 and text not in "\r\n"


def _are_names(names: tuple[object, ...]) -> bool:
    return (
        bool(names)
        and all(isinstance(name, str) and name for name in names)
        and len(set(names)) == len(names)
    )
