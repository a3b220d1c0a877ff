"""Metrics: counts and durations in the text form that Prometheus reads; no values, no names."""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

EDGES = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
_Labels = tuple[tuple[str, str], ...]


@dataclass(slots=True)
class Counted:
    """How often things happened, and how long requests took, by route."""

    numbers: Counter[tuple[str, _Labels]] = field(default_factory=Counter)
    seconds: dict[str, tuple[list[int], float]] = field(default_factory=dict)

    def add_time(self, route: str, buckets: Iterable[int], total: float) -> None:
        before, so_far = self.seconds.get(route, ([0] * (len(EDGES) + 1), 0.0))
        together = [a + b for a, b in zip(before, buckets, strict=True)]
        self.seconds[route] = together, so_far + total

    def plus(self, other: Counted) -> Counted:
        """Both together."""
        both = Counted(self.numbers + other.numbers, dict(self.seconds))
        for route, (buckets, total) in other.seconds.items():
            both.add_time(route, buckets, total)
        return both

    def document(self) -> dict[str, Any]:
        """As JSON can hold it."""
        return {"numbers": [[*key, number] for key, number in self.numbers.items()]} | {
            "seconds": self.seconds
        }

    @staticmethod
    def of(document: Mapping[str, Any]) -> Counted:
        """Those in a document."""
        numbers = {
            (name, tuple((label, value) for label, value in labels)): number
            for name, labels, number in document["numbers"]
        }
        return Counted(Counter(numbers), {r: (b, t) for r, (b, t) in document["seconds"].items()})


class Metrics:
    """What this process has counted since it started."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts = Counted()

    def count(self, name: str, **labels: str) -> None:
        with self._lock:
            self._counts.numbers[name, tuple(sorted(labels.items()))] += 1

    def time(self, route: str, seconds: float) -> None:
        place = bisect_left(EDGES, seconds)
        with self._lock:
            buckets = (int(n == place) for n in range(len(EDGES) + 1))
            self._counts.add_time(route, buckets, seconds)

    def counts(self) -> Counted:
        """All so far."""
        with self._lock:
            return self._counts.plus(Counted())

    def text(
        self,
        gauges: Iterable[tuple[str, Mapping[str, str], float]] = (),
        shown: Callable[[str], bool] = bool,
        others: Iterable[Counted] = (),
    ) -> str:
        """All of it and of others, with gauges that are read now; only of datasets that are shown.

        A dataset always has a name, so that `bool` shows them all.
        """
        every = self.counts()
        for other in others:
            every = every.plus(other)
        counts = sorted(
            (counted, number)
            for counted, number in every.numbers.items()
            if all(shown(value) for name, value in counted[1] if name == "dataset")
        )
        seconds = [(route, b, total) for route, (b, total) in sorted(every.seconds.items())]
        lines: list[str] = []
        for name in dict.fromkeys(name for (name, _), _ in counts):
            lines.append(f"# TYPE {name} counter")
            lines += [
                f"{name}{_braces(labels)} {number}"
                for (counter, labels), number in counts
                if counter == name
            ]
        if seconds:
            lines.append("# TYPE eke_request_seconds histogram")
        for route, buckets, total in seconds:
            so_far = 0
            for edge, number in zip((*EDGES, "+Inf"), buckets, strict=True):
                so_far += number
                labels = _braces((("le", str(edge)), ("route", route)))
                lines.append(f"eke_request_seconds_bucket{labels} {so_far}")
            braces = _braces((("route", route),))
            lines += [f"eke_request_seconds_sum{braces} {total:.6f}"]
            lines += [f"eke_request_seconds_count{braces} {so_far}"]
        typed: set[str] = set()
        for name, wanted, value in gauges:
            if name not in typed:
                lines.append(f"# TYPE {name} gauge")
                typed.add(name)
            lines.append(f"{name}{_braces(tuple(sorted(wanted.items())))} {value:.9g}")
        return "\n".join(lines) + "\n"


def _braces(labels: _Labels) -> str:
    if not labels:
        return ""
    return "{" + ",".join(f'{name}="{_escaped(value)}"' for name, value in labels) + "}"


def _escaped(value: str) -> str:
    return value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
