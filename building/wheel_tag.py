"""The tag of a wheel with compiled kernels: for which Python, and on which platforms, its machine code runs.

A package index refuses `linux_x86_64`, as it says nothing about the C library. Kernels call functions of that
library by name, without a version: they run wherever it has a function of that name. So the tag states the
oldest glibc that has all functions which the machine code of the kernels calls; other names must be Python's
or numba's own. For macOS and Windows hatchling's tag is the right one.
"""

from __future__ import annotations

import ctypes
import platform
import struct
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

# Whoever loads a kernel has these already: numba, its runtime, and Python.
PROVIDED = ("NRT_", "numba_", ".numba", "Py", "_Py")
# The oldest glibc that tags can name on all processors (PEP 599).
OLDEST = (2, 17)
VERSIONS = ["2.0", "2.1", "2.2", "2.2.5", *(f"2.{minor}" for minor in range(3, 60))]
ELF = b"\x7fELF"
# Of an ELF file of 64 bits: where its header has the place and the number of its sections, and the layouts of
# a section and of a symbol.
SECTIONS_AT, SECTION_COUNT_AT = 0x28, 0x3C
SECTION, SYMBOL = struct.Struct("<IIQQQQIIQQ"), struct.Struct("<IBBHQQ")
SYMBOL_TABLE, UNDEFINED = 2, 0


def called_functions(code: bytes) -> Iterator[str]:
    """Names that a kept kernel expects of whoever loads it: its machine code is an ELF file in there."""
    start = code.find(ELF)
    while start >= 0:
        yield from undefined_symbols(code, start)
        start = code.find(ELF, start + len(ELF))


def undefined_symbols(code: bytes, start: int) -> Iterator[str]:
    """Undefined symbols of the ELF file that begins at `start`."""
    (table,) = struct.unpack_from("<Q", code, start + SECTIONS_AT)
    (count,) = struct.unpack_from("<H", code, start + SECTION_COUNT_AT)
    sections = [SECTION.unpack_from(code, start + table + SECTION.size * place) for place in range(count)]
    for _, kind, _, _, offset, size, names, *_ in sections:
        if kind != SYMBOL_TABLE:
            continue
        names_at = start + sections[names][4]
        for at in range(SYMBOL.size, size, SYMBOL.size):  # the first symbol stands for none
            name, _, _, section, _, _ = SYMBOL.unpack_from(code, start + offset + at)
            if section == UNDEFINED:
                yield code[names_at + name : code.index(b"\0", names_at + name)].decode()


@cache
def glibc_with(function: str) -> tuple[int, int] | None:
    """The first glibc that has a function, as this machine's glibc knows; None if it has no such function."""
    find = getattr(ctypes.CDLL(None), "dlvsym", None) or ctypes.CDLL("libdl.so.2").dlvsym
    find.restype, find.argtypes = ctypes.c_void_p, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p)
    for version in VERSIONS:
        for library in ("libc.so.6", "libm.so.6"):
            if find(ctypes.CDLL(library)._handle, function.encode(), f"GLIBC_{version}".encode()):  # noqa: SLF001
                major, minor, *_ = version.split(".")
                return int(major), int(minor)
    return None


def oldest_glibc(kernels: Path) -> tuple[int, int]:
    """The oldest glibc on which all kernels in a folder run."""
    files = sorted(kernels.rglob("*.nbc"))
    names = {name for file in files for name in called_functions(file.read_bytes())}
    needed = {name: glibc_with(name) for name in names if not name.startswith(PROVIDED)}
    if not names:
        raise SystemExit(f"{kernels} has no machine code")
    if unknown := sorted(name for name, version in needed.items() if version is None):
        raise SystemExit(f"kernels call what neither glibc nor numba has: {', '.join(unknown)}")
    return max([OLDEST, *(version for version in needed.values() if version)])


def linux_tag(kernels: Path) -> str:
    """The tag on Linux: this very Python, and the platforms on which the kernels run."""
    if platform.libc_ver()[0] != "glibc":
        raise SystemExit("wheels with compiled kernels are for glibc: numba has none for another C library")
    python = f"cp{sys.version_info.major}{sys.version_info.minor}"
    major, minor = oldest_glibc(kernels)
    return f"{python}-{python}-manylinux_{major}_{minor}_{platform.machine()}"
