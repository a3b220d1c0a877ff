"""Domain: attributes, their public values, and the cells of their product."""

from eke.domain.attribute import Attribute, Label, plain_label
from eke.domain.binned import Binned
from eke.domain.boolean import Boolean
from eke.domain.categorical import Categorical
from eke.domain.document import (
    domain_from_document,
    domain_to_document,
    read_domain,
    write_domain,
)
from eke.domain.integer import Integer
from eke.domain.numeric import Numeric
from eke.domain.product import Domain
from eke.domain.rule import Replace, Rule

__all__ = [
    "Attribute",
    "Binned",
    "Boolean",
    "Categorical",
    "Domain",
    "Integer",
    "Label",
    "Numeric",
    "Replace",
    "Rule",
    "domain_from_document",
    "domain_to_document",
    "plain_label",
    "read_domain",
    "write_domain",
]
