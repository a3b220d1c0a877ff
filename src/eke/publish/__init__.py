"""Publish: whole tables of new rows, from what was measured, in the schema of the protected table.

`PUBLISHERS` lists the ways by name; `publisher.py` says what each must offer.
"""

from eke.publish.lda import Lda
from eke.publish.pca import Pca
from eke.publish.published import Published, holds_rows
from eke.publish.publisher import MOST_ROWS, MakePublisher, Publisher, Setting
from eke.publish.row_accuracy import RowErrors
from eke.publish.row_basis import RowBasis
from eke.publish.row_estimate import RowEstimate
from eke.publish.synthetic import MaxEntropy

PUBLISHERS: dict[str, MakePublisher] = {"lda": Lda, "max_entropy": MaxEntropy, "pca": Pca}
"""A new way of publishing is one file and one entry here."""

__all__ = [
    "MOST_ROWS",
    "PUBLISHERS",
    "Published",
    "Publisher",
    "RowBasis",
    "RowErrors",
    "RowEstimate",
    "Setting",
    "holds_rows",
]
