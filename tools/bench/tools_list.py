"""Measure what a model reads before it says a word: names, descriptions and input schemas, as compact JSON.

Prints bytes against their budgets, and fails where one is exceeded.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from nlm_cdp.application import Catalogue
from nlm_cdp.granted import DEFAULT_SCOPES, DEFAULT_TOOLSETS, SCOPES
from nlm_cdp.mcp.server import INSTRUCTIONS, listed

BUDGETS = {"default set": 14_000, "all tools": 26_000, "largest tool": 1_600, "instructions": 700}


def measure() -> dict[str, int]:
    """Bytes under the names of the budgets."""
    everything = sizes(SCOPES, ("all",))
    return {
        "default set": sum(sizes(DEFAULT_SCOPES, DEFAULT_TOOLSETS).values()),
        "all tools": sum(everything.values()),
        "largest tool": max(everything.values()),
        "instructions": len(INSTRUCTIONS.encode()),
    }


def sizes(scopes: tuple[str, ...], toolsets: tuple[str, ...]) -> dict[str, int]:
    """Bytes of each tool on offer."""
    return {
        tool.name: size({"name": tool.name, "description": tool.description, "inputSchema": tool.input_schema})
        for tool in listed(Catalogue(scopes, toolsets))
    }


def size(value: Any) -> int:
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode())


def main() -> int:
    for name, count in sorted(sizes(SCOPES, ("all",)).items(), key=lambda item: -item[1]):
        print(f"{count:7,}  {name}")
    print()
    measured = measure()
    for name, budget in BUDGETS.items():
        print(f"{measured[name]:7,} of {budget:6,}  {name}" + ("  EXCEEDED" if measured[name] > budget else ""))
    return int(any(measured[name] > budget for name, budget in BUDGETS.items()))


if __name__ == "__main__":
    sys.exit(main())
