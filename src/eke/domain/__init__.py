"""Domain: attributes, their public values, and the cells of their product."""

from eke.domain.attribute import (
    Attribute,
    Binned,
    Boolean,
    Categorical,
    Integer,
    Label,
    Replace,
    Rule,
    plain_label,
)
from eke.domain.document import (
    domain_from_document,
    domain_to_document,
    read_domain,
    write_domain,
)
from eke.domain.product import Domain

__all__ = [
    "Attribute",
    "Binned",
    "Boolean",
    "Categorical",
    "Domain",
    "Integer",
    "Label",
    "Replace",
    "Rule",
    "domain_from_document",
    "domain_to_document",
    "plain_label",
    "read_domain",
    "write_domain",
]
