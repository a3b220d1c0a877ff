"""Clerk: what one connection may ask of its dataset, and the catalogue beside it.

Questions about the protected table go to the session, like those over HTTP: the same accounts,
caps, rates and pace. Everything else that reads is about the catalogue and what was released.
Nothing is asked, and nothing spent, to describe a statement or where no row can come of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from eke.catalogue import Catalogue, CatalogueColumn, CatalogueError
from eke.errors import BudgetExceeded
from eke.service.account import Account
from eke.service.log import log
from eke.service.permission import ASKING, sees_own_only
from eke.service.rate import Rate
from eke.service.state import State
from eke.session import Answer
from eke.wire import message
from eke.wire.calculation import ACCURACY, ANSWERED, Calculation, calculation_in
from eke.wire.chosen import picked
from eke.wire.copying import Copy
from eke.wire.declared import declared
from eke.wire.guest import Guest
from eke.wire.kind import TEXT
from eke.wire.message import Parse
from eke.wire.named import common_names, is_here, tables_of
from eke.wire.outcome import Outcome
from eke.wire.parameter import parameters_of
from eke.wire.portal import Prepared, one_statement
from eke.wire.preview import previewed
from eke.wire.report import Trouble, notice
from eke.wire.served import ServedDataset
from eke.wire.setting import REPORTED, ConnectionSettings
from eke.wire.table import Outline
from eke.wire.words import Statement, statements
from eke.wire.wrapping import Unwrapped, unwrapped

_BEGINNINGS = frozenset({"select", "with", "values", "table"})
_REFUSED = frozenset(
    (
        *("alter", "analyze", "call", "checkpoint", "cluster", "comment", "create", "delete", "do"),
        *("drop", "execute", "grant", "import", "insert", "listen", "load", "lock", "merge"),
        *("notify", "prepare", "reassign", "refresh", "reindex", "revoke", "security", "truncate"),
        *("update", "vacuum"),
    )
)
_PLAN = (CatalogueColumn("QUERY PLAN", TEXT),)
_NO_ACCURACY = (
    "SET eke.within = 100 says how far an answer may be off, SET eke.within = '2 %' as a share of "
    "it; or end the statement with ERROR WITHIN 100"
)


@dataclass(slots=True)
class Errand:
    """One statement on its way: for whom, with which settings, and what is to become of it.

    Privacy: each statement has its own. One that its client has given up may still be running
    beside the next: it asks nothing any more, and does not decide when that one's answer leaves.
    """

    account: Account
    settings: ConnectionSettings  # as they were when it began
    held_back: bool = False  # whether what comes of it must leave in step, as over HTTP
    is_given_up: bool = False


class Clerk:
    """The statements of one connection; each is run in a thread, one after the other."""

    def __init__(self, state: State, dataset: ServedDataset, guest: Guest, messages: Rate) -> None:
        self.settings = ConnectionSettings(guest.account.name)
        self._state, self._session, self._token = state, dataset.session, guest.token
        self._account, self._messages = guest.account, messages
        self.table, self._released = dataset.table, dataset.released
        self.name = self.table.protected.name

    @property
    def _catalogue(self) -> Catalogue:
        """Made when somebody looks: most programs only ask."""
        datasets, account = self._state.datasets.items(), self._account
        visible = tuple(name for name, _ in datasets if account.may_see(name))
        return self.table.catalogue(account.name, visible, self._released.seen_by(self._sees))

    @property
    def _sees(self) -> str | None:
        """Whose releases the account may see; None for everybody's."""
        return self._account.name if sees_own_only(self._state, self._account) else None

    def errand(self) -> Errand:
        """A statement is about to run: by whom, unless the token was revoked, or it is haste."""
        caller = self._state.access.by_identity(self._token)
        if caller is None or not caller.account.may_see(self.name):
            raise Trouble("28000", "the token is no longer valid; ask a curator for another one")
        wait = self._state.requests.take(caller.account.name)
        if wait:
            raise Trouble("53400", f"too many statements; wait {wait:.0f} s. Nothing was spent")
        return Errand(caller.account, self.settings.copy())

    def count_message(self) -> None:
        """Whatever is sent counts, that it takes little time to read notwithstanding."""
        wait = self._messages.take(self._account.name)
        if wait:
            raise Trouble("53400", f"too many messages; wait {wait:.0f} s. Nothing was spent")

    def prepared(self, parse: Parse) -> Prepared:
        """A statement to keep, with the types of its parameters."""
        statement = one_statement(parse.sql)
        return Prepared(parse.sql, parameters_of(statement, parse.types, self.table.columns))

    # -- statements ----------------------------------------------------------------------------

    def describe(self, statement: Statement) -> tuple[CatalogueColumn, ...] | None:
        """The columns of what a statement gives; None where it gives no rows. Free, always."""
        if statement.begins("explain"):
            return _PLAN
        if statement.begins("show"):
            return self._shown(statement).columns
        if not statement.reads:
            return None
        if self._is_question(statement):
            return self._columns_of(statement)
        return self._catalogue.describe(statement.text, self.settings.values)

    def _columns_of(self, question: Statement) -> tuple[CatalogueColumn, ...]:
        asked = self._unwrapped(question)
        calculation = self._calculation(question, asked)
        if calculation is not None:
            return self._calculated_columns(calculation)
        public = self._public(question, asked)
        if public is not None:
            return public.columns or ()
        probed = self._probed(asked)
        if probed is not None:
            return probed
        outline = self._outline(asked, self.settings)
        return tuple(column for _, column in picked(asked.chosen, outline.columns))

    def run(self, statement: Statement, errand: Errand) -> Outcome:
        """What a statement comes to."""
        if statement.reads:
            return self._read(statement, errand)
        if statement.begins("explain"):
            return self._explained(statement, errand)
        if statement.begins("copy"):
            copy = Copy.of(statement)
            (inner,) = statements(copy.query) or (Statement("", ()),)
            if not inner.reads:
                raise Trouble("0A000", "only the result of a SELECT is copied")
            return copy.outcome(self._read(inner, errand))
        if statement.begins("show"):
            return self._shown(statement)
        if statement.begins("set"):
            return Outcome("SET", aside=self._told(self.settings.set(statement)))
        if statement.begins("reset"):
            name = "".join(word.lower for word in statement.words[1:])
            return Outcome("RESET", aside=self._told(self.settings.reset(name)))
        word = statement.words[0].text[:30]
        if word.lower() not in _REFUSED:
            raise Trouble("42601", f'syntax error at or near "{word}"', "ask with SELECT")
        raise Trouble(
            "25006", f"{word.upper()} is not answered here: datasets are read-only. Ask with SELECT"
        )

    def _is_question(self, statement: Statement) -> bool:
        """Whether it reads the protected table or a lookup, and not the catalogue alone.

        Then it must read nothing else: a question is about this dataset, whatever its table is
        called in it.
        """
        tables = tables_of(statement.words)
        here = [table for table in tables if table[-1] in self.table.names and is_here(table)]
        if not here:
            return False
        allowed = self.table.names | common_names(statement.words)
        for table in tables:
            if table[-1] not in allowed or not is_here(table, self.name):
                raise Trouble(
                    "42P01",
                    f'relation "{".".join(table)[:100]}" does not exist',
                    f"a question is about one dataset, here {self.name}, and its lookups; ask "
                    "another one in a connection to it",
                )
        if not any(table[-1] == self.name.lower() for table in here):
            raise Trouble("42P01", f"a question is about {self.name}; lookups are joined with it")
        return True

    def _unwrapped(self, statement: Statement) -> Unwrapped:
        return unwrapped(statement, self.name, self.table.names, self.table.days)

    def _calculation(self, statement: Statement, asked: Unwrapped) -> Calculation | None:
        """What is calculated from the result of a question; None where it is a question itself."""
        (within,) = statements(asked.text)
        is_question = calculation_in(within, self.table.names) is None
        return None if is_question else calculation_in(statement, self.table.names)

    def _calculated_columns(self, calculation: Calculation) -> tuple[CatalogueColumn, ...]:
        """Its columns; an error where it could not be calculated, whatever the rows are."""
        inside = self._columns_of(calculation.question)
        text, settings = calculation.text, self.settings.values
        columns = self._catalogue.describe(text, settings, calculation.over(inside))
        try:
            self._catalogue.run(text, settings, calculation.example(inside))
        except CatalogueError as problem:
            if problem.sqlstate.startswith(("0A", "42")):  # others may be about the row made up
                raise
        return columns

    def _calculated(self, calculation: Calculation, errand: Errand, *, is_probe: bool) -> Outcome:
        """What a statement makes of a question's rows; it is read as a whole before any asking."""
        columns = self._calculated_columns(calculation)
        if is_probe:
            return Outcome("SELECT 0", columns)
        text, settings = calculation.text, errand.settings.values
        if not calculation.needs_rows:
            empty = calculation.over(self._columns_of(calculation.question))
            result = self._catalogue.run(text, settings, empty)
            return Outcome(f"SELECT {len(result.rows)}", result.columns, result.rows)
        inside = self._read(calculation.question, errand)
        answered = calculation.over(inside.columns or (), inside.rows)
        try:
            result = self._catalogue.run(text, settings, answered)
        except CatalogueError as problem:
            raise Trouble(problem.sqlstate, str(problem), ANSWERED) from None
        said = (*inside.aside, notice(ACCURACY)) if errand.settings.notices else ()
        return Outcome(f"SELECT {len(result.rows)}", result.columns, result.rows, said)

    def _outline(self, asked: Unwrapped, settings: ConnectionSettings) -> Outline:
        question = self.table.questions.read(asked.text)
        return Outline(question, settings.intervals, asked.limit, asked.offset, asked.is_probe)

    def _probed(self, asked: Unwrapped) -> tuple[CatalogueColumn, ...] | None:
        """The columns of the table itself that a probe is about; None for anything else."""
        if asked.columns is None or not asked.is_probe:
            return None
        listed = [column for _, column in picked(asked.columns, self.table.protected.columns)]
        return tuple(column for _, column in picked(asked.chosen, listed))

    def _public(self, statement: Statement, asked: Unwrapped) -> Outcome | None:
        """What is public without any question: declared values, and rows published before."""
        listed = declared(statement, self._session.domain, self.table.names)
        return listed or previewed(asked, self._released, self._sees)

    def _read(self, statement: Statement, errand: Errand) -> Outcome:
        _refuse_set_config(statement)
        if not self._is_question(statement):
            result = self._catalogue.run(statement.text, errand.settings.values)
            return Outcome(f"SELECT {len(result.rows)}", result.columns, result.rows)
        asked = self._unwrapped(statement)
        calculation = self._calculation(statement, asked)
        if calculation is not None:
            return self._calculated(calculation, errand, is_probe=asked.is_probe)
        public = self._public(statement, asked)
        if public is not None:
            return public if errand.settings.notices else replace(public, aside=())
        probed = self._probed(asked)
        if probed is not None:
            return Outcome("SELECT 0", probed)
        outline = self._outline(asked, errand.settings)
        # Before anything is asked: a column may be missing.
        chosen = picked(asked.chosen, outline.columns)
        columns = tuple(column for _, column in chosen)
        if outline.is_empty:
            return Outcome("SELECT 0", columns)
        if errand.account.role not in ASKING:
            raise Trouble("42501", f"this needs the role {' or '.join(ASKING)}")
        answer = self._asked(outline, errand)
        rows = [tuple(row[place] for place, _ in chosen) for row in outline.rows(answer)]
        if not errand.is_given_up:
            self.settings.values["eke.last_cost"] = f"{answer.cost:.9g}"
        said = self._said(answer) if errand.settings.notices else ()
        return Outcome(f"SELECT {len(rows)}", columns, rows, said)

    def _aim(self, outline: Outline, settings: ConnectionSettings) -> dict[str, Any]:
        """How accurate it must be: as the statement says, else as the settings do."""
        given = outline.question.requirement
        aims = given is not None and not (given.within is None and given.spend is None)
        if not aims and settings.within is None:
            raise Trouble("22023", "how accurate must the answer be?", _NO_ACCURACY)
        sure = given is not None and given.confidence is not None
        sized = given is not None and given.groups_of is not None
        return {
            "within": None if aims else settings.within,
            "confidence": None if sure else settings.confidence,
            "groups_of": None if sized else settings.groups_of,
            "policy": settings.policy,
        }

    def _asked(self, outline: Outline, errand: Errand) -> Answer:
        """The answer; it is held back before anything is asked that may be paid for."""
        aim, account = self._aim(outline, errand.settings), errand.account
        if errand.settings.only_free:
            preview = self._session.preview(outline.question, analyst=account.name, **aim)
            if not preview.free:
                raise Trouble("53400", f"not free: {preview.explain()}", "SET eke.spend = on")
        errand.held_back = True
        if errand.is_given_up:
            raise Trouble("57014", "the statement was given up; nothing was asked")
        try:
            answer: Answer = self._session.ask(outline.question, analyst=account.name, **aim)
        except BudgetExceeded:
            self._count("refused")
            log("refused", dataset=self.name, account=account.name)
            raise
        source = answer.receipt.source
        errand.held_back = source != "history"
        self._count(source)
        log("answered", dataset=self.name, account=account.name, source=source, cost=answer.cost)
        return answer

    def _count(self, source: str) -> None:
        self._state.metrics.count("eke_answers_total", dataset=self.name, source=source)

    def _said(self, answer: Answer) -> tuple[bytes, ...]:
        """What an answer says besides its rows."""
        return tuple(notice(text) for text in (answer.receipt.sentence(), *answer.caveats))

    def _explained(self, statement: Statement, errand: Errand) -> Outcome:
        """EXPLAIN SELECT …: how a question is read, what it would cost and where it comes from."""
        place = next((n for n, word in enumerate(statement.words) if word.lower in _BEGINNINGS), 0)
        (inner,) = statements(statement.after(place)) if place else (Statement("", ()),)
        options = {word.lower for word in statement.words[1:place]}
        if options & {"analyze", "analyse"}:
            raise Trouble("0A000", "EXPLAIN ANALYZE would spend; leave ANALYZE out")
        if not self._is_question(inner):
            self._catalogue.describe(inner.text, errand.settings.values)
            return Outcome.of_texts(
                _PLAN[0].name, ["from the catalogue, or from what was released; free"], "EXPLAIN"
            )
        asked = self._unwrapped(inner)
        calculation = self._calculation(inner, asked)
        if calculation is not None:
            self._calculated_columns(calculation)
            inside = self._explained_question(calculation.question, errand)
            return replace(inside, rows=[*inside.rows, (ACCURACY,)])
        return self._explained_question(inner, errand)

    def _explained_question(self, inner: Statement, errand: Errand) -> Outcome:
        asked = self._unwrapped(inner)
        if asked.is_probe:
            return Outcome.of_texts(_PLAN[0].name, ["a probe: no rows; free"], "EXPLAIN")
        if self._public(inner, asked) is not None:
            return Outcome.of_texts(_PLAN[0].name, ["public already; free"], "EXPLAIN")
        outline = self._outline(asked, errand.settings)
        picked(asked.chosen, outline.columns)  # or a column is missing
        aim = self._aim(outline, errand.settings)
        told = self._session.explain(asked.text, analyst=errand.account.name, **aim)
        lines = [f"{column['name']} = {column['formula']}" for column in told["columns"]]
        lines += [f"{name}: {one['question']}" for name, one in told["aggregates"].items()]
        lines += [*told["clauses"], *told["price"]["sentence"].split("\n"), *told["caveats"]]
        return Outcome.of_texts(_PLAN[0].name, lines, "EXPLAIN")

    def _shown(self, statement: Statement) -> Outcome:
        words = [word.lower for word in statement.words[1:]]
        if words == ["all"]:
            names = ("name", "setting", "description")
            columns = tuple(CatalogueColumn(name, TEXT) for name in names)
            return Outcome(
                "SHOW", columns, [(*one, "") for one in sorted(self.settings.values.items())]
            )
        name = "".join(words)
        name = {
            "transactionisolationlevel": "transaction_isolation",
            "timezone": "TimeZone",
            "datestyle": "DateStyle",
        }.get(name, name)
        return Outcome.of_texts(name, [self.settings.show(name)], "SHOW")

    def _told(self, names: Sequence[str]) -> tuple[bytes, ...]:
        """Settings that clients are told of whenever they change."""
        return tuple(
            message.parameter_status(REPORTED[name], self.settings.values[name])
            for name in names
            if name in REPORTED
        )


def _refuse_set_config(statement: Statement) -> None:
    """set_config(…) changes nothing in a catalogue; of eke's settings that must not be missed."""
    names = {word.lower for word in statement.words}
    if "set_config" in names and any("eke." in name for name in names):
        raise Trouble("0A000", "write SET eke.within = 100; set_config changes nothing here")
