"""What is remembered between runs, and shared between processes."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from functools import partial
from pathlib import Path

import platformdirs
import pytest
import trio

import nlm_cdp
from nlm_cdp.errors import FileRefused, NotFound
from nlm_cdp.local.store import ChatSession, default_path, open_store

pytestmark = pytest.mark.realtime


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.sqlite3"


class Clock:
    """A clock that moves when it is told to."""

    def __init__(self) -> None:
        self.time = 1000.0

    def __call__(self) -> float:
        return self.time


async def test_the_active_notebook(path: Path) -> None:
    async with open_store(path) as store:
        assert await store.active_notebook() is None
        await store.set_active_notebook("n1")
        await store.set_active_notebook("n2")
        assert await store.active_notebook() == "n2"
    async with open_store(path) as store:
        assert await store.active_notebook() == "n2"
        await store.set_active_notebook(None)
        assert await store.active_notebook() is None
        await store.set_active_notebook(None)


async def test_a_session_from_beginning_to_end(path: Path) -> None:
    clock = Clock()
    async with open_store(path, now=clock) as store:
        session = await store.create_session("n1")
        assert re.fullmatch(r"ses_[A-Za-z0-9_-]{20}", session.id)
        assert session == ChatSession(session.id, "n1", None, 1000.0, 1000.0, 0)
        assert await store.session(session.id) == session

        clock.time = 1001.5
        touched = await store.touch_session(session.id, "c1")
        assert touched == ChatSession(session.id, "n1", "c1", 1000.0, 1001.5, 1)
        clock.time = 1002.0
        assert await store.touch_session(session.id, None) == ChatSession(session.id, "n1", "c1", 1000.0, 1002.0, 2)
        assert (await store.touch_session(session.id, "c2")).conversation_id == "c2"
        clock.time = 1003.0
        reset = await store.reset_session(session.id)
        assert reset == ChatSession(session.id, "n1", None, 1000.0, 1002.0, 0)
    async with open_store(path) as store:
        assert await store.session(session.id) == reset
        assert await store.close_session(session.id) is True
        assert await store.close_session(session.id) is False
        assert await store.session(session.id) is None
        assert await store.sessions() == []


async def test_a_session_that_is_not_there(path: Path) -> None:
    async with open_store(path) as store:
        assert await store.session("ses_x") is None
        assert await store.reset_session("ses_x") is None
        with pytest.raises(NotFound) as caught:
            await store.touch_session("ses_x", "c1")
        assert "list_sessions" in caught.value.hint
        assert await store.sessions() == []


async def test_sessions_come_the_last_used_first(path: Path) -> None:
    clock = Clock()
    async with open_store(path, now=clock) as store:
        first, second, third = [(await store.create_session("n1")).id for _ in range(3)]
        assert [session.id for session in await store.sessions()] == [third, second, first]
        clock.time += 1
        await store.touch_session(second, None)
        assert [session.id for session in await store.sessions()] == [second, third, first]


async def test_a_forgotten_notebook_takes_its_sessions_along(path: Path) -> None:
    async with open_store(path) as store:
        await store.set_active_notebook("n1")
        await store.create_session("n1")
        other = await store.create_session("n2")
        await store.forget_notebook("n2-absent")
        assert len(await store.sessions()) == 2
        await store.forget_notebook("n1")
        assert await store.active_notebook() is None
        assert await store.sessions() == [other]
        await store.set_active_notebook("n2")
        await store.forget_notebook("n1")
        assert await store.active_notebook() == "n2"


async def test_two_processes_share_one_store(path: Path) -> None:
    code = """if True:
        import sys, pathlib, trio
        from nlm_cdp.local.store import open_store
        async def main():
            async with open_store(pathlib.Path(sys.argv[1])) as store:
                for _ in range(25):
                    await store.touch_session(sys.argv[2], None)
                    await store.create_session(sys.argv[3])
        trio.run(main)
    """
    environ = dict(os.environ, PYTHONPATH=str(Path(nlm_cdp.__file__).parent.parent))
    async with open_store(path) as store:
        shared = (await store.create_session("n")).id
        async with trio.open_nursery() as nursery:
            for name in ("a", "b"):
                command = [sys.executable, "-c", code, str(path), shared, name]
                nursery.start_soon(partial(trio.run_process, command, env=environ, stdin=subprocess.DEVNULL))
        after = await store.session(shared)
        assert after is not None
        assert after.message_count == 50
        notebooks = [session.notebook_id for session in await store.sessions()]
        assert (notebooks.count("a"), notebooks.count("b")) == (25, 25)


async def test_nothing_is_made_by_opening(tmp_path: Path) -> None:
    async with open_store(tmp_path / "folder" / "store.sqlite3"):
        pass
    assert not (tmp_path / "folder").exists()


async def test_where_it_is_by_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NLM_CDP_DATA_DIR", str(tmp_path / "mine"))
    assert default_path() == tmp_path / "mine" / "nlm-cdp.sqlite3"
    async with open_store() as store:
        await store.set_active_notebook("n1")
    assert default_path().is_file()
    monkeypatch.setenv("NLM_CDP_DATA_DIR", "")
    assert default_path().parent == Path(platformdirs.user_data_dir("nlm-cdp", appauthor=False))


@pytest.mark.parametrize("data_dir", ["relative", "~nobody-of-that-name/x", ""])
async def test_without_an_absolute_folder_the_first_call_says_so(
    data_dir: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def homeless(*_: object, **__: object) -> str:
        raise RuntimeError("could not determine the home directory")

    monkeypatch.setenv("NLM_CDP_DATA_DIR", data_dir)
    monkeypatch.setattr(platformdirs, "user_data_dir", homeless)
    async with open_store() as store:
        with pytest.raises(FileRefused) as caught:
            await store.active_notebook()
    assert caught.value.state == "no_folder"
    assert "NLM_CDP_DATA_DIR" in caught.value.hint


@pytest.mark.skipif(sys.platform == "win32", reason="Windows asks the system, not the environment")
async def test_a_user_without_home(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(_: int) -> object:
        raise KeyError("uid not found")

    for variable in ("HOME", "XDG_DATA_HOME", "NLM_CDP_DATA_DIR"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr("pwd.getpwuid", unknown)
    async with open_store() as store:
        with pytest.raises(FileRefused) as caught:
            await store.sessions()
    assert caught.value.state == "no_folder"


async def test_forgetting_sessions_leaves_the_library(path: Path) -> None:
    async with open_store(path) as store:
        await store.set_active_notebook("n1")
        await store.create_session("n1")
        lists: dict[str, list[str]] = {"topics": [], "content_types": [], "use_cases": [], "tags": []}
        await store.library.add("n1", "https://x", name="A", description="", **lists)
        await store.forget_sessions()
        assert (await store.sessions(), await store.active_notebook()) == ([], None)
        assert len(await store.library.entries()) == 1


async def test_its_files_can_be_named_and_removed(path: Path) -> None:
    async with open_store(path) as store:
        assert await store.files() == []
        assert await store.remove_files() is True
        assert not path.exists()
        await store.create_session("n1")
        assert {file for file, _ in await store.files()} == set(path.parent.iterdir())
        assert dict(await store.files())[path] == path.stat().st_size
        assert await store.remove_files() is True
        assert list(path.parent.iterdir()) == []
        assert await store.sessions() == []
