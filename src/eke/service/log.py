"""Logs: one JSON object a line, about requests and never about what they ask or answer."""

from __future__ import annotations

import json
import logging
import sys
import traceback
from datetime import UTC, datetime

LOGGER = logging.getLogger("eke.service")


class JsonLines(logging.Formatter):
    """Time, level, event and the fields given with it.

    Privacy: neither messages of exceptions nor arguments are written: they may quote a question
    or, from a data engine, a row. Of an exception only its type and the places it went through.
    """

    def format(self, record: logging.LogRecord) -> str:
        at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        line = {"at": at, "level": record.levelname.lower(), "event": record.msg}
        line |= getattr(record, "fields", {})
        if record.exc_info and record.exc_info[0] is not None:
            frames = traceback.extract_tb(record.exc_info[2])
            line["exception"] = record.exc_info[0].__name__
            line["places"] = [f"{frame.name}:{frame.lineno}" for frame in frames][-8:]
        return json.dumps(line)


def log(event: str, *, level: int = logging.INFO, problem: bool = False, **fields: object) -> None:
    """Write an event with its fields; with `problem`, also where the current exception rose."""
    LOGGER.log(level, event, extra={"fields": fields}, exc_info=problem)


def log_to_stderr() -> None:
    """Let events go to standard error, where a service manager collects them."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    LOGGER.handlers[:] = [handler]
    LOGGER.setLevel(logging.INFO)
    LOGGER.propagate = False
