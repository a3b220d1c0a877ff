"""Row labels: what a table of new rows holds for each code, and for what is worked out from it."""

from __future__ import annotations

from datetime import date, datetime, time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eke.domain import Attribute


def labels_of(attribute: Attribute, codes: NDArray[np.int64]) -> Any:
    """The value of each code as the table itself would hold it."""
    import pandas as pd  # noqa: PLC0415 - slow to load

    values = attribute.cell_values
    if isinstance(values[0], datetime):
        return np.array(values, "datetime64[us]")[codes]
    if isinstance(values[0], (date, time)):
        return np.array(values, object)[codes]  # pandas has dates as objects, files as dates
    if None in values or isinstance(values[0], str):
        return pd.array([values[code] for code in codes])
    return np.array(values)[codes]


def filled(values: list[Any]) -> Any:
    """A column of plain values, of one type where None is among them, too."""
    import pandas as pd  # noqa: PLC0415 - slow to load

    has_gaps = None in values and not any(isinstance(value, (date, time)) for value in values)
    return pd.array(values) if has_gaps or isinstance((*values, None)[0], str) else values
