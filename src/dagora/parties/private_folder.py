"""A folder for rows and keys that live no longer than the process that made them.

Only this user can read it, and it is gone when the block ends. A process that is killed at once, or a machine
without power, cannot tidy up: whoever makes the next folder removes those whose makers are dead. A maker
holds a lock on a file in its folder, of which the system lets go when the maker dies, however it dies.
(Process numbers would not do: they are used again, and mean something else in another container.) Folders of
other users, and those without such a file, are left alone.
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
    """Make a folder that only this user can read and that is gone at the end, or soon after a violent one."""
    remove_abandoned()
    folder = Path(tempfile.mkdtemp(prefix=PREFIX))
    try:
        with _claimed(folder):
            yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def remove_abandoned() -> None:
    """Remove this user's folders whose makers are dead."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        # Another process may remove the same folder at the same time; each is as good as the other.
        with contextlib.suppress(OSError), _abandoned(folder) as abandoned:
            if abandoned:
                shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def _claimed(folder: Path) -> Iterator[None]:
    """Hold the lock that says that the folder is in use."""
    # Locked before it has its name: nobody ever sees it open.
    unnamed = folder / f"{IN_USE}.new"
    descriptor = os.open(unnamed, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        # On a file system without locks there is no such file, and nobody else removes the folder.
        with contextlib.suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            unnamed.rename(folder / IN_USE)
        yield
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def _abandoned(folder: Path) -> Iterator[bool]:
    """Whether this user made the folder and its maker is dead; meanwhile nobody else can think so."""
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
