"""No array of the size of the domain: huge products are as quick as small ones.

Times are of the processor, so that other work on the machine does not matter; memory is the peak
of everything allocated meanwhile.
"""

import time
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest

from eke.domain import Domain, Integer
from eke.query import (
    Prior,
    Query,
    TermStack,
    constant,
    count,
    gram,
    inner,
    moment,
    sensitivity,
    total,
)

HIST = Domain({f"a{i}": Integer(0, n - 1) for i, n in enumerate((79, 2, 17, 51, 9, 7, 6, 50, 50))})
HUNDRED = Domain({f"a{i}": Integer(0, 9) for i in range(100)})
DOMAINS = [pytest.param(HIST, id="nine"), pytest.param(HUNDRED, id="hundred")]


@contextmanager
def frugal(seconds: float, megabytes: float = 8) -> Iterator[None]:
    tracemalloc.start()
    try:
        began = time.process_time()
        yield
        spent, (_, peak) = time.process_time() - began, tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert spent < seconds
    assert peak < megabytes * 2**20


def test_the_domains_are_huge():
    assert HIST.size == 79 * 2 * 17 * 51 * 9 * 7 * 6 * 50 * 50
    assert HUNDRED.size == 10**100


@pytest.mark.parametrize("domain", DOMAINS)
def test_counts_and_conjunctions(domain):
    codes = np.array([[1] * len(domain), [0] * len(domain)])
    with frugal(0.5):
        query = count(dict.fromkeys(domain, (1, None))).on(domain)
        assert len(query.terms) == 1
        assert query.numerators(domain.names, codes) == [1, 0]
        assert list(query.extremes()) == [0, 1]
        assert Query.from_document(domain, query.to_document()) == query
        assert query.description.startswith("count where a0 1–")
        assert list(count().on(domain).extremes()) == [1, 1]


@pytest.mark.parametrize("domain", DOMAINS)
def test_sums(domain):
    codes = np.array([[1] * len(domain), [0] * len(domain)])
    largest = sum(n - 1 for n in domain.shape)
    with frugal(2.0):
        query = sum((total(name) for name in domain), constant(0)).on(domain)
        assert query.numerators(domain.names, codes) == [len(domain), 0]
        assert sensitivity(query, "add_remove") == largest
        everything = moment(dict.fromkeys(domain.names, 1)).on(domain)
        assert everything.numerators(domain.names, codes) == [1, 0]
        assert everything.extremes()[1] == np.prod([n - 1 for n in domain.shape], dtype=object)


@pytest.mark.parametrize("domain", DOMAINS)
def test_gram_of_fifty(domain):
    """Independent attributes: ⟨q1, q2⟩ is the product over attributes of shares in common."""
    random = np.random.default_rng(2)
    boxes = []
    for _ in range(50):
        names = random.choice(domain.names, 3, replace=False)
        ends = {n: sorted(random.integers(0, domain[n].size, 2).tolist()) for n in names}
        boxes.append(ends)
    with frugal(2.0, megabytes=32):
        queries = [count({n: (lo, hi) for n, (lo, hi) in box.items()}).on(domain) for box in boxes]
        K = gram(queries, Prior(domain))
    for i, first in enumerate(boxes):
        for j, second in enumerate(boxes):
            share = 1.0
            for name in {*first, *second}:
                size = domain[name].size
                (a, b), (c, d) = first.get(name, (0, size - 1)), second.get(name, (0, size - 1))
                share *= max(0, min(b, d) - max(a, c) + 1) / size
            assert K[i, j] == pytest.approx(share, rel=1e-12)


def test_stacks_over_a_hundred_attributes():
    with frugal(2.0, megabytes=32):
        stack = TermStack(Prior(HUNDRED))
        query = (count(a1=(0, 4)) + total("a2") - 3 * count(a99=7)).on(HUNDRED)
        stack.append(query)
        assert stack.against(count().on(HUNDRED)) == pytest.approx([0.5 + 4.5 - 0.3])
        assert stack.at(np.zeros((1, 100), np.int64)) == pytest.approx(np.array([[1.0]]))
        assert inner(query, query, Prior(HUNDRED)) == pytest.approx(float(stack.gram()[0, 0]))
