"""The paper's baselines: randomised responses that perturb every value of every record.

Every single value satisfies γ-amplification with γ = e^ε, which is far weaker than ε-differential
privacy of whole records and so favours them. Joint distributions are read off the perturbed table
by inverting the perturbation, which is unbiased.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from reproductions.hist.setting import Census

Reals = NDArray[np.float64]
_AT_ONCE = 8192


class Retention:
    """Retention replacement: keep a value with some probability, else replace it uniformly."""

    def __init__(self, data: Census, epsilon: float, generator: np.random.Generator) -> None:
        self.domain = data.domain
        ratio = math.exp(epsilon)
        self.kept = [(ratio - 1.0) / (size + ratio - 1.0) for size in data.domain.shape]
        self.codes = data.codes.copy()
        for column, (size, kept) in enumerate(zip(data.domain.shape, self.kept, strict=True)):
            replaced = generator.random(data.total) >= kept
            drawn = generator.integers(0, size, data.total)
            self.codes[replaced, column] = drawn[replaced]

    def joint(self, attributes: Sequence[str]) -> Reals:
        """The estimated joint distribution, flat in C order."""
        columns = [self.domain.names.index(name) for name in attributes]
        shape = [self.domain.shape[k] for k in columns]
        cells = np.ravel_multi_index(tuple(self.codes[:, k] for k in columns), shape)
        table = np.bincount(cells, minlength=math.prod(shape)).reshape(shape) / len(self.codes)
        for axis, column in enumerate(columns):
            mean = table.mean(axis=axis, keepdims=True)
            kept = self.kept[column]
            table = (table - (1.0 - kept) * mean) / kept
        return table.reshape(-1)

    def range_share(self, vectors: dict[int, Reals]) -> float:
        """The estimated share of records inside a product of indicator vectors."""
        product = np.ones(len(self.codes))
        for column, vector in vectors.items():
            kept = self.kept[column]
            inverted = (vector - (1.0 - kept) * vector.mean()) / kept
            product *= inverted[self.codes[:, column]]
        return float(product.mean())


class Flipping:
    """Flipping: a value is a vector of bits, each flipped with some probability."""

    def __init__(self, data: Census, epsilon: float, generator: np.random.Generator) -> None:
        self.domain = data.domain
        ratio = math.exp(epsilon)
        self.flipped = 1.0 / (1.0 + math.sqrt(ratio))
        self.bits: list[NDArray[np.bool_]] = []
        for column, size in enumerate(data.domain.shape):
            own = data.codes[:, column, None] == np.arange(size)
            self.bits.append(own ^ (generator.random(own.shape, np.float32) < self.flipped))

    def joint(self, attributes: Sequence[str]) -> Reals:
        """The estimated joint distribution, flat in C order."""
        columns = [self.domain.names.index(name) for name in attributes]
        shape = [self.domain.shape[k] for k in columns]
        order = sorted(range(len(columns)), key=lambda axis: shape[axis])  # the widest last
        table = np.zeros((math.prod(shape[axis] for axis in order[:-1]), shape[order[-1]]))
        records = len(self.bits[0])
        for start in range(0, records, _AT_ONCE):  # records × cells do not fit at once
            first, *others = [
                self._unbiased(columns[axis], slice(start, start + _AT_ONCE)) for axis in order
            ]
            product = first
            for other in others[:-1]:
                product = (product[:, :, None] * other[:, None, :]).reshape(len(product), -1)
            table += product.T @ others[-1]
        back = np.argsort(order)
        joint = table.reshape([shape[axis] for axis in order]).transpose(back)
        return np.asarray(joint.reshape(-1) / records, np.float64)

    def range_share(self, vectors: dict[int, Reals]) -> float:
        """The estimated share of records inside a product of indicator vectors."""
        product = np.ones(len(self.bits[0]))
        for column, vector in vectors.items():
            inside = np.flatnonzero(vector)
            set_bits = self.bits[column][:, inside].sum(axis=1)
            product *= (set_bits - self.flipped * len(inside)) / (1.0 - 2.0 * self.flipped)
        return float(product.mean())

    def _unbiased(self, column: int, records: slice) -> NDArray[np.float32]:
        scale = 1.0 / (1.0 - 2.0 * self.flipped)
        return ((self.bits[column][records] - self.flipped) * scale).astype(np.float32)
