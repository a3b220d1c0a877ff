"""The ledger's arithmetic, the accountant against brute force, and edited ledgers."""

from __future__ import annotations

import math
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from decimal import Decimal
from enum import IntEnum
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from audits.place import memory_folder
from audits.row import Row, Scale, number
from eke.errors import BudgetExceeded, LedgerError
from eke.ledger import Ledger, book, replay
from eke.ledger.book import Book
from eke.privacy.accountant import Accountant
from tests.property import test_people_accounting as people
from tests.property.test_accounting import Forgetful, play_all
from tests.unit.ledger.test_verify import CUNNING, EDITS, OTHER_TYPES

LIMIT = 10**6
CHARGES_A_LEDGER = 500


# -- arithmetic ----------------------------------------------------------------------------------


class Sly(int):
    """A whole number that says yes to every comparison."""

    def __lt__(self, other: object) -> bool:
        return True

    __le__ = __gt__ = __ge__ = __lt__


class Kind(IntEnum):
    """A whole number by another name."""

    ONE = 1


NO_AMOUNTS: tuple[object, ...] = (
    *(math.nan, math.inf, -math.inf, 0.0, 1.0, -1.0, 1e300, 5e-324, 0.5, 2.0**63, -(2.0**63)),
    *(True, False, None, "1", "", b"1", "nan", [], [1], (1,), {}, 1j, Decimal(5), Decimal("NaN")),
    *(Fraction(5), Fraction(1, 3), np.float64(5), np.float64("nan"), np.bool_(True), Kind.ONE),
    *(np.int8(5), np.int32(5), np.int64(5), np.int64(2**62), np.uint64(2**64 - 1), np.array(5)),
    *(Sly(5), Sly(2**70), object(), range(5), np.array([1, 2]), np.float32("inf")),
)
EDGES = (0, 1, LIMIT, LIMIT + 1, 2**31, 2**53, 2**63 - 1, 2**63, 2**63 + 1, 2**64, 10**400)


def amount(rng: np.random.Generator, spent: int) -> object:
    """Any value that a careless caller could hand over, whole numbers near the edges included."""
    draw = rng.random()
    if draw < 0.5:
        return NO_AMOUNTS[int(rng.integers(len(NO_AMOUNTS)))]
    if draw < 0.7:
        edge = EDGES[int(rng.integers(len(EDGES)))]
        return -edge if rng.random() < 0.3 else edge
    if draw < 0.98:
        return spent - int(rng.integers(1, 1000))
    return spent + int(rng.integers(0, 3 * LIMIT // CHARGES_A_LEDGER * 20))


@dataclass
class Tally:
    """What became of the charges of a run."""

    charges: int = 0
    accepted: int = 0
    wrong: int = 0


def charge(books: Book, key: str, after: object, tally: Tally) -> None:
    """Put one charge to the ledger, and compare with what a plain rule says about it."""
    before, limit = books.spent, books.limit
    lawful = type(after) is int and before <= after <= limit
    try:
        books.reserve(
            analyst="ann",
            key=key,
            digest=key,
            payload={},
            spent_after=after,  # type: ignore[arg-type]
        )
    except (LedgerError, BudgetExceeded):
        accepted = False
    else:
        accepted = True
    tally.charges += 1
    tally.accepted += accepted
    expected = after if accepted else before
    fine = accepted == lawful and type(books.spent) is int and books.spent == expected
    tally.wrong += not (fine and before <= books.spent <= limit)


def charge_often(charges: int, folder: Path) -> Tally:
    """Charges to one ledger after another; each must hold at its end what was accepted."""
    rng, tally = np.random.default_rng(), Tally()
    while tally.charges < charges:
        path = folder / f"{tally.charges}.eke"
        ledger = Ledger.create(path, {}, LIMIT)
        try:
            with ledger.exclusive() as books:
                for turn in range(min(CHARGES_A_LEDGER, charges - tally.charges)):
                    charge(books, str(turn), amount(rng, books.spent), tally)
                spent = books.spent
            tally.wrong += ledger.balance().spent != spent or not ledger.verify().intact
        except Exception:  # noqa: BLE001 - whatever it is, the ledger let it through
            tally.wrong += 1
            tally.charges += 1
        path.unlink()
    return tally


def arithmetic(scale: Scale) -> tuple[Row, ...]:
    """No charge that is not a whole number of nano-units within the limit is ever accepted."""
    with memory_folder() as folder:
        found = charge_often(scale.of(1_000_000, 3000), folder)
        with pytest.MonkeyPatch.context() as patch:
            # As careless code checks it: NaN is not below zero, and True is a number.
            patch.setattr(book, "require_amount", lambda value, _name: value)
            broken = charge_often(scale.of(5000, 1500), folder)
    return (
        Row(
            title="ledger arithmetic: NaN, ±inf, 2⁶³, negative, bool, NumPy, floats",
            samples=f"{number(found.charges)} charges",
            figure=f"{found.wrong} wrong ({number(found.accepted)} rightly accepted)",
            control=f"without the check of amounts: {number(broken.wrong)} wrong",
            passed=found.wrong == 0 and found.accepted > found.charges // 1000,
            caught=broken.wrong > 0,
        ),
    )


# -- accounting ----------------------------------------------------------------------------------


def accounting(scale: Scale) -> tuple[Row, ...]:
    """The accountant against the loss of every possible unit, on random adaptive histories."""
    histories = scale.of(1000, 60)
    found = play_all(Accountant, histories)
    forgetful = play_all(Forgetful, 50)["under-counts"]
    wrong = {name: found[name] for name in ("under-counts", "decreases", "changed by looking")}
    return (
        Row(
            title="accounting against brute force",
            samples=f"{number(histories)} histories, {number(found['decisions'])} decisions",
            figure=", ".join(f"{value} {name}" for name, value in wrong.items()),
            control=f"remembering the last question only: {forgetful} under-counts",
            passed=not any(wrong.values()) and found["inexact"] == 0 and found["refusals"] > 0,
            caught=forgetful > 20,
        ),
        _of_people(scale),
    )


def _of_people(scale: Scale) -> Row:
    """Numbers of people beside counts of records, against every possible unit."""
    histories = scale.of(3000, 60)
    found = people.play_all(Accountant, histories)
    divided = people.play_all(people.Divided, 100)["under-counts"]
    return Row(
        title="accounting for people against brute force",
        samples=f"{number(histories)} histories, {number(found['decisions'])} decisions",
        figure=f"{found['under-counts']} under-counts, {found['decreases']} decreases",
        control=f"people as a k-th of their rows: {divided} under-counts",
        passed=not found["under-counts"] and not found["decreases"] and found["refusals"] > 0,
        caught=divided > 5,
    )


# -- tampering -----------------------------------------------------------------------------------

WAYS: dict[str, str] = {
    "another type": "CAST({0} AS BLOB)",
    "nothing": "NULL",
    "empty": "''",
    "zero": "0",
    "less than zero": "-1",
    "of another row": "(SELECT {0} FROM {1} AS o WHERE o.{0} IS NOT {1}.{0} LIMIT 1)",
}


def kinds_of_edits() -> Iterator[str]:
    """Statements that change a row, each column in several ways, whole rows, and whole tables."""
    for table, columns in EDITS.items():
        row = f"rowid = (SELECT max(rowid) - 3 FROM {table})" if table != "account" else "true"
        for column, change in columns.items():
            yield f"UPDATE {table} SET {column} = {change} WHERE {row}"
            for way in WAYS.values():
                to = way.format(column, table)
                yield f"UPDATE {table} SET {column} = {to} WHERE {row} AND {column} IS NOT {to}"
        yield f"DELETE FROM {table} WHERE {row}"
    yield from CUNNING
    yield from OTHER_TYPES


def full_ledger(path: Path) -> Ledger:
    """Releases, open reservations, free answers, a note and a change of the limit."""
    ledger = Ledger.create(path, {}, limit=1000)
    for turn in range(6):
        with ledger.exclusive() as books:
            made = books.reserve(
                analyst="ann", key=f"paid {turn}", digest="d", payload={}, spent_after=10 * turn + 9
            )
        with ledger.exclusive() as books:
            books.commit(made.sequence, {"value": turn}, f'{{"of":{turn}}}')
    with ledger.exclusive() as books:
        for turn in range(2):
            key = f"open {turn}"
            books.reserve(analyst="bob", key=key, digest="d", payload={}, spent_after=70 + turn)
            books.remember(analyst="eve", key=f"free {turn}", digest="d", answer="{}")
        books.note("remark", {"text": "hello"})
        books.change_limit(1500, {})
    return ledger


def edited(path: Path, statement: str) -> bool:
    """True when a statement, run by someone with a shell of the database, changed something."""
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("PRAGMA ignore_check_constraints = ON")
        for action in ("update", "delete"):
            connection.execute(f"DROP TRIGGER IF EXISTS entry_no_{action}")
        try:
            return connection.execute(statement).rowcount != 0
        except sqlite3.IntegrityError:  # NOT NULL: the database itself refuses this edit
            return False


def refused(path: Path) -> bool:
    """True when the ledger is not opened, that is, when nothing can be released from it."""
    try:
        Ledger.open(path)
    except LedgerError:
        return True
    return False


def missed_edits(path: Path, copy: Path, detected: Callable[[Path], bool]) -> tuple[int, int]:
    """(edits that changed something, those among them that nobody noticed)."""
    tried = missed = 0
    for statement in kinds_of_edits():
        shutil.copy(path, copy)
        if edited(copy, statement):
            tried += 1
            missed += not detected(copy)
    return tried, missed


def tampering(scale: Scale) -> tuple[Row, ...]:
    """Every kind of edit is noticed at opening, and every older copy by a mark kept elsewhere."""
    with memory_folder() as folder:
        path, copy = folder / "full.eke", folder / "copy.eke"
        ledger = full_ledger(path)
        untouched = refused(path)
        tried, missed = missed_edits(path, copy, refused)
        old = folder / "old.eke"
        rolled, forgotten = scale.of(100, 5), 0
        for turn in range(rolled):
            shutil.copy(path, old)
            with ledger.exclusive() as books:
                books.note("later", {"turn": turn})
            forgotten += not Ledger.open(old).verify(ledger.mark()).problems
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(replay, "entry_hash", lambda _before, link: link.hash)
            _, blind = missed_edits(path, copy, refused)
    return (
        Row(
            title="tampering and rollback",
            samples=f"{tried} kinds of edits, {rolled} older copies",
            figure=f"{missed} edits and {forgotten} older copies unnoticed",
            control=f"without comparing hashes: {blind} edits unnoticed",
            passed=missed == forgotten == 0 and not untouched and tried >= 100,
            caught=blind > 0,
        ),
    )
