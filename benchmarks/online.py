"""How far a limit goes: one trace of questions under six ways to spend it.

Traces: (a) the papers' multinomial questions, with and without a limit; (b) conjunctive counts with
Zipf repetition; (c) random ranges over Adult and Census-Income; (d) drifting interests; (e) orders
made to mislead. Systems: no reuse, an exact cache, `direct` with BLUE (the papers), `top_up`,
`look_ahead`, and a yardstick that knows all questions beforehand. Printed: the share of questions
answered, the loss, the share answered for free, the mean error as a share of the half-width asked
for, and the coverage of the intervals; then what every question needs at least, and the ratios that
docs/concepts/look-ahead.md states.

    python benchmarks/online.py [--traces a b c d e] [--share 0.1] [--measure rho] [--out x.json]
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.lab import traces as lab
from benchmarks.lab.systems import Alone, Build, Deciding, play
from benchmarks.lab.yardstick import Yardstick, yardstick
from eke.planning import direct, top_up
from eke.planning.look_ahead.look_ahead import look_ahead
from eke.privacy.measure import Measure
from eke.privacy.measures import MEASURES, measure_named
from eke.privacy.pure import PURE
from eke.privacy.record_loss import NANO

SEED = 8
SYSTEMS: dict[str, Build] = {
    "no reuse": lambda t, limit, m, rng: Alone(t, limit, m, rng, remember=False),
    "exact cache": lambda t, limit, m, rng: Alone(t, limit, m, rng, remember=True),
    "direct + BLUE": lambda t, limit, m, rng: Deciding(t, limit, m, rng, direct),
    "top_up": lambda t, limit, m, rng: Deciding(t, limit, m, rng, top_up),
    "look_ahead": lambda t, limit, m, rng: Deciding(t, limit, m, rng, look_ahead),
}
COLUMNS = ("answered", "loss", "free", "error/within", "coverage")


def make_traces(kinds: str, share: float) -> list[lab.Trace]:
    """The traces of some kinds, each with a share of its usual arrivals."""

    def some(number: int) -> int:
        return max(20, round(share * number))

    def rng(*place: int) -> np.random.Generator:
        return np.random.default_rng([SEED, *place])

    found: list[lab.Trace] = []
    if "a" in kinds:
        found += [
            lab.multinomial(rng(0), bounded=bounded, arrivals=some(1000))
            for bounded in (True, False)
        ]
    if "b" in kinds:
        found.append(lab.conjunctions(rng(1), some(70_000)))
    if "c" in kinds:
        tables = {"Adult": lab.adult(), "Census-Income": lab.census_income()}
        for place, (name, table) in enumerate(tables.items()):
            trace = lab.random_ranges(rng(2, place), table, name, some(1000))
            found += [trace, replace(trace, name=f"{trace.name}, no limit", limit=lab.UNBOUNDED)]
    if "d" in kinds:
        found.append(lab.drifting(rng(3), lab.adult(), some(600)))
    if "e" in kinds:
        table = lab.adult()
        found += [
            lab.abandoned_sets(rng(4), table, some(20) // 4),
            lab.tightening(rng(5), table, 40, 0.85),
            lab.tightening(rng(6), table, 40, 1 / 0.85),
            lab.disjoint_cells(rng(7), table),
        ]
    return found


def compare(trace: lab.Trace, measure: Measure, systems: list[str], steps: int) -> dict[str, Any]:
    """The figures of all systems on one trace."""
    print(f"\n{trace.name}: {len(trace.arrivals):,} arrivals", end="")
    print("" if trace.limit == lab.UNBOUNDED else f", limit {trace.limit / NANO:g}", flush=True)
    print(f"  {'':<16}" + "".join(f"{column:>14}" for column in COLUMNS))
    rows: dict[str, dict[str, Any]] = {}
    for name in systems:
        rng = np.random.default_rng([SEED, 99, list(SYSTEMS).index(name)])
        system = SYSTEMS[name](trace.table, trace.limit, measure, rng)
        played = play(name, system, trace)
        line = played.line()
        rows[name] = {**line, "seconds": played.seconds, "bought": played.bought}
        print(f"  {name:<16}" + "".join(f"{line[c]:>14.4g}" for c in COLUMNS), flush=True)
        if isinstance(system, Deciding):
            facts = system.facts
            rows[name]["rents"] = facts.past.rent_loss(facts.accountant) / NANO
    known = yardstick(trace, measure, steps)
    figures = (known.answered, known.loss, math.nan, known.error, known.coverage)
    print(f"  {'yardstick':<16}" + "".join(f"{figure:>14.4g}" for figure in figures))
    print(f"  all answered: {known.all_answered:.4g} by {known.way}", end="")
    print(f" (each by itself {known.rents:.4g}, tables {known.tables:.4g});", end=" ")
    print(f"at least {known.least:.4g}", end="")
    print(f", and {known.alone:.4g} for one question" if known.alone else "", flush=True)
    for text in _ratios(rows, known):
        print(f"  {text}", flush=True)
    return {"trace": trace.name, "systems": list(rows.values()), "yardstick": asdict(known)}


def _ratios(rows: dict[str, dict[str, Any]], known: Yardstick) -> list[str]:
    """What the aims are about: look_ahead against greedy, the yardstick and its own bound."""
    if "look_ahead" not in rows:
        return []
    own = rows["look_ahead"]
    found = [f"look_ahead: loss {own['loss'] / own['rents']:.2f} x its rents"]
    if "top_up" in rows:
        greedy = rows["top_up"]
        answered = own["answered"] / greedy["answered"]
        found.append(f"{answered:.2f} x the answers of top_up")
        found.append(f"{own['loss'] / greedy['loss']:.2f} x its loss")
    if own["answered"] == 1.0 == known.answered:
        found.append(f"{own['loss'] / known.all_answered:.2f} x the loss of the yardstick")
    else:
        found.append(f"the yardstick answers {known.answered / own['answered']:.2f} x as many")
    return [", ".join(found)]


def _under(trace: lab.Trace, measure: Measure) -> lab.Trace:
    """The trace with its limit in this measure: pure ε implies ρ = ε²/2."""
    if measure == PURE or trace.limit == lab.UNBOUNDED:
        return trace
    return replace(trace, limit=trace.limit**2 // (2 * NANO))


def main() -> None:
    """Print the comparison, and write it if wanted."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--traces", nargs="+", default=list("abcde"), choices=list("abcde"))
    parser.add_argument("--systems", nargs="+", default=list(SYSTEMS), choices=list(SYSTEMS))
    parser.add_argument("--share", type=float, default=1.0, help="of the usual arrivals")
    parser.add_argument("--measure", default="epsilon", choices=list(MEASURES))
    parser.add_argument("--only", default="", help="traces whose name ends with this")
    parser.add_argument("--steps", type=int, default=60, help="of the yardstick's descent; or 0")
    parser.add_argument("--out", type=Path)
    chosen = parser.parse_args()
    measure = measure_named(chosen.measure)
    results = []
    for trace in make_traces("".join(chosen.traces), chosen.share):
        if not trace.name.endswith(chosen.only):
            continue
        meant = _under(trace, measure)
        results.append(compare(meant, measure, chosen.systems, chosen.steps))
        if chosen.out is not None:
            chosen.out.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
