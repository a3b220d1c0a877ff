"""`eke serve`, `eke token` and `eke ask --server`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import eke
from eke.service import Access, Settings, create_app, open_datasets
from tests.command_line import Run, Shown
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


def test_releases_and_publications_of_the_shell_are_served(
    dataset: Path, tmp_path: Path, run: Run
) -> None:
    assert run("release", dataset, "--marginals", 1, "-b", 0.2, "--yes").code == 0
    rows = ("publish", dataset, "lda", "--target", "sex", "--epsilon", 0.5, "--key", "k")
    assert run(*rows, "-o", tmp_path / "rows.csv").code == 0
    place = f"/api/v1/datasets/{dataset.stem}"

    def get(path: str) -> Shown:
        found = run("serve", dataset, "--get", f"{place}/{path}")
        assert found.code == 0, found.out
        return found

    number = get("releases").json["releases"][-1]["sequence"]
    hours = get(f"releases/{number}").json["tables"][2]
    assert hours["labels"] == [
        [{"from": 0, "to": 20}, {"from": 20, "to": 40}, {"from": 40, "to": 60}, None]
    ]
    csv = get(f"releases/{number}/tables/2?format=csv").out.splitlines()
    assert csv[0] == "hours,value,standard_error"
    assert len(csv) == 5
    assert get(f"releases/{number}/tables/2?format=parquet").out.startswith("PAR1")
    made = get("publications").json["publications"][-1]["sequence"]
    shown = get(f"publications/{made}").json
    assert shown["mechanism"] == "lda"
    printed = get(f"publications/{made}/rows").out
    assert printed.strip() == (tmp_path / "rows.csv").read_text("utf-8").strip()


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
