"""The cache of compiled kernels on disk; `stamp` decides when a cached kernel is out of date.

Kernels are cached in the first of these folders that is writable: `NUMBA_CACHE_DIR` if it is set,
`__pycache__` beside the source, the user's cache folder, a private folder for temporary files. If none is
writable, every process compiles anew. In the last two cases dagora warns once.

A wheel built by `make wheel` contains kernels (`BUNDLED`), compiled for any processor that has the features
in `PORTABLE`. A kernel that is not among them, or that was compiled by another version of numba or from
other sources, is compiled on first use.
"""

from __future__ import annotations

import hashlib
import os
import platform
import stat
import sys
import tempfile
import warnings
from collections.abc import Iterator
from functools import cache, cached_property
from pathlib import Path
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, BinaryIO

import llvmlite.binding
from numba.core import caching, config

from dagora.base.events import SlowStartWarning
from dagora.kernels.compilation import compilation
from dagora.kernels.parts import set_environments
from dagora.kernels.stamp import PACKAGE, source_stamp

try:
    import fcntl
except ImportError:  # not on Windows, where two processes may compile the same kernel
    fcntl = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from collections.abc import Callable

# Seconds after which a process compiles a kernel itself; the slowest takes about 20 s on a busy machine.
LONGEST_COMPILATION = 60.0

# Kernels that came with the installation, in folders like those of the package.
BUNDLED = PACKAGE / "compiled_kernels"
# Their target by machine: LLVM's name of it, and the features that it needs. Most processors since 2013 have
# those of x86-64-v3; on others kernels are compiled where they run.
PORTABLE = {
    "aarch64": ("generic", frozenset({"neon"})),
    "arm64": ("generic", frozenset({"neon"})),
    "x86_64": ("x86-64-v3", frozenset({"avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "popcnt"})),
    "AMD64": ("x86-64-v3", frozenset({"avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "popcnt"})),
}


def folders_for(file: Path) -> Iterator[tuple[Path, str]]:
    """Folders for the kernels of a file, best first, each with a warning or an empty text."""
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
    """The user's folder for caches of programs; None if there is none."""
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
    """A temporary folder that only this user can write, since its content will be executed."""
    user = os.getuid() if hasattr(os, "getuid") else os.getpid()
    folder = Path(tempfile.gettempdir()) / f"dagora-kernels-{user}"
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        status = folder.lstat()
    except OSError:
        return None
    own = not hasattr(os, "getuid") or (status.st_uid == user and not status.st_mode & 0o077)
    return folder if stat.S_ISDIR(status.st_mode) and own else None


@cache
def can_write(folder: Path) -> bool:
    """Return True if files can be created in a folder; it is created if it does not exist."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


@cache
def warn_once(message: str) -> None:
    """Give a warning once per process."""
    warnings.warn(message, SlowStartWarning, stacklevel=2)


@cache
def cache_folder(file: Path) -> Path | None:
    """The cache folder for the kernels of a file; None if no folder is writable."""
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    for folder, message in folders_for(file):
        if can_write(folder):
            if message:
                warn_once(message)
            return folder
        if chosen and folder.is_relative_to(chosen):
            warn_once(f"compiled kernels are kept elsewhere, as NUMBA_CACHE_DIR ({chosen}) is not writable")
    compilation.kept = False
    warn_once(
        "compiled kernels cannot be kept, as no folder is writable, so that every start compiles them anew: "
        "set NUMBA_CACHE_DIR to a folder that is"
    )
    return None


class KernelCacheLocator(caching._CacheLocator):  # type: ignore[misc]  # noqa: SLF001 (numba has no public one)
    """The cache folder and the stamp of a kernel of this package, for numba."""

    def __init__(self, file: Path, line: int, folder: Path) -> None:
        self._py_file = file
        self._line = line
        self._folder = folder

    @classmethod
    def from_function(cls, py_func: Callable[..., Any], py_file: str) -> KernelCacheLocator | None:
        """A locator for functions of this package; None for all others, so that numba asks the next one."""
        file = Path(py_file).resolve()
        if not file.is_relative_to(PACKAGE) or (folder := cache_folder(file)) is None:
            return None
        return cls(file, py_func.__code__.co_firstlineno, folder)

    def get_cache_path(self) -> str:
        """Return the folder."""
        return str(self._folder)

    def get_source_stamp(self) -> str:
        """Return the stamp that a cached kernel must have to be used."""
        return source_stamp(self._py_file)

    def get_disambiguator(self) -> str:
        """Return the line, which distinguishes functions of one name in one file."""
        return str(self._line)


class KernelCacheFile(caching.IndexDataCacheFile):  # type: ignore[misc]  # numba has no types
    """The index and the machine code of a kernel on disk."""

    def _load_index(self) -> Any:  # noqa: ANN401
        try:
            return super()._load_index()
        except (AttributeError, ImportError):
            return {}  # written before a record that the kernel takes was renamed or moved: out of date


class KernelCache(caching.FunctionCache):  # type: ignore[misc]  # numba has no types
    """The cached machine code of a kernel: looked up at its first call, among the bundled kernels first."""

    def __init__(self, py_func: Callable[..., Any]) -> None:
        # numba's own class reads the disk here: for every kernel of every imported file, called or not.
        self._name = repr(py_func)
        self._py_func = py_func
        self._held: BinaryIO | None = None  # the lock file, while this process compiles
        self.enable()

    @cached_property
    def _impl(self) -> Any:  # noqa: ANN401
        return self._impl_class(self._py_func)

    @cached_property
    def _cache_path(self) -> str:
        return str(self._impl.locator.get_cache_path())

    @cached_property
    def _cache_file(self) -> Any:  # noqa: ANN401
        return self._file_in(self._cache_path)

    @cached_property
    def kept(self) -> bool:
        """True if there is compiled code of this kernel on disk, perhaps out of date."""
        folders = (self._cache_path, self._bundled_folder())
        return any(Path(self._file_in(each)._index_path).exists() for each in folders if each)  # noqa: SLF001

    def _file_in(self, folder: str) -> Any:  # noqa: ANN401
        return KernelCacheFile(folder, self._impl.filename_base, self._impl.locator.get_source_stamp())

    def _load_overload(self, sig: object, target_context: Any) -> Any:  # noqa: ANN401
        if (folder := self._bundled_folder()) is not None:
            codegen = target_context.codegen()
            _, (triple, *_), hashes = self._index_key(sig, codegen)
            data = self._file_in(folder).load((sig, (triple, portable_name(), ""), hashes))
            if data is not None:
                return self._impl.rebuild(target_context, data)
        return super()._load_overload(sig, target_context)

    def load_overload(self, sig: object, target_context: object) -> object:
        """Load the kept code; where another process is compiling it, wait for that and load the result."""
        found = super().load_overload(sig, target_context)
        if found is None and self._lock():
            found = super().load_overload(sig, target_context)  # kept while this process waited
            if found is not None:
                self._unlock()
        return found

    def save_overload(self, sig: object, data: object) -> None:
        """Keep code that was compiled, and let other processes load it."""
        set_environments(data)
        try:
            super().save_overload(sig, data)
        finally:
            self._unlock()

    def _lock(self) -> bool:
        """Become the one process that compiles this kernel, or give up after a while; False if neither."""
        if fcntl is None or self._held is not None:
            return False
        try:
            file = (Path(self._cache_path) / f"{self._impl.filename_base}.lock").open("ab")
        except OSError:
            return False
        end = monotonic() + LONGEST_COMPILATION
        while monotonic() < end:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                sleep(0.02)
            else:
                self._held = file
                return True
        file.close()
        return True

    def _unlock(self) -> None:
        if self._held is not None:
            Path(self._held.name).unlink(missing_ok=True)
            self._held.close()
            self._held = None

    def _bundled_folder(self) -> str | None:
        file = Path(self._py_func.__code__.co_filename).resolve()
        if not file.is_relative_to(PACKAGE) or portable_name() is None:
            return None
        return str(BUNDLED / file.parent.relative_to(PACKAGE))


@cache
def portable_name() -> str | None:
    """The target of the bundled kernels; None if there are none that this processor can run."""
    if not BUNDLED.is_dir() or config.CPU_NAME or platform.machine() not in PORTABLE:
        return None
    name, needed = PORTABLE[platform.machine()]
    present = {each for each, has in llvmlite.binding.get_host_cpu_features().items() if has}
    return name if needed <= present else None


def install() -> None:
    """Make numba use this cache for functions of this package; others are cached as usual."""
    locators = caching.CacheImpl._locator_classes  # noqa: SLF001
    if KernelCacheLocator not in locators:
        locators.insert(0, KernelCacheLocator)
