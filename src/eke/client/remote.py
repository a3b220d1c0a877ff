"""RemoteSession: a dataset on a server, with the face of a local session.

session = eke.connect("https://eke.example.org", token, dataset="adult")
session.ask("SELECT COUNT(*) FROM adult WHERE age >= 65", within=60)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Self, overload
from urllib.parse import quote

import httpx
import pandas as pd
import pyarrow as pa

from eke.client.curve import Curve
from eke.client.wire import Wire
from eke.domain import Domain, domain_from_document
from eke.errors import EkeError, EstimateError, QueryError, ServiceError
from eke.privacy.record_loss import NANO
from eke.session import Answer, Budget, Cell, Preview, Receipt, SqlAnswer

Within = float | Mapping[str, float] | None


def connect(
    url: str,
    token: str,
    dataset: str | None = None,
    *,
    timeout: float = 60.0,
    transport: httpx.BaseTransport | None = None,
) -> RemoteSession:
    """A dataset on a server; its name may be left out when the token sees one dataset only."""
    wire = Wire(url, token, timeout=timeout, transport=transport)
    if dataset is not None:
        return RemoteSession(wire, dataset)
    try:
        return RemoteSession(wire, _only(wire))
    except EkeError:
        wire.close()
        raise


def _only(wire: Wire) -> str:
    names = [str(one["name"]) for one in wire.get("/api/v1/datasets")["datasets"]]
    if len(names) != 1:
        listed = ", ".join(names) or "none"
        raise ServiceError(f"name the dataset; the server shows you {listed}")
    return names[0]


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


class RemoteSession:
    """A dataset on a server. Made by `eke.connect`; questions are in SQL."""

    def __init__(self, wire: Wire, dataset: str) -> None:
        self._wire = wire
        self._place = f"/api/v1/datasets/{quote(dataset, safe='')}"
        self.dataset = dataset

    def ask(
        self,
        query: str,
        within: Within = None,
        confidence: float | None = None,
        *,
        key: str | None = None,
        policy: str | None = None,
    ) -> Answer | SqlAnswer:
        """The answer to a question in SQL, as `Session.ask` gives it."""
        body = {**_question(query, within, confidence, policy), "posterior": True}
        return _answer(self._wire.post(f"{self._place}/ask", body, key))

    def preview(
        self,
        query: str,
        within: Within = None,
        confidence: float | None = None,
        *,
        policy: str | None = None,
    ) -> Preview:
        """Price and source of an answer; spends nothing."""
        body = _question(query, within, confidence, policy)
        found = self._wire.post(f"{self._place}/preview", body)
        found.pop("sentence")
        return Preview(**found)

    def explain(
        self, query: str, within: Within = None, confidence: float | None = None
    ) -> dict[str, Any]:
        """How a question is read, what history says about it, and its price."""
        return self._wire.post(f"{self._place}/explain", _question(query, within, confidence, None))

    @property
    def budget(self) -> Budget:
        """The dataset's budget; what a cap leaves to you is `remaining` of a preview."""
        found = self._wire.get(f"{self._place}/budget")
        return Budget(found["measure"], _nano(found["limit"]), _nano(found["spent"]))

    @property
    def history(self) -> RemoteHistory:
        """Everything that the server shows you of what was released."""
        records: list[dict[str, Any]] = []
        after: int | None = 0
        while after is not None:
            page = self._wire.get(f"{self._place}/history?limit=5000&after={after}")
            records += page["measurements"]
            after = page["next"]
        return RemoteHistory(records)

    @property
    def domain(self) -> Domain:
        found = self._wire.get(f"{self._place}/schema")
        declared = domain_from_document(found["domain"])
        return Domain({name: declared[name] for name in found["order"]})

    def close(self) -> None:
        self._wire.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"RemoteSession({self.dataset})"


def _question(
    query: str, within: Within, confidence: float | None, policy: str | None
) -> dict[str, Any]:
    if not isinstance(query, str):
        raise QueryError("a question to a server is SQL; expressions need a local session")
    width = dict(within) if isinstance(within, Mapping) else within
    body = {"sql": query, "within": width, "confidence": confidence, "policy": policy}
    return {name: value for name, value in body.items() if value is not None}


def _answer(found: Mapping[str, Any]) -> Answer | SqlAnswer:
    receipt = Receipt(**found["receipt"])
    if found["kind"] == "number":
        value, variance = found["value"], found["variance"]
        drawn = found.get("posterior")

        def posterior() -> Curve:
            if drawn is None:
                raise EstimateError("the server sent no posterior with this answer")
            return Curve(value, variance, tuple(drawn["points"]), tuple(drawn["density"]))

        return Answer(value, (found["low"], found["high"]), variance, receipt, posterior)
    is_key = tuple(bool(column["key"]) for column in found["columns"])
    rows = tuple(
        tuple(_label(c) if key else Cell(**c) for key, c in zip(is_key, row, strict=True))
        for row in found["rows"]
    )
    return SqlAnswer(tuple(column["name"] for column in found["columns"]), is_key, rows, receipt)


def _label(label: Any) -> Any:
    return (label["from"], label["to"]) if isinstance(label, dict) else label


def _nano(amount: float) -> int:
    return round(amount * NANO)
