"""A job on a server, followed until it is done."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from eke.client.wire import Wire, error_in
from eke.errors import Unanswered
from eke.inference.progress import Progress

_POLL_SECONDS = 0.5


def publication_of(
    wire: Wire,
    dataset: str,
    job: Mapping[str, Any],
    progress: Progress,
) -> int:
    """The entry of the ledger that holds what a job has made; waits until it is there.

    `dataset` is its address on the server.
    """
    while job["state"] in ("queued", "running"):
        progress(job["step"], job["progress"])
        time.sleep(_POLL_SECONDS)
        job = wire.get(f"{dataset}/jobs/{job['id']}")
    if job["state"] == "failed":
        raise error_in(job["error"], int(job["error"]["status"]))
    if job["state"] != "done":
        how = job["state"].replace("_", " ")  # cancelled, given up or interrupted
        raise Unanswered(
            f"the publication was {how}; publish again with the key {job['key']}: what is "
            "charged already is not charged again"
        )
    return int(job["publication"])
