"""How fair the rows are that a unit keeps, where ids have equal rows: the worst month of many ids.

    python benchmarks/row_sample.py [--ids 50000] [--keys 3]

The month is the only attribute, one row of each id is kept, and months are drawn at random. Printed
is by how much the month that is furthest from its fair share is off, for a few keys; chance alone
puts it off by about the last column. `docs/concepts/known-limits.md` quotes it.
"""

from __future__ import annotations

import argparse
import math

import numpy as np
import pandas as pd

import eke
from eke.data import open_source

ROWS = (2, 3, 4, 6, 12, 24)
_MONTHS = 12


def worst_share(table: pd.DataFrame) -> float:
    """The largest relative difference between the kept rows of a month and its fair share."""
    domain = eke.Domain(month=eke.Integer(1, _MONTHS))
    source = open_source(table, domain, eke.Unit("id", rows=1))
    (kept,) = source.counts([("month",)])
    counts = np.zeros(_MONTHS)
    counts[kept.codes[:, 0]] = kept.counts
    rows = table.groupby("id")["month"].transform("size")
    fair = (1.0 / rows).groupby(table["month"]).sum().to_numpy()
    return float(np.abs(counts / fair - 1.0).max())


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ids", type=int, default=50_000)
    parser.add_argument("--keys", type=int, default=3)
    options = parser.parse_args()
    chance = 2.4 * math.sqrt(_MONTHS / options.ids)
    print(f"{'rows of each id':>15}  {'worst month off by':>22}  {'by chance':>10}")
    for rows in ROWS:
        rng = np.random.default_rng(rows)
        months = rng.integers(1, _MONTHS + 1, options.ids * rows)
        table = pd.DataFrame({"id": np.repeat(np.arange(options.ids), rows), "month": months})
        found = sorted(worst_share(table) for _ in range(options.keys))
        shown = f"{found[0]:.0%} to {found[-1]:.0%}"
        print(f"{rows:>15}  {shown:>22}  {chance:>10.0%}")


if __name__ == "__main__":
    main()
