"""For whom compiled kernels were made: versions of Python and numba, a processor, and these very sources."""

from __future__ import annotations

import hashlib
import platform
import sys
from importlib.metadata import version
from pathlib import Path

TAG_FILE = "made_for.txt"


def made_for(root: Path) -> str:
    """The tag of kernels that are compiled now, by this Python, from the sources below `root`."""
    sources = hashlib.sha256()
    for file in sorted((root / "src" / "dagora").rglob("*.py")):
        sources.update(file.relative_to(root).as_posix().encode() + b"\0" + file.read_bytes())
    who = (sys.implementation.cache_tag, f"numba-{version('numba')}", sys.platform, platform.machine())
    return " ".join((*who, sources.hexdigest())) + "\n"


def is_fresh(kernels: Path, root: Path) -> bool:
    """Return True if kernels in a folder are what would be compiled now."""
    tag = kernels / TAG_FILE
    return tag.is_file() and tag.read_text() == made_for(root)
