"""`eke serve`, `eke token` and `eke ask --server`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import eke
from eke.service import Access, Settings, create_app, open_datasets
from tests.command_line import Run
from tests.service import listening

SQL = "SELECT COUNT(*) FROM people"


def test_one_request_in_process(dataset: Path, run: Run) -> None:
    found = run("serve", dataset, "--get", f"/api/v1/datasets/{dataset.stem}/budget")
    assert found.code == 0
    assert found.json["measure"] == "epsilon"
    missing = run("serve", dataset, "--get", "/api/v1/nowhere")
    assert missing.code == 1
    assert missing.json["status"] == 404
    named = run("serve", f"mine={dataset}", "--get", "/api/v1/datasets")
    assert [one["name"] for one in named.json["datasets"]] == ["mine"]


def test_a_folder_is_served(dataset: Path, run: Run) -> None:
    found = run("serve", "--folder", dataset.parent, "--get", "/api/v1/datasets")
    assert dataset.stem in [one["name"] for one in found.json["datasets"]]


def test_tokens_are_made_listed_and_revoked(tmp_path: Path, run: Run) -> None:
    access = ("--access", tmp_path / "access.db")
    made = run("token", "new", "cleo", "--role", "curator", *access)
    assert made.code == 0
    assert made.out.startswith("eke_")
    assert "not shown again" in made.err
    more = run("token", "new", "ann", "--datasets", "people", "--days", 30, *access, "--json")
    assert more.json["role"] == "analyst"
    listed = run("token", "list", *access, "--json").json
    assert [(one["name"], one["state"]) for one in listed] == [("ann", "valid"), ("cleo", "valid")]
    assert run("token", "revoke", more.json["id"], *access).code == 0
    shown = run("token", "list", *access).out
    assert "revoked  analyst  ann until" in shown
    assert more.json["token"] not in shown
    for words in (
        ("new", "cleo", "--role", "analyst"),
        ("revoke", "000000000000"),
        ("new", "a b"),
        ("new", "zoe", "--days", -1),
    ):
        assert run("token", *words, *access).code == 1
    for wrong in (("new",), ("list", "cleo"), ("revoke",)):
        assert run("token", *wrong, *access).code == 2


def test_a_server_without_accounts_does_not_start(dataset: Path, tmp_path: Path, run: Run) -> None:
    found = run("serve", dataset, "--access", tmp_path / "none.db")
    assert found.code == 1
    assert "eke token new" in found.err
    assert not (tmp_path / "none.db").exists()
    assert run("serve").code == 2


def test_asking_a_server(dataset: Path, tmp_path: Path, run: Run) -> None:
    access = Access(tmp_path / "access.db")
    access.add(eke.service.Account("ann", "analyst"))
    token = access.new_token("ann").text
    app = create_app(open_datasets([str(dataset)], None), access, Settings())
    with listening(app) as url:
        words = ("ask", dataset.stem, SQL, "-w", 60, "--server", url)
        shown = run(*words, EKE_TOKEN=token)
        assert shown.code == 0
        assert "paid" in shown.out.lower() or "free" in shown.out.lower()
        found = run(*words, "--json", EKE_TOKEN=token).json
        assert found["source"] == "history"
        refused = run("ask", dataset.stem, SQL, "-w", 0.001, "--server", url, EKE_TOKEN=token)
        assert refused.code == 3
        assert run(*words).code == 1
        wrong = run(*words, "--json", EKE_TOKEN="eke_wrong")
        assert json.loads(wrong.err)["error"] == "AccessDenied"
    access.close()


def test_missing_extras_are_named(dataset: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise ModuleNotFoundError(name="fastapi")

    monkeypatch.setattr(eke, "import_module", missing)
    monkeypatch.delattr(eke, "service")
    found = run("serve", dataset)
    assert found.code == 1
    assert "pip install 'eke[server]'" in found.err
