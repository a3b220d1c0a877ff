"""A real PostgreSQL server of the tests' own, in memory where possible, reached by a socket.

Clients that know no sockets of the file system reach it by a port of this machine, if it listens.

It runs with fsync on, as eke demands; on a memory disk that costs nothing.
"""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SETTINGS = {
    "listen_addresses": "",
    "max_connections": "200",
    "shared_buffers": "32MB",
    "max_wal_size": "128MB",
    "min_wal_size": "32MB",
    "autovacuum": "off",
    "jit": "off",
    "timezone": "UTC",
}
MISSING = (
    "the tests need the PostgreSQL server programs (initdb, postgres). As root, `make test` "
    "installs them; otherwise ask for the package 'postgresql', or name their folder in PG_BIN"
)


class Server:
    """A running server, which a test may stop, kill and start again."""

    def __init__(self, folder: Path, port: int | None = None) -> None:
        self.port = port
        self._folder = folder
        self._programs = programs()
        # PostgreSQL refuses to run as root.
        self._user = _unprivileged() if os.geteuid() == 0 else None
        if self._user is not None:
            shutil.chown(folder, self._user)
        self._run("initdb", "-D", self._data, "-U", "eke", "-A", "trust", "-E", "UTF8", "--no-sync")
        self.start()

    @property
    def _data(self) -> str:
        return str(self._folder / "data")

    def address(self, dataset: str | None = None) -> str:
        """The address of its database, or of a dataset in it."""
        name = "" if dataset is None else f"&dataset={dataset}"
        name += "" if self.port is None else f"&port={self.port}"
        return f"postgresql://eke@/postgres?host={self._folder}{name}"

    def start(self) -> None:
        options = " ".join(f"-c {name}={value or chr(39) * 2}" for name, value in SETTINGS.items())
        options += f" -c unix_socket_directories={self._folder}"
        if self.port is not None:
            options += f" -c listen_addresses=127.0.0.1 -c port={self.port}"
        log = str(self._folder / "log")
        self._run("pg_ctl", "start", "-w", "-s", "-D", self._data, "-l", log, "-o", options)

    def stop(self, mode: str = "immediate") -> None:
        """Stop at once, as by a crash; the next start recovers from the log."""
        self._run("pg_ctl", "stop", "-w", "-s", "-D", self._data, "-m", mode)

    def _run(self, program: str, *arguments: str) -> None:
        with (self._folder / "errors").open("w") as errors:
            result = subprocess.run(
                [self._programs / program, *arguments],
                user=self._user,
                cwd=self._folder,
                env={**os.environ, "LC_ALL": "C.UTF-8"},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,  # a pipe would stay open in the server
                stderr=errors,
                check=False,
                timeout=120,
            )
        assert result.returncode == 0, (self._folder / "errors").read_text()


@contextmanager
def running_server(disk: Path | None = None, *, listens: bool = False) -> Iterator[Server]:
    """A new, empty server for one block, on a disk or in memory."""
    port = None
    if listens:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
    memory = Path("/dev/shm")
    place = disk if disk is not None else (memory if memory.is_dir() else None)
    folder = Path(tempfile.mkdtemp(prefix="eke-pg-", dir=place))
    try:
        server = Server(folder, port)
        try:
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def programs() -> Path:
    """The folder with initdb and postgres, the newest if there are several."""
    named = os.environ.get("PG_BIN")
    found = [Path(named)] if named else sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    on_path = shutil.which("initdb")
    if on_path:
        found.append(Path(on_path).resolve().parent)  # a link may stand alone, without psql
    for folder in reversed(found):
        if (folder / "initdb").exists():
            return folder
    raise AssertionError(MISSING)


def _unprivileged() -> str:
    known = {entry.pw_name for entry in pwd.getpwall()}
    return "postgres" if "postgres" in known else "nobody"
