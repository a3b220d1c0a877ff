"""Functions and operators that the catalogue answers, and casts between the kinds of columns.

OIDs, types and names are those of PostgreSQL 15.
"""

from __future__ import annotations

FUNCTIONS = """
56:boollt:16:16,16:i 57:boolgt:16:16,16:i 60:booleq:16:16,16:i 62:nameeq:16:19,19:i
63:int2eq:16:21,21:i 64:int2lt:16:21,21:i 65:int4eq:16:23,23:i 66:int4lt:16:23,23:i
67:texteq:16:25,25:i 84:boolne:16:16,16:i 89:version:25::s 141:int4mul:23:23,23:i
144:int4ne:16:23,23:i 145:int2ne:16:21,21:i 146:int2gt:16:21,21:i 147:int4gt:16:23,23:i
148:int2le:16:21,21:i 149:int4le:16:23,23:i 150:int4ge:16:23,23:i 151:int2ge:16:21,21:i
152:int2mul:21:21,21:i 153:int2div:21:21,21:i 154:int4div:23:23,23:i 157:textne:16:25,25:i
176:int2pl:21:21,21:i 177:int4pl:23:23,23:i 180:int2mi:21:21,21:i 181:int4mi:23:23,23:i
184:oideq:16:26,26:i 185:oidne:16:26,26:i 202:float4mul:700:700,700:i 203:float4div:700:700,700:i
204:float4pl:700:700,700:i 205:float4mi:700:700,700:i 216:float8mul:701:701,701:i
217:float8div:701:701,701:i 218:float8pl:701:701,701:i 219:float8mi:701:701,701:i
235:float8:701:21:i 236:float4:700:21:i 237:int2:21:701:i 238:int2:21:700:i
287:float4eq:16:700,700:i 288:float4ne:16:700,700:i 289:float4lt:16:700,700:i
290:float4le:16:700,700:i 291:float4gt:16:700,700:i 292:float4ge:16:700,700:i
293:float8eq:16:701,701:i 294:float8ne:16:701,701:i 295:float8lt:16:701,701:i
296:float8le:16:701,701:i 297:float8gt:16:701,701:i 298:float8ge:16:701,701:i 311:float8:701:700:i
312:float4:700:701:i 313:int4:23:21:i 314:int2:21:23:i 315:pg_jit_available:16::v
316:float8:701:23:i 317:int4:23:701:i 318:float4:700:23:i 319:int4:23:700:i
376:string_to_array:1009:25,25,25:i:n 384:array_to_string:25:2277,25,25:s:n
394:string_to_array:1009:25,25:i:n 395:array_to_string:25:2277,25:s 406:text:25:19:i
407:name:19:25:i 463:int8pl:20:20,20:i 464:int8mi:20:20,20:i 465:int8mul:20:20,20:i
466:int8div:20:20,20:i 467:int8eq:16:20,20:i 468:int8ne:16:20,20:i 469:int8lt:16:20,20:i
470:int8gt:16:20,20:i 471:int8le:16:20,20:i 472:int8ge:16:20,20:i 480:int4:23:20:i
481:int8:20:23:i 482:float8:701:20:i 483:int8:20:701:i 652:float4:700:20:i 653:int8:20:700:i
655:namelt:16:19,19:i 656:namele:16:19,19:i 657:namegt:16:19,19:i 658:namege:16:19,19:i
659:namene:16:19,19:i 714:int2:21:20:i 716:oidlt:16:26,26:i 717:oidle:16:26,26:i
720:octet_length:23:17:i 740:text_lt:16:25,25:i 741:text_le:16:25,25:i 742:text_gt:16:25,25:i
743:text_ge:16:25,25:i 746:session_user:19::s 753:trunc:829:829:i 754:int8:20:21:i
810:pg_client_encoding:19::s 817:current_query:25::v:n 850:textlike:16:25,25:i
851:textnlike:16:25,25:i 861:current_database:19::s 868:strpos:23:25,25:i 870:lower:25:25:i
871:upper:25:25:i 875:ltrim:25:25,25:i 876:rtrim:25:25,25:i 877:substr:25:25,23,23:i
881:ltrim:25:25:i 882:rtrim:25:25:i 883:substr:25:25,23:i 884:btrim:25:25,25:i 885:btrim:25:25:i
938:generate_series:1114:1114,1114,1186:i:s 939:generate_series:1184:1184,1184,1186:s:s
940:mod:21:21,21:i 941:mod:23:23,23:i 947:mod:20:20,20:i 1039:getdatabaseencoding:19::s
1066:generate_series:23:23,23,23:i:s 1067:generate_series:23:23,23:i:s
1068:generate_series:20:20,20,20:i:s 1069:generate_series:20:20,20:i:s
1081:format_type:25:26,23:s:n 1086:date_eq:16:1082,1082:i 1087:date_lt:16:1082,1082:i
1088:date_le:16:1082,1082:i 1089:date_gt:16:1082,1082:i 1090:date_ge:16:1082,1082:i
1091:date_ne:16:1082,1082:i 1140:date_mi:23:1082,1082:i 1171:date_part:701:25,1184:s
1172:date_part:701:25,1186:i 1191:generate_subscripts:23:2277,23,16:i:s
1192:generate_subscripts:23:2277,23:i:s 1215:obj_description:25:26,19:s
1216:col_description:25:26,23:s 1217:date_trunc:1184:25,1184:s 1218:date_trunc:1186:25,1186:i
1238:texticregexeq:16:25,25:i 1239:texticregexne:16:25,25:i 1254:textregexeq:16:25,25:i
1256:textregexne:16:25,25:i 1258:textcat:25:25,25:i 1264:pg_char_to_encoding:23:19:s
1273:date_part:701:25,1266:i 1282:quote_ident:25:25:i 1283:quote_literal:25:25:i
1284:date_trunc:1184:25,1184,25:s 1285:quote_literal:25:2283:s 1287:oid:26:20:i 1288:int8:20:26:i
1299:now:1184::s 1317:length:23:25:i 1318:length:23:1042:i 1342:round:701:701:i
1343:trunc:701:701:i 1348:obj_description:25:26:s 1367:character_length:23:1042:i
1368:power:701:701,701:i 1369:character_length:23:25:i 1372:char_length:23:1042:i
1374:octet_length:23:25:i 1375:octet_length:23:1042:i 1381:char_length:23:25:i
1384:date_part:701:25,1082:i 1385:date_part:701:25,1083:i 1387:pg_get_constraintdef:25:26:s
1394:abs:700:700:i 1395:abs:701:701:i 1396:abs:20:20:i 1397:abs:23:23:i 1398:abs:21:21:i
1402:current_schema:19::s 1403:current_schemas:1003:16:s 1573:pg_get_ruledef:25:26:s
1597:pg_encoding_to_char:19:23:s 1633:texticlike:16:25,25:i 1634:texticnlike:16:25,25:i
1638:oidgt:16:26,26:i 1639:oidge:16:26,26:i 1640:pg_get_viewdef:25:25:s
1641:pg_get_viewdef:25:26:s 1642:pg_get_userbyid:19:26:s 1643:pg_get_indexdef:25:26:s
1662:pg_get_triggerdef:25:26:s 1665:pg_get_serial_sequence:25:25,25:s 1681:length:23:1560:i
1682:octet_length:23:1560:i 1691:boolle:16:16,16:i 1692:boolge:16:16,16:i
1703:numeric:1700:1700,23:i 1705:abs:1700:1700:i 1706:sign:1700:1700:i 1707:round:1700:1700,23:i
1708:round:1700:1700:i 1709:trunc:1700:1700,23:i 1710:trunc:1700:1700:i 1711:ceil:1700:1700:i
1712:floor:1700:1700:i 1713:length:23:17,19:s 1716:pg_get_expr:25:194,26:s
1718:numeric_eq:16:1700,1700:i 1719:numeric_ne:16:1700,1700:i 1720:numeric_gt:16:1700,1700:i
1721:numeric_ge:16:1700,1700:i 1722:numeric_lt:16:1700,1700:i 1723:numeric_le:16:1700,1700:i
1724:numeric_add:1700:1700,1700:i 1725:numeric_sub:1700:1700,1700:i
1726:numeric_mul:1700:1700,1700:i 1727:numeric_div:1700:1700,1700:i 1728:mod:1700:1700,1700:i
1740:numeric:1700:23:i 1742:numeric:1700:700:i 1743:numeric:1700:701:i 1744:int4:23:1700:i
1745:float4:700:1700:i 1746:float8:701:1700:i 1779:int8:20:1700:i 1781:numeric:1700:20:i
1782:numeric:1700:21:i 1783:int2:21:1700:i 1922:has_table_privilege:16:19,25,25:s
1923:has_table_privilege:16:19,26,25:s 1924:has_table_privilege:16:26,25,25:s
1925:has_table_privilege:16:26,26,25:s 1926:has_table_privilege:16:25,25:s
1927:has_table_privilege:16:26,25:s 1961:timestamp:1114:1114,23:i
1993:shobj_description:25:26,19:s 2010:length:23:17:i 2015:btrim:17:17,17:i
2020:date_trunc:1114:25,1114:i 2021:date_part:701:25,1114:i 2024:timestamp:1114:1082:i
2026:pg_backend_pid:23::s 2029:date:1082:1114:i 2034:pg_conf_load_time:1184::s
2050:max:2277:2277:i:an 2051:min:2277:2277:i:an 2052:timestamp_eq:16:1114,1114:i
2053:timestamp_ne:16:1114,1114:i 2054:timestamp_lt:16:1114,1114:i 2055:timestamp_le:16:1114,1114:i
2056:timestamp_ge:16:1114,1114:i 2057:timestamp_gt:16:1114,1114:i 2077:current_setting:25:25:s
2078:set_config:25:25,25,16:v:n 2079:pg_table_is_visible:16:26:s 2080:pg_type_is_visible:16:26:s
2081:pg_function_is_visible:16:26:s 2083:pg_opclass_is_visible:16:26:s 2085:substr:17:17,23,23:i
2086:substr:17:17,23:i 2087:replace:25:25,25,25:i 2088:split_part:25:25,25,23:i
2091:array_lower:23:2277,23:i 2092:array_upper:23:2277,23:i 2098:pg_get_functiondef:25:26:s
2100:avg:1700:20:i:an 2101:avg:1700:23:i:an 2102:avg:1700:21:i:an 2103:avg:1700:1700:i:an
2104:avg:701:700:i:an 2105:avg:701:701:i:an 2106:avg:1186:1186:i:an 2107:sum:1700:20:i:an
2108:sum:20:23:i:an 2109:sum:20:21:i:an 2110:sum:700:700:i:an 2111:sum:701:701:i:an
2112:sum:790:790:i:an 2113:sum:1186:1186:i:an 2114:sum:1700:1700:i:an 2115:max:20:20:i:an
2116:max:23:23:i:an 2117:max:21:21:i:an 2118:max:26:26:i:an 2119:max:700:700:i:an
2120:max:701:701:i:an 2122:max:1082:1082:i:an 2123:max:1083:1083:i:an 2124:max:1266:1266:i:an
2125:max:790:790:i:an 2126:max:1114:1114:i:an 2127:max:1184:1184:i:an 2128:max:1186:1186:i:an
2129:max:25:25:i:an 2130:max:1700:1700:i:an 2131:min:20:20:i:an 2132:min:23:23:i:an
2133:min:21:21:i:an 2134:min:26:26:i:an 2135:min:700:700:i:an 2136:min:701:701:i:an
2138:min:1082:1082:i:an 2139:min:1083:1083:i:an 2140:min:1266:1266:i:an 2141:min:790:790:i:an
2142:min:1114:1114:i:an 2143:min:1184:1184:i:an 2144:min:1186:1186:i:an 2145:min:25:25:i:an
2146:min:1700:1700:i:an 2147:count:20:2276:i:an 2162:pg_get_function_arguments:25:26:s
2165:pg_get_function_result:25:26:s 2167:ceiling:1700:1700:i 2168:pg_database_size:20:19:v
2169:power:1700:1700,1700:i 2176:array_length:23:2277,23:i 2196:inet_client_addr:869::s:n
2197:inet_client_port:23::s:n 2198:inet_server_addr:869::s:n 2199:inet_server_port:23::s:n
2232:pg_get_function_identity_arguments:25:26:s 2244:max:1042:1042:i:an 2245:min:1042:1042:i:an
2250:has_database_privilege:16:19,25,25:s 2251:has_database_privilege:16:19,26,25:s
2252:has_database_privilege:16:26,25,25:s 2253:has_database_privilege:16:26,26,25:s
2254:has_database_privilege:16:25,25:s 2255:has_database_privilege:16:26,25:s
2256:has_function_privilege:16:19,25,25:s 2257:has_function_privilege:16:19,26,25:s
2258:has_function_privilege:16:26,25,25:s 2259:has_function_privilege:16:26,26,25:s
2260:has_function_privilege:16:25,25:s 2261:has_function_privilege:16:26,25:s
2268:has_schema_privilege:16:19,25,25:s 2269:has_schema_privilege:16:19,26,25:s
2270:has_schema_privilege:16:26,25,25:s 2271:has_schema_privilege:16:26,26,25:s
2272:has_schema_privilege:16:25,25:s 2273:has_schema_privilege:16:26,25:s
2286:pg_total_relation_size:20:2205:v 2288:pg_size_pretty:25:20:i 2308:ceil:701:701:i
2309:floor:701:701:i 2310:sign:701:701:i 2311:md5:25:25:i 2320:ceiling:701:701:i 2321:md5:25:17:i
2322:pg_tablespace_size:20:26:v 2323:pg_tablespace_size:20:19:v 2324:pg_database_size:20:26:v
2325:pg_relation_size:20:2205:v 2331:unnest:2283:2277:i:s 2332:pg_relation_size:20:2205,25:v
2390:has_tablespace_privilege:16:19,25,25:s 2391:has_tablespace_privilege:16:19,26,25:s
2392:has_tablespace_privilege:16:26,25,25:s 2393:has_tablespace_privilege:16:26,26,25:s
2394:has_tablespace_privilege:16:25,25:s 2395:has_tablespace_privilege:16:26,25:s
2504:pg_get_ruledef:25:26,16:s 2505:pg_get_viewdef:25:25,16:s 2506:pg_get_viewdef:25:26,16:s
2507:pg_get_indexdef:25:26,23,16:s 2508:pg_get_constraintdef:25:26,16:s
2509:pg_get_expr:25:194,26,16:s 2517:bool_and:16:16:i:an 2518:bool_or:16:16:i:an
2519:every:16:16:i:an 2557:bool:16:23:i 2558:int4:23:16:i 2560:pg_postmaster_start_time:1184::s
2647:transaction_timestamp:1184::s 2648:statement_timestamp:1184::s 2649:clock_timestamp:1184::v
2705:pg_has_role:16:19,19,25:s 2706:pg_has_role:16:19,26,25:s 2707:pg_has_role:16:26,19,25:s
2708:pg_has_role:16:26,26,25:s 2709:pg_has_role:16:19,25:s 2710:pg_has_role:16:26,25:s
2730:pg_get_triggerdef:25:26,16:s 2797:max:27:27:i:an 2798:min:27:27:i:an 2803:count:20::i:an
2854:pg_my_temp_schema:26::s 2855:pg_is_other_temp_schema:16:26:s 2943:txid_current:20::s
2971:text:25:16:i 2997:pg_table_size:20:2205:v 2998:pg_indexes_size:20:2205:v
2999:pg_relation_filenode:26:2205:s 3012:has_column_privilege:16:19,25,25,25:s
3013:has_column_privilege:16:19,25,21,25:s 3014:has_column_privilege:16:19,26,25,25:s
3015:has_column_privilege:16:19,26,21,25:s 3016:has_column_privilege:16:26,25,25,25:s
3017:has_column_privilege:16:26,25,21,25:s 3018:has_column_privilege:16:26,26,25,25:s
3019:has_column_privilege:16:26,26,21,25:s 3020:has_column_privilege:16:25,25,25:s
3021:has_column_privilege:16:25,21,25:s 3022:has_column_privilege:16:26,25,25:s
3023:has_column_privilege:16:26,21,25:s 3024:has_any_column_privilege:16:19,25,25:s
3025:has_any_column_privilege:16:19,26,25:s 3026:has_any_column_privilege:16:26,25,25:s
3027:has_any_column_privilege:16:26,26,25:s 3028:has_any_column_privilege:16:25,25:s
3029:has_any_column_privilege:16:26,25:s 3060:left:25:25,23:i 3061:right:25:25,23:i
3073:pg_is_wal_replay_paused:16::v 3100:row_number:20::i:wn 3101:rank:20::i:wn
3102:dense_rank:20::i:wn 3106:lag:2283:2283:i:w 3107:lag:2283:2283,23:i:w 3109:lead:2283:2283:i:w
3110:lead:2283:2283,23:i:w 3112:first_value:2283:2283:i:w 3113:last_value:2283:2283:i:w
3159:pg_get_viewdef:25:26,23:s 3166:pg_size_pretty:25:1700:i 3179:cardinality:23:2277:i
3201:json_build_object:114::s:n 3259:generate_series:1700:1700,1700,1700:i:s
3260:generate_series:1700:1700,1700:i:s 3294:current_setting:25:25,16:s
3298:row_security_active:16:26:s 3299:row_security_active:16:25:s 3352:pg_get_partkeydef:25:26:s
3403:pg_statistics_obj_is_visible:16:26:s 3408:pg_get_partition_constraintdef:25:26:s
3415:pg_get_statisticsobjdef:25:26:s 3493:to_regtype:2206:25:s 3495:to_regclass:2205:25:s
3538:string_agg:25:25,25:i:an 3545:string_agg:17:17,17:i:an 3564:max:869:869:i:an
3565:min:869:869:i:an 3696:starts_with:16:25,25:i 3778:pg_tablespace_location:25:26:s
3810:pg_is_in_recovery:16::v 3815:pg_collation_is_visible:16:26:s
3842:pg_relation_is_updatable:23:2205,16:s 3843:pg_column_is_updatable:16:2205,21,16:s
4053:array_agg:2277:2277:i:an 4086:to_regnamespace:4089:25:s 4093:to_regrole:4096:25:s
4189:max:3220:3220:i:an 4190:min:3220:3220:i:an 5059:pg_current_xact_id:5069::s
5099:max:5069:5069:i:an 5100:min:5069:5069:i:an 6121:pg_relation_is_publishable:16:2205:s
6174:pg_get_statisticsobjdef_columns:25:26:s 6195:ltrim:17:17,17:i 6196:rtrim:17:17,17:i
6197:pg_get_function_sqlbody:25:26:s
"""
"""OID:name:type of result:types of arguments:volatility, then letters where one is an aggregate (a)

or a window function (w), gives several rows (s), or is called for NULL as well (n).
"""

OPERATORS = """
58:<:16:16:56:59:1695 59:>:16:16:57:58:1694 85:<>:16:16:84:85:91 91:=:16:16:60:91:85
93:=:19:16:62:93:643 94:=:21:16:63:94:519 95:<:21:16:64:520:524 96:=:23:16:65:96:518
97:<:23:16:66:521:525 98:=:25:16:67:98:531 410:=:20:16:467:410:411 411:<>:20:16:468:411:410
412:<:20:16:469:413:415 413:>:20:16:470:412:414 414:<=:20:16:471:415:413 415:>=:20:16:472:414:412
514:*:23:23:141:514:0 518:<>:23:16:144:518:96 519:<>:21:16:145:519:94 520:>:21:16:146:95:522
521:>:23:16:147:97:523 522:<=:21:16:148:524:520 523:<=:23:16:149:525:521 524:>=:21:16:151:522:95
525:>=:23:16:150:523:97 526:*:21:21:152:526:0 527:/:21:21:153:0:0 528:/:23:23:154:0:0
531:<>:25:16:157:531:98 550:+:21:21:176:550:0 551:+:23:23:177:551:0 554:-:21:21:180:0:0
555:-:23:23:181:0:0 586:+:700:700:204:586:0 587:-:700:700:205:0:0 588:/:700:700:203:0:0
589:*:700:700:202:589:0 591:+:701:701:218:591:0 592:-:701:701:219:0:0 593:/:701:701:217:0:0
594:*:701:701:216:594:0 607:=:26:16:184:607:608 608:<>:26:16:185:608:607 609:<:26:16:716:610:612
610:>:26:16:1638:609:611 611:<=:26:16:717:612:610 612:>=:26:16:1639:611:609
620:=:700:16:287:620:621 621:<>:700:16:288:621:620 622:<:700:16:289:623:625
623:>:700:16:291:622:624 624:<=:700:16:290:625:623 625:>=:700:16:292:624:622
641:~:25:16:1254:0:642 642:!~:25:16:1256:0:641 643:<>:19:16:659:643:93 654:||:25:25:1258:0:0
660:<:19:16:655:662:663 661:<=:19:16:656:663:662 662:>:19:16:657:660:661 663:>=:19:16:658:661:660
664:<:25:16:740:666:667 665:<=:25:16:741:667:666 666:>:25:16:742:664:665 667:>=:25:16:743:665:664
670:=:701:16:293:670:671 671:<>:701:16:294:671:670 672:<:701:16:295:674:675
673:<=:701:16:296:675:674 674:>:701:16:297:672:673 675:>=:701:16:298:673:672 684:+:20:20:463:684:0
685:-:20:20:464:0:0 686:*:20:20:465:686:0 687:/:20:20:466:0:0 1093:=:1082:16:1086:1093:1094
1094:<>:1082:16:1091:1094:1093 1095:<:1082:16:1087:1097:1098 1096:<=:1082:16:1088:1098:1097
1097:>:1082:16:1089:1095:1096 1098:>=:1082:16:1090:1096:1095 1099:-:1082:23:1140:0:0
1209:~~:25:16:850:0:1210 1210:!~~:25:16:851:0:1209 1228:~*:25:16:1238:0:1229
1229:!~*:25:16:1239:0:1228 1627:~~*:25:16:1633:0:1628 1628:!~~*:25:16:1634:0:1627
1694:<=:16:16:1691:1695:59 1695:>=:16:16:1692:1694:58 1752:=:1700:16:1718:1752:1753
1753:<>:1700:16:1719:1753:1752 1754:<:1700:16:1722:1756:1757 1755:<=:1700:16:1723:1757:1756
1756:>:1700:16:1720:1754:1755 1757:>=:1700:16:1721:1755:1754 1758:+:1700:1700:1724:1758:0
1759:-:1700:1700:1725:0:0 1760:*:1700:1700:1726:1760:0 1761:/:1700:1700:1727:0:0
2060:=:1114:16:2052:2060:2061 2061:<>:1114:16:2053:2061:2060 2062:<:1114:16:2054:2064:2065
2063:<=:1114:16:2055:2065:2064 2064:>:1114:16:2057:2062:2063 2065:>=:1114:16:2056:2063:2062
"""
"""OID:name:types of its two sides:type of result:function:commutator:negator."""

CASTS = """
10000:20:21:714:a:f 10001:20:23:480:a:f 10002:20:700:652:i:f 10003:20:701:482:i:f
10004:20:1700:1781:i:f 10005:21:20:754:i:f 10006:21:23:313:i:f 10007:21:700:236:i:f
10008:21:701:235:i:f 10009:21:1700:1782:i:f 10010:23:20:481:i:f 10011:23:21:314:a:f
10012:23:700:318:i:f 10013:23:701:316:i:f 10014:23:1700:1740:i:f 10015:700:20:653:a:f
10016:700:21:238:a:f 10017:700:23:319:a:f 10018:700:701:311:i:f 10019:700:1700:1742:a:f
10020:701:20:483:a:f 10021:701:21:237:a:f 10022:701:23:317:a:f 10023:701:700:312:a:f
10024:701:1700:1743:a:f 10025:1700:20:1779:a:f 10026:1700:21:1783:a:f 10027:1700:23:1744:a:f
10028:1700:700:1745:i:f 10029:1700:701:1746:i:f 10034:23:16:2557:e:f 10035:16:23:2558:e:f
10037:20:26:1287:i:f 10038:21:26:313:i:f 10039:23:26:0:i:b 10040:26:20:1288:a:f 10041:26:23:0:a:b
10134:19:25:406:i:f 10140:25:19:407:i:f 10152:1082:1114:2024:i:f 10156:1114:1082:2029:a:f
10191:16:25:2971:a:f 10207:1114:1114:1961:i:f 10213:1700:1700:1703:i:f
"""
"""OID:from:to:function:context:method."""
