"""Answers as documents, both ways. The fields are in docs/reference/http.md."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

from eke.codec.curve import curve_document, drawn_posterior
from eke.codec.plain import finite, label_document, read_label, read_record
from eke.errors import EstimateError
from eke.inference import Posterior
from eke.question import VALUE
from eke.question.calendar import Calendar
from eke.session import Answer, Cell, First, Receipt


def answer_document(answer: Answer, *, posterior: bool) -> dict[str, Any]:
    """An answer with its receipt; the same bytes for the same stored answer."""
    receipt = answer.receipt
    shared = {
        "question": receipt.question,
        "confidence": receipt.confidence,
        "source": receipt.source,
        "measure": receipt.measure,
        "cost": receipt.cost,
        "why": receipt.sentence(),
        "caveats": list(answer.caveats),
        "receipt": receipt_document(receipt),
    }
    if receipt.rank_error is not None:
        shared["rank_error"] = receipt.rank_error
    if answer.is_number:
        low, high = answer.interval
        number = {"kind": "number", "value": answer.value, "low": low, "high": high}
        number |= _calendar(answer.rows[0][0])
        named = {"column": answer.columns[0]} if answer.is_named else {}
        drawn = {"posterior": curve_document(answer)} if posterior else {}
        return finite({**number, "variance": answer.variance, **named, **shared, **drawn})
    if answer.is_block:  # of a linear form; SQL never gives one
        return finite(
            {
                "kind": "marginal",
                "attributes": list(answer.attributes),
                "keys": [[label_document(label) for label in key] for key in answer.keys],
                "values": list(answer.values),
                "intervals": [list(pair) for pair in answer.intervals],
                "variances": list(answer.variances),
                **shared,
            }
        )
    rows = [
        [
            label_document(cell) if is_key else cell.to_dict()
            for is_key, cell in zip(answer.is_key, row, strict=True)
        ]
        for row in answer.rows
    ]
    columns = [
        {"name": name, "key": is_key, **_calendar_of(answer, place)}
        for place, (name, is_key) in enumerate(zip(answer.columns, answer.is_key, strict=True))
    ]
    unnamed = {} if answer.is_named else {"named": False}
    first = {} if answer.first is None else {"first": _first_document(answer.first)}
    return finite({"kind": "table", "columns": columns, "rows": rows, **unnamed, **first, **shared})


def _calendar(cell: Cell) -> dict[str, Any]:
    """What texts of dates or times stand for, if a value is one."""
    return {} if cell.calendar is None else {"calendar": cell.calendar.to_document()}


def _calendar_of(answer: Answer, column: int) -> dict[str, Any]:
    cells = [row[column] for row in answer.rows[:1] if not answer.is_key[column]]
    return _calendar(cells[0]) if cells else {}


def _read_calendar(document: Mapping[str, Any]) -> Calendar | None:
    told = document.get("calendar")
    return None if told is None else read_record(Calendar, told)


def _first_document(first: First) -> dict[str, Any]:
    others = [[label_document(label) for label in key] for key in first.others]
    return {"surely": list(first.surely), "others": others, "more": first.more}


def receipt_document(receipt: Receipt) -> dict[str, Any]:
    """A receipt; a price, a size of groups and a share are in it if they were asked for."""
    absent = {
        "spend_nano": None,
        "groups_of": None,
        "share": None,
        "of_records": False,
        "rank_error": None,
    }
    fields = asdict(receipt).items()
    return {name: value for name, value in fields if name not in absent or value != absent[name]}


def read_answer(document: Mapping[str, Any]) -> Answer:
    """The answer in a document."""
    return replace(_read_answer(document), caveats=tuple(document.get("caveats", ())))


def _read_answer(document: Mapping[str, Any]) -> Answer:
    receipt = read_record(Receipt, document["receipt"])
    if document["kind"] == "number":
        ends = (document["value"], document["low"], document["high"])
        cell = Cell(*ends, document["variance"], calendar=_read_calendar(document))
        name, named = document.get("column", VALUE), "column" in document
        return Answer(
            (name,), (False,), ((cell,),), receipt, named, _belief=drawn_posterior(document, cell)
        )
    if document["kind"] == "marginal":
        ends = (document["values"], document["intervals"], document["variances"])
        cells = [
            Cell(value, low, high, variance)
            for value, (low, high), variance in zip(*ends, strict=True)
        ]
        rows = tuple((*key, cell) for key, cell in zip(read_keys(document), cells, strict=True))
        names = tuple(document["attributes"])
        is_key = (*(True for _ in names), False)
        return Answer((*names, VALUE), is_key, rows, receipt, False, True, _no_belief)
    is_key = tuple(bool(column["key"]) for column in document["columns"])
    calendars = tuple(map(_read_calendar, document["columns"]))
    rows = tuple(
        tuple(
            read_label(c) if key else replace(read_record(Cell, c), calendar=calendar)
            for key, calendar, c in zip(is_key, calendars, row, strict=True)
        )
        for row in document["rows"]
    )
    names = tuple(column["name"] for column in document["columns"])
    return Answer(
        names,
        is_key,
        rows,
        receipt,
        document.get("named", True),
        _belief=_no_belief,
        first=_read_first(document.get("first")),
    )


def _read_first(document: Mapping[str, Any] | None) -> First | None:
    if document is None:
        return None
    others = tuple(tuple(read_label(label) for label in key) for key in document["others"])
    return First(tuple(document["surely"]), others, document["more"])


def _no_belief(row: int, column: int) -> Posterior:
    del row, column
    raise EstimateError(
        "a server sends no posteriors of a whole table; ask for its cells one by one"
    )


def read_keys(document: Mapping[str, Any]) -> tuple[tuple[object, ...], ...]:
    """The labels of each row."""
    return tuple(tuple(read_label(label) for label in key) for key in document["keys"])
