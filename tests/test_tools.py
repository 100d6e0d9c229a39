"""The README's two commands, as far as they can be tested without a machine to set up."""

from __future__ import annotations

import ast
import importlib.util
import re
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from types import ModuleType

ROOT = Path(__file__).parent.parent
TOOLS = ROOT / "tools"


def load(name: str, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(TOOLS))
    spec = importlib.util.spec_from_file_location(f"tools_{name}", TOOLS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    return load("environment", monkeypatch)


@pytest.fixture
def test_script(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    return load("test", monkeypatch)


# Python


def test_the_version_sentence(environment: ModuleType) -> None:
    assert environment.python_complaint((3, 11, 0)) == ""
    assert environment.python_complaint((4, 0, 0)) == ""
    sentence = environment.python_complaint((3, 9, 18))
    assert "needs Python 3.11 or newer" in sentence
    assert "this is Python 3.9.18" in sentence


@pytest.mark.parametrize("name", ["environment", "demo", "test"])
def test_an_old_python_gets_as_far_as_the_version_sentence(name: str) -> None:
    tree = ast.parse((TOOLS / f"{name}.py").read_text(encoding="utf-8"), feature_version=(3, 6))
    imported = {alias.name for node in tree.body if isinstance(node, ast.Import) for alias in node.names}
    assert name == "environment" or "environment" in imported
    assert "__future__" not in {node.module for node in tree.body if isinstance(node, ast.ImportFrom)}


# The lock and the stamp


def test_the_lock_pins_everything_we_need() -> None:
    lines = (TOOLS / "dev.lock").read_text(encoding="utf-8").splitlines()
    pins = [line for line in lines if not line.startswith("#")]
    for pin in pins:
        assert re.fullmatch(r'[A-Za-z0-9_.-]+==[\w.]+(; sys_platform == "win32")?', pin)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    locked = {re.split("==", pin)[0].lower().replace("_", "-") for pin in pins}
    needed = {re.split("[<>=]", requirement)[0] for requirement in project["project"]["dependencies"]}
    assert needed | {"pytest", "ruff", "mypy", "import-linter", "hatchling", "editables"} <= locked


def test_the_stamp_follows_the_lock_the_project_and_the_python(
    environment: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock, project = tmp_path / "dev.lock", tmp_path / "pyproject.toml"
    monkeypatch.setattr(environment, "LOCK", lock)
    monkeypatch.setattr(environment, "ROOT", tmp_path)
    stamps = set()
    for lock_text, project_text in (("a", "b"), ("ab", ""), ("", "ab"), ("a", "c")):
        lock.write_text(lock_text)
        project.write_text(project_text)
        stamps.add(environment.wanted_stamp())
        assert environment.wanted_stamp() in stamps
    monkeypatch.setattr(sys, "version_info", (3, 99, 0))
    stamps.add(environment.wanted_stamp())
    assert len(stamps) == 5


def test_an_environment_is_current_only_when_finished_for_this_stamp(environment: ModuleType, tmp_path: Path) -> None:
    stamp_file, python = tmp_path / "stamp", tmp_path / "python"
    assert not environment.is_current(stamp_file, python, "x")
    python.touch()
    assert not environment.is_current(stamp_file, python, "x")
    stamp_file.write_text("x")
    assert environment.is_current(stamp_file, python, "x")
    assert not environment.is_current(stamp_file, python, "y")
    python.unlink()
    assert not environment.is_current(stamp_file, python, "x")


def test_preparing_builds_once(environment: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    built = []

    def build(python: Path) -> None:
        built.append(python)
        python.parent.mkdir(parents=True, exist_ok=True)
        python.touch()

    monkeypatch.setattr(environment, "VENV", tmp_path)
    monkeypatch.setattr(environment, "BIN", tmp_path / "bin")
    monkeypatch.setattr(environment, "build_venv", build)
    assert environment.prepare_python() == environment.prepare_python()
    assert len(built) == 1
    (tmp_path / "stamp").write_text("older")
    environment.prepare_python()
    assert len(built) == 2


# The browser


def test_browsers_on_linux(environment: ModuleType) -> None:
    candidates = environment.browser_candidates("linux", {})
    assert candidates[0] == "chromium"
    assert {"google-chrome", "google-chrome-stable", "chromium-browser", "microsoft-edge"} < set(candidates)


def test_browsers_on_macos(environment: ModuleType) -> None:
    candidates = environment.browser_candidates("darwin", {"HOME": "/Users/someone"})
    assert "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome" in candidates
    assert "/Users/someone/Applications/Chromium.app/Contents/MacOS/Chromium" in candidates


def test_browsers_on_windows(environment: ModuleType) -> None:
    environ = {"PROGRAMFILES": r"C:\Program Files", "LOCALAPPDATA": r"C:\Users\someone\AppData\Local"}
    candidates = environment.browser_candidates("win32", environ)
    assert candidates[0] == r"C:\Program Files\Google\Chrome\Application\chrome.exe"
    assert r"C:\Users\someone\AppData\Local\Chromium\Application\chrome.exe" in candidates
    assert all(candidate.startswith(tuple(environ.values())) for candidate in candidates)


@pytest.mark.parametrize("platform", ["linux", "darwin", "win32"])
def test_a_named_browser_is_the_only_candidate(environment: ModuleType, platform: str) -> None:
    environ = {"CHROME": "/opt/chrome", "PROGRAMFILES": "C:"}
    assert environment.browser_candidates(platform, environ) == ["/opt/chrome"]
    environ["NLM_CDP_CHROME"] = "/opt/chromium"
    assert environment.browser_candidates(platform, environ) == ["/opt/chromium"]


def test_a_wrong_name_is_not_replaced_by_another(
    environment: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("NLM_CDP_CHROME", "/no/such/browser")
    with pytest.raises(SystemExit) as caught:
        environment.prepare_browser()
    assert caught.value.code == 3
    assert "/no/such/browser" in capsys.readouterr().err


@pytest.mark.skipif(sys.platform != "linux", reason="writes scripts")
def test_a_browser_must_run(
    environment: ModuleType,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.delenv("CHROME", raising=False)
    monkeypatch.delenv("NLM_CDP_CHROME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SystemExit) as caught:
        environment.prepare_browser()
    assert caught.value.code == 3
    assert "No browser was found" in capsys.readouterr().err
    for name, status in (("chromium-browser", 10), ("google-chrome", 0)):
        script = tmp_path / name
        script.write_text(f"#!/bin/sh\nexit {status}\n")
        script.chmod(0o755)
    assert environment.prepare_browser() == str(tmp_path / "google-chrome")


# The screen


def test_only_what_the_screen_lacks_is_installed_and_a_failure_is_no_end(
    environment: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[str, ...]] = []

    def refuse(*packages: str) -> bool:
        asked.append(packages)
        return False

    monkeypatch.setattr(environment, "apt_install", refuse)
    for platform, there in (
        ("linux", ["Xvfb", "openbox", "xdotool"]),
        ("linux", ["openbox"]),
        ("linux", []),
        ("darwin", []),
    ):
        monkeypatch.setattr(environment.sys, "platform", platform)
        monkeypatch.setattr(environment.shutil, "which", lambda name, there=there: name in there or None)
        environment.prepare_screen()
    assert asked == [("xvfb", "xdotool"), ("xvfb", "openbox", "xdotool")]


# The steps


def test_every_step_is_named_and_pytest_is_the_last(test_script: ModuleType) -> None:
    steps = test_script.plan([])
    assert list(steps) == [
        "ruff format",
        "ruff check",
        "mypy",
        "lint-imports",
        "generate_cdp",
        "generate_docs",
        "write_fixtures",
        "pytest",
    ]
    assert steps["pytest"] == ["pytest"]


def test_what_goes_to_pytest(test_script: ModuleType) -> None:
    assert test_script.plan(["--long", "--", "-k", "stdio"])["pytest"] == ["pytest", "--long", "-k", "stdio"]
    assert test_script.plan(["--", "--long", "fix"])["pytest"] == ["pytest", "--long", "fix"]


def test_fix_changes_files_and_checks_nothing(test_script: ModuleType) -> None:
    steps = test_script.plan(["fix"])
    assert "pytest" not in steps
    assert not any("--check" in command for command in steps.values())


@pytest.mark.parametrize(("status", "ok"), [(0, True), (1, False), (5, False)])
def test_a_step_fails_with_its_status(
    test_script: ModuleType,
    status: int,
    ok: bool,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(test_script.shutil, "which", lambda _name, path: sys.executable)
    assert test_script.run("step", ["python", "-c", f"raise SystemExit({status})"], {}) is ok
    assert re.search(r"== step: (ok|failed with \d), \d+\.\d s\n$", capsys.readouterr().out)


def test_a_missing_program_is_a_failed_step(test_script: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(test_script.shutil, "which", lambda _name, path: None)
    assert test_script.run("step", ["ruff"], {}) is False
