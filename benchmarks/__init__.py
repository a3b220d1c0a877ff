"""Timed scripts and comparisons; each file is run by itself."""
