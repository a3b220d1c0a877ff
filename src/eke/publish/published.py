"""Published: the rows of a publication in the table's own schema, and what they cost."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from eke.domain import Domain
from eke.inference.progress import Progress, silent
from eke.publish.row_basis import RowBasis
from eke.publish.row_estimate import RowEstimate, estimate_from_rows
from eke.publish.row_files import PARQUET_CELLS, RowPieces, replacing, write_csv, write_parquet
from eke.publish.row_labels import filled, labels_of
from eke.publish.row_report import report_of
from eke.question import row_caveats
from eke.sql import derived_values

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

FORMAT = "eke-publication/1"
_SHOWN = 8


@dataclass(frozen=True, slots=True, eq=False)
class Published:
    """New rows in the schema of the table, with their receipt. Made by `session.publish`.

    Attributes:
        domain: that of the table.
        attributes: the columns that were published.
        codes: the code of each value, an array with one row for each row.
        receipt: what was asked for, what it cost, and how it went.
        caveats: what bins, bounds and rules of the domain leave open of the rows; a sentence each.
        sequence: the entry of the ledger that holds them; None for rows from anywhere else.
        basis: what was measured for them, and public facts, where the dataset is; else None.

    Privacy: everything in it was released; it may be given to anyone.

    Example:
        >>> rows = session.publish("max_entropy", epsilon=0.2, rows=100)
        >>> len(rows), rows.cost, rows.to_pandas().columns.tolist()
        (100, 0.2, ['age', 'sex', 'hours', 'smoker'])
    """

    domain: Domain
    attributes: tuple[str, ...]
    codes: NDArray[np.int64]  # (rows, attributes)
    receipt: Mapping[str, Any]
    caveats: tuple[str, ...] = ()
    sequence: int | None = None
    basis: RowBasis | None = None

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def cost(self) -> float:
        """What the publication added to the loss, in epsilon or rho."""
        return float(self.receipt["cost"])

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader of the rows should know."""
        return tuple(self.receipt["notes"])

    def qualified(self, more: tuple[str, ...] = ()) -> Published:
        """The same rows with their caveats; `more` is what else is to be said of them.

        Nothing of it is stored: it follows from the public domain.
        """
        said = (*row_caveats(self.domain, self.attributes), *self.caveats, *more)
        return replace(self, caveats=tuple(dict.fromkeys(said)))

    def estimate(self, question: Any, *, confidence: float = 0.95) -> RowEstimate:
        """What the rows say of a question, and where the number of the real table is.

        Rows are no data: the interval counts the noise of what was measured, what rows do not know
        of columns together, and that there are so many. Where nothing honest can be said there is
        none, and `reason` says why. It costs nothing. For questions that were answered by a session
        its own answers are closer; see docs/how-to/publish-rows.md.

        Args:
            question: one number: SQL, or an expression such as `eke.count(age=(30, 40))`.
            confidence: how often the interval is to hold the real number.

        Example:
            >>> rows = session.publish("max_entropy", epsilon=0.5)
            >>> women = rows.estimate(eke.count(sex="F"))
            >>> women.interval[0] < women.value < women.interval[1]
            True
        """
        columns = dict(zip(self.attributes, self.codes.T, strict=True))
        return estimate_from_rows(self.domain, columns, self.receipt, question, confidence)

    def to_pandas(self) -> pd.DataFrame:
        """The rows with their labels; a bin is shown as its middle, the bucket as missing.

        Derived columns follow, as far as all that they are made of was published.
        """
        import pandas as pd  # noqa: PLC0415 - slow to load

        columns = dict(zip(self.attributes, self.codes.T, strict=True))
        rows = {name: labels_of(self.domain[name], codes) for name, codes in columns.items()}
        # Worked out from the row itself, so that no row contradicts them.
        derived = derived_values(self.domain, columns)
        return pd.DataFrame({**rows, **{name: filled(own) for name, own in derived.items()}})

    def to_arrow(self) -> pa.Table:
        """The same as an Arrow table."""
        import pyarrow as pa  # noqa: PLC0415 - slow to load

        return pa.concat_tables(self._pieces().tables(PARQUET_CELLS))

    def to_parquet(self, path: str | Path, *, progress: Progress = silent) -> None:
        """Write the rows into a Parquet file, piece by piece.

        It is there as a whole or not at all: it is written under another name and renamed at the
        end. Never more than about a million values are in memory besides the codes.

        Args:
            path: the file, which is replaced if it exists.
            progress: told of the share that is written; what it raises ends the work.

        Raises:
            DataError: when the file cannot be written.

        Example:
            >>> rows = session.publish("max_entropy", epsilon=0.2, rows=100)
            >>> rows.to_parquet("rows.parquet")
            >>> len(pd.read_parquet("rows.parquet"))
            100
        """
        write_parquet(self._pieces(), path, progress)

    def to_csv(self, path: str | Path, *, progress: Progress = silent) -> None:
        """The same as a CSV file, with the names of the columns in its first line.

        Args:
            path: the file, which is replaced if it exists.
            progress: told of the share that is written; what it raises ends the work.

        Raises:
            DataError: when the file cannot be written.
        """
        write_csv(self._pieces(), path, progress)

    def report(self, path: str | Path) -> Path:
        """Write a report on the rows for people: one HTML file, which loads nothing from elsewhere.

        It says of each column and of columns together what was measured, with which noise, and how
        far the rows are from it, beside what noise alone makes; which columns go together; whether
        public facts hold; and how far averages of the rows may be off. Rows that were read from a
        text, or came from a server, know only a part of it: `archive.report(sequence)` has all of
        it there, too.

        Privacy: post-processing of published rows, released measurements and public facts. The
        table is not looked at, nothing is spent, and whoever may see the rows may see it.

        Args:
            path: the file, which is replaced if it exists.

        Returns:
            The path.

        Raises:
            DataError: when the file cannot be written.

        Example:
            >>> rows = session.publish("max_entropy", epsilon=0.2, rows=100)
            >>> rows.report("report.html").read_text()[:15]
            '<!doctype html>'
        """
        text = report_of(self)
        with replacing(Path(path)) as file:
            file.write(text.encode())
        return Path(path)

    def _pieces(self) -> RowPieces:
        return RowPieces(self.domain, self.attributes, self.codes)

    def to_text(self) -> str:
        """The JSON text from which `from_text` makes the same rows."""
        packed = zlib.compress(np.ascontiguousarray(self.codes.T, "<i4").tobytes(), 6)
        document = {
            "format": FORMAT,
            "attributes": list(self.attributes),
            "rows": len(self.codes),
            "codes": base64.b64encode(packed).decode("ascii"),
            "receipt": dict(self.receipt),
            **({"caveats": list(self.caveats)} if self.caveats else {}),
        }
        return json.dumps(document, allow_nan=False, sort_keys=True)

    @staticmethod
    def from_text(domain: Domain, text: str) -> Published:
        """The rows of such a text, over the domain of the table."""
        document = json.loads(text)
        names = tuple(document["attributes"])
        packed = zlib.decompress(base64.b64decode(document["codes"]))
        codes = np.frombuffer(packed, "<i4").reshape(len(names), document["rows"]).T
        caveats = tuple(document.get("caveats", ()))
        return Published(domain, names, codes.astype(np.int64), document["receipt"], caveats)

    def __repr__(self) -> str:
        measure = self.receipt["measure"]
        return (
            f"Published({self.receipt['mechanism']}: {len(self):,} rows, "
            f"{len(self.attributes)} attributes; {measure} {self.cost:.6g})"
        )

    def _repr_html_(self) -> str:
        notes = "".join(f"<li>{escape(note)}</li>" for note in (*self.notes, *self.caveats))
        table = self.to_pandas().head(_SHOWN).to_html(index=False)
        return f"<div><b>{escape(repr(self))}</b>{table}<ul>{notes}</ul></div>"


def holds_rows(text: str) -> bool:
    """True for a text of `Published.to_text`, and not for what rows are still to be made from."""
    return "codes" in json.loads(text)
