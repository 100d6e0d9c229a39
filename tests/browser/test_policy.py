"""An administrator's policy, on computers of every kind."""

from __future__ import annotations

import plistlib
from pathlib import Path

import pytest

from nlm_cdp.browser.channels import CHANNELS
from nlm_cdp.browser.machine import Machine
from nlm_cdp.browser.policy import FAMILIES, POLICY, forbidding


def managed(root: Path, folder: str, **files: str | bytes) -> None:
    there = root / "etc" / folder / "policies/managed"
    there.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (there / f"{name}.json").write_bytes(text if isinstance(text, bytes) else text.encode())


NO, YES = '{"RemoteDebuggingAllowed": false}', '{"RemoteDebuggingAllowed": true, "Other": [1]}'


@pytest.mark.parametrize(
    ("browser", "folder"),
    [
        ("Google Chrome", "opt/chrome"),
        ("Google Chrome Beta", "opt/chrome"),
        ("Chromium", "chromium"),
        ("Chromium", "chromium-browser"),
        ("Microsoft Edge Dev", "opt/edge"),
        ("Brave", "brave"),
    ],
)
def test_linux_keeps_policies_in_files(tmp_path: Path, browser: str, folder: str) -> None:
    machine = Machine("linux", {}, None, tmp_path)
    assert forbidding(machine, browser) == ""
    managed(tmp_path, folder, it=NO)
    assert forbidding(machine, browser) == str(tmp_path / "etc" / folder / "policies/managed/it.json")
    assert [channel.browser for channel in CHANNELS if forbidding(machine, channel.browser)] == [
        channel.browser for channel in CHANNELS if channel.browser.startswith(browser.split(maxsplit=1)[0])
    ]


def test_the_last_file_of_the_alphabet_decides(tmp_path: Path) -> None:
    machine = Machine("linux", {}, None, tmp_path)
    managed(tmp_path, "opt/chrome", a=NO, b=YES, c="{}")
    assert forbidding(machine, "Google Chrome") == ""
    managed(tmp_path, "opt/chrome", d=NO)
    assert forbidding(machine, "Google Chrome").endswith("d.json")


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "null", '{"RemoteDebuggingAllowed": "false"}', '{"RemoteDebuggingAllowed": 0}', b"\xff"]
)
def test_a_file_that_says_nothing_forbids_nothing(tmp_path: Path, text: str | bytes) -> None:
    managed(tmp_path, "opt/chrome", it=text)
    (tmp_path / "etc/opt/chrome/policies/managed/folder.json").mkdir()
    assert forbidding(Machine("linux", {}, None, tmp_path), "Google Chrome") == ""


def test_a_file_that_nobody_may_read_forbids_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path) -> bytes:
        raise PermissionError(13, "Permission denied", str(path))

    managed(tmp_path, "opt/chrome", it=NO)
    monkeypatch.setattr(Path, "read_bytes", refuse)
    assert forbidding(Machine("linux", {}, None, tmp_path), "Google Chrome") == ""


@pytest.mark.parametrize("kind", [plistlib.FMT_XML, plistlib.FMT_BINARY])
def test_macos_keeps_policies_in_managed_preferences(tmp_path: Path, kind: plistlib.PlistFormat) -> None:
    home = tmp_path / "Users/ada"
    machine = Machine("darwin", {}, home, tmp_path)
    for folder in (tmp_path / "Library/Managed Preferences", tmp_path / "Library/Managed Preferences/ada"):
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / "com.google.Chrome.plist"
        path.write_bytes(plistlib.dumps({POLICY: False}, fmt=kind))
        assert forbidding(machine, "Google Chrome Canary") == str(path)
        assert forbidding(machine, "Microsoft Edge") == ""
        path.write_bytes(plistlib.dumps({POLICY: True}, fmt=kind))
        assert forbidding(machine, "Google Chrome") == ""


@pytest.mark.parametrize("data", [b"", b"bplist00", b"<plist>", b"<?xml version='1.0'?><x/>", b"\xff\xfe"])
def test_a_property_list_that_is_none_forbids_nothing(tmp_path: Path, data: bytes) -> None:
    folder = tmp_path / "Library/Managed Preferences"
    folder.mkdir(parents=True)
    (folder / "com.google.Chrome.plist").write_bytes(data)
    assert forbidding(Machine("darwin", {}, None, tmp_path), "Google Chrome") == ""


@pytest.mark.parametrize(
    ("values", "where"),
    [
        ({}, ""),
        ({"HKEY_LOCAL_MACHINE": 0}, "HKEY_LOCAL_MACHINE"),
        ({"HKEY_CURRENT_USER": 0}, "HKEY_CURRENT_USER"),
        ({"HKEY_LOCAL_MACHINE": 1, "HKEY_CURRENT_USER": 0}, ""),
        ({"HKEY_LOCAL_MACHINE": "0"}, ""),
    ],
)
def test_windows_keeps_policies_in_the_registry(values: dict[str, object], where: str) -> None:
    asked: list[tuple[str, str]] = []

    def registry(hive: str, key: str, name: str) -> object:
        asked.append((key, name))
        return values.get(hive)

    found = forbidding(Machine("win32", {}, None, registry=registry), "Microsoft Edge Beta")
    assert found == (rf"{where}\Software\Policies\Microsoft\Edge" if where else "")
    assert set(asked) == {(r"Software\Policies\Microsoft\Edge", POLICY)}


@pytest.mark.parametrize("platform", ["linux", "darwin", "win32", "freebsd14"])
def test_a_machine_that_tells_nothing_forbids_nothing(platform: str) -> None:
    for family in FAMILIES:
        assert forbidding(Machine(platform, {}, None), family) == ""
    assert forbidding(Machine(platform, {}, None), "mine") == ""
    assert forbidding(Machine.here(), "no such browser") == ""
