"""For whom compiled kernels were made: a version of Python, a kind of processor, and these very sources."""

from __future__ import annotations

import hashlib
import platform
import sys
from pathlib import Path

TAG_FILE = "made_for.txt"


def made_for(root: Path) -> str:
    """The tag of kernels that are compiled now, by this Python, from the sources below `root`."""
    sources = hashlib.sha256()
    for file in sorted((root / "src" / "dagora").rglob("*.py")):
        sources.update(file.relative_to(root).as_posix().encode() + b"\0" + file.read_bytes())
    return f"{sys.implementation.cache_tag} {platform.machine()} {sources.hexdigest()}\n"
