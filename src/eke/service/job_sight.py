"""Job sight: what others see of a running job, changed at multiples of a public step only.

Whoever looks at a job again and again would otherwise see when each of its steps ended, and with
that how long the data kept it busy.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import TracebackType
from typing import Self

from eke.service.pace import Pace


class JobSight:
    """While it is entered, what is shown last is noted in step; without a step at once."""

    def __init__(self, note: Callable[[str, float], object], pace: Pace) -> None:
        self._note, self._pace = note, pace
        self._began = pace.clock()
        self._over = threading.Event()
        self._latest: tuple[str, float] | None = None
        self._noting = threading.Thread(target=self._keep_noting, name="eke-job-sight", daemon=True)

    def show(self, step: str, progress: float) -> None:
        """Let this be what others see from the next multiple on."""
        if self._pace.step:
            self._latest = (step, progress)
        else:
            self._note(step, progress)

    def wait(self) -> None:
        """Return at the next multiple: when the end of the job may be seen."""
        self._wait(threading.Event())

    def __enter__(self) -> Self:
        if self._pace.step:
            self._noting.start()
        return self

    def __exit__(
        self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None
    ) -> None:
        self._over.set()
        if self._noting.is_alive():
            self._noting.join()

    def _keep_noting(self) -> None:
        while self._wait(self._over):
            latest, self._latest = self._latest, None
            if latest is not None:
                self._note(*latest)

    def _wait(self, over: threading.Event) -> bool:
        """True at the next multiple; False if it is over before."""
        due = self._pace.due(self._began)
        while (left := due - self._pace.clock()) > 0:
            if over.wait(left):
                return False
        return not over.is_set()
