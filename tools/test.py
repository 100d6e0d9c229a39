"""`python3 tools/test.py`: set up what the checks take, then run them all.

`python3 tools/test.py fix` formats and regenerates instead. `--long`, and whatever follows `--`, goes to pytest.
"""

import argparse
import shutil
import subprocess
import sys
import time

import environment

CDP, DOCS = ["python", "tools/generate_cdp.py"], ["python", "tools/generate_docs.py"]
FIXTURES = ["python", "-m", "tools.write_fixtures"]


def plan(arguments: list[str]) -> dict[str, list[str]]:
    """Name the steps to take, with their commands; pytest is the last, so that its summary closes the output."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    parser = argparse.ArgumentParser(
        prog="test.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", nargs="?", choices=["check", "fix"], default="check")
    parser.add_argument("--long", action="store_true", help="also run the long tests")
    options = parser.parse_args(arguments[:end])
    if options.what == "fix":
        return {
            "generate_cdp": CDP,
            "generate_docs": DOCS,
            "write_fixtures": FIXTURES,
            "ruff check": ["ruff", "check", "--fix", "."],
            "ruff format": ["ruff", "format", "."],
        }
    return {
        "ruff format": ["ruff", "format", "--check", "."],
        "ruff check": ["ruff", "check", "."],
        "mypy": ["mypy"],
        "lint-imports": ["lint-imports"],
        "generate_cdp": [*CDP, "--check"],
        "generate_docs": [*DOCS, "--check"],
        "write_fixtures": [*FIXTURES, "--check"],
        "pytest": ["pytest", *(["--long"] if options.long else []), *arguments[end + 1 :]],
    }


def run(name: str, command: list[str], environ: dict[str, str]) -> bool:
    """Run one step, and say how it went and how long it took."""
    print(f"\n== {name}", flush=True)
    program = shutil.which(command[0], path=str(environment.BIN))
    if program is None:
        print(f"== {name}: {command[0]} is missing in .venv", flush=True)
        return False
    started = time.perf_counter()
    status = subprocess.run([program, *command[1:]], cwd=environment.ROOT, env=environ, check=False).returncode
    verdict = "ok" if status == 0 else f"failed with {status}"
    print(f"== {name}: {verdict}, {time.perf_counter() - started:.1f} s", flush=True)
    return status == 0


def main() -> int:
    steps = plan(sys.argv[1:])
    environment.prepare_python()
    environ = environment.child_environment(environment.prepare_browser())
    if "pytest" in steps:
        environment.prepare_screen()
    started = time.perf_counter()
    failed = [name for name, command in steps.items() if not run(name, command, environ)]
    verdict = f"failed: {', '.join(failed)}" if failed else f"all {len(steps)} steps are ok"
    print(f"== {verdict}, {time.perf_counter() - started:.1f} s")
    return 1 if failed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
