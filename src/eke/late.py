"""Late names: public names of a package, each fetched when it is first used.

Loading everything takes two seconds, and most questions need a small part of it. A package that
gives its names out late shows them to type checkers by ordinary imports, and says where they are at
home; `tests/unit/test_package.py` checks that both tell the same.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def late_names(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """The `__getattr__` of a package: `homes` says which names each of its modules has."""
    home_of = {name: home for home, names in homes.items() for name in names.split()}

    def fetch(name: str) -> Any:
        if name not in home_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(f"{package}.{home_of[name]}"), name)
        setattr(sys.modules[package], name, value)
        return value

    return fetch
