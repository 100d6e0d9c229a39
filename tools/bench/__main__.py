"""Every benchmark, one after the other: `python -m tools.bench`. Ratios of one run; nothing is asserted."""

from __future__ import annotations

import runpy

for name in ("tools_list", "codec", "startup", "calls", "against_http"):
    runpy.run_module(f"tools.bench.{name}", run_name="__main__")
    print()
