"""A grammar of questions with functions of a record's values, over the compact Adult domain.

What is rounded is a whole number, a half or a quarter, so that DuckDB's doubles are exact, too.
"""

from __future__ import annotations

from dataclasses import dataclass

from tests.sql_grammar import TEXTS, WHOLE, Writer

PARTS = ("-", "e", "ed", "Married", "gov", "a", "50", "M")
REGULAR = (
    "^[MS]", "ed$", "(gov|inc)", "^.{4,7}$", "a.*e", "[^a-z]+", "e{1,2}", "^(Self|State)-", "\\d",
    "\\w+-\\w+", "(?:a|e)(l|m)?e", "^$|a", "[-<>]",
)  # fmt: skip
OF_TWO = ("CORR", "COVAR_POP", "COVAR_SAMP", "REGR_SLOPE", "REGR_INTERCEPT")
FULL = (".*ed", "[MF].*ale", "(Private|.*gov)", "[<>]=?50K", ".+-.+", ".*")


@dataclass
class WordWriter(Writer):
    """Writes random questions in which functions are called."""

    # -- texts ---------------------------------------------------------------------------------

    def text(self, depth: int = 1) -> str:
        name = self.name(self.pick(*TEXTS))
        if depth == 0 or self.chance(0.2):
            return name
        inner, other = self.text(depth - 1), self.text(0)
        return self.pick(
            f"UPPER({inner})",
            f"LOWER({inner})",
            f"SUBSTRING({inner}, {self.pick(-4, -1, 0, 1, 2, 5)}, {self.pick(0, 1, 3, 9)})",
            f"SUBSTR({inner}, {self.pick(-3, 1, 2, 4)})",
            f"LEFT({inner}, {self.pick(-3, 0, 1, 4)})",
            f"RIGHT({inner}, {self.pick(-3, 0, 1, 4)})",
            f"TRIM({inner}, '{self.pick('ed', 'M', '<>K', 'gov-')}')",
            f"LTRIM({inner}, '{self.pick('PM', 'S', '<=>')}')",
            f"RTRIM({inner}, 'edK')",
            f"TRIM(' ' || {inner} || '  ')",
            f"REPLACE({inner}, '{self.pick(*PARTS)}', '{self.pick('', '_', 'xx')}')",
            f"{inner} || '/' || {other}",
            f"CONCAT({inner}, '+', {other})",
            f"COALESCE({inner}, 'none')",
            f"NULLIF({name}, 'Male')",
            f"LEAST({inner}, {other})",
            f"GREATEST({inner}, 'M', {other})",
            f"IF({self.condition(0)}, {inner}, {other})",
            f"CAST({inner} AS VARCHAR)",
            f"{self.whole(0)}::text",
            "CAST(married AS VARCHAR)",
        )

    def word_atom(self) -> str:
        text = self.text()
        return self.pick(
            f"{text} {self.pick('<', '>=', '>')} '{self.pick('M', 'a', 'P', '<', '5', 'f')}'",
            f"{text} LIKE '%{self.pick(*PARTS)}%'",
            f"{text} {self.pick('', 'NOT ')}ILIKE '%{self.pick(*PARTS)}%'",
            f"STARTS_WITH({text}, '{self.pick('M', 'S', 'm', 'F', '>')}')",
            f"ENDS_WITH({text}, '{self.pick('d', 'e', 'K', 'E')}')",
            f"CONTAINS({text}, '{self.pick(*PARTS)}')",
            f"regexp_matches({text}, '{self.pick(*REGULAR)}')",
            f"regexp_matches({text}, '{self.pick('m', 'GOV', '[a-c]')}', 'i')",
            f"{text} SIMILAR TO '{self.pick(*FULL)}'",
            f"regexp_full_match({text}, '{self.pick(*FULL)}')",
            f"LENGTH({text}) {self.pick('<', '>', '=')} {self.pick(4, 7, 10)}",
            f"{text} = {self.text()}",
            f"{text} IS NULL",
            f"IF({self.condition(0)}, married, {self.condition(0)})",
            f"CAST({self.condition(0)} AS INTEGER) = 1",
            f"COALESCE(married, {self.pick('TRUE', 'FALSE')})",
        )

    # -- numbers -------------------------------------------------------------------------------

    def whole(self, depth: int = 1) -> str:
        """A whole number by its type, of columns that are not binned."""
        name = self.name(self.pick("age", "age", "education_num"))
        if depth == 0 or self.chance(0.2):
            return name
        inner = self.whole(depth - 1)
        return self.pick(
            f"ABS({inner} - {self.pick(9, 40, 50)})",
            f"SIGN({inner} - {self.pick(9, 40)})",
            f"ROUND({inner}, {self.pick(-1, 0, 1, -2)})",
            f"TRUNC({inner}, -1)",
            f"MOD({inner}, {self.pick(2, 3, 7, 10)})",
            f"({inner} - 45) % {self.pick(2, 5, 10)}",
            f"LEAST({inner}, {self.pick(10, 40)})",
            f"GREATEST({inner}, {self.pick(5, 30)}, {self.whole(0)})",
            f"COALESCE({inner}, {self.pick(0, 9)})",
            f"NULLIF({inner}, {self.pick(9, 40)})",
            f"LENGTH({self.text(0)})",
            f"CAST({self.condition(0)} AS INTEGER)",
            f"CAST({inner} / 3 AS INTEGER)",
            f"CAST(CAST({inner} AS VARCHAR) AS INTEGER)",
            "tier::int",
            f"IF({self.condition(0)}, {inner}, {self.whole(0)})",
        )

    def real(self) -> str:
        """A number of any type, of columns that are not binned."""
        name = self.whole(1)
        return self.pick(
            name,
            f"ROUND({name} / {self.pick(2, 4, 8)})",
            f"ROUND({name} / 8, {self.pick(1, 2)})",
            f"ROUND(-{name} * 0.25, 1)",
            f"CEIL({name} / {self.pick(2, 3, 10)})",
            f"CEILING(-{name} / 4)",
            f"FLOOR({name} / 10)",
            f"TRUNC((30 - {name}) / 8)",
            f"MOD({name} / 2, {self.pick(2, 3)})",
            f"({name} - 40) / 4 % 3",
            f"POWER({name}, {self.pick(0, 1, 2, 3)})",
            f"CAST({name} AS DOUBLE) / 2",
            f"({name})::DECIMAL(10, 1) * 0.5",
            f"ABS(age - {name})",
        )

    def number(self, depth: int = 2) -> str:
        if self.chance(0.6):
            return self.pick(
                self.real(),
                self.real(),
                self.real(),
                f"ABS(hours - {self.pick(30, 40)})",
                f"LEAST(hours, {self.pick(38, 41)})",
                f"GREATEST({self.pick('gain', 'hours')}, 30)",
                f"COALESCE(gain, {self.pick(0, 100)})",
                f"COALESCE(gain, hours, {self.real()})",
                "POWER(hours, 2)",
                "CAST(hours AS DOUBLE)",
            )
        return super().number(depth)

    def number_atom(self) -> str:
        number = self.real()
        sign = self.pick("=", "<>", "<", "<=", ">", ">=")
        low, high = WHOLE["age"]
        return self.pick(
            f"{number} {sign} {int(self.rng.integers(low // 4, high))}",
            f"{number} BETWEEN 3 AND {int(self.rng.integers(4, high))}",
            f"{number} IN (0, 1, 2, 3, 10, 40)",
            f"{number} {sign} {self.whole(0)}",
            f"{number} IS NOT NULL",
        )

    # -- statements ----------------------------------------------------------------------------

    def condition(self, depth: int = 2) -> str:
        if depth and self.chance(0.5):
            return self.word_atom() if self.chance(0.5) else self.number_atom()
        return super().condition(depth)

    def aggregate(self) -> str:
        if self.chance(0.3):
            y, x = self.pick("age, hours", "hours, education_num", "age, education_num").split(", ")
            word = self.pick(*OF_TWO)
            return self.pick(
                f"\x01COUNT_IF({self.condition(1)})\x02",
                f"COUNT({self.text()})",
                f"{word}({y}, {x})",
                f"{word}({x}, {y})",
            )
        return super().aggregate()

    def grouped(self) -> str:
        text = super().grouped()
        if any(word in text for word in OF_TWO):  # NaN, which DuckDB has for NULL, is sorted first
            text = text.replace("ORDER BY c0", "ORDER BY COUNT(*)")
        return text

    def column(self) -> str:
        """What is done to noisy numbers at last leaves 0 and NULL of empty groups alone."""
        if self.chance(0.75):
            return super().column()
        inner, plain = super().column(), self.aggregate()
        # Where DuckDB has NaN or an infinity, which are not NULL to it, eke has NULL.
        may_be_nan = "/" in inner or any(word in inner for word in OF_TWO)
        return self.pick(
            f"ABS({inner})" if may_be_nan else f"COALESCE({inner}, 0)",
            f"ABS({inner})",
            f"CAST({inner} AS DOUBLE)",
            f"ROUND(COUNT(*), {self.pick(-1, -2, -3)})",
            "ROUND(COALESCE(AVG(age), 0), 2)",
            "ROUND(100.0 * COUNT_IF(sex = 'Male') / NULLIF(COUNT(*), 0), 1)",
            f"{plain} / NULLIF(COUNT(*), 0)",
            f"POWER({plain}, 2)",
            f"({inner})::DOUBLE",
            "CEIL(AVG(age))",
            "FLOOR(COUNT(*) / 8)",
            "TRUNC(COUNT(*) / 4, 1)",
            "CAST(ROUND(AVG(education_num)) AS INTEGER)",
            "LEAST(COUNT(*), 500)",
        )

    def key(self) -> str:
        return self.pick(
            self.text(),
            self.text(),
            "COALESCE(workclass, 'unknown')",
            "ROUND(age, -1)",
            "CEIL(age / 20)",
            "age % 7",
            "LEFT(marital_status, 3)",
            "LENGTH(workclass)",
            "SIGN(age - 40)",
            "(age + education_num) % 5",
            "GREATEST(education_num, age - 70)",
            "SIGN(age - 4 * education_num)",
            "IF(age > 30, UPPER(sex), income)",
            "CAST(ROUND(age, -1) AS VARCHAR)",
            "education_num::text",
            super().key(),
        )
