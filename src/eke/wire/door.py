"""Door: where clients of PostgreSQL come in, beside HTTP and into the same server.

A database is a dataset, a user is an account, the password is its token. Connections are bounded,
in all and for each account.
"""

from __future__ import annotations

import asyncio
import secrets
import ssl
import struct
from asyncio import IncompleteReadError, StreamReader, StreamWriter
from collections import Counter, OrderedDict
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from socket import AF_INET, AF_INET6, create_server, socket

from eke.errors import EkeError, ServiceError
from eke.service.log import log
from eke.service.rate import Rate
from eke.service.state import State, rate
from eke.wire import message
from eke.wire.clerk import Clerk
from eke.wire.connection import ServedConnection
from eke.wire.door_place import DoorPlace
from eke.wire.greeting import Greeting
from eke.wire.guest import Guest
from eke.wire.message import Cancel
from eke.wire.report import Trouble, error
from eke.wire.served import ServedDataset
from eke.wire.setting import REPORTED, options_of

MOST_CONNECTIONS = 200
MOST_OF_AN_ACCOUNT = 50
MOST_AT_ONCE = 8  # statements of an account that run at the same time
MOST_UNKNOWN = 100  # connections of an address whose clients are not known yet
MESSAGES_A_REQUEST = 20  # that an account may send in the time of one request
_SECONDS = 20.0  # to come in
_THREADS = 32
_CANCEL = struct.Struct("<ii")
_NO = frozenset({"false", "off", "0", "no"})
_NOT_SETTINGS = frozenset({"user", "database", "options", "replication"})


@dataclass(slots=True)
class Door:
    """The listening side: lets clients in, and ends what they ask to be ended."""

    place: DoorPlace
    port: int = 0  # once it is open
    listening: socket | None = None  # where it was bound already
    _of_accounts: Counter[str] = field(default_factory=Counter)
    _served: dict[tuple[int, int], ServedConnection] = field(default_factory=dict)
    _datasets: dict[str, ServedDataset] = field(default_factory=dict)
    _unknown: dict[str, OrderedDict[Greeting, asyncio.Task[None] | None]] = field(
        default_factory=dict
    )
    _messages: Rate | None = None
    _turns: dict[str, asyncio.Semaphore] = field(default_factory=dict)
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)

    def bind(self) -> None:
        """Take the address already, for several processes that open this door."""
        family = AF_INET6 if ":" in self.place.host else AF_INET
        try:
            self.listening = create_server((self.place.host, self.place.port), family=family)
        except OSError as problem:
            where = f"{self.place.host}:{self.place.port}"
            raise ServiceError(f"{where} cannot be listened on: {problem.strerror}") from None

    @asynccontextmanager
    async def open(self, state: State) -> AsyncIterator[None]:
        """Listen as long as it lasts; then every connection is ended."""
        tls = self.place.tls()
        with ThreadPoolExecutor(_THREADS, "wire") as threads:

            async def come(reader: StreamReader, writer: StreamWriter) -> None:
                task = asyncio.current_task()
                if task is not None:
                    self._tasks.add(task)
                    task.add_done_callback(self._tasks.discard)
                greeting = Greeting(reader, writer, tls, needs_tls=not self.place.is_local)
                await self._come(greeting, state, threads)

            host, port = (None, None) if self.listening else (self.place.host, self.place.port)
            server = await asyncio.start_server(come, host, port, sock=self.listening)
            self.port = server.sockets[0].getsockname()[1]
            log("listening", door="postgresql", port=self.port)
            peers = state.peers
            try:
                with nullcontext() if peers is None else peers.listening(self._end_for_peer):
                    yield
            finally:
                server.close()
                for task in list(self._tasks):
                    task.cancel()
                await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _come(self, greeting: Greeting, state: State, threads: ThreadPoolExecutor) -> None:
        """One client from its first byte to its last; nothing it sends raises beyond here."""
        writer = greeting.writer
        address = str((writer.get_extra_info("peername") or ("unknown",))[0])
        waiting = self._unknown.setdefault(address, OrderedDict())
        waiting[greeting] = asyncio.current_task()
        guest: Guest | None = None
        try:
            if len(waiting) > MOST_UNKNOWN and (oldest := next(iter(waiting.values()))) is not None:
                oldest.cancel()  # whoever has something to say has said it by now
            async with asyncio.timeout(_SECONDS):
                guest = await self._guest(greeting, state)
            if guest is not None:
                self._forget(greeting, address)
                await self._serve(greeting, guest, state, threads)
        except (TimeoutError, IncompleteReadError, ConnectionError, ssl.SSLError):
            pass
        except EkeError as problem:
            writer.write(error(problem, fatal=True))
        except asyncio.CancelledError:
            writer.write(error(Trouble("57P01", "the server ends this connection"), fatal=True))
        except Exception as problem:  # noqa: BLE001 - a client must not end the server
            log("failed", problem=True, door="postgresql")
            writer.write(error(problem, fatal=True))
        finally:
            self._forget(greeting, address)
            writer.close()
            with suppress(Exception):
                await writer.wait_closed()

    async def _guest(self, greeting: Greeting, state: State) -> Guest | None:
        """Who it is; None where somebody only wants to end something."""
        first = await greeting.first()
        if isinstance(first, Cancel):
            if not self._end(first.process, first.secret) and state.peers is not None:
                state.peers.tell(_CANCEL.pack(first.process, first.secret))
            return None
        guest = await greeting.known(first, state)
        if len(self._served) >= MOST_CONNECTIONS:
            raise Trouble("53300", "too many connections; come again later")
        return guest

    def _end(self, process: int, secret: int) -> bool:
        """Whether the connection with these keys is here; what it does is ended then."""
        served = self._served.get((process, secret))
        if served is not None:
            served.cancel()
        return served is not None

    def _end_for_peer(self, told: bytes) -> None:
        """Clients end something by another connection, which another worker may have got."""
        if len(told) == _CANCEL.size:
            self._end(*_CANCEL.unpack(told))

    def _forget(self, greeting: Greeting, address: str) -> None:
        """One client fewer at an address of whom it is not known who it is."""
        waiting = self._unknown.get(address, OrderedDict())
        waiting.pop(greeting, None)
        if not waiting:
            self._unknown.pop(address, None)

    async def _serve(
        self, greeting: Greeting, guest: Guest, state: State, threads: ThreadPoolExecutor
    ) -> None:
        name, writer = guest.account.name, greeting.writer
        if self._of_accounts[name] >= MOST_OF_AN_ACCOUNT:
            raise Trouble("53300", f"an account has at most {MOST_OF_AN_ACCOUNT} connections")
        clerk = self._clerk(guest, state)
        turns = self._turns.setdefault(name, asyncio.Semaphore(MOST_AT_ONCE))
        most = state.settings.largest_body
        connection = ServedConnection(
            greeting.reader, writer, clerk, state.pace, threads, turns, most
        )
        key = (secrets.randbelow(2**31), secrets.randbits(32) - 2**31)
        self._of_accounts[name] += 1
        self._served[key] = connection
        try:
            writer.write(message.authentication(0))
            for setting, shown in REPORTED.items():
                writer.write(message.parameter_status(shown, clerk.settings.values[setting]))
            writer.write(message.backend_key(*key) + message.ready("I"))
            await writer.drain()
            log("connected", door="postgresql", dataset=clerk.name, account=name)
            await connection.serve()
        finally:
            del self._served[key]
            self._of_accounts[name] -= 1

    def _clerk(self, guest: Guest, state: State) -> Clerk:
        """The dataset that is asked for, for whoever may see it, with the settings wanted."""
        wanted = guest.wants.parameters
        name = wanted.get("database") or guest.account.name
        session = state.datasets.get(name)
        if session is None or not guest.account.may_see(name):
            raise Trouble(
                "3D000", f'database "{name[:63]}" does not exist', "databases are datasets"
            )
        if wanted.get("replication", "false").lower() not in _NO:
            raise Trouble("0A000", "nothing is replicated from here")
        dataset = self._datasets.get(name)
        if dataset is None or dataset.session is not session:
            dataset = self._datasets[name] = ServedDataset.of(name, session)
        if self._messages is None:
            most = MESSAGES_A_REQUEST * state.settings.requests_per_minute
            self._messages = rate("messages", most, state.peers)
        clerk = Clerk(state, dataset, guest, self._messages)
        given = {
            setting: value
            for setting, value in wanted.items()
            if setting not in _NOT_SETTINGS and not setting.startswith("_pq_.")
        }
        options = options_of(wanted.get("options", ""))
        clerk.settings.begin_with({**guest.settings, **given, **options})
        return clerk
