"""Free answers of a dataset in a file, read straight from its ledger and its checkpoint.

For commands that ask once: neither the table nor anything that could spend is loaded. What is said
is what the session says; `tests/unit/session/test_free_answer.py` compares the two.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from eke.engine.checkpoint import CHECKPOINT_ENDING, Checkpoint
from eke.ledger import Entry
from eke.planning import FallsShort, only_history
from eke.session.answer.answer import Answer
from eke.session.answer.record import Finding
from eke.session.ask.aim import Aim
from eke.session.ask.request import request_of
from eke.session.beginning import beginning_of, unit_caveats, unit_of
from eke.session.glance import glance
from eke.session.outside.local import outside_caveats
from eke.session.settings import user_name
from eke.sql import parse

MOST_NEW_ENTRIES = 200
"""After the checkpoint: with more of them a session, which makes a new one, is opened."""


def free_answer(path: Path, sql: str, aim: Aim) -> Answer | None:
    """What history says, if that is accurate enough; None when a session should be asked.

    Privacy: only what was released is read, and the public settings; what may be written is the
    checkpoint, which holds no more.
    """
    seen = glance(path)
    ledger, settings = seen.ledger, seen.settings

    def until(sequence: int) -> list[Entry]:
        return [ledger.whole(number) for number in range(1, sequence + 1)]

    file = path.resolve()
    checkpoint = Checkpoint(file.with_name(file.name + CHECKPOINT_ENDING))
    standing = checkpoint.standing(beginning_of(settings), ledger.hash_of, until)
    last = len(ledger.entries)
    if last - standing.seen > MOST_NEW_ENTRIES:
        return None
    standing.take_in(map(ledger.whole, range(standing.seen + 1, last + 1)))
    if os.access(file, os.W_OK):  # whoever may only read leaves no file of theirs beside it
        checkpoint.keep(standing)  # the next command finds it done
    now = standing.snapshot()
    question = parse(sql, now.facts.inference.domain, unit=unit_of(settings))
    request = request_of(question, aim, policy=str(settings["policy"]), analyst=user_name())
    if request.spend is not None or not request.work(now.facts.inference).is_light:
        return None
    try:
        if request.decide(now.facts, only_history).action != "history":
            return None
    except FallsShort:
        return None
    text = request.text(now.facts, Finding("history", now.sequence))
    answer = request.answer(text, now.inference_through)
    said = unit_caveats(settings) + outside_caveats(text, now.registered)
    return replace(answer, caveats=answer.caveats + said)
