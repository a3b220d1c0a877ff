"""RemoteHistory: the measurements that a server shows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, overload

import pandas as pd
import pyarrow as pa


class RemoteHistory(Sequence[Mapping[str, Any]]):
    """The measurements that a server shows, as records."""

    def __init__(self, records: Sequence[Mapping[str, Any]]) -> None:
        self._records = tuple(records)

    def to_records(self) -> list[dict[str, Any]]:
        return [dict(record) for record in self._records]

    def to_pandas(self) -> pd.DataFrame:
        return pd.DataFrame(self.to_records())

    def to_arrow(self) -> pa.Table:
        return pa.Table.from_pylist(self.to_records())

    @overload
    def __getitem__(self, index: int) -> Mapping[str, Any]: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Mapping[str, Any]]: ...
    def __getitem__(self, index: int | slice) -> Mapping[str, Any] | Sequence[Mapping[str, Any]]:
        return self._records[index]

    def __len__(self) -> int:
        return len(self._records)

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        return iter(self._records)

    def __repr__(self) -> str:
        return f"RemoteHistory({len(self)} measurements)"
