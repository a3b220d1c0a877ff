"""Metrics: counts and durations in the text form that Prometheus reads; no values, no names."""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Mapping

EDGES = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
_Labels = tuple[tuple[str, str], ...]


class Metrics:
    """What this process has counted since it started."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: Counter[tuple[str, _Labels]] = Counter()
        self._seconds: dict[str, tuple[list[int], float]] = {}

    def count(self, name: str, **labels: str) -> None:
        with self._lock:
            self._counts[name, tuple(sorted(labels.items()))] += 1

    def time(self, route: str, seconds: float) -> None:
        with self._lock:
            buckets, total = self._seconds.setdefault(route, ([0] * (len(EDGES) + 1), 0.0))
            buckets[bisect_left(EDGES, seconds)] += 1
            self._seconds[route] = (buckets, total + seconds)

    def text(
        self,
        gauges: Iterable[tuple[str, Mapping[str, str], float]] = (),
        shown: Callable[[str], bool] = bool,
    ) -> str:
        """All of it, with gauges that are read now; counts only of datasets that are shown.

        A dataset always has a name, so that `bool` shows them all.
        """
        with self._lock:
            counts = sorted(
                (counted, number)
                for counted, number in self._counts.items()
                if all(shown(value) for name, value in counted[1] if name == "dataset")
            )
            seconds = [(route, [*b], total) for route, (b, total) in sorted(self._seconds.items())]
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
