"""`python ledger_only.py script.py ...` runs a script in which `import eke.ledger` loads no more.

The package's front door loads everything, SciPy and its threads included: seconds for nothing, and
a process with threads is a poor place to fork.
"""

from __future__ import annotations

import runpy
import sys
import types
from importlib.util import find_spec

if __name__ == "__main__":
    found = find_spec("eke")
    assert found is not None
    front_door = types.ModuleType("eke")
    front_door.__path__ = list(found.submodule_search_locations or ())
    sys.modules["eke"] = front_door
    del sys.argv[0]
    runpy.run_path(sys.argv[0], run_name="__main__")
