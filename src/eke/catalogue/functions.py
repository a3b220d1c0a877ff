"""Functions: the list of what a statement may call, and what each call becomes.

A function of PostgreSQL that the engine lacks is a macro of it named `eke_…`; some rest on
functions in Python (`lookups`), whose names start with `py_`. What is not listed does not exist.
"""

from __future__ import annotations

from eke.catalogue.kind import REFERENCES

VERSION = "PostgreSQL 15.0 (eke), a catalogue of names and types, 64-bit"
_PLAIN_NAMES = """
abs avg bool_and bool_or btrim cardinality ceil ceiling char_length character_length
coalesce count date_trunc dense_rank first_value floor greatest json_build_object
lag last_value lead least left length lower ltrim max md5 min mod nullif power rank right
round row_number rtrim sign split_part starts_with string_agg strpos substr sum trim trunc
upper unnest array_agg array_to_string array_position every concat replace array
generate_series generate_subscripts octet_length string_to_array
"""
PLAIN = frozenset(_PLAIN_NAMES.split())
"""Functions that mean the same to the engine, but for those that have another name there."""

RENAMED = {
    "btrim": "trim",
    "length": "eke_length",
    "char_length": "eke_length",
    "character_length": "eke_length",
    "strpos": "eke_strpos",
    "nullif": "eke_nullif",
    "every": "bool_and",
    "json_build_object": "json_object",
    "cardinality": "len",
    "ceiling": "ceil",
    "concat": "eke_concat",
    "replace": "py_replace",
    "octet_length": "eke_octet_length",
    "generate_series": "eke_series",
    "array_to_string": "eke_array_to_string",
    "string_to_array": "eke_string_to_array",
}
BOUNDED = {"string_agg": "eke_bounded_text", "array_agg": "eke_bounded", "array": "eke_bounded"}
"""Functions that may grow without limit, and what their results go through."""

_NONE = "CAST(NULL AS VARCHAR)"
_TRUE = "(a IS NOT NULL OR NULL)"
_CLASS = "py_regclass(CAST(a AS VARCHAR))"
_SCHEMA = "py_granted(py_regnamespace(CAST(a AS VARCHAR)), b)"
_BASE = "py_granted(py_database(CAST(a AS VARCHAR)), b)"
_GRANTED = f"py_granted({_CLASS}, b)"
_USED = "py_granted(0, b) OR (a IS NULL AND NULL)"
_NO_GRANTS = (
    "unnest(CAST([] AS STRUCT(grantor UINTEGER, grantee UINTEGER, "
    "privilege_type VARCHAR, is_grantable BOOLEAN)[]))"
)
MACROS = {
    "version": f"() AS '{VERSION}'",
    "current_database": "() AS py_context('database')",
    "current_catalog": "() AS py_context('database')",
    "current_schema": "() AS 'public'",
    "current_schemas": "(a) AS CASE WHEN a THEN ['pg_catalog', 'public'] ELSE ['public'] END",
    "current_user": "() AS py_context('user')",
    "session_user": "() AS py_context('user')",
    "current_role": "() AS py_context('user')",
    "user": "() AS py_context('user')",
    "current_query": "() AS ''",
    "pg_backend_pid": "() AS 1",
    "pg_my_temp_schema": "() AS CAST(0 AS UINTEGER)",
    "pg_is_other_temp_schema": "(a) AS FALSE",
    "pg_is_in_recovery": "() AS FALSE",
    "pg_is_wal_replay_paused": "() AS FALSE",
    "pg_jit_available": "() AS FALSE",
    "pg_postmaster_start_time": "() AS py_now()",
    "pg_conf_load_time": "() AS py_now()",
    "inet_server_addr": f"() AS {_NONE}",
    "inet_server_port": "() AS CAST(NULL AS INTEGER)",
    "inet_client_addr": f"() AS {_NONE}",
    "inet_client_port": "() AS CAST(NULL AS INTEGER)",
    "pg_advisory_unlock_all": "() AS ''",
    "txid_current": "() AS CAST(1 AS BIGINT)",
    "pg_current_xact_id": "() AS CAST(1 AS BIGINT)",
    "now": "() AS py_now()",
    "transaction_timestamp": "() AS py_now()",
    "statement_timestamp": "() AS py_now()",
    "clock_timestamp": "() AS py_now()",
    "current_timestamp": "() AS py_now(), (a) AS py_now()",
    "localtimestamp": "() AS py_now(), (a) AS py_now()",
    "current_date": "() AS CAST(py_now() AS DATE)",
    "current_setting": "(a) AS py_setting(a, FALSE), (a, b) AS py_setting(a, b)",
    "set_config": "(a, b, c) AS b",
    "format_type": "(a, b) AS py_format_type(CAST(a AS UINTEGER), CAST(b AS INTEGER))",
    "pg_get_userbyid": "(a) AS py_role(CAST(a AS UINTEGER))",
    "obj_description": "(a) AS py_comment(CAST(a AS UINTEGER)), (a, b) AS "
    "CASE WHEN b = 'pg_class' THEN py_comment(CAST(a AS UINTEGER)) END",
    "col_description": f"(a, b) AS {_NONE}",
    "shobj_description": f"(a, b) AS {_NONE}",
    "pg_get_expr": f"(a, b) AS {_NONE}, (a, b, c) AS {_NONE}",
    "pg_get_viewdef": "(a) AS py_viewdef(CAST(a AS VARCHAR)), "
    "(a, b) AS py_viewdef(CAST(a AS VARCHAR))",
    "pg_get_constraintdef": f"(a) AS {_NONE}, (a, b) AS {_NONE}",
    "pg_get_indexdef": f"(a) AS {_NONE}, (a, b, c) AS {_NONE}",
    "pg_get_triggerdef": f"(a) AS {_NONE}, (a, b) AS {_NONE}",
    "pg_get_ruledef": f"(a) AS {_NONE}, (a, b) AS {_NONE}",
    "pg_get_partkeydef": f"(a) AS {_NONE}",
    "pg_get_partition_constraintdef": f"(a) AS {_NONE}",
    "pg_get_statisticsobjdef": f"(a) AS {_NONE}",
    "pg_get_statisticsobjdef_columns": f"(a) AS {_NONE}",
    "pg_get_serial_sequence": f"(a, b) AS {_NONE}",
    "pg_tablespace_location": "(a) AS ''",
    "pg_encoding_to_char": "(a) AS CASE a WHEN 6 THEN 'UTF8' WHEN 0 THEN 'SQL_ASCII' ELSE '' END",
    "pg_char_to_encoding": "(a) AS CASE upper(a) WHEN 'UTF8' THEN 6 ELSE -1 END",
    "getdatabaseencoding": "() AS 'UTF8'",
    "pg_client_encoding": "() AS 'UTF8'",
    "pg_relation_size": f"(a) AS py_size({_CLASS}), (a, b) AS py_size({_CLASS})",
    "pg_table_size": f"(a) AS py_size({_CLASS})",
    "pg_indexes_size": f"(a) AS py_size({_CLASS})",
    "pg_total_relation_size": f"(a) AS py_size({_CLASS})",
    "pg_database_size": "(a) AS py_database(CAST(a AS VARCHAR)) * CAST(0 AS BIGINT)",
    "pg_tablespace_size": "(a) AS CAST(0 AS BIGINT)",
    "pg_size_pretty": "(a) AS py_size_pretty(CAST(a AS BIGINT))",
    "pg_relation_filenode": "(a) AS CAST(a AS UINTEGER)",
    "pg_relation_is_publishable": "(a) AS FALSE",
    "pg_relation_is_updatable": "(a, b) AS 0",
    "pg_column_is_updatable": "(a, b, c) AS FALSE",
    "pg_table_is_visible": "(a) AS py_visible(CAST(a AS UINTEGER))",
    "pg_type_is_visible": f"(a) AS {_TRUE}",
    "pg_function_is_visible": f"(a) AS {_TRUE}",
    "pg_collation_is_visible": f"(a) AS {_TRUE}",
    "pg_opclass_is_visible": f"(a) AS {_TRUE}",
    "pg_opfamily_is_visible": f"(a) AS {_TRUE}",
    "pg_operator_is_visible": f"(a) AS {_TRUE}",
    "pg_conversion_is_visible": f"(a) AS {_TRUE}",
    "pg_statistics_obj_is_visible": f"(a) AS {_TRUE}",
    "pg_ts_config_is_visible": f"(a) AS {_TRUE}",
    "pg_ts_dict_is_visible": f"(a) AS {_TRUE}",
    "pg_ts_parser_is_visible": f"(a) AS {_TRUE}",
    "pg_ts_template_is_visible": f"(a) AS {_TRUE}",
    "has_table_privilege": f"(a, b) AS {_GRANTED}, (c, a, b) AS {_GRANTED}",
    "has_schema_privilege": f"(a, b) AS {_SCHEMA}, (c, a, b) AS {_SCHEMA}",
    "has_database_privilege": f"(a, b) AS {_BASE}, (c, a, b) AS {_BASE}",
    "has_column_privilege": f"(a, c, b) AS {_GRANTED}, (d, a, c, b) AS {_GRANTED}",
    "has_any_column_privilege": f"(a, b) AS {_GRANTED}, (c, a, b) AS {_GRANTED}",
    "has_function_privilege": f"(a, b) AS {_USED}, (c, a, b) AS {_USED}",
    "has_language_privilege": f"(a, b) AS {_USED}, (c, a, b) AS {_USED}",
    "has_type_privilege": f"(a, b) AS {_USED}, (c, a, b) AS {_USED}",
    "has_tablespace_privilege": f"(a, b) AS {_USED}, (c, a, b) AS {_USED}",
    "pg_has_role": "(a, b) AS (a IS NOT NULL OR NULL), (a, b, c) AS (b IS NOT NULL OR NULL)",
    "row_security_active": "(a) AS FALSE",
    "to_regclass": "(a) AS py_to_regclass(a)",
    "to_regtype": "(a) AS py_to_regtype(a)",
    "to_regnamespace": "(a) AS py_to_regnamespace(a)",
    "to_regrole": "(a) AS py_to_regrole(a)",
    "quote_ident": "(a) AS py_quote_ident(a)",
    "quote_literal": "(a) AS '''' || py_replace(CAST(a AS VARCHAR), '''', '''''') || ''''",
    "array_upper": "(a, b) AS CASE WHEN b = 1 THEN py_positive(len(a)) END",
    "array_lower": "(a, b) AS CASE WHEN b = 1 AND len(a) > 0 THEN 1 END",
    "array_length": "(a, b) AS CASE WHEN b = 1 THEN py_positive(len(a)) END",
    "_pg_expandarray": "(a) AS unnest(list_transform(a, "
    "lambda x, i: {'x': x, 'n': CAST(i AS INTEGER)}))",
    "aclexplode": f"(a) AS {_NO_GRANTS}",
    "acldefault": "(a, b) AS CAST(NULL AS VARCHAR[])",
    "to_char": "(a, b) AS py_unanswered(CAST(a AS VARCHAR))",
    "pg_options_to_table": "(a) AS unnest(CAST([] AS "
    "STRUCT(option_name VARCHAR, option_value VARCHAR)[]))",
    "pg_partition_tree": "(a) AS unnest(CAST([] AS "
    "STRUCT(relid UINTEGER, parentrelid UINTEGER, isleaf BOOLEAN, level INTEGER)[]))",
    "date_part": "(a, b) AS CAST(date_part(a, b) AS DOUBLE)",
    "octet_length": "(a) AS octet_length(encode(a))",
    "age": "(a) AS CASE WHEN a IS NOT NULL THEN 2147483647 END",
    "translate": "(a, b, c) AS py_translate(a, b, c)",
    "parse_ident": "(a) AS py_parse_ident(a), (a, b) AS py_parse_ident(a)",
    "oidvectortypes": "(a) AS py_type_names(CAST(a AS UINTEGER[]))",
    "array_remove": "(a, b) AS list_filter(a, lambda x: x IS DISTINCT FROM b)",
    "chr": "(a) AS py_letter(CAST(a AS BIGINT))",
    "encode": "(a, b) AS py_unanswered(CAST(a AS VARCHAR))",
    "row_to_json": "(a) AS py_join(CAST(to_json(a) AS VARCHAR), '')",
    "pg_blocking_pids": "(a) AS CAST([] AS INTEGER[])",
    "pg_describe_object": "(a, b, c) AS py_unanswered(CAST(a AS VARCHAR))",
    "pg_stat_get_numscans": "(a) AS CAST(NULL AS BIGINT)",
    "pg_indexam_has_property": "(a, b) AS CAST(NULL AS BOOLEAN)",
    "pg_get_function_result": "(a) AS py_function_result(CAST(a AS UINTEGER))",
    "pg_get_function_arguments": "(a) AS py_function_arguments(CAST(a AS UINTEGER))",
    "pg_get_function_identity_arguments": "(a) AS py_function_arguments(CAST(a AS UINTEGER))",
    "pg_get_function_sqlbody": f"(a) AS {_NONE}",
    "pg_get_functiondef": f"(a) AS {_NONE}",
}
HELPERS = {
    "array_text": "(a) AS '{' || py_array_to_string(CAST(a AS VARCHAR[]), ',', NULL) || '}'",
    "array_to_string": "(a, b) AS py_array_to_string(CAST(a AS VARCHAR[]), b, NULL), "
    "(a, b, c) AS py_array_to_string(CAST(a AS VARCHAR[]), b, c)",
    "string_to_array": "(a, b) AS py_string_to_array(a, b)",
    "bounded_text": "(a) AS py_join(a, '')",
    "bounded": "(a) AS list_transform([a], lambda x: "
    "CASE WHEN len(x) > 2000 THEN error('eke: too long') ELSE x END)[1]",
    "nullif": "(a, b) AS list_transform([{'a': a, 'b': b}], lambda x: "
    "CASE WHEN x.a = x.b THEN NULL ELSE x.a END)[1]",
    "fitting": "(a, b, c) AS list_transform([a], lambda x: "
    "CASE WHEN regexp_matches(x, b) THEN regexp_extract(x, b, c) END)[1]",
    "distinct": "(a, b) AS a IS DISTINCT FROM b",
    "same": "(a, b) AS a IS NOT DISTINCT FROM b",
    "small": "(a) AS list_transform([a], lambda x: "
    "CASE WHEN length(CAST(x AS VARCHAR)) > 256 THEN error('eke: too long') ELSE x END)[1]",
    "concat": "(a) AS coalesce(CAST(a AS VARCHAR), ''), (a, b) AS "
    "py_join(coalesce(CAST(a AS VARCHAR), ''), coalesce(CAST(b AS VARCHAR), ''))",
    "text": "(a) AS a || ''",
    "length": "(a) AS CAST(length(a) AS INTEGER)",
    "strpos": "(a, b) AS CAST(strpos(a, b) AS INTEGER)",
    "series": "(a, b) AS py_series(a, b, 1), (a, b, c) AS py_series(a, b, c)",
    **{
        f"names_{kind}": f"(a) AS list_transform(a, lambda x: py_name_{kind}(x))"
        for kind in sorted(REFERENCES)
    },
}
"""Macros that no client names.

As all macros, they use an argument once: else a nested call would double at every level.
"""

_NAMES = "current_database current_catalog current_schema current_user session_user current_role "
_NAMES += "user pg_get_userbyid pg_encoding_to_char getdatabaseencoding pg_client_encoding"
_MOMENTS = "now transaction_timestamp statement_timestamp clock_timestamp current_timestamp "
_MOMENTS += "pg_postmaster_start_time pg_conf_load_time"
RETURNS = {
    **dict.fromkeys(_NAMES.split(), "name"),
    **dict.fromkeys(_MOMENTS.split(), "timestamptz"),
    "current_schemas": "_name",
    "to_regclass": "regclass",
    "to_regtype": "regtype",
    "to_regnamespace": "regnamespace",
    "to_regrole": "regrole",
    "json_build_object": "json",
    "pg_advisory_unlock_all": "void",
    "row_to_json": "json",
    "acldefault": "_aclitem",
    "inet_server_addr": "inet",
    "inet_client_addr": "inet",
}
"""The kinds of results that the engine's own types do not tell."""

CASTING = frozenset(
    {"bpchar", "float4", "float8", "int2", "int4", "int8", "name", "text", "varchar"}
)
"""Types whose names are functions of one value, which cast it."""

RELATIONS = {"pg_show_all_settings": "pg_settings"}
"""Functions that give the rows of a relation."""

RECORDS: dict[str, list[tuple[str, str | None]]] = {
    "_pg_expandarray": [("x", None), ("n", "int4")],
    "aclexplode": [
        ("grantor", "oid"),
        ("grantee", "oid"),
        ("privilege_type", "text"),
        ("is_grantable", "bool"),
    ],
    "pg_options_to_table": [("option_name", "text"), ("option_value", "text")],
    "pg_partition_tree": [
        ("relid", "regclass"),
        ("parentrelid", "regclass"),
        ("isleaf", "bool"),
        ("level", "int4"),
    ],
}
"""Functions that give rows of several columns, and the kinds of these."""

SAME_AS_ARGUMENT = frozenset({"min", "max", "coalesce", "nullif", "greatest", "least", "unnest"})
