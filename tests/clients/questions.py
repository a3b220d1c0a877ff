"""What every client asks of both places."""

from __future__ import annotations

from datetime import date, datetime

BY_SEX = "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex ORDER BY sex"
# A key of each type, as a server sorts it.
KEYS = ("age", "sex", "hours", "born", "seen", "member", "Odd Name")
BY_KEY = {
    key: f'SELECT "{key}" AS key, COUNT(*) AS n FROM people GROUP BY "{key}" ORDER BY "{key}"'
    for key in KEYS
}
JOINED = (
    "SELECT size, COUNT(*) AS n FROM people JOIN schools USING (sex) GROUP BY size ORDER BY size"
)
TOTALS = "SELECT COUNT(*), SUM(hours), AVG(age), AVG(hours) AS worked FROM people"
EMPTY = "SELECT * FROM people WHERE 1 = 0"
CATALOGUE = (
    "SELECT table_schema, table_name, column_name, ordinal_position, data_type, is_nullable "
    "FROM information_schema.columns WHERE table_schema = 'public' ORDER BY 2, 4"
)
# A value of each type to compare with, and the comparison in which it stands for a parameter.
COMPARED = {
    "age >= {}": 23,
    "sex = {}": "Male",
    "hours < {}": 1.25,
    "born >= {}": date(2002, 1, 1),
    "seen <= {}": datetime(2020, 5, 1, 12),  # noqa: DTZ001 - a column without time zone
    "member = {}": True,
    '"Odd Name" = {}': "a 'b'",
}
# What is wrong, with the code of PostgreSQL.
WRONG = {
    "SELEC 1": "42601",
    "SELECT * FROM nobody": "42P01",
    "SELECT COUNT(*) FROM people WHERE nothing = 1": "42703",
    "SELECT nothing_like_this(1)": "42883",
    "SELECT COUNT(*) FROM people WHERE age >= 'many'": "22P02",
}
# Whatever eke's SQL does not read is a syntax error to it; the text says what is wrong.
OTHER_CODES = {
    "SELECT COUNT(*) FROM people WHERE nothing = 1": "42601",
    "SELECT COUNT(*) FROM people WHERE age >= 'many'": "42601",
}


def counting(condition: str, mark: str) -> str:
    """A count in groups, of the rows that fulfil a condition with a parameter."""
    where = condition.format(mark)
    return f"SELECT sex, COUNT(*) AS n FROM people WHERE {where} GROUP BY sex ORDER BY sex"
