"""Random questions over Adult with queries in parentheses beside their aggregates."""

from __future__ import annotations

from dataclasses import dataclass

from tests.sql_grammar import Writer

KEYS = ("sex", "income", "tier", "age % 5")  # all of their groups have records
CONDITIONS = ("", "", " WHERE age < 50", " WHERE sex = 'Male' AND age > 20")


@dataclass
class SubqueryWriter(Writer):
    """Writes questions with up to two keys, ROLLUP among them, and one to three values."""

    def statement(self) -> str:
        keys = [str(key) for key in self.rng.permutation(KEYS)[: int(self.rng.integers(0, 3))]]
        names = [f"k{i}" for i in range(len(keys))]
        shown = [f"{key} AS k{i}" for i, key in enumerate(keys)]
        rolled = bool(keys) and self.chance(0.3)
        if rolled:
            shown.insert(0, f"GROUPING({', '.join(names)}) AS g")
        values = [f"{self.value()} AS c{i}" for i in range(int(self.rng.integers(1, 4)))]
        text = f"SELECT {', '.join([*shown, *values])} FROM adult{self.pick(*CONDITIONS)}"
        if keys:
            text += f" GROUP BY {'ROLLUP ' if rolled else ''}({', '.join(names)})"
            if self.chance(0.4):
                text += f" HAVING {self.aggregate()} > {self.pick('0.1 * ', '')}{self.query()}"
            elif self.chance(0.4):
                order = [f"{self.aggregate()} - {self.query()} DESC", *(["g"] if rolled else [])]
                text += f" ORDER BY {', '.join([*order, *names])}{self.pick('', ' LIMIT 2')}"
        return text

    def value(self) -> str:
        first, second = self.aggregate(), self.query()
        return self.pick(
            f"100.0 * {first} / {second}",
            f"{first} - {second}",
            f"ROUND({first} / {second}, 2)",
            f"{second} + 2 * {first} - 3",
            f"{first} + {second} - {self.query()}",
            f"{first} / ({second} + {self.query()})",
            f"COALESCE({first}, 0) + {second} * 0.5",
        ).replace("COALESCE(AVG(age), 0)", "AVG(age)")

    def aggregate(self) -> str:
        return self.pick(
            "COUNT(*)", "COUNT(*)", "SUM(age)", "AVG(age)", "COUNT_IF(married)",
            "COUNT(*) FILTER (WHERE income = '>50K')",
        )  # fmt: skip

    def query(self) -> str:
        where = self.pick(*CONDITIONS, " WHERE income = '>50K' OR age = 30")
        other = self.pick(*CONDITIONS)
        beside = self.chance(0.15) and other != where  # a count less itself is a constant
        inner = f" - (SELECT COUNT(*) FROM adult{other})" * beside
        return self.pick(
            f"(SELECT {self.aggregate()}{inner} FROM adult{where})",
            f"(SELECT {self.aggregate()} AS n FROM adult AS b{where})",
            f"(SELECT {self.aggregate()} / COUNT(*) FROM (SELECT * FROM adult{where}))",
        )
