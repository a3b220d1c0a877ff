"""`eke.check`: the same as the data layer counts, for the curator, and reached by nobody else."""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd
import pytest

import eke
from eke.data import check_table
from eke.domain.fate import Fate
from eke.errors import DataError, DomainError, PrivacyError
from eke.session import check_dataset
from tests.unit.session.conftest import DOMAIN

SOURCE = Path(eke.__file__ or "").parent


def test_a_table_is_checked_as_it_would_be_counted(folder, people):
    unit = eke.Unit("person", rows=1)
    eke.write_domain(DOMAIN, folder / "domain.yaml")
    found = eke.check(people, folder / "domain.yaml", unit=unit)
    assert found == eke.check(people, DOMAIN, unit=unit) == check_table(people, DOMAIN, unit)
    assert found.rows == len(people)
    assert found.kept == found.rows - found.dropped - found.truncated < found.rows


def test_a_dataset_is_checked_with_its_own_domain_and_unit(folder, people):
    unit = eke.Unit("person", rows=1)
    people.to_csv(folder / "people.csv", index=False)
    session = eke.create(folder / "a.eke", folder / "people.csv", DOMAIN, epsilon=1.0, unit=unit)
    before = session.ledger_entries()
    assert check_dataset(folder / "a.eke") == eke.check(folder / "people.csv", DOMAIN, unit=unit)
    assert session.ledger_entries() == before, "a look leaves nothing behind"


def test_what_cannot_be_checked_says_so(session, folder, people):
    with pytest.raises(DataError, match="in memory"):
        check_dataset(folder / "people-1.eke")
    with pytest.raises(PrivacyError, match=r"eke\.Unit"):
        eke.check(people, DOMAIN, unit="person")  # type: ignore[arg-type]


def test_only_the_curators_commands_reach_a_check():
    """Nothing that serves analysts, releases or stores names it."""
    naming = re.compile(r"check_table|check_dataset|TableCheck|eke\.check\b|import check\b")
    files = {
        str(path.relative_to(SOURCE))
        for path in SOURCE.rglob("*.py")
        if naming.search(path.read_text("utf-8"))
    }
    assert files == {
        *("data/__init__.py", "session/__init__.py"),
        *("data/checking.py", "data/table_check.py", "session/checking.py"),
        "session/opening.py",  # a table that contradicts its domain makes no dataset
        *("cli/program.py", "cli/check.py", "cli/init.py", "cli/verify.py"),
    }


@pytest.mark.parametrize(
    ("column", "attribute", "sentence"),
    [
        ([1, 2, None], eke.Integer(0, 9, "never", "never"), "missing values"),
        ([1, 2, 11], eke.Integer(0, 9, "never", "never"), "not declared"),
        ([1, 2, 2.5], eke.Integer(0, 9, "never", "never"), "not declared"),
        ([1, 2, 2.3], eke.Numeric(0, 9, 0.5, "never", "never"), "finer step"),
        (["a", "b"], eke.Categorical("a", null="never", outside="never"), "not declared"),
    ],
)
def test_a_table_that_contradicts_its_domain_makes_no_dataset(folder, column, attribute, sentence):
    table, domain = pd.DataFrame({"x": column}), eke.Domain(x=attribute)
    with pytest.raises(DomainError, match=f"{sentence}.*Nothing was created"):
        eke.create(folder / "x.eke", table, domain, epsilon=1)
    assert not (folder / "x.eke").exists()
    with pytest.raises(DomainError, match=sentence):
        eke.create(folder / "x.eke", table, domain, epsilon=1, check=eke.check(table, domain))
    kept = table[[attribute.fate(value) is Fate.DECLARED for value in column]]
    assert eke.create(folder / "x.eke", kept, domain, epsilon=1).domain == domain
