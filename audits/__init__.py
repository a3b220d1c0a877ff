"""The scoreboard: every check of the privacy promise and of reliability; see `audits/run.py`."""
