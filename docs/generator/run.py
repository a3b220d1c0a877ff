"""Write docs/reference/python.md: `make reference`."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# What is described is this checkout, whatever is installed.
sys.path[:0] = [str(ROOT / "src"), str(ROOT)]

from docs.generator.gaps import gaps, names  # noqa: E402 - after the path is set
from docs.generator.markdown import PAGE, page  # noqa: E402

if __name__ == "__main__":
    missing = gaps(names())
    if missing:
        sys.exit("\n".join(missing))
    PAGE.write_text(page(), "utf-8")
    print(f"{PAGE.relative_to(ROOT)}: {len(names())} names")
