"""Parts of format('%I.%I', …): the pieces of text that it joins."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sqlglot import exp

from eke.catalogue.failure import UNSUPPORTED, CatalogueError

_PART = re.compile(r"%(.?)|[^%]+", re.DOTALL)
_QUOTING = {"I": "py_quote_ident", "L": "eke_quote_literal"}


def format_parts(arguments: list[exp.Expr]) -> Iterator[exp.Expr]:
    """The pieces of a format whose text is written out in the statement."""
    if not arguments or not isinstance(arguments[0], exp.Literal):
        raise CatalogueError("the text of format() must be written out", UNSUPPORTED)
    values = iter(arguments[1:])
    for part in _PART.finditer(arguments[0].name):
        code = part[1]
        if code is None or code == "%":
            yield exp.Literal.string("%" if code else part[0])
            continue
        value = next(values, None)
        if value is None or code not in ("s", "I", "L"):
            raise CatalogueError("format() takes %s, %I and %L, each with a value", UNSUPPORTED)
        quoting = _QUOTING.get(code)
        yield value if quoting is None else exp.Anonymous(this=quoting, expressions=[value.copy()])
