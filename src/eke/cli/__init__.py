"""The command line."""

from eke.cli.main import main

__all__ = ["main"]
