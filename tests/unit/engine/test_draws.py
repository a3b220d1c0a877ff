"""Draws: one for each place of a reservation, stored before it is seen, whatever comes between."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from eke.engine import draws as module
from eke.engine.draws import DRAW, Answered, Draws, Wanted, _packed, _unpacked, text_of
from eke.errors import LedgerError, PrivacyError
from eke.ledger import Ledger, Reservation

# The numbers from 0 to 64, as they are stored.
PACKED = (
    "eJwtxTViAgEAALCD4l6suFZwirv8/1UMJEuC4C3ksD8ccdQxx51w0imnnXHWOedd8KeLLrnsiqv+cs11N9x0y2133HXP"
    "fQ889Ld//Os/jzz2xFPPPPfCS/975bU33nrnvQ8++uSzL7765rsffvoFmFMIIQ=="
)


@pytest.fixture
def ledger(folder: Path) -> Ledger:
    return Ledger.create(folder / "a.eke", {}, limit=1000)


def reserved(ledger: Ledger, key: str = "one") -> Reservation:
    with ledger.exclusive() as book:
        return book.reserve(analyst="ann", key=key, digest="d", payload={}, spent_after=book.spent)


class Bag:
    """Numbers to draw, and how many were drawn."""

    def __init__(self) -> None:
        self.drawn = 0

    def want(self, what: str) -> Wanted:
        return Wanted(what, self.draw)

    def draw(self) -> list[int]:
        self.drawn += 1
        return [self.drawn, -self.drawn]


@pytest.fixture
def bag() -> Bag:
    return Bag()


class Metronome:
    """Writes down when looks began and what was rested after, at a given time."""

    def __init__(self, done: Callable[[], object]) -> None:
        self.time = 0.0
        self.rests: list[tuple[float, object]] = []
        self.done = done

    def now(self) -> float:
        self.time += 1.0
        return self.time

    def rest(self, began: float) -> None:
        self.rests.append((began, self.done()))


def test_what_is_drawn_rests_since_the_look_before_it_is_stored(ledger, bag):
    reservation = reserved(ledger)
    tempo = Metronome(lambda: (bag.drawn, len(ledger.entries(after=reservation.sequence))))
    draws = Draws(ledger, reservation, tempo=tempo)
    draws.take([bag.want("a"), bag.want("b")])  # nobody told of a look: since the beginning
    draws.look()
    draws.take([bag.want("c")])
    draws.look()
    draws.look()
    draws.take([bag.want("d")])
    assert tempo.rests == [(1.0, (2, 0)), (2.0, (3, 1)), (4.0, (4, 2))]


def test_what_is_stored_already_takes_as_long(ledger, bag):
    """Data was looked at for it all the same: whoever repeats a request learns no time."""
    reservation = reserved(ledger)
    Draws(ledger, reservation).take([bag.want("a")])
    tempo = Metronome(lambda: bag.drawn)
    again = Draws(ledger, reservation, tempo=tempo)
    again.look()
    assert again.take([bag.want("a")]) == [[1, -1]]
    assert tempo.rests == [(2.0, 1)]


def test_a_rest_that_is_broken_off_keeps_what_was_drawn(ledger, bag):
    reservation = reserved(ledger)

    class Interrupted(Metronome):
        def rest(self, began: float) -> None:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Draws(ledger, reservation, tempo=Interrupted(lambda: None)).take([bag.want("a")])
    assert Draws(ledger, reservation).take([bag.want("a")]) == [[1, -1]]
    assert bag.drawn == 1


def test_places_follow_each_other_and_are_stored_together(ledger, bag):
    reservation = reserved(ledger)
    draws = Draws(ledger, reservation)
    assert draws.take([bag.want("a"), bag.want("b")]) == [[1, -1], [2, -2]]
    assert draws.take([bag.want("c")]) == [[3, -3]]
    entries = ledger.entries(after=reservation.sequence)
    assert [entry.kind for entry in entries] == [DRAW, DRAW]
    places = [[one["place"] for one in entry.payload["draws"]] for entry in entries]
    assert places == [[0, 1], [2]]
    assert {entry.payload["reservation"] for entry in entries} == {reservation.sequence}
    assert draws.problem is None


def test_another_process_reads_what_was_drawn(ledger, bag):
    """Its memory is empty; the ledger is all it has."""
    reservation, other = reserved(ledger), reserved(ledger, "other")
    first = Draws(ledger, reservation)
    taken = first.take([bag.want("a"), bag.want("b")])
    first.forget()
    strange = Draws(ledger, other)
    assert strange.take([bag.want("a")]) == [[3, -3]]  # of another charge: another draw
    entries = len(ledger.entries())
    again = Draws(ledger, reservation)
    assert again.take([bag.want("a")]) == taken[:1]
    assert again.take([bag.want("b"), bag.want("c")]) == [taken[1], [4, -4]]
    assert len(ledger.entries()) == entries + 1
    assert bag.drawn == 4


def test_a_draw_whose_storing_failed_is_kept(ledger, bag, monkeypatch):
    reservation = reserved(ledger)
    draws = Draws(ledger, reservation)
    with monkeypatch.context() as patch:
        patch.setattr(Ledger, "exclusive", lambda _: (_ for _ in ()).throw(OSError("full")))
        with pytest.raises(OSError, match="full"):
            draws.take([bag.want("a")])
    assert isinstance(draws.problem, OSError)
    assert Draws(ledger, reservation).take([bag.want("a")]) == [[1, -1]]
    assert bag.drawn == 1


def test_what_is_stored_by_now_is_let_go(ledger, bag):
    reservation = reserved(ledger)
    draws = Draws(ledger, reservation)
    draws.take([bag.want("a"), bag.want("b")])
    kept = {key for key in module._unstored if key[0] == reservation.token}
    assert kept == {(reservation.token, 0), (reservation.token, 1)}
    draws.forget()
    draws.forget()
    assert not [key for key in module._unstored if key[0] == reservation.token]


def test_the_faster_process_counts(ledger, bag):
    """Both began before either stored: the second draw is never seen."""
    reservation = reserved(ledger)
    slow, fast = Draws(ledger, reservation), Draws(ledger, reservation)
    taken = fast.take([bag.want("a")])
    fast.forget()
    assert slow.take([bag.want("a"), bag.want("b")]) == [*taken, [3, -3]]
    assert len(ledger.entries(after=reservation.sequence)) == 2
    assert Draws(ledger, reservation).take([bag.want("a"), bag.want("b")]) == [*taken, [3, -3]]


def test_another_question_is_refused_in_a_place_that_was_drawn(ledger, bag):
    reservation = reserved(ledger)
    Draws(ledger, reservation).take([bag.want("a"), bag.want("b")])
    again = Draws(ledger, reservation)
    with pytest.raises(PrivacyError, match="another question"):
        again.take([bag.want("a"), bag.want("c")])
    assert again.problem is None
    assert bag.drawn == 2


def test_an_answer_that_is_there_ends_the_request(ledger, bag):
    reservation, other = reserved(ledger), reserved(ledger, "other")
    draws = Draws(ledger, reservation)
    with ledger.exclusive() as book:
        book.commit(other.sequence, {}, "of another request")
    draws.take([bag.want("a")])
    with ledger.exclusive() as book:
        book.commit(reservation.sequence, {}, "done")
    with pytest.raises(Answered):
        Draws(ledger, reservation)
    with pytest.raises(Answered):
        draws.take([bag.want("b")])


@pytest.mark.parametrize("draws", [None, {}, "text"])
def test_draws_of_an_unknown_form_release_nothing(ledger, draws):
    reservation = reserved(ledger)
    with ledger.exclusive() as book:
        book.note(DRAW, {"reservation": reservation.sequence, "draws": draws})
    with pytest.raises(LedgerError, match="unknown form"):
        Draws(ledger, reservation)


@pytest.mark.parametrize("length", [0, 1, 64, 65, 1000])
@pytest.mark.parametrize("extreme", [0, 2**63 - 1, -(2**63), 2**63, -(2**63) - 1, 10**40])
def test_numbers_of_any_size_come_back(length, extreme):
    steps = [number * (-1) ** number for number in range(length)]
    steps[-1:] = [extreme] if steps else []
    document = json.loads(json.dumps(_packed(steps)))
    assert _unpacked(document) == steps
    assert all(type(step) is int for step in _unpacked(document))
    small = -(2**63) <= extreme < 2**63
    assert list(document) == (["packed"] if length > 64 and small else ["steps"])
    if length == 1000 and small:
        assert len(document["packed"]) < 8 * length / 2


def test_packed_numbers_are_of_a_form_that_stays():
    """What older ledgers hold must be readable for ever."""
    assert _unpacked({"packed": PACKED}) == list(range(65))


def test_equal_documents_have_equal_texts():
    documents: list[Callable[[], object]] = [lambda: {"a": 1, "b": [2]}, lambda: {"b": [2], "a": 1}]
    assert len({text_of(one()) for one in documents}) == 1
    assert json.loads(text_of({"a": 1})) == {"a": 1}
