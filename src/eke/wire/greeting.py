"""Greeting: the first messages of a client, until it is known who it is.

TLS if it asks for it, what it wants to be, and the token that proves it. Whoever is not known yet
may send little, and has little time.
"""

from __future__ import annotations

import asyncio
import ssl
import struct
from asyncio import StreamReader, StreamWriter
from dataclasses import dataclass

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
        """Who it is: the account that is named, by its token."""
        self.writer.write(message.authentication(3))
        await self.writer.drain()
        received = await read_next(self.reader, _MOST_BYTES)
        if not isinstance(received, Password):
            raise Malformed("a password is expected")
        token = received.text.rstrip(b"\0").decode("utf-8", "replace")
        caller = await asyncio.to_thread(state.access.by_token, token)
        user = wants.parameters.get("user", "")
        if caller is not None and caller.account.name == user:
            return Guest(caller.account, token, wants)
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
