"""Types: those of PostgreSQL 15 that a catalogue of plain columns can meet, and their functions."""

from __future__ import annotations

TYPES = """
16 bool boolean 1 t B t b 1000 0 boolin boolout boolrecv boolsend - - c p 0
17 bytea bytea -1 f U f b 1001 0 byteain byteaout bytearecv byteasend - - i x 0
18 char "char" 1 t Z f b 1002 0 charin charout charrecv charsend - - c p 0
19 name name 64 f S f b 1003 18 namein nameout namerecv namesend - - c p 950
20 int8 bigint 8 t N f b 1016 0 int8in int8out int8recv int8send - - d p 0
21 int2 smallint 2 t N f b 1005 0 int2in int2out int2recv int2send - - s p 0
22 int2vector int2vector -1 f A f b 1006 21 int2vectorin int2vectorout int2vectorrecv
  int2vectorsend - - i p 0
23 int4 integer 4 t N f b 1007 0 int4in int4out int4recv int4send - - i p 0
24 regproc regproc 4 t N f b 1008 0 regprocin regprocout regprocrecv regprocsend - - i p 0
25 text text -1 f S t b 1009 0 textin textout textrecv textsend - - i x 100
26 oid oid 4 t N t b 1028 0 oidin oidout oidrecv oidsend - - i p 0
27 tid tid 6 f U f b 1010 0 tidin tidout tidrecv tidsend - - s p 0
28 xid xid 4 t U f b 1011 0 xidin xidout xidrecv xidsend - - i p 0
29 cid cid 4 t U f b 1012 0 cidin cidout cidrecv cidsend - - i p 0
30 oidvector oidvector -1 f A f b 1013 26 oidvectorin oidvectorout oidvectorrecv oidvectorsend - -
  i p 0
114 json json -1 f U f b 199 0 json_in json_out json_recv json_send - - i x 0
142 xml xml -1 f U f b 143 0 xml_in xml_out xml_recv xml_send - - i x 0
194 pg_node_tree pg_node_tree -1 f Z f b 0 0 pg_node_tree_in pg_node_tree_out pg_node_tree_recv
  pg_node_tree_send - - i x 100
269 table_am_handler table_am_handler 4 t P f p 0 0 table_am_handler_in table_am_handler_out - - -
  - i p 0
325 index_am_handler index_am_handler 4 t P f p 0 0 index_am_handler_in index_am_handler_out - - -
  - i p 0
650 cidr cidr -1 f I f b 651 0 cidr_in cidr_out cidr_recv cidr_send - - i m 0
700 float4 real 4 t N f b 1021 0 float4in float4out float4recv float4send - - i p 0
701 float8 double_precision 8 t N t b 1022 0 float8in float8out float8recv float8send - - d p 0
705 unknown unknown -2 f X f p 0 0 unknownin unknownout unknownrecv unknownsend - - c p 0
790 money money 8 t N f b 791 0 cash_in cash_out cash_recv cash_send - - d p 0
829 macaddr macaddr 6 f U f b 1040 0 macaddr_in macaddr_out macaddr_recv macaddr_send - - i p 0
869 inet inet -1 f I t b 1041 0 inet_in inet_out inet_recv inet_send - - i m 0
1033 aclitem aclitem 12 f U f b 1034 0 aclitemin aclitemout - - - - i p 0
1042 bpchar character -1 f S f b 1014 0 bpcharin bpcharout bpcharrecv bpcharsend bpchartypmodin
  bpchartypmodout i x 100
1043 varchar character_varying -1 f S f b 1015 0 varcharin varcharout varcharrecv varcharsend
  varchartypmodin varchartypmodout i x 100
1082 date date 4 t D f b 1182 0 date_in date_out date_recv date_send - - i p 0
1083 time time_without_time_zone 8 t D f b 1183 0 time_in time_out time_recv time_send
  timetypmodin timetypmodout d p 0
1114 timestamp timestamp_without_time_zone 8 t D f b 1115 0 timestamp_in timestamp_out
  timestamp_recv timestamp_send timestamptypmodin timestamptypmodout d p 0
1184 timestamptz timestamp_with_time_zone 8 t D t b 1185 0 timestamptz_in timestamptz_out
  timestamptz_recv timestamptz_send timestamptztypmodin timestamptztypmodout d p 0
1186 interval interval 16 f T t b 1187 0 interval_in interval_out interval_recv interval_send
  intervaltypmodin intervaltypmodout d p 0
1266 timetz time_with_time_zone 12 f D f b 1270 0 timetz_in timetz_out timetz_recv timetz_send
  timetztypmodin timetztypmodout d p 0
1560 bit bit -1 f V f b 1561 0 bit_in bit_out bit_recv bit_send bittypmodin bittypmodout i x 0
1562 varbit bit_varying -1 f V t b 1563 0 varbit_in varbit_out varbit_recv varbit_send
  varbittypmodin varbittypmodout i x 0
1700 numeric numeric -1 f N f b 1231 0 numeric_in numeric_out numeric_recv numeric_send
  numerictypmodin numerictypmodout i m 0
2202 regprocedure regprocedure 4 t N f b 2207 0 regprocedurein regprocedureout regprocedurerecv
  regproceduresend - - i p 0
2203 regoper regoper 4 t N f b 2208 0 regoperin regoperout regoperrecv regopersend - - i p 0
2204 regoperator regoperator 4 t N f b 2209 0 regoperatorin regoperatorout regoperatorrecv
  regoperatorsend - - i p 0
2205 regclass regclass 4 t N f b 2210 0 regclassin regclassout regclassrecv regclasssend - - i p 0
2206 regtype regtype 4 t N f b 2211 0 regtypein regtypeout regtyperecv regtypesend - - i p 0
2249 record record -1 f P f p 2287 0 record_in record_out record_recv record_send - - d x 0
2275 cstring cstring -2 f P f p 1263 0 cstring_in cstring_out cstring_recv cstring_send - - c p 0
2276 any "any" 4 t P f p 0 0 any_in any_out - - - - i p 0
2277 anyarray anyarray -1 f P f p 0 0 anyarray_in anyarray_out anyarray_recv anyarray_send - - d x
  0
2278 void void 4 t P f p 0 0 void_in void_out void_recv void_send - - i p 0
2279 trigger trigger 4 t P f p 0 0 trigger_in trigger_out - - - - i p 0
2280 language_handler language_handler 4 t P f p 0 0 language_handler_in language_handler_out - -
  - - i p 0
2281 internal internal 8 t P f p 0 0 internal_in internal_out - - - - d p 0
2283 anyelement anyelement 4 t P f p 0 0 anyelement_in anyelement_out - - - - i p 0
2776 anynonarray anynonarray 4 t P f p 0 0 anynonarray_in anynonarray_out - - - - i p 0
2950 uuid uuid 16 f U f b 2951 0 uuid_in uuid_out uuid_recv uuid_send - - c p 0
3115 fdw_handler fdw_handler 4 t P f p 0 0 fdw_handler_in fdw_handler_out - - - - i p 0
3220 pg_lsn pg_lsn 8 t U f b 3221 0 pg_lsn_in pg_lsn_out pg_lsn_recv pg_lsn_send - - d p 0
3734 regconfig regconfig 4 t N f b 3735 0 regconfigin regconfigout regconfigrecv regconfigsend - -
  i p 0
3769 regdictionary regdictionary 4 t N f b 3770 0 regdictionaryin regdictionaryout
  regdictionaryrecv regdictionarysend - - i p 0
3802 jsonb jsonb -1 f U f b 3807 0 jsonb_in jsonb_out jsonb_recv jsonb_send - - i x 0
3838 event_trigger event_trigger 4 t P f p 0 0 event_trigger_in event_trigger_out - - - - i p 0
4089 regnamespace regnamespace 4 t N f b 4090 0 regnamespacein regnamespaceout regnamespacerecv
  regnamespacesend - - i p 0
4096 regrole regrole 4 t N f b 4097 0 regrolein regroleout regrolerecv regrolesend - - i p 0
4191 regcollation regcollation 4 t N f b 4192 0 regcollationin regcollationout regcollationrecv
  regcollationsend - - i p 0
5069 xid8 xid8 8 t U f b 271 0 xid8in xid8out xid8recv xid8send - - d p 0
"""
"""OID, name, name in SQL, length, by value, category, preferred, kind, array, element,

then the functions for input, output, receiving, sending, reading and writing a modifier,
alignment, storage and collation. Each array type follows from that of its elements.
"""

PROCEDURES = """
3:heap_tableam_handler:269:2281:v 330:bthandler:325:2281:v
31:byteaout:2275:17:i 33:charout:2275:18:i 34:namein:19:2275:i 35:nameout:2275:19:i
38:int2in:21:2275:i 39:int2out:2275:21:i 40:int2vectorin:22:2275:i 41:int2vectorout:2275:22:i
42:int4in:23:2275:i 43:int4out:2275:23:i 44:regprocin:24:2275:s 45:regprocout:2275:24:s
46:textin:25:2275:i 47:textout:2275:25:i 48:tidin:27:2275:i 49:tidout:2275:27:i 50:xidin:28:2275:i
51:xidout:2275:28:i 52:cidin:29:2275:i 53:cidout:2275:29:i 54:oidvectorin:30:2275:i
55:oidvectorout:2275:30:i 109:unknownin:705:2275:i 110:unknownout:2275:705:i
195:pg_node_tree_in:194:2275:i 196:pg_node_tree_out:2275:194:i 197:pg_node_tree_recv:194:2281:s
198:pg_node_tree_send:17:194:s 200:float4in:700:2275:i 201:float4out:2275:700:i
214:float8in:701:2275:i 215:float8out:2275:701:i 267:table_am_handler_in:269:2275:i
268:table_am_handler_out:2275:269:i 321:json_in:114:2275:i 322:json_out:2275:114:i
323:json_recv:114:2281:i 324:json_send:17:114:i 326:index_am_handler_in:325:2275:i
327:index_am_handler_out:2275:325:i 436:macaddr_in:829:2275:i 437:macaddr_out:2275:829:i
460:int8in:20:2275:i 461:int8out:2275:20:i 750:array_in:2277:2275,26,23:s
751:array_out:2275:2277:s 886:cash_in:790:2275:s 887:cash_out:2275:790:s 910:inet_in:869:2275:i
911:inet_out:2275:869:i 1031:aclitemin:1033:2275:s 1032:aclitemout:2275:1033:s
1044:bpcharin:1042:2275,26,23:i 1045:bpcharout:2275:1042:i 1046:varcharin:1043:2275,26,23:i
1047:varcharout:2275:1043:i 1084:date_in:1082:2275:s 1085:date_out:2275:1082:s
1143:time_in:1083:2275,26,23:s 1144:time_out:2275:1083:i 1150:timestamptz_in:1184:2275,26,23:s
1151:timestamptz_out:2275:1184:s 1160:interval_in:1186:2275,26,23:s 1161:interval_out:2275:1186:s
1242:boolin:16:2275:i 1243:boolout:2275:16:i 1244:byteain:17:2275:i 1245:charin:18:2275:i
1267:cidr_in:650:2275:i 1312:timestamp_in:1114:2275,26,23:s 1313:timestamp_out:2275:1114:s
1350:timetz_in:1266:2275,26,23:s 1351:timetz_out:2275:1266:i 1427:cidr_out:2275:650:i
1564:bit_in:1560:2275,26,23:i 1565:bit_out:2275:1560:i 1579:varbit_in:1562:2275,26,23:i
1580:varbit_out:2275:1562:i 1701:numeric_in:1700:2275,26,23:i 1702:numeric_out:2275:1700:i
1798:oidin:26:2275:i 1799:oidout:2275:26:i 2212:regprocedurein:2202:2275:s
2213:regprocedureout:2275:2202:s 2214:regoperin:2203:2275:s 2215:regoperout:2275:2203:s
2216:regoperatorin:2204:2275:s 2217:regoperatorout:2275:2204:s 2218:regclassin:2205:2275:s
2219:regclassout:2275:2205:s 2220:regtypein:2206:2275:s 2221:regtypeout:2275:2206:s
2290:record_in:2249:2275,26,23:s 2291:record_out:2275:2249:s 2292:cstring_in:2275:2275:i
2293:cstring_out:2275:2275:i 2294:any_in:2276:2275:i 2295:any_out:2275:2276:i
2296:anyarray_in:2277:2275:i 2297:anyarray_out:2275:2277:s 2298:void_in:2278:2275:i
2299:void_out:2275:2278:i 2300:trigger_in:2279:2275:i 2301:trigger_out:2275:2279:i
2302:language_handler_in:2280:2275:i 2303:language_handler_out:2275:2280:i
2304:internal_in:2281:2275:i 2305:internal_out:2275:2281:i 2312:anyelement_in:2283:2275:i
2313:anyelement_out:2275:2283:i 2400:array_recv:2277:2281,26,23:s 2401:array_send:17:2277:s
2402:record_recv:2249:2281,26,23:s 2403:record_send:17:2249:s 2404:int2recv:21:2281:i
2405:int2send:17:21:i 2406:int4recv:23:2281:i 2407:int4send:17:23:i 2408:int8recv:20:2281:i
2409:int8send:17:20:i 2410:int2vectorrecv:22:2281:i 2411:int2vectorsend:17:22:i
2412:bytearecv:17:2281:i 2413:byteasend:17:17:i 2414:textrecv:25:2281:s 2415:textsend:17:25:s
2416:unknownrecv:705:2281:i 2417:unknownsend:17:705:i 2418:oidrecv:26:2281:i 2419:oidsend:17:26:i
2420:oidvectorrecv:30:2281:i 2421:oidvectorsend:17:30:i 2422:namerecv:19:2281:s
2423:namesend:17:19:s 2424:float4recv:700:2281:i 2425:float4send:17:700:i
2426:float8recv:701:2281:i 2427:float8send:17:701:i 2430:bpcharrecv:1042:2281,26,23:s
2431:bpcharsend:17:1042:s 2432:varcharrecv:1043:2281,26,23:s 2433:varcharsend:17:1043:s
2434:charrecv:18:2281:i 2435:charsend:17:18:i 2436:boolrecv:16:2281:i 2437:boolsend:17:16:i
2438:tidrecv:27:2281:i 2439:tidsend:17:27:i 2440:xidrecv:28:2281:i 2441:xidsend:17:28:i
2442:cidrecv:29:2281:i 2443:cidsend:17:29:i 2444:regprocrecv:24:2281:i 2445:regprocsend:17:24:i
2446:regprocedurerecv:2202:2281:i 2447:regproceduresend:17:2202:i 2448:regoperrecv:2203:2281:i
2449:regopersend:17:2203:i 2450:regoperatorrecv:2204:2281:i 2451:regoperatorsend:17:2204:i
2452:regclassrecv:2205:2281:i 2453:regclasssend:17:2205:i 2454:regtyperecv:2206:2281:i
2455:regtypesend:17:2206:i 2456:bit_recv:1560:2281,26,23:i 2457:bit_send:17:1560:i
2458:varbit_recv:1562:2281,26,23:i 2459:varbit_send:17:1562:i 2460:numeric_recv:1700:2281,26,23:i
2461:numeric_send:17:1700:i 2468:date_recv:1082:2281:i 2469:date_send:17:1082:i
2470:time_recv:1083:2281,26,23:i 2471:time_send:17:1083:i 2472:timetz_recv:1266:2281,26,23:i
2473:timetz_send:17:1266:i 2474:timestamp_recv:1114:2281,26,23:i 2475:timestamp_send:17:1114:i
2476:timestamptz_recv:1184:2281,26,23:i 2477:timestamptz_send:17:1184:i
2478:interval_recv:1186:2281,26,23:i 2479:interval_send:17:1186:i 2492:cash_recv:790:2281:i
2493:cash_send:17:790:i 2494:macaddr_recv:829:2281:i 2495:macaddr_send:17:829:i
2496:inet_recv:869:2281:i 2497:inet_send:17:869:i 2498:cidr_recv:650:2281:i
2499:cidr_send:17:650:i 2500:cstring_recv:2275:2281:s 2501:cstring_send:17:2275:s
2502:anyarray_recv:2277:2281:s 2503:anyarray_send:17:2277:s 2777:anynonarray_in:2776:2275:i
2778:anynonarray_out:2275:2776:i 2893:xml_in:142:2275:s 2894:xml_out:2275:142:i
2898:xml_recv:142:2281:s 2899:xml_send:17:142:s 2902:varbittypmodin:23:1263:i
2903:intervaltypmodin:23:1263:i 2904:intervaltypmodout:2275:23:i 2905:timestamptypmodin:23:1263:i
2906:timestamptypmodout:2275:23:i 2907:timestamptztypmodin:23:1263:i
2908:timestamptztypmodout:2275:23:i 2909:timetypmodin:23:1263:i 2910:timetypmodout:2275:23:i
2911:timetztypmodin:23:1263:i 2912:timetztypmodout:2275:23:i 2913:bpchartypmodin:23:1263:i
2914:bpchartypmodout:2275:23:i 2915:varchartypmodin:23:1263:i 2916:varchartypmodout:2275:23:i
2917:numerictypmodin:23:1263:i 2918:numerictypmodout:2275:23:i 2919:bittypmodin:23:1263:i
2920:bittypmodout:2275:23:i 2921:varbittypmodout:2275:23:i 2952:uuid_in:2950:2275:i
2953:uuid_out:2275:2950:i 2961:uuid_recv:2950:2281:i 2962:uuid_send:17:2950:i
3116:fdw_handler_in:3115:2275:i 3117:fdw_handler_out:2275:3115:i 3120:void_recv:2278:2281:i
3121:void_send:17:2278:i 3229:pg_lsn_in:3220:2275:i 3230:pg_lsn_out:2275:3220:i
3238:pg_lsn_recv:3220:2281:i 3239:pg_lsn_send:17:3220:i 3594:event_trigger_in:3838:2275:i
3595:event_trigger_out:2275:3838:i 3736:regconfigin:3734:2275:s 3737:regconfigout:2275:3734:s
3738:regconfigrecv:3734:2281:i 3739:regconfigsend:17:3734:i 3771:regdictionaryin:3769:2275:s
3772:regdictionaryout:2275:3769:s 3773:regdictionaryrecv:3769:2281:i
3774:regdictionarysend:17:3769:i 3803:jsonb_send:17:3802:i 3804:jsonb_out:2275:3802:i
3805:jsonb_recv:3802:2281:i 3806:jsonb_in:3802:2275:i 3816:array_typanalyze:16:2281:s
4084:regnamespacein:4089:2275:s 4085:regnamespaceout:2275:4089:s 4087:regnamespacerecv:4089:2281:i
4088:regnamespacesend:17:4089:i 4092:regroleout:2275:4096:s 4094:regrolerecv:4096:2281:i
4095:regrolesend:17:4096:i 4098:regrolein:4096:2275:s 4193:regcollationin:4191:2275:s
4194:regcollationout:2275:4191:s 4196:regcollationrecv:4191:2281:i 4197:regcollationsend:17:4191:i
5070:xid8in:5069:2275:i 5081:xid8out:2275:5069:i 5082:xid8recv:5069:2281:i 5083:xid8send:17:5069:i
6098:jsonb_subscript_handler:2281:2281:i 6179:array_subscript_handler:2281:2281:i
6180:raw_array_subscript_handler:2281:2281:i
"""
"""Functions that types name: OID:name:type of result:types of arguments:volatility."""
