"""An answer as `eke ask` prints it: drawn, as JSON or as CSV."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

from eke.cli.picture import show_answer, show_caveats, show_claim
from eke.cli.screen import errors, output
from eke.codec.printed import answer_document, json_text

if TYPE_CHECKING:
    from eke.session import Answer, Claim


def present_answer(
    answer: Answer, *, as_json: bool, as_csv: bool, claim: Claim | None = None
) -> None:
    """Print an answer, and how probable a claim about it is."""
    screen = output()
    if as_json:
        said = {} if claim is None else {"claim": claim.to_dict()}
        screen.raw(json_text({**answer_document(answer), **said}))
    elif as_csv:
        screen.raw(csv_text(answer).rstrip("\n"))
        for caveat in answer.caveats:
            errors().print(f"Note: {errors().escape(caveat)}")
    else:
        show_answer(screen, answer)
        if claim is not None:
            screen.print()
            show_claim(screen, claim)


def present_claim(claim: Claim, *, as_json: bool) -> None:
    """Print how probable a claim is, of a question that nobody need pay for."""
    screen = output()
    if as_json:
        screen.raw(json_text(claim.to_dict()))
        return
    screen.print(f"[bold]{screen.escape(claim.question)}[/]")
    screen.print()
    show_claim(screen, claim)
    screen.print("[green]Free[/]: it follows from what was released.", indent=2)
    show_caveats(screen, claim.caveats)


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
