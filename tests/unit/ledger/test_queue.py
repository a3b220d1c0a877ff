from __future__ import annotations

import fcntl
import os
import threading
import time
from pathlib import Path

import pytest

from eke.ledger.queue import turn


@pytest.fixture
def journal(folder: Path) -> Path:
    path = folder / "people.eke-journal"
    path.touch()
    return path


def is_free(path: Path) -> bool:
    """Whether somebody who opens the file afresh gets the lock."""
    other = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(other)
    return True


def test_one_at_a_time(journal):
    inside, most = [], []

    def work():
        for _ in range(10):
            with turn(journal, 30):
                inside.append(1)
                most.append(len(inside))
                time.sleep(0.001)
                inside.pop()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(most) == 40
    assert max(most) == 1


def test_a_turn_ends_with_its_block_even_by_an_error(journal):
    def interrupted():
        assert not is_free(journal)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), turn(journal, 30):
        interrupted()
    assert is_free(journal)


def test_nobody_waits_for_ever(journal):
    with turn(journal, 30):
        begun = time.monotonic()
        with turn(journal, 0.1):  # goes on without: SQLite's own lock decides
            assert time.monotonic() - begun >= 0.1
        assert not is_free(journal)


def test_without_a_journal_there_is_no_queue(folder):
    with turn(folder / "absent", 30), turn(folder / "absent", 30):
        pass
    assert list(folder.iterdir()) == []


def test_a_forked_child_does_not_end_its_parents_turn(journal, monkeypatch):
    """The child leaves the block with a copy of the open file and another process number."""
    opened = []
    genuine = os.open

    def remember(*arguments):
        opened.append(genuine(*arguments))
        return opened[-1]

    monkeypatch.setattr(os, "open", remember)
    block = turn(journal, 30)
    block.__enter__()
    monkeypatch.setattr(os, "open", genuine)
    parents = os.dup(opened[0])
    monkeypatch.setattr(os, "getpid", lambda: -1)
    block.__exit__(None, None, None)
    assert not is_free(journal)
    os.close(parents)
    assert is_free(journal)
