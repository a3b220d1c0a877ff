"""Statements: blocks, rows, columns, and what acts on the result."""

from fractions import Fraction

import pytest

from eke.domain import Binned, Categorical, Domain, Integer
from eke.errors import QueryError, SqlError
from eke.query import Marginal, Query, count, marginal, total
from eke.question import Accuracy, Constant, Operation, Partition, ResultRow, Root
from eke.sql import parse
from tests.sql_adult import compact_domain

DOMAIN = compact_domain()


def block(text):
    (found,) = parse(text, DOMAIN).blocks
    return found


def test_plain_keys_make_one_block_for_all_groups():
    assert block("SELECT COUNT(*) FROM t GROUP BY income, sex") == Marginal(
        ("sex", "income"), count().on(DOMAIN)
    )
    statement = parse("SELECT sex, SUM(age), COUNT(*) FROM t GROUP BY sex", DOMAIN)
    assert statement.blocks == (
        marginal("sex", of=total("age")).on(DOMAIN),
        marginal("sex").on(DOMAIN),
    )


def test_rows_follow_group_by_and_cells_follow_the_domain():
    statement = parse("SELECT income, sex, COUNT(*) FROM t GROUP BY income, sex", DOMAIN)
    (found,) = statement.blocks
    assert isinstance(found, Marginal)
    assert statement.keys() == [
        ("<=50K", "Female"),
        ("<=50K", "Male"),
        (">50K", "Female"),
        (">50K", "Male"),
    ]
    for row, (income, sex) in enumerate(statement.keys()):
        assert statement.query(0, row) == count(income=income, sex=sex).on(DOMAIN)
        assert found.keys()[statement.cells()[row]] == (sex, income)
    with pytest.raises(QueryError, match="numbered 0 to 3"):
        statement.cell(4)


def test_the_groups_of_a_partition_add_up_to_the_whole():
    text = (
        "SELECT CASE WHEN age < 30 AND married THEN 'a' WHEN gain >= 1 OR age > 60 THEN 'b' END "
        "AS k, sex, SUM(age) FROM t WHERE education_num > 3 GROUP BY k, sex"
    )
    statement = parse(text, DOMAIN)
    (found,) = statement.blocks
    assert isinstance(found, Partition)
    assert found.shape == (3, 2)
    assert found.keys() == statement.keys()
    assert found.keys()[0] == ("a", "Female")
    assert found.keys()[-1] == (None, "Male")
    whole = Query.of(DOMAIN, [])
    for query in found.queries():
        whole = whole + query
    assert whole == block("SELECT SUM(age) FROM t WHERE education_num > 3")
    assert found.cell(0) == block(
        "SELECT SUM(age) FROM t WHERE education_num > 3 AND age < 30 AND married AND sex = 'Female'"
    )
    with pytest.raises(QueryError, match="numbered 0 to 5"):
        found.cell(6)


def test_every_declared_key_is_there_whatever_the_condition():
    statement = parse("SELECT sex, COUNT(*) FROM t WHERE sex = 'Male' GROUP BY sex", DOMAIN)
    assert statement.keys() == [("Female",), ("Male",)]
    assert statement.query(0, 0).is_zero
    bins = parse("SELECT gain, COUNT(*) FROM t GROUP BY gain", DOMAIN)
    assert bins.keys() == [((0, 1),), ((1, 5000),), ((5000, 10000),), ((10000, 50000),), (None,)]


def test_linear_columns_are_told_from_the_others():
    statement = parse(
        "SELECT sex, COUNT(*) - 5, 2 * SUM(age) + COUNT(*), AVG(age), COUNT(*) * COUNT(*) "
        "FROM t GROUP BY sex",
        DOMAIN,
    )
    assert [column.is_linear for column in statement.columns] == [False, True, True, False, False]
    assert [column.is_key for column in statement.columns] == [True, False, False, False, False]


def test_names_are_unique():
    statement = parse("SELECT COUNT(*), COUNT(*), SUM(age) AS n, AVG(age) AS n FROM t", DOMAIN)
    assert [c.name for c in statement.columns] == ["COUNT(*)", "COUNT(*)_2", "n", "n_2"]


def test_a_very_long_expression_gets_a_short_name():
    text = f"SELECT {' + '.join(['COUNT(*)'] * 100)} FROM t"
    assert [c.name for c in parse(text, DOMAIN).columns] == ["column_1"]


def test_accuracy_is_carried():
    assert parse("SELECT COUNT(*) FROM t ERROR WITHIN 5", DOMAIN).requirement == Accuracy(5.0)
    assert parse("SELECT COUNT(*) FROM t", DOMAIN).requirement is None


@pytest.mark.parametrize(
    ("suffix", "accuracy"),
    [
        ("SPEND 0.05", Accuracy(spend=0.05)),
        ("spend 1e-3 at confidence .9", Accuracy(confidence=0.9, spend=0.001)),
        ("ERROR WITHIN 1 FOR GROUPS OF 1000", Accuracy(1.0, groups_of=1000)),
        ("ERROR WITHIN 1 FOR GROUPS OF 7 AT CONFIDENCE 0.9", Accuracy(1.0, 0.9, 7)),
        ("ERROR WITHIN 1 AT CONFIDENCE 0.9 FOR GROUPS OF 7;", Accuracy(1.0, 0.9, 7)),
        ("ERROR WITHIN 2 PERCENT", Accuracy("2 %")),
        ("error within .5 percent for groups of 7 at confidence 0.9", Accuracy(".5 %", 0.9, 7)),
        ("SPEND 0.05 FOR GROUPS OF 7 AT CONFIDENCE 0.9", Accuracy(None, 0.9, 7, 0.05)),
        ("FOR GROUPS OF 7", Accuracy(groups_of=7)),
        ("AT CONFIDENCE 0.9 FOR GROUPS OF 7", Accuracy(None, 0.9, 7)),
    ],
)
def test_prices_and_sizes_of_groups_are_carried(suffix, accuracy):
    found = parse(f"SELECT COUNT(*) FROM t {suffix}", DOMAIN)
    assert found.requirement == accuracy
    assert found.blocks == parse("SELECT COUNT(*) FROM t", DOMAIN).blocks


# -- on rows -------------------------------------------------------------------------------------


def rows(*pairs):
    return [ResultRow((key,), values) for key, values in pairs]


def test_having_order_and_limit_act_on_rows():
    statement = parse(
        "SELECT tier, COUNT(*) AS n FROM t GROUP BY tier HAVING n > 10 ORDER BY n DESC LIMIT 2",
        DOMAIN,
    )
    table = rows((1, (30,)), (2, (10,)), (3, (40.5,)))
    assert statement.result(table) == [2, 0]
    assert [statement.shown(table[i]) for i in statement.result(table)] == [(3, 40.5), (1, 30)]
    wider = rows((1, (30,)), (2, (11,)), (3, (40.5,)))
    assert statement.result(wider) == [2, 0]


def test_offset_ties_and_nulls():
    by_average = "SELECT tier, AVG(age) AS a FROM t GROUP BY tier ORDER BY a"
    table = rows((1, (30, 0)), (2, (20, 2)), (3, (40, 4)))  # the first average is NULL
    assert parse(by_average, DOMAIN).result(table) == [1, 2, 0]
    assert parse(f"{by_average} DESC", DOMAIN).result(table) == [1, 2, 0]
    assert parse(f"{by_average} NULLS FIRST", DOMAIN).result(table) == [0, 1, 2]
    assert parse(f"{by_average} LIMIT 5 OFFSET 1", DOMAIN).result(table) == [2, 0]
    having = "SELECT tier, COUNT(*) FROM t GROUP BY tier HAVING AVG(age) > 5"
    table = rows((1, (0, 30)), (2, (2, 20)), (3, (4, 16)))
    assert parse(having, DOMAIN).result(table) == [1]


def test_unknown_is_not_true_and_its_negation_neither():
    text = "SELECT tier, AVG(age) AS a FROM t GROUP BY tier HAVING {}"
    table = rows((1, (30, 0)), (2, (20, 2)))
    assert parse(text.format("a > 5"), DOMAIN).result(table) == [1]
    assert parse(text.format("NOT a > 5"), DOMAIN).result(table) == []
    assert parse(text.format("a IS NULL"), DOMAIN).result(table) == [0]
    assert parse(text.format("a > 5 OR tier = 1"), DOMAIN).result(table) == [0, 1]
    assert parse(text.format("a IN (10, 11)"), DOMAIN).result(table) == [1]
    assert parse(text.format("a BETWEEN 11 AND 12"), DOMAIN).result(table) == []


def test_formulas_work_on_fractions_and_floats():
    half = Operation("/", Constant(Fraction(1)), Constant(Fraction(2)))
    assert half.value(()) == Fraction(1, 2)
    assert Root(half).value(()) == 0.5**0.5
    assert Root(Operation("-", half, Constant(Fraction(1)))).value(()) is None
    statement = parse("SELECT AVG(age), VARIANCE(age), STDDEV_POP(age) FROM t", DOMAIN)
    values = (Fraction(90), Fraction(3), Fraction(2750))
    mean, variance, deviation = statement.shown(ResultRow((), values))
    assert (mean, variance) == (30, 25)
    assert deviation == pytest.approx((50 / 3) ** 0.5)
    assert statement.shown(ResultRow((), (0, 0, 0))) == (None, None, None)


def test_a_bin_stands_for_its_midpoint_in_order_by():
    statement = parse("SELECT hours, COUNT(*) FROM t GROUP BY hours ORDER BY hours DESC", DOMAIN)
    table = [ResultRow((label,), (1,)) for (label,) in statement.keys()]  # noqa: SIM118 - no mapping
    assert statement.result(table) == [5, 4, 3, 2, 1, 0]
    assert statement.shown(table[0]) == ((0, 20), 1)


def test_leaves_and_linearity_of_formulas():
    statement = parse("SELECT 100 * COUNT(*) / SUM(age) + 1 FROM t", DOMAIN)
    (column,) = statement.columns
    assert len(list(column.formula.leaves())) == 4
    assert not column.is_linear
    assert Constant(Fraction(1)).scale() is None


# -- names and domains ---------------------------------------------------------------------------


def test_names_that_differ_in_case_only_need_quotes():
    domain = Domain({"Age": Integer(0, 9), "age": Integer(0, 9), "Two Words": Integer(0, 9)})
    assert parse('SELECT SUM("Two Words") FROM t', domain).blocks[0] == total("Two Words").on(
        domain
    )
    assert parse("SELECT SUM(age) FROM t", domain).blocks[0] == total("age").on(domain)
    assert parse('SELECT SUM("Age") FROM t', domain).blocks[0] == total("Age").on(domain)
    with pytest.raises(SqlError, match="several columns differ from 'AGE'"):
        parse("SELECT SUM(AGE) FROM t", domain)


def test_any_single_table_name_will_do_when_none_is_given():
    assert parse("SELECT COUNT(*) FROM people", DOMAIN).rows == 1
    with pytest.raises(SqlError, match="no table 'b'"):
        parse("WITH x AS (SELECT * FROM a) SELECT COUNT(*) FROM b", DOMAIN)


def test_values_with_quotes_and_non_ascii_letters():
    domain = Domain({"ville": Categorical("L'Haÿ", "Île", 'a"b'), "âge": Integer(0, 9)})
    found = parse("SELECT COUNT(*) FROM t WHERE ville = 'L''Haÿ' AND âge > 3", domain)
    assert found.blocks[0] == count({"ville": "L'Haÿ", "âge": (4, 9)}).on(domain)
    found = parse("""SELECT COUNT(*) FROM t WHERE ville = 'a"b'""", domain)
    assert found.blocks[0] == count({"ville": 'a"b'}).on(domain)


def test_bins_with_fractional_edges():
    domain = Domain(x=Binned([0, 0.1, 0.3, 1]))
    with pytest.raises(SqlError, match=r"nearest edges are 0\.1 and 0\.3"):
        parse("SELECT COUNT(*) FROM t WHERE x < 0.2", domain)


def test_an_edge_that_is_no_decimal_fraction_is_met_by_its_shortest_spelling():
    domain = Domain(x=Binned([0, 0.1, 0.3, 1]))
    for condition in ("x >= 0.1", "10 * x >= 1", "NOT x < 0.1", "x - 0.1 >= 0"):
        found = parse(f"SELECT COUNT(*) FROM t WHERE {condition}", domain)
        assert found.blocks[0] == count(x=(0.1, 1)).on(domain)


@pytest.mark.parametrize("text", [None, 3, b"SELECT COUNT(*) FROM t"])
def test_a_question_is_a_text(text):
    with pytest.raises(SqlError, match="a SQL question is a text"):
        parse(text, DOMAIN)


def test_categories_that_are_truth_values():
    domain = Domain(ok=Categorical(True, False, null="bucket"))
    found = parse("SELECT COUNT(*) FROM t WHERE ok", domain)
    assert found.blocks[0] == count(ok=True).on(domain)


@pytest.mark.parametrize(
    "selected",
    [
        ", ".join(f"COUNT_IF(age > {age})" for age in range(17, 77)),
        ", ".join(f"SUM(COUNT(*)) OVER (ORDER BY sex ROWS {n} PRECEDING)" for n in range(20)),
    ],
    ids=["aggregates", "windows"],
)
def test_the_work_of_many_groupings_is_counted(selected):
    """512 of them make a part of each aggregate, and a window adds up groups of each."""
    cube = ", ".join(["CUBE (sex, tier, married)"] * 3)
    with pytest.raises(SqlError, match=r"takes too long|at most 512 groups"):
        parse(f"SELECT {selected} FROM t GROUP BY {cube}", DOMAIN)
    assert parse(f"SELECT COUNT(*), {selected} FROM t GROUP BY ROLLUP (sex)", DOMAIN).rows == 3


@pytest.mark.parametrize(
    "text",
    [
        "SELECT COUNT(*) FROM adult LIMIT {}",
        "SELECT COUNT(*) FROM adult LIMIT 1 OFFSET {}",
        "SELECT COUNT(*) FROM adult FETCH FIRST {} ROWS ONLY",
        "SELECT TOP {} COUNT(*) FROM adult",
        "SELECT sex, LAG(COUNT(*), {}) OVER (ORDER BY sex) FROM adult GROUP BY sex",
        "SELECT sex, SUM(COUNT(*)) OVER (ORDER BY sex ROWS {} PRECEDING) FROM adult GROUP BY sex",
    ],
)
def test_numbers_of_rows_of_thousands_of_digits_are_read_or_refused(text: str) -> None:
    """Python's own conversion fails on them, with zeros at the front as well."""
    parse(text.format("0" * 5000 + "5"), DOMAIN, "adult")
    with pytest.raises(SqlError, match="whole number"):
        parse(text.format("9" * 5000), DOMAIN, "adult")


def test_long_labels_are_cut_short_in_messages():
    """Texts that a statement makes can be of any length; a message stays one that can be read."""
    long = "x" * 600
    with pytest.raises(SqlError, match="is not a declared value") as told:
        parse(f"SELECT COUNT(*) FROM t WHERE REPLACE(sex, 'a', '{long}') = 'y'", DOMAIN)
    assert len(str(told.value)) < 400
