"""Questions made of a formula over linear questions, as Python and HTTP ask them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice

from eke.domain import Domain
from eke.errors import QueryError
from eke.query import Query
from eke.query.condition import check_names
from eke.question.formula import (
    Aggregate,
    Formula,
    Key,
)
from eke.question.groups import GroupKey, grouped
from eke.question.quantile import check_alone
from eke.question.question import VALUE, Column, Question

MOST_QUERIES = 64
MOST_LEAVES = 256
"""Numbers and answers in a formula: it is evaluated tens of thousands of times."""


def formula_question(
    domain: Domain, formula: Formula, queries: Sequence[Query], by: Sequence[str] = ()
) -> Question:
    """The question for a formula of some queries, in every combination of values of `by`."""
    check_names(domain, by)
    if not queries or len(queries) > MOST_QUERIES:
        raise QueryError(f"a formula is made of 1 to {MOST_QUERIES} questions")
    if len(list(islice(formula.leaves(), MOST_LEAVES + 1))) > MOST_LEAVES:
        raise QueryError(f"a formula may name at most {MOST_LEAVES} numbers and answers")
    if any(query.is_zero for query in queries):
        raise QueryError("a part of the formula is the same whatever the data; leave it out")
    keys = [GroupKey.of_column(domain, name) for name in domain.in_order(by)]
    bare = [query.without_constant() for query in queries]
    distinct = list(dict.fromkeys(bare))
    answers = [
        Aggregate(distinct.index(one)).shifted(query.constant)
        for one, query in zip(bare, queries, strict=True)
    ]
    whole = check_alone(formula.on_answers(answers).on_domain(domain))
    identity = {
        "formula": formula.to_document(),
        "of": [query.to_document() for query in queries],
        "by": [key.name for key in keys],
    }
    columns = [Column(key.name, Key(place)) for place, key in enumerate(keys)]
    return Question(
        _text(whole, distinct, keys),
        {"query": identity},
        domain,
        (*columns, Column(VALUE, whole)),
        tuple(grouped(query, keys) for query in distinct),
        tuple(keys),
        is_named=False,
    )


def without_outer_parentheses(text: str) -> str:
    """The text of a formula, without parentheses around all of it."""
    depth = 0
    for place, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if depth == 0:
            whole = letter == ")" and place == len(text) - 1
            return text[1:-1] if whole else text
    return text


def _text(formula: Formula, queries: Sequence[Query], keys: Sequence[GroupKey]) -> str:
    """The formula in words, however it was written."""
    words = [query.description for query in queries]
    words = [f"({text})" if " " in text else text for text in words]
    shown = re.sub(r"\ba(\d+)\b", lambda place: words[int(place[1])], formula.text)
    by = f" by {', '.join(key.name for key in keys)}" if keys else ""
    return f"{without_outer_parentheses(shown)}{by}"
