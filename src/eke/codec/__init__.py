"""Codec: answers, prices, plans and releases as JSON documents, written and read in one place.

What goes over HTTP is read again by the client; what commands print (`printed.py`) by scripts.

Whoever writes and whoever reads may be of different versions. So the law is that of protocol
buffers: a field keeps its name and its meaning for ever; new fields may be added; a reader takes
what it knows, passes over what it does not, and has a value for what older writers left out.
"""
