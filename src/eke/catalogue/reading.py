"""Reading: from a client's text to the tree of one SELECT, WITH, VALUES or TABLE statement.

The grammar is PostgreSQL's, as sqlglot reads it, but a function stays a plain call of its name,
so that what may be called is decided by our list (`functions`) and by nothing else.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import ClassVar

from sqlglot import exp
from sqlglot.dialects.postgres import Postgres
from sqlglot.parsers.postgres import PostgresParser
from sqlglot.tokenizer_core import Token, TokenType

from eke.catalogue.failure import SYNTAX, TOO_LONG, UNSUPPORTED, CatalogueError

MOST_CHARACTERS = 65_536
MOST_NODES = 10_000
MOST_TABLES, MOST_JOINED = 120, 60
MOST_NESTING = 12
MOST_LEVELS = 250  # of nodes; whatever rewrites one of them may copy all below it
MOST_BRACKETS, MOST_NESTED_BRACKETS = 300, 6
"""Reading a chain of them takes long, and each that is inside another doubles the time.
"""
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
    """PostgreSQL's grammar without knowledge of functions.

    Where words can be read in several ways, it tries one, goes back and tries the next, and again
    within each of them; over so many tokens it may go back.
    """

    tokens_left = 0
    FUNCTIONS: ClassVar = {}
    FUNCTION_PARSERS: ClassVar = {name: PostgresParser.FUNCTION_PARSERS[name] for name in _SPECIAL}

    def _retreat(self, index: int) -> None:
        self.tokens_left -= max(self._index - index, 0)
        if self.tokens_left < 0:
            raise CatalogueError("the statement can be read in too many ways", TOO_LONG)
        super()._retreat(index)


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
_STATEMENTS = frozenset(
    {TokenType.SELECT, TokenType.TABLE, TokenType.UPDATE, TokenType.INSERT, TokenType.DELETE}
)
_TIMES_BACK, _FEW_BACK = 6, 200
_ENDS = frozenset({TokenType.COMMA, TokenType.FROM, TokenType.R_PAREN})


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


def _tokens(sql: str) -> list[Token]:
    """The tokens of a text; a word that begins statements is a name after a dot, or after AS."""
    tokens = _DIALECT.tokenize(sql)
    ends = [token.token_type for token in tokens[2:]] + [TokenType.FROM] * 2
    for before, word, after in zip(tokens, tokens[1:], ends, strict=False):
        named = before.token_type is TokenType.ALIAS and after in _ENDS
        if (named or before.token_type is TokenType.DOT) and word.token_type in _STATEMENTS:
            word.token_type = TokenType.IDENTIFIER
            word.text = word.text.lower()
    return tokens


def _trees(sql: str) -> list[exp.Expr | None]:
    try:
        tokens = _tokens(sql)
        parser = CatalogueParser(dialect=_DIALECT)
        parser.tokens_left = _TIMES_BACK * len(tokens) + _FEW_BACK
        trees = parser.parse(tokens, sql)
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
    joined: Counter[int] = Counter()  # tables by the SELECT that they are in
    depths = {id(tree): (0, 0, 0)}
    for nodes, node in enumerate(tree.walk()):
        levels, queries, select = depths.get(id(node.parent), (0, 0, 0))
        tables += isinstance(node, exp.Table)
        joined[select] += isinstance(node, exp.Table)
        if isinstance(node, exp.Select):
            queries, select = queries + 1, id(node)
        depths[id(node)] = levels + 1, queries, select
        is_deep = levels >= MOST_LEVELS or queries > MOST_NESTING
        is_wide = joined[select] > MOST_JOINED or tables > MOST_TABLES
        if nodes > MOST_NODES or is_wide or is_deep:
            raise CatalogueError("the statement has too many parts; ask for less", TOO_LONG)
