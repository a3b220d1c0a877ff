"""What commands print with --json keeps the fields it had: scripts rely on them."""

from __future__ import annotations

import json
from typing import Any

import pandas as pd
import pytest
from typer.testing import CliRunner

import eke
from eke.cli.program import app

RECEIPT = {"question", "confidence", "source", "measure", "cost", "steps", "remaining", "caveats"}
FIELDS = {
    "ask number": {"value", "low", "high", *RECEIPT},
    "ask table": {"columns", "rows", *RECEIPT},
    "preview": {
        *("question", "within", "confidence", "action", "cost", "known", "narrowest", "measure"),
        *("remaining", "first_step"),
    },
    "budget": {"measure", "limit", "spent", "remaining", "yours"},
    "plan": {
        *("measure", "budget", "cost", "remaining", "affordable", "tables", "questions"),
        *("answers", "rmse", "sections"),
    },
    "release": {"measure", "cost", "remaining", "sequence", "strategy", "rmse", "tables"},
}
"""Those of version 0.1; a later one may have more."""
TABLE = {"attributes", "along", "answers", "largest_error", "labels", "values"}
COMMANDS = {
    "ask number": ["ask", "SELECT COUNT(*) FROM t", "-w", "40"],
    "ask table": ["ask", "SELECT sex, COUNT(*) AS n FROM t GROUP BY sex", "-w", "40"],
    "preview": ["preview", "SELECT COUNT(*) FROM t", "-w", "30"],
    "budget": ["budget"],
    "plan": ["plan", "--marginals", "1", "--budget", "0.1"],
    "release": ["release", "--marginals", "1", "--budget", "0.1", "--yes"],
}


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("printed") / "t.eke"
    table = pd.DataFrame({"sex": ["F", "M"] * 40, "age": [20, 30, 40, 50] * 20})
    source = path.with_suffix(".csv")
    table.to_csv(source, index=False)
    domain = eke.Domain(sex=eke.Categorical("F", "M"), age=eke.Integer(0, 99))
    eke.create(path, eke.CsvFile(source), domain, epsilon=5.0)
    return str(path)


@pytest.mark.parametrize("name", COMMANDS)
def test_fields_stay(name: str, dataset: str) -> None:
    command, *options = COMMANDS[name]
    done = CliRunner().invoke(app, [command, dataset, *options, "--json"])
    assert done.exit_code == 0, done.output
    document: dict[str, Any] = json.loads(done.stdout)
    assert document.keys() >= FIELDS[name]
    for table in document["tables"] if name == "release" else []:
        assert table.keys() >= TABLE
    for row in document["rows"] if name == "ask table" else []:
        assert row["n"].keys() >= {"value", "low", "high"}
