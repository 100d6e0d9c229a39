"""Write nlm_cdp/cdp/generated/ from the allow-list, with PyCDP's own generator.

The official protocol is pruned to what tools/protocol/allow.toml names and to the types that reaches. The result is
kept as tools/protocol/protocol.json, so that generating and --check need neither the network nor npm. PyCDP's
generator turns it into Python, and `polish` brings that up to date: no prose, plain annotations, and every cell
checked instead of coerced.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import json
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from pathlib import Path
from typing import Any, TypeAlias

from pycdp_old.gen.generate import CdpDomain

Json: TypeAlias = dict[str, Any]

ROOT = Path(__file__).resolve().parent.parent
PROTOCOL = ROOT / "tools" / "protocol"
GENERATED = ROOT / "nlm_cdp" / "cdp" / "generated"
ALLOW = tomllib.loads((PROTOCOL / "allow.toml").read_text(encoding="utf-8"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--check", action="store_true", help="change nothing; fail if a file would change")
    parser.add_argument("--fetch", action="store_true", help="take the protocol anew, from npm's devtools-protocol")
    arguments = parser.parse_args()
    if arguments.fetch:
        protocol, licence = fetch()
        (PROTOCOL / "LICENSE").write_bytes(licence)
    else:
        protocol = json.loads((PROTOCOL / "protocol.json").read_text(encoding="utf-8"))["domains"]
    pruned = prune(protocol)
    files = {PROTOCOL / "protocol.json": serialise(pruned)}
    files |= {GENERATED / name: code for name, code in generate(pruned).items()}
    changed = [path for path, text in files.items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    stale = [path for path in GENERATED.glob("*.py") if path not in files]
    if arguments.check:
        for path in changed + stale:
            print(f"{path.relative_to(ROOT)} is not what tools/generate_cdp.py writes")
        sys.exit(bool(changed or stale))
    GENERATED.mkdir(exist_ok=True)
    for path in changed:
        path.write_text(files[path], encoding="utf-8", newline="\n")
    for path in stale:
        path.unlink()


# The protocol


def fetch() -> tuple[list[Json], bytes]:
    """Download the pinned package with npm, check its hash, and read its two protocol files."""
    npm = shutil.which("npm")
    if npm is None:
        sys.exit("--fetch needs npm on the PATH")
    with tempfile.TemporaryDirectory() as folder:
        package = f"devtools-protocol@{ALLOW['source']['version']}"
        subprocess.run([npm, "pack", package, "--silent", "--ignore-scripts", "--pack-destination", folder], check=True)
        (path,) = Path(folder).iterdir()
        digest = base64.b64encode(hashlib.sha512(path.read_bytes()).digest()).decode()
        if f"sha512-{digest}" != ALLOW["source"]["integrity"]:
            sys.exit(f"{package} is not the one allow.toml pins: sha512-{digest}")
        with tarfile.open(path) as archive:

            def read(name: str) -> bytes:
                member = archive.extractfile(f"package/{name}")
                assert member is not None
                return member.read()

            protocols = [json.loads(read(f"json/{name}_protocol.json")) for name in ("browser", "js")]
            return [domain for protocol in protocols for domain in protocol["domains"]], read("LICENSE")


def prune(domains: list[Json]) -> list[Json]:
    """Only the commands and events of the allow-list, and the types and fields they reach; no prose."""
    known = {
        kind: {f"{domain['domain']}.{item[key]}": item for domain in domains for item in domain.get(kind, [])}
        for kind, key in (("commands", "name"), ("events", "name"), ("types", "id"))
    }
    kept: dict[str, dict[str, Json]] = {"types": {}, "commands": {}, "events": {}}

    def fields(owner: str, items: list[Json], allowed: list[str] | None) -> list[Json]:
        if missing := set(allowed or ()) - {item["name"] for item in items}:
            sys.exit(f"{owner} has no {', '.join(sorted(missing))}")
        if allowed is None:
            items = [item for item in items if not item.get("deprecated")]
        else:
            items = [item for item in items if item["name"] in allowed]
        return [slim(owner.partition(".")[0], item) for item in items]

    def slim(domain: str, item: Json) -> Json:
        reference = item.get("$ref") or item.get("items", {}).get("$ref")
        if reference is not None:
            reach(reference if "." in reference else f"{domain}.{reference}")
        slimmed: Json = {key: item[key] for key in ("name", "optional", "type", "$ref", "items") if key in item}
        if item.get("$ref", "").startswith(f"{domain}."):  # PyCDP would import the domain into itself
            slimmed["$ref"] = item["$ref"].removeprefix(f"{domain}.")
        return slimmed

    def reach(name: str) -> None:
        if name in kept["types"]:
            return
        item = known["types"][name]
        kept["types"][name] = slimmed = {key: item[key] for key in ("id", "type", "enum") if key in item}
        if "properties" in item:
            slimmed["properties"] = fields(name, item["properties"], ALLOW["types"].get(name))
        if "items" in item:
            slimmed |= slim(name.partition(".")[0], {"items": item["items"]})

    for kind in ("commands", "events"):
        for name, entry in ALLOW[kind].items():
            if name not in known[kind]:
                sys.exit(f"the protocol has no {name} among its {kind}; a new name needs --fetch")
            item = known[kind][name]
            kept[kind][name] = slimmed = {"name": item["name"]}
            if parameters := fields(name, item.get("parameters", []), entry.get("parameters")):
                slimmed["parameters"] = parameters
            if returns := fields(name, item.get("returns", []), None):
                slimmed["returns"] = returns
    if idle := set(ALLOW["types"]) - set(kept["types"]):
        sys.exit(f"nothing reaches {', '.join(sorted(idle))}")

    names = sorted({name.partition(".")[0] for items in kept.values() for name in items})
    return [{"domain": domain} | {kind: within(domain, items) for kind, items in kept.items()} for domain in names]


def within(domain: str, items: dict[str, Json]) -> list[Json]:
    return [items[name] for name in sorted(items) if name.startswith(f"{domain}.")]


def serialise(pruned: list[Json]) -> str:
    source = f"devtools-protocol {ALLOW['source']['version']}, pruned; its licence is beside this file"
    version = {"major": "1", "minor": "3"}
    return json.dumps({"source": source, "version": version, "domains": pruned}, indent=1) + "\n"


# The Python

HEADER = "# Written by tools/generate_cdp.py with PyCDP's generator, from tools/protocol/allow.toml; do not edit.\n"
SHAPE = ("Command", "JsonObject", "OpenEnum", "as_bool", "as_dict", "as_float", "as_int", "as_list", "as_str")
STANDARD = {"dataclass": "dataclasses", "Any": "typing"}
WIDTH = 120

POLISH = (
    # prose, and what a subclass of a primitive or of OpenEnum inherits
    (r"(?s)\n    \'\'\'.*?\'\'\'", ""),
    (r"\n\n    def __repr__\(self\):\n.*", ""),
    (
        r"(?m)^(class \w+\()enum\.Enum(\):(?:\n    \w+ = .*)+)\n(?:\n    .*)+(?:\n\n    .*(?:\n    .*)*)*",
        r"\1OpenEnum\2",
    ),
    (r"@event_class\(.*\)\n", ""),
    # a command is one yield
    (r"cmd_dict: T_JSON_DICT = \{\n +('method': .*),\n    \}\n", r"cmd_dict = {\1}\n"),
    (r"cmd_dict: T_JSON_DICT = \{\n +('method': .*),\n +('params': params),\n    \}\n", r"cmd_dict = {\1, \2}\n"),
    (
        r"cmd_dict = (.*)\n    json = yield cmd_dict(\n    return)?",
        lambda m: f"{'json = ' if m[2] else ''}yield {m[1]}{m[2] or ''}",
    ),
    # cells are checked, not coerced
    (r"\b(str|int|float|bool|dict)\((json\['\w+'\]|i)\)", r"as_\1(\2)"),
    (r"(?m)(from_json\(cls, json: (str|int|float|bool)\).*\n +return cls\()json\)", r"\1as_\2(json))"),
    (r"for i in (json\['\w+'\])\]", r"for i in as_list(\1)]"),
    (r"json\.get\(('\w+'), None\)", r"json.get(\1)"),
    # annotations
    (r"typing\.Generator\[T_JSON_DICT,T_JSON_DICT,(.*)\]:", r"Command[\1]:"),
    (r"typing\.Optional\[((?:[^\[\]]|\[[^\[\]]*\])*)\]", r"\1 | None"),
    (r"typing\.(?:List|Tuple)\[", lambda m: m[0][7:].lower()),
    (r"typing\.Any", "Any"),
    (r"(class \w+)\(list\):(\n.* -> list\[(.*)\]:)", r"\1(list['\3']):\2"),
    (r"\bdict\b(?![\[(])", "JsonObject"),
    (r"T_JSON_DICT = dict\(\)", "JsonObject = {}"),
    (r"T_JSON_DICT", "JsonObject"),
    # layout
    (r"\n\n(    \w+: )", r"\n\1"),
    (r":\n\n+(    )", r":\n\1"),
    (r"(?ms)^( *)(def \w+|return cls|return )\(\n(.*?)^ *\)(.*?)$", lambda m: wrapped(*m.groups())),
    ("'", '"'),
)


def generate(pruned: list[Json]) -> dict[str, str]:
    """The text of every file of the generated package."""
    domains = [CdpDomain.from_json(domain) for domain in pruned]
    commands = [f"{domain.domain}.{command.name}" for domain in domains for command in domain.commands]
    events = {f"{it.domain}.{event.name}": f"{it.module}.{event.py_name}" for it in domains for event in it.events}
    lines = [
        HEADER,
        "from nlm_cdp.cdp.shape import EventClass\n",
        f"from . import {', '.join(domain.module for domain in domains)}\n",
        "COMMANDS = frozenset({",
        *(f'    "{name}",' for name in commands),
        "})\n",
        "EVENTS: dict[str, type[EventClass]] = {",
        *(f'    "{name}": {event},' for name, event in events.items()),
        "}\n",
    ]
    return {f"{domain.module}.py": polish(domain) for domain in domains} | {"__init__.py": "\n".join(lines)}


def polish(domain: CdpDomain) -> str:
    """One domain as PyCDP writes it, then without prose and coercion, and in one plain layout."""
    code = "\n\n\n".join(item.generate_code() for item in (*domain.types, *domain.commands, *domain.events)) + "\n"
    for pattern, replacement in POLISH:
        code = re.sub(pattern, replacement, code)
    words = set(re.findall(r"\w+", code))
    standard = [f"from {module} import {name}" for name, module in STANDARD.items() if name in words]
    shape = f"from nlm_cdp.cdp.shape import {', '.join(name for name in SHAPE if name in words)}"
    groups = ["from __future__ import annotations", "\n".join(standard), shape, domain.generate_imports()]
    return HEADER + "".join(f"\n{group}\n" for group in groups if group) + "\n\n" + code


def wrapped(indent: str, opening: str, body: str, closing: str) -> str:
    """A parenthesis on one line, or one item a line."""
    items = [line.strip().removesuffix(",") for line in body.splitlines() if line.strip()]
    line = f"{indent}{opening}({', '.join(items)}){closing}"
    if len(line) <= WIDTH:
        return line
    return f"{indent}{opening}(\n" + "".join(f"{indent}    {item},\n" for item in items) + f"{indent}){closing}"


if __name__ == "__main__":
    main()
