"""The table of browsers, on computers of every kind."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from nlm_cdp.browser.channels import CHANNELS, find_executable, user_data_folders
from nlm_cdp.browser.machine import Machine
from nlm_cdp.errors import ChromeNotFound


def test_chromium_and_google_chrome_have_their_places_on_every_platform(tmp_path: Path) -> None:
    expected = {
        "linux": {
            "Google Chrome": ".config/google-chrome",
            "Chromium": "snap/chromium/common/chromium",
            "Microsoft Edge Beta": ".config/microsoft-edge-beta",
            "Brave": ".var/app/com.brave.Browser/config/BraveSoftware/Brave-Browser",
        },
        "darwin": {
            "Google Chrome": "Library/Application Support/Google/Chrome",
            "Arc": "Library/Application Support/Arc/User Data",
        },
        "win32": {
            "Google Chrome": "AppData/Local/Google/Chrome/User Data",
            "Opera": "AppData/Roaming/Opera Software/Opera Stable",
            "Microsoft Edge Canary": "AppData/Local/Microsoft/Edge SxS/User Data",
        },
    }
    for platform, places in expected.items():
        known = list(user_data_folders(Machine(platform, {}, tmp_path)))
        assert known[0] == ("Google Chrome", tmp_path / places["Google Chrome"])
        for browser, place in places.items():
            assert (browser, tmp_path / place) in known
        names = {browser for browser, _ in known}
        for name in ("Microsoft Edge", "Microsoft Edge Beta", "Microsoft Edge Dev", "Microsoft Edge Canary", "Brave",
                     "Brave Beta", "Brave Nightly", "Vivaldi", "Opera", "Opera GX"):  # fmt: skip
            assert name in names
        assert len({folder for _, folder in known}) == len(known)
    assert [channel.browser for channel in CHANNELS][:5] == [
        "Google Chrome", "Google Chrome Beta", "Google Chrome Dev", "Google Chrome Canary", "Chromium",
    ]  # fmt: skip


def test_every_place_stands_on_a_base_that_the_platform_has(tmp_path: Path) -> None:
    for platform in ("linux", "darwin", "win32"):
        bases = Machine(platform, {}, tmp_path).bases().keys() | {"path"}
        for channel in CHANNELS:
            places = channel.on(platform)
            assert {place.partition("/")[0] for place in places.folders + places.programs} <= bases


@pytest.mark.parametrize("platform", ["linux", "darwin", "win32", "freebsd14"])
async def test_no_home_and_no_variables_is_no_crash(platform: str) -> None:
    nobody = Machine(platform, {}, None)
    assert list(user_data_folders(nobody)) == []
    if platform != sys.platform:
        assert find_executable(nobody) is None


def test_the_variables_of_each_platform_move_its_folders(tmp_path: Path) -> None:
    def first(platform: str, environ: dict[str, str]) -> Path:
        return next(folder for _, folder in user_data_folders(Machine(platform, environ, tmp_path / "home")))

    there = str(tmp_path / "there")
    assert first("linux", {"XDG_CONFIG_HOME": there}) == tmp_path / "there/google-chrome"
    assert first("linux", {"XDG_CONFIG_HOME": "/x", "CHROME_CONFIG_HOME": there}) == tmp_path / "there/google-chrome"
    assert first("linux", {"XDG_CONFIG_HOME": ""}) == tmp_path / "home/.config/google-chrome"
    assert first("win32", {"LOCALAPPDATA": there}) == tmp_path / "there/Google/Chrome/User Data"


def test_here_survives_a_user_without_a_home(monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", homeless)
    assert Machine.here().home is None
    assert Machine.here().platform == sys.platform


@pytest.mark.skipif(sys.platform == "win32", reason="programs on PATH have an extension there")
def test_find_executable(tmp_path: Path) -> None:
    def program(path: Path) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(mode=0o755)
        return path

    chromium = program(tmp_path / "bin/chromium")
    environ = {"PATH": str(tmp_path / "bin")}
    linux = Machine("linux", environ, tmp_path)
    assert find_executable(linux) == chromium
    google = program(tmp_path / "bin/google-chrome")
    assert find_executable(linux) == google
    mine = program(tmp_path / "mine")
    assert find_executable(Machine("linux", environ | {"NLM_CDP_CHROME": str(mine)}, tmp_path)) == mine
    assert find_executable(Machine("linux", environ | {"NLM_CDP_CHROME": "chromium"}, tmp_path)) == chromium
    with pytest.raises(ChromeNotFound, match="NLM_CDP_CHROME names"):
        find_executable(Machine("linux", environ | {"NLM_CDP_CHROME": str(tmp_path / "absent")}, tmp_path))
    edge = program(tmp_path / "x86/Microsoft/Edge/Application/msedge.exe")
    assert find_executable(Machine("win32", {"PROGRAMFILES(X86)": str(tmp_path / "x86")}, None)) == edge
    if not Path("/Applications").exists():
        brave = program(tmp_path / "Applications/Brave Browser.app/Contents/MacOS/Brave Browser")
        assert find_executable(Machine("darwin", {}, tmp_path)) == brave
