"""All kinds of columns, by the names that files give them."""

from __future__ import annotations

from types import MappingProxyType

from eke.domain.attribute import Attribute
from eke.domain.binned import Binned
from eke.domain.boolean import Boolean
from eke.domain.categorical import Categorical
from eke.domain.clock import Time
from eke.domain.date import Date
from eke.domain.integer import Integer
from eke.domain.numeric import Numeric
from eke.domain.timestamp import Timestamp

KINDS: MappingProxyType[str, type[Attribute]] = MappingProxyType(
    {
        kind.kind: kind
        for kind in (Categorical, Integer, Numeric, Binned, Boolean, Date, Timestamp, Time)
    }
)
