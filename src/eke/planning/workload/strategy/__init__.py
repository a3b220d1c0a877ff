"""Strategies: what can be measured for a workload. Blind to the data."""

from eke.planning.workload.strategy.blocks import (
    BlockStrategy,
    KernelBlock,
    base_counts,
    fourier_direct,
    fourier_encoded,
    marginals_strategy,
    residual_tables,
    workload_itself,
)
from eke.planning.workload.strategy.clusters import cluster_path, clustering
from eke.planning.workload.strategy.kernel import Kernel

__all__ = [
    "BlockStrategy",
    "Kernel",
    "KernelBlock",
    "base_counts",
    "cluster_path",
    "clustering",
    "fourier_direct",
    "fourier_encoded",
    "marginals_strategy",
    "residual_tables",
    "workload_itself",
]
