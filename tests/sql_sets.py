"""Random questions with ROLLUP, CUBE and GROUPING SETS over Adult.

No set of keys is there twice, so that GROUPING(…) and the keys tell all rows apart.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

from tests.sql_grammar import Writer

COMPLETE = ("sex", "income", "tier", "FLOOR(age / 41)", "age % 5")
"""All of their groups have records."""
KEYS = (*COMPLETE, "workclass", "married", "hours", "FLOOR(age / 20)")
CONDITIONS = ("", "", "", " WHERE age < 50", " WHERE education_num > 9 AND sex = 'Male'")


@dataclass
class SetWriter(Writer):
    """Writes questions with one to three keys and as many values."""

    def statement(self) -> str:
        ordered = self.chance(0.4)
        chosen = self.rng.permutation(COMPLETE if ordered else KEYS)[: self.some(1, 4)]
        names = [f"k{i}" for i in range(len(chosen))]
        # DuckDB knows a key within GROUPING only as it is written in GROUP BY.
        written = [self.pick(name, key) for name, key in zip(names, chosen, strict=True)]
        level = f"{self.pick('GROUPING', 'GROUPING_ID')}({', '.join(written)})"
        shown = [f"{level} AS g", *(f"{key} AS k{i}" for i, key in enumerate(chosen))]
        values = [f"{self.value(level, windows=ordered)} AS c{i}" for i in range(self.some(1, 4))]
        where = "" if ordered else self.pick(*CONDITIONS)
        text = f"SELECT {', '.join([*shown, *values])} FROM adult{where} GROUP BY "
        placed = [str(i) if one == key else one
                  for i, (one, key) in enumerate(zip(written, chosen, strict=True), 2)]  # fmt: skip
        text += self.clause(placed if self.chance(0.3) else written)
        if ordered:
            if "OVER" not in text:
                text += self.pick("", " HAVING COUNT(*) > 300", f" HAVING {level} > 0")
            order = ["g", *names]
            text += f" ORDER BY {', '.join(one + self.pick('', ' DESC') for one in order)}"
            text += self.pick("", " LIMIT 3", " LIMIT 4 OFFSET 2")
        return text

    def some(self, low: int, high: int) -> int:
        return int(self.rng.integers(low, high))

    def clause(self, keys: list[str]) -> str:
        listed, (first, *rest) = ", ".join(keys), keys
        others = ", ".join(rest)
        simple = [f"ROLLUP ({listed})", f"CUBE ({listed})", self.sets(keys)]
        if not rest:
            return self.pick(*simple)
        return self.pick(
            *simple,
            *simple,
            f"{first}, ROLLUP ({others})",
            f"CUBE ({others}), {first}",
            f"ROLLUP ({first}), CUBE ({others})",
            f"{first}, {self.sets(rest)}",
            f"ROLLUP ({', '.join([f'({first}, {rest[0]})', *rest[1:]])})",
            f"GROUPING SETS (ROLLUP ({first}, {others}), ({others}))",
            f"({listed})",
        )

    def sets(self, keys: list[str]) -> str:
        every = [one for size in range(len(keys) + 1) for one in combinations(keys, size)]
        places = self.rng.permutation(len(every))[: self.some(1, len(every) + 1)]
        chosen = [every[int(place)] for place in places]
        if not any(chosen):  # else there is no key to name
            chosen.append((keys[0],))
        if len({key for one in chosen for key in one}) < len(keys):
            chosen = [*(one for one in chosen if len(one) < len(keys)), tuple(keys)]
        return f"GROUPING SETS ({', '.join('(' + ', '.join(one) + ')' for one in chosen)})"

    def value(self, level: str, *, windows: bool) -> str:
        over = f"SUM(COUNT(*)) OVER (PARTITION BY {level})"
        more = [over, f"100.0 * COUNT(*) / {over}", "SUM(SUM(age)) OVER ()"] if windows else []
        return self.pick(
            *more,
            "COUNT(*)",
            "COUNT(*)",
            "SUM(age)",
            "AVG(age)",
            "AVG(hours)",
            "STDDEV(age)",
            "COUNT(married)",
            "COUNT(*) FILTER (WHERE income = '>50K')",
            "ROUND(100.0 * COUNT_IF(sex = 'Male') / COUNT(*), 1)",
            "COUNT(*) - 2 * COUNT_IF(age < 30) + 1",
        )
