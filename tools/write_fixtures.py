"""Write `fixtures/` anew: nlm-capture records a session in the simulated web app, clicked through in real Chromium.

The bytes depend on nothing but the code: the simulator's clock stands still, its ids come from a counter, and the key
of the redaction is fixed. `--check` says whether anything would change.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from nlm_cdp.api import RPCS
from nlm_cdp.browser.discovery import find_executable
from nlm_cdp.capture.cli import main as nlm_capture
from nlm_cdp.capture.fixture import parse

FOLDER = Path(__file__).parents[1] / "fixtures"


def recorded() -> dict[Path, str]:
    """Every fixture's path and text, of a session played now."""
    with tempfile.TemporaryDirectory(prefix="nlm-fixtures-") as folder:
        if code := nlm_capture(["record", "--demo", "--out", folder]):
            raise SystemExit(code)
        found = {path.relative_to(folder): path.read_text(encoding="utf-8") for path in Path(folder).glob("*/*.json")}
    fixtures = [parse(text) for text in found.values()]
    if lost := [fixture.rpc for fixture in fixtures if fixture.response.lost]:
        raise SystemExit(f"the recording lost bodies of {', '.join(sorted(lost))}; try again")
    if missing := {(rpc.id, rpc.variant) for rpc in RPCS} - {(fixture.rpc, fixture.variant) for fixture in fixtures}:
        raise SystemExit(f"the session has no call of {', '.join('-'.join(pair) for pair in sorted(missing))}")
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    if find_executable() is None:
        print("No Chromium is installed here, so the fixtures were neither written nor compared.")
        return 0 if args.check else 3
    found = recorded()
    there = {path.relative_to(FOLDER): path.read_text(encoding="utf-8") for path in FOLDER.glob("*/*.json")}
    changed = sorted(path for path in found.keys() | there.keys() if found.get(path) != there.get(path))
    for path in changed:
        print(FOLDER.name / path)
        if args.check:
            continue
        if path in found:
            (FOLDER / path).parent.mkdir(parents=True, exist_ok=True)
            (FOLDER / path).write_text(found[path], encoding="utf-8", newline="\n")
        else:
            (FOLDER / path).unlink()
    return 1 if args.check and changed else 0


if __name__ == "__main__":
    sys.exit(main())
