"""JAX as our models need it: numbers in double precision, compiled code kept on disk between runs.

Compiled code goes to the folder `jax` of DAGORA_CACHE if that is set, else of `dagora` in XDG_CACHE_HOME or
~/.cache; a folder that JAX was already told about stays. Where no folder can be written nothing is kept, and
every process compiles anew. Call `prepare_jax` before the first array is made.
"""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import Any

from dagora.errors import OptionError


def cache_folder() -> Path:
    """Folder for what may be computed again: DAGORA_CACHE, or `dagora` in the user's cache folder."""
    chosen = os.environ.get("DAGORA_CACHE")
    if chosen:
        return Path(chosen)
    shared = os.environ.get("XDG_CACHE_HOME")
    # The standard ignores a relative path.
    base = Path(shared) if shared and Path(shared).is_absolute() else Path("~/.cache").expanduser()
    return base / "dagora"


def require_jax(who: str) -> None:
    """Refuse, in one line, work that needs JAX where it is not installed; else prepare it."""
    try:
        prepare_jax()
    except ImportError:
        raise OptionError(f"{who} needs JAX: pip install 'dagora[bayes]'") from None


@cache
def prepare_jax() -> None:
    """Turn double precision on and keep compiled code on disk; the first call counts."""
    import jax

    settings: Any = jax.config
    settings.update("jax_enable_x64", True)
    folder = cache_folder() / "jax"
    if settings.jax_compilation_cache_dir is None and writable(folder):
        settings.update("jax_compilation_cache_dir", str(folder))
        # Small programs are many, and they too take longer to compile than to load.
        settings.update("jax_persistent_cache_min_compile_time_secs", 0.1)


def writable(folder: Path) -> bool:
    """Whether files can be made in a folder, which is made if need be."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(folder, os.W_OK | os.X_OK)
