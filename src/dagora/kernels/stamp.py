"""The stamp of a cached kernel, by which it is out of date or not.

numba uses a cached kernel as long as its own file is unchanged. It does not notice when a kernel that is
called from there, in another file, has changed or moved: after an upgrade a cached kernel could fail to load,
or compute the result of an older version. Kernels of dagora therefore have a stamp of their own: a digest of
their file and of all files of dagora that it imports, directly or indirectly. Imports within functions do not
count, as a kernel can only use what its file imports at the top; nor does the package's `__init__`, which has
no kernels.
"""

from __future__ import annotations

import hashlib
import os
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1]
IMPORTS = re.compile(
    rf"^(?:from|import)[ \t]+{PACKAGE.name}((?:\.\w+)*)(?:[ \t]+import[ \t]+([\w, ]+))?".encode(),
    re.MULTILINE,
)


@dataclass(frozen=True)
class SourceFile:
    """A file of this package: the digest of its content, and the modules of the package that it imports."""

    digest: bytes
    imports: tuple[str, ...]


@cache
def source_file(name: str) -> SourceFile:
    """Read a file of this package, by its name without .py and with dots, as in an import.

    Imported modules are looked up in the list of files, which is faster than asking the disk for each.
    """
    content = PACKAGE.joinpath(*file_names()[name]).read_bytes()
    found = set()
    for path, names in IMPORTS.findall(content):
        place = path.decode()[1:]
        dot = "." if place else ""
        found |= {place, *(f"{place}{dot}{each.strip()}" for each in names.decode().split(","))}
    return SourceFile(hashlib.sha256(content).digest(), tuple(found & file_names().keys() - {""}))


@cache
def file_names() -> dict[str, tuple[str, ...]]:
    """The path of every module of this package, by its name within the package ("" is the package itself)."""
    found = {}
    for folder, _, files in os.walk(PACKAGE):
        inside = Path(folder).relative_to(PACKAGE).parts
        for file in files:
            if file.endswith(".py"):
                stem = file[:-3]
                found[".".join(inside if stem == "__init__" else (*inside, stem))] = (*inside, file)
    return found


@cache
def source_stamp(file: Path) -> str:
    """Digest of a file and of everything that it imports from this package."""
    parts = file.relative_to(PACKAGE).with_suffix("").parts
    waiting = [".".join(parts[:-1] if parts[-1] == "__init__" else parts)]
    seen = set(waiting)
    while waiting:
        fresh = [each for each in source_file(waiting.pop()).imports if each not in seen]
        seen.update(fresh)
        waiting += fresh
    whole = hashlib.sha256()
    for each in sorted(seen):
        whole.update(each.encode() + b"\0" + source_file(each).digest)
    return whole.hexdigest()
