"""Settings: what whoever starts the server decides, apart from datasets and accounts."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from eke.errors import ServiceError

LONGEST_STEP = 10.0
Sharing = Literal["everyone", "own"]


@dataclass(frozen=True, slots=True)
class Settings:
    """Limits and policies of one server; the defaults are those of `eke serve`."""

    sharing: Sharing = "everyone"  # whose measurements an analyst sees in the history
    folder: Path | None = None  # where curators may make datasets from files
    requests_per_minute: int = 600  # of one account
    failures_per_minute: int = 30  # wrong tokens from one address
    largest_body: int = 65_536  # bytes
    body_seconds: float = 20.0  # to send it
    session_hours: float = 12.0  # of a browser that signed in
    answer_step: float = 0.1  # seconds: paid answers leave at multiples of it; 0 for at once
    secure_cookies: bool = True  # False for plain http on this machine
    console: bool = True

    def __post_init__(self) -> None:
        if self.sharing not in ("everyone", "own"):
            raise ServiceError("the history is shared with 'everyone' or is each one's 'own'")
        if min(self.requests_per_minute, self.failures_per_minute, self.largest_body) < 1:
            raise ServiceError("rates and sizes must be at least 1")
        if not (self.session_hours > 0 and self.body_seconds > 0):
            raise ServiceError("times must be positive")
        if not 0 <= self.answer_step <= LONGEST_STEP:
            raise ServiceError(f"the step of answers is 0 to {LONGEST_STEP:g} seconds")
