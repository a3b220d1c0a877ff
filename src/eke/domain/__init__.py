"""Domain: attributes, their public values, and the cells of their product."""

from typing import TYPE_CHECKING

from eke.domain.attribute import Attribute, Label, plain_label
from eke.domain.binned import Binned
from eke.domain.boolean import Boolean
from eke.domain.categorical import Categorical
from eke.domain.clock import Time
from eke.domain.date import Date
from eke.domain.document import domain_from_document, domain_to_document
from eke.domain.integer import Integer
from eke.domain.lookup import Lookup
from eke.domain.lookup_file import read_lookup
from eke.domain.numeric import Numeric
from eke.domain.product import Domain, described_columns
from eke.domain.rule import Replace, Rule
from eke.domain.spelling import Decimal, Real
from eke.domain.timestamp import Timestamp

if TYPE_CHECKING:
    from eke.domain.file import read_domain, write_domain

__all__ = [
    "Attribute",
    "Binned",
    "Boolean",
    "Categorical",
    "Date",
    "Decimal",
    "Domain",
    "Integer",
    "Label",
    "Lookup",
    "Numeric",
    "Real",
    "Replace",
    "Rule",
    "Time",
    "Timestamp",
    "described_columns",
    "domain_from_document",
    "domain_to_document",
    "plain_label",
    "read_domain",
    "read_lookup",
    "write_domain",
]

if not TYPE_CHECKING:  # files of domains need PyYAML, for which others should not wait

    def __getattr__(name):
        """The functions for files, loaded on first use."""
        if name not in ("read_domain", "write_domain"):
            raise AttributeError(f"module 'eke.domain' has no attribute {name!r}")
        from eke.domain import file  # noqa: PLC0415

        return getattr(file, name)
