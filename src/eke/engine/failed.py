"""Failed: what is stored, and told again and again, when nothing could be made of what was drawn.

Privacy: whether something can be made of noisy values may depend on them. So a failure is an answer
like any other: stored under the request's key, always with the same text, and never followed by
another draw. See docs/proofs/release.md.
"""

from __future__ import annotations

import json

from eke.errors import ReleaseFailed

FAILED = json.dumps({"failed": "eke-release/1"})
"""The stored text of a release that was charged, measured, and came to nothing."""


def is_failed(text: str) -> bool:
    """True for the text of a release that came to nothing."""
    return text == FAILED


def told(text: str) -> str:
    """The stored text of an answer; `ReleaseFailed` when it tells of a failure."""
    if is_failed(text):
        raise ReleaseFailed(
            "what was measured for this request could not be made into an answer. It was charged, "
            "and nothing more is measured for it: its measurements are in the history, where "
            "questions, estimates and publications from history use them for free. Ask again with "
            "a new key, and please report this"
        )
    return text
