"""Views: a curator's SELECT over several tables, read into a plan that works row by row."""

from eke.sql.view.reader import read_view

__all__ = ["read_view"]
