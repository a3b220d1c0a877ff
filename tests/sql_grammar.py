"""A grammar of questions in SQL over the compact Adult domain, and ways to spoil them.

Texts come from the caller's own generator. Constants are chosen so that DuckDB, too, computes with
exact numbers: whole ones, halves and quarters.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tests.sql_adult import GAIN, HOURS, MARITAL, WORKCLASSES

TEXTS = {
    "workclass": WORKCLASSES,
    "marital_status": MARITAL,
    "sex": ("Female", "Male"),
    "income": ("<=50K", ">50K"),
}
WHOLE = {"age": (17, 80), "education_num": (1, 16)}
EDGES = {"hours": HOURS, "gain": GAIN}
NULLABLE = ("education_num", "workclass", "gain", "married")
PATTERNS = {
    "workclass": ("Self%", "%gov", "%-%", "P_ivate", "%e%"),
    "marital_status": ("Married%", "%ed", "Married-_iv-spouse", "%-married"),
    "sex": ("%ale", "F%", "____"),
    "income": ("%50K", ">%"),
}


@dataclass
class Writer:
    """Writes random questions."""

    rng: np.random.Generator

    def pick(self, *choices: object) -> str:
        return str(choices[int(self.rng.integers(len(choices)))])

    def chance(self, probability: float) -> bool:
        return bool(self.rng.random() < probability)

    # -- conditions ----------------------------------------------------------------------------

    def condition(self, depth: int = 2) -> str:
        if depth and self.chance(0.5):
            kind = self.pick("AND", "OR", "AND", "OR", "NOT", "XOR")
            if kind == "NOT":
                return f"NOT ({self.condition(depth - 1)})"
            parts = [self.condition(depth - 1) for _ in range(int(self.rng.integers(2, 4)))]
            if kind == "XOR":
                return f"(({parts[0]}) <> ({parts[1]}))"
            return "(" + f" {kind} ".join(parts) + ")"
        return str(getattr(self, self.pick(*_ATOMS))())

    def text_atom(self) -> str:
        name = self.pick(*TEXTS)
        values = [f"'{v}'" for v in self.rng.permutation(TEXTS[name])]
        return self.pick(
            f"{self.name(name)} = {values[0]}",
            f"{self.name(name)} <> {values[0]}",
            f"{values[0]} = {self.name(name)}",
            f"{self.name(name)} IN ({', '.join(values[: max(1, len(values) // 2)])})",
            f"{self.name(name)} NOT IN ({', '.join(values[: len(values) - 1])})",
            f"{self.name(name)} LIKE '{self.pick(*PATTERNS[name])}'",
            f"{self.name(name)} NOT LIKE '{self.pick(*PATTERNS[name])}'",
            f"{self.name(name)} >= {values[0]}",
        )

    def whole_atom(self) -> str:
        name = self.pick("age", "age", "education_num")
        low, high = WHOLE[name]
        number = int(self.rng.integers(low, high + 1))
        other = int(self.rng.integers(low, high + 1))
        sign = self.pick("=", "<>", "<", "<=", ">", ">=", "!=")
        column = self.name(name)
        return self.pick(
            f"{column} {sign} {number}",
            f"{number} {sign} {column}",
            f"{column} BETWEEN {min(number, other)} AND {max(number, other)}",
            f"{column} NOT BETWEEN {min(number, other)} AND {max(number, other)}",
            f"{column} IN ({number}, {other}, {number + 1})",
            f"{column} {sign} {number}.5",
            f"2 * {column} - 3 {sign} {number}",
            f"{column} * {column} {sign} {number * number}",
            f"({column} + 1) / 2 {sign} {number}",
            f"-{column} {sign} {-number}",
            f"FLOOR({column} / 4) {sign} {number // 4}",
        )

    def bin_atom(self) -> str:
        name = self.pick(*EDGES)
        edge = int(self.rng.choice(EDGES[name][1:-1]))
        column = self.name(name)
        return self.pick(
            f"{column} >= {edge}",
            f"{column} < {edge}",
            f"2 * {column} < {2 * edge}",
            f"{edge} > {column}",
            f"{column} BETWEEN {edge} AND {EDGES[name][-1]}",
            f"100 - {column} > {100 - edge}",
        )

    def null_atom(self) -> str:
        return f"{self.name(self.pick(*NULLABLE))} IS {self.pick('', 'NOT ')}NULL"

    def truth_atom(self) -> str:
        return self.pick(
            "married", "NOT married", "married = TRUE", "married <> FALSE", "married IS TRUE",
            "married IS NOT FALSE", "tier = 2", "tier >= 2", "tier IN (1, 3)",
        )  # fmt: skip

    def cross_atom(self) -> str:
        sign = self.pick("<", "<=", ">", ">=", "=", "<>")
        return self.pick(
            f"age {sign} education_num * 4",
            f"age * education_num {sign} {int(self.rng.integers(100, 900))}",
            f"age - education_num {sign} {int(self.rng.integers(10, 60))}",
            f"education_num {sign} 5 * tier",
        ).replace("5 * tier", "CASE tier WHEN 1 THEN 4 WHEN 2 THEN 10 ELSE 14 END")

    def case_atom(self) -> str:
        return (
            f"CASE WHEN {self.condition(0)} THEN {self.condition(0)} ELSE {self.condition(0)} END"
        )

    # -- numbers -------------------------------------------------------------------------------

    def number(self, depth: int = 2) -> str:
        if depth and self.chance(0.5):
            a, b = self.number(depth - 1), self.number(depth - 1)
            return self.pick(
                f"({a} + {b})",
                f"({a} - {b})",
                f"({a} * {b})",
                f"({a} * {self.constant()})",
                f"({a} / {self.pick(2, 4, 8)})",
                f"(-{a})",
                f"CASE WHEN {self.condition(1)} THEN {a} ELSE {b} END",
                f"CASE WHEN {self.condition(0)} THEN {a} END",
            )
        if self.chance(0.2):
            return self.constant()
        return self.name(self.pick("age", "age", "education_num", "hours", "gain"))

    def constant(self) -> str:
        return self.pick("1", "2", "3", "10", "0.5", "0.25", "1.5", "100")

    # -- statements ----------------------------------------------------------------------------

    def aggregate(self) -> str:
        """An aggregate between marks, see `as_asked` and `for_duckdb`."""
        basic = self.pick(
            "COUNT(*)",
            f"COUNT({self.pick(*NULLABLE)})",
            f"SUM({self.number()})",
            f"SUM({self.number(1)})",
            f"AVG({self.number(1)})",
            f"SUM({self.condition(0)})",
            f"COUNT(CASE WHEN {self.condition(1)} THEN 1 END)",
            f"{self.pick('VARIANCE', 'VAR_POP', 'VAR_SAMP', 'STDDEV', 'STDDEV_POP')}"
            f"({self.pick('age', 'education_num', 'hours', 'age - education_num')})",
        )
        if self.chance(0.3):
            basic += f" FILTER (WHERE {self.condition(1)})"
        return f"\x01{basic}\x02" if basic.startswith("SUM") else basic

    def column(self) -> str:
        first = self.aggregate()
        if self.chance(0.7):
            return first
        second = self.aggregate()
        return self.pick(
            f"{first} + {second}",
            f"{first} - {self.constant()} * {second}",
            f"{self.constant()} * {first} - {self.constant()}",
            f"100.0 * {first} / {second}",
            f"({first} + {second}) / 2",
            f"-{first}",
        )

    def key(self) -> str:
        return self.pick(
            "sex", "income", "workclass", "marital_status", "education_num", "hours", "gain",
            "married", "tier",
            "CASE WHEN age < 30 THEN 'young' WHEN age < 60 THEN 'middle' ELSE 'old' END",
            "CASE WHEN hours < 35 THEN 1 WHEN hours >= 41 THEN 3 END",
            "CASE WHEN sex = 'Male' AND age > 40 THEN 'a' WHEN married THEN 'b' ELSE 'c' END",
            "FLOOR(age / 10) * 10",
            "age >= 40",
        )  # fmt: skip

    def where(self) -> str:
        return f" WHERE {self.condition()}" if self.chance(0.7) else ""

    def plain(self) -> str:
        columns = [f"{self.column()} AS c{i}" for i in range(int(self.rng.integers(1, 3)))]
        return f"SELECT {', '.join(columns)} {self.source()}{self.where()}"

    def grouped(self) -> str:
        keys = list(dict.fromkeys(self.key() for _ in range(int(self.rng.integers(1, 3)))))
        shown = [f"{key} AS k{i}" for i, key in enumerate(keys)]
        columns = [f"{self.column()} AS c{i}" for i in range(int(self.rng.integers(1, 3)))]
        by = [self.pick(key, f"k{i}", str(i + 1)) for i, key in enumerate(keys)]
        text = f"SELECT {', '.join([*shown, *columns])} {self.source()}{self.where()}"
        text += f" GROUP BY {', '.join(by)}"
        if self.chance(0.3):
            text += f" HAVING COUNT(*) > {int(self.rng.integers(0, 2000))}"
            if self.chance(0.7):
                order = [f"{self.pick('c0', 'COUNT(*)')} {self.pick('ASC', 'DESC')}"]
                order += [f"k{i}" for i in range(len(keys))]
                text += f" ORDER BY {', '.join(order)}"
                text += self.pick("", " LIMIT 3", " LIMIT 2 OFFSET 1")
        return text

    def source(self) -> str:
        return self.pick(
            "FROM adult",
            "FROM adult",
            "FROM Adult AS t",
            f"FROM (SELECT * FROM adult WHERE {self.condition(1)}) AS s",
            "FROM (SELECT age, education_num, workclass, marital_status, sex, hours, gain, "
            "married, tier, income FROM adult)",
        )

    def statement(self) -> str:
        text = self.grouped() if self.chance(0.35) else self.plain()
        if self.chance(0.1):
            text = text.replace("FROM adult", "FROM chosen", 1)
            inner = f"SELECT * FROM adult WHERE {self.condition(1)}"
            text = f"WITH chosen AS ({inner}) {text}" if "FROM chosen" in text else text
        return text

    def name(self, column: str) -> str:
        return self.pick(column, column, column.upper(), f'"{column}"')


_ATOMS = (
    "text_atom", "text_atom", "whole_atom", "whole_atom", "bin_atom", "null_atom", "truth_atom",
    "cross_atom", "case_atom",
)  # fmt: skip


def as_asked(text: str) -> str:
    """The statement as it is put to eke."""
    return text.replace("\x01", "").replace("\x02", "")


def for_duckdb(text: str) -> str:
    """The statement with sums over no rows being 0, as in eke, where SQL says NULL."""
    return text.replace("\x01", "COALESCE(").replace("\x02", ", 0)")
