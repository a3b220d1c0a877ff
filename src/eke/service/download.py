"""Downloads: tables as files, with a name that says what they are."""

from __future__ import annotations

import io
import json
from enum import StrEnum
from typing import Any

import pandas as pd
from fastapi.responses import Response, StreamingResponse

from eke.domain import plain_label
from eke.publish import Published
from eke.publish.row_files import RowPieces
from eke.session import Answer, ReleasedTable

_PARQUET = "application/vnd.apache.parquet"
DESCRIBED: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The file.",
        "content": {
            "application/json": {"schema": {"type": "object"}},
            "text/csv": {"schema": {"type": "string"}},
            _PARQUET: {"schema": {"type": "string", "format": "binary"}},
        },
    }
}


class FileFormat(StrEnum):
    """How a table is sent."""

    JSON = "json"
    CSV = "csv"
    PARQUET = "parquet"


def published_file(published: Published, form: FileFormat, name: str) -> Response:
    """The rows of a publication; as JSON they are coded, exactly as the ledger keeps them."""
    if form is FileFormat.JSON:
        return Response(published.to_text(), media_type="application/json")
    pieces = RowPieces(published.domain, published.attributes, published.codes)
    if form is FileFormat.PARQUET:
        headers = _named(f"{name}.parquet")
        return StreamingResponse(pieces.parquet(), media_type=_PARQUET, headers=headers)
    return StreamingResponse(pieces.texts(), media_type="text/csv", headers=_named(f"{name}.csv"))


def table_file(table: ReleasedTable, form: FileFormat, name: str, document: Any) -> Response:
    """A released table."""
    if form is FileFormat.JSON:
        return Response(json.dumps(document, allow_nan=False), media_type="application/json")
    frame = table.to_pandas()
    for column in frame.columns.intersection(list(table.attributes)):
        # One type a column, as Parquet wants it, also where a value stands for what is missing.
        frame[column] = frame[column].map(plain_label).convert_dtypes()
    if form is FileFormat.PARQUET:
        return _parquet(frame, name)
    headers = _named(f"{name}.csv")
    return Response(frame.to_csv(index=False), media_type="text/csv", headers=headers)


def answer_file(answer: Answer, form: FileFormat, name: str, document: Any) -> Response:
    """An answer: a row for a number, with its question; for a table its rows."""
    if form is FileFormat.JSON:
        return Response(json.dumps(document, allow_nan=False), media_type="application/json")
    frame = answer.to_pandas()
    for column in frame.columns.intersection(list(answer.attributes)):
        frame[column] = frame[column].convert_dtypes()
    if form is FileFormat.PARQUET:
        return _parquet(frame, name)
    headers = _named(f"{name}.csv")
    return Response(frame.to_csv(index=False), media_type="text/csv", headers=headers)


def _parquet(frame: pd.DataFrame, name: str) -> Response:
    written = io.BytesIO()
    frame.to_parquet(written, index=False)
    return Response(written.getvalue(), media_type=_PARQUET, headers=_named(f"{name}.parquet"))


def _named(file: str) -> dict[str, str]:
    return {"Content-Disposition": f'attachment; filename="{file}"'}
