"""A process that asks one question under a key and may be killed on the way."""

from __future__ import annotations

import os
import sys

import eke

DOMAIN = eke.Domain(age=eke.Integer(0, 9), sex=eke.Categorical("Female", "Male"))
QUESTION = eke.count(age=(2, 6), sex="Female")
WITHIN = 40.0


def ask(path: str, rows: object, key: str, within: float = WITHIN) -> str:
    """The stored answer to the question, as text."""
    session = eke.open(path, data=rows, analyst="worker")
    return session.ask(QUESTION, within, key=key).to_json()


def in_child(
    path: str, rows: object, key: str, *, within: float = WITHIN, failpoint: str | None = None
) -> int:
    """Fork a child that asks; its process number. It inherits this warmed-up interpreter."""
    child = os.fork()
    if child:
        return child
    try:
        if failpoint is None:
            os.environ.pop("EKE_FAILPOINT", None)
        else:
            os.environ["EKE_FAILPOINT"] = failpoint
        ask(path, rows, key, within)
        os._exit(0)
    except BaseException:  # noqa: BLE001 - a child must never return into the test
        sys.stderr.write("the child failed\n")
        os._exit(3)
