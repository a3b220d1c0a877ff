"""Keywords of PostgreSQL 15, as pg_get_keywords() lists them."""

from __future__ import annotations

from collections.abc import Iterator

from eke.catalogue.relation import Row

_UNRESERVED = """
abort absolute access action add admin after aggregate also alter always asensitive assertion
assignment at atomic attach attribute backward before begin breadth by cache call called cascade
cascaded catalog chain characteristics checkpoint class close cluster columns comment comments
commit committed compression configuration conflict connection constraints content continue
conversion copy cost csv cube current cursor cycle data database deallocate declare defaults
deferred definer delete delimiter delimiters depends depth detach dictionary disable discard
document domain double drop each enable encoding encrypted enum escape event exclude excluding
exclusive execute explain expression extension external family finalize first following force
forward function functions generated global granted groups handler header hold identity if
immediate immutable implicit import include including increment index indexes inherit inherits
inline input insensitive insert instead invoker isolation key label language large last leakproof
level listen load local location lock locked logged mapping match matched materialized maxvalue
merge method minvalue mode move name names new next nfc nfd nfkc nfkd no normalized nothing notify
nowait nulls object of off oids old operator option options ordinality others overriding owned
owner parallel parameter parser partial partition passing password plans policy preceding prepare
prepared preserve prior privileges procedural procedure procedures program publication quote range
read reassign recheck recursive ref referencing refresh reindex relative release rename repeatable
replace replica reset restart restrict return returns revoke role rollback rollup routine routines
rows rule savepoint schema schemas scroll search security sequence sequences serializable server
session set sets share show simple skip snapshot sql stable standalone start statement statistics
stdin stdout storage stored strict strip subscription support sysid system tables tablespace temp
template temporary text ties transaction transform trigger truncate trusted type types uescape
unbounded uncommitted unencrypted unknown unlisten unlogged until update vacuum valid validate
validator value version view views volatile whitespace work wrapper write xml yes zone
"""
_OF_COLUMNS = """
between bigint bit boolean coalesce dec decimal exists extract float greatest grouping inout int
integer interval least national nchar none normalize nullif numeric out overlay position real row
setof smallint substring time timestamp treat trim values varchar xmlattributes xmlconcat
xmlelement xmlexists xmlforest xmlnamespaces xmlparse xmlpi xmlroot xmlserialize xmltable
"""
_OF_FUNCTIONS = """
authorization binary collation concurrently cross current_schema freeze full ilike inner is join
left like natural outer right similar tablesample verbose
"""
_RESERVED = """
all analyse analyze and any asc asymmetric both case cast check collate column constraint
current_catalog current_date current_role current_time current_timestamp current_user default
deferrable desc distinct do else end false foreign in initially lateral leading localtime
localtimestamp not null only or placing primary references select session_user some symmetric
table then trailing true unique user using variadic when
"""
# These need AS where they name a column.
_UNRESERVED_AFTER_AS = """
day filter hour minute month over second varying within without year
"""
_OF_COLUMNS_AFTER_AS = "char character precision"
_OF_FUNCTIONS_AFTER_AS = "isnull notnull overlaps"
_RESERVED_AFTER_AS = """
array as create except fetch for from grant group having intersect into limit offset on order
returning to union where window with
"""
_KINDS = (
    ("U", "unreserved", _UNRESERVED, _UNRESERVED_AFTER_AS),
    ("C", "unreserved (cannot be function or type name)", _OF_COLUMNS, _OF_COLUMNS_AFTER_AS),
    ("T", "reserved (can be function or type name)", _OF_FUNCTIONS, _OF_FUNCTIONS_AFTER_AS),
    ("R", "reserved", _RESERVED, _RESERVED_AFTER_AS),
)
QUOTED = frozenset(
    word for code, _, bare, after in _KINDS if code != "U" for word in (bare + after).split()
)
"""Words that PostgreSQL puts in quotation marks when they are names."""


def keywords() -> Iterator[Row]:
    """The rows of pg_get_keywords()."""
    rows = {
        word: {
            "word": word,
            "catcode": code,
            "barelabel": words is bare,
            "catdesc": description,
            "baredesc": "can be bare label" if words is bare else "requires AS",
        }
        for code, description, bare, after in _KINDS
        for words in (bare, after)
        for word in words.split()
    }
    yield from (rows[word] for word in sorted(rows))
