"""Hostile paths and titles: what is outside, a device, a link or a secret is refused, and names are made harmless."""

from __future__ import annotations

import os
import sys
import unicodedata
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from nlm_cdp.errors import FileRefused
from nlm_cdp.local import files
from nlm_cdp.local.files import LONGEST, Roots, default_write_root, safe_name

posix = pytest.mark.skipif(sys.platform == "win32", reason="POSIX files")
linux = pytest.mark.skipif(sys.platform != "linux", reason="Linux has /proc")


@pytest.fixture
def roots(tmp_path: Path) -> Roots:
    for name in ("docs", "out", "elsewhere"):
        (tmp_path / name).mkdir()
    (tmp_path / "docs/notes.md").write_text("notes")
    (tmp_path / "elsewhere/private.md").write_text("private")
    return Roots((tmp_path / "docs",), tmp_path / "out")


def reason(call, path: object) -> str:
    with pytest.raises(FileRefused) as caught:
        call(path)
    assert caught.value.code == "FILE_REFUSED"
    return caught.value.message


# Reading


def test_a_file_inside_a_root_is_readable(roots: Roots, tmp_path: Path) -> None:
    there = (tmp_path / "docs/notes.md").resolve()
    assert roots.readable(tmp_path / "docs/notes.md") == there
    assert roots.readable(str(tmp_path / "docs/../docs/notes.md")) == there
    assert roots.readable("notes.md") == there


def test_nothing_is_readable_without_a_root(tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("x")
    assert Roots(write=tmp_path).read == ()
    assert "no folder" in reason(Roots(write=tmp_path).readable, tmp_path / "notes.md")


def test_a_relative_path_is_looked_for_in_every_root(roots: Roots, tmp_path: Path) -> None:
    both = Roots((tmp_path / "docs", tmp_path / "elsewhere"), tmp_path / "out")
    assert both.readable("private.md") == (tmp_path / "elsewhere/private.md").resolve()
    assert "no such file" in reason(both.readable, "absent.md")


@pytest.mark.parametrize("path", ["../elsewhere/private.md", "x/../../elsewhere/private.md", "..", "../out", "~/x"])
def test_a_way_out_is_refused(path: str, roots: Roots) -> None:
    assert "outside" in reason(roots.readable, path)


def test_an_absolute_path_outside_is_refused_whether_or_not_it_exists(roots: Roots, tmp_path: Path) -> None:
    for path in (tmp_path / "elsewhere/private.md", tmp_path / "elsewhere/absent.md", tmp_path, "/etc/hosts"):
        assert "outside" in reason(roots.readable, path)
    assert "outside" in reason(roots.readable, str(tmp_path / "docs-of-another/notes.md"))


@posix
def test_links_are_followed_before_they_are_judged(roots: Roots, tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    (docs / "inside.md").symlink_to(docs / "notes.md")
    assert roots.readable("inside.md") == (docs / "notes.md").resolve()
    (docs / "outside.md").symlink_to(tmp_path / "elsewhere/private.md")
    (docs / "folder").symlink_to(tmp_path / "elsewhere")
    (docs / "absent.md").symlink_to(tmp_path / "elsewhere/absent.md")
    (docs / "key.md").symlink_to(docs / "id_rsa")
    for name in ("outside.md", "folder/private.md", "absent.md"):
        assert "outside" in reason(roots.readable, name)
    assert "credentials" in reason(roots.readable, "key.md")
    (docs / "one").symlink_to(docs / "two")
    (docs / "two").symlink_to(docs / "one")
    assert reason(roots.readable, "one")


@posix
def test_a_root_may_be_a_link_itself(roots: Roots, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "docs")
    linked = Roots((tmp_path / "link",), tmp_path / "out")
    assert linked.readable(tmp_path / "link/notes.md") == (tmp_path / "docs/notes.md").resolve()
    assert linked.readable("notes.md")


@posix
def test_only_regular_files_are_readable(roots: Roots, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "docs/pipe.md")
    (tmp_path / "docs/folder.md").mkdir()
    assert "not a regular file" in reason(roots.readable, "pipe.md")
    assert "a folder" in reason(roots.readable, "folder.md")
    assert "a folder" in reason(roots.readable, ".")
    assert "no such file" in reason(roots.readable, "notes.md/x")
    assert "no such file" in reason(roots.readable, "x" * 5_000)


@linux
@pytest.mark.parametrize(
    "path", ["/proc/self/environ", "/proc/self/status", "/dev/zero", "/dev/stdin", "/sys/kernel/uevent_seqnum"]
)
def test_the_systems_files_are_refused_even_under_a_root_of_everything(path: str, tmp_path: Path) -> None:
    assert reason(Roots((Path("/"),), tmp_path).readable, path)


SECRETS = [
    "id_rsa", "id_ed25519.pub", "server.pem", "server.KEY", "cert.p12", "store.kdbx", "wallet.dat",
    ".env", ".env.local", "prod.env", ".ENV", ".env.", ".netrc", "_netrc", ".npmrc", ".pypirc", ".git-credentials",
    "credentials", "credentials.json", "client_secret_1.json", "application_default_credentials.json",
    "Cookies", "Cookies-journal", "cookies.sqlite", "cookies.sqlite-wal", "Login Data", "Login Data For Account",
    "Web Data", "Local State", "DevToolsActivePort", "logins.json", "key4.db", "login.keychain-db",
    ".ssh/config", ".ssh/notes.md", ".aws/config", ".gnupg/pubring.kbx", ".kube/config", ".docker/config.json",
    ".config/gcloud/x.json", ".config/google-chrome/Default/History", ".config/chromium/Default/History",
    "Library/Application Support/Google/Chrome/Default/History", "AppData/Local/Google/Chrome/x", "Library/Keychains/x",
]  # fmt: skip


@pytest.mark.parametrize("name", SECRETS)
def test_what_secrets_are_kept_under_is_refused(name: str, roots: Roots, tmp_path: Path) -> None:
    path = tmp_path / "docs" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("secret")
    assert "credentials" in reason(roots.readable, path)
    assert "credentials" in reason(roots.readable, name)
    assert "credentials" in reason(roots.writable, name)


@pytest.mark.parametrize(
    "name",
    ["environment.md", "cookies/recipe.pdf", "Cookies.pdf", "keys.md", "idle.md", "Credentials.pdf", "sam/shadow.md", "a.b.c.md", "été 🧪.md", "-rf.md"],
)  # fmt: skip
def test_what_only_sounds_like_them_is_not(name: str, roots: Roots, tmp_path: Path) -> None:
    path = tmp_path / "docs" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("harmless")
    assert roots.readable(name) == path.resolve()
    assert roots.writable(name) == (tmp_path / "out" / name).resolve()


@pytest.mark.parametrize("path", ["", "a\0b", "notes.md\0.pdf", "bad\udcff.md"])
def test_what_is_no_path_at_all(path: str, roots: Roots) -> None:
    assert reason(roots.readable, path)
    assert reason(roots.writable, path)


@pytest.mark.parametrize(
    "name", ["CON", "con.md", "nul.tar.gz", "Aux", "COM1.pdf", "lpt9", "prn .md", "conout$", "x/nul/y.md", "com¹"]
)
def test_devices_of_windows_are_refused_everywhere(name: str, roots: Roots) -> None:
    assert "device" in reason(roots.readable, name)
    assert "device" in reason(roots.writable, name)


def test_streams_of_windows_are_refused_there(roots: Roots, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "WINDOWS", True)
    assert reason(roots.readable, "notes.md:secret")
    assert reason(roots.writable, "notes.md:secret")


def test_a_user_without_a_home(roots: Roots, monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless(_: Path) -> Path:
        raise RuntimeError

    monkeypatch.setattr(Path, "expanduser", homeless)
    assert "no home" in reason(roots.readable, "~/notes.md")


# Writing


def test_a_new_file_may_be_written_under_its_root_alone(roots: Roots, tmp_path: Path) -> None:
    out = (tmp_path / "out").resolve()
    assert roots.writable("report.md") == out / "report.md"
    assert roots.writable("new/folder/report.md") == out / "new/folder/report.md"
    assert roots.writable(tmp_path / "out/report.md") == out / "report.md"
    assert list(out.iterdir()) == []


@pytest.mark.parametrize(
    "path", ["../evil.md", "/etc/evil", "x/../../evil.md", "../docs/notes.md", "~/.bashrc", "..", "../out-of-here/x"]
)
def test_a_way_out_is_refused_for_writing_too(path: str, roots: Roots, tmp_path: Path) -> None:
    assert "outside" in reason(roots.writable, path)
    assert sorted(item.name for item in tmp_path.iterdir()) == ["docs", "elsewhere", "out"]


@posix
def test_what_stands_there_must_be_a_file(roots: Roots, tmp_path: Path) -> None:
    out = tmp_path / "out"
    (out / "folder").mkdir()
    os.mkfifo(out / "pipe")
    (out / "mine.md").write_text("mine")
    for path in (".", "", "folder", out):
        assert reason(roots.writable, path)
    assert "regular" in reason(roots.writable, "pipe")
    assert roots.writable("mine.md") == (out / "mine.md").resolve()


@posix
def test_links_lead_nowhere_else(roots: Roots, tmp_path: Path) -> None:
    out = tmp_path / "out"
    (out / "link").symlink_to(tmp_path / "elsewhere")
    (out / "file").symlink_to(tmp_path / "elsewhere/private.md")
    (out / "new").symlink_to(tmp_path / "elsewhere/new.md")
    for path in ("link/x.md", "file", "new", "link"):
        assert reason(roots.writable, path)


def test_the_default_is_a_folder_of_its_own_among_the_downloads() -> None:
    assert Roots().write == default_write_root()
    assert default_write_root().name == "nlm-cdp"
    assert default_write_root().is_absolute()


# Names


@pytest.mark.parametrize(
    ("title", "extension", "name"),
    [
        ("Quarterly report", "pdf", "Quarterly report.pdf"),
        ("Quarterly report", ".pdf", "Quarterly report.pdf"),
        ("no extension", "", "no extension"),
        ("../../evil", "md", "-..-evil.md"),
        ("..\\..\\evil", "md", "-..-evil.md"),
        ("/etc/passwd", "md", "-etc-passwd.md"),
        (".bashrc", "", "bashrc"),
        ("...", "md", "file.md"),
        ("", "md", "file.md"),
        ("\0\n\r\t", "md", "file.md"),
        ("CON", "md", "_CON.md"),
        ("nul.tar", "gz", "_nul.tar.gz"),
        ("Console", "md", "Console.md"),
        ("Credentials", "csv", "_Credentials.csv"),
        ("Cookies", "txt", "_Cookies.txt"),
        ("Cookies", "md", "Cookies.md"),
        ('a<b>c:d"e|f?g*h', "md", "a-b-c-d-e-f-g-h.md"),
        ("trailing. ", "md", "trailing.md"),
        ("スクリーン 🧪 été", "pdf", "スクリーン 🧪 été.pdf"),
        ("e\u0301te\u0301", "pdf", "\u00e9t\u00e9.pdf"),
        ("invoice\u202efdp.exe", "md", "invoice fdp.exe.md"),
        ("family 👨‍👩‍👧", "png", "family 👨‍👩‍👧.png"),
        ("lone \ud83d", "md", "lone.md"),
        ("x", "m4a/../../y", "x.m4ay"),
    ],
)
def test_a_title_becomes_a_harmless_name(title: str, extension: str, name: str) -> None:
    assert safe_name(title, extension) == name


@pytest.mark.parametrize("letter", ["x", "é", "漢", "🧪", "👨‍👩‍👧"])
def test_a_long_title_is_cut_between_characters(letter: str) -> None:
    name = safe_name(letter * 300, "pdf")
    assert LONGEST - 8 <= len(name.encode()) <= LONGEST
    assert name.endswith(".pdf")
    assert set(name.removesuffix(".pdf")) == set(letter)


@given(st.text(st.characters(exclude_categories=())), st.sampled_from(["", "md", ".pdf", "m4a"]))
@example("~", "")
@example("~root", "md")
@example("cookies", "")
def test_any_title_becomes_one_name_that_may_be_written(title: str, extension: str) -> None:
    name = safe_name(title, extension)
    root = Path("/nowhere/at-all") if sys.platform != "win32" else Path("C:/nowhere")
    assert Roots(write=root).writable(name).name == name
    assert Path(name).name == name
    assert 0 < len(name.encode()) <= LONGEST
    assert not name.startswith((".", " "))
    assert name.isprintable() or any(unicodedata.category(character) in ("Cf", "Cn", "Co") for character in name)
