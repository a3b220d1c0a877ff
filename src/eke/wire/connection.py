"""ServedConnection: one client that has been let in, message by message.

Statements run in threads, one at a time; reading and writing is the event loop's. What is no
message of the protocol ends the connection, what went wrong in a statement ends the transaction.
"""

from __future__ import annotations

import asyncio
import struct
from asyncio import IncompleteReadError, StreamReader, StreamWriter
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, TypeVar

from eke.catalogue import CatalogueColumn
from eke.errors import EkeError
from eke.service.failure import Problem
from eke.service.log import log
from eke.service.pace import Pace
from eke.wire import message
from eke.wire.clerk import Clerk, Errand
from eke.wire.message import (
    Bind,
    Close,
    Describe,
    Execute,
    Malformed,
    Message,
    Parse,
    Plain,
    SimpleQuery,
    read_message,
)
from eke.wire.outcome import Outcome, description, forms_of, rows_of
from eke.wire.portal import Fetch, Portal, one_statement
from eke.wire.report import Trouble, error
from eke.wire.transaction import Transaction
from eke.wire.words import Statement, statements

ResultT = TypeVar("ResultT")
_ROWS_AT_ONCE = 500


async def read_next(reader: StreamReader, most: int) -> Message:
    """The next message of a client, of at most so many bytes."""
    head = await reader.readexactly(5)
    letter, size = chr(head[0]), struct.unpack("!i", head[1:])[0]
    if not 4 <= size <= most + 4:
        raise Malformed(f"a message may have at most {most:,} bytes")
    return read_message(letter, await reader.readexactly(size - 4))


@dataclass(slots=True)
class ServedConnection:
    """A client, its transaction, and what it is waiting for."""

    reader: StreamReader
    writer: StreamWriter
    clerk: Clerk
    pace: Pace
    threads: Executor
    turns: asyncio.Semaphore  # of the account: so many of its statements run at a time
    most: int
    _transaction: Transaction = field(init=False)
    _running: asyncio.Future[Any] | None = None
    _is_given_up: bool = False  # by the client
    _skipping: bool = False  # after an error in the extended protocol, until Sync
    _arrived: float = 0.0
    _errand: Errand | None = None  # the statement that is running, or ran last

    def __post_init__(self) -> None:
        self._transaction = Transaction(self.clerk)

    async def serve(self) -> None:
        """Answer until the client leaves."""
        while True:
            try:
                received = await read_next(self.reader, self.most)
            except IncompleteReadError:
                return
            if received == Plain("X"):
                return
            self._arrived, self._errand = self.pace.now(), None
            await self._answer(received)
            await self.writer.drain()  # who does not read what was sent is not read either

    def cancel(self) -> None:
        """Give up waiting for what is running; whatever was charged stays, and can be asked."""
        if self._errand is not None:
            self._errand.is_given_up = True
        if self._running is not None:
            self._is_given_up = self._running.cancel()

    # -- messages ------------------------------------------------------------------------------

    async def _answer(self, received: Message) -> None:
        if received == Plain("S"):
            self._skipping = False
            self._ready()
            return
        if self._skipping or isinstance(received, Plain):  # Flush, or data that nobody copies
            return
        try:
            self.clerk.count_message()
            await self._handle(received)
        except (Malformed, ConnectionError):
            raise
        except (EkeError, Problem) as problem:
            await self._failed(problem, received)
        except Exception as problem:  # noqa: BLE001 - the last place where it can become an answer
            log("failed", problem=True, door="postgresql")
            await self._failed(problem, received)

    async def _handle(self, received: Message) -> None:
        if isinstance(received, SimpleQuery):
            await self._asked(received)
        elif isinstance(received, Parse):
            prepared = await self._apart(lambda: self.clerk.prepared(received))
            self._transaction.shelf.keep(received.name, prepared)
            self.writer.write(message.PARSED)
        elif isinstance(received, Bind):
            prepared = self._transaction.shelf.statement(received.statement)
            text = await self._apart(lambda: prepared.bound(received))
            self._transaction.shelf.put(
                received.portal, Portal(text, received.results, holds=False)
            )
            self.writer.write(message.BOUND)
        elif isinstance(received, Describe):
            await self._describe(received)
        elif isinstance(received, Execute):
            await self._execute(received)
        elif isinstance(received, Close):
            self._transaction.shelf.close(received.kind, received.name)
            self.writer.write(message.CLOSED)
        else:
            raise Malformed("nobody asked for a password")

    async def _failed(self, problem: Exception, received: Message) -> None:
        if self._errand is not None and self._errand.held_back:
            await self.pace.keep(self._arrived)
        self._transaction.failed()
        sql = received.sql if isinstance(received, (SimpleQuery, Parse)) else ""
        self.writer.write(error(problem, sql))
        if isinstance(received, SimpleQuery):
            self._ready()
        else:
            self._skipping = True

    def _ready(self) -> None:
        self._transaction.settle()
        self.writer.write(message.ready(self._transaction.status))

    async def _asked(self, asked: SimpleQuery) -> None:
        every = await self._apart(lambda: statements(asked.sql))
        if not every:
            self.writer.write(message.EMPTY)
        if len(every) > 1:
            self.clerk.settings.begin()  # together they are one transaction, said or not
        for statement in every:
            outcome = await self._statement(statement)
            if outcome.copied is None and outcome.columns is not None:
                self.writer.write(description(outcome.columns))
                await self._send(outcome, 0, len(outcome.rows))
            self._finish(outcome)
        self._ready()

    async def _send(
        self, outcome: Outcome, start: int, stop: int, forms: Sequence[int] = ()
    ) -> None:
        """Some of the rows, bit by bit: the client must take them, and others have their turn."""
        for first in range(start, stop, _ROWS_AT_ONCE):
            last = min(stop, first + _ROWS_AT_ONCE)
            self.writer.write(rows_of(outcome, first, last, forms))
            await self.writer.drain()
            await asyncio.sleep(0)

    async def _describe(self, describe: Describe) -> None:
        shelf = self._transaction.shelf
        if describe.kind == "S":
            prepared = shelf.statement(describe.name)
            sample = await self._apart(prepared.sample)
            columns = await self._columns(sample)
            self.writer.write(message.parameter_description(prepared.kinds))
            self.writer.write(message.NO_DATA if columns is None else description(columns))
            return
        portal = shelf.portal(describe.name)
        columns = await self._columns(await self._apart(lambda: one_statement(portal.text)))
        told = message.NO_DATA if columns is None else description(columns, portal.forms)
        self.writer.write(told)

    async def _columns(self, statement: Statement) -> tuple[CatalogueColumn, ...] | None:
        if statement.begins("fetch"):
            fetched = self._transaction.shelf.portal(Fetch.of(statement).name)
            statement = await self._apart(lambda: one_statement(fetched.text))
        return await self._apart(lambda: self.clerk.describe(statement))

    async def _execute(self, execute: Execute) -> None:
        shelf = self._transaction.shelf
        portal = shelf.portal(execute.portal)
        statement = await self._apart(lambda: one_statement(portal.text))
        if not statement.words:
            self.writer.write(message.EMPTY)
            return
        if portal.outcome is None:
            shelf.require_room()
            if len(portal.forms) > 1:  # before anything is asked, which may be paid
                forms_of(len(await self._columns(statement) or portal.forms), portal.forms)
            portal.outcome = await self._statement(statement)
        else:
            await self._apart(self.clerk.errand)  # who is no longer welcome gets no more rows
        outcome = portal.outcome
        if outcome.columns is None or outcome.copied is not None:
            self._finish(outcome)
            return
        rows = len(outcome.rows)
        stop = min(rows, portal.sent + execute.most) if execute.most > 0 else rows
        await self._send(outcome, portal.sent, stop, portal.forms)
        sent, portal.sent = stop - portal.sent, stop
        if stop < rows:
            self.writer.write(message.SUSPENDED)
        else:
            tag = f"SELECT {sent}" if outcome.tag.startswith("SELECT") else outcome.tag
            self._finish(Outcome(tag, aside=outcome.aside))

    def _finish(self, outcome: Outcome) -> None:
        for said in outcome.aside:
            self.writer.write(said)
        if outcome.copied is not None:
            columns = outcome.columns or ()
            self.writer.write(message.copy_out(len(columns), binary=outcome.is_binary))
            for line in outcome.copied:
                self.writer.write(message.message("d", line))
            self.writer.write(message.COPY_DONE)
        self.writer.write(message.complete(outcome.tag))

    # -- statements ----------------------------------------------------------------------------

    async def _statement(self, statement: Statement) -> Outcome:
        """What a statement comes to, if whoever sent it may still ask."""
        self._errand = await self._apart(self.clerk.errand)
        return await self._transaction.run(statement, self._run)

    async def _run(self, statement: Statement) -> Outcome:
        """The same for one that reads or sets; a paid answer leaves in step, as over HTTP."""
        errand = self._errand
        if errand is None:
            raise Malformed("a statement runs by itself only")
        outcome = await self._apart(lambda: self.clerk.run(statement, errand))
        if errand.held_back:  # last: what follows should take no time
            await self.pace.keep(self._arrived)
        return outcome

    async def _apart(self, work: Callable[[], ResultT]) -> ResultT:
        """Work in a thread, which others need not wait for; it may be given up meanwhile.

        The account's turn ends with the thread, not with the waiting.
        """
        await self._waited(asyncio.ensure_future(self.turns.acquire()))
        begun = self.threads.submit(work)
        loop = asyncio.get_running_loop()
        begun.add_done_callback(lambda _: _later(loop, self.turns.release))
        return await self._waited(asyncio.wrap_future(begun))

    async def _waited(self, running: asyncio.Future[ResultT]) -> ResultT:
        """What comes of something that the client may give up."""
        self._running = running
        try:
            return await running
        except asyncio.CancelledError:
            if not self._is_given_up:  # it is the server that ends
                raise
            raise Trouble(
                "57014",
                "canceling statement due to user request",
                "what was being charged stays charged, and is free to ask again",
            ) from None
        finally:
            self._running, self._is_given_up = None, False


def _later(loop: asyncio.AbstractEventLoop, work: Callable[[], None]) -> None:
    with suppress(RuntimeError):  # the loop is closed, and nobody waits for a turn
        loop.call_soon_threadsafe(work)
