"""Workloads: many tables in one release, with the least error."""
