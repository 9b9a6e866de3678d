"""Check what is to be released, and try it: `make release` calls this.

    python building/release.py DIST

DIST must hold one sdist, one wheel for any machine and at least one with compiled kernels, all of this
version, with tags that a package index takes. Each that this machine can install is installed into a fresh
environment, where `dagora demo` must run. That environment sees the packages of this one, so that nothing is
downloaded: pip only checks that they are the ones which dagora needs.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
import tempfile
import venv
import zipfile
from pathlib import Path

from packaging.tags import sys_tags
from packaging.utils import parse_sdist_filename, parse_wheel_filename

ROOT = Path(__file__).resolve().parents[1]
# What package indexes take, of the platforms for which kernels can be compiled.
PLATFORMS = re.compile(
    r"any|manylinux_\d+_\d+_(x86_64|aarch64)|macosx_\d+_\d+_(x86_64|arm64|universal2)|win_(amd64|arm64)"
)
# Bytes: an index refuses larger files unless it was asked.
LARGEST = 100 * 2**20
KERNELS = "dagora/compiled_kernels/"
LIBRARIES = (".so", ".dylib", ".pyd", ".dll")


def faults(dist: Path, version: str) -> list[str]:
    """What speaks against releasing the files in a folder, one line each."""
    found = []
    kinds = []
    for file in sorted(dist.iterdir()):
        if file.suffix == ".whl":
            name, made, _, tags = parse_wheel_filename(file.name)
            pure = {tag.platform for tag in tags} == {"any"}
            kinds.append("pure wheel" if pure else "platform wheel")
            found += [f"{file.name}: {fault}" for fault in wheel_faults(file, pure)]
        elif file.name.endswith(".tar.gz"):
            name, made = parse_sdist_filename(file.name)
            kinds.append("sdist")
        else:
            found.append(f"{file.name}: neither a wheel nor an sdist")
            continue
        if (name, str(made)) != ("dagora", version):
            found.append(f"{file.name}: not dagora {version}")
        if file.stat().st_size > LARGEST:
            found.append(f"{file.name}: larger than {LARGEST // 2**20} MiB")
    found += [
        f"{kinds.count(kind)} of kind {kind}, not one"
        for kind in ("sdist", "pure wheel")
        if kinds.count(kind) != 1
    ]
    if "platform wheel" not in kinds:
        found.append("no platform wheel")
    return found


def wheel_faults(file: Path, pure: bool) -> list[str]:
    """What is wrong with a wheel."""
    _, _, _, tags = parse_wheel_filename(file.name)
    found = [f"no index takes {tag.platform}" for tag in tags if not PLATFORMS.fullmatch(tag.platform)]
    with zipfile.ZipFile(file) as archive:
        names = archive.namelist()
    if pure == any(name.startswith(KERNELS) and name.endswith(".nbc") for name in names):
        found.append("a pure wheel with compiled kernels" if pure else "a platform wheel without kernels")
    if libraries := [name for name in names if name.endswith(LIBRARIES)]:
        found.append(f"shared libraries, whose needs nobody has checked: {', '.join(libraries)}")
    return found


def fits_here(file: Path) -> bool:
    """Return True if this Python can install a file."""
    return file.suffix != ".whl" or not parse_wheel_filename(file.name)[3].isdisjoint(sys_tags())


def fresh_environment(folder: Path) -> Path:
    """Make an environment that has nothing but sees the packages of this one; return its Python."""
    venv.create(folder, with_pip=False)
    places = {"base": str(folder), "platbase": str(folder)}
    packages = Path(sysconfig.get_path("purelib", "venv", places))
    seen = dict.fromkeys(sysconfig.get_path(kind) for kind in ("purelib", "platlib"))
    (packages / "packages.pth").write_text("\n".join(seen))
    name = "python.exe" if sys.platform == "win32" else "python"
    return Path(sysconfig.get_path("scripts", "venv", places)) / name


def install(file: Path, python: Path) -> None:
    """Install a file by pip, without downloads; then pip must find that all it needs is there."""
    pip = [sys.executable, "-m", "pip", "--isolated", "--disable-pip-version-check", "--python", str(python)]
    offline = [*pip, "install", "--quiet", "--no-index"]
    run([*offline, "--no-build-isolation", "--ignore-installed", "--no-deps", str(file)], python.parent)
    run([*offline, "dagora"], python.parent)


def run(command: list[str], folder: Path, **environment: str) -> str:
    """Run a command in a folder, away from the sources, and return what it prints; end if it fails."""
    kept = {name: value for name, value in os.environ.items() if name not in {"PYTHONPATH", "DAGORA_KERNELS"}}
    ran = subprocess.run(  # noqa: S603
        command, cwd=folder, env={**kept, "PIP_CONFIG_FILE": os.devnull, **environment},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if ran.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {ran.returncode}:\n{ran.stdout}{ran.stderr}")
    return ran.stdout


def demo(python: Path, folder: Path) -> tuple[str, int]:
    """Run the demo of an installation; return what it printed, and the number of kernels that it compiled."""
    kernels = folder / "compiled"
    said = run([str(python.with_name("dagora")), "demo", "-o", "demo"], folder, NUMBA_CACHE_DIR=str(kernels))
    if not (folder / "demo" / "report.html").is_file():
        raise SystemExit("the demo wrote no report")
    return said, len(list(kernels.rglob("*.nbc")))


def main(dist: Path) -> None:
    """Check all files, then try them."""
    sys.path.insert(0, str(ROOT / "src"))
    from dagora.base.version import __version__

    if found := faults(dist, __version__):
        sys.exit("\n".join(found))
    for file in sorted(dist.iterdir()):
        if not fits_here(file):
            print(f"{file.name}: for another machine, not tried")
            continue
        with tempfile.TemporaryDirectory() as folder:
            python = fresh_environment(Path(folder))
            install(file, python)
            _, compiled = demo(python, Path(folder))
        print(f"{file.name}: the demo runs; it compiled {compiled} kernels")


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
