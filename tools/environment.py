"""What demo.py and test.py need before anything else: a virtual environment and a Chromium, on any machine.

Only the standard library, and up to the version check only what Python 3.6 understands: an old Python must get as far
as saying that it is old.
"""

import hashlib
import os
import shutil
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

OLDEST_PYTHON = (3, 11)
EXIT_UNMET = 3


def fail(sentence: str) -> NoReturn:
    """End here, because this machine lacks something that only its user can provide."""
    print(sentence, file=sys.stderr)
    sys.exit(EXIT_UNMET)


def python_complaint(version: "tuple[int, ...]") -> str:
    """Say what is wrong with this version of Python, if anything."""
    if version[:2] >= OLDEST_PYTHON:
        return ""
    oldest, found = (".".join(map(str, numbers)) for numbers in (OLDEST_PYTHON, version[:3]))
    return f"nlm-cdp needs Python {oldest} or newer, and this is Python {found}: run it with a newer one."


if python_complaint(sys.version_info[:3]):
    fail(python_complaint(sys.version_info[:3]))

from collections.abc import Iterator, Mapping  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
BIN = VENV / ("Scripts" if sys.platform == "win32" else "bin")
LOCK = ROOT / "tools" / "dev.lock"

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "microsoft-edge", "brave-browser")
MAC_BROWSERS = ("Google Chrome", "Chromium", "Microsoft Edge", "Brave Browser")
WINDOWS_BROWSERS = (
    "Google\\Chrome\\Application\\chrome.exe",
    "Chromium\\Application\\chrome.exe",
    "Microsoft\\Edge\\Application\\msedge.exe",
    "BraveSoftware\\Brave-Browser\\Application\\brave.exe",
)
SCREEN = {"Xvfb": "xvfb", "openbox": "openbox", "xdotool": "xdotool"}
"""Programs, and the Debian packages that they are in."""


def say(sentence: str) -> None:
    print(sentence, file=sys.stderr, flush=True)


def run_quietly(*command: "str | Path", **environ: str) -> bool:
    """Run a step of the set-up, whose output nobody asked for but on stderr; tell whether it succeeded."""
    return subprocess.run(command, stdout=sys.stderr, env={**os.environ, **environ}, check=False).returncode == 0


def apt_install(*packages: str) -> bool:
    """Install Debian packages where we may."""
    if sys.platform == "win32" or not shutil.which("apt-get") or os.geteuid() != 0:
        return False
    say(f"Installing {' '.join(packages)} ...")
    quiet = {"DEBIAN_FRONTEND": "noninteractive"}
    run_quietly("apt-get", "-qq", "update", **quiet)  # an old list may do
    return run_quietly("apt-get", "-qq", "install", "-y", "--no-install-recommends", *packages, **quiet)


# The virtual environment


def fingerprint(*parts: bytes) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8, "big") + part)
    return digest.hexdigest()


def wanted_stamp() -> str:
    """Identify everything that the environment is made from."""
    version = "{}.{} {}".format(*sys.version_info[:2], sys.platform)
    return fingerprint(version.encode(), LOCK.read_bytes(), (ROOT / "pyproject.toml").read_bytes())


def is_current(stamp_file: Path, python: Path, wanted: str) -> bool:
    return python.exists() and stamp_file.exists() and stamp_file.read_text(encoding="ascii") == wanted


@contextmanager
def alone() -> Iterator[None]:
    """Let one process at a time build; the lock file of pip serves as the lock file of ours."""
    with LOCK.open("rb") as file:
        if sys.platform == "win32":
            import msvcrt

            os.lseek(file.fileno(), 1 << 30, os.SEEK_SET)  # beyond its end: on Windows, what is locked cannot be read
            while True:
                try:
                    msvcrt.locking(file.fileno(), msvcrt.LK_LOCK, 1)
                    break
                except OSError:  # not within ten seconds
                    continue
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def prepare_python() -> Path:
    """Make .venv unless it is there and up to date, and return its interpreter."""
    python = BIN / ("python.exe" if sys.platform == "win32" else "python")
    stamp_file, wanted = VENV / "stamp", wanted_stamp()
    with alone():
        if not is_current(stamp_file, python, wanted):
            say("Setting up .venv (once, about a minute) ...")
            build_venv(python)
            stamp_file.write_text(wanted, encoding="ascii")
    return python


def build_venv(python: Path) -> None:
    base = getattr(sys, "_base_executable", sys.executable)  # also when we run inside an environment
    has_pip = run_quietly(base, "-c", "import ensurepip, venv")
    if not has_pip and not apt_install("python{}.{}-venv".format(*sys.version_info[:2])):
        fail("This Python comes without venv and ensurepip: install them (on Debian and Ubuntu: python3-venv).")
    if not run_quietly(base, "-m", "venv", "--clear", VENV):
        fail(f"{VENV} could not be made; where a program in it is running, stop that first.")
    pip = (python, "-m", "pip", "--disable-pip-version-check", "-qq", "install")
    if not run_quietly(*pip, "-r", LOCK):
        fail("The packages in tools/dev.lock could not be installed: see above, and check the network.")
    if not run_quietly(*pip, "--no-deps", "--no-build-isolation", "--editable", ROOT):
        fail("nlm-cdp itself could not be installed: see above.")


# The browser


def named_browser(environ: Mapping[str, str]) -> str:
    return environ.get("NLM_CDP_CHROME") or environ.get("CHROME") or ""


def browser_candidates(platform: str, environ: Mapping[str, str]) -> list[str]:
    """List the names and paths under which a Chromium may be found, best first."""
    if named_browser(environ):
        return [named_browser(environ)]
    if platform == "win32":
        folders = [environ[name] for name in ("PROGRAMFILES", "PROGRAMFILES(X86)", "LOCALAPPDATA") if environ.get(name)]
        return [f"{folder}\\{browser}" for browser in WINDOWS_BROWSERS for folder in folders]
    candidates = list(BROWSERS)
    if platform == "darwin":
        folders = ["/Applications", f"{environ.get('HOME', '')}/Applications"]
        candidates += [f"{folder}/{app}.app/Contents/MacOS/{app}" for app in MAC_BROWSERS for folder in folders]
    return candidates


def find_browser() -> str | None:
    for candidate in browser_candidates(sys.platform, os.environ):
        path = shutil.which(candidate)
        if path and is_browser(path):
            return path
    return None


def is_browser(path: str) -> bool:
    if sys.platform != "linux":
        return True
    # Ubuntu's packages may be a mere hint to install a snap.
    return subprocess.run([path, "--version"], capture_output=True, check=False).returncode == 0


def prepare_browser() -> str:
    """Find or install a Chromium, and return its path."""
    found = find_browser()
    if found:
        return found
    named = named_browser(os.environ)
    if named:
        fail(f"NLM_CDP_CHROME or CHROME names {named}, which is not a browser that runs here.")
    if apt_install("chromium"):
        found = find_browser()
    return found or fail(
        "No browser was found: install Chromium, Chrome, Edge or Brave, or name one in NLM_CDP_CHROME."
    )


def child_environment(browser: str) -> dict[str, str]:
    """Make what runs in .venv find its tools and the browser."""
    path = f"{BIN}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    return {**os.environ, "NLM_CDP_CHROME": browser, "PATH": path, "VIRTUAL_ENV": str(VENV)}


# The screen


def prepare_screen() -> None:
    """Install what the tests of Chrome's own dialog take, where we may; without it they are skipped and say so."""
    missing = [package for program, package in SCREEN.items() if not shutil.which(program)]
    if missing and sys.platform == "linux":
        apt_install(*missing)
