"""Workload: the questions that a release is to answer, frozen, with a weight each.

A `Target` is a whole table of questions in product form: along each of its attributes one question
for each value (`cells`), for each value and all before it (`prefixes`), or for each interval of
values (`ranges`). A marginal is a target with `cells` along all its attributes; one without
attributes is the total. Any other linear query can be added one by one.

    all_marginals(domain, 2) + ranges(domain, "age") + Workload.of(domain, [eke.count(sex="F")])

Next: `planning.release` chooses what to measure for a workload.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations
from typing import Literal, TypeAlias, get_args

from eke.domain import Domain
from eke.domain.wide import unlisted
from eke.errors import QueryError
from eke.query import Askable, Block, Query, Term

Along: TypeAlias = Literal["cells", "prefixes", "ranges"]
Item: TypeAlias = "Askable[Block] | Target | Sequence[str]"

MOST_TARGETS = 1_000_000
_LEAST_WEIGHT = 1e-12


@dataclass(frozen=True, slots=True)
class Target:
    """A table of questions: one for each combination of what `along` says of each attribute."""

    attributes: tuple[str, ...]
    along: tuple[Along, ...] = ()
    weight: float = 1.0  # of the variance of each question, where errors are added up

    def __post_init__(self) -> None:
        if not self.along:
            object.__setattr__(self, "along", ("cells",) * len(self.attributes))
        if len(self.along) != len(self.attributes):
            raise QueryError("a target says for each attribute what it asks along it")
        if any(kind not in get_args(Along) for kind in self.along):
            raise QueryError("a target asks along an attribute for cells, prefixes or ranges")
        _check_weight(self.weight)

    @property
    def is_marginal(self) -> bool:
        return all(kind == "cells" for kind in self.along)

    def questions(self, domain: Domain) -> int:
        """How many questions the target has."""
        return math.prod(self.shape(domain))

    def shape(self, domain: Domain) -> tuple[int, ...]:
        """How many questions there are along each attribute."""
        sizes = zip(self.along, domain.sizes(self.attributes), strict=True)
        return tuple(n * (n + 1) // 2 if kind == "ranges" else n for kind, n in sizes)


@dataclass(frozen=True, slots=True)
class Workload:
    """Tables and single questions to be released together, with a weight each.

    Workloads over one domain are added with `+`. `Workload.of` makes one of any list.

    Args:
        domain: what they are over.
        targets: tables of questions.
        queries: single questions.
        query_weights: how much the variance of each counts, where errors are added up; 1 each if
            not given.

    Example:
        >>> items = [eke.marginal("sex"), ["sex", "smoker"], eke.total("age")]
        >>> mixed = eke.Workload.of(domain, items)
        >>> mixed.questions, mixed.is_marginal
        (9, False)
    """

    domain: Domain
    targets: tuple[Target, ...] = ()
    queries: tuple[Query, ...] = ()
    query_weights: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if not self.targets and not self.queries:
            raise QueryError("a workload needs at least one marginal, range or query")
        if len(self.targets) > MOST_TARGETS:
            raise QueryError(f"a workload may have at most {MOST_TARGETS:,} targets; take fewer")
        place = {name: i for i, name in enumerate(self.domain.names)}
        wide = {name for name, attribute in self.domain.attributes if attribute.is_wide}
        for target in self.targets:
            if wide and not wide.isdisjoint(target.attributes):
                (name, *_) = wide.intersection(target.attributes)
                raise QueryError(f"{name}: {unlisted(self.domain[name].size)}")
            # Workloads can have hundreds of thousands of targets: this is all that is looked at.
            places = [place.get(name, -1) for name in target.attributes]
            if places != sorted(set(places)) or -1 in places:
                raise QueryError("a target's attributes must be in the domain's order, each once")
        for query in self.queries:
            if query.domain != self.domain:
                raise QueryError("a query of the workload is over another domain")
            if query.people:
                raise QueryError(
                    "a workload is of records; ask for the numbers of people by session.ask"
                )
            if query.is_zero:
                raise QueryError("there is nothing to measure in a question that is always zero")
        weights = self.query_weights or (1.0,) * len(self.queries)
        if len(weights) != len(self.queries):
            raise QueryError("a workload needs one weight for each of its queries")
        for weight in weights:
            _check_weight(weight)
        object.__setattr__(self, "query_weights", tuple(weights))

    @staticmethod
    def of(
        domain: Domain, items: Iterable[Item], weights: Iterable[float] | None = None
    ) -> Workload:
        """The workload of any list of marginals, queries, targets or lists of attribute names.

        Args:
            domain: what they are over.
            items: the list.
            weights: one for each item; 1 each if not given.
        """
        targets: list[Target] = []
        queries: list[Query] = []
        query_weights: list[float] = []
        given = list(items)
        each = [1.0] * len(given) if weights is None else [float(w) for w in weights]
        if len(each) != len(given):
            raise QueryError("give one weight for each item of the workload, or none at all")
        for item, weight in zip(given, each, strict=True):
            made, asked = _made(domain, item)
            targets += [replace(one, weight=one.weight * weight) for one in made]
            queries += asked
            query_weights += [weight] * len(asked)
        return Workload(domain, tuple(targets), tuple(queries), tuple(query_weights))

    @property
    def is_marginal(self) -> bool:
        """True when the workload consists of whole marginals."""
        return not self.queries and all(target.is_marginal for target in self.targets)

    @property
    def questions(self) -> int:
        """How many questions it has in all."""
        return sum(t.questions(self.domain) for t in self.targets) + len(self.queries)

    def weighted(self, factor: float) -> Workload:
        """The same questions, the weight of every error multiplied."""
        _check_weight(factor)
        return Workload(
            self.domain,
            tuple(replace(t, weight=t.weight * factor) for t in self.targets),
            self.queries,
            tuple(w * factor for w in self.query_weights),
        )

    def __add__(self, other: Workload) -> Workload:
        if self.domain != other.domain:
            raise QueryError("the two workloads are over different domains")
        return Workload(
            self.domain,
            self.targets + other.targets,
            self.queries + other.queries,
            self.query_weights + other.query_weights,
        )


def all_marginals(domain: Domain, ways: int) -> Workload:
    """The tables over every choice of so many attributes (Q_k in CUBE).

    Args:
        domain: what they are over.
        ways: how many attributes each has.

    Example:
        >>> len(eke.all_marginals(domain, 2).targets)
        6
    """
    return _over(domain, combinations(domain.names, _checked_ways(domain, ways)))


def marginals_up_to(domain: Domain, ways: int) -> Workload:
    """The tables over at most so many attributes, the total included.

    Args:
        domain: what they are over.
        ways: how many attributes each has at most.

    Example:
        >>> len(eke.marginals_up_to(domain, 1).targets)
        5
    """
    most = _checked_ways(domain, ways)
    return _over(domain, (c for k in range(most + 1) for c in combinations(domain.names, k)))


def marginals_and_half_of_next(domain: Domain, ways: int) -> Workload:
    """Tables over `ways` attributes, and every other one over one attribute more (Q*_k in CUBE).

    Args:
        domain: what they are over.
        ways: how many attributes the first have.

    Example:
        >>> len(eke.marginals_and_half_of_next(domain, 1).targets)
        7
    """
    most = _checked_ways(domain, ways + 1)
    half = list(combinations(domain.names, most))[::2]
    return _over(domain, [*combinations(domain.names, most - 1), *half])


def marginals_and_those_with(domain: Domain, ways: int, attribute: str) -> Workload:
    """Tables over `ways` attributes, and those over one more with `attribute` (Qa_k in CUBE).

    Args:
        domain: what they are over.
        ways: how many attributes the first have.
        attribute: which one the others all have.

    Example:
        >>> len(eke.marginals_and_those_with(domain, 1, "sex").targets)
        7
    """
    most = _checked_ways(domain, ways + 1)
    _ = domain[attribute]
    above = [c for c in combinations(domain.names, most) if attribute in c]
    return _over(domain, [*combinations(domain.names, most - 1), *above])


def grouping_sets(domain: Domain, sets: Iterable[Sequence[str]]) -> Workload:
    """The tables over the given sets of attributes: CUBE, ROLLUP and GROUPING SETS of SQL.

    Args:
        domain: what they are over.
        sets: lists of names; an empty one is the total.

    Example:
        >>> eke.grouping_sets(domain, [["sex", "smoker"], ["sex"], []]).questions
        9
    """
    return _over(domain, (domain.in_order(names) for names in sets))


def ranges(domain: Domain, *attributes: str) -> Workload:
    """All intervals of values along an attribute; all boxes along several.

    Args:
        domain: what they are over.
        attributes: the names.

    Example:
        >>> eke.ranges(domain, "hours").questions
        15
    """
    return _along(domain, attributes, "ranges")


def prefixes(domain: Domain, *attributes: str) -> Workload:
    """All counts up to a value along an attribute; all corners along several.

    Args:
        domain: what they are over.
        attributes: the names.

    Example:
        >>> halved = eke.ranges(domain, "hours") + eke.prefixes(domain, "age").weighted(0.5)
        >>> halved.questions
        115
    """
    return _along(domain, attributes, "prefixes")


def _along(domain: Domain, attributes: Sequence[str], kind: Along) -> Workload:
    names = domain.in_order(attributes)
    if not names:
        raise QueryError(f"{kind} need at least one attribute")
    return Workload(domain, (Target(names, (kind,) * len(names)),))


def _over(domain: Domain, sets: Iterable[tuple[str, ...]]) -> Workload:
    return Workload(domain, tuple(Target(names) for names in dict.fromkeys(sets)))


def _made(domain: Domain, item: Item) -> tuple[Sequence[Target], Sequence[Query]]:
    if isinstance(item, Target):
        return [item], []
    if isinstance(item, Askable):
        block = item.on(domain)
        if block.inside is not None and block.grouped is not None:
            if block.is_single:
                return [], [block.inside]
            if block.inside != Query.of(domain, [Term(Fraction(1), ())]):
                raise QueryError(
                    "a marginal of a workload counts all records; leave out its condition"
                )
            return [Target(block.grouped)], []
    if not isinstance(item, Iterable):
        raise QueryError(
            "a workload is made of marginals, questions and lists of attribute names, by SQL with "
            "GROUP BY CUBE, or by eke.all_marginals and the like, "
            f"not of {type(item).__name__}"
        )
    names = (item,) if isinstance(item, str) else tuple(item)
    return [Target(domain.in_order(names))], []


def _checked_ways(domain: Domain, ways: int) -> int:
    if type(ways) is not int or not 0 <= ways <= len(domain):
        raise QueryError(f"marginals of this domain have 0 to {len(domain)} attributes, not {ways}")
    return ways


def _check_weight(weight: float) -> None:
    if not _LEAST_WEIGHT <= weight <= 1.0 / _LEAST_WEIGHT:
        raise QueryError("weights must be positive and finite numbers, from 1e-12 to 1e12")
