"""What the ledger says is known from outside: entries that register statements or remove them.

Privacy: a statement is declared by the curator to be known to everybody already. Registering one
reads no row of the table and costs nothing: it is checked against other statements and the public
domain only, never against the data or against measurements, so that what is refused says nothing
about anybody. What then follows from it is post-processing of released values with public numbers.
A statement that is in truth made from this table is a leak that nothing here can see; see
docs/concepts/privacy-promise.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from eke.domain import Domain
from eke.errors import EkeError, FactError, LedgerError
from eke.history import Assertion, Outside, Row
from eke.history.outside import in_force, removed
from eke.inference import Exactly, is_large_table, known_exactly
from eke.inference.exactly import agrees, is_condition
from eke.inference.regression import norm_of
from eke.ledger import Entry
from eke.query import Query

if TYPE_CHECKING:
    from eke.ledger import Book, Ledger  # slow to load, and needed by writers only

REGISTER = "register"
REMOVE = "remove"
OUTSIDE = frozenset({REGISTER, REMOVE})
"""The kinds of entries about what is known from outside."""
MOST_SINGLE = 1024
"""Of one block: answers that are not kept as a table."""
MOST_SINGLE_IN_ALL = 4096
"""Of everything that is in force: least squares takes time quadratic in each of them."""


def heard(known: Sequence[Outside], domain: Domain, entry: Entry) -> tuple[Outside, ...]:
    """What is known after one more entry, with what was removed; unknown forms release nothing."""
    try:
        if entry.kind == REMOVE:
            number = entry.payload["entry"]
            if type(number) is not int or number not in {one.sequence for one in in_force(known)}:
                raise LedgerError("the ledger removes what was never registered")
            return removed(known, number, entry.sequence)
        return (*known, Outside.from_document(domain, entry.payload, entry.sequence, entry.at))
    except (LookupError, TypeError, ValueError, ArithmeticError, EkeError) as problem:
        raise LedgerError("the ledger holds a fact of an unknown form") from problem


def register(ledger: Ledger, domain: Domain, public: Sequence[Row], told: Outside) -> int:
    """Write down what is known from outside; the number of its entry.

    Privacy: touches no data and costs nothing. What came meanwhile is seen under the ledger's lock,
    so that of two curators who contradict each other the second one is told.
    """
    known = _written(ledger, domain)
    check_outside(told, domain, public, known)  # others need not wait for that
    with ledger.exclusive() as book:
        now = _written(book, domain)
        if now != known:
            check_outside(told, domain, public, now)
        return book.note(REGISTER, told.to_document()).sequence


def remove(ledger: Ledger, domain: Domain, sequence: int, by: str) -> Outside:
    """Let what an entry registered be known no longer, and return it; answers given stay.

    Privacy: touches no data, and gives nothing back: nothing was paid for it.
    """
    with ledger.exclusive() as book:
        for registered in in_force(_written(book, domain)):
            if registered.sequence == sequence:
                book.note(REMOVE, {"entry": sequence, "by": by})
                return registered
        raise FactError(
            f"entry {sequence} holds no fact and no outside table that is in force; list them to "
            "see the numbers of those that do"
        )


def _written(ledger: Ledger | Book, domain: Domain) -> tuple[Outside, ...]:
    known: tuple[Outside, ...] = ()
    for entry in ledger.entries():
        if entry.kind in OUTSIDE:
            known = heard(known, domain, entry)
    return known


def check_outside(
    told: Outside, domain: Domain, public: Sequence[Row], known: Sequence[Outside]
) -> None:
    """Raise `FactError` unless statements make sense and agree with those that hold already.

    Privacy: looks at the domain, at public numbers and at other statements, and at nothing else.
    """
    for statement in told.statements:
        _check_form(statement, domain)
    _check_number([*in_force(known), told])
    holding = [one for one in in_force(known) if one.facts]
    owners = [one for one in holding for _ in one.facts]
    exactly = known_exactly(domain, public, holding)
    accepted: list[Outside] = []
    for statement in told.facts:
        if is_large_table(statement.query):  # looked at as a whole, after it was taken in
            _check_counts(statement, exactly.total)
        else:
            _check_one_by_one(statement, exactly, owners)
        single = Outside(told.source, (statement,))
        owners.append(told)
        accepted.append(single)
        exactly = known_exactly(domain, public, [*holding, *accepted])
        _check_itself(statement, exactly, owners, told)


def _check_form(statement: Assertion, domain: Domain) -> None:
    block = statement.query
    if block.domain != domain:
        raise FactError("the statement is over another domain than this dataset's")
    if block.cells > MOST_SINGLE and not is_large_table(block):
        raise FactError(
            f"of {block.cells:,} sums or groups too many would have to be kept one by one; at most "
            f"{MOST_SINGLE:,} are. Give a table of counts, or fewer numbers"
        )
    inside = block.inside
    # Numbers that are rounded to a step are those of the table, if it holds multiples of it: that
    # is for the curator to know. Bins stand for numbers that nobody knows.
    blurred = () if inside is None else [name for name, bound in inside.blur.items() if bound]
    binned = [name for name in blurred if domain[name].has_bins]
    if binned:
        raise FactError(
            f"the domain knows {', '.join(binned)} only to its bins, so that a published sum is "
            "not the sum that eke means; register counts of it, or declare a finer column"
        )
    for query in block.queries() if block.cells <= MOST_SINGLE else ():
        if query.is_zero:
            raise FactError("no record changes this number; there is nothing to know about it")
        if not query.people and not norm_of(query):
            raise FactError("the numbers in this question are too small, or too alike, to compute")


def _check_number(together: Sequence[Outside]) -> None:
    blocks = [statement.query for item in together for statement in item.statements]
    single = sum(block.cells for block in blocks if not is_large_table(block))
    if single > MOST_SINGLE_IN_ALL:
        raise FactError(
            f"{single:,} numbers from outside would have to be kept one by one; at most "
            f"{MOST_SINGLE_IN_ALL:,} are. Register tables of counts, or forget some others first"
        )


def _check_one_by_one(statement: Assertion, exactly: Exactly, owners: Sequence[Outside]) -> None:
    """No number differs from what follows from other facts, and counts are counts."""
    for query, value in zip(statement.query.queries(), statement.values, strict=True):
        implied = exactly.value(query)
        if implied is not None and not agrees(implied, value):
            others = {owners[place].name for place in exactly.resting_on(query)}
            named = " and ".join(sorted(others)) or "the public number of records"
            raise FactError(
                f"this contradicts {named}: it says that {query.description} is {value}, and "
                f"from there it follows that it is {implied:.12g}. Nothing was registered; "
                "correct the number, or remove the other fact first"
            )
        _check_size(query, value, exactly.total)


def _check_counts(statement: Assertion, total: int | None) -> None:
    """The cells of a large table: those that could be wrong are looked at one by one."""
    wrong = (
        place
        for place, value in enumerate(statement.values)
        if value < 0 or value.denominator != 1 or (total is not None and value > total)
    )
    for place in wrong:
        _check_size(statement.query.cell(place), statement.values[place], total)


def _check_size(query: Query, value: Fraction, total: int | None) -> None:
    """A count is a whole number between nothing and everybody."""
    if not query.people and not is_condition(query):
        return
    if value < 0 or value.denominator != 1:
        raise FactError(f"{query.description} is a whole number of at least 0, not {value}")
    if total is not None and not query.people and value > total:
        raise FactError(
            f"{query.description} cannot be {value}: it is public that there are {total} records"
        )


def _check_itself(
    statement: Assertion, exactly: Exactly, owners: Sequence[Outside], told: Outside
) -> None:
    """Its own numbers must be found again: else they contradict others together, or are too alike.

    Equations that contradict each other are met as well as can be, and none of them exactly.
    """
    for place in exactly.misfits(statement):
        query, value = statement.query.cell(place), statement.values[place]
        implied = exactly.unrounded(query)
        if implied is None:
            raise FactError(
                f"{query.description} cannot be held exactly beside the other facts: it differs "
                "from what follows from them in too few records. Nothing was registered; register "
                "counts that differ in more"
            )
        if not agrees(implied, value):
            used = {owners[place] for place in exactly.resting_on(query)} - {told}
            named = " and ".join(sorted(one.name for one in used)) or "itself, or what is public"
            raise FactError(
                f"all of it together contradicts {named}: not every number in it can be true. "
                "Nothing was registered; correct them, or remove the other fact first"
            )
