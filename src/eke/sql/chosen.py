"""Chosen quantiles: CHOSEN_MEDIAN(x) and CHOSEN_QUANTILE(x, 0.9), which SQL does not have.

They are MEDIAN and QUANTILE_DISC with another way to find them, so that the way is part of what is
asked. What is chosen among are the values of a column as it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

from sqlglot import exp

from eke.question.ladder import Ladder
from eke.sql.value import Reading

_AS_IT_IS = (
    "a quantile is chosen among the values of a column as it is; write {name}(age), and calculate "
    "with the answer"
)


class ChosenMedian(exp.Expression, exp.AggFunc):
    """CHOSEN_MEDIAN(x)."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True}
    _sql_names: ClassVar[list[str]] = ["CHOSEN_MEDIAN"]


class ChosenQuantile(exp.Expression, exp.AggFunc):
    """CHOSEN_QUANTILE(x, 0.9)."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True, "quantile": False}
    _sql_names: ClassVar[list[str]] = ["CHOSEN_QUANTILE"]


CHOSEN: tuple[type[exp.Expr], ...] = (ChosenMedian, ChosenQuantile)
CALLS: Mapping[str, Any] = {
    "CHOSEN_MEDIAN": ChosenMedian.from_arg_list,
    "CHOSEN_QUANTILE": ChosenQuantile.from_arg_list,
}
"""For the parser: what the names are read as."""


def checked_chosen(reading: Reading, node: exp.Expr, ladder: Ladder) -> Ladder:
    """The same ladder to be chosen from, if its steps are those of the column."""
    plain = Ladder.of_column(reading.domain, ladder.attribute, ladder.share, is_between=False)
    if (plain.key, plain.calendar) != (ladder.key, ladder.calendar):
        name = "CHOSEN_MEDIAN" if isinstance(node, ChosenMedian) else "CHOSEN_QUANTILE"
        raise reading.error(node, _AS_IT_IS.format(name=name))
    return replace(ladder, is_chosen=True)
