"""Exact answers from exact counts: integers in, integers out, wrapped so that nobody can look."""

from __future__ import annotations

from eke.data import Counts, Holdings
from eke.errors import PrivacyError
from eke.mechanism import Secret
from eke.query import Block


def exact_answers(block: Block, counted: Counts | Holdings) -> Secret:
    """The exact answer, or one for each question of a block, in units of 2^exponent.

    `counted` are the counts of the attributes that the block needs, or who has rows there.

    Privacy: records are counted where records were priced, and people where people were. Each kind
    of block sums in integers that cannot overflow (`Block.exact_answers`), so neither that nor the
    order of rows can make one record move an answer by more than its coefficient.
    """
    if block.people is not isinstance(counted, Holdings):
        raise PrivacyError("people are counted from holdings, and records from counts")
    if isinstance(counted, Holdings):
        answers = block.exact_people(counted.attributes, counted.codes, counted.holders)
    else:
        answers = block.exact_answers(counted.attributes, counted.codes, counted.counts)
    return Secret(answers, block.exponent)
