"""The reference of DB-API names what is there, and all of it."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import eke.dbapi
from eke.dbapi import failure

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "reference" / "dbapi.md").read_text("utf-8")


def test_the_signature_of_connect_is_that_of_the_code() -> None:
    parameters = inspect.signature(eke.dbapi.connect).parameters.values()
    bare = [parameter.replace(annotation=inspect.Parameter.empty) for parameter in parameters]
    assert f"`connect{inspect.Signature(bare)}`" in PAGE


def test_every_exception_that_is_raised_is_in_the_table() -> None:
    listed = set(re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE))
    never = {"DataError"}
    leaves = {kind.__name__ for kind in failure.DatabaseError.__subclasses__()}
    assert listed == leaves - never | {"InterfaceError"}


def test_settings_are_those_of_the_module() -> None:
    assert f"`threadsafety` is {eke.dbapi.threadsafety}" in PAGE
    assert f"`paramstyle` is `{eke.dbapi.paramstyle}`" in PAGE
    assert f"`apilevel` is `{eke.dbapi.apilevel}`" in PAGE
