"""Questions with joins and derived columns have the values that DuckDB computes on the raw tables.

The machinery is that of `test_sql_values.py`; joins are written in every way that is supported.
"""

from __future__ import annotations

import random

import pytest

from eke.errors import SqlError
from eke.sql import parse
from tests.parts import parts
from tests.property.test_sql_values import agreeing, compare
from tests.sql_grammar import as_asked
from tests.sql_public import LOOKUPS, Joined

QUESTIONS, PARTS = 1500, 30

# The text of a join, and what may be asked once it is there: texts, numbers, truth values.
JOINS = {
    "classes": [
        "{j} classes USING (workclass)",
        "{j} classes ON adult.workclass = classes.workclass",
    ],
    "schooling": [
        "{j} schooling USING (education_num)",
        "{j} schooling AS s ON s.education_num = adult.education_num",
        "{j} schooling s ON adult.education_num = (s.education_num)",
    ],
    "bonus": [
        "{j} bonus USING (sex, tier)",
        "{j} bonus USING (tier, sex)",
        "{j} bonus b ON adult.tier = b.tier AND b.sex = adult.sex",
    ],
    "words": [
        "{j} words ON adult.tier = words.code",
        "{j} words w ON w.code = adult.education_num - 1",
    ],
}
TEXTS = {"classes": ["sector"], "schooling": ["degree"], "bonus": [], "words": ["word"]}
NUMBERS = {"classes": ["rank"], "schooling": ["years"], "bonus": ["amount"], "words": []}
VALUES = {
    "sector": ("private", "own", "public"),
    "degree": ("school", "college"),
    "word": ("one", "two"),
    "trade": ("private", "own"),
    "who": ("Male/1", "Female/3"),
}


SPOILING = ["USING", "ON", "(", ")", "JOIN", "LEFT", ",", "NULL", "*", "classes.*", "AND", "CROSS"]


class JoinWriter:
    """Statements about Adult and its lookups, drawn by chance."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)

    def statement(self) -> str:
        pick = self._chance.choice
        names = self._chance.sample(sorted(JOINS), self._chance.choice([0, 1, 1, 1, 2, 2, 3]))
        joins = " ".join(pick(JOINS[n]).format(j=self._word()) for n in names)
        self._texts = ["trade", "who", *(t for n in names for t in TEXTS[n])]
        self._numbers = ["adult.age", "decade", "decade_after"]
        self._numbers += [t for n in names for t in NUMBERS[n]] * 3
        self._truths = ["couple", *(["paid"] if "classes" in names else [])]
        if "classes" in names and self._chance.random() < 0.4:
            joins += (
                f" {self._word()} sectors ON {pick(['classes.sector', 'trade'])} = sectors.sector"
            )
            self._texts.remove("sector")  # now two tables have it
            self._numbers.append("tax")
        where = f" WHERE {self._condition(2)}" if self._chance.random() < 0.6 else ""
        value = pick(
            [
                "COUNT(*)",
                f"COUNT({pick(self._texts + self._numbers)})",
                f"\x01SUM({self._number()})\x02",
                f"AVG({self._number()})",
                f"COUNT(*) FILTER (WHERE {self._condition(1)})",
                f"\x01SUM(CASE WHEN {self._condition(1)} THEN {self._number()} ELSE 0 END)\x02",
            ]
        )
        source = f"FROM adult {joins}{where}"
        if self._chance.random() < 0.35:
            return f"SELECT {value} AS v {source}"
        key = pick([*self._texts, *self._truths, self._case(), "decade", *self._numbers[3:]])
        return f"SELECT {key} AS k, {value} AS v {source} GROUP BY 1"

    def _word(self) -> str:
        return self._chance.choice(["JOIN", "INNER JOIN", "LEFT JOIN", "LEFT OUTER JOIN"])

    def _number(self) -> str:
        name = self._chance.choice(self._numbers)
        forms = ["{}", "{} * 2", "{} - age_", "COALESCE({}, 1)", "ABS({})", "({} + 1) / 4"]
        return self._chance.choice(forms).format(name).replace("age_", "adult.age")

    def _case(self) -> str:
        return f"CASE WHEN {self._condition(1)} THEN 'a' WHEN {self._condition(1)} THEN 'b' END"

    def _condition(self, depth: int) -> str:
        chance = self._chance
        if depth and chance.random() < 0.5:
            first, second = self._condition(depth - 1), self._condition(depth - 1)
            forms = [f"({first} AND {second})", f"({first} OR {second})", f"NOT ({first})"]
            return chance.choice(forms)
        text, number = chance.choice(self._texts), chance.choice(self._numbers)
        value, other = (chance.choice(VALUES[text]) for _ in range(2))
        sign = chance.choice(["=", "<>", "<", "<=", ">", ">="])
        return chance.choice(
            [
                f"{text} {chance.choice(['=', '<>'])} '{value}'",
                f"{text} IN ('{value}', '{other}')",
                f"{text} LIKE '%{value[-1]}'",
                f"{chance.choice(self._texts + self._numbers)} IS NULL",
                f"{number} {sign} {chance.randint(0, 40)}",
                f"{number} BETWEEN 1 AND {chance.randint(1, 60)}",
                f"{number} {sign} {chance.choice(self._numbers)}",
                f"UPPER({text}) = '{value.upper()}'",
                chance.choice(self._truths),
                "adult.sex = 'Male'",
            ]
        )


@pytest.fixture(scope="module")
def adult() -> Joined:
    return Joined(6_000)


@pytest.mark.parametrize("part", parts(PARTS))
def test_joins_have_the_values_of_duckdb(adult: Joined, part: int) -> None:
    """50 generated questions, 1,500 with the long ones."""
    refused = agreeing(adult, JoinWriter(part), QUESTIONS // PARTS)
    assert refused < QUESTIONS // PARTS / 3


BY_HAND = """
SELECT COUNT(*) AS v FROM adult LEFT JOIN classes c USING (workclass)
WHERE c.workclass IS NULL

SELECT c.workclass AS k, COUNT(*) AS v FROM adult LEFT JOIN classes c USING (workclass)
GROUP BY k

SELECT s.education_num AS k, COUNT(*) AS v FROM adult a LEFT JOIN schooling s
ON a.education_num = s.education_num GROUP BY k

SELECT o.word AS k, t.word AS l, COUNT(*) AS v FROM adult JOIN words o ON tier = o.code
LEFT JOIN words t ON education_num = t.code GROUP BY 1, 2

SELECT sector AS k, SUM(n) AS v FROM (SELECT workclass, age - 17 AS n FROM adult
WHERE sex = 'Male') JOIN classes USING (workclass) GROUP BY k

WITH j AS (SELECT c.*, age AS years FROM adult JOIN classes c USING (workclass))
SELECT paid AS k, AVG(years) AS v FROM j GROUP BY k

SELECT tax AS k, COUNT(*) AS v FROM adult JOIN classes USING (workclass)
JOIN sectors USING (sector) GROUP BY k

SELECT COUNT(*) AS v FROM adult JOIN bonus ON adult.sex = bonus.sex
AND adult.tier = bonus.tier WHERE bonus.age = adult.tier

SELECT COUNT(*) AS v FROM adult JOIN words ON FLOOR(age / 10) = code
"""


@pytest.mark.parametrize("text", BY_HAND.strip().split("\n\n"))
def test_written_by_hand(adult: Joined, text: str) -> None:
    assert compare(adult, text) is None


def test_a_wrong_row_is_noticed(adult: Joined) -> None:
    """Positive control: DuckDB's lookup has another sector for one class."""
    text = "SELECT sector AS k, COUNT(*) AS v FROM adult JOIN classes USING (workclass) GROUP BY k"
    assert compare(adult, text) is None
    adult.engine.execute("UPDATE classes SET sector = 'own' WHERE workclass = 'Private'")
    assert compare(adult, text) is not None
    adult.engine.execute("UPDATE classes SET sector = 'private' WHERE workclass = 'Private'")


def test_every_lookup_can_be_joined_by_its_own_names() -> None:
    """What the fixture says of the lookups is what the domain says."""
    domain = Joined(10).domain
    for lookup in LOOKUPS[:3]:
        text = f"SELECT COUNT(*) FROM adult JOIN {lookup.name} USING ({', '.join(lookup.keys)})"
        assert parse(text, domain).reads == frozenset(lookup.keys)


def test_many_joins_are_read_and_too_many_are_refused_in_time() -> None:
    """A record finds one row of each, however many there are; work is counted."""
    domain = Joined(10).domain

    def counted(joins: int, key: str) -> frozenset[str]:
        text = "".join(f" JOIN words w{i} ON {key} = w{i}.code" for i in range(joins))
        return parse(f"SELECT COUNT(*) FROM adult{text} WHERE w0.word = 'two'", domain).reads

    assert counted(200, "adult.tier") == {"tier"}
    with pytest.raises(SqlError, match="takes too long to work out"):
        counted(250, "age - 16 + education_num")


def test_spoilt_joins_are_refused_in_words() -> None:
    """600 statements with words lost, doubled and exchanged: a question or a refusal."""
    domain, writer, chance = Joined(10).domain, JoinWriter(99), random.Random(99)
    refused = 0
    for _ in range(600):
        words = as_asked(writer.statement()).split()
        for _ in range(chance.randint(1, 4)):
            place = chance.randrange(len(words))
            words[place : place + chance.randint(0, 1)] = chance.sample([*words, *SPOILING], 1)
        try:
            parse(" ".join(words), domain)
        except SqlError:
            refused += 1
    assert refused > 200
