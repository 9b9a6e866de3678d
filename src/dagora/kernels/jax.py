"""JAX set up for our models: double precision, and compiled code kept on disk between runs.

Compiled code goes to the folder `jax` inside DAGORA_CACHE if that is set, otherwise inside the folder
`dagora` of XDG_CACHE_HOME or ~/.cache. A cache folder that JAX already has is kept. If no folder can be
written to, nothing is kept and every process compiles again. Call `prepare_jax` before making the first
array.
"""

from __future__ import annotations

import os
import sys
from functools import cache
from pathlib import Path
from typing import Any

from dagora.base.events import Budget
from dagora.base.extras import JAX

# Seconds within which JAX is loaded and a first program compiled, even on a busy machine.
LOADING = 2.0
# What is said where less is left.
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
    """Prepare JAX, or say in one line that `who` needs it and how to install it."""
    JAX.require(who)
    prepare_jax()


def time_for_jax(budget: Budget) -> bool:
    """Whether JAX is loaded already, or enough time is left to load it and to do something with it."""
    return not budget.exhausted and ("jax" in sys.modules or budget.left > LOADING)


@cache
def prepare_jax() -> None:
    """Turn on double precision and keep compiled code on disk; only the first call has an effect."""
    import jax

    settings: Any = jax.config
    settings.update("jax_enable_x64", True)
    folder = cache_folder() / "jax"
    if settings.jax_compilation_cache_dir is None and writable(folder):
        settings.update("jax_compilation_cache_dir", str(folder))
        # The default of 1 s would leave out our many small programs, which also load faster than they
        # compile.
        settings.update("jax_persistent_cache_min_compile_time_secs", 0.1)


def writable(folder: Path) -> bool:
    """Whether files can be written to a folder; it is created if it does not exist."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(folder, os.W_OK | os.X_OK)
