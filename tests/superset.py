"""Superset in an environment of its own, with a folder of its own, for tests."""

from __future__ import annotations

import hashlib
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

ROOT = Path(__file__).resolve().parents[1]
PLACE = ROOT / ".superset"
PINS = ROOT / "tests" / "fixtures" / "superset-constraints.txt"
# Superset 6.1 imports the last two and does not name them.
WANTED = ("apache-superset", "psycopg2-binary", "cachetools", "rich")
USER = PASSWORD = "admin"
CONFIG = """\
SECRET_KEY = "only of this test, which no other can reach"
SQLALCHEMY_DATABASE_URI = "sqlite:///{folder}/superset.sqlite?check_same_thread=false"
WTF_CSRF_ENABLED = False
TALISMAN_ENABLED = False
RATELIMIT_ENABLED = False
"""


@dataclass(frozen=True)
class Superset:
    """A running Superset, and somebody who has signed in."""

    url: str
    client: httpx.Client

    def get(self, path: str) -> Any:
        return _body(self.client.get(path))

    def post(self, path: str, **body: Any) -> Any:
        return _body(self.client.post(path, json=body))

    def put(self, path: str, **body: Any) -> Any:
        return _body(self.client.put(path, json=body))

    def run_sql(self, database: int, sql: str) -> httpx.Response:
        """The response of SQL Lab to a statement, which may be an error."""
        body = {
            "database_id": database,
            "sql": sql,
            "schema": "public",
            "client_id": hashlib.sha256(sql.encode()).hexdigest()[:10],
        }
        return self.client.post("/api/v1/sqllab/execute/", json=body)

    def dashboard(self, title: str, charts: Sequence[tuple[str, int, Mapping[str, Any]]]) -> str:
        """The address of a dashboard of one row: (name, width of twelve, form) of each chart."""
        number = self.post("/api/v1/dashboard/", dashboard_title=title, published=True)["id"]
        above = ["ROOT_ID", "GRID_ID"]
        cells: dict[str, Any] = {}
        for name, width, form in charts:
            source, _, kind = form["datasource"].partition("__")
            made = self.post(
                "/api/v1/chart/",
                slice_name=name,
                viz_type=form["viz_type"],
                datasource_id=int(source),
                datasource_type=kind,
                params=json.dumps(form),
                dashboards=[number],
            )
            place = f"CHART-{made['id']}"
            meta = {"chartId": made["id"], "width": width, "height": 50}
            cells[place] = _box("CHART", place, [], [*above, "ROW-1"], **meta)
        layout = {
            "DASHBOARD_VERSION_KEY": "v2",
            "ROOT_ID": _box("ROOT", "ROOT_ID", ["GRID_ID"], []),
            "GRID_ID": _box("GRID", "GRID_ID", ["ROW-1"], ["ROOT_ID"]),
            "ROW-1": _box("ROW", "ROW-1", list(cells), above, background="BACKGROUND_TRANSPARENT"),
            **cells,
        }
        self.put(f"/api/v1/dashboard/{number}", position_json=json.dumps(layout))
        return f"/superset/dashboard/{number}/"


def _box(
    kind: str, name: str, children: list[str], parents: list[str], **meta: Any
) -> dict[str, Any]:
    return {"type": kind, "id": name, "children": children, "parents": parents, "meta": meta}


def _body(response: httpx.Response) -> Any:
    assert response.is_success, f"{response.request.url}: {response.text[:1000]}"
    return response.json()


def environment() -> Path:
    """The programs of Superset; installed when they are missing or the pins have changed."""
    pins = PINS.read_text("utf-8")
    stamp = PLACE / "installed"
    if not stamp.exists() or stamp.read_text("utf-8") != pins:
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(PLACE)], check=True)
        words = ["install", "-q", "--disable-pip-version-check", "--no-compile", "-c", str(PINS)]
        installed = subprocess.run(
            [str(PLACE / "bin" / "python"), "-m", "pip", *words, *WANTED],
            capture_output=True,
            text=True,
            check=False,
        )
        if installed.returncode:
            pytest.fail(
                f"Superset could not be installed into {PLACE.name}; this needs a package index "
                f"and a Python that these versions are made for (3.11):\n{installed.stderr[-3000:]}"
            )
        stamp.write_text(pins, "utf-8")
    return PLACE / "bin"


@contextmanager
def running_superset(folder: Path) -> Iterator[Superset]:
    """Superset on a free port, with its database in a folder; stopped at the end."""
    programs = environment()
    config = folder / "superset_config.py"
    config.write_text(CONFIG.format(folder=folder), "utf-8")
    variables = {
        **{name: value for name, value in os.environ.items() if not name.startswith("PYTHON")},
        "HOME": str(folder),
        "FLASK_APP": "superset",
        "SUPERSET_HOME": str(folder),
        "SUPERSET_CONFIG_PATH": str(config),
    }
    person = ("--firstname", "A", "--lastname", "B", "--email", "a@example.org")
    account = ("--username", USER, "--password", PASSWORD)
    for words in (("db", "upgrade"), ("fab", "create-admin", *account, *person), ("init",)):
        done = subprocess.run(
            [str(programs / "superset"), *words],
            env=variables,
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"superset {' '.join(words)}:\n{done.stderr[-3000:]}"
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    style = ("-w", "1", "-k", "gthread", "--threads", "8", "--timeout", "600")
    with (folder / "superset.log").open("w", encoding="utf-8") as log:
        started = subprocess.Popen(
            [programs / "gunicorn", *style, "-b", f"127.0.0.1:{port}", "superset.app:create_app()"],
            env=variables,
            cwd=folder,
            stderr=log,
            stdout=log,
        )
        try:
            with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=600) as client:
                yield _signed_in(client, started)
        finally:
            started.terminate()
            started.wait()


def _signed_in(client: httpx.Client, started: subprocess.Popen[bytes]) -> Superset:
    while True:
        assert started.poll() is None, "Superset has ended; see superset.log"
        try:
            client.get("/health").raise_for_status()
            break
        except httpx.HTTPError:
            time.sleep(0.5)
    account = {"username": USER, "password": PASSWORD, "provider": "db"}
    token = _body(client.post("/api/v1/security/login", json=account))["access_token"]
    client.headers["Authorization"] = f"Bearer {token}"
    return Superset(str(client.base_url), client)
