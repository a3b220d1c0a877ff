"""Statements and conditions as one line of text, for fixtures."""

from __future__ import annotations

import re

from eke.question import AskedBlock, Condition, Ordering, Partition, Question
from eke.question.outcome import AllOf, AnyOf, Compared, IsNull, Not


def statement_text(statement: Question) -> str:
    """name: formula, for each column; then what acts on the result."""
    blocks = [_block_text(block) for block in statement.blocks]
    keys = [key.name for key in statement.group_by]

    def written(text: str) -> str:
        text = re.sub(r"\bk(\d+)\b", lambda m: f"<{keys[int(m[1])]}>", text)
        text = re.sub(r"\ba(\d+)\b", lambda m: f"{{{blocks[int(m[1])]}}}", text)
        return text.removeprefix("(").removesuffix(")") if _wrapped(text) else text

    parts = [f"{c.name}: {written(c.finished.text)}" for c in statement.columns]
    if statement.having is not None:
        parts.append(f"having {written(_condition_text(statement.having))}")
    parts += [f"order {_ordering_text(one, written)}" for one in statement.order_by]
    if statement.limit is not None:
        parts.append(f"limit {statement.limit}")
    if statement.offset:
        parts.append(f"offset {statement.offset}")
    if statement.requirement is not None:
        confidence = statement.requirement.confidence
        at = "" if confidence is None else f" at {confidence:g}"
        parts.append(f"within {statement.requirement.within:g}{at}")
    return "; ".join(parts)


def _wrapped(text: str) -> bool:
    """True when the first parenthesis closes at the very end."""
    depth = 0
    for place, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if depth == 0:
            return letter == ")" and place == len(text) - 1
    return False


def _block_text(block: AskedBlock) -> str:
    if not isinstance(block, Partition):
        return block.description
    keys = ", ".join(
        key.name if key.attribute else f"{key.name} ({', '.join(map(str, key.labels))})"
        for key in block.keys_by
    )
    return f"{block.inside.description} by {keys}"


def _ordering_text(one: Ordering, written) -> str:
    down = " desc" if one.descending else ""
    nulls = " nulls first" if one.nulls_first else ""
    return f"{written(one.by.text)}{down}{nulls}"


def _condition_text(condition: Condition) -> str:
    match condition:
        case Compared(sign, left, right):
            return f"{left.text} {sign} {right.text}"
        case AllOf(parts):
            return "(" + " and ".join(map(_condition_text, parts)) + ")"
        case AnyOf(parts):
            return "(" + " or ".join(map(_condition_text, parts)) + ")"
        case Not(part):
            return f"not {_condition_text(part)}"
        case IsNull(of):
            return f"{of.text} is null"
    raise TypeError("a condition of another kind")
