"""Built in: the functions, operators and casts that pg_catalog lists, and the words of SQL."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from eke.catalogue.directory import OWNER_OID, SCHEMAS, Directory
from eke.catalogue.function_list import CASTS
from eke.catalogue.keywords import keywords
from eke.catalogue.relation import Row

_SYSTEM = SCHEMAS["pg_catalog"]


def call_rows(name: str) -> Iterator[Row]:
    """The rows of a function that takes nothing."""
    if name == "pg_get_keywords":
        yield from keywords()


def _procedures(directory: Directory) -> Iterator[Row]:
    for procedure in directory.procedures:
        flags = procedure.flags
        several = "s" in flags
        yield {
            "oid": procedure.oid,
            "proname": procedure.name,
            "pronamespace": _SYSTEM,
            "proowner": OWNER_OID,
            "prolang": 12,
            "procost": 1,
            "prorows": 1000 if several else 0,
            "prokind": flags[0] if flags[:1] in ("a", "w") else "f",
            "proisstrict": "n" not in flags,
            "proretset": several,
            "provolatile": procedure.volatility,
            "proparallel": "s",
            "pronargs": len(procedure.arguments),
            "prorettype": procedure.result,
            "proargtypes": list(procedure.arguments),
            "prosrc": procedure.name,
        }


def _aggregates(directory: Directory) -> Iterator[Row]:
    for procedure in directory.procedures:
        if procedure.flags.startswith("a"):
            yield {
                "aggfnoid": procedure.oid,
                "aggkind": "n",
                "aggfinalmodify": "r",
                "aggmfinalmodify": "r",
            }


def _operators(directory: Directory) -> Iterator[Row]:
    for operator in directory.operators:
        yield {
            "oid": operator.oid,
            "oprname": operator.name,
            "oprnamespace": _SYSTEM,
            "oprowner": OWNER_OID,
            "oprkind": "b",
            "oprleft": operator.side,
            "oprright": operator.side,
            "oprresult": operator.result,
            "oprcom": operator.commutator,
            "oprnegate": operator.negator,
            "oprcode": operator.function,
        }


def _casts(_: Directory) -> Iterator[Row]:
    for text in CASTS.split():
        *numbers, context, method = text.split(":")
        oid, source, target, function = map(int, numbers)
        yield {
            "oid": oid,
            "castsource": source,
            "casttarget": target,
            "castfunc": function,
            "castcontext": context,
            "castmethod": method,
        }


FILLED: dict[str, Callable[[Directory], Iterator[Row]]] = {
    "pg_aggregate": _aggregates,
    "pg_cast": _casts,
    "pg_operator": _operators,
    "pg_proc": _procedures,
}
