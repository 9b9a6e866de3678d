"""Make the peers' virtual environments: `python benchmarks/peers.py [NAME ...]`, by default all peers.

An environment that already holds the pinned versions is left alone, so the command may be repeated.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tomllib
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / ".bench"
PINS: dict[str, dict[str, list[str]]] = tomllib.loads(Path(__file__).with_name("peers.toml").read_text())
LIST_VERSIONS = """
import importlib.metadata as metadata, json
print(json.dumps({d.metadata["Name"].lower(): d.version.partition("+")[0] for d in metadata.distributions()}))
"""


def python_of(name: str) -> Path:
    """The interpreter of a peer's environment."""
    return FOLDER / name / "bin" / "python"


def missing_pins(name: str) -> list[str]:
    """Pins that the environment does not hold; a build tag such as +cpu does not count."""
    pins = [*PINS[name]["first"], *PINS[name]["packages"]]
    if not python_of(name).exists():
        return pins
    listing = subprocess.run(
        [python_of(name), "-c", LIST_VERSIONS], check=True, capture_output=True, text=True
    )
    installed: dict[str, str] = json.loads(listing.stdout)
    return [pin for pin in pins if installed.get(pin.partition("==")[0].lower()) != pin.partition("==")[2]]


def make(name: str) -> None:
    """Create the environment or complete it."""
    missing = missing_pins(name)
    if not missing:
        print(f"{name}: ready in {FOLDER / name}")
        return
    if not python_of(name).exists():
        print(f"{name}: creating {FOLDER / name}")
        venv.create(FOLDER / name, with_pip=True)
    print(f"{name}: installing {' '.join(missing)}")
    for pins in (PINS[name]["first"], PINS[name]["packages"]):
        if pins:
            subprocess.run([python_of(name), "-m", "pip", "install", "--quiet", *pins], check=True)
    still = missing_pins(name)
    if still:
        sys.exit(f"{name}: pip did not install {' '.join(still)}")


def require(names: list[str]) -> None:
    """Stop with one clear line where an environment is absent or outdated."""
    absent = [name for name in names if missing_pins(name)]
    if absent:
        sys.exit(f"run `python benchmarks/peers.py {' '.join(absent)}` first: the pinned peers are not there")


def pinned(names: list[str]) -> str:
    """The peers and their versions, for the end of a report."""
    found = ", ".join(PINS[name]["packages"][0].replace("==", " ") for name in names)
    return f"Peers: {found or 'none'}."


def main() -> None:
    parser = argparse.ArgumentParser(description="Make the virtual environments of the peers.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"any of {', '.join(PINS)} (default: all)")
    names = parser.parse_args().names or list(PINS)
    for name in names:
        if name not in PINS:
            parser.error(f"no peer is named '{name}': known are {', '.join(PINS)}")
    for name in names:
        make(name)


if __name__ == "__main__":
    main()
