"""The statements of database tools, each with a title, and the relations that they are about.

In a statement {people} and {adults} stand for the OIDs of the two relations, {database} and {ana}
for those of the database and of the user. `python -m tests.unit.catalogue.corpus` counts them.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from eke.catalogue import Catalogue, CatalogueColumn, Relation
from tests.unit.catalogue.exceptions import EMPTY_HERE, OTHER_ROWS, REFUSED

FIXTURES = Path(__file__).parents[2] / "fixtures" / "catalogue"
_COLUMNS = {
    "age": ("bigint", 20),
    "sex": ("text", 25),
    "hours": ("double precision", 701),
    "born": ("date", 1082),
    "seen": ("timestamp", 1114),
    "member": ("boolean", 16),
    "Odd Name": ("integer", 23),
}
COMMENT = "who lives here"
OIDS = """
SELECT relname, oid FROM pg_class WHERE relname IN ('people', 'adults')
UNION ALL SELECT 'database', oid FROM pg_database WHERE datname = current_database()
UNION ALL SELECT rolname, oid FROM pg_roles WHERE rolname = 'ana'
"""
TABLES = (
    "CREATE TABLE people ("
    + ", ".join(f'"{name}" {kind}' for name, (kind, _) in _COLUMNS.items())
    + ")",
    "CREATE VIEW adults AS SELECT age, sex FROM people",
    f"COMMENT ON TABLE people IS '{COMMENT}'",
    "GRANT SELECT ON people, adults TO ana",
)


class Statement(NamedTuple):
    """A statement with the file and the line above it."""

    title: str
    text: str

    def about(self, oids: dict[str, int]) -> str:
        text = self.text
        for name, oid in oids.items():
            text = text.replace(f"{{{name}}}", str(oid))
        return text


def statements() -> list[Statement]:
    """All of them; a title that comes twice gets a number."""
    listed: dict[str, Statement] = {}
    for path in sorted(FIXTURES.glob("*.sql")):
        for block in re.split(r";\n\n|;\n\Z", path.read_text("utf-8")):
            if block.strip():
                line, text = block.strip().split("\n", 1)
                title = base = f"{path.stem}: {line.removeprefix('-- ')}"
                number = 1
                while title in listed:
                    number += 1
                    title = f"{base} {number}"
                listed[title] = Statement(title, text)
    return list(listed.values())


def make_catalogue() -> Catalogue:
    columns = tuple(CatalogueColumn(name, oid) for name, (_, oid) in _COLUMNS.items())
    return Catalogue(
        databases=["people", "postgres"],
        database="people",
        user="ana",
        relations=[
            Relation("people", columns, comment=COMMENT),
            Relation("adults", columns[:2], "v"),
        ],
    )


def oids_in(catalogue: Catalogue) -> dict[str, int]:
    return {str(name): int(str(oid)) for name, oid in catalogue.run(OIDS).rows}


def counts() -> dict[str, tuple[int, ...]]:
    """Of each file: statements, those with other rows, those with none, those refused."""
    titles = [statement.title for statement in statements()]
    return {
        path.stem: (
            sum(title.startswith(f"{path.stem}: ") for title in titles),
            *(
                sum(title.startswith(f"{path.stem}: ") for title in table)
                for table in (OTHER_ROWS, EMPTY_HERE, REFUSED)
            ),
        )
        for path in sorted(FIXTURES.glob("*.sql"))
    }


if __name__ == "__main__":
    print("file: statements, with other rows, with none, refused")  # noqa: T201
    for stem, numbers in counts().items():
        print(f"{stem}: {', '.join(map(str, numbers))}")  # noqa: T201
    total = [sum(numbers) for numbers in zip(*counts().values(), strict=True)]
    print(f"together: {', '.join(map(str, total))}")  # noqa: T201
