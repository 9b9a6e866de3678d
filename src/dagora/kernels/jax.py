"""JAX with double precision, and with compiled code cached on disk between runs.

Compiled code goes to the folder `jax` inside DAGORA_CACHE if that is set, otherwise inside the folder
`dagora` of XDG_CACHE_HOME or ~/.cache. A cache folder that JAX already has stays. If no folder is writable,
every process compiles again. Call `prepare_jax` before making the first array.
"""

from __future__ import annotations

import os
import sys
from functools import cache
from pathlib import Path
from typing import Any

from dagora.base.budget import Budget
from dagora.base.extras import JAX

# Seconds within which JAX is loaded and a first program compiled, also on a busy machine.
LOADING = 2.0
# The message if less is left.
NO_TIME = "too little time is left to load JAX"


def cache_folder() -> Path:
    """Folder for files that can be recomputed: DAGORA_CACHE, or `dagora` in the user's cache folder."""
    chosen = os.environ.get("DAGORA_CACHE")
    if chosen:
        return Path(chosen)
    shared = os.environ.get("XDG_CACHE_HOME")
    # The XDG standard says that a relative path is to be ignored.
    base = Path(shared) if shared and Path(shared).is_absolute() else Path("~/.cache").expanduser()
    return base / "dagora"


def require_jax(who: str) -> None:
    """Prepare JAX; raises with how to install it if `who` needs it and it is missing."""
    JAX.require(who)
    prepare_jax()


def time_for_jax(budget: Budget) -> bool:
    """Return True if JAX is loaded, or if enough time is left to load and use it."""
    return not budget.exhausted and ("jax" in sys.modules or budget.left > LOADING)


@cache
def prepare_jax() -> None:
    """Turn on double precision and the cache on disk; only the first call has an effect."""
    import jax

    settings: Any = jax.config
    settings.update("jax_enable_x64", True)
    folder = cache_folder() / "jax"
    if settings.jax_compilation_cache_dir is None and is_writable(folder):
        settings.update("jax_compilation_cache_dir", str(folder))
        # The default of 1 s would leave out our many small programs, which also load faster than they
        # compile.
        settings.update("jax_persistent_cache_min_compile_time_secs", 0.1)


def is_writable(folder: Path) -> bool:
    """Return True if files can be written to a folder; it is created if it does not exist."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(folder, os.W_OK | os.X_OK)
