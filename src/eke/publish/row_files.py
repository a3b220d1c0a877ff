"""Row files: published rows written piece by piece, so that no whole table is ever in memory.

A file is written under another name beside its own and renamed at the end: whoever stops on the
way, or runs out of disk, leaves no half of it.
"""

from __future__ import annotations

import io
import os
import secrets
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime, time
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from eke.arrays import Codes
from eke.domain import Attribute, Domain
from eke.errors import DataError
from eke.inference.progress import Progress
from eke.publish.row_labels import filled, labels_of
from eke.sql import derived_values

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

WRITING = "writing rows"
PARQUET_CELLS, CSV_CELLS = 2**20, 2**17
"""Of one piece, which is held in memory; progress is told after each."""


class RowPieces:
    """Rows as Arrow tables of some thousands each, all with one schema."""

    def __init__(self, domain: Domain, attributes: Sequence[str], codes: Codes) -> None:
        import pyarrow as pa  # noqa: PLC0415 - slow to load

        self._domain, self._names, self._codes = domain, tuple(attributes), codes
        every = {name: labels_of(domain[name], _every(domain[name])) for name in self._names}
        self.schema = self._schema(every)
        self._values = {
            name: pa.array(labels, self.schema.field(name).type, from_pandas=True)
            for name, labels in every.items()
        }

    def tables(self, cells: int) -> Iterator[pa.Table]:
        """The pieces, of about so many cells; one without rows where there are none."""
        import pyarrow as pa  # noqa: PLC0415 - slow to load

        for codes in self._parts(cells):
            columns = dict(zip(self._names, codes.T, strict=True))
            arrays = {name: self._values[name].take(pa.array(at)) for name, at in columns.items()}
            for name, values in derived_values(self._domain, columns).items():
                arrays[name] = pa.array(values, self.schema.field(name).type)
            yield pa.table([arrays[name] for name in self.schema.names], schema=self.schema)

    def texts(self, cells: int = CSV_CELLS) -> Iterator[str]:
        """The same as CSV, the first one with the names of the columns."""
        for number, piece in enumerate(self.tables(cells)):
            frame = self._told(piece.to_pandas())
            yield frame.to_csv(index=False, header=number == 0, lineterminator="\n")

    def parquet(self, cells: int = PARQUET_CELLS) -> Iterator[bytes]:
        """The bytes of a Parquet file, one part after another."""
        import pyarrow.parquet as pq  # noqa: PLC0415 - slow to load

        written = _Passing()
        with pq.ParquetWriter(written, self.schema) as writer:
            for piece in self.tables(cells):
                writer.write_table(piece)
                yield written.passed()
        yield written.passed()

    def count(self, cells: int) -> int:
        """How many pieces there are."""
        return max(-(-len(self._codes) // self._rows(cells)), 1)

    def _rows(self, cells: int) -> int:
        return max(cells // max(len(self._names), 1), 1)

    def _parts(self, cells: int) -> Iterator[Codes]:
        rows = self._rows(cells)
        for start in range(0, max(len(self._codes), 1), rows):
            yield self._codes[start : start + rows]

    def _schema(self, every: dict[str, Any]) -> pa.Schema:
        """One for all pieces, whichever values they happen to have."""
        import pandas as pd  # noqa: PLC0415 - slow to load
        import pyarrow as pa  # noqa: PLC0415 - slow to load

        first: dict[str, Any] = {name: pd.Series(labels)[:1] for name, labels in every.items()}
        for name, value in self._first_derived().items():
            # With a gap after it, so that one that comes later needs no other type.
            first[name] = pd.Series(filled([value, None]))[:1]
        return pa.Schema.from_pandas(pd.DataFrame(first), preserve_index=False)

    def _first_derived(self) -> dict[str, Any]:
        """A value of each derived column; None for one that has none in any row."""
        some: dict[str, Any] = {}
        for codes in self._parts(CSV_CELLS):
            columns = dict(zip(self._names, codes.T, strict=True))
            for name, values in derived_values(self._domain, columns).items():
                if some.get(name) is None:
                    some[name] = next((value for value in values if value is not None), None)
            if None not in some.values():
                break
        return some

    def _told(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Moments as texts of one form: pandas leaves midnights out where it sees nothing else."""
        for name in frame.columns:
            if frame[name].dtype.kind == "M":
                at_midnight = name in self._values and _at_midnight(self._domain[name])
                form = "%Y-%m-%d" if at_midnight else "%Y-%m-%d %H:%M:%S"
                frame[name] = frame[name].dt.strftime(form)
        return frame


class _Passing(io.RawIOBase):
    """A file whose bytes are passed on and forgotten."""

    def __init__(self) -> None:
        super().__init__()
        self._parts: list[bytes] = []
        self._length = 0

    def writable(self) -> bool:
        return True

    def write(self, part: Any) -> int:
        self._parts.append(bytes(part))
        self._length += len(self._parts[-1])
        return len(self._parts[-1])

    def tell(self) -> int:
        return self._length

    def passed(self) -> bytes:
        """What was written since it was called last."""
        written = b"".join(self._parts)
        self._parts.clear()
        return written


def _every(attribute: Attribute) -> Codes:
    attribute.check_listed()
    return np.arange(attribute.size, dtype=np.int64)


def _at_midnight(attribute: Attribute) -> bool:
    """Whether all moments of a column are days."""
    moments = [one for one in attribute.cell_values if isinstance(one, datetime)]
    return all(one.time() == time() for one in moments)


def write_parquet(pieces: RowPieces, path: str | Path, progress: Progress) -> None:
    """The rows in a Parquet file, which is there as a whole or not at all."""
    _write(path, pieces.parquet(), pieces.count(PARQUET_CELLS) + 1, progress)


def write_csv(pieces: RowPieces, path: str | Path, progress: Progress) -> None:
    """The same in a CSV file."""
    texts = (text.encode() for text in pieces.texts())
    _write(path, texts, pieces.count(CSV_CELLS), progress)


def _write(path: str | Path, parts: Iterator[bytes], number: int, progress: Progress) -> None:
    with replacing(Path(path)) as file:
        progress(WRITING, 0.0)
        for place, part in enumerate(parts, 1):
            file.write(part)
            progress(WRITING, min(place / number, 1.0))


@contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """A new file, which takes the place of `path` when all went well and is gone otherwise.

    A link is followed, and who may read a file that is replaced may read the new one.
    """
    with _problems_of(path):
        place = _place_of(path)
        waiting = _beside(place)
        try:
            with waiting.open("xb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())  # a power cut, too, leaves one of the two
            if place.exists():
                waiting.chmod(stat.S_IMODE(place.stat().st_mode))
            waiting.replace(place)
        finally:
            with suppress(OSError):
                waiting.unlink(missing_ok=True)


def check_writable(path: Path) -> None:
    """Raise unless a file can be made there now: what cannot be written must not be bought."""
    with _problems_of(path):
        waiting = _beside(_place_of(path))
        waiting.touch(exist_ok=False)
        waiting.unlink()


@contextmanager
def _problems_of(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as problem:
        raise DataError(f"{path} cannot be written: {problem.strerror or problem}") from problem


def _place_of(path: Path) -> Path:
    """Where the file is; devices and folders are no files, and nothing takes their place."""
    try:
        place = path.resolve()
    except (RuntimeError, ValueError) as problem:  # links in a circle, a name that none can be
        raise DataError(f"{path} cannot be written: {problem}") from problem
    if place.exists() and not place.is_file():
        raise DataError(f"{path} cannot be written: it is no file; choose another name")
    return place


def _beside(place: Path) -> Path:
    return place.with_name(f".{place.name}.{secrets.token_hex(4)}.part")
