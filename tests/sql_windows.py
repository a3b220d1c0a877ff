"""Random questions with window functions over the groups of Adult.

All groups of their keys have records, so that DuckDB, which leaves out groups without any, runs
over the same rows.
"""

from __future__ import annotations

from dataclasses import dataclass

from tests.sql_grammar import Writer

COMPLETE = ("sex", "income", "tier", "FLOOR(age / 10) * 10", "hours", "age >= 40", "age % 5")
ALONE = ("hours", "FLOOR(age / 10) * 10")  # combined with others, some groups are empty
CONDITIONS = ("", "", " WHERE age < 50", " WHERE education_num > 9 AND age >= 20")


@dataclass
class WindowWriter(Writer):
    """Writes questions with one to three columns of window functions."""

    def statement(self) -> str:
        keys = [str(key) for key in self.rng.permutation(COMPLETE)[: int(self.rng.integers(1, 3))]]
        keys = next(([key] for key in keys if key in ALONE), keys)
        where = self.pick(*CONDITIONS) if keys == ["sex"] else ""
        names = [f"k{i}" for i in range(len(keys))]
        shown = [f"{key} AS k{i}" for i, key in enumerate(keys)]
        columns = [f"{self.windowed(names)} AS c{i}" for i in range(int(self.rng.integers(1, 4)))]
        text = f"SELECT {', '.join([*shown, *columns])} FROM adult{where} GROUP BY "
        text += ", ".join(names)
        # DuckDB divides by zero to infinity, which is not NULL and is sorted with numbers.
        chosen = "k0" if "/" in columns[0] else "c0"
        if self.chance(0.3):
            text += f" ORDER BY {self.pick(chosen, 'k0')} {self.pick('ASC', 'DESC')}, "
            text += f"{', '.join(names)}{self.pick('', ' LIMIT 3')}"
        elif self.chance(0.3) and chosen == "c0":
            text += f" QUALIFY c0 > {self.pick(1, 2, 100)}"
        return text

    def windowed(self, keys: list[str]) -> str:
        if self.chance(0.15):
            word = self.pick("RANK", "DENSE_RANK", "ROW_NUMBER")
            order = f"{self.counted()} {self.pick('', 'DESC')}, {', '.join(keys)}"
            return f"{word}() OVER ({self.parted(keys)}ORDER BY {order})"
        first = self.function(keys)
        count = self.counted()
        return self.pick(
            first,
            first,
            f"{count} - {first}",
            f"100.0 * {count} / {first}",
            f"2 * {first} + 3",
            f"{first} / {self.function(keys)}",
            f"COALESCE({first}, 0)",
            f"ROUND(3 * {first}, -1)",
        )

    def function(self, keys: list[str]) -> str:
        directed = [key + self.pick("", " DESC") for key in keys]
        order = f"ORDER BY {', '.join(directed)}"
        over = f"OVER ({self.parted(keys)}{order}{self.frame()})"
        plain = f"OVER ({self.parted(keys)}{order})"
        count = self.counted()
        return self.pick(
            f"SUM({count}) {over}",
            f"SUM({count}) {over}",
            f"AVG({count}) {over}",
            f"SUM({count}) OVER ()",
            f"SUM({count} + 1) {over}",
            f"SUM({count}) OVER (PARTITION BY {keys[0]})",
            f"SUM({count}) OVER (ORDER BY {keys[0]})",
            f"LAG({count}) {plain}",
            f"LEAD({count}, 2) {plain}",
            f"LAG({count}, 1, 0) {plain}",
            f"LAG(AVG(age)) {plain}",
            f"FIRST_VALUE({count}) {over}",
            f"LAST_VALUE({count}) {over}",
            f"NTH_VALUE({count}, 2) {over}",
            f"SUM(SUM(age)) {over} / SUM(COUNT(*)) {over}",
        )

    def parted(self, keys: list[str]) -> str:
        return f"PARTITION BY {self.pick(*keys)} " if self.chance(0.3) else ""

    def frame(self) -> str:
        return self.pick(
            "",
            " ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW",
            " ROWS BETWEEN 2 PRECEDING AND CURRENT ROW",
            " ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING",
            " ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING",
            " ROWS BETWEEN 2 PRECEDING AND 1 PRECEDING",
            " ROWS BETWEEN 1 FOLLOWING AND 2 FOLLOWING",
            " ROWS UNBOUNDED PRECEDING",
            " ROWS 1 PRECEDING",
            " RANGE BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING",
            " RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING",
        )

    def counted(self) -> str:
        return self.pick(
            "COUNT(*)", "COUNT(*)", "SUM(age)", "COUNT_IF(sex = 'Male')", "SUM(age - 2 * tier)",
            "COUNT(*) FILTER (WHERE income = '>50K')",
        ).replace("SUM(age - 2 * tier)", "(COUNT(*) - 2 * COUNT_IF(married))")  # fmt: skip
