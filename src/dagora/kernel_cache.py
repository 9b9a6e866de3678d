"""Where compiled kernels are kept on disk, and when a kept one is out of date.

numba keeps a compiled kernel beside its source and uses it as long as that one file is unchanged. It does not
notice when a kernel that is called from there, in another file, has changed or moved: after an upgrade a kept
kernel could fail to load, or compute what an older version computed. Kernels of dagora therefore carry a
stamp of their own: a digest of their file and of all files of dagora that it imports, directly or indirectly.

Kernels are kept in the first folder that can be written: `NUMBA_CACHE_DIR` where that is set, `__pycache__`
beside the source, the user's cache folder, a private folder for temporary files. Where none of these can be
written, every process compiles anew. In the last two cases dagora warns once.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
import sys
import tempfile
import warnings
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numba.core import caching

from dagora.compiling import compilation
from dagora.errors import DagoraWarning

if TYPE_CHECKING:
    from collections.abc import Callable

PACKAGE = Path(__file__).resolve().parent
IMPORTS = re.compile(
    rf"^\s*(?:from|import)\s+{PACKAGE.name}((?:\.\w+)*)(?:\s+import\s+([\w, ]+))?", re.MULTILINE
)


@cache
def imported_files(file: Path) -> tuple[Path, ...]:
    """Files of this package that a file of it imports anywhere."""
    found = []
    for path, names in IMPORTS.findall(file.read_text(encoding="utf-8")):
        place = PACKAGE.joinpath(*path.split(".")[1:])
        inside = [place / f"{name.strip()}.py" for name in names.split(",") if name.strip()]
        found += [place.with_suffix(".py"), place / "__init__.py", *inside]
    return tuple(sorted({each for each in found if each.is_file()}))


@cache
def content_digest(file: Path) -> bytes:
    """Digest of a file's content."""
    return hashlib.sha256(file.read_bytes()).digest()


@cache
def source_stamp(file: Path) -> str:
    """Digest of a file and of everything that it imports from this package."""
    seen = {file}
    waiting = [file]
    while waiting:
        fresh = [each for each in imported_files(waiting.pop()) if each not in seen]
        seen.update(fresh)
        waiting += fresh
    whole = hashlib.sha256()
    for each in sorted(seen):
        whole.update(str(each.relative_to(PACKAGE)).encode() + b"\0" + content_digest(each))
    return whole.hexdigest()


def folders_for(file: Path) -> Iterator[tuple[Path, str]]:
    """Folders that could keep the kernels of a file, best first, each with what there is to say about it."""
    inside = file.parent.relative_to(PACKAGE)
    # Two installations must not share a folder.
    place = hashlib.sha256(str(PACKAGE).encode()).hexdigest()[:16]
    if chosen := os.environ.get("NUMBA_CACHE_DIR"):
        yield Path(chosen) / f"dagora-{place}" / inside, ""
    yield file.parent / "__pycache__", ""
    if (home := user_cache_folder()) is not None:
        yield home / "dagora" / f"kernels-{place}" / inside, ""
    if (temporary := private_temporary_folder()) is not None:
        yield (
            temporary / place / inside,
            f"compiled kernels are kept in {temporary}, as no better place is writable",
        )


def user_cache_folder() -> Path | None:
    """The folder in which this user's programs keep what they can make anew."""
    if sys.platform == "win32":
        chosen = os.environ.get("LOCALAPPDATA")
        return Path(chosen) if chosen else None
    if chosen := os.environ.get("XDG_CACHE_HOME"):
        return Path(chosen)
    try:
        home = Path.home()
    except RuntimeError:
        return None
    return home / ("Library/Caches" if sys.platform == "darwin" else ".cache")


@cache
def private_temporary_folder() -> Path | None:
    """A folder for temporary files that only this user can write: whatever is in it will be executed."""
    user = os.getuid() if hasattr(os, "getuid") else os.getpid()
    folder = Path(tempfile.gettempdir()) / f"dagora-kernels-{user}"
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        about = folder.lstat()
    except OSError:
        return None
    own = not hasattr(os, "getuid") or (about.st_uid == user and not about.st_mode & 0o077)
    return folder if stat.S_ISDIR(about.st_mode) and own else None


@cache
def can_write(folder: Path) -> bool:
    """Whether files can be made in a folder, which is made if need be."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


@cache
def tell_once(message: str) -> None:
    """Warn of what slows the first start down; once per process."""
    warnings.warn(message, DagoraWarning, stacklevel=2)


@cache
def cache_folder(file: Path) -> Path | None:
    """The folder that keeps the kernels of a file; None where there is none."""
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    for folder, message in folders_for(file):
        if can_write(folder):
            if message:
                tell_once(message)
            return folder
        if chosen and folder.is_relative_to(chosen):
            tell_once(f"compiled kernels are kept elsewhere, as NUMBA_CACHE_DIR ({chosen}) is not writable")
    compilation.kept = False
    tell_once(
        "compiled kernels cannot be kept, as no folder is writable, so that every start compiles them anew: "
        "set NUMBA_CACHE_DIR to a folder that is"
    )
    return None


class KernelCacheLocator(caching._CacheLocator):  # type: ignore[misc]  # noqa: SLF001 (numba has no public one)
    """Tells numba where a kernel of this package is kept, and its stamp."""

    def __init__(self, file: Path, line: int, folder: Path) -> None:
        self._file = file
        self._line = line
        self._folder = folder

    @classmethod
    def from_function(cls, py_func: Callable[..., Any], py_file: str) -> KernelCacheLocator | None:
        """Answer for functions of this package; numba asks the next locator about all others."""
        file = Path(py_file).resolve()
        if not file.is_relative_to(PACKAGE) or (folder := cache_folder(file)) is None:
            return None
        return cls(file, py_func.__code__.co_firstlineno, folder)

    def get_cache_path(self) -> str:
        """Return the folder."""
        return str(self._folder)

    def get_source_stamp(self) -> str:
        """Return what must be the same for a kept kernel to be used."""
        return source_stamp(self._file)

    def get_disambiguator(self) -> str:
        """Return what tells functions of one name in one file apart."""
        return str(self._line)


def install() -> None:
    """Let numba ask here first; functions outside of this package are cached as ever."""
    locators = caching.CacheImpl._locator_classes  # noqa: SLF001
    if KernelCacheLocator not in locators:
        locators.insert(0, KernelCacheLocator)
