"""Places where a crash test may kill the process.

`failpoint("ledger.appended")` does nothing, unless the environment variable `EKE_FAILPOINT` names
that place; then the process dies on the spot, as by `kill -9`: no handler, no rollback, no flush.
`EKE_FAILPOINT=ledger.appended@2` waits for the second pass. Every name is listed in `FAILPOINTS`,
so that a test can visit them all and a misspelt one is an error.
"""

from __future__ import annotations

import os
import signal

from eke.errors import EkeError

VARIABLE = "EKE_FAILPOINT"

FAILPOINTS: tuple[str, ...] = (
    "ledger.create.claimed",  # the file exists and is empty
    "ledger.create.written",  # tables and first entry written, not committed
    "ledger.begun",  # the write lock is held
    "ledger.charged",  # the account moved, the entry is not there yet
    "ledger.appended",  # the entry is there, the request is not recorded yet
    "ledger.recorded",  # the request is recorded
    "ledger.before_commit",  # the caller's block ended, nothing is durable
    "ledger.after_commit",  # durable, the caller does not know yet
    "engine.reserved",  # paid, data not touched yet
    "engine.counted",  # exact answer in memory
    "engine.drawn",  # noise drawn, in memory only
    "engine.stored",  # answer written, not committed
    "engine.committed",  # durable, the analyst has not seen it
)

_passes: dict[str, int] = {}


def failpoint(name: str) -> None:
    """Nothing at all, or the end of the process when `EKE_FAILPOINT` names this place."""
    wanted = os.environ.get(VARIABLE)
    if name not in FAILPOINTS:
        raise EkeError(f"unknown failpoint {name!r}; list it in eke.ledger.failpoint.FAILPOINTS")
    if not wanted:
        return
    place, _, number = wanted.partition("@")
    if place != name:
        return
    _passes[name] = _passes.get(name, 0) + 1
    if _passes[name] == int(number or 1):
        if hasattr(signal, "SIGKILL"):
            os.kill(os.getpid(), signal.SIGKILL)
        os._exit(137)
