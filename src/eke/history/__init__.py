"""History: the measurements released so far."""

from eke.history.measurement import Measurement, Row, query_from_document

__all__ = ["Measurement", "Row", "query_from_document"]
