"""Unit: what one protected individual is in the table, one row or one value of an id column."""

from __future__ import annotations

from dataclasses import dataclass

from eke.errors import PrivacyError

MOST_ROWS = 1_000_000


@dataclass(frozen=True, slots=True)
class Unit:
    """What is protected as a whole: one value of an id column, of which at most `rows` rows count.

    A protected table without a Unit protects single rows. With `Unit("patient", rows=3)` it
    protects all rows of one patient at once: the data source keeps at most three rows of each, and
    every loss is multiplied by three (pure epsilon) or by nine (zCDP, whose loss grows with the
    square of the change).

    Args:
        column: the column that holds the ids; it need not be part of the domain.
        rows: how many rows of an id are kept.

    Privacy: Which rows of an id are kept depends on the rows of that id alone. So adding or
    removing one id, with however many rows, changes the counted table by at most `rows` rows. Two
    details follow the same rule:

    - Rows with values outside the domain are dropped *before* `rows` of them are kept. Both
      orders are safe, because dropping looks at one row at a time; this one wastes no place of an
      id on a row that could not be counted anyway.
    - The rows kept are a random sample, fixed when the dataset is created: a secret key and the
      codes of the id's own rows choose them, so the result does not depend on how the table
      happens to be stored. Ids of texts and whole numbers enter, too, so that ids with equal rows
      keep different ones.

    NULL is one more id: all rows without an id together count as one unit, of which at most `rows`
    rows are kept. They are protected as a whole, never one person each.

    Example:
        >>> visits = pd.DataFrame({"patient": [1, 1, 1, 2], "sex": ["F", "F", "F", "M"]})
        >>> sexes = eke.Domain(sex=eke.Categorical("F", "M"))
        >>> unit = eke.Unit("patient", rows=2)
        >>> clinic = eke.create("visits.eke", visits, sexes, epsilon=1.0, unit=unit)
        >>> by_row = session.preview(eke.count(), within=60).cost
        >>> round(clinic.preview(eke.count(), within=60).cost / by_row, 6)
        2.0
    """

    column: str
    rows: int = 1

    def __post_init__(self) -> None:
        if not isinstance(self.column, str) or not self.column:
            raise PrivacyError("Unit needs the name of the id column, e.g. Unit('patient', rows=3)")
        if type(self.rows) is not int or not 1 <= self.rows <= MOST_ROWS:
            raise PrivacyError(
                f"Unit rows must be a whole number from 1 to {MOST_ROWS:,}: "
                "the most rows of one id that are counted"
            )
