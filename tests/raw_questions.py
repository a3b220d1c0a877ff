"""Raw questions: random SQL over real tables under domains that fit them badly.

The truth is what DuckDB says of the raw rows, before any domain. An answer may differ from it only
if it says why: `unexcused` finds those that do not.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
from sklearn import datasets

import eke
from eke.domain import Attribute, Binned, Categorical, Integer, Numeric, Replace, Rule
from eke.errors import QueryError, Refused, SqlError

DATA = Path(__file__).resolve().parents[1] / "data"
TABLES = ("adult", "census", "iris", "wine", "diabetes")
_ROWS = 1500
_CLOSE = 1e-6
ALLOWED = "; the intervals allow for that"


def raw_table(name: str) -> pd.DataFrame:
    """A few columns of a real table, with their own missing values and with some more."""
    if name == "adult":
        columns = {0: "age", 1: "workclass", 4: "schooling", 9: "sex", 12: "hours", 10: "gain"}
        frame = pd.read_csv(DATA / "adult.data.gz", header=None, skipinitialspace=True)
        frame = frame[list(columns)].rename(columns=columns).replace("?", None)
        frame["gain"] //= 100
    elif name == "census":
        frame = pd.read_csv(DATA / "census_income_kdd_9attr.csv.gz").iloc[:, :6]
        frame.columns = pd.Index([f"c{place}" for place in range(6)])
    else:
        loaded = getattr(datasets, f"load_{name}")(as_frame=True).frame
        frame = loaded.iloc[:, [0, 1, 2, 3, -1]]
        frame.columns = pd.Index(["a", "b", "c", "d", "kind"])
    frame = frame.sample(min(_ROWS, len(frame)), random_state=1).reset_index(drop=True)
    holes = np.random.default_rng(2).random(len(frame)) < 0.03
    first = frame.columns[0]
    frame[first] = frame[first].astype("float64").mask(holes)
    return frame


def hostile_domain(frame: pd.DataFrame, rng: random.Random, hostile: float) -> eke.Domain:
    """A domain whose columns fit, or are cut, clamped, replaced, rounded or dropped."""
    columns = {name: rng.random() >= hostile for name in frame.columns}
    return eke.Domain({name: _attribute(frame[name], f, rng) for name, f in columns.items()})


def _attribute(column: pd.Series[Any], fits: bool, rng: random.Random) -> Attribute:
    present = column.dropna()
    missing = len(present) < len(column)
    null: Any = "bucket" if missing else "never"
    if not fits and missing:
        null = rng.choice(["drop", "bucket"])
    if not pd.api.types.is_numeric_dtype(column):
        values = sorted(set(present))
        if fits:
            return Categorical(*values, null=null, outside="never")
        listed = values[: max(1, len(values) - 2)]
        outside: Rule = rng.choice(["drop", "bucket", Replace(listed[0])])
        return Categorical(*listed, null=null, outside=outside)
    low, high = float(present.min()), float(present.max())
    whole = bool((present == present.round()).all())
    if fits and whole and high - low < 100_000:
        return Integer(int(low), int(high), null=null, outside="never")
    width = high - low
    if fits or rng.random() < 0.3:
        step = 0.01 if not whole else 1.0
        first = np.floor(low / step) * step
        steps = int(np.ceil((high - first) / step))
        last = round(first + steps * step, 2)
        on_grid = bool(np.allclose(present, present.round(2), rtol=0, atol=1e-9))
        rounded: Rule = "never" if on_grid else "clamp"
        return Numeric(round(first, 2), last, step, null=null, outside=rounded)
    if rng.random() < 0.5:
        edges = sorted({round(low + width * share, 2) for share in (0.0, 0.2, 0.5, 1.0)})
        beyond: Rule = rng.choice(["never", "clamp"])
        return Binned([edges[0] - 1, *edges[1:-1], edges[-1] + 1], null=null, outside=beyond)
    middle = int(low + width / 2)
    return Integer(int(low), max(middle, int(low) + 1), null=null, outside="clamp")


def raw_question(frame: pd.DataFrame, domain: eke.Domain, rng: random.Random) -> str:
    """A question in SQL that DuckDB answers from the raw rows as well."""
    numbers = [n for n in frame.columns if pd.api.types.is_numeric_dtype(frame[n])]
    texts = [n for n in frame.columns if n not in numbers]
    what = rng.choice(["COUNT(*)", "SUM({0})", "AVG({0})", "AVG({0})", "2 * AVG({0}) - 1"])
    asked = what.format(rng.choice(numbers))
    conditions = []
    if rng.random() < 0.6:
        name = rng.choice(numbers)
        edges = getattr(domain[name], "edges", None)
        at = (
            rng.choice(edges[:-1])
            if edges
            else round(
                float(frame[name].dropna().sample(1, random_state=rng.randrange(10**6)).iloc[0]), 2
            )
        )
        conditions.append(f"{name} {rng.choice(['>=', '<'])} {at}")
    if texts and rng.random() < 0.5:
        name = rng.choice(texts)
        value = rng.choice(list(domain[name].declared))
        conditions.append(f"{name} {rng.choice(['=', '<>'])} '{value}'")
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    if texts and rng.random() < 0.3:
        key = rng.choice(texts)
        return f"SELECT {key}, {asked} AS x FROM t{where} GROUP BY {key}"
    return f"SELECT {asked} AS x FROM t{where}"


def asked_and_true(
    session: eke.Session, frame: pd.DataFrame, sql: str
) -> tuple[eke.Answer, list[tuple[float, float, float]]] | None:
    """The answer, and (low, high, truth) of each value; None when it is refused."""
    try:
        answer = session.ask(sql, 0.02 if "AVG" in sql else 0.4, confidence=1 - 1e-9)
    except (SqlError, QueryError, Refused):
        return None
    with duckdb.connect() as connection:
        connection.register("t", frame)
        rows = connection.execute(sql).fetchall()
    truths = {tuple(row[:-1]): row[-1] for row in rows}
    found = []
    for key, cells in zip(answer.keys, answer.rows, strict=True):
        cell, truth = cells[-1], truths.get(tuple(key))
        if truth is not None and cell.low is not None:
            found.append((cell.low, cell.high, float(truth)))
    return answer, found


def unexcused(answer: eke.Answer, found: list[tuple[float, float, float]]) -> Iterator[str]:
    """What is wrong with an answer that does not say why."""
    if any(ALLOWED not in caveat for caveat in answer.caveats):
        return
    for low, high, truth in found:
        slack = _CLOSE * max(1.0, abs(truth))
        if not low - slack <= truth <= high + slack:
            yield f"{answer.receipt.question}: {truth} is not in {low} to {high}"
