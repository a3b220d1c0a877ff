"""Workloads as JSON documents: what a request or a ledger says is to be released.

    {"all_marginals": 2, "over": [["sex", "age"]], "ranges": [["age"]],
     "targets": [{"attributes": ["sex"], "along": ["cells"], "weight": 2.0}],
     "queries": [{"query": {…}, "weight": 1.0}]}

Whatever is given is released together, every table once.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from eke.domain import Domain
from eke.errors import QueryError
from eke.planning.workload.workload import (
    MOST_TARGETS,
    Target,
    Workload,
    all_marginals,
    grouping_sets,
    marginals_and_half_of_next,
    marginals_and_those_with,
    marginals_up_to,
    prefixes,
    ranges,
)
from eke.query import Query

KINDS = (
    *("all_marginals", "up_to", "half_of_next", "containing", "over", "ranges", "prefixes"),
    *("targets", "queries"),
)
_RENAMED = {"half_above": "half_of_next"}  # older documents say the first


def workload_to_document(workload: Workload) -> dict[str, Any]:
    """The shortest document from which `workload_from_document` makes the same workload."""
    document: dict[str, Any] = {}
    if workload.targets:
        document = _short(workload) or {"targets": [_target(one) for one in workload.targets]}
    if workload.queries:
        pairs = zip(workload.queries, workload.query_weights, strict=True)
        document["queries"] = [{"query": q.to_document(), "weight": w} for q, w in pairs]
    return document


def workload_from_document(
    domain: Domain, document: Mapping[str, Any], *, most: int = MOST_TARGETS
) -> Workload:
    """The workload that a document asks for; at most so many tables.

    How many there would be is computed before any is made: a short text can ask for billions.
    """
    if not isinstance(document, Mapping):
        raise QueryError("a workload document is an object")
    document = _with_new_names(document)
    unknown = [name for name in document if name not in KINDS]
    if unknown:
        raise QueryError(f"a workload has no {unknown[0]!r}; it has {', '.join(KINDS)}")
    if "containing" in document and "all_marginals" not in document:
        raise QueryError("containing= goes with all_marginals=")
    if _many(domain, document) > most:
        raise QueryError(f"a workload may have at most {most:,} tables here; take fewer")
    targets = dict.fromkeys(target for part in _parts(domain, document) for target in part.targets)
    for target in document.get("targets", ()):
        targets[_read_target(domain, target)] = None
    queries = document.get("queries", ())
    try:
        single = tuple(Query.from_document(domain, target["query"]) for target in queries)
        weights = tuple(float(target.get("weight", 1.0)) for target in queries)
    except (LookupError, TypeError, ValueError, AttributeError) as problem:
        raise QueryError(f"not a workload document: {problem}") from problem
    return Workload(domain, tuple(targets), single, weights)


def _with_new_names(document: Mapping[str, Any]) -> Mapping[str, Any]:
    """The document as it is written today; what was written before stays readable."""
    named = {_RENAMED.get(name, name): value for name, value in document.items()}
    if len(named) < len(document):
        raise QueryError("a workload document has one thing under its old and its new name")
    return named


def _parts(domain: Domain, document: Mapping[str, Any]) -> Iterator[Workload]:
    ways = document.get("all_marginals")
    if "containing" in document:
        yield marginals_and_those_with(domain, _ways(ways), str(document["containing"]))
    elif ways is not None:
        yield all_marginals(domain, _ways(ways))
    if document.get("up_to") is not None:
        yield marginals_up_to(domain, _ways(document["up_to"]))
    if document.get("half_of_next") is not None:
        yield marginals_and_half_of_next(domain, _ways(document["half_of_next"]))
    if document.get("over"):
        yield grouping_sets(domain, [_names(names) for names in document["over"]])
    yield from (ranges(domain, *_names(names)) for names in document.get("ranges", ()))
    yield from (prefixes(domain, *_names(names)) for names in document.get("prefixes", ()))


def _many(domain: Domain, document: Mapping[str, Any]) -> int:
    """How many tables a document asks for, at most."""
    size = len(domain)
    many = sum(len(document.get(name, ())) for name in ("over", "ranges", "prefixes", "targets"))
    many += len(document.get("queries", ()))
    for name in ("all_marginals", "half_of_next"):
        if document.get(name) is not None:
            ways = _ways(document[name])
            more = name == "half_of_next" or "containing" in document
            many += math.comb(size, ways) + more * math.comb(size, ways + 1)
    if document.get("up_to") is not None:
        ways = min(_ways(document["up_to"]), size)
        many += sum(math.comb(size, k) for k in range(ways + 1))
    return many


def _ways(ways: object) -> int:
    if type(ways) is not int or not 0 <= ways <= 1000:
        raise QueryError("how many attributes a marginal has is a whole number")
    return ways


def _names(names: object) -> list[str]:
    if not isinstance(names, (list, tuple)) or not all(isinstance(one, str) for one in names):
        raise QueryError("a table is given by the list of its attributes")
    return list(names)


def _short(workload: Workload) -> dict[str, Any] | None:
    """The document for all marginals of one kind, or of whole marginals by name."""
    domain = workload.domain
    if not all(one.is_marginal and one.weight == 1.0 for one in workload.targets):
        return None
    widths = [len(one.attributes) for one in workload.targets]
    ways, many = max(widths), len(workload.targets)
    if many == math.comb(len(domain), ways) and workload.targets == (
        all_marginals(domain, ways).targets
    ):
        return {"all_marginals": ways}
    if min(widths) == 0 and workload.targets == marginals_up_to(domain, ways).targets:
        return {"up_to": ways}
    if len(set(workload.targets)) < many:
        return None
    return {"over": [list(one.attributes) for one in workload.targets]}


def _target(target: Target) -> dict[str, Any]:
    return {
        "attributes": list(target.attributes),
        "along": list(target.along),
        "weight": target.weight,
    }


def _read_target(domain: Domain, document: object) -> Target:
    if not isinstance(document, Mapping) or not set(document) <= {"attributes", "along", "weight"}:
        raise QueryError("a target has attributes, what it asks along them, and a weight")
    names, along = _names(document.get("attributes")), _names(document.get("along", []))
    weight = document.get("weight", 1.0)
    if isinstance(weight, bool) or not isinstance(weight, (int, float)):
        raise QueryError("weights must be positive and finite numbers")
    if tuple(names) != domain.in_order(names):
        raise QueryError("a target's attributes must be in the domain's order, each once")
    return Target(tuple(names), tuple(along), float(weight))  # type: ignore[arg-type]
