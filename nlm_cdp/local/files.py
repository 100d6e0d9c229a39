"""Which files of this computer tools may touch: a policy on paths, decided before anything is opened or sent.

Paths are resolved first, so that neither `..` nor a symlink leads out of a root. Reading needs a root that the user
gave; writing has one of its own. Secrets are refused by name wherever they are. What a path names may change after the
check: the roots keep other people's files apart, not a program that already runs as the same user.
"""

from __future__ import annotations

import os
import re
import stat
import unicodedata
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from itertools import pairwise
from pathlib import Path
from secrets import token_hex

import platformdirs

from nlm_cdp.errors import FileRefused


def words(text: str) -> list[str]:
    return text.split()


SECRET_FOLDERS = words("""
    .ssh .aws .azure .gnupg .kube .docker .password-store .mozilla keychains keyrings .config/gcloud
    .config/google-chrome* .config/chromium* google/chrome* nlm-cdp/browser nlm-cdp-browser
""")
SECRET_FILES = words("""
    id_rsa* id_dsa* id_ecdsa* id_ed25519* authorized_keys *.pem *.key *.p12 *.pfx *.ppk *.jks *.keystore *.kdbx
    *.keychain *.keychain-db *.ovpn wallet.dat
    .env .env.* *.env .envrc .netrc _netrc .pgpass .npmrc .pypirc .git-credentials .htpasswd
    credentials credentials.json credentials.toml credentials.db credentials.csv client_secret*.json
    application_default_credentials.json service_account*.json service-account*.json storage_state.json
    cookies cookies-journal cookies.txt cookies.json cookies.sqlite* login?data* web?data* local?state
    devtoolsactiveport key3.db key4.db logins.json signons.sqlite
""")
"""Names, in lower case, that secrets are kept under; `a/b` is a name inside a folder."""

RESERVED = re.compile(r"(con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])", re.IGNORECASE)
"""Devices that Windows finds under these names in every folder, whatever the extension."""

SYSTEM = ("/proc", "/sys", "/dev")
LONGEST = 180
"""Bytes of a derived name: file systems allow 255, encrypted ones less."""

WINDOWS = os.name == "nt"
REORDERING = ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")
UNSAFE = re.compile(r'[\\/:*?"<>|]')


def default_write_root() -> Path:
    return Path(platformdirs.user_downloads_dir()) / "nlm-cdp"


def data_folder() -> Path:
    """Where this program keeps what it remembers: the user's data folder, or the one NLM_CDP_DATA_DIR names."""
    try:
        folder = Path(os.environ.get("NLM_CDP_DATA_DIR") or platformdirs.user_data_dir("nlm-cdp", appauthor=False))
        folder = folder.expanduser()
    except RuntimeError:  # nothing says where this user's home is
        folder = Path()
    if not folder.is_absolute():
        hint = "Set NLM_CDP_DATA_DIR to the absolute path of a folder of yours."
        raise FileRefused("There is no folder to keep local data in.", hint=hint, state="no_folder")
    return folder


def write_whole(path: Path, data: bytes) -> None:
    """Put a file of our own in its place at once, for its owner alone; a reader sees the old one or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{token_hex(8)}.part")
    try:
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(data)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


@dataclass(frozen=True, slots=True)
class Roots:
    """Where files may be read from (nowhere, unless said) and written to."""

    read: tuple[Path, ...] = ()
    write: Path = field(default_factory=default_write_root)

    def readable(self, path: str | Path) -> Path:
        """The regular file that a path names inside a read root, without any link in it; else FileRefused."""
        if not self.read:
            raise FileRefused(
                "no folder has been opened for reading", hint="Start the server with --files-root FOLDER."
            )
        given = as_path(path)
        candidates = [resolved(resolved(root) / given) for root in self.read]  # an absolute path stays what it is
        found = next((candidate for candidate in candidates if mode_of(candidate)), candidates[0])
        check(given, found, self.read)
        mode = mode_of(found)
        if not stat.S_ISREG(mode):
            kind = "a folder" if stat.S_ISDIR(mode) else "not a regular file"
            raise refused(given, f"it is {kind}" if mode else "there is no such file that can be read")
        return found

    def writable(self, path: str | Path) -> Path:
        """Where a file may be written under the write root, without any link in it; else FileRefused."""
        given = as_path(path)
        found = resolved(resolved(self.write) / given)
        check(given, found, (self.write,))
        mode = mode_of(found)
        if found == resolved(self.write) or stat.S_ISDIR(mode):
            raise refused(given, "it is a folder")
        if mode and not stat.S_ISREG(mode):
            raise refused(given, "it is not a regular file")
        return found


def as_path(path: str | Path) -> Path:
    text = str(path)
    if not text or "\0" in text:
        raise FileRefused("a path is empty or contains a NUL character")
    if not encodable(text):
        raise FileRefused("the file's name is not valid Unicode", hint="Rename the file.")
    if not text.startswith(("~/", f"~{os.sep}")):
        return Path(text)
    try:
        return Path(text).expanduser()
    except RuntimeError:
        raise FileRefused("this user has no home folder") from None


def encodable(text: str) -> bool:
    """Whether a name can be told to Chrome: bytes that are no UTF-8 cannot."""
    return text == text.encode("utf-8", "replace").decode()


def resolved(path: Path) -> Path:
    try:
        return path.resolve()
    except (OSError, RuntimeError) as exc:  # a loop of links, a name too long, a folder nobody may enter
        raise refused(path, getattr(exc, "strerror", None) or "its links lead in a circle") from None


def mode_of(path: Path) -> int:
    """What kind of file stands there; 0 for none that can be looked at."""
    try:
        return path.stat().st_mode
    except OSError:
        return 0


def check(given: Path, found: Path, roots: tuple[Path, ...]) -> None:
    """What must hold of a path before anything is looked up there."""
    for names in (names_of(given), names_of(found)):
        pairs = [f"{folder}/{name}" for folder, name in pairwise(names)]
        if matches([*names, *pairs], SECRET_FOLDERS) or matches(names[-1:], SECRET_FILES):
            raise refused(given, "its name is one that credentials are kept under")
        if any(RESERVED.fullmatch(name.partition(".")[0].rstrip()) or (WINDOWS and ":" in name) for name in names):
            raise refused(given, "its name means a device on Windows")
    if not any(found.is_relative_to(resolved(root)) for root in roots):
        raise refused(given, f"it is outside {' and '.join(str(root) for root in roots)}")
    if any(found.is_relative_to(system) for system in SYSTEM):
        raise refused(given, "the system's own files are no documents")
    if any(found.is_relative_to(profile) for profile in profiles()):
        raise refused(given, "it belongs to a browser's profile")


def profiles() -> list[Path]:
    """The folder of the browser that `nlm-cdp browser` starts, wherever the data folder is."""
    try:
        return [resolved(data_folder() / "browser")]
    except FileRefused:
        return []


def names_of(path: Path) -> list[str]:
    """The names in a path as the most forgiving file system reads them: without case, trailing dots and spaces."""
    parts = path.parts[1:] if path.anchor else path.parts
    return [part if part in ("..", ".") else part.lower().rstrip(". ") for part in parts]


def matches(names: list[str], patterns: list[str]) -> bool:
    return any(fnmatchcase(name, pattern) for name in names for pattern in patterns)


def refused(path: Path, why: str) -> FileRefused:
    return FileRefused(f"{path.name or path} is refused: {why}", details={"path": str(path)})


def safe_name(title: str, extension: str) -> str:
    """A file name for a title: one that every system and `Roots` take, as close to the title as that allows."""
    text = unicodedata.normalize("NFC", title.encode("utf-8", "ignore").decode())
    text = "".join(" " if is_unsafe(character) else character for character in UNSAFE.sub("-", text))
    text = " ".join(text.split()).strip(". ")
    suffix = f".{kept}" if (kept := re.sub(r"\W", "", extension)) else ""
    if RESERVED.fullmatch(text.partition(".")[0].rstrip()) or matches([f"{text}{suffix}".lower()], SECRET_FILES):
        text = f"_{text}"
    text = text.encode()[: LONGEST - len(suffix.encode())].decode("utf-8", "ignore").rstrip(". \u200d")
    return f"{text or 'file'}{suffix}"


def is_unsafe(character: str) -> bool:
    """Control characters, and those that show the rest of a name in another order than it has."""
    return unicodedata.category(character) in ("Cc", "Zl", "Zp") or unicodedata.bidirectional(character) in REORDERING
