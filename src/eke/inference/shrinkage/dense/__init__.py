"""Histories of a few thousand answers: a dense kernel, factored, and one reduction for all α."""
