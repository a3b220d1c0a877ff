"""SqlAnswer: the result of a SQL statement, with an interval next to every value."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pandas as pd
import pyarrow as pa

from eke.domain import plain_label
from eke.session import html
from eke.session.receipt import Receipt, Receipted


@dataclass(frozen=True, slots=True)
class Cell:
    """One value of a result with its interval; all None where a formula has no value."""

    value: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True, repr=False)
class SqlAnswer(Receipted):
    """Rows of keys and values, as the statement orders them; they share one receipt.

    A key is its label (a bin is the pair of its edges); a value is a `Cell`.
    """

    columns: tuple[str, ...]
    is_key: tuple[bool, ...]
    rows: tuple[tuple[Any, ...], ...]
    receipt: Receipt

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        return f"SqlAnswer({len(self)} rows of {', '.join(self.columns)}; {self.source})"

    def explain(self) -> str:
        """The statement, the size of its result, and why it cost what it cost."""
        return f"{self.receipt.question}\n{len(self)} rows.\n{self.receipt.sentence()}"

    @property
    def flat_columns(self) -> list[str]:
        """The names of the columns with name_low and name_high after each value."""
        names: list[str] = []
        for name, is_key in zip(self.columns, self.is_key, strict=True):
            names += [name] if is_key else [name, f"{name}_low", f"{name}_high"]
        return names

    def flat_rows(self) -> list[tuple[Any, ...]]:
        """The rows under `flat_columns`; the label of a bin is a text."""
        return [tuple(v for cell in row for v in _flat(cell)) for row in self.rows]

    def to_pandas(self) -> pd.DataFrame:
        return pd.DataFrame(self.flat_rows(), columns=self.flat_columns)

    def to_arrow(self) -> pa.Table:
        columns = list(zip(*self.flat_rows(), strict=True)) or [()] * len(self.flat_columns)
        return pa.table(dict(zip(self.flat_columns, map(list, columns), strict=True)))

    def to_dict(self) -> dict[str, Any]:
        names = self.flat_columns
        return {
            "question": self.receipt.question,
            "columns": names,
            "rows": [dict(zip(names, row, strict=True)) for row in self.flat_rows()],
            "confidence": self.confidence,
            "source": self.source,
            "cost": self.cost,
        }

    def to_json(self) -> str:
        return json.dumps(self.to_dict())

    def _repr_html_(self) -> str:
        return html.result(self)


def _flat(cell: Any) -> tuple[Any, ...]:
    return (cell.value, cell.low, cell.high) if isinstance(cell, Cell) else (plain_label(cell),)
