"""The public tables of `data/` as the tests open them."""

from __future__ import annotations

from eke.data import CsvFile
from eke.domain import Binned, Categorical, Domain, Integer
from tests.unit.data.slow_twin import DATA

ADULT_COLUMNS = (
    *("age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation"),
    *("relationship", "race", "sex", "capital-gain", "capital-loss", "hours-per-week"),
    *("native-country", "income"),
)
ADULT = CsvFile(DATA / "adult.data.gz", columns=ADULT_COLUMNS, null="?")
# Line 1 of the test file is a comment, and its labels end in a full stop.
ADULT_TEST = CsvFile(DATA / "adult.test.gz", columns=ADULT_COLUMNS, null="?", skip=1)
WORKCLASSES = (
    *("Private", "Self-emp-not-inc", "Self-emp-inc", "Federal-gov", "Local-gov", "State-gov"),
    *("Without-pay", "Never-worked"),
)


def adult_domain(stop: str = "") -> Domain:
    return Domain(
        {
            "age": Integer(17, 90),
            "workclass": Categorical(*WORKCLASSES, null="bucket"),
            "sex": Categorical("Female", "Male"),
            "capital-gain": Binned([0, 1, 5000, 100_000]),
            "income": Categorical(f"<=50K{stop}", f">50K{stop}"),
        }
    )
