"""Exact answers from exact counts: integers in, integers out, wrapped so that nobody can look."""

from __future__ import annotations

from eke.data import Counts
from eke.mechanism import Secret
from eke.query import Block


def exact_answers(block: Block, counts: Counts) -> Secret:
    """The exact answer, or one for each question of a block, in units of 2^exponent.

    `counts` are those of the attributes that the block needs.

    Privacy: each kind of block sums in integers that cannot overflow (`Block.exact_answers`), so
    neither that nor the order of rows can make one record move an answer by more than its
    coefficient.
    """
    answers = block.exact_answers(counts.attributes, counts.codes, counts.counts)
    return Secret(answers, block.exponent)
