"""Exceptions: what is answered otherwise than by a real server, each with its reason."""

from __future__ import annotations

_EMPTY = {
    "no role is a member of another here": r"""
datagrip: DataGrip members of roles
""",
    "there are no extensions here": r"""
datagrip: DataGrip extensions
datagrip: DataGrip members of extensions
dbeaver: DBeaver extensions
dbeaver: DBeaver extensions that could be installed
pgadmin: pgAdmin extensions extensions
pgadmin: pgAdmin extensions properties
psql: psql \dx
psql: psql \dx+
psql: psql \dx+ 2
""",
    "nobody comments on what is built in": r"""
datagrip: DataGrip comments
""",
    "relations have no types of their own here, and there are no domains": r"""
dbeaver: DBeaver types of a schema
jdbc: JDBC getUDTs
jdbc: JDBC getUDTs distinct
jdbc: JDBC getUDTs 2
jdbc: JDBC getUDTs distinct 2
""",
    "texts are UTF-8 here, and are never converted": r"""
dbeaver: DBeaver encodings
pgadmin: pgAdmin databases get_icu_locale
""",
    "what depends on what is not told": r"""
pgadmin: pgAdmin roles dependents
pgadmin: pgAdmin depends dependencies
pgadmin: pgAdmin depends dependents
pgadmin: pgAdmin recorded: table dependency
""",
    "there are no lists of privileges here": r"""
pgadmin: pgAdmin schemas acl
pgadmin: pgAdmin catalog acl
pgadmin: pgAdmin tables acl
pgadmin: pgAdmin views acl
""",
    "there are no indexes here, so no operator classes": r"""
pgadmin: pgAdmin exclusion_constraint get_oper_class
pgadmin: pgAdmin indexes get_op_class
psql: psql \dAc
psql: psql \dAc btree
psql: psql \dAf
psql: psql \dAo
psql: psql \dAp
psql: psql \dS+ pg_class 4
sqlalchemy: SQLAlchemy ix 2
""",
    "texts are not searched here": r"""
pgadmin: pgAdmin fts_configurations nodes of pg_catalog
pgadmin: pgAdmin fts_dictionaries nodes of pg_catalog
pgadmin: pgAdmin fts_parsers nodes of pg_catalog
pgadmin: pgAdmin recorded: fts_template nodes 2
psql: psql \dF
psql: psql \dFd
psql: psql \dFd+
psql: psql \dFp
psql: psql \dFt
""",
    "nobody adds functions here, so there are no further languages": r"""
pgadmin: pgAdmin languages properties
psql: psql \dL
psql: psql \dL+
""",
    "there are no foreign tables here": r"""
pgadmin: pgAdmin foreign_data_wrappers validators
""",
    "nothing is locked here": r"""
pgadmin: pgAdmin dashboard locks
""",
    "only settings that the catalogue knows are listed": r"""
pgadmin: pgAdmin recorded: table obj
pgadmin: pgAdmin recorded: table obj 2
""",
    "sizes, counts and the sessions of others are not told": r"""
pgadmin: pgAdmin recorded: dashboard activity 2
""",
    "nothing is set otherwise than usual": r"""
psql: psql \dconfig
psql: psql \dconfig+
""",
}
_OTHER = {
    "there are no transactions here, so no numbers of them": r"""
datagrip: DataGrip transaction
datagrip: DataGrip tables
datagrip: DataGrip columns
dbeaver: DBeaver databases
dbeaver: DBeaver all databases
pgadmin: pgAdmin views properties
pgadmin: pgAdmin views properties, one
""",
    "there are no template databases here, and nobody comments on databases": r"""
datagrip: DataGrip databases
datagrip: DataGrip privileges of databases
datagrip: DataGrip privileges of schemas
jdbc: JDBC getCatalogs 2
pgadmin: pgAdmin databases nodes, all
pgadmin: pgAdmin databases stats, all
pgadmin: pgAdmin roles databases
pgadmin: pgAdmin recorded: database obj
psql: psql \l
psql: psql \l+
psql: psql \l+ people
""",
    "UTC is the only time zone here": r"""
datagrip: DataGrip time zones
""",
    "the roles of the server itself are not listed, and eke has no rights of its own": r"""
datagrip: DataGrip roles
dbeaver: DBeaver roles
pgadmin: pgAdmin roles nodes
pgadmin: pgAdmin roles properties, all
psql: psql \du
psql: psql \dg+
""",
    "there is no schema pg_toast here": r"""
datagrip: DataGrip schemas
dbeaver: DBeaver schemas
""",
    "there are no indexes here, so no further access methods": r"""
datagrip: DataGrip access methods
dbeaver: DBeaver access methods
pgadmin: pgAdmin exclusion_constraint get_access_methods
pgadmin: pgAdmin indexes get_am
psql: psql \dA
psql: psql \dA+
""",
    "nobody adds functions here, so there are no further languages": r"""
datagrip: DataGrip languages
dbeaver: DBeaver languages
pgadmin: pgAdmin functions get_languages
pgadmin: pgAdmin languages count
pgadmin: pgAdmin languages functions
psql: psql \dLS
""",
    "only casts and operators between kinds of columns are listed": r"""
datagrip: DataGrip casts
pgadmin: pgAdmin columns edit_mode_types
pgadmin: pgAdmin columns edit_mode_types_multi
pgadmin: pgAdmin exclusion_constraint get_operator
pgadmin: pgAdmin operators nodes of pg_catalog
pgadmin: pgAdmin casts getsrcandtrgttype
pgadmin: pgAdmin casts nodes, with those of the system
pgadmin: pgAdmin recorded: table obj 3
pgadmin: pgAdmin recorded: column obj
pgadmin: pgAdmin recorded: column obj 2
pgadmin: pgAdmin recorded: column obj 4
pgadmin: pgAdmin recorded: column obj 5
pgadmin: pgAdmin recorded: column obj 6
psql: psql \dC
psql: psql \dC+
psql: psql \dC int4
psql: psql \doS =
psql: psql \do+ =
""",
    "there are no lists of privileges here": r"""
datagrip: DataGrip privileges of tables
jdbc: JDBC getTablePrivileges
jdbc: JDBC getColumnPrivileges
jdbc: JDBC getTablePrivileges 2
jdbc: JDBC getColumnPrivileges 2
psql: psql \dp
psql: psql \z people
""",
    "the text of a view or a function is not told": r"""
datagrip: DataGrip sources of views
dbeaver: DBeaver source of a view
pgadmin: pgAdmin rules properties of a view
psql: psql \d+ adults 3
psql: psql \sv adults 2
psql: psql \sf textin 2
sqlalchemy: SQLAlchemy viewdef
""",
    "only settings that the catalogue knows are listed": r"""
dbeaver: DBeaver setting
dbeaver: DBeaver settings
pgadmin: pgAdmin dashboard config
""",
    "only types that the catalogue knows are listed, without comments": r"""
dbeaver: DBeaver types
jdbc: JDBC getTypeInfo 2
jdbc: JDBC getTypeInfo 3
npgsql: Npgsql types
pgadmin: pgAdmin columns get_types
pgadmin: pgAdmin functions get_types
pgadmin: pgAdmin types nodes of pg_catalog
pgadmin: pgAdmin types get_types
pgadmin: pgAdmin datatype get_types
psql: psql \dTS
psql: psql \dTS+ int*
psql: psql \dT int4
""",
    "there are no lists of privileges here, and no storage": r"""
dbeaver: DBeaver tables
pgadmin: pgAdmin tables properties
pgadmin: pgAdmin tables properties, all
""",
    "sizes, counts and the sessions of others are not told": r"""
dbeaver: DBeaver sizes of tables
dbeaver: DBeaver sessions
metabase: Metabase tables
pgadmin: pgAdmin servers stats
pgadmin: pgAdmin databases stats
pgadmin: pgAdmin tables stats
pgadmin: pgAdmin dashboard activity
pgadmin: pgAdmin dashboard dashboard_stats
pgadmin: pgAdmin recorded: dashboard activity
psql: psql \dt+
psql: psql \dtvs+
""",
    "only columns that can be asked for are listed": r"""
dbeaver: DBeaver columns
""",
    "nobody comments on what is built in": r"""
functions: definitions
""",
    "only relations that can be asked for are listed": r"""
jdbc: JDBC getTables all
jdbc: JDBC getTables all 2
odbc: ODBC columns all
pgadmin: pgAdmin catalog_object nodes
pgadmin: pgAdmin catalog_object properties
pgadmin: pgAdmin recorded: table nodes
pgadmin: pgAdmin recorded: view nodes
psql: psql \dt *.*
psql: psql \dS
""",
    "only functions that the catalogue answers are listed, without comments": r"""
jdbc: JDBC getFunctions system
jdbc: JDBC getFunctions system 2
odbc: ODBC procedures
odbc: ODBC procedureColumns
pgadmin: pgAdmin functions node of pg_catalog
pgadmin: pgAdmin aggregates nodes of pg_catalog
psql: psql \df lower
psql: psql \df+ lower
psql: psql \daS
psql: psql \daS count
psql: psql \dfaS
psql: psql \df pg_catalog.int4*
""",
    "nothing can be written to here": r"""
npgsql: Npgsql columns of a result
standard: tables, all columns
standard: columns, all columns
""",
    "of relations of the system only names and types are told": r"""
odbc: ODBC foreignKeys 2
odbc: ODBC foreignKeys 3
odbc: ODBC foreignKeys 4
odbc: ODBC foreignKeys 5
odbc: ODBC procedures 2
psql: psql \dS+ pg_class 2
psql: psql \dS+ pg_class 3
psql: psql \d pg_class
psql: psql \d pg_class 2
psql: psql \d information_schema.tables 3
""",
    "texts are UTF-8 here, and are never converted": r"""
pgadmin: pgAdmin databases get_encodings
""",
    "the schema public belongs to eke here, and nobody comments on schemas": r"""
pgadmin: pgAdmin schemas nodes
pgadmin: pgAdmin schemas properties
pgadmin: pgAdmin schemas properties, one
pgadmin: pgAdmin catalog nodes
pgadmin: pgAdmin catalog properties
psql: psql \dn
psql: psql \dn+
psql: psql \dn public
""",
    "only collations that need no library are listed": r"""
pgadmin: pgAdmin columns get_collations
pgadmin: pgAdmin indexes get_collations
pgadmin: pgAdmin collations nodes of pg_catalog
pgadmin: pgAdmin collations get_collations
pgadmin: pgAdmin domains get_collations
psql: psql \dOS
""",
    "the numbers of relations and rules differ": r"""
pgadmin: pgAdmin rules nodes of a view
pgadmin: pgAdmin search table
pgadmin: pgAdmin recorded: search_objects search 2
""",
    "there are no extensions here": r"""
pgadmin: pgAdmin extensions count
""",
    "the version is eke's": r"""
pgadmin: pgAdmin recorded: on connect
psql: psql \dconfig server_version
superset: Superset version
tableau: Tableau version
""",
    "every relation of the catalogue can be read here": r"""
pgadmin: pgAdmin recorded: search_objects search
""",
    "every session has the same number": r"""
superset: Superset process
""",
}


def _by_title(table: dict[str, str]) -> dict[str, str]:
    return {
        title: reason for reason, titles in table.items() for title in titles.split("\n") if title
    }


EMPTY_HERE = _by_title(_EMPTY)
"""Nothing is listed here, where a server lists something."""

OTHER_ROWS = _by_title(_OTHER)
"""The columns are the same, the rows are not."""

REFUSED: dict[str, str] = {}
"""An error here, where a server answers."""
