"""Keys of eke's own making, for requests that nobody gave one."""

from __future__ import annotations

import re
import secrets

_FORM = re.compile("once-[0-9a-f]{16,}")


def single_use() -> str:
    """A key for one request."""
    return f"once-{secrets.token_hex(16)}"


def is_single_use(key: str) -> bool:
    """True for a key that nobody chose: a free answer need not be stored under it."""
    return _FORM.fullmatch(key) is not None
