"""Flights: a made-up table in the shape of a well-known one, with all that is awkward about it.

Carriers and destinations of very unequal sizes, delays with a long tail, cancelled flights without
times, planes that fly often, a column of dates.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

CARRIERS = ["UA", "B6", "EV", "DL", "AA", "MQ", "US", "9E"]
CARRIERS += ["WN", "VX", "FL", "AS", "F9", "YV", "HA", "OO"]
ORIGINS = ["EWR", "JFK", "LGA"]
DESTINATIONS = [f"{a}{b}{c}" for a in "ABCDEF" for b in "LMNOPR" for c in "XYZ"][:100]


def flights(rows: int, seed: int = 2013) -> pd.DataFrame:
    """A year of flights."""
    rng = np.random.default_rng(seed)
    carriers = rng.choice(len(CARRIERS), rows, p=_unequal(len(CARRIERS), 1.5))
    day_of_year = rng.integers(0, 365, rows)
    days = pd.Timestamp("2013-01-01") + pd.to_timedelta(day_of_year, unit="D")
    hours, minutes = rng.choice(np.arange(5, 24), rows), rng.choice(np.arange(0, 60, 5), rows)
    distances = rng.choice(np.arange(80, 5000, 10), len(DESTINATIONS))
    places = rng.choice(len(DESTINATIONS), rows, p=_unequal(len(DESTINATIONS), 1.0))
    delays = np.round(rng.lognormal(2.5, 1.2, rows) - 18).clip(-43, 1300)
    air_times = np.round(distances[places] / 8 + rng.normal(20, 5, rows)).clip(15, 700)
    made_up = np.round(rng.normal(5, 15, rows))
    scheduled = hours * 60 + minutes
    cancelled = rng.random(rows) < 0.025
    diverted = cancelled | (rng.random(rows) < 0.004)
    planes = rng.choice(600, rows, p=_unequal(600, 0.6))
    return pd.DataFrame(
        {
            "year": 2013,
            "month": days.month,
            "day": days.day,
            "dep_time": _missing(_clock(scheduled + delays), cancelled),
            "sched_dep_time": _clock(scheduled),
            "dep_delay": _missing(delays, cancelled),
            "arr_time": _missing(_clock(scheduled + delays + air_times), diverted),
            "sched_arr_time": _clock(scheduled + air_times + made_up),
            "arr_delay": _missing((delays - made_up).clip(-86, 1280), diverted),
            "carrier": np.array(CARRIERS)[carriers],
            "flight": rng.integers(1, 8500, rows),
            "tailnum": [f"N{plane:05}" for plane in planes],
            "origin": np.array(ORIGINS)[rng.choice(3, rows, p=[0.36, 0.33, 0.31])],
            "dest": np.array(DESTINATIONS)[places],
            "air_time": _missing(air_times, diverted),
            "distance": distances[places],
            "hour": hours,
            "minute": minutes,
            "time_hour": (days + pd.to_timedelta(hours, unit="h")).strftime("%Y-%m-%dT%H:00:00Z"),
        }
    )


def _unequal(count: int, power: float) -> np.ndarray:
    shares = 1.0 / np.arange(1, count + 1) ** power
    return np.asarray(shares / shares.sum())


def _clock(minutes: np.ndarray) -> np.ndarray:
    """517 for 5:17, as timetables write it."""
    whole = np.asarray(minutes).astype(np.int64) % 1440
    return np.asarray(whole // 60 * 100 + whole % 60)


def _missing(values: np.ndarray, where: np.ndarray) -> pd.Series:
    return pd.Series(values).astype("Int64").mask(where)
