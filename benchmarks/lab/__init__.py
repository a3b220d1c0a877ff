"""What `benchmarks/online.py` is made of: traces, systems and the yardstick."""
