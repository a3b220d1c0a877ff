"""Published: the rows of a publication in the table's own schema, and what they cost."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime, time
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from eke.domain import Attribute, Domain
from eke.publish.row_estimate import RowEstimate, estimate_from_rows
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
        return pd.DataFrame({**rows, **{name: _filled(own) for name, own in derived.items()}})

    def to_arrow(self) -> pa.Table:
        """The same as an Arrow table."""
        import pyarrow as pa  # noqa: PLC0415 - slow to load

        return pa.Table.from_pandas(self.to_pandas(), preserve_index=False)

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


def labels_of(attribute: Attribute, codes: NDArray[np.int64]) -> Any:
    """The value of each code as the table itself would hold it."""
    import pandas as pd  # noqa: PLC0415 - slow to load

    values = attribute.cell_values
    if isinstance(values[0], datetime):
        return np.array(values, "datetime64[us]")[codes]
    if isinstance(values[0], (date, time)):
        return np.array(values, object)[codes]  # pandas has dates as objects, files as dates
    if None in values or isinstance(values[0], str):
        return pd.array([values[code] for code in codes])
    return np.array(values)[codes]


def _filled(values: list[Any]) -> Any:
    """A column of plain values, of one type where None is among them, too."""
    import pandas as pd  # noqa: PLC0415 - slow to load

    has_gaps = None in values and not any(isinstance(value, (date, time)) for value in values)
    return pd.array(values) if has_gaps or isinstance((*values, None)[0], str) else values
