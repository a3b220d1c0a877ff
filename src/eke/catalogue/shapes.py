"""Shapes: the catalogue relations that can be asked for, each with its OID and columns.

They are those of PostgreSQL 15. What is not listed here is not answered, rather than empty.
"""

from __future__ import annotations

PG_CATALOG = """
pg_aggregate 2600 r aggfnoid:regproc aggkind:char aggnumdirectargs:int2 aggtransfn:regproc
  aggfinalfn:regproc aggcombinefn:regproc aggserialfn:regproc aggdeserialfn:regproc
  aggmtransfn:regproc aggminvtransfn:regproc aggmfinalfn:regproc aggfinalextra:bool
  aggmfinalextra:bool aggfinalmodify:char aggmfinalmodify:char aggsortop:oid aggtranstype:oid
  aggtransspace:int4 aggmtranstype:oid aggmtransspace:int4 agginitval:text aggminitval:text
pg_am 2601 r oid:oid amname:name amhandler:regproc amtype:char
pg_attrdef 2604 r oid:oid adrelid:oid adnum:int2 adbin:pg_node_tree
pg_attribute 1249 r attrelid:oid attname:name atttypid:oid attstattarget:int4 attlen:int2
  attnum:int2 attndims:int4 attcacheoff:int4 atttypmod:int4 attbyval:bool attalign:char
  attstorage:char attcompression:char attnotnull:bool atthasdef:bool atthasmissing:bool
  attidentity:char attgenerated:char attisdropped:bool attislocal:bool attinhcount:int4
  attcollation:oid attacl:_aclitem attoptions:_text attfdwoptions:_text attmissingval:anyarray
pg_auth_members 1261 r roleid:oid member:oid grantor:oid admin_option:bool
pg_class 1259 r oid:oid relname:name relnamespace:oid reltype:oid reloftype:oid relowner:oid
  relam:oid relfilenode:oid reltablespace:oid relpages:int4 reltuples:float4 relallvisible:int4
  reltoastrelid:oid relhasindex:bool relisshared:bool relpersistence:char relkind:char
  relnatts:int2 relchecks:int2 relhasrules:bool relhastriggers:bool relhassubclass:bool
  relrowsecurity:bool relforcerowsecurity:bool relispopulated:bool relreplident:char
  relispartition:bool relrewrite:oid relfrozenxid:xid relminmxid:xid relacl:_aclitem
  reloptions:_text relpartbound:pg_node_tree
pg_collation 3456 r oid:oid collname:name collnamespace:oid collowner:oid collprovider:char
  collisdeterministic:bool collencoding:int4 collcollate:text collctype:text colliculocale:text
  collversion:text
pg_constraint 2606 r oid:oid conname:name connamespace:oid contype:char condeferrable:bool
  condeferred:bool convalidated:bool conrelid:oid contypid:oid conindid:oid conparentid:oid
  confrelid:oid confupdtype:char confdeltype:char confmatchtype:char conislocal:bool
  coninhcount:int4 connoinherit:bool conkey:_int2 confkey:_int2 conpfeqop:_oid conppeqop:_oid
  conffeqop:_oid confdelsetcols:_int2 conexclop:_oid conbin:pg_node_tree
pg_database 1262 r oid:oid datname:name datdba:oid encoding:int4 datlocprovider:char
  datistemplate:bool datallowconn:bool datconnlimit:int4 datfrozenxid:xid datminmxid:xid
  dattablespace:oid datcollate:text datctype:text daticulocale:text datcollversion:text
  datacl:_aclitem
pg_db_role_setting 2964 r setdatabase:oid setrole:oid setconfig:_text
pg_default_acl 826 r oid:oid defaclrole:oid defaclnamespace:oid defaclobjtype:char
  defaclacl:_aclitem
pg_depend 2608 r classid:oid objid:oid objsubid:int4 refclassid:oid refobjid:oid refobjsubid:int4
  deptype:char
pg_description 2609 r objoid:oid classoid:oid objsubid:int4 description:text
pg_enum 3501 r oid:oid enumtypid:oid enumsortorder:float4 enumlabel:name
pg_event_trigger 3466 r oid:oid evtname:name evtevent:name evtowner:oid evtfoid:oid
  evtenabled:char evttags:_text
pg_extension 3079 r oid:oid extname:name extowner:oid extnamespace:oid extrelocatable:bool
  extversion:text extconfig:_oid extcondition:_text
pg_foreign_data_wrapper 2328 r oid:oid fdwname:name fdwowner:oid fdwhandler:oid fdwvalidator:oid
  fdwacl:_aclitem fdwoptions:_text
pg_foreign_server 1417 r oid:oid srvname:name srvowner:oid srvfdw:oid srvtype:text srvversion:text
  srvacl:_aclitem srvoptions:_text
pg_foreign_table 3118 r ftrelid:oid ftserver:oid ftoptions:_text
pg_group 12010 v groname:name grosysid:oid grolist:_oid
pg_index 2610 r indexrelid:oid indrelid:oid indnatts:int2 indnkeyatts:int2 indisunique:bool
  indnullsnotdistinct:bool indisprimary:bool indisexclusion:bool indimmediate:bool
  indisclustered:bool indisvalid:bool indcheckxmin:bool indisready:bool indislive:bool
  indisreplident:bool indkey:int2vector indcollation:oidvector indclass:oidvector
  indoption:int2vector indexprs:pg_node_tree indpred:pg_node_tree
pg_indexes 12043 v schemaname:name tablename:name indexname:name tablespace:name indexdef:text
pg_inherits 2611 r inhrelid:oid inhparent:oid inhseqno:int4 inhdetachpending:bool
pg_language 2612 r oid:oid lanname:name lanowner:oid lanispl:bool lanpltrusted:bool
  lanplcallfoid:oid laninline:oid lanvalidator:oid lanacl:_aclitem
pg_matviews 12038 v schemaname:name matviewname:name matviewowner:name tablespace:name
  hasindexes:bool ispopulated:bool definition:text
pg_namespace 2615 r oid:oid nspname:name nspowner:oid nspacl:_aclitem
pg_opclass 2616 r oid:oid opcmethod:oid opcname:name opcnamespace:oid opcowner:oid opcfamily:oid
  opcintype:oid opcdefault:bool opckeytype:oid
pg_partitioned_table 3350 r partrelid:oid partstrat:char partnatts:int2 partdefid:oid
  partattrs:int2vector partclass:oidvector partcollation:oidvector partexprs:pg_node_tree
pg_policies 12018 v schemaname:name tablename:name policyname:name permissive:text roles:_name
  cmd:text qual:text with_check:text
pg_policy 3256 r oid:oid polname:name polrelid:oid polcmd:char polpermissive:bool polroles:_oid
  polqual:pg_node_tree polwithcheck:pg_node_tree
pg_proc 1255 r oid:oid proname:name pronamespace:oid proowner:oid prolang:oid procost:float4
  prorows:float4 provariadic:oid prosupport:regproc prokind:char prosecdef:bool proleakproof:bool
  proisstrict:bool proretset:bool provolatile:char proparallel:char pronargs:int2
  pronargdefaults:int2 prorettype:oid proargtypes:oidvector proallargtypes:_oid proargmodes:_char
  proargnames:_text proargdefaults:pg_node_tree protrftypes:_oid prosrc:text probin:text
  prosqlbody:pg_node_tree proconfig:_text proacl:_aclitem
pg_publication 6104 r oid:oid pubname:name pubowner:oid puballtables:bool pubinsert:bool
  pubupdate:bool pubdelete:bool pubtruncate:bool pubviaroot:bool
pg_publication_namespace 6237 r oid:oid pnpubid:oid pnnspid:oid
pg_publication_rel 6106 r oid:oid prpubid:oid prrelid:oid prqual:pg_node_tree prattrs:int2vector
pg_publication_tables 12068 v pubname:name schemaname:name tablename:name attnames:_name
  rowfilter:text
pg_range 3541 r rngtypid:oid rngsubtype:oid rngmultitypid:oid rngcollation:oid rngsubopc:oid
  rngcanonical:regproc rngsubdiff:regproc
pg_rewrite 2618 r oid:oid rulename:name ev_class:oid ev_type:char ev_enabled:char is_instead:bool
  ev_qual:pg_node_tree ev_action:pg_node_tree
pg_roles 12000 v rolname:name rolsuper:bool rolinherit:bool rolcreaterole:bool rolcreatedb:bool
  rolcanlogin:bool rolreplication:bool rolconnlimit:int4 rolpassword:text
  rolvaliduntil:timestamptz rolbypassrls:bool rolconfig:_text oid:oid
pg_rules 12023 v schemaname:name tablename:name rulename:name definition:text
pg_seclabel 3596 r objoid:oid classoid:oid objsubid:int4 provider:text label:text
pg_seclabels 12099 v objoid:oid classoid:oid objsubid:int4 objtype:text objnamespace:oid
  objname:text provider:text label:text
pg_sequence 2224 r seqrelid:oid seqtypid:oid seqstart:int8 seqincrement:int8 seqmax:int8
  seqmin:int8 seqcache:int8 seqcycle:bool
pg_sequences 12048 v schemaname:name sequencename:name sequenceowner:name data_type:regtype
  start_value:int8 min_value:int8 max_value:int8 increment_by:int8 cycle:bool cache_size:int8
  last_value:int8
pg_settings 12104 v name:text setting:text unit:text category:text short_desc:text extra_desc:text
  context:text vartype:text source:text min_val:text max_val:text enumvals:_text boot_val:text
  reset_val:text sourcefile:text sourceline:int4 pending_restart:bool
pg_shdepend 1214 r dbid:oid classid:oid objid:oid objsubid:int4 refclassid:oid refobjid:oid
  deptype:char
pg_shdescription 2396 r objoid:oid classoid:oid description:text
pg_statistic_ext 3381 r oid:oid stxrelid:oid stxname:name stxnamespace:oid stxowner:oid
  stxstattarget:int4 stxkeys:int2vector stxkind:_char stxexprs:pg_node_tree
pg_subscription 6100 r oid:oid subdbid:oid subskiplsn:pg_lsn subname:name subowner:oid
  subenabled:bool subbinary:bool substream:bool subtwophasestate:char subdisableonerr:bool
  subconninfo:text subslotname:name subsynccommit:text subpublications:_text
pg_tables 12033 v schemaname:name tablename:name tableowner:name tablespace:name hasindexes:bool
  hasrules:bool hastriggers:bool rowsecurity:bool
pg_tablespace 1213 r oid:oid spcname:name spcowner:oid spcacl:_aclitem spcoptions:_text
pg_transform 3576 r oid:oid trftype:oid trflang:oid trffromsql:regproc trftosql:regproc
pg_trigger 2620 r oid:oid tgrelid:oid tgparentid:oid tgname:name tgfoid:oid tgtype:int2
  tgenabled:char tgisinternal:bool tgconstrrelid:oid tgconstrindid:oid tgconstraint:oid
  tgdeferrable:bool tginitdeferred:bool tgnargs:int2 tgattr:int2vector tgargs:bytea
  tgqual:pg_node_tree tgoldtable:name tgnewtable:name
pg_type 1247 r oid:oid typname:name typnamespace:oid typowner:oid typlen:int2 typbyval:bool
  typtype:char typcategory:char typispreferred:bool typisdefined:bool typdelim:char typrelid:oid
  typsubscript:regproc typelem:oid typarray:oid typinput:regproc typoutput:regproc
  typreceive:regproc typsend:regproc typmodin:regproc typmodout:regproc typanalyze:regproc
  typalign:char typstorage:char typnotnull:bool typbasetype:oid typtypmod:int4 typndims:int4
  typcollation:oid typdefaultbin:pg_node_tree typdefault:text typacl:_aclitem
pg_user 12014 v usename:name usesysid:oid usecreatedb:bool usesuper:bool userepl:bool
  usebypassrls:bool passwd:text valuntil:timestamptz useconfig:_text
pg_user_mapping 1418 r oid:oid umuser:oid umserver:oid umoptions:_text
pg_views 12028 v schemaname:name viewname:name viewowner:name definition:text
"""
"""Each: name, OID, kind, then column:type."""

INFORMATION_SCHEMA = """
applicable_roles 13236 v grantee:name role_name:name is_grantable:varchar
check_constraints 13260 v constraint_catalog:name constraint_schema:name constraint_name:name
  check_clause:varchar
column_domain_usage 13280 v domain_catalog:name domain_schema:name domain_name:name
  table_catalog:name table_schema:name table_name:name column_name:name
column_privileges 13285 v grantor:name grantee:name table_catalog:name table_schema:name
  table_name:name column_name:name privilege_type:varchar is_grantable:varchar
columns 13295 v table_catalog:name table_schema:name table_name:name column_name:name
  ordinal_position:int4 column_default:varchar is_nullable:varchar data_type:varchar
  character_maximum_length:int4 character_octet_length:int4 numeric_precision:int4
  numeric_precision_radix:int4 numeric_scale:int4 datetime_precision:int4 interval_type:varchar
  interval_precision:int4 character_set_catalog:name character_set_schema:name
  character_set_name:name collation_catalog:name collation_schema:name collation_name:name
  domain_catalog:name domain_schema:name domain_name:name udt_catalog:name udt_schema:name
  udt_name:name scope_catalog:name scope_schema:name scope_name:name maximum_cardinality:int4
  dtd_identifier:name is_self_referencing:varchar is_identity:varchar identity_generation:varchar
  identity_start:varchar identity_increment:varchar identity_maximum:varchar
  identity_minimum:varchar identity_cycle:varchar is_generated:varchar
  generation_expression:varchar is_updatable:varchar
constraint_column_usage 13300 v table_catalog:name table_schema:name table_name:name
  column_name:name constraint_catalog:name constraint_schema:name constraint_name:name
constraint_table_usage 13305 v table_catalog:name table_schema:name table_name:name
  constraint_catalog:name constraint_schema:name constraint_name:name
domains 13320 v domain_catalog:name domain_schema:name domain_name:name data_type:varchar
  character_maximum_length:int4 character_octet_length:int4 character_set_catalog:name
  character_set_schema:name character_set_name:name collation_catalog:name collation_schema:name
  collation_name:name numeric_precision:int4 numeric_precision_radix:int4 numeric_scale:int4
  datetime_precision:int4 interval_type:varchar interval_precision:int4 domain_default:varchar
  udt_catalog:name udt_schema:name udt_name:name scope_catalog:name scope_schema:name
  scope_name:name maximum_cardinality:int4 dtd_identifier:name
element_types 13493 v object_catalog:name object_schema:name object_name:name object_type:varchar
  collection_type_identifier:name data_type:varchar character_maximum_length:int4
  character_octet_length:int4 character_set_catalog:name character_set_schema:name
  character_set_name:name collation_catalog:name collation_schema:name collation_name:name
  numeric_precision:int4 numeric_precision_radix:int4 numeric_scale:int4 datetime_precision:int4
  interval_type:varchar interval_precision:int4 domain_default:varchar udt_catalog:name
  udt_schema:name udt_name:name scope_catalog:name scope_schema:name scope_name:name
  maximum_cardinality:int4 dtd_identifier:name
enabled_roles 13325 v role_name:name
foreign_tables 13541 v foreign_table_catalog:name foreign_table_schema:name
  foreign_table_name:name foreign_server_catalog:name foreign_server_name:name
information_schema_catalog_name 13227 v catalog_name:name
key_column_usage 13329 v constraint_catalog:name constraint_schema:name constraint_name:name
  table_catalog:name table_schema:name table_name:name column_name:name ordinal_position:int4
  position_in_unique_constraint:int4
parameters 13334 v specific_catalog:name specific_schema:name specific_name:name
  ordinal_position:int4 parameter_mode:varchar is_result:varchar as_locator:varchar
  parameter_name:name data_type:varchar character_maximum_length:int4 character_octet_length:int4
  character_set_catalog:name character_set_schema:name character_set_name:name
  collation_catalog:name collation_schema:name collation_name:name numeric_precision:int4
  numeric_precision_radix:int4 numeric_scale:int4 datetime_precision:int4 interval_type:varchar
  interval_precision:int4 udt_catalog:name udt_schema:name udt_name:name scope_catalog:name
  scope_schema:name scope_name:name maximum_cardinality:int4 dtd_identifier:name
  parameter_default:varchar
referential_constraints 13339 v constraint_catalog:name constraint_schema:name
  constraint_name:name unique_constraint_catalog:name unique_constraint_schema:name
  unique_constraint_name:name match_option:varchar update_rule:varchar delete_rule:varchar
role_table_grants 13421 v grantor:name grantee:name table_catalog:name table_schema:name
  table_name:name privilege_type:varchar is_grantable:varchar with_hierarchy:varchar
routines 13377 v specific_catalog:name specific_schema:name specific_name:name
  routine_catalog:name routine_schema:name routine_name:name routine_type:varchar
  module_catalog:name module_schema:name module_name:name udt_catalog:name udt_schema:name
  udt_name:name data_type:varchar character_maximum_length:int4 character_octet_length:int4
  character_set_catalog:name character_set_schema:name character_set_name:name
  collation_catalog:name collation_schema:name collation_name:name numeric_precision:int4
  numeric_precision_radix:int4 numeric_scale:int4 datetime_precision:int4 interval_type:varchar
  interval_precision:int4 type_udt_catalog:name type_udt_schema:name type_udt_name:name
  scope_catalog:name scope_schema:name scope_name:name maximum_cardinality:int4
  dtd_identifier:name routine_body:varchar routine_definition:varchar external_name:varchar
  external_language:varchar parameter_style:varchar is_deterministic:varchar
  sql_data_access:varchar is_null_call:varchar sql_path:varchar schema_level_routine:varchar
  max_dynamic_result_sets:int4 is_user_defined_cast:varchar is_implicitly_invocable:varchar
  security_type:varchar to_sql_specific_catalog:name to_sql_specific_schema:name
  to_sql_specific_name:name as_locator:varchar created:timestamptz last_altered:timestamptz
  new_savepoint_level:varchar is_udt_dependent:varchar result_cast_from_data_type:varchar
  result_cast_as_locator:varchar result_cast_char_max_length:int4
  result_cast_char_octet_length:int4 result_cast_char_set_catalog:name
  result_cast_char_set_schema:name result_cast_char_set_name:name
  result_cast_collation_catalog:name result_cast_collation_schema:name
  result_cast_collation_name:name result_cast_numeric_precision:int4
  result_cast_numeric_precision_radix:int4 result_cast_numeric_scale:int4
  result_cast_datetime_precision:int4 result_cast_interval_type:varchar
  result_cast_interval_precision:int4 result_cast_type_udt_catalog:name
  result_cast_type_udt_schema:name result_cast_type_udt_name:name result_cast_scope_catalog:name
  result_cast_scope_schema:name result_cast_scope_name:name result_cast_maximum_cardinality:int4
  result_cast_dtd_identifier:name
schemata 13382 v catalog_name:name schema_name:name schema_owner:name
  default_character_set_catalog:name default_character_set_schema:name
  default_character_set_name:name sql_path:varchar
sequences 13386 v sequence_catalog:name sequence_schema:name sequence_name:name data_type:varchar
  numeric_precision:int4 numeric_precision_radix:int4 numeric_scale:int4 start_value:varchar
  minimum_value:varchar maximum_value:varchar increment:varchar cycle_option:varchar
table_constraints 13411 v constraint_catalog:name constraint_schema:name constraint_name:name
  table_catalog:name table_schema:name table_name:name constraint_type:varchar
  is_deferrable:varchar initially_deferred:varchar enforced:varchar nulls_distinct:varchar
table_privileges 13416 v grantor:name grantee:name table_catalog:name table_schema:name
  table_name:name privilege_type:varchar is_grantable:varchar with_hierarchy:varchar
tables 13425 v table_catalog:name table_schema:name table_name:name table_type:varchar
  self_referencing_column_name:name reference_generation:varchar user_defined_type_catalog:name
  user_defined_type_schema:name user_defined_type_name:name is_insertable_into:varchar
  is_typed:varchar commit_action:varchar
triggers 13440 v trigger_catalog:name trigger_schema:name trigger_name:name
  event_manipulation:varchar event_object_catalog:name event_object_schema:name
  event_object_table:name action_order:int4 action_condition:varchar action_statement:varchar
  action_orientation:varchar action_timing:varchar action_reference_old_table:name
  action_reference_new_table:name action_reference_old_row:name action_reference_new_row:name
  created:timestamptz
user_defined_types 13463 v user_defined_type_catalog:name user_defined_type_schema:name
  user_defined_type_name:name user_defined_type_category:varchar is_instantiable:varchar
  is_final:varchar ordering_form:varchar ordering_category:varchar ordering_routine_catalog:name
  ordering_routine_schema:name ordering_routine_name:name reference_type:varchar data_type:varchar
  character_maximum_length:int4 character_octet_length:int4 character_set_catalog:name
  character_set_schema:name character_set_name:name collation_catalog:name collation_schema:name
  collation_name:name numeric_precision:int4 numeric_precision_radix:int4 numeric_scale:int4
  datetime_precision:int4 interval_type:varchar interval_precision:int4 source_dtd_identifier:name
  ref_dtd_identifier:name
view_column_usage 13468 v view_catalog:name view_schema:name view_name:name table_catalog:name
  table_schema:name table_name:name column_name:name
view_table_usage 13478 v view_catalog:name view_schema:name view_name:name table_catalog:name
  table_schema:name table_name:name
views 13483 v table_catalog:name table_schema:name table_name:name view_definition:varchar
  check_option:varchar is_updatable:varchar is_insertable_into:varchar
  is_trigger_updatable:varchar is_trigger_deletable:varchar is_trigger_insertable_into:varchar
"""
"""The same of the standard's views; their OIDs are our own."""
