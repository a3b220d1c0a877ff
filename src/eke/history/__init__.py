"""History: the measurements released so far."""

from eke.history.measurement import PUBLIC, Measurement, Row, lasting

__all__ = ["PUBLIC", "Measurement", "Row", "lasting"]
