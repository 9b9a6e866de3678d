"""A folder for rows and keys that exist no longer than the process that made them.

Only this user can read it, and it is removed when the block ends. A process that is killed cannot remove its
folder, so whoever makes the next folder removes those whose makers are dead. A maker holds a lock on a file
in its folder, and the system releases the lock when the maker dies for whatever reason. (Process numbers
would not do: the system reuses them, and they mean something else in another container.) Folders of other
users, and folders without such a file, are left alone.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

PREFIX = "dagora-"
IN_USE = ".in-use"


@contextlib.contextmanager
def private_folder() -> Iterator[Path]:
    """Make a folder that only this user can read, and remove it at the end of the block."""
    remove_abandoned()
    folder = Path(tempfile.mkdtemp(prefix=PREFIX))
    try:
        with _claim(folder):
            yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def remove_abandoned() -> None:
    """Remove this user's folders whose makers are dead."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        # Another process may remove the same folder at the same time; it does not matter which succeeds.
        with contextlib.suppress(OSError), _check_abandonment(folder) as abandoned:
            if abandoned:
                shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def _claim(folder: Path) -> Iterator[None]:
    """Hold the lock that says that the folder is in use."""
    # The file gets its final name only once it is locked, so nobody ever sees it unlocked.
    unnamed = folder / f"{IN_USE}.new"
    descriptor = os.open(unnamed, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        # On a file system without locks the file keeps its first name, and nobody else removes the folder.
        with contextlib.suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            unnamed.rename(folder / IN_USE)
        yield
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def _check_abandonment(folder: Path) -> Iterator[bool]:
    """Yield True if this user made the folder and its maker is dead; hold the lock meanwhile."""
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid():
        yield False
        return
    descriptor = os.open(folder / IN_USE, os.O_RDWR | os.O_NOFOLLOW)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield True
    finally:
        os.close(descriptor)
