"""Compiled kernels on disk: a kept one is used again, never an outdated one, and nothing fails without a folder."""

import os
import platform
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest
from numba.core.dispatcher import Dispatcher

import dagora
from dagora.kernels.cache import PORTABLE, KernelCacheFile
from dagora.kernels.stamp import source_file

PACKAGE = Path(dagora.__file__).resolve().parent
CALLEE = "from dagora.kernels.decorators import kernel\n\n\n@kernel\ndef step(x):\n    return x + {}\n"
CALLER = "from dagora.kernels.decorators import kernel\nfrom dagora.{0} import step\n\n\n@kernel\ndef twice(x):\n    return step(step(x))\n"
ASK = "from dagora.caller import twice; print(twice(0), sum(twice.stats.cache_hits.values()))"


@pytest.fixture
def package(tmp_path):
    """A copy of the package's ground floor, with a kernel that calls a kernel of another file."""
    return ground_floor(tmp_path)


def ground_floor(folder):
    copy = folder / "installed" / "dagora"
    copy.mkdir(parents=True)
    for name in ("__init__.py", "__init__.pyi"):
        shutil.copy(PACKAGE / name, copy)
    for room in ("base", "kernels"):
        shutil.copytree(PACKAGE / room, copy / room, ignore=shutil.ignore_patterns("__pycache__"))
    (copy / "callee.py").write_text(CALLEE.format(1))
    (copy / "caller.py").write_text(CALLER.format("callee"))
    return copy


def ask(package, code=ASK, **environment):
    """The kernel's answer, how often it came from the cache, and what was warned of."""
    kept = {
        name: value for name, value in os.environ.items() if name not in {"NUMBA_CACHE_DIR", "XDG_CACHE_HOME"}
    }
    ran = subprocess.run(
        [sys.executable, "-B", "-W", "always", "-c", code], capture_output=True, text=True, timeout=120,
        env={**kept, "PYTHONPATH": str(package.parent), **environment}, check=True,
    )  # fmt: skip
    answer, hits = map(int, ran.stdout.split())
    return (
        answer,
        hits,
        [line for line in ran.stderr.splitlines() if "compiled kernels" in line and "Warning" in line],
    )


def test_a_kept_kernel_is_used_again_until_another_file_moves_or_changes(package):
    """numba's own stamp is that of the caller's file alone, which stays as it is."""
    assert ask(package) == (2, 0, [])
    assert ask(package) == (2, 1, [])
    assert list((package / "__pycache__").glob("caller.twice*.nbi"))
    (package / "callee.py").rename(package / "elsewhere.py")
    (package / "caller.py").write_text(CALLER.format("elsewhere"))
    assert ask(package)[:2] == (2, 0)
    (package / "elsewhere.py").write_text(CALLEE.format(5))
    assert ask(package)[:2] == (10, 0)


def test_an_index_that_names_a_record_which_is_gone_is_out_of_date(tmp_path, monkeypatch):
    """Kernels may take records: after one was renamed, its kernels are compiled anew instead of failing."""
    module = ModuleType("short_lived")
    module.Record = type("Record", (), {"__module__": "short_lived"})
    monkeypatch.setitem(sys.modules, "short_lived", module)
    file = KernelCacheFile(str(tmp_path), "kernel", "stamp")
    file.save(module.Record, "machine code")
    assert file.load(module.Record) == "machine code"
    renamed = module.Record
    del module.Record
    assert file.load(renamed) is None
    monkeypatch.delitem(sys.modules, "short_lived")
    assert file.load(renamed) is None


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The kernels, compiled as `make wheel` does."""
    folder = tmp_path_factory.mktemp("made")
    compiled = {"NUMBA_CACHE_DIR": str(folder / "made"), "NUMBA_CPU_FEATURES": ""}
    ask(ground_floor(folder), **compiled, NUMBA_CPU_NAME=PORTABLE[platform.machine()][0])
    (made,) = (folder / "made").glob("dagora-*")
    return made


def bring(package, made):
    """Put the kernels where a wheel would."""
    shutil.copytree(made, package / "compiled_kernels")


def test_a_bundled_kernel_is_used(package, made):
    bring(package, made)
    assert ask(package) == (2, 1, [])
    assert not list((package / "__pycache__").glob("*.nbi"))


def test_a_bundled_kernel_of_other_sources_is_not_used(package, made):
    bring(package, made)
    (package / "callee.py").write_text(CALLEE.format(5))
    assert ask(package)[:2] == (10, 0)


@pytest.mark.parametrize("other", ["0.61.0", "0.99.0"])
def test_a_bundled_kernel_of_another_numba_is_compiled_anew_and_kept(package, made, other):
    """numba's version is looked at before anything else in the index, and what is said while compiling is true."""
    bring(package, made)
    code = f"import numba; numba.__version__ = {other!r}; {ASK}"
    assert [ask(package, code) for _ in range(2)] == [(2, 0, []), (2, 1, [])]
    said = "from dagora.kernels.compilation import compilation as c; assert c.describe() == 'compiling kernels, once per installation'"
    assert ask(package, f"{code}; {said}") == (2, 1, [])
    assert ask(package) == (2, 1, [])


def test_a_bundled_kernel_is_not_used_on_a_processor_that_may_lack_something(package, made):
    """The kernel is there, but this processor has not all that it was compiled for."""
    bring(package, made)
    cache = package / "kernels" / "cache.py"
    cache.write_text(cache.read_text().replace('frozenset({"', 'frozenset({"telepathy", "'))
    assert ask(package)[:2] == (2, 0)


def test_the_stamp_of_a_kernel_covers_all_that_it_uses():
    """Whatever a kernel finds among the names of its file comes from a file that its stamp covers."""
    for place in sorted(PACKAGE.rglob("*.py")):
        if "@kernel" in (text := place.read_text()) or "@inlined" in text:
            import_module(".".join(["dagora", *place.relative_to(PACKAGE).with_suffix("").parts]))
    kernels = [
        (module, each)
        for name, module in sorted(sys.modules.items())
        if name.startswith("dagora.")
        for each in vars(module).values()
        if isinstance(each, Dispatcher) and each.py_func.__module__ == name
    ]
    assert len(kernels) > 300
    for module, each in kernels:
        covered = files_covered(module.__name__.removeprefix("dagora."))
        for name in each.py_func.__code__.co_names:
            used = vars(module).get(name)
            home = getattr(getattr(used, "py_func", used), "__module__", None) or ""
            if home.startswith("dagora."):
                assert home.removeprefix("dagora.") in covered, (module.__name__, name)


def files_covered(name):
    waiting, seen = [name], {name}
    while waiting:
        fresh = set(source_file(waiting.pop()).imports) - seen
        seen |= fresh
        waiting += fresh
    return seen


def test_read_only_installation(package, tmp_path):
    """Without a folder beside the sources: the user's, then a private temporary one, then none."""
    (package / "__pycache__").write_text("in the way of a folder")
    home, temporary = tmp_path / "home", tmp_path / "tmp"
    home.mkdir()
    temporary.mkdir()
    places = {"HOME": str(home), "TMPDIR": str(temporary)}
    assert [ask(package, **places) for _ in range(2)] == [(2, 0, []), (2, 1, [])]
    assert list(home.rglob("caller.twice*.nbi"))

    (tmp_path / "file").write_text("no folder")
    places["HOME"] = str(tmp_path / "file")
    answer, hits, told = ask(package, **places)
    assert (answer, hits, len(told)) == (2, 0, 1)
    assert str(temporary) in told[0]
    assert ask(package, **places)[:2] == (2, 1)
    (mode,) = {folder.stat().st_mode & 0o777 for folder in temporary.iterdir()}
    assert mode == 0o700

    shutil.rmtree(temporary)
    temporary.mkdir()
    (temporary / f"dagora-kernels-{os.getuid()}").write_text("no folder either")
    for _ in range(2):
        answer, hits, told = ask(package, **places)
        assert (answer, hits, len(told)) == (2, 0, 1)
        assert "set NUMBA_CACHE_DIR" in told[0]
    assert ask(package, **places, NUMBA_CACHE_DIR=str(tmp_path / "chosen"))[2] == []
    assert list((tmp_path / "chosen").rglob("caller.twice*.nbi"))


def test_a_chosen_folder_that_cannot_be_written(package, tmp_path):
    """The chosen folder lies under a file: kernels are kept in the next best place, and the user is told."""
    (tmp_path / "file").write_text("no folder")
    answer, _, told = ask(package, NUMBA_CACHE_DIR=str(tmp_path / "file" / "kernels"))
    assert (answer, len(told)) == (2, 1)
    assert "kept elsewhere, as NUMBA_CACHE_DIR" in told[0]
    assert list((package / "__pycache__").glob("caller.twice*.nbi"))

    shutil.rmtree(package / "__pycache__")
    (package / "__pycache__").write_text("in the way of a folder")
    (tmp_path / "tmp").mkdir()
    places = {"XDG_CACHE_HOME": str(tmp_path / "file" / "cache"), "TMPDIR": str(tmp_path / "tmp")}
    answer, _, told = ask(package, **places)
    assert (answer, len(told)) == (2, 1)
    assert f"kept in {tmp_path / 'tmp'}" in told[0]


def test_a_temporary_folder_of_somebody_else_is_not_trusted(package, tmp_path):
    """Kept kernels are executed: a folder that others can write is no place for them."""
    (package / "__pycache__").write_text("in the way of a folder")
    (tmp_path / "file").write_text("no folder")
    open_to_all = tmp_path / f"dagora-kernels-{os.getuid()}"
    open_to_all.mkdir()
    open_to_all.chmod(0o777)
    _, _, told = ask(package, HOME=str(tmp_path / "file"), TMPDIR=str(tmp_path))
    assert "set NUMBA_CACHE_DIR" in told[0]
    assert not list(open_to_all.iterdir())


def test_two_processes_compile_a_kernel_once(package):
    """The second waits for the first, loads what it kept, and leaves no lock behind."""
    environment = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    environment["PYTHONPATH"] = str(package.parent)
    both = [
        subprocess.Popen([sys.executable, "-c", ASK], env=environment, stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    assert sorted(each.communicate(timeout=120)[0] for each in both) == ["2 0\n", "2 1\n"]
    assert not list(package.rglob("*.lock"))
