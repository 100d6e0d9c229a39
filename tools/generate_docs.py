"""Write the README's tables from the declarations: the tools between `tools` markers, the errors between `errors` ones.

A table stands between `<!-- NAME:begin -->` and `<!-- NAME:end -->`. The tools' is required; what else the README marks
must be a table that this program knows.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from nlm_cdp import errors
from nlm_cdp.api import TOOLS
from nlm_cdp.granted import DEFAULT_SCOPES, DEFAULT_TOOLSETS
from nlm_cdp.rpc import Tool
from nlm_cdp.schema import input_schema

README = Path(__file__).resolve().parent.parent / "README.md"
REGION = re.compile(r"(?s)(<!-- (\w+):begin -->\n).*?(<!-- \2:end -->)")


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="change nothing; fail if the file would change")
    parser.add_argument("file", nargs="?", type=Path, default=README)
    options = parser.parse_args(arguments)
    try:
        text = options.file.read_text(encoding="utf-8")
        written = written_anew(text)
    except FileNotFoundError:
        return complain(f"{options.file} does not exist")
    except ValueError as exc:
        return complain(f"{options.file}: {exc}")
    if options.check and written != text:
        return complain(f"{options.file.name} is not what tools/generate_docs.py writes")
    if written != text:
        options.file.write_text(written, encoding="utf-8", newline="\n")
    return 0


def complain(message: str) -> int:
    print(message, file=sys.stderr)
    return 1


def written_anew(text: str) -> str:
    """The text with every marked table replaced. Raises ValueError for markers that are missing or not in pairs."""
    found = [match[2] for match in REGION.finditer(text)]
    marked = re.findall(r"<!-- (\w+):(?:begin|end) -->", text)
    if "tools" not in found:
        raise ValueError("there is no <!-- tools:begin --> ... <!-- tools:end -->")
    if sorted(marked) != sorted(2 * found):
        raise ValueError("the markers are not in pairs")
    if unknown := set(found) - set(TABLES):
        raise ValueError(f"there is no table called {', '.join(sorted(unknown))}")
    return REGION.sub(lambda match: f"{match[1]}{TABLES[match[2]]()}\n{match[3]}", text)


def tools_table() -> str:
    rows = [row(item) for item in TOOLS.values()]
    return table(["tool", "arguments (`*` required)", "what it does", "scope", "effect"], rows)


def row(item: Tool[Any, Any]) -> list[str]:
    schema = input_schema(item.args)
    required = schema.get("required", ())
    arguments = " ".join(f"`{name}`{'*' if name in required else ''}" for name in schema["properties"])
    granted = item.scope in DEFAULT_SCOPES and item.toolset in DEFAULT_TOOLSETS
    return [
        f"`{item.name}`",
        arguments,
        item.description,
        str(item.scope) if granted else f"{item.scope} (on request)",
        str(item.effect),
    ]


def errors_table() -> str:
    declared = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, errors.NlmError)]
    kinds = [kind for kind in declared if "code" in vars(kind)]
    rows = [
        [f"`{kind.code}`", "yes" if kind.retriable else "no", kind.advice or "as the message says"] for kind in kinds
    ]
    return table(["code", "worth retrying", "what to do"], rows)


def table(head: list[str], rows: list[list[str]]) -> str:
    cells = [head, ["---"] * len(head), *([cell.replace("|", r"\|") for cell in cells] for cells in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in cells)


TABLES: dict[str, Callable[[], str]] = {"tools": tools_table, "errors": errors_table}


if __name__ == "__main__":
    sys.exit(main())
