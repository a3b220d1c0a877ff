"""Evidence of a large history: blocks stay blocks, and the kernel is never written out.

Blocks that ask the same questions are one block here, its answers averaged by their precision:
nothing is lost by that, because only the average says something about the table. Small blocks are
taken apart; a dense kernel is quicker for them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from eke.domain import Domain
from eke.errors import EstimateError
from eke.history import Measurement
from eke.inference.features import HistoryFeatures
from eke.inference.shrinkage.blocks.implicit_kernel import ImplicitKernel
from eke.inference.shrinkage.blocks.product_block import ProductBlock, product_block
from eke.inference.shrinkage.evidence import Evidence, Total
from eke.inference.shrinkage.noise import Drawn, Noise
from eke.query import Prior, Query

LEAST_BLOCK = 32
"""Blocks of fewer answers are taken apart."""
MOST_SINGLES = 12_000
"""So many single questions have a dense kernel of 1.1 GiB among themselves."""


def evidence_of_blocks(
    domain: Domain,
    measurements: Sequence[Measurement],
    prior: Prior | None = None,
    total: Total = "estimated",
    *,
    least_block: int = LEAST_BLOCK,
) -> Evidence[ImplicitKernel]:
    """The evidence of everything released so far. Privacy: free; reads released values only."""
    whole, alone = _sorted(measurements, least_block)
    singles = sum(len(measurement.values) for measurement in alone)
    if singles > MOST_SINGLES:
        raise EstimateError(
            f"history has {singles:,} answers measured one by one; shrinkage takes up to "
            f'{MOST_SINGLES:,} of them beside whole tables, use method="blue"'
        )
    values, drawn = _averaged(whole)
    queries: list[Query] = []
    for measurement in alone:
        drawn.append(
            (measurement.law, range(len(values), len(values) + len(measurement.values)), 1.0)
        )
        values += measurement.values
        queries += measurement.query.queries()
    kernel = ImplicitKernel(
        [blocks[0][0] for blocks in whole],
        HistoryFeatures.of(domain, queries),
        Prior(domain) if prior is None else prior,
        centred=total != "ignored",
    )
    return Evidence(kernel, np.array(values, np.float64), Noise.of_draws(drawn), total)


Alike = list[tuple[ProductBlock, Measurement]]


def singles_in(measurements: Sequence[Measurement], least_block: int = LEAST_BLOCK) -> int:
    """How many answers of a history would be kept one by one."""
    return sum(len(one.values) for one in _sorted(measurements, least_block)[1])


def _sorted(
    measurements: Sequence[Measurement], least_block: int
) -> tuple[list[Alike], list[Measurement]]:
    """Blocks, those with the same questions together, and what is kept one by one."""
    alike: dict[tuple[object, ...], Alike] = {}
    alone = []
    for measurement in measurements:
        block = product_block(measurement.query) if len(measurement.values) >= least_block else None
        if block is None:
            alone.append(measurement)
        else:
            alike.setdefault(block.likeness, []).append((block, measurement))
    return list(alike.values()), alone


def _averaged(whole: Sequence[Alike]) -> tuple[list[float], list[Drawn]]:
    """(values, noises) of the rows of all blocks."""
    values: list[float] = []
    drawn: list[Drawn] = []
    for blocks in whole:
        precisions = np.array([1.0 / measurement.law.variance for _, measurement in blocks])
        shares = precisions / precisions.sum()
        mean = shares @ np.array([measurement.values for _, measurement in blocks])
        rows = range(len(values), len(values) + len(mean))
        values += mean.tolist()
        for share, (_, measurement) in zip(shares, blocks, strict=True):
            drawn.append((measurement.law, rows, float(share)))
    return values, drawn
