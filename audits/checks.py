"""The list of all checks, in the order of the scoreboard."""

from __future__ import annotations

from audits.row import Check

CHECKS: tuple[Check, ...] = (
    Check("laplace-revealed", "epsilon", "laplace_revealed", 1.5),
    Check("laplace-released", "epsilon", "laplace_released", 2.5),
    Check("gaussian-revealed", "epsilon", "gaussian_revealed", 2),
    Check("gaussian-released", "epsilon", "gaussian_released", 3),
    Check("kronecker-released", "epsilon", "kronecker_released", 5),
    Check("refinement", "refined", "refinement", 5),
    Check("refined-tables", "refined", "refinement_of_tables", 2),
    Check("row-scores", "epsilon", "row_scores", 1.5),
    Check("exponential", "choice", "exponential", 8),
    Check("adaptive", "choice", "adaptive", 14),
    Check("bit-patterns", "noise", "bit_patterns", 1),
    Check("goodness-of-fit", "noise", "goodness_of_fit", 1),
    Check("forked-workers", "noise", "forked_workers", 1),
    Check("replay", "replayed", "replay", 16),
    Check("decisions", "tested", "decisions", 12),
    Check("draws", "replayed", "draws", 10),
    Check("publications", "replayed", "publishing", 40),
    Check("accounting", "ledger", "accounting", 2),
    Check("arithmetic", "ledger", "arithmetic", 4),
    Check("tampering", "ledger", "tampering", 0.5),
    Check("rows", "rows", "rows", 3),
    Check("ids", "tested", "ids", 2, ("tests/unit/data/test_ids.py",)),
    Check("writers", "processes", "writers", 4),
    Check("kills", "processes", "kills", 10),
    Check("failpoints", "processes", "failpoints", 1),
    Check("power-cuts", "processes", "cuts", 2),
    Check("disk-failures", "processes", "disk_failures", 1.5),
    Check("openapi", "asked", "openapi", 8),
    Check("sql", "asked", "sql", 16),
    Check("bad-requests", "asked", "bad_requests", 2),
    Check("permissions", "tested", "permissions", 1),
    Check("load", "load", "load", 11),
    Check("timing", "measured", "timing", 70, ("benchmarks/timing.py",), alone=True),
    Check("mutants", "measured", "mutants", 0.1, ("audits/mutants.json",)),
)
