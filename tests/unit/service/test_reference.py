"""The HTTP reference: its addresses, roles, statuses and shapes are those of the code."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import eke
from eke.service import Reply
from eke.service.app import _FAILURES
from eke.service.failure import STATUS
from eke.service.job import _BEAT_SECONDS, MOST_OF_ONE_ACCOUNT, MOST_WAITING
from eke.service.job_store import LEASE_SECONDS
from eke.service.rate import Rate
from eke.service.settings import Settings
from eke.service.storage.postgresql import DEFAULT_SCHEMA
from tests.service import BY_SEX, COUNT, DOMAIN, Server, finished
from tests.unit.cli.test_reference import same_shape

DOCS = Path(__file__).resolve().parents[3] / "docs"
PAGE = (DOCS / "reference" / "http.md").read_text("utf-8")
DEPLOY = (DOCS / "how-to" / "deploy.md").read_text("utf-8")
SHAPES = {
    name: json.loads(text)
    for name, text in re.findall(r"<!-- shape: (.+?) -->\n```json\n(.*?)```", PAGE, re.DOTALL)
}


def loose(example: Any) -> Any:
    """The example, with null for what has the types of the attributes."""
    text = json.dumps(example)
    free = {"labels", "values", "standard_error", "first_rows", "options"}
    return json.loads(
        text, object_hook=lambda one: {k: None if k in free else v for k, v in one.items()}
    )


def test_addresses_and_roles_are_those_of_the_code(server: Server) -> None:
    listed = re.findall(r"^\| (GET|POST|PUT|DELETE) \| `(.+?)` \| (.+?) \|", PAGE, re.MULTILINE)
    declared = {
        (method.upper(), path, ", ".join(operation.get("x-roles", ["everyone"])))
        for path, methods in server.app.openapi()["paths"].items()
        for method, operation in methods.items()
    }
    assert set(listed) == declared
    assert len(listed) == len(declared)


def test_statuses_are_those_of_the_code() -> None:
    listed = dict(re.findall(r"^\| (\d{3}) \| (.+?) \|$", PAGE, re.MULTILINE))
    assert listed == _FAILURES
    assert {str(status) for _, status in STATUS} <= set(listed)


def test_shapes_are_what_comes(server: Server) -> None:
    body, place = {"sql": BY_SEX, "within": 40}, "/api/v1/datasets/people"
    found: dict[str, Any] = {
        "number": server.ask(COUNT, 40).json(),
        "table": server.ask(BY_SEX, 40).json(),
        "preview": server.call("POST", "/api/v1/datasets/people/preview", "ann", body).json(),
    }
    about = f"{place}/claim"
    found |= {
        "claim": server.call("POST", about, "ann", {"sql": COUNT, "claim": "> 9"}),
        "claim by rows": server.call("POST", about, "ann", {"sql": BY_SEX, "claim": "> 9"}),
    }
    synthetic = {"mechanism": "max_entropy", "epsilon": 0.2, "options": {}}
    made = server.call("POST", f"{place}/publications", "ann", synthetic).json()
    about = f"{place}/publications/{finished(server, made)}/estimate"
    found["rows estimate"] = server.call("POST", about, "ann", {"sql": COUNT}).json()
    found["advice"] = server.call("GET", f"{place}/advice", "cleo").json()
    linear = eke.marginal("sex").on(DOMAIN).to_document()
    wanted = {"workload": {"all_marginals": 1}, "budget": 0.2}
    rows = {"mechanism": "lda", "epsilon": 0.2, "options": {"target": "sex"}}
    job = server.call("POST", f"{place}/publications", "ann", rows).json()
    found |= {
        "marginal": server.call("POST", f"{place}/ask", "ann", {"query": linear, "within": 90}),
        "plan": server.call("POST", f"{place}/plans", "ann", wanted),
        "release": server.call("POST", f"{place}/releases", "ann", wanted),
        "job": job,
        "answers": {
            **(kept := server.call("GET", f"{place}/answers", "ann").json()),
            "answers": kept["answers"][-1:],
        },
        "publication": server.call("GET", f"{place}/publications/{finished(server, job)}", "ann"),
    }
    found = {name: one.json() if isinstance(one, Reply) else one for name, one in found.items()}
    (row,), rows = SHAPES["table"]["rows"], found["table"]["rows"]
    assert all(same_shape(a, b) for one in rows for a, b in zip(row, one, strict=True))
    for name, document in found.items():
        example = {**SHAPES[name], "rows": []} if name == "table" else loose(SHAPES[name])
        assert same_shape(example, document), (name, document)
    wrong = server.ask(f"{COUNT} WHERE agee > 40", 40).json()
    assert wrong == SHAPES["error"]
    assert set(SHAPES) == {*found, "error"}


def test_bounds_are_those_of_the_code() -> None:
    settings = Settings()
    for figure in (
        f"Bodies: {settings.largest_body // 1024} KiB",
        f"{settings.requests_per_minute} a minute and account",
        f"wrong tokens {settings.failures_per_minute} a minute",
        f"Browser sessions: {settings.session_hours:g} hours",
        f"says every {_BEAT_SECONDS:g} seconds that it lives",
        f"has not for {LEASE_SECONDS:g} seconds",
        f"{MOST_OF_ONE_ACCOUNT} jobs an account and\n{MOST_WAITING} a server",
        f"schema `{DEFAULT_SCHEMA}`",
    ):
        assert figure in DEPLOY
    assert Rate(settings.requests_per_minute).take("ann") == 0.0
