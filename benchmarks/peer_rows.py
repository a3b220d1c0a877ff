"""Synthetic rows by other people's packages, made by the interpreter that has them installed.

`benchmarks/synthetic.py --peers PYTHON` starts it; it imports nothing of eke's, because the pins of
these packages clash with eke's and with each other's. Every mechanism runs at its package's
defaults. Columns are codes already, so nothing is binned and no budget goes into that.

    PYTHON benchmarks/peer_rows.py --list                     # what PYTHON can run, as JSON
    PYTHON benchmarks/peer_rows.py NAME asked.npz made.npz [--seconds 3600]
"""

from __future__ import annotations

import argparse
import json
import resource
import time
import warnings
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Codes = NDArray[np.int64]
Maker = Callable[[pd.DataFrame, "dict[str, int]", float, float, int], pd.DataFrame]


def _dpmm(pipeline: str) -> Maker:
    def make(
        table: pd.DataFrame, sizes: dict[str, int], epsilon: float, delta: float, seed: int
    ) -> pd.DataFrame:
        from dpmm import pipelines  # noqa: PLC0415 - optional

        # One process: what runs in others would not be counted.
        model = getattr(pipelines, pipeline)(
            epsilon=epsilon, delta=delta, n_jobs=1, disable_processing=True
        )
        model.fit(table, domain=sizes, random_state=seed)
        return pd.DataFrame(model.generate(n_records=len(table), random_state=seed))

    return make


def _smartnoise(module: str, name: str) -> Maker:
    def make(
        table: pd.DataFrame, sizes: dict[str, int], epsilon: float, delta: float, seed: int
    ) -> pd.DataFrame:
        from importlib import import_module  # noqa: PLC0415 - optional

        from snsynth.transform import LabelTransformer, TableTransformer  # noqa: PLC0415

        np.random.seed(seed)  # noqa: NPY002 - the generator that it draws from
        # Values are public: the transformer sees all that are declared, and no record.
        every = np.arange(max(sizes.values()))
        declared = pd.DataFrame({column: every % size for column, size in sizes.items()})
        transformer = TableTransformer([LabelTransformer(nullable=False) for _ in sizes])
        transformer.fit(declared)
        model: Any = getattr(import_module(module), name)(epsilon=epsilon, delta=delta)
        model.fit(table, transformer=transformer)
        return pd.DataFrame(model.sample(len(table)))

    return make


PACKAGES: dict[str, dict[str, Maker]] = {
    "dpmm": {
        "MST": _dpmm("MSTPipeline"),
        "AIM": _dpmm("AIMPipeline"),
        "PrivBayes": _dpmm("PrivBayesPipeline"),
    },
    "smartnoise-synth": {
        "MST": _smartnoise("snsynth.mst", "MSTSynthesizer"),
        "AIM": _smartnoise("snsynth.aim", "AIMSynthesizer"),
    },
}


def makers() -> dict[str, Maker]:
    """What can be run here, by names with the version of the package."""
    found = {}
    for package, mechanisms in PACKAGES.items():
        try:
            named = f"{package} {version(package)}"
        except PackageNotFoundError:
            continue
        found |= {f"{name} of {named}": make for name, make in mechanisms.items()}
    return found


def main() -> None:
    """Make rows as they are asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--list", action="store_true")
    parser.add_argument("name", nargs="?")
    parser.add_argument("asked", type=Path, nargs="?", help="codes, sizes, epsilon, delta and seed")
    parser.add_argument("made", type=Path, nargs="?")
    parser.add_argument("--seconds", type=int, help="of the processor, after which it is ended")
    arguments = parser.parse_args()
    if arguments.list:
        print(json.dumps(list(makers())))
        return
    if arguments.seconds is not None:
        resource.setrlimit(resource.RLIMIT_CPU, (arguments.seconds, arguments.seconds + 5))
    warnings.simplefilter("ignore")  # theirs, about each other
    asked = np.load(arguments.asked)
    sizes = {f"c{place}": int(size) for place, size in enumerate(asked["sizes"])}
    table = pd.DataFrame(asked["codes"], columns=list(sizes))
    make = makers()[arguments.name]
    epsilon, delta, seed = float(asked["epsilon"]), float(asked["delta"]), int(asked["seed"])
    started = time.process_time()
    rows = make(table, sizes, epsilon, delta, seed)
    seconds = time.process_time() - started
    rows.columns = pd.Index(list(sizes)) if len(rows.columns) == len(sizes) else rows.columns
    np.savez(arguments.made, codes=rows[list(sizes)].to_numpy(np.int64), seconds=seconds)


if __name__ == "__main__":
    main()
