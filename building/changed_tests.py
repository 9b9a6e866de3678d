"""Print the tests that a change concerns: what `make check` runs.

    python -m building.changed_tests [BASE]

A change is what differs from BASE, committed or not; without BASE, from main (from HEAD on main).
A changed source file concerns its doctests, the test that stands where it stands, and tests that import it
(those of its room, where they are more than `MOST_USERS`); where there is none, the tests of its folder.
A changed test concerns itself, any other file among the tests its folder. What builds has tests too. One line
on standard error names tests that are concerned but left to `make test-all` (`FULL` in tests/conftest.py).
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCE, TESTS = Path("src/dagora"), Path("tests")
MOST_USERS = 20  # test files, which take about a minute


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
        own = TESTS / inside.with_name(f"test_{inside.name}")
        found = [own] if (ROOT / own).exists() else []
        module = ".".join(("dagora", *inside.with_suffix("").parts)).removesuffix(".__init__")
        package, _, name = module.rpartition(".")
        uses = re.compile(rf"{module} import|import {module}\b|from {package} import .*\b{name}\b")
        tests = sorted((ROOT / TESTS).rglob("test_*.py"))
        users = [one.relative_to(ROOT) for one in tests if uses.search(one.read_text(encoding="utf-8"))]
        if len(users) > MOST_USERS:
            users = [one for one in users if one.is_relative_to(TESTS / inside.parts[0])]
        found += users
        yield from found or [next(folder for folder in own.parents if (ROOT / folder).is_dir())]
    elif file.is_relative_to(TESTS) and file.name.startswith("test_"):
        yield file
    elif file.is_relative_to(TESTS) and file.suffix == ".py":
        yield file.parent
    elif file.suffix == ".pyi":
        yield TESTS / "test_public_names.py"
    elif file.is_relative_to(SOURCE / "report"):
        yield TESTS / "report"
    elif file.is_relative_to(SOURCE / "explore"):
        yield from (TESTS / "explore", TESTS / "browser")
    elif file.is_relative_to("building"):
        yield TESTS / "building"
    elif file.is_relative_to(".github") or file.is_relative_to("recipe"):
        yield TESTS / "test_project.py"
    elif file.suffix == ".md" or file.is_relative_to("docs"):
        yield TESTS / "documents"


def now_and_later(tests: Iterable[Path], full: Iterable[str]) -> tuple[list[Path], list[Path]]:
    """The tests to run, each once, and the paths of `full` among or around them, left for later."""
    found = list(dict.fromkeys(tests))
    left = [
        path
        for path in (TESTS / name for name in full)
        if any(path.is_relative_to(test) or test.is_relative_to(path) for test in found)
    ]
    now = [
        test
        for test in found
        if (ROOT / test).exists()
        and not any(map(test.is_relative_to, left))
        and not {*test.parents} & {*found}
    ]
    return now, left


def main() -> None:
    """Print each test file or folder to run once, and on standard error what is left for later."""
    from tests.conftest import FULL

    changed = changed_files(*sys.argv[1:2] or [None])
    now, later = now_and_later((test for file in changed for test in tests_of(file)), FULL)
    print(*now, sep="\n")
    if later:
        print("left to make test-all:", *later, file=sys.stderr)


if __name__ == "__main__":
    main()
