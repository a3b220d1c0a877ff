"""Superset and `eke serve --pg`: connect, register, draw, refresh; the second time is free."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pandas as pd
import pytest
from playwright.sync_api import Browser, Page, Response, Route, expect

import eke
from eke.service import Access, Account
from tests.chromium import chromium
from tests.flights import ORIGINS, flights
from tests.service import serve_command
from tests.superset import PASSWORD, PLACE, USER, Superset, running_superset

WITHIN = 100
MINUTE = 60_000
MONTHS = 12
CHARTS = 2
DOMAIN = eke.Domain(
    day=eke.Date("2013-01-01", "2013-12-31"),
    origin=eke.Categorical(*ORIGINS),
    delay=eke.Integer(-60, 240),
)


def table(rows: int = 60_000) -> pd.DataFrame:
    """Flights that are rarer in winter, so that there is something to see."""
    every = flights(rows)
    season = 0.7 - 0.3 * np.cos(2 * np.pi * (every["month"] - 1.5) / MONTHS)
    chosen = every[np.random.default_rng(3).random(rows) < season].dropna(subset="dep_delay")
    day = chosen["time_hour"].str[:10]
    return pd.DataFrame({"day": day, "origin": chosen["origin"], "delay": chosen["dep_delay"]})


@dataclass(frozen=True)
class Served:
    """A dataset, its two doors and the token of an account."""

    url: str
    port: int
    token: str

    @property
    def spent(self) -> float:
        place = f"{self.url}/api/v1/datasets/flights/budget"
        budget = httpx.get(place, headers={"Authorization": f"Bearer {self.token}"}).json()
        return float(budget["spent"])

    def address(self, *, spends: bool = True) -> str:
        """What stands in Superset's field for the address."""
        options = f"-c%20eke.within%3D{WITHIN}" + ("" if spends else "%20-c%20eke.spend%3Doff")
        account = f"board:{self.token}"
        return f"postgresql+psycopg2://{account}@127.0.0.1:{self.port}/flights?options={options}"


@contextmanager
def served(folder: Path) -> Iterator[Served]:
    table().to_csv(folder / "flights.csv", index=False)
    eke.create(folder / "flights.eke", folder / "flights.csv", DOMAIN, epsilon=1.0)
    access = Access(folder / "eke-access.db")
    access.add(Account("board", "analyst"))
    token = access.new_token("board").text
    access.close()
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with serve_command("flights.eke", "--pg", f"127.0.0.1:{port}", folder=folder) as (_, url):
        yield Served(url, port, token)


def registered(superset: Superset, place: Served) -> tuple[int, int]:
    """(database, dataset) in Superset, by what its forms send."""
    words = {"database_name": "eke", "sqlalchemy_uri": place.address()}
    superset.post("/api/v1/database/test_connection/", **words)
    database = superset.post("/api/v1/database/", **words, expose_in_sqllab=True)["id"]
    about = f"/api/v1/database/{database}"
    assert "public" in superset.get(f"{about}/schemas/")["result"]
    tables = superset.get(f"{about}/tables/?q=(schema_name:public,force:!t)")["result"]
    assert [listed["value"] for listed in tables] == ["flights"]
    columns = superset.get(f"{about}/table_metadata/?name=flights&schema=public")["columns"]
    assert {column["name"]: column["type"] for column in columns} == {
        "day": "DATE",
        "origin": "TEXT",
        "delay": "BIGINT",
    }
    words = {"schema": "public", "table_name": "flights"}
    made = superset.post("/api/v1/dataset/", database=database, **words)
    dataset = superset.get(f"/api/v1/dataset/{made['id']}")["result"]
    times = [column["column_name"] for column in dataset["columns"] if column["is_dttm"]]
    assert times == ["day"]
    superset.put(f"/api/v1/dataset/{made['id']}/refresh")
    values = superset.get(f"/api/v1/datasource/table/{made['id']}/column/origin/values/")
    assert values["result"] == ORIGINS
    return database, made["id"]


def board(superset: Superset, dataset: int) -> str:
    """A line for each origin by month, and a big number."""
    common = {"datasource": f"{dataset}__table", "adhoc_filters": [], "row_limit": 10_000}
    line = {
        "viz_type": "echarts_timeseries_line",
        "x_axis": "day",
        "time_grain_sqla": "P1M",
        "metrics": ["count"],
        "groupby": ["origin"],
        "show_legend": True,
    }
    number = {
        "viz_type": "big_number_total",
        "metric": "count",
        "subtitle": f"± {WITHIN}, 95 %",
        "y_axis_format": ",d",
    }
    charts = [("Flights a month", 8, {**common, **line}), ("Flights", 4, {**common, **number})]
    return superset.dashboard("Flights of 2013", charts)


class Watched:
    """A page, with what its charts were told."""

    def __init__(self, browser: Browser, url: str) -> None:
        self.url = url.rstrip("/")
        self.page: Page = browser.new_page(base_url=url, viewport={"width": 1280, "height": 600})
        self.page.set_default_timeout(MINUTE)
        self.page.route("**/*", self._stay_here)

    def _stay_here(self, route: Route) -> None:
        """Fonts and counters of visits are elsewhere."""
        if route.request.url.startswith((self.url, "data:", "blob:")):
            route.continue_()
        else:
            route.abort()

    def sign_in(self) -> None:
        form: dict[str, str | float | bool] = {"username": USER, "password": PASSWORD}
        assert self.page.request.post("/login/", form=form).ok
        self.page.goto("/superset/welcome/")
        assert "login" not in self.page.url

    def told(self, act: Any) -> list[Any]:
        """The rows that both charts get after an act, those of the big number first."""
        responses: list[Response] = []

        def heard(response: Response) -> None:
            if "/api/v1/chart/data" in response.url:
                responses.append(response)

        self.page.on("response", heard)
        act()
        deadline = time.monotonic() + 2 * MINUTE / 1000
        while len(responses) < CHARTS:
            assert time.monotonic() < deadline, "the charts did not ask"
            self.page.wait_for_timeout(200)
        self.page.remove_listener("response", heard)
        bodies = [response.json() for response in responses]
        assert all("result" in body for body in bodies), bodies
        return sorted((body["result"][0]["data"] for body in bodies), key=len)


def counts(told: list[Any]) -> np.ndarray:
    """The big number, then those of months and origins in order."""
    number, lines = told
    by_month = [row[origin] for row in sorted(lines, key=day_of) for origin in ORIGINS]
    return np.array([number[0]["count"], *by_month])


def day_of(row: dict[str, float]) -> float:
    return row["day"]


@pytest.mark.long
def test_a_dashboard_of_superset_is_free_to_refresh(tmp_path: Path) -> None:
    (tmp_path / "superset").mkdir()
    with (
        served(tmp_path) as place,
        running_superset(tmp_path / "superset") as superset,
        chromium() as browser,
    ):
        database, dataset = registered(superset, place)
        # As "see table schema" and "samples" do; whatever comes of it, nothing is spent.
        superset.run_sql(database, "SELECT * FROM public.flights LIMIT 100")
        address = board(superset, dataset)
        assert place.spent == 0.0

        watched = Watched(browser, superset.url)
        page = watched.page
        watched.sign_in()
        assert place.spent == 0.0
        first = watched.told(lambda: page.goto(address))
        price = place.spent
        assert 0.0 < price < 1.0
        assert [len(rows) for rows in first] == [1, MONTHS]

        # Refreshing asks the server again; Superset's own cache has no part in it. What the second
        # chart has bought says more about the first.
        refresh = page.get_by_role("button", name="Refresh dashboard")
        second = watched.told(refresh.click)
        assert place.spent == price
        raw = table()
        by_month = raw.groupby([raw["day"].str[:7], "origin"]).size()
        truth = np.array([len(raw), *by_month.to_list()])
        # Beyond five times the half-width lies one of three million such numbers.
        assert abs(counts(first) - truth).max() < 5 * WITHIN
        assert abs(counts(second) - truth).max() < 5 * WITHIN

        # From then on numbers stay as they are, also for an account that must not spend.
        superset.put(f"/api/v1/database/{database}", sqlalchemy_uri=place.address(spends=False))
        assert watched.told(refresh.click) == second
        refused = superset.run_sql(database, "SELECT COUNT(*) FROM flights WHERE delay > 60")
        assert "not free" in refused.text
        # The pane of samples counts the rows first, which is a question like any other.
        words = f"force=true&datasource_type=table&datasource_id={dataset}&per_page=50&page=1"
        chosen = {"filters": [{"col": "delay", "op": ">", "val": 120}]}
        samples = page.request.post(f"/datasource/samples?{words}", data=chosen)
        assert "not free" in samples.text()
        assert place.spent == price

        pictures = PLACE / "pictures"  # docs/how-to/pictures/superset.png is one of them
        pictures.mkdir(exist_ok=True)
        expect(page.locator("canvas").first).to_be_visible(timeout=MINUTE)
        page.mouse.move(640, 590)
        page.wait_for_timeout(3_000)  # lines are drawn slowly
        page.screenshot(path=pictures / "superset.png")
        page.set_viewport_size({"width": 480, "height": 900})
        page.wait_for_timeout(3_000)
        page.screenshot(path=pictures / "superset-narrow.png")
