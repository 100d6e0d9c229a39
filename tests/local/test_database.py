"""The file: who may read it, who may write it at once, and what is said when nobody can."""

from __future__ import annotations

import os
import sqlite3
import stat
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import trio

import nlm_cdp
from nlm_cdp.errors import FileRefused, InvalidArgument, NotReady
from nlm_cdp.local import database
from nlm_cdp.local.database import Database, use_wal

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.realtime
posix = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such modes")
MIGRATIONS = (("CREATE TABLE item (name TEXT)",),)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a" / "b" / "x.sqlite3"


@pytest.fixture
def umask(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[None]:
    before = os.umask(request.param)
    yield
    os.umask(before)


def open_to_others(path: Path, mode: int) -> None:
    path.chmod(mode)


def overwrite(path: Path, content: bytes, *, keep: int = 0) -> None:
    """Damage a file, or make one: its first bytes are kept."""
    path.parent.mkdir(parents=True, exist_ok=True)
    kept = path.read_bytes()[:keep] if keep else b""
    path.write_bytes(kept + content)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def add(db: sqlite3.Connection, name: str) -> None:
    db.execute("INSERT INTO item (name) VALUES (?)", [name])


def names(db: sqlite3.Connection) -> list[str]:
    return [str(name) for (name,) in db.execute("SELECT name FROM item ORDER BY rowid")]


async def contents(path: Path) -> list[str]:
    db = Database(lambda: path, MIGRATIONS)
    try:
        return await db.read(names)
    finally:
        await db.aclose()


def python(code: str, *arguments: str) -> subprocess.Popen[bytes]:
    """Another process that runs this code and says a line when it is ready."""
    environ = dict(os.environ, PYTHONPATH=str(Path(nlm_cdp.__file__).parent.parent))
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.Popen(command, env=environ, stdin=subprocess.PIPE, stdout=subprocess.PIPE)


# Who may read it


@posix
@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077, 0o777], indirect=True)
@pytest.mark.usefixtures("umask")
async def test_the_file_and_its_new_folders_are_private(path: Path) -> None:
    db = Database(lambda: path, MIGRATIONS)
    await db.write(lambda db: add(db, "x"))
    files = sorted(entry.name for entry in await trio.Path(path.parent).iterdir())
    assert files == ["x.sqlite3", "x.sqlite3-shm", "x.sqlite3-wal"]
    assert {mode(path.parent / name) for name in files} == {0o600}
    assert (mode(path.parent), mode(path.parent.parent)) == (0o700, 0o700)
    await db.aclose()


@posix
async def test_an_existing_file_is_closed_to_others_and_a_folder_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "x.sqlite3"
    overwrite(path, b"")
    open_to_others(path, 0o666)
    open_to_others(tmp_path, 0o755)
    assert await contents(path) == []
    assert (mode(path), mode(tmp_path)) == (0o600, 0o755)


@posix
@pytest.mark.parametrize("suffix", ["", "-wal", "-shm", "-journal"])
async def test_a_symbolic_link_is_refused(tmp_path: Path, suffix: str) -> None:
    path, target = tmp_path / "x.sqlite3", tmp_path / "target"
    target.write_text("mine")
    path.with_name(path.name + suffix).symlink_to(target)
    with pytest.raises(FileRefused, match="symbolic link") as caught:
        await contents(path)
    assert caught.value.state == "symlink"
    assert target.read_text() == "mine"
    path.with_name(path.name + suffix).unlink()
    assert await contents(path) == []


async def test_nothing_is_made_before_the_first_call(path: Path) -> None:
    await Database(lambda: path, MIGRATIONS).aclose()
    assert not path.parent.exists()


# Whole or not at all


async def test_a_failed_write_leaves_nothing(path: Path) -> None:
    db = Database(lambda: path, MIGRATIONS)

    def work(connection: sqlite3.Connection) -> None:
        add(connection, "half")
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        await db.write(work)
    assert await db.read(names) == []
    await db.write(lambda connection: add(connection, "whole"))
    assert await db.read(names) == ["whole"]
    await db.aclose()


async def test_a_write_that_is_cancelled_in_the_middle_happens_whole(path: Path) -> None:
    db = Database(lambda: path, MIGRATIONS)
    halfway, go_on = trio.Event(), threading.Event()

    def work(connection: sqlite3.Connection) -> str:
        add(connection, "one")
        trio.from_thread.run_sync(halfway.set)
        go_on.wait()
        add(connection, "two")
        return "done"

    results = []
    async with trio.open_nursery() as nursery:
        nursery.start_soon(lambda: db.write(lambda connection: results.append(work(connection))))
        await halfway.wait()
        nursery.cancel_scope.cancel()
        go_on.set()
    assert results == ["done"]
    assert await db.read(names) == ["one", "two"]
    assert await contents(path) == ["one", "two"]
    await db.aclose()


async def test_a_process_that_is_killed_in_the_middle_leaves_nothing(path: Path) -> None:
    code = """if True:
        import sys, pathlib, trio
        from nlm_cdp.local.database import Database
        def work(db):
            db.execute("INSERT INTO item VALUES ('half')")
            print("ready", flush=True)
            sys.stdin.read()
        db = Database(lambda: pathlib.Path(sys.argv[1]), (("CREATE TABLE item (name TEXT)",),))
        trio.run(db.write, work)
    """
    with python(code, str(path)) as process:
        assert process.stdout is not None
        assert process.stdout.readline().strip() == b"ready"
        process.kill()
    assert await contents(path) == []


async def test_after_closing_nothing_is_opened_again(path: Path) -> None:
    db = Database(lambda: path, MIGRATIONS)
    await db.aclose()
    with pytest.raises(trio.ClosedResourceError):
        await db.read(names)


# Several at once


async def test_two_processes_write_at_once(path: Path) -> None:
    code = """if True:
        import sys, pathlib, trio
        from nlm_cdp.local.database import Database
        async def main():
            db = Database(lambda: pathlib.Path(sys.argv[1]), (("CREATE TABLE item (name TEXT)",),))
            for number in range(50):
                await db.write(lambda db: db.execute("INSERT INTO item VALUES (?)", [f"{sys.argv[2]}-{number}"]))
            await db.aclose()
        print("ready", flush=True)
        sys.stdin.read()
        trio.run(main)
    """
    processes = [python(code, str(path), name) for name in ("a", "b")]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline().strip() == b"ready"
    for process in processes:
        assert process.stdin is not None
        process.stdin.close()
    for process in processes:
        with process:
            assert process.wait() == 0
    found = await contents(path)
    assert sorted(found) == sorted(f"{name}-{number}" for name in "ab" for number in range(50))
    for name in "ab":
        assert [item for item in found if item[0] == name] == [f"{name}-{number}" for number in range(50)]


async def test_tasks_of_one_process_take_turns(path: Path) -> None:
    one, other = Database(lambda: path, MIGRATIONS), Database(lambda: path, MIGRATIONS)

    async def write(db: Database, name: str) -> None:
        await db.write(lambda connection: add(connection, name))

    async with trio.open_nursery() as nursery:
        for number in range(10):
            nursery.start_soon(write, one if number % 2 else other, str(number))
    assert sorted(await one.read(names)) == [str(number) for number in range(10)]
    await one.aclose()
    await other.aclose()


async def test_a_locked_file_is_waited_for_then_told(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "BUSY_WAIT_S", 0.01)
    monkeypatch.setattr(database, "BUSY_TRIES", 3)
    await contents(path)
    db = Database(lambda: path, MIGRATIONS)
    blocker = sqlite3.connect(path, isolation_level=None)
    blocker.execute("BEGIN IMMEDIATE")
    with pytest.raises(NotReady) as caught:
        await db.write(lambda connection: add(connection, "x"))
    assert caught.value.state == "locked"
    assert caught.value.retriable
    assert await db.read(names) == []
    blocker.execute("ROLLBACK")
    blocker.close()
    await db.write(lambda connection: add(connection, "x"))
    assert await db.read(names) == ["x"]
    await db.aclose()


async def test_a_cancellation_is_heard_while_the_file_is_locked(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "BUSY_WAIT_S", 0.01)
    monkeypatch.setattr(database, "BUSY_TRIES", 1_000_000)
    await contents(path)
    db = Database(lambda: path, MIGRATIONS)
    blocker = sqlite3.connect(path, isolation_level=None)
    blocker.execute("BEGIN IMMEDIATE")
    with trio.move_on_after(0.1) as scope:
        await db.write(lambda connection: add(connection, "x"))
    assert scope.cancelled_caught
    blocker.execute("ROLLBACK")
    blocker.close()
    assert await db.read(names) == []
    await db.aclose()


# Files that cannot be used


async def test_a_damaged_file_is_told_and_a_repair_is_noticed(path: Path) -> None:
    overwrite(path, b"not a database, and longer than a header" * 100)
    db = Database(lambda: path, MIGRATIONS)
    for _ in range(2):
        with pytest.raises(FileRefused, match="damaged") as caught:
            await db.read(names)
        assert caught.value.state == "corrupt"
        assert caught.value.details == {"path": str(path)}
    await trio.Path(path).rename(path.with_name("away"))
    assert await db.read(names) == []
    await db.aclose()


async def test_damage_inside_is_told(path: Path) -> None:
    db = Database(lambda: path, MIGRATIONS)
    await db.write(lambda connection: connection.executemany("INSERT INTO item VALUES (?)", [["x" * 500]] * 100))
    await db.aclose()
    overwrite(path, b"\xff" * 60000, keep=4096)
    with pytest.raises(FileRefused) as caught:
        await contents(path)
    assert caught.value.state == "corrupt"


async def test_a_file_that_is_removed_under_us_is_made_anew(path: Path) -> None:
    db = Database(lambda: path, MIGRATIONS)
    await db.write(lambda connection: add(connection, "x"))
    if sys.platform == "win32":
        pytest.skip("an open file cannot be removed there")
    for entry in await trio.Path(path.parent).iterdir():
        await entry.unlink()
    assert await db.read(names) == []
    await db.write(lambda connection: add(connection, "y"))
    assert await contents(path) == ["y"]
    await db.aclose()


async def test_a_folder_or_a_file_in_the_way(tmp_path: Path) -> None:
    with pytest.raises(FileRefused) as folder:
        await contents(tmp_path)
    assert folder.value.state == "unusable"
    (tmp_path / "file").touch()
    with pytest.raises(FileRefused) as file:
        await contents(tmp_path / "file" / "x.sqlite3")
    assert file.value.state == "unusable"
    assert str(tmp_path) in file.value.message


async def test_any_other_complaint_of_sqlite_is_told_by_its_name(path: Path) -> None:
    db = Database(lambda: path, MIGRATIONS)
    with pytest.raises(FileRefused, match="SQLITE_ERROR"):
        await db.read(lambda connection: connection.execute("SELECT * FROM absent"))
    with pytest.raises(InvalidArgument):
        await db.write(lambda connection: add(connection, "\ud83d"))
    assert await db.read(names) == []
    await db.aclose()


# The schema


async def test_an_older_file_takes_the_steps_it_lacks(path: Path) -> None:
    db = Database(lambda: path, MIGRATIONS)
    await db.write(lambda connection: add(connection, "old"))
    await db.aclose()
    newer = (*MIGRATIONS, ("ALTER TABLE item ADD COLUMN colour TEXT", "UPDATE item SET colour = 'red'"))
    db = Database(lambda: path, newer)
    rows = await db.read(lambda connection: connection.execute("SELECT * FROM item").fetchall())
    assert rows == [("old", "red")]
    await db.aclose()
    with pytest.raises(FileRefused, match="newer nlm-cdp") as caught:
        await contents(path)
    assert caught.value.state == "newer_schema"


async def test_a_step_that_fails_is_not_taken_by_half(path: Path) -> None:
    await contents(path)
    broken = Database(lambda: path, (*MIGRATIONS, ("CREATE TABLE other (name TEXT)", "nonsense")))
    with pytest.raises(FileRefused):
        await broken.read(names)
    await broken.aclose()
    db = Database(lambda: path, MIGRATIONS)
    tables = await db.read(lambda connection: connection.execute("SELECT name FROM sqlite_master").fetchall())
    assert tables == [("item",)]
    await db.aclose()


def test_a_filesystem_without_wal_keeps_a_journal() -> None:
    class Refusing:
        statements: list[str] = []

        def execute(self, statement: str) -> None:
            self.statements.append(statement)
            if statement.endswith("WAL"):
                raise sqlite3.OperationalError("disk I/O error")

    db: Any = Refusing()
    use_wal(db)
    assert db.statements == ["PRAGMA journal_mode = WAL", "PRAGMA journal_mode = DELETE"]


# Removing it


async def test_a_removed_database_is_made_anew(path: Path) -> None:
    db = Database(lambda: path, MIGRATIONS)
    await db.write(lambda db: add(db, "x"))
    assert await db.remove() is True
    assert await db.files() == []
    assert path.parent.is_dir()
    assert await db.read(names) == []
    assert await db.remove() is True
    await db.aclose()
    with pytest.raises(trio.ClosedResourceError):
        await db.remove()


async def test_what_another_process_has_open_stays(path: Path) -> None:
    code = """if True:
        import sqlite3, sys
        db = sqlite3.connect(sys.argv[1])
        db.execute("SELECT count(*) FROM item").fetchall()
        print("ready", flush=True)
        sys.stdin.read()
    """
    db = Database(lambda: path, MIGRATIONS)
    await db.write(lambda db: add(db, "x"))
    with python(code, str(path)) as other:
        assert other.stdin is not None
        assert other.stdout is not None
        assert await trio.to_thread.run_sync(other.stdout.readline)
        assert await db.remove() is False
        assert await db.read(names) == ["x"]
        other.stdin.close()
        await trio.to_thread.run_sync(other.wait)
    assert await db.remove() is True
    assert not path.exists()
    await db.aclose()


@posix
@pytest.mark.parametrize("suffix", ["", "-wal", "-shm", "-journal"])
async def test_a_link_in_the_place_of_a_file_is_not_removed(path: Path, suffix: str) -> None:
    db, target = Database(lambda: path, MIGRATIONS), path.parent.parent / "target"
    overwrite(target, b"mine")
    path.parent.mkdir(parents=True)
    path.with_name(path.name + suffix).symlink_to(target)
    assert [file.name for file, _ in await db.files()] == [path.name + suffix]
    with pytest.raises(FileRefused, match="symbolic link"):
        await db.remove()
    assert path.with_name(path.name + suffix).is_symlink()
    await db.aclose()


async def test_a_damaged_database_can_be_removed(path: Path) -> None:
    overwrite(path, b"damaged" * 1000)
    db = Database(lambda: path, MIGRATIONS)
    assert [size for _, size in await db.files()] == [7000]
    assert await db.remove() is True
    assert await db.read(names) == []
    await db.aclose()


async def test_a_folder_in_the_place_of_a_database_is_not_removed(path: Path) -> None:
    path.mkdir(parents=True)
    db = Database(lambda: path, MIGRATIONS)
    with pytest.raises(FileRefused) as caught:
        await db.remove()
    assert caught.value.state == "unusable"
    assert path.is_dir()
    await db.aclose()
