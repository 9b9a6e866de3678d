"""JAX is set up once: double precision, and a cache on disk that a second process finds."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import dagora
from dagora.base.errors import OptionError
from dagora.kernels.jax import cache_folder, is_writable, require_jax


def test_the_cache_folder_follows_the_environment(monkeypatch, tmp_path):
    monkeypatch.setenv("DAGORA_CACHE", str(tmp_path / "own"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "shared"))
    assert cache_folder() == tmp_path / "own"
    monkeypatch.delenv("DAGORA_CACHE")
    assert cache_folder() == tmp_path / "shared" / "dagora"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert cache_folder() == Path.home() / ".cache" / "dagora"


def test_a_folder_that_cannot_be_made_is_not_writable(tmp_path):
    (tmp_path / "file").touch()
    assert not is_writable(tmp_path / "file" / "jax")
    assert is_writable(tmp_path / "new" / "jax")


def test_without_jax_one_line_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "jax", None)
    with pytest.raises(OptionError, match=r"^the method m needs JAX: pip install 'dagora\[bayes\]'$"):
        require_jax("the method m")


def test_compiled_code_is_kept_and_numbers_are_double(tmp_path):
    script = (
        "from dagora.kernels.jax import prepare_jax; prepare_jax(); import jax, jax.numpy as jnp\n"
        "jax.config.update('jax_persistent_cache_min_compile_time_secs', 0)\n"
        "print(jax.jit(lambda x: jnp.linalg.inv(x) @ x)(jnp.eye(3)).dtype)"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(dagora.__file__).parent.parent)}
    environment["DAGORA_CACHE"] = str(tmp_path)
    environment.pop("JAX_COMPILATION_CACHE_DIR", None)
    listings = []
    for _ in range(2):
        shown = subprocess.run(
            [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True
        )
        assert (shown.stdout.strip(), shown.stderr) == ("float64", "")
        listings.append({file.name for file in (tmp_path / "jax").glob("*-cache")})
    assert listings[0]
    assert listings[1] == listings[0]
