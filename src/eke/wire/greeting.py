"""Greeting: the first messages of a client, until it is known who it is.

TLS if it asks for it, what it wants to be, and a proof of it. Whoever is not known yet
may send little, and has little time.
"""

from __future__ import annotations

import asyncio
import ssl
import struct
from asyncio import StreamReader, StreamWriter
from collections.abc import Mapping
from dataclasses import dataclass

from eke.service.account import Caller
from eke.service.scram import MECHANISM, ScramError, ScramExchange, Verifier
from eke.service.state import State
from eke.wire import message
from eke.wire.connection import read_next
from eke.wire.guest import Guest
from eke.wire.message import (
    GSS_REQUEST,
    PROTOCOL,
    SSL_REQUEST,
    Cancel,
    Malformed,
    Password,
    Startup,
    read_sasl,
    read_startup,
)
from eke.wire.report import Trouble

_MOST_BYTES = 10_000
_REQUESTS = 3  # TLS, GSS and what it wants to be


@dataclass(frozen=True, slots=True, eq=False)
class Greeting:
    """What is said to a client before anything else."""

    reader: StreamReader
    writer: StreamWriter
    tls: ssl.SSLContext | None
    needs_tls: bool

    async def first(self) -> Startup | Cancel:
        """What a client wants to be, after TLS if it wants that."""
        is_within = False
        for _ in range(_REQUESTS):
            (size,) = struct.unpack("!i", await self.reader.readexactly(4))
            if not 8 <= size <= _MOST_BYTES:
                raise Malformed("this is no client of PostgreSQL")
            first = read_startup(await self.reader.readexactly(size - 4))
            if isinstance(first, Cancel):
                return first
            if first.version == SSL_REQUEST and self.tls is not None and not is_within:
                await self._begin_tls(self.tls)
                is_within = True
            elif first.version in (SSL_REQUEST, GSS_REQUEST):
                self.writer.write(b"N")
                await self.writer.drain()
            elif first.version >> 16 != PROTOCOL >> 16:
                raise Trouble("0A000", "only version 3 of the protocol is spoken here")
            elif self.needs_tls and not is_within:
                raise Trouble("28000", "passwords travel within TLS only; use sslmode=require")
            else:
                return first
        raise Malformed("a client asks for TLS once")

    async def _begin_tls(self, tls: ssl.SSLContext) -> None:
        """Privacy: what came before the handshake might be somebody else's, and is refused."""
        if self.reader._buffer:  # type: ignore[attr-defined]  # noqa: SLF001 - nothing else tells
            raise Malformed("nothing may follow the request for TLS before it is answered")
        self.writer.write(b"S")
        await self.writer.drain()
        await self.writer.start_tls(tls)

    async def known(self, wants: Startup, state: State) -> Guest:
        """Who it is: the account that is named, by a proof of its token, or by the token itself.

        Privacy: an account that does not exist is asked for a proof as well. Tokens from before
        there were verifiers cannot be proved, only sent.
        """
        user = wants.parameters.get("user", "")
        verifiers = await asyncio.to_thread(state.access.verifiers, user)
        provable = {name: known for name, known in verifiers.items() if known is not None}
        if len(provable) < len(verifiers):
            caller = await self._by_password(state)
        else:
            caller = await self._by_proof(user, provable, state)
        if caller is not None and caller.account.name == user:
            settings = await asyncio.to_thread(state.access.settings, user)
            return Guest(caller.account, caller.token, wants, settings)
        address = self.writer.get_extra_info("peername") or ("unknown",)
        wait = state.failures.take(str(address[0]))
        if wait:
            raise Trouble("53400", f"too many wrong passwords; wait {wait:.0f} s")
        raise Trouble(
            "28P01",
            f'password authentication failed for user "{user[:63]}"',
            "the user is the name of an account, the password its token, which begins with eke_; "
            "a curator makes them with `eke token new`",
        )

    async def _by_password(self, state: State) -> Caller | None:
        sent = await self._answered(message.authentication(3))
        token = sent.rstrip(b"\0").decode("utf-8", "replace")
        return await asyncio.to_thread(state.access.by_token, token)

    async def _by_proof(
        self, user: str, verifiers: Mapping[str, Verifier], state: State
    ) -> Caller | None:
        offered = message.text(MECHANISM) + b"\0"
        try:
            first = read_sasl(await self._answered(message.authentication(10, offered)))
            exchange = ScramExchange(user, first.mechanism, first.text)
            said = message.authentication(11, exchange.server_first.encode())
            proof = (await self._answered(said)).decode("ascii", "replace")
            fitting = exchange.server_final(proof, verifiers.items())
        except ScramError as problem:
            raise Malformed(str(problem)) from None
        if fitting is None:
            return None
        identity, last = fitting
        self.writer.write(message.authentication(12, last.encode()))
        return await asyncio.to_thread(state.access.by_identity, identity)

    async def _answered(self, question: bytes) -> bytes:
        """What a client sends when it is asked to prove itself."""
        self.writer.write(question)
        await self.writer.drain()
        received = await read_next(self.reader, _MOST_BYTES)
        if not isinstance(received, Password):
            raise Malformed("a password is expected")
        return received.text
