"""Print the tests that a change concerns: what `make check` runs.

    python building/changed_tests.py [BASE]

A change is what differs from BASE, committed or not; without BASE, from main (from HEAD on main).
A changed source file concerns its doctests, the test that stands where it stands, and tests that import it.
A changed test concerns itself, any other file among the tests its folder. Documents, processes and browsers
are left to `make test-all`.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCE, TESTS = Path("src/dagora"), Path("tests")


def git(*arguments: str) -> list[str]:
    """The lines that a command of git prints."""
    ran = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True)  # noqa: S603, S607
    return ran.stdout.splitlines()


def changed_files(base: str | None) -> list[Path]:
    """Files that differ from the base and are still there."""
    on_main = git("rev-parse", "--abbrev-ref", "HEAD") == ["main"]
    start = base or ("HEAD" if on_main else git("merge-base", "main", "HEAD")[0])
    names = {*git("diff", "--name-only", start), *git("ls-files", "--others", "--exclude-standard")}
    return sorted(Path(name) for name in names if (ROOT / name).is_file())


def tests_of(file: Path) -> Iterator[Path]:
    """Tests that a changed file concerns."""
    if file.is_relative_to(SOURCE) and file.suffix == ".py":
        yield file  # its doctests
        inside = file.relative_to(SOURCE)
        mirrored = TESTS / inside.with_name(f"test_{inside.name}")
        if (ROOT / mirrored).is_file():
            yield mirrored
        module = ".".join(("dagora", *inside.with_suffix("").parts)).removesuffix(".__init__")
        for test in sorted((ROOT / TESTS).rglob("test_*.py")):
            text = test.read_text(encoding="utf-8")
            if f"{module} import" in text or f"import {module}" in text:
                yield test.relative_to(ROOT)
    elif file.is_relative_to(TESTS) and file.name.startswith("test_"):
        yield file
    elif file.is_relative_to(TESTS) and file.suffix == ".py":
        yield file.parent
    elif file.suffix == ".pyi":
        yield TESTS / "test_public_names.py"


def main() -> None:
    """Print each test file or folder once."""
    found = [test for file in changed_files(*sys.argv[1:2] or [None]) for test in tests_of(file)]
    folders = [test for test in found if (ROOT / test).is_dir()]
    alone = [test for test in found if not any(folder in test.parents for folder in folders)]
    print(*dict.fromkeys(map(str, alone)), sep="\n")


if __name__ == "__main__":
    main()
