"""Random questions with UNION, INTERSECT and EXCEPT over Adult."""

from __future__ import annotations

from dataclasses import dataclass

from tests.sql_grammar import Writer
from tests.sql_sets import COMPLETE

TEXT_KEYS = ("sex", "income")
NUMBER_KEYS = tuple(key for key in COMPLETE if key not in TEXT_KEYS)
CONDITIONS = ("", "", " WHERE age BETWEEN 20 AND 75", " WHERE hours >= 20 OR sex = 'Male'")
LINEAR = (
    *(
        "COUNT(*)",
        "COUNT(*)",
        "SUM(age)",
        "COUNT(married)",
        "COUNT(*) + 10",
        "3 * SUM(education_num) - 1",
    ),
    *("COUNT(*) FILTER (WHERE income = '>50K')", "COUNT_IF(age < 30)", "17"),
)
KINDS = {
    "mean": ("AVG(age)", "AVG(education_num)", "AVG(hours)"),
    "spread": ("STDDEV(age)", "STDDEV(education_num)"),
    "share": ("COUNT_IF(sex = 'Male') / COUNT(*)", "SUM(age) / COUNT(married)"),
    "rounded": ("ROUND(AVG(age), 1)", "ROUND(AVG(education_num), 1)"),
}
WORDS = ("UNION ALL", "UNION ALL", "UNION", "INTERSECT", "EXCEPT", "INTERSECT ALL", "EXCEPT ALL")


@dataclass
class UnionWriter(Writer):
    """Writes two to four SELECTs with one to four columns of the same kinds."""

    def statement(self) -> str:
        is_plain = self.chance(0.5)  # UNION ALL throughout; else rows are compared
        kinds = [self.pick("texts", "numbers", "label") for _ in range(int(self.rng.integers(3)))]
        values = ["linear"] if is_plain else ["count"]
        if is_plain and self.chance(0.6):
            values.append(self.pick(*KINDS))
        branches = [
            self.branch(kinds, values, is_first=not place)
            for place in range(int(self.rng.integers(2, 5)))
        ]
        text = branches[0]
        for branch in branches[1:]:
            if self.chance(0.2):
                text = f"({text})"
            written = f"({branch})" if self.chance(0.2) else branch
            text += f" {'UNION ALL' if is_plain else self.pick(*WORDS)} {written}"
        columns = len(kinds) + len(values)
        if self.chance(0.5):
            places = self.rng.permutation(columns) + 1
            text += " ORDER BY " + ", ".join(f"{at}{self.pick('', ' DESC')}" for at in places)
            text += self.pick("", " LIMIT 3", " LIMIT 4 OFFSET 1")
        return text

    def branch(self, kinds: list[str], values: list[str], *, is_first: bool) -> str:
        keys: list[str] = []
        shown: list[str] = []
        for kind in kinds:
            choices = {"texts": TEXT_KEYS, "numbers": NUMBER_KEYS, "label": ("",)}[kind]
            free = [key for key in choices if key and key not in keys]
            if not free or (kind == "texts" and self.chance(0.3)):
                shown.append(self.pick("'all'", "'some'", "NULL") if kind != "numbers" else "7")
            else:
                keys.append(self.pick(*free))
                shown.append(keys[-1])
        picked = {
            "linear": LINEAR,
            "count": ("COUNT(*)", "SUM(education_num)", "COUNT_IF(age < 30)"),
        }
        shown += [self.pick(*(picked | KINDS)[kind]) for kind in values]
        if not any("(" in one for one in shown[len(kinds) :]):
            shown[len(kinds)] = "COUNT(*)"  # what needs no data is refused
        names = [f"{one} AS c{at}" if is_first else one for at, one in enumerate(shown)]
        text = f"SELECT {', '.join(names)} FROM adult{self.pick(*CONDITIONS)}"
        if keys:
            text += f" GROUP BY {', '.join(keys)}"
            if self.chance(0.2) and "COUNT(*)" in shown:
                text += f" HAVING COUNT(*) {self.pick('>', '<')} 1500"
        return text
