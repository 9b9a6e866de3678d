"""What the project says about itself agrees: the version, the citation, the changelog, the hooks."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement

import dagora
from building import changed_tests
from dagora.base.version import version_of, versions
from dagora.papers.registry import ITEMS
from tests.conftest import FULL, ROOT


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def test_the_build_takes_the_version_from_the_package() -> None:
    project = tomllib.loads(read("pyproject.toml"))["project"]
    assert project["dynamic"] == ["version"]
    built = subprocess.run(
        [sys.executable, "-m", "hatchling", "metadata", "version"],
        cwd=ROOT, capture_output=True, text=True, check=True, timeout=60,
    ).stdout.strip()  # fmt: skip
    assert built == dagora.__version__


@pytest.mark.full
def test_no_other_file_states_the_version() -> None:
    version = re.compile(rf"(?<![\d.]){re.escape(dagora.__version__)}(?![\d.])")
    files = [
        *(ROOT / "src").rglob("*.py"),
        *(ROOT / name for name in ("pyproject.toml", "Makefile", "README.md")),
    ]
    assert [file.name for file in files if version.search(file.read_text(encoding="utf-8"))] == ["version.py"]


def test_a_result_gives_the_version_of_the_code_that_ran(monkeypatch: pytest.MonkeyPatch) -> None:
    """An editable installation remembers the version it was installed with."""
    version_of.cache_clear()
    monkeypatch.setattr("importlib.metadata.version", lambda package: "9.9.9")
    try:
        said = versions()
    finally:
        version_of.cache_clear()
    assert said["dagora"] == dagora.__version__
    assert said["numpy"] == "9.9.9"


def test_the_citation() -> None:
    text = read("CITATION.cff")
    top = dict(re.findall(r"^([a-z-]+): (.+)$", text, re.MULTILINE))
    assert top["cff-version"] == "1.2.0"
    assert top["version"] == dagora.__version__
    assert top["license"] == tomllib.loads(read("pyproject.toml"))["project"]["license"]
    assert {"message", "title", "type"} <= set(top)
    assert "\nauthors:\n  - name: The dagora developers\n" in text
    assert "\t" not in text


def test_the_citation_names_the_papers_whose_items_are_reproduced() -> None:
    """Family names and year of each paper, as the registry of reproductions has them."""
    entries = read("CITATION.cff").partition("\nreferences:\n")[2].split("  - type: ")[1:]
    cited = set()
    for entry in entries:
        authors = re.findall(r"family-names: (.+)", entry)
        names = " & ".join(filter(None, (", ".join(authors[:-1]), authors[-1])))
        title = re.search(r'title: "([^":]+)', entry)[1]
        cited.add((f"{names} {re.search(r'year: (.+)', entry)[1]}", title))
    assert len(cited) == 5
    references = {item.reference for item in ITEMS}
    assert len(references) == 5
    for reference in references:
        who, title = re.split(r"(?<=\d), ", reference, maxsplit=1)
        assert (who, title.partition(":")[0]) in cited


def test_the_changelog_has_its_categories() -> None:
    newest = re.split(r"^## ", read("CHANGELOG.md"), flags=re.MULTILINE)[1]
    assert newest.split()[0] == dagora.__version__
    assert sorted(re.findall(r"^### (.+)$", newest, re.MULTILINE)) == ["Added", "Changed", "Fixed", "Removed"]
    added = newest.partition("### Added")[2].partition("### ")[0]
    assert len(re.findall(r"^- ", added, re.MULTILINE)) > 10


def test_the_changelog_begins_with_one_page() -> None:
    newest = re.split(r"^## ", read("CHANGELOG.md"), flags=re.MULTILINE)[1]
    assert len(newest.splitlines()) <= 80
    assert max(map(len, newest.splitlines())) <= 150


WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def workflow_runs(name: str) -> dict[str, dict[str, object]]:
    """The jobs of a workflow."""
    return yaml.safe_load(read(f".github/workflows/{name}.yml"))["jobs"]


def supported_pythons() -> list[str]:
    lines = tomllib.loads(read("pyproject.toml"))["project"]["classifiers"]
    return [line.rpartition(" ")[2] for line in lines if re.search(r":: 3\.\d+$", line)]


def test_every_change_is_tested_on_every_platform_and_python() -> None:
    matrix = workflow_runs("test")["test"]["strategy"]["matrix"]
    assert [system.partition("-")[0] for system in matrix["os"]] == ["ubuntu", "macos", "windows"]
    assert matrix["python"] == supported_pythons() == ["3.11", "3.12", "3.13"]
    assert workflow_runs("release")["build"]["strategy"]["matrix"]["python"] == supported_pythons()


def test_every_night_everything_is_tested() -> None:
    content = yaml.safe_load(read(".github/workflows/nightly.yml"))
    assert content[True]["schedule"][0]["cron"]  # YAML 1.1 reads the key `on` as true
    job = content["jobs"]["test-all"]
    assert job["strategy"]["matrix"]["python"] == supported_pythons()
    assert any(step.get("run", "").startswith("make test-all") for step in job["steps"])


@pytest.mark.parametrize("file", WORKFLOWS, ids=lambda file: file.stem)
def test_a_workflow_calls_what_there_is_and_may_do_little(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    targets = set(re.search(r"^\.PHONY: (.+)$", read("Makefile"), re.MULTILINE)[1].split())
    assert set(re.findall(r"\bmake ([a-z-]+)", text)) <= targets
    assert yaml.safe_load(text)["permissions"] == {"contents": "read"}
    actions = re.findall(r"uses: (\S+)", text)
    assert actions
    assert all(re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", action) for action in actions)


def test_the_conda_recipe_says_what_the_project_says() -> None:
    recipe, project = yaml.safe_load(read("recipe/recipe.yaml")), tomllib.loads(read("pyproject.toml"))
    said = project["project"]
    assert recipe["context"]["version"] == dagora.__version__
    assert f">={recipe['context']['python_min']}" == said["requires-python"]
    needed = [Requirement(line) for line in said["dependencies"]]
    assert recipe["requirements"]["run"] == [
        "python >=${{ python_min }}", *(f"{each.name} {each.specifier}" for each in needed)
    ]  # fmt: skip
    assert set(project["build-system"]["requires"]) < set(recipe["requirements"]["host"])
    assert recipe["build"]["python"]["entry_points"] == [f"dagora = {said['scripts']['dagora']}"]
    assert (recipe["about"]["summary"], recipe["about"]["license"]) == (said["description"], said["license"])


def test_the_hooks_run_what_make_runs() -> None:
    hooks = re.findall(r"entry: \.venv/bin/(.+)", read(".pre-commit-config.yaml"))
    makefile = read("Makefile")
    recipes = [
        re.search(rf"^{target}:.*\n((?:\t.+\n)+)", makefile, re.MULTILINE)[1] for target in ("lint", "types")
    ]
    assert hooks == re.findall(r"\$\(BIN\)/(.+)", "".join(recipes))
    assert "://" not in read(".pre-commit-config.yaml")


def test_every_make_command_says_what_it_does() -> None:
    makefile = read("Makefile")
    phony = set(re.search(r"^\.PHONY: (.+)$", makefile, re.MULTILINE)[1].split())
    assert phony == set(re.findall(r"^([a-z-]+):.*  ## \w", makefile, re.MULTILINE))


@pytest.mark.parametrize(
    ("changed", "now", "later"),
    [
        ("docs/data.md", set(), {"tests/documents"}),
        ("README.md", set(), {"tests/documents"}),
        ("src/dagora/cli/federate/processes.py", {"src/dagora/cli/federate/processes.py"}, {"tests/cli/federate"}),
        ("src/dagora/papers/admm/claims.py", {"src/dagora/papers/admm/claims.py"}, {"tests/papers/admm"}),
        ("src/dagora/explore/page/app.js", {"tests/explore"}, {"tests/browser", "tests/explore/test_estimates.py"}),
        ("tests/graph/test_dag.py", {"tests/graph/test_dag.py"}, set()),
        ("src/dagora/data/scan/codebook.py", {"src/dagora/data/scan/codebook.py", "tests/data/scan"}, set()),
        ("src/dagora/report/page.js", {"tests/report"}, set()),
        ("building/wheel_tag.py", {"tests/building"}, {"tests/building/test_release.py"}),
        ("recipe/recipe.yaml", {"tests/test_project.py"}, set()),
        (".github/workflows/test.yml", {"tests/test_project.py"}, set()),
        ("tests/cli/conftest.py", {"tests/cli"}, {"tests/cli/federate", "tests/cli/test_live_line.py"}),
    ],
)  # fmt: skip
def test_make_check_names_what_it_leaves_out(changed: str, now: set[str], later: set[str]) -> None:
    said, left = changed_tests.now_and_later(changed_tests.tests_of(Path(changed)), FULL)
    assert {path.as_posix() for path in said} == now
    assert {path.as_posix() for path in left} >= later
    assert bool(left) == bool(later)


def test_folders_stand_for_what_they_hold() -> None:
    held = [
        Path("tests/graph/test_dag.py"),
        Path("tests/graph"),
        Path("tests/graph"),
        Path("tests/no_such.py"),
    ]
    assert changed_tests.now_and_later(held, []) == ([Path("tests/graph")], [])


def test_make_bench_runs_every_comparison_with_peers() -> None:
    """Scripts that need the peers are all in it: the page of benchmarks says so."""
    scripts = [
        file.name
        for file in (ROOT / "benchmarks").glob("*.py")
        if re.search(r"^import peers$", file.read_text(encoding="utf-8"), re.MULTILINE)
        and file.name != "runs.py"  # what the scripts share
    ]
    assert "mixed.py" in scripts
    bench = read("Makefile").partition("\nbench:")[2].partition("\n\n")[0]
    assert [name for name in scripts if f"benchmarks/{name}" not in bench] == []
