"""Checkpoints save work and change nothing: the slow twin reads every entry of the ledger."""

from __future__ import annotations

import gc
import json
import os
import shutil
import stat
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import numpy as np
import pandas as pd
import pytest

import eke
from eke.engine import checkpoint
from eke.engine.checkpoint import Checkpoint, read_arrays, write_arrays
from eke.engine.standing import Beginning, Standing
from eke.errors import LedgerError
from eke.history import Measurement
from eke.inference import Inference
from eke.inference.regression import Regression
from eke.ledger import Book, Entry, Ledger
from eke.privacy.law import Laplace
from eke.privacy.pure import PURE
from eke.query.parts import Parts
from eke.session import Session
from eke.session.ask.aim import Aim
from eke.session.free_answer import free_answer

DOMAIN = eke.Domain(
    a=eke.Integer(0, 199),
    b=eke.Categorical("x", "y", "z"),
    c=eke.Boolean(),
)
TABLE = pd.DataFrame(
    {
        "a": np.arange(2000) % 200,
        "b": np.array(["x", "y", "z"])[np.arange(2000) % 3],
        "c": np.arange(2000) % 7 < 3,
    }
)
QUESTIONS = (
    "SELECT COUNT(*) FROM t",
    "SELECT COUNT(*) FROM t WHERE a < 150",
    "SELECT b, COUNT(*) FROM t GROUP BY b",
    "SELECT SUM(a) FROM t WHERE c",
    "SELECT COUNT(*) FROM t WHERE a BETWEEN 20 AND 29 AND b = 'y'",
)


def early(patch: pytest.MonkeyPatch) -> None:
    """Checkpoints from a few rows on, made anew at every release."""
    patch.setattr(checkpoint, "LEAST_ROWS", 4)
    patch.setattr(checkpoint, "NEW_SHARE", 10**6)


@pytest.fixture(autouse=True)
def _early(monkeypatch: pytest.MonkeyPatch) -> None:
    early(monkeypatch)


def asked(path: Path, **how: object) -> Session:
    """A dataset with many kinds of measurements."""
    session = eke.create(path, TABLE, DOMAIN, epsilon=1000, **how)  # type: ignore[arg-type]
    rng = np.random.default_rng(5)
    for turn in range(12):
        low, high = sorted(rng.integers(0, 200, 2).tolist())
        session.ask(f"SELECT COUNT(*) FROM t WHERE a BETWEEN {low} AND {high}", 40, policy="direct")
        if turn % 4 == 0:
            session.ask("SELECT b, COUNT(*) FROM t GROUP BY b", 50 - turn, policy="direct")
            session.ask("SELECT SUM(a) FROM t WHERE c", 9000 - turn, policy="direct")
    # Two questions that differ in one of a thousand millionths are set aside.
    near = eke.count(a=(0, 149)) * 1.0
    session.ask(near + eke.count(a=3) * 1e-9, 60, policy="direct")
    session.ask("SELECT COUNT(*) FROM t", 30)
    for sql in QUESTIONS:
        session.ask(sql, 1e5)
    return session


def file_of(path: Path) -> Path:
    return path.with_name(path.name + "-checkpoint")


def standing_of(path: Path) -> Standing:
    """What a vault begins with when this dataset is opened."""
    ledger = Ledger.open(path)
    beginning = Beginning(DOMAIN, PURE, "add_remove")
    return Checkpoint(file_of(path)).standing(beginning, ledger.hash_of, lambda _: ())


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dataset with its checkpoint, which each test has a copy of."""
    where = tmp_path_factory.mktemp("made") / "t.eke"
    with pytest.MonkeyPatch.context() as patch:
        early(patch)
        asked(where).ask("SELECT COUNT(*) FROM t", 100)
    return where


@pytest.fixture
def path(folder: Path, made: Path) -> Path:
    where = folder / "t.eke"
    shutil.copy2(made, where)
    shutil.copy2(file_of(made), file_of(where))
    return where


@pytest.fixture
def rebuilt(path: Path, folder: Path) -> Path:
    """The same dataset without its checkpoint."""
    where = folder / "rebuilt.eke"
    shutil.copy(path, where)
    return where


def answers(session: Session) -> list[object]:
    """Everything that is said for free, to the last digit."""
    found: list[object] = [session.ask(sql, 1e6).to_json() for sql in QUESTIONS]
    found += [session.history.to_pandas().to_json(), str(session.budget)]
    found += [str(session.preview("SELECT COUNT(*) FROM t WHERE a = 7", 12))]
    found += [session.explain("SELECT COUNT(*) FROM t WHERE a < 150", 1e6)]
    found += [str(session.estimate("SELECT COUNT(*) FROM t WHERE a < 70"))]
    return found


def test_a_process_writes_what_was_new_at_once_and_then_seldom(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoint, "NEW_SHARE", 1)  # seldom: never
    session = eke.open(path, data=TABLE)
    found = [standing_of(path).seen]
    for value in (7, 8):
        session.ask(f"SELECT COUNT(*) FROM t WHERE a = {value}", 12)
        session.ask("SELECT COUNT(*) FROM t", 100)
        found.append(standing_of(path).seen)
    eke.open(path, data=TABLE).ask("SELECT COUNT(*) FROM t", 100)
    found.append(standing_of(path).seen)
    assert found[0] < found[1] == found[2] < found[3]


@dataclass
class Few:
    """A standing of so many rows, with nothing in it."""

    rows: int
    seen: int = 1
    head: str = "head"

    def parts(self) -> Parts:
        return {"rows": np.array([self.rows])}


def test_what_is_new_at_the_first_call_is_written_however_little(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoint, "NEW_SHARE", 10)

    def stored(_: object, parts: Parts, __: object) -> Few:
        return Few(int(parts["rows"][0]))

    monkeypatch.setattr(Standing, "from_parts", stored)
    place = tmp_path / "kept"

    def of_another_process(rows: int) -> int:
        one = Checkpoint(place)
        if place.exists():
            assert (
                one.standing(
                    Beginning(DOMAIN, PURE, "add_remove"), lambda _: "head", lambda _: ()
                ).rows
                == rows - 1
            )
        for more in (0, 0, 1):
            one.keep(cast("Standing", Few(rows + more)))
        return int(read_arrays(place)["rows"][0])

    assert [of_another_process(rows) for rows in (100, 101, 102)] == [100, 101, 102]


def test_caps_are_in_it(path: Path) -> None:
    session = eke.open(path, data=TABLE)
    session.change_cap("ann", 1.0)
    session.ask("SELECT COUNT(*) FROM t WHERE a = 7", 5)
    session.ask("SELECT COUNT(*) FROM t", 100)
    assert standing_of(path).seen > 20
    assert standing_of(path).capped == {"ann"}


@pytest.mark.parametrize("enabled", [True, False])
def test_reading_accounts_leaves_the_collector_as_it_was(path: Path, enabled: bool) -> None:
    switch = gc.enable if enabled else gc.disable
    switch()
    try:
        eke.open(path, data=TABLE).ask("SELECT COUNT(*) FROM t WHERE a = 7", 5)
        assert gc.isenabled() == enabled
    finally:
        gc.enable()


def test_a_free_answer_without_a_session_writes_it_too(
    path: Path, rebuilt: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(os, "access", lambda *_: False)  # somebody who may only read
        assert free_answer(rebuilt, QUESTIONS[0], Aim(100.0)) is not None
    assert not file_of(rebuilt).exists()
    assert free_answer(rebuilt, QUESTIONS[0], Aim(100.0)) is not None
    assert standing_of(rebuilt).seen >= standing_of(path).seen > 0
    written = file_of(rebuilt).stat().st_mtime_ns
    assert free_answer(rebuilt, QUESTIONS[0], Aim(100.0)) is not None
    assert file_of(rebuilt).stat().st_mtime_ns == written, "nothing was new"


def test_answers_are_the_same_with_and_without(path: Path, rebuilt: Path) -> None:
    assert standing_of(path).seen > 20
    assert standing_of(rebuilt).seen == 0
    first, second = (eke.open(where, data=TABLE) for where in (path, rebuilt))
    assert answers(first) == answers(second)
    for session in (first, second):  # what follows is charged alike
        session.ask("SELECT COUNT(*) FROM t WHERE a BETWEEN 60 AND 90", 25)
    assert first.budget.spent == second.budget.spent
    costs = [
        session.preview("SELECT c, COUNT(*) FROM t GROUP BY c", 9).cost
        for session in (first, second)
    ]
    assert costs[0] == costs[1] > 0


@pytest.mark.parametrize("neighbours", ["add_remove", "replace_one"])
def test_a_history_goes_on_from_its_checkpoint(folder: Path, neighbours: str) -> None:
    """Bit for bit what it had been without one, public numbers and rows set aside included."""
    where = folder / "t.eke"
    session = asked(where, neighbours=neighbours)
    old = folder / "old"
    session.ask("SELECT COUNT(*) FROM t", 1e6)
    shutil.copy(file_of(where), old)
    for high in (33, 44, 55):
        session.ask(f"SELECT COUNT(*) FROM t WHERE a < {high}", 20, policy="direct")
    whole = eke.open(where, data=TABLE)
    assert (whole._vault._standing.rows, whole._vault._standing.is_ahead) > (20, False)
    shutil.copy(old, file_of(where))
    partly = eke.open(where, data=TABLE)
    assert partly._vault._standing.seen < whole._vault._standing.seen
    file_of(where).unlink()
    assert answers(eke.open(where, data=TABLE)) == answers(partly) == answers(whole)


def test_accounts_are_read_from_the_ledger_and_only_when_needed(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = eke.open(path, data=TABLE)
    read: list[int] = []
    entries = Ledger.entries

    def counted(ledger: Ledger, after: int = 0) -> list[Entry]:
        read.append(after)
        return entries(ledger, after)

    monkeypatch.setattr(Ledger, "entries", counted)
    session.ask("SELECT COUNT(*) FROM t", 1e6)
    session.ask("SELECT b, COUNT(*) FROM t GROUP BY b", 1e6)
    assert read
    assert 0 not in read
    session.preview("SELECT COUNT(*) FROM t WHERE a = 7", 12)
    assert read.count(0) == 1
    session.ask("SELECT COUNT(*) FROM t WHERE a = 7", 12)
    assert read.count(0) == 1, "what was worked out is kept"


@pytest.mark.parametrize("what", ["question", "tables"])
def test_the_ledger_is_not_locked_while_accounts_are_read(
    path: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    session = eke.open(path, data=TABLE)
    locked: list[bool] = []
    read_while_locked: list[bool] = []
    entries, exclusive = Ledger.entries, Ledger.exclusive

    @contextmanager
    def noted(ledger: Ledger) -> Iterator[object]:
        with exclusive(ledger) as book:
            locked.append(True)
            try:
                yield book
            finally:
                locked.pop()

    def counted(ledger: Ledger, after: int = 0) -> list[Entry]:
        if after == 0:
            read_while_locked.append(bool(locked))
        return entries(ledger, after)

    monkeypatch.setattr(Ledger, "exclusive", noted)
    monkeypatch.setattr(Ledger, "entries", counted)
    if what == "question":
        session.ask("SELECT COUNT(*) FROM t WHERE a = 7", 12)
    else:
        session.release(session.plan([("a", "b")], budget=1.0))
        assert not isinstance(session._vault.facts().inference.regression, Regression)
    assert read_while_locked == [False]


def test_after_a_failed_commit_nothing_is_kept_whatever_else_fails(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a release that the ledger does not hold, on a disk that cannot be read either."""
    session = eke.open(path, data=TABLE)
    before = session._vault.facts().inference.rows[:]

    def broken(*_: object) -> None:
        raise LedgerError("the disk failed")

    with monkeypatch.context() as failing:
        failing.setattr(Book, "commit", broken)
        failing.setattr(Ledger, "hash_of", broken)
        with pytest.raises(LedgerError, match="the disk failed"):
            session.ask("SELECT COUNT(*) FROM t WHERE a = 7", 12, key="k")
        assert not session._vault._standing.is_ahead
        assert session._vault.facts().inference.rows[:] == before
    answer = session.ask("SELECT COUNT(*) FROM t WHERE a = 7", 12, key="k")
    assert "paid" in repr(answer)
    assert len(session._vault.facts().inference.rows) == len(before) + 1


def damages(content: bytes) -> Iterator[bytes]:
    """A file with something wrong with it."""
    first, header, rest = content.split(b"\n", 2)
    known = json.loads(header)
    yield b""
    yield content[: len(content) // 2]
    yield content[:-1]
    yield content + b"\0"
    yield b"SQLite format 3\0" + content[16:]
    for place in range(len(first) + len(header) + 2 + 64, len(content), len(content) // 40):
        changed = bytearray(content)
        changed[place] ^= 1
        yield bytes(changed)
    others: list[object] = [
        [],
        {},
        known | {"layout": 1},
        known | {"checksum": "0"},
        known | {"size": -1},
        known | {"arrays": {}},
        known | {"arrays": {name: ["|O", [1], 0] for name in known["arrays"]}},
        known | {"arrays": {name: ["<f8", [10**12], 0] for name in known["arrays"]}},
        known | {"arrays": {name: ["<f8", [1], 10**9] for name in known["arrays"]}},
    ]
    for wrong in others:
        yield first + b"\n" + json.dumps(wrong).encode() + b"\n" + rest


def test_a_damaged_checkpoint_is_left_aside_and_made_anew(path: Path, rebuilt: Path) -> None:
    expected = answers(eke.open(rebuilt, data=TABLE))
    content = file_of(path).read_bytes()
    tried = 0
    for damaged in damages(content):
        file_of(path).write_bytes(damaged)
        assert standing_of(path).seen == 0
        tried += 1
    assert tried > 40
    session = eke.open(path, data=TABLE)
    assert answers(session) == expected
    assert standing_of(path).seen > 20


def test_a_checkpoint_of_other_entries_is_left_aside(path: Path, folder: Path) -> None:
    """Of another ledger, of a longer one, and of one that went on otherwise."""
    other = folder / "other.eke"
    asked(other).ask("SELECT COUNT(*) FROM t", 100)
    shutil.copy(file_of(path), file_of(other))
    assert standing_of(other).seen == 0
    earlier = folder / "earlier.eke"
    shutil.copy(path, earlier)
    session = eke.open(path, data=TABLE)
    session.ask("SELECT COUNT(*) FROM t WHERE a < 11", 20)
    session.ask("SELECT COUNT(*) FROM t", 100)
    shutil.copy(file_of(path), file_of(earlier))
    assert standing_of(earlier).seen == 0
    eke.open(earlier, data=TABLE).ask("SELECT COUNT(*) FROM t WHERE a < 12", 20)
    assert len(Ledger.open(earlier).entries()) == len(Ledger.open(path).entries())
    shutil.copy(file_of(path), file_of(earlier))
    assert standing_of(earlier).seen == 0
    assert standing_of(path).seen > 0


def test_only_its_owner_may_read_it(path: Path) -> None:
    assert stat.S_IMODE(file_of(path).stat().st_mode) == 0o600
    assert [one.name for one in path.parent.iterdir() if "checkpoint" in one.name] == [
        file_of(path).name
    ]


def test_a_folder_that_cannot_be_written_to(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing fails, nothing is left behind."""
    replaced = Path.replace

    def full(self: Path, target: Path) -> Path:
        if "checkpoint" in str(target):
            raise OSError(28, "No space left on device")
        return replaced(self, target)

    monkeypatch.setattr(Path, "replace", full)
    session = asked(folder / "t.eke")
    assert session.ask("SELECT COUNT(*) FROM t", 1e6).cost == 0
    assert not [one for one in folder.iterdir() if "checkpoint" in one.name]


def test_released_tables_have_none(folder: Path) -> None:
    """What is known by whole tables is built from the ledger."""
    session = asked(folder / "t.eke")
    session.release(session.plan([("a", "b")], budget=1.0))
    session.ask("SELECT COUNT(*) FROM t", 1e6)
    assert eke.open(folder / "t.eke", data=TABLE).ask("SELECT COUNT(*) FROM t", 1e6).cost == 0
    assert session._vault._published.parts() is None


def test_few_rows_and_few_new_ones_are_not_written(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()
    written: list[int] = []
    monkeypatch.setattr(checkpoint, "write_arrays", lambda _, parts: written.append(len(parts)))
    session = eke.create(folder / "t.eke", TABLE, DOMAIN, epsilon=1000)
    at: list[int] = []
    for high in range(1, 60):
        session.ask(f"SELECT COUNT(*) FROM t WHERE a < {high}", 40, policy="direct")
        session.ask(f"SELECT COUNT(*) FROM t WHERE a < {high}", 60)
        at += [high] * (len(written) - len(at))
    assert at == [16, 18, 20, 22, 24, 26, 28, 30, 33, 36, 39, 42, 45, 49, 53, 57]


def test_attributes_may_have_names_like_those_of_parts() -> None:
    names = ("a", "a/ends", "a/b/terms", "weights", "rows/vectors/a")
    domain = eke.Domain(dict.fromkeys(names, eke.Integer(0, 3)))
    asked = [eke.count({name: (1, 2)}).on(domain) for name in names[1:]]
    known = Inference(domain, [Measurement(one, Laplace(2.0), (5.0,)) for one in asked])
    parts = known.parts()
    assert parts is not None
    again = Inference.from_parts(domain, parts, list)
    for one in [*asked, asked[0] - asked[1] * 2, eke.count({"a": 1}).on(domain)]:
        assert (again.linear(one) is None) == (known.linear(one) is None)
        assert str(again.posterior(one)) == str(known.posterior(one))


def test_arrays_come_back_as_they_were(folder: Path) -> None:
    parts: Parts = {
        "empty": np.empty((0, 3), np.int32),
        "a/b": np.arange(7),
        "c": np.ones((2, 5))[:, ::2],
        "bytes": np.frombuffer(b"text", np.uint8),
    }
    write_arrays(folder / "some", parts)
    found = read_arrays(folder / "some")
    assert list(found) == list(parts)
    for name, array in parts.items():
        assert found[name].dtype == array.dtype
        assert found[name].shape == array.shape
        assert np.array_equal(found[name], array)
        assert found[name].flags.writeable
    with pytest.raises(FileNotFoundError):
        read_arrays(folder / "none")
    whole = (folder / "some").read_bytes()
    for damaged in (whole[:-1], whole + b"\0", whole[:-64] + b"x" + whole[-63:]):
        (folder / "some").write_bytes(damaged)
        with pytest.raises(ValueError, match="a damaged checkpoint"):
            read_arrays(folder / "some")


def test_a_header_that_promises_too_much_is_left_aside(folder: Path) -> None:
    write_arrays(folder / "some", {"a": np.arange(7), "b": np.arange(3)})
    first, header, rest = (folder / "some").read_bytes().split(b"\n", 2)
    for before, after in (
        (b'["<i8", [7], 0]', b'["<i8", [9999999999], 0]'),
        (b'["<i8", [7], 0]', b'["<i8", [-7], 0]'),
        (b'["<i8", [3], 64]', b'["<i8", [3], 0]'),
        (b'["<i8", [3], 64]', b'["|O", [3], 64]'),
    ):
        assert before in header
        changed = header.replace(before, after)
        (folder / "other").write_bytes(b"\n".join([first, changed, rest]))
        with pytest.raises(ValueError, match=r"unknown numbers|too many|damaged"):
            read_arrays(folder / "other")


def test_arrays_are_written_and_read_without_another_copy(folder: Path) -> None:
    """Of 16 MB; a copy of all of them would take as much again."""
    parts: Parts = {str(place): np.arange(2.0**18) + place for place in range(8)}
    tracemalloc.start()
    try:
        write_arrays(folder / "some", parts)
        written = tracemalloc.get_traced_memory()[1]
        tracemalloc.reset_peak()
        found = dict(read_arrays(folder / "some"))
        read = tracemalloc.get_traced_memory()[1]
        del found["0"]
        left = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert written < 2**20
    assert read < 2**24 + 2**20
    assert left < 2**24 - 2**20, "what is no longer needed is let go by itself"


def test_the_layout_is_the_one_that_is_written(path: Path) -> None:
    """Whoever changes what a part means, or its name, raises `LAYOUT`."""
    assert checkpoint.LAYOUT == 4
    found = read_arrays(file_of(path))
    shown = [
        f"{name} {array.dtype.str}"
        for name, array in found.items()
        if not {"b", "c"} & set(name.split("/"))
    ]
    assert shown == LAYOUT_4.split("\n")[1:-1]


def test_a_server_ledger_has_no_place_for_one(path: Path) -> None:
    assert Ledger.open(path).beside("-checkpoint") == file_of(path)
    with pytest.raises(LedgerError):
        Ledger.open(path.with_name("none.eke"))


LAYOUT_4 = """
document |u1
inference/documents |u1
inference/law_of_row <i8
inference/kept <i8
inference/regression/basis <i8
inference/regression/dependent <i8
inference/regression/values <f8
inference/regression/precisions <f8
inference/regression/norms <f8
inference/regression/coordinates <f8
inference/regression/stack/weights <f8
inference/regression/stack/starts <i8
inference/regression/stack/a/terms <i8
inference/regression/stack/a/totals <f8
inference/regression/stack/a/thin <i8
inference/regression/stack/a/starts <i8
inference/regression/stack/a/places <i4
inference/regression/stack/a/steps <f8
inference/regression/stack/a/thick <i8
inference/regression/stack/a/sums <f8
inference/regression/stack/a/huge <i8
inference/regression/stack/a/entries <f8
inference/regression/stack/a/bounds <i8
inference/regression/stack/a/runs/terms <i8
inference/regression/stack/a/runs/starts <i8
inference/regression/stack/a/runs/pieces <i8
inference/regression/span/numbers <i8
inference/regression/span/checks <i4
inference/regression/span/rows/weights <i4
inference/regression/span/rows/starts <i8
inference/regression/span/rows/vectors/a/ends <i8
inference/regression/span/rows/vectors/a/places <i4
inference/regression/span/rows/vectors/a/steps <i4
inference/regression/span/rows/means/a <i4
inference/regression/span/rows/owners/a <i8
inference/regression/span/lower/rows <i4
inference/regression/span/lower/inverses <i4
inference/regression/span/lower/inverse <i4
inference/regression/span/upper/rows <i4
inference/regression/span/upper/inverses <i4
inference/regression/span/upper/inverse <i4
inference/regression/kernel/0/left <f8
inference/regression/kernel/0/block <f8
inference/regression/information/0/left <f8
inference/regression/information/0/block <f8
"""
