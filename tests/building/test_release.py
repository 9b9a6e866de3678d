"""The sdist and both kinds of wheels, built as `make release` does: installed into fresh environments, they run."""

import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from packaging.utils import parse_wheel_filename

import dagora
from building import release
from tests.conftest import ROOT


def build(dist, *targets, **environment):
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", *targets, "-d", str(dist)],
        cwd=ROOT, env={**os.environ, **environment}, check=True, capture_output=True, timeout=300,
    )  # fmt: skip


@pytest.fixture(scope="module")
def dist(tmp_path_factory):
    """Everything that is released, with the kernels of the demo only."""
    folder = tmp_path_factory.mktemp("release")
    build(folder / "dist", "-t", "sdist", "-t", "wheel")
    kernels = folder / "kernels"
    compiling = [sys.executable, str(ROOT / "building" / "compile_kernels.py"), str(kernels), "demo"]
    subprocess.run(compiling, cwd=ROOT, check=True, capture_output=True, timeout=900)
    build(folder / "dist", "-t", "wheel", DAGORA_KERNELS=str(kernels))
    return folder / "dist"


def test_nothing_speaks_against_it(dist):
    assert release.faults(dist, dagora.__version__) == []
    (wheel,) = (file for file in dist.glob("*.whl") if "none-any" not in file.name)
    tags = parse_wheel_filename(wheel.name)[3]
    assert {(tag.interpreter, tag.platform.startswith("linux")) for tag in tags} == {
        (f"cp3{sys.version_info.minor}", False)
    }


@pytest.mark.parametrize("kind", ["*.tar.gz", "*-none-any.whl", "*-cp3*.whl"])
def test_installed_anew_it_runs_the_demo(dist, tmp_path, kind):
    (file,) = dist.glob(kind)
    python = release.fresh_environment(tmp_path)
    release.install(file, python)
    place = release.run([str(python), "-c", "import dagora; print(dagora.__file__)"], tmp_path).strip()
    assert Path(place).is_relative_to(tmp_path)
    said, compiled = release.demo(python, tmp_path)
    assert "learned by tabu search on BIC" in said
    assert (compiled == 0) == ("-cp3" in file.name)


def test_all_three_have_the_same_package(dist):
    held = {}
    for file in dist.glob("*.whl"):
        with zipfile.ZipFile(file) as archive:
            held[file.name] = {
                name for name in archive.namelist() if name.startswith("dagora/") and "compiled_kernels" not in name
            }  # fmt: skip
    (sdist,) = dist.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        inside = {name.partition("/")[2] for name in archive.getnames()}
    held["sdist"] = {name.removeprefix("src/") for name in inside if name.startswith("src/dagora/")}
    assert len(set(map(frozenset, held.values()))) == 1
    assert inside >= {
        "hatch_build.py", "requirements.txt", "recipe/recipe.yaml", ".github/workflows/test.yml",
        ".pre-commit-config.yaml", "building/release.py", "tests/building/test_release.py",
    }  # fmt: skip


def test_kernels_of_other_sources_are_not_built_in(tmp_path):
    with pytest.raises(subprocess.CalledProcessError) as ended:
        build(tmp_path / "dist", "-t", "wheel", DAGORA_KERNELS=str(tmp_path))
    assert b"of another Python, numba, processor or source" in ended.value.stderr
