"""The kernel of a history with whole blocks in it, applied without being written out.

Rows are those of the blocks, one after the other, then the single questions. K·v adds the queries
up to functions of few attributes, averages those over each block's attributes (`averages.py`), and
answers the queries on the result. Only the single questions have a dense kernel among themselves.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from eke.arrays import FloatArray
from eke.inference.features import HistoryFeatures, cross_kernel, kernel, norms, probabilities
from eke.inference.shrinkage.blocks.averages import Averages
from eke.inference.shrinkage.blocks.product_block import ProductBlock
from eke.inference.shrinkage.blocks.singles import Singles
from eke.query import Prior

Names = tuple[str, ...]

_KEPT_NUMBERS = 2**25  # of the products between blocks and single questions: 256 MiB
_COLUMNS = 64


class ImplicitKernel:
    """⟨q_i, q_j⟩ − ⟨q_i, 1⟩⟨q_j, 1⟩ of all rows: the kernel for a known number of records.

    Unless `centred`, the second part is added again in `times`, `products` and `diagonal`.
    """

    def __init__(
        self,
        blocks: Sequence[ProductBlock],
        singles: HistoryFeatures,
        prior: Prior,
        *,
        centred: bool = True,
        kept_numbers: int = _KEPT_NUMBERS,
    ) -> None:
        self.blocks = tuple(blocks)
        self.centred = centred
        self.prior = prior
        self.singles = Singles(singles, prior)
        sets = dict.fromkeys(block.attributes for block in self.blocks)
        self._weights = {
            names: probabilities(prior, names).reshape(*prior.domain.sizes(names), 1)
            for names in sets
        }
        self._averages = Averages(sets, prior)
        ends = np.cumsum([block.rows for block in self.blocks], dtype=np.intp)
        self.starts: list[int] = [0, *ends.tolist()]
        self.size = self.starts[-1] + singles.size
        self._single_means = singles.means(prior)
        block_means = [self._answers_of_means(block) for block in self.blocks]
        self.means: FloatArray = np.concatenate([*block_means, self._single_means])
        self.among_singles = kernel(singles, prior)
        self.among_singles -= np.multiply.outer(self._single_means, self._single_means)
        self._across: FloatArray | None = None
        if self.block_rows * singles.size <= kept_numbers:
            self._across = self._block_products(self.singles)

    @property
    def block_rows(self) -> int:
        """How many rows belong to blocks; single questions follow."""
        return self.starts[-1]

    def times(self, columns: FloatArray) -> FloatArray:
        """K·columns; (size, columns) -> (size, columns)."""
        split = self.block_rows
        result = np.empty_like(columns)
        if self.blocks:
            tables = self._added_up(columns[:split])
            result[:split] = self._answers(self._averages.given_each(tables))
        if self.singles.size:
            result[:split] += self.from_singles(columns[split:])
            result[split:] = self.among_singles @ columns[split:]
            result[split:] += self.onto_singles(columns[:split])
        if not self.centred:
            result += np.multiply.outer(self.means, self.means @ columns)
        return result

    def from_singles(self, weights: FloatArray) -> FloatArray:
        """The blocks' answers on the weighted sum of single questions; (block rows, columns)."""
        if self._across is not None:  # also when there are no blocks
            return np.asarray(self._across @ weights)
        mean = self._single_means @ weights
        seen = {names: self.singles.averaged(names, weights) - mean for names in self._weights}
        return self._answers(seen)

    def onto_singles(self, columns: FloatArray) -> FloatArray:
        """The transpose of `from_singles`; (block rows, columns) -> (single questions, columns)."""
        if self._across is not None:
            return np.asarray(self._across.T @ columns)
        mean = self.means[: self.block_rows] @ columns
        result = np.multiply.outer(-self._single_means, mean)
        for names, table in self._added_up(columns).items():
            result += self.singles.products(names, table)
        return result

    def across(self) -> Iterator[tuple[slice, FloatArray]]:
        """The products of all block rows with single questions, some of these at a time."""
        for start in range(0, self.singles.size, _COLUMNS):
            some = slice(start, min(start + _COLUMNS, self.singles.size))
            if self._across is not None:
                yield some, self._across[:, some]
            else:
                yield some, self._block_products(self.singles.some(some.start, some.stop))

    def products(self, questions: HistoryFeatures) -> FloatArray:
        """⟨row, question⟩, centred like the kernel; (size, questions). No whole marginals."""
        split = self.block_rows
        result = np.empty((self.size, questions.size))
        result[:split] = self._block_products(Singles(questions, self.prior))
        result[split:] = cross_kernel(self.singles.features, questions, self.prior)
        means = questions.means(self.prior)
        result[split:] -= np.multiply.outer(self._single_means, means)
        if not self.centred:
            result += np.multiply.outer(self.means, means)
        return result

    def diagonal(self) -> FloatArray:
        """⟨q_i, q_i⟩, centred like the kernel; (size,)."""
        squares = []
        for block in self.blocks:
            squared = tuple(None if m is None else m**2 for m in block.matrices)
            alike = ProductBlock(block.attributes, block.sizes, squared, block.factor**2)
            squares.append(self._answers_of_means(alike))
        squares.append(norms(self.singles.features, self.prior))
        whole = np.concatenate(squares)
        return np.maximum(whole - self.means**2, 0.0) if self.centred else whole

    def _answers_of_means(self, block: ProductBlock) -> FloatArray:
        return block.answers(self._weights[block.attributes])[:, 0]

    def _added_up(self, columns: FloatArray) -> dict[Names, FloatArray]:
        """The weighted sum of the blocks' queries as one table for each set of attributes."""
        tables: dict[Names, FloatArray] = {}
        for place, block in enumerate(self.blocks):
            table = block.tables(columns[self.starts[place] : self.starts[place + 1]])
            known = tables.get(block.attributes)
            tables[block.attributes] = table if known is None else known + table
        return tables

    def _answers(self, seen: Mapping[Names, FloatArray]) -> FloatArray:
        """The blocks' answers on functions of their attributes; (block rows, columns)."""
        weighted = {names: self._weights[names] * table for names, table in seen.items()}
        return np.concatenate([b.answers(weighted[b.attributes]) for b in self.blocks])

    def _block_products(self, asked: Singles) -> FloatArray:
        """⟨row, question⟩ of all block rows with questions, centred; (block rows, questions)."""
        result = np.empty((self.block_rows, asked.size))
        for start in range(0, asked.size, _COLUMNS):
            stop = min(start + _COLUMNS, asked.size)
            some, unit = asked.some(start, stop), np.eye(stop - start)
            means = some.features.means(self.prior)
            seen = {names: some.averaged(names, unit) - means for names in self._weights}
            if self.blocks:
                result[:, start:stop] = self._answers(seen)
        return result
