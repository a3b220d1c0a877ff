"""History: the measurements released so far."""

from eke.history.measurement import PUBLIC, Measurement, Row, query_from_document

__all__ = ["PUBLIC", "Measurement", "Row", "query_from_document"]
