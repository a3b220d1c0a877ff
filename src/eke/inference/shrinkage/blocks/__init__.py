"""Histories too large for a dense kernel: whole blocks, an implicit kernel, conjugate gradients."""
