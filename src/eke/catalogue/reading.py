"""Reading: from a client's text to the tree of one SELECT, WITH, VALUES or TABLE statement.

The grammar is PostgreSQL's, as sqlglot reads it, but a function stays a plain call of its name,
so that what may be called is decided by our list (`functions`) and by nothing else.
"""

from __future__ import annotations

import re
from typing import ClassVar

from sqlglot import exp
from sqlglot.dialects.postgres import Postgres
from sqlglot.parsers.postgres import PostgresParser
from sqlglot.tokenizer_core import TokenType

from eke.catalogue.failure import SYNTAX, TOO_LONG, UNSUPPORTED, CatalogueError

MOST_CHARACTERS = 65_536
MOST_NODES = 10_000
MOST_TABLES = 60
MOST_NESTING = 12
MOST_LEVELS = 250  # of nodes; whatever rewrites one of them may copy all below it
MOST_BRACKETS, MOST_NESTED_BRACKETS = 300, 6
"""Reading a chain of them takes long, and each that is inside another doubles the time."""
_START = re.compile(
    r"(?:\s++|--[^\n]*+|/\*(?:[^*]|\*(?!/))*+\*/|\()*+(select|with|values|table)\b", re.IGNORECASE
)
_OTHER = re.compile(
    r"\s*(alter|analyze|attach|begin|call|checkpoint|close|comment|commit|copy|create|deallocate|"
    r"declare|delete|detach|discard|do|drop|execute|explain|export|fetch|grant|import|insert|"
    r"install|listen|load|lock|merge|move|notify|pragma|prepare|refresh|reindex|release|reset|"
    r"revoke|rollback|savepoint|set|show|start|truncate|unlisten|update|use|vacuum)\b",
    re.IGNORECASE,
)
_BRACKET = re.compile(r"[\[\]]")
# Read by a grammar of their own; all other calls are read alike.
_SPECIAL = ("CAST", "EXTRACT", "POSITION", "SUBSTRING", "TRIM")


class CatalogueParser(PostgresParser):
    """PostgreSQL's grammar without knowledge of functions."""

    FUNCTIONS: ClassVar = {}
    FUNCTION_PARSERS: ClassVar = {name: PostgresParser.FUNCTION_PARSERS[name] for name in _SPECIAL}


class CatalogueDialect(Postgres):
    """The dialect of that grammar; oid, regclass and the like are names of types as any other."""

    class Tokenizer(Postgres.Tokenizer):  # noqa: D106
        KEYWORDS: ClassVar = {
            word: token
            for word, token in Postgres.Tokenizer.KEYWORDS.items()
            if token is not TokenType.OBJECT_IDENTIFIER
        }

    Parser = CatalogueParser


_DIALECT = CatalogueDialect()


def statement(sql: str) -> exp.Query:
    """The tree of the one statement of a text; a CatalogueError if it is not one query."""
    if len(sql) > MOST_CHARACTERS:
        raise CatalogueError(
            f"the text has {len(sql):,} characters; at most {MOST_CHARACTERS:,} are read", TOO_LONG
        )
    if sql.count("[") > MOST_BRACKETS or _brackets(sql) > MOST_NESTED_BRACKETS:
        raise CatalogueError("the text has too many brackets; ask for less", TOO_LONG)
    if "\0" in sql:
        raise CatalogueError("the text has a null character; remove it", SYNTAX)
    if not _START.match(sql):
        code = UNSUPPORTED if _OTHER.match(sql) else SYNTAX
        raise CatalogueError("only SELECT, WITH, VALUES and TABLE are answered here", code)
    trees = [tree for tree in _trees(sql) if tree is not None]
    if len(trees) != 1:
        raise CatalogueError("send one statement at a time", SYNTAX)
    tree = trees[0]
    while isinstance(tree, exp.Subquery) and not tree.args.get("alias"):
        tree = tree.this
    if isinstance(tree, exp.Values) and tree.expressions:
        count = len(tree.expressions[0].expressions)
        names = [exp.to_identifier(f"column{number + 1}") for number in range(count)]
        tree.set("alias", exp.TableAlias(this=exp.to_identifier("listed"), columns=names))
        tree = exp.Select(expressions=[exp.Star()], from_=exp.From(this=tree))
    if not isinstance(tree, exp.Query):
        raise CatalogueError("only SELECT, WITH, VALUES and TABLE are answered here", UNSUPPORTED)
    return tree


def common_table(table: exp.Table) -> exp.CTE | None:
    """The WITH query that a table is the name of, if it is one."""
    if table.db or not isinstance(table.this, exp.Identifier):
        return None
    within, node = set(), table.parent
    while node is not None:
        within.add(id(node))
        clause = node.args.get("with_")
        recursive = clause is not None and clause.args.get("recursive")
        for common in clause.expressions if clause is not None else ():
            if id(common) in within and not recursive:
                break  # without RECURSIVE a name is not known in its own query, nor before it
            if common.alias.lower() == table.name.lower():
                return common if isinstance(common, exp.CTE) else None
        node = node.parent
    return None


def _trees(sql: str) -> list[exp.Expr | None]:
    try:
        trees = _DIALECT.parse(sql)
        for tree in trees:
            if tree is not None:
                _bound(tree)
    except CatalogueError:
        raise
    except RecursionError:
        pass
    except Exception:  # noqa: BLE001 -- whatever the parser raises, the text is at fault
        raise CatalogueError("the catalogue cannot read this statement", SYNTAX) from None
    else:
        return trees
    raise CatalogueError("the statement is nested too deeply; flatten it", TOO_LONG)


def _brackets(sql: str) -> int:
    """How many brackets are open at once."""
    opened = deepest = 0
    for bracket in _BRACKET.findall(sql):
        opened = opened + 1 if bracket == "[" else max(opened - 1, 0)
        deepest = max(deepest, opened)
    return deepest


def _bound(tree: exp.Expr) -> None:
    """Refuse what is small as a text and large for the engine."""
    tables = 0
    depths = {id(tree): (0, 0)}
    for nodes, node in enumerate(tree.walk()):
        tables += isinstance(node, exp.Table)
        levels, queries = depths.get(id(node.parent), (0, 0))
        levels, queries = levels + 1, queries + isinstance(node, exp.Select)
        depths[id(node)] = levels, queries
        is_deep = levels > MOST_LEVELS or queries > MOST_NESTING
        if nodes > MOST_NODES or tables > MOST_TABLES or is_deep:
            raise CatalogueError("the statement has too many parts; ask for less", TOO_LONG)
