"""The kinds of arrays that everything computes with."""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]
Codes: TypeAlias = NDArray[np.int64]
"""Records as the codes of their values: (records, attributes)."""
