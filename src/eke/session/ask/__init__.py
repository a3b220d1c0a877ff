"""Asking: from a question to its answer, from history or paid for."""
