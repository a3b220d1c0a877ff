"""The wheel: it holds what it should, and carries the tutorial and the demo without a checkout."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tutorial import INSTALLING, STEPS, check, code, lay_out
from tests.wheel import ROOT, Environment, build, held

# What extras are for; the base must do without.
ONLY_IN_EXTRAS = {"fastapi", "httpx", "polars", "psycopg", "pyspark", "scikit-learn", "uvicorn"}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    return Environment(tmp_path_factory.mktemp("environment"), wheel)


def test_it_holds_every_module_and_the_console_and_nothing_else(wheel: Path) -> None:
    names = held(wheel)
    sources = {
        str(path.relative_to(ROOT / "src"))
        for path in (ROOT / "src" / "eke").rglob("*")
        if path.is_file() and (path.suffix == ".py" or "console" in path.parts)
    }
    assert any(name.endswith("service/console/app.js") for name in sources), "positive control"
    outside = {name for name in names if not name.startswith("eke/")}
    assert set(names) - outside == sources | {"eke/py.typed"}
    data = {name.partition(".data/data/")[2] for name in outside if ".data/" in name}
    assert data == {"share/eke/adult.data.gz", "share/eke/README.md"}
    assert {name.split("/")[0].rpartition(".")[2] for name in outside} == {"data", "dist-info"}


@pytest.mark.long
def test_the_demo_needs_no_checkout(environment: Environment, tmp_path: Path) -> None:
    assert not environment.names & ONLY_IN_EXTRAS
    assert {"numpy", "duckdb"} <= environment.names, "positive control"
    found = environment.call("eke", "demo", "--folder", "demo", "--json", folder=tmp_path)
    assert found.code == 0, found.err
    assert found.json["asked"] == 12
    assert (tmp_path / "demo" / "report.html").is_file()


@pytest.mark.long
def test_what_an_extra_brings_is_named_when_it_is_missing(
    environment: Environment, tmp_path: Path
) -> None:
    found = environment.call("eke", "token", "list", "--access", "a.db", folder=tmp_path)
    assert found.code == 1
    assert "pip install 'eke[server]'" in " ".join(found.err.split())
    found = environment.call("python", "-c", "import eke; eke.connect", folder=tmp_path)
    assert "httpx is missing; install it with pip install 'eke[client]'" in found.err


@pytest.mark.long
def test_the_tutorial_runs(environment: Environment, tmp_path: Path) -> None:
    lay_out(tmp_path)
    variables: dict[str, str] = {}
    for step in STEPS[len(INSTALLING) :]:
        if step.words[0] == "export":
            variables |= dict([step.words[1].split("=")])
        else:
            check(step, environment.call(*step.words, folder=tmp_path, **variables))
    found = environment.call("python", "-c", code(), folder=tmp_path)
    assert found.code == 0, found.err
    assert "AVG(hours)_low" in found.out
