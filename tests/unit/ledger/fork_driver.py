"""Forks around a ledger, in an interpreter of its own so that the forks themselves are clean.

Prints, for each case, whether the parent's checks held; `test_fork.py` judges that.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import traceback
from collections.abc import Callable
from pathlib import Path

from eke.errors import LedgerError
from eke.ledger import Ledger, fork


def forked(work: Callable[[], object]) -> int:
    """The exit status of a child that does some work and then leaves as interpreters do."""
    child = os.fork()
    if child == 0:
        try:
            work()
        except LedgerError as error:
            os._exit(4 if "forked in the middle" in str(error) else 5)
        except AssertionError:
            traceback.print_exc()
            os._exit(6)
        os._exit(0)  # a SystemExit passes by: then finalisers and exit handlers run
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def between_transactions(path: Path) -> None:
    """Parent and child go on with the same object."""
    ledger = Ledger.create(path, {}, 100)

    def spend(key: str) -> None:
        with ledger.exclusive() as book:
            number = book.reserve(
                analyst="a", key=key, digest="d", payload={}, spent_after=book.spent + 1
            ).sequence
        with ledger.exclusive() as book:
            book.commit(number, {}, "1")

    def child() -> None:
        for number in range(10):
            spend(f"child {number}")
        assert ledger._process == os.getpid()

    spend("before")
    assert forked(child) == 0
    spend("after")
    assert ledger.balance().spent == 12
    assert ledger.verify().intact


def inside_a_transaction(path: Path, leave: str) -> None:
    """The parent has a hot journal when it forks; it must still be there when the child is gone."""
    ledger = Ledger.create(path, {}, 100)
    journal = path.with_name(path.name + "-journal")
    with ledger.exclusive() as book:
        book.reserve(analyst="a", key="k", digest="d", payload={"x": "y" * 50_000}, spent_after=5)
        before = journal.stat().st_size
        assert before > 0
        if leave == "unprotected":
            fork._in_use.clear()
        child = os.fork()
        if child == 0:
            refused = 0
            for use in (book.entries, lambda: book.note("x", {}), lambda: book.find("a", "k")):
                try:
                    use()
                except LedgerError as error:
                    refused += "forked in the middle" in str(error)
            if refused != 3:
                os._exit(7)
            if leave != "normal":
                del book
                gc.collect()
                sys.exit(0)
        else:
            status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            assert status == (4 if leave == "normal" else 0), status
            assert journal.stat().st_size == before, "the child removed the parent's journal"
    assert ledger.balance().spent == 5
    assert ledger.verify().intact


def main(folder: Path) -> None:
    """Run each case in a process of its own and print the exit codes."""
    cases: dict[str, Callable[[Path], None]] = {
        "between": between_transactions,
        "exit": lambda path: inside_a_transaction(path, "exit"),
        "normal": lambda path: inside_a_transaction(path, "normal"),
        "unprotected": lambda path: inside_a_transaction(path, "unprotected"),
    }
    codes = {}
    for name, case in cases.items():
        codes[name] = forked(lambda case=case, name=name: case(folder / f"{name}.eke"))  # type: ignore[misc]
    sys.stdout.write(json.dumps(codes))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
