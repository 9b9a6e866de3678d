"""Files that nobody but their owner may read: keys, and the log of what was answered."""

from __future__ import annotations

import os
import shlex
import stat
from pathlib import Path

from dagora.base.errors import DagoraError


def exposure_of(file: Path) -> str:
    """The way out where other users of the machine can read or change a file; empty where they cannot."""
    if os.name == "posix" and file.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        return f"make it private: chmod 600 {shlex.quote(str(file))}"
    return ""


def check_private(file: Path, what: str, error: type[DagoraError]) -> None:
    """Refuse a file that other users of the machine can read or change."""
    if way_out := exposure_of(file):
        raise error(
            f"{file}: other users of this machine may read this {what}; if none of them has, {way_out}"
        )
