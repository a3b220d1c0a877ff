"""An answer as `eke ask` prints it: drawn, as JSON or as CSV."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

from eke.cli.picture import show_answer
from eke.cli.screen import errors, output
from eke.codec.printed import answer_document, json_text

if TYPE_CHECKING:
    from eke.session import Answer


def present_answer(answer: Answer, *, as_json: bool, as_csv: bool) -> None:
    """Print an answer."""
    screen = output()
    if as_json:
        screen.raw(json_text(answer_document(answer)))
    elif as_csv:
        screen.raw(csv_text(answer).rstrip("\n"))
        for caveat in answer.caveats:
            errors().print(f"Note: {errors().escape(caveat)}")
    else:
        show_answer(screen, answer)


def csv_text(answer: Answer) -> str:
    """The rows as CSV: each value is followed by the ends of its interval."""
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\n")
    if answer.is_number:
        writer.writerow(["value", "low", "high"])
        writer.writerow([answer.value, *answer.interval])
        return written.getvalue()
    writer.writerow(answer.flat_columns)
    writer.writerows(answer.flat_rows())
    return written.getvalue()
