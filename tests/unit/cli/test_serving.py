"""`eke serve`, `eke token` and `eke ask --server`."""

from __future__ import annotations

import json
import secrets
from contextlib import closing
from pathlib import Path

import pytest

import eke
from eke.service import Access, Settings, create_app, open_datasets
from eke.service.dataset import read_place
from tests.command_line import Run, Shown
from tests.postgresql_server import Server
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


@pytest.fixture
def address(postgresql: Server) -> str:
    """The address of accounts that are still to be made."""
    return postgresql.address(f"test_{secrets.token_hex(8)}")


@pytest.fixture(params=["sqlite", "postgresql"])
def access(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, str]:
    if request.param == "sqlite":
        return "--access", str(tmp_path / "access.db")
    return "--access", request.getfixturevalue("address")


def test_tokens_are_made_listed_and_revoked(access: tuple[str, str], run: Run) -> None:
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
    given = run("token", "set", "cleo", "eke.within=100", "eke.spend=OFF", *access, "--json").json
    assert given == {"name": "cleo", "settings": {"eke.spend": "off", "eke.within": "100"}}
    assert run("token", "set", "cleo", "eke.within=much", *access).code == 1
    assert run("token", "set", "cleo", "within", *access).code == 1
    assert run("token", "set", "nobody", *access).code == 1
    assert run("token", "set", "cleo", *access).err == "cleo begins with no settings.\n"
    for wrong in (("new",), ("list", "cleo"), ("revoke",), ("copy",), ("new", "zoe", "a=b")):
        assert run("token", *wrong, *access).code == 2


def test_accounts_move_into_postgresql(address: str, tmp_path: Path, run: Run) -> None:
    old, new = ("--access", tmp_path / "access.db"), ("--access", address)
    made = run("token", "new", "cleo", "--role", "curator", *old, "--json").json
    found = run("token", "copy", tmp_path / "access.db", *new)
    assert (found.code, found.err.strip()) == (0, "Copied; accounts: 1, tokens: 1.")
    assert run("token", "list", *new, "--json").json == run("token", "list", *old, "--json").json
    with closing(Access(address)) as accounts:
        assert accounts.by_token(made["token"]) is not None
    again = run("token", "copy", tmp_path / "access.db", *new, "--json")
    assert again.json == {"accounts": 0, "tokens": 0}
    missing = run("token", "copy", tmp_path / "none.db", *new)
    assert missing.code == 1
    assert not (tmp_path / "none.db").exists()


def test_an_empty_place_in_postgresql_starts_no_server(
    dataset: Path, address: str, run: Run
) -> None:
    found = run("serve", dataset, "--access", address.replace("eke@", "eke:hidden@"))
    assert found.code == 1
    assert "eke token new" in found.err
    assert "hidden" not in found.err
    away = run("token", "list", "--access", "postgresql://eke:hidden@127.0.0.1:1/b", "--json")
    assert away.code == 1
    assert "start the server" in json.loads(away.err)["message"]
    assert "hidden" not in away.err


def test_datasets_have_names() -> None:
    for text, name in (
        ("folder/people.eke", "people"),
        ("mine=folder/people.eke", "mine"),
        ("postgresql://eke@db/ledgers?dataset=people", "people"),
        ("postgresql://eke@db/ledgers?host=%2Ftmp&dataset=people&sslmode=require", "people"),
        ("postgresql://eke@db/ledgers", "ledgers"),
        ("mine=postgresql://eke@db/ledgers?dataset=people", "mine"),
    ):
        assert read_place(text) == (name, text.removeprefix("mine="))


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
    app = create_app(open_datasets([str(dataset)], None), access, Settings(answer_step=0.0))
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
