"""Numbers of people beside counts of records, in one dataset, as people ask for them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import eke
from eke import dbapi
from eke.errors import AccuracyError, DataError, EstimateError, QueryError, Refused, SqlError
from tests.command_line import call

VISITS, PATIENTS, MOST = 6000, 900, 12
DOMAIN = eke.Domain(
    month=eke.Integer(1, 12), sex=eke.Categorical("F", "M"), cost=eke.Integer(0, 100)
)
UNIT = eke.Unit("patient", rows=MOST)


def visits() -> pd.DataFrame:
    """Some patients come often, some never twice, and a few visits have no patient."""
    draw = np.random.default_rng(3)
    patient = np.sort((PATIENTS * draw.beta(1.0, 2.0, VISITS)).astype(int)).astype(float)
    patient[::97] = np.nan
    return pd.DataFrame(
        {
            "patient": patient,
            "month": draw.integers(1, 13, VISITS),
            "sex": np.where(np.nan_to_num(patient) % 3 == 0, "F", "M"),
            "cost": draw.integers(0, 101, VISITS),
        }
    )


TABLE = visits()


@pytest.fixture
def clinic(tmp_path: Path) -> eke.Session:
    table = tmp_path / "visits.parquet"
    TABLE.to_parquet(table)
    return eke.create(tmp_path / "clinic.eke", table, DOMAIN, epsilon=2000.0, unit=UNIT)


def number(answer: eke.Answer) -> float:
    return float(answer.values[0])


def test_people_are_counted_once_whatever_they_have(clinic):
    everybody = clinic.ask("SELECT COUNT(DISTINCT patient) FROM visits", within=0.4)
    assert number(everybody) == pytest.approx(TABLE["patient"].nunique(), abs=3)
    records = clinic.preview("SELECT COUNT(*) FROM visits", within=0.4).cost
    assert records == pytest.approx(MOST * everybody.cost, rel=1e-6)
    assert clinic.ask(eke.people(), within=0.4).free
    assert clinic.ask("SELECT 2 * COUNT(DISTINCT patient) + 1 FROM visits", within=0.8).free
    assert not clinic.ask("SELECT COUNT(*) FROM visits", within=20).free


def test_an_id_that_has_more_rows_than_are_kept_is_counted_by_those(clinic, tmp_path):
    """Of every month: patients with more than twelve visits may have lost one; others have not."""
    often = TABLE.groupby("patient")["month"].transform("size") > MOST
    answer = clinic.ask(
        "SELECT month, COUNT(DISTINCT patient) AS people FROM visits GROUP BY month", within=0.5
    )
    all_of_them = TABLE.groupby("month")["patient"].nunique()
    surely = TABLE[~often].groupby("month")["patient"].nunique()
    for month, people in answer.rows or ():
        assert surely[month] - 4 < people.value < all_of_them[month] + 4
    assert any("at most 12 records are counted" in caveat for caveat in answer.caveats)
    missed = [caveat for caveat in answer.caveats if "too small then" in caveat]
    assert len(missed) == 1
    assert missed[0] not in clinic.ask(eke.people(), within=5).caveats


def test_a_question_asked_again_more_accurately_costs_the_difference(clinic):
    first = clinic.ask(eke.people(sex="F"), within=10)
    second = clinic.ask(eke.people(sex="F"), within=5)
    once = eke.people(sex="M")
    assert first.cost + second.cost == pytest.approx(clinic.preview(once, within=5).cost, rel=1e-6)


@pytest.mark.parametrize(
    ("text", "truth", "within"),
    [
        (
            (
                "SELECT COUNT(DISTINCT CASE WHEN sex = 'F' THEN patient END) * 100.0 / "
                "COUNT(DISTINCT patient) FROM visits"
            ),
            100.0 * TABLE[TABLE.sex == "F"]["patient"].nunique() / TABLE["patient"].nunique(),
            0.5,
        ),
        (
            "SELECT COUNT(DISTINCT IF(sex = 'F', patient, NULL)) FROM visits",
            TABLE[TABLE.sex == "F"]["patient"].nunique(),
            1,
        ),
        (
            "SELECT COUNT(DISTINCT v.patient) FILTER (WHERE sex = 'M') FROM visits v",
            TABLE[TABLE.sex == "M"]["patient"].nunique(),
            1,
        ),
        (
            (
                "WITH men AS (SELECT patient AS who, sex FROM visits WHERE sex = 'M') "
                "SELECT COUNT(DISTINCT who) - 10 FROM men"
            ),
            TABLE[TABLE.sex == "M"]["patient"].nunique() - 10,
            1,
        ),
        (
            (
                "SELECT COUNT(DISTINCT patient) FILTER (WHERE sex = 'M') - COUNT(DISTINCT patient) "
                "FILTER (WHERE sex = 'F') FROM (SELECT * FROM visits)"
            ),
            TABLE[TABLE.sex == "M"]["patient"].nunique()
            - TABLE[TABLE.sex == "F"]["patient"].nunique(),
            2,
        ),
    ],
)
def test_shares_and_differences_of_people(clinic, text, truth, within):
    answer = clinic.ask(text, within=within)
    assert number(answer) == pytest.approx(truth, abs=4 * within)


def test_averages_per_person_have_no_bounds_of_a_single_record(clinic):
    """Somebody with twelve visits of 100 each has 1,200: more than any record."""
    text = "SELECT SUM(cost) / COUNT(DISTINCT patient) AS each, COUNT(*) / COUNT(DISTINCT patient)"
    answer = clinic.ask(f"{text} AS visits FROM visits", within={"each": 5, "visits": 0.1})
    assert answer.rows is not None
    each, times = answer.rows[0]
    assert each.value > 100
    assert times.value > 1.5
    python = clinic.ask(eke.ratio(eke.total("cost"), eke.people()), within=5)
    assert python.free
    assert python.value == pytest.approx(each.value)


def test_shares_of_people_lie_between_none_and_all(clinic):
    share = eke.ratio(eke.people(sex="F", month=(1, 3)), eke.people(sex="F"))
    low, high = clinic.ask(share, within=0.4).interval
    assert 0.0 <= low < high <= 1.0


def test_totals_of_people_are_numbers_of_their_own(clinic):
    answer = clinic.ask(
        "SELECT sex, COUNT(DISTINCT patient) AS n FROM visits GROUP BY ROLLUP (sex)", within=1
    )
    *groups, total = [row[1].value for row in answer.rows or ()]
    assert total == pytest.approx(TABLE["patient"].nunique(), abs=5)
    assert len(groups) == 2
    shares = clinic.ask(
        "SELECT month, COUNT(DISTINCT patient) * 1.0 / (SELECT COUNT(DISTINCT patient) FROM visits)"
        " AS share FROM visits GROUP BY month",
        within=0.02,
    )
    assert len(shares.rows or ()) == 12
    assert all(0.2 < row[1].value < 0.6 for row in shares.rows or ())


def test_nothing_about_records_follows_from_people_and_nothing_about_people_from_records(clinic):
    """Each is asked under the very same conditions as the other."""
    clinic.release(clinic.plan(["month", ("sex", "cost")], within=5))
    assert clinic.preview(eke.people(month=3), within=50).action == "measure"
    clinic.ask(eke.people(cost=(0, 50)).by("sex"), within=2)
    assert clinic.ask(eke.count(sex="F"), within=400).free
    assert clinic.preview(eke.people(sex="F"), within=400).action == "measure"
    with pytest.raises(EstimateError, match="do not follow from tables of records"):
        clinic.estimate(eke.people(sex="F"))
    records = clinic.ask(eke.count(sex="F"), within=20).value
    assert clinic.estimate(eke.count(sex="F"), "blue").value == pytest.approx(records)


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        ("SELECT COUNT(DISTINCT sex) FROM v", "1:23: how many people there are is COUNT(DISTINCT"),
        ("SELECT COUNT(DISTINCT patient, sex) FROM v", "how many people there are is"),
        ("SELECT SUM(DISTINCT patient) FROM v", "a sum of distinct values"),
        ("SELECT DISTINCT patient FROM v", "DISTINCT is not supported"),
        ("SELECT patient, COUNT(*) FROM v GROUP BY patient", "1:8: 'patient' is the id that is"),
        ("SELECT COUNT(*) FROM v WHERE patient = 7", "1:30: 'patient' is the id that is protected"),
        ("SELECT MAX(patient) FROM v", "MAX is that of a single record"),
        ("SELECT COUNT(DISTINCT x.patient) FROM v", "nothing is called 'x' here"),
        (
            "SELECT COUNT(DISTINCT patient) FROM (SELECT sex FROM v)",
            "how many people there are is COUNT(DISTINCT patient)",
        ),
        (
            "SELECT sex, SUM(COUNT(DISTINCT patient)) OVER (ORDER BY sex) FROM v GROUP BY sex",
            "numbers of people do not add up",
        ),
        (
            "SELECT COUNT(DISTINCT CASE WHEN sex = 'F' THEN patient ELSE 1 END) FROM v",
            "how many people there are is COUNT(DISTINCT patient)",
        ),
    ],
)
def test_what_is_refused_says_what_to_ask(clinic, text, advice):
    before = clinic.budget.spent
    with pytest.raises(SqlError) as refused:
        clinic.ask(text, within=10)
    assert str(refused.value).startswith(advice) or advice in str(refused.value)
    assert clinic.budget.spent == before


def test_groups_of_counts_one_kind(clinic):
    share = eke.ratio(eke.people(sex="F"), eke.people()).by("month")
    answer = clinic.ask(share, within=0.2, groups_of=200)
    assert len(answer.values) == 12
    with pytest.raises(AccuracyError, match="made of both"):
        clinic.ask(eke.ratio(eke.total("cost"), eke.people()), within=5, groups_of=100)


def test_a_table_that_protects_single_rows_has_no_people(tmp_path):
    session = eke.create(tmp_path / "rows.eke", TABLE, DOMAIN, epsilon=1.0)
    assert session.unit is None
    with pytest.raises(QueryError, match="protects single rows"):
        session.ask(eke.people(), within=50)
    with pytest.raises(SqlError, match="People are counted like this where"):
        session.ask("SELECT COUNT(DISTINCT patient) FROM t", within=50)


def test_a_table_that_is_counted_by_marginals_costs_nothing_when_people_are_asked_for(tmp_path):
    TABLE.to_parquet(tmp_path / "v.parquet")
    file = eke.ParquetFile(tmp_path / "v.parquet", collect="marginals")
    session = eke.create(tmp_path / "m.eke", file, DOMAIN, epsilon=1.0, unit=UNIT)
    with pytest.raises(DataError, match="nothing was spent"):
        session.ask(eke.people(), within=50)
    assert session.budget.spent == 0.0


def test_people_are_counted_of_a_file_that_did_not_change(clinic, tmp_path):
    TABLE.iloc[:-1].to_parquet(tmp_path / "visits.parquet")
    with pytest.raises(DataError, match="changed"):
        clinic.ask(eke.people(), within=50)
    assert clinic.budget.spent == 0.0


def test_who_opens_it_again_has_the_same_people_for_nothing(clinic, tmp_path):
    text = "SELECT sex, COUNT(DISTINCT patient) AS people FROM visits GROUP BY sex"
    answer = clinic.ask(text, within=2)
    again = eke.open(tmp_path / "clinic.eke")
    assert again.ask(text, within=2).values == answer.values
    assert again.unit == UNIT
    path = str(tmp_path / "clinic.eke")
    told = call("ask", path, text, "-w", "2", "--json").json
    assert told["cost"] == 0
    assert [row["people"]["value"] for row in told["rows"]] == pytest.approx(answer.values)
    assert "people by sex" in call("history", path).words
    with dbapi.connect(path, within=2) as connection:
        cursor = connection.cursor()
        cursor.execute(text)
        assert [row[1] for row in cursor.fetchall()] == pytest.approx(answer.values)


def test_a_limit_refuses_people_with_advice_that_holds(tmp_path):
    session = eke.create(tmp_path / "s.eke", TABLE, DOMAIN, epsilon=0.1, unit=UNIT)
    with pytest.raises(Refused) as refused:
        session.ask(eke.people().by("month"), within=100)
    narrowest = refused.value.refusal.narrowest  # type: ignore[attr-defined]
    assert narrowest is not None
    assert session.ask(eke.people().by("month"), within=narrowest * 1.001).cost <= 0.1


@pytest.mark.parametrize("within", [3, "20 %"])
def test_a_difference_is_known_where_one_side_can_have_nobody(tmp_path, within):
    """Of women there are no men: every group of this difference lacks one of its sides."""
    session = eke.create(tmp_path / "d.eke", TABLE, DOMAIN, epsilon=30.0, unit=UNIT)
    counted = "COUNT(DISTINCT patient) FILTER (WHERE sex = '{}')"
    text = f"SELECT sex, {counted.format('F')} - {counted.format('M')} AS n FROM t GROUP BY sex"
    session.preview(text, within=within)
    answer = session.ask(text, within=within)
    women, men = (TABLE[TABLE.sex == sex]["patient"].nunique() for sex in "FM")
    assert answer.values == pytest.approx([women, -men], abs=0.4 * men)


def test_a_product_is_known_where_one_side_can_have_nobody(tmp_path):
    rows = pd.DataFrame({"sex": ["F"] * 300 + ["M"] * 200})
    domain = eke.Domain(sex=eke.Categorical("F", "M"))
    session = eke.create(tmp_path / "p.eke", rows, domain, epsilon=100.0)
    text = (
        "SELECT sex, COUNT(*) FILTER (WHERE sex = 'F') * COUNT(*) FILTER (WHERE sex = 'M') + "
        "COUNT(*) AS n FROM t GROUP BY sex"
    )
    answer = session.ask(text, within=10)
    assert answer.values == pytest.approx([300, 200], abs=30)


def test_what_is_added_up_needs_no_look(clinic):
    """Looks cost half a percent of the limit each, whatever is asked."""
    people = [eke.people(sex=sex, month=(1, 6)) for sex in "FM"]
    loose = clinic.preview(people[0] - people[1], within=500).cost
    assert loose < 3 * clinic.preview(people[0], within=250).cost
    assert clinic.ask(people[0] - people[1], within=500).cost == pytest.approx(loose)
    assert clinic.ask(people[0] + people[1], within=500).free


def test_a_column_of_a_lookup_is_no_id(tmp_path):
    owners = eke.Lookup("owners", ["sex"], {"sex": ["F", "M"], "patient": ["x", "y"]})
    domain = DOMAIN.with_lookups(owners)
    session = eke.create(tmp_path / "l.eke", TABLE, domain, epsilon=2000.0, unit=UNIT)
    join = "FROM v JOIN owners o USING (sex)"
    with pytest.raises(SqlError, match="how many people there are"):
        session.ask(f"SELECT COUNT(DISTINCT o.patient) {join}", within=5)
    with pytest.raises(SqlError, match=r"several tables have a column .patient.; write v\.patient"):
        session.ask(f"SELECT COUNT(DISTINCT patient) {join}", within=5)
    with pytest.raises(SqlError, match="how many people there are"):
        session.ask(f"SELECT COUNT(DISTINCT patient) FROM (SELECT o.patient {join})", within=5)
    people = session.ask(f"SELECT COUNT(DISTINCT v.patient) {join}", within=1)
    assert people.value == pytest.approx(TABLE["patient"].nunique(), abs=5)
    text = f"SELECT COUNT(*) FROM (SELECT o.patient {join}) WHERE patient = 'x'"
    assert session.ask(text, within=50).value > 1000


def test_an_id_that_is_an_attribute_as_well_stays_one_in_queries_within(tmp_path):
    domain = eke.Domain(patient=eke.Integer(0, 899), sex=eke.Categorical("F", "M"))
    rows = TABLE.dropna()
    session = eke.create(tmp_path / "a.eke", rows, domain, epsilon=2000.0, unit=UNIT)
    text = "WITH x AS (SELECT patient, sex FROM v) SELECT COUNT(DISTINCT patient) FROM x"
    people = session.ask(f"{text} WHERE patient < 300", within=1)
    assert people.value == pytest.approx(rows[rows.patient < 300]["patient"].nunique(), abs=5)
    with pytest.raises(SqlError, match="two columns are called 'sex'"):
        session.ask("SELECT COUNT(*) FROM (SELECT patient AS sex, sex FROM v)", within=50)
