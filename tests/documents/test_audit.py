"""The kit for reviewers: every claim is listed with tests that exist, and the vectors are those of the code."""

import json
import re
import subprocess
import sys

import pytest
from building.vectors import all_vectors

from tests.conftest import ROOT

AUDIT = ROOT / "docs" / "audit"
CLAIMS = (AUDIT / "claims.md").read_text(encoding="utf-8")
PAGES = (
    "SECURITY.md", "docs/federated.md", "docs/privacy.md", "docs/security-officer.md", "docs/flower.md"
)  # fmt: skip
# Words by which a sentence claims that something holds, always or for everybody.
CLAIMING = re.compile(
    r"\b(never|nothing|nobody|cannot|only|always|exact|exactly|at most|refused|refuses|equal|the same|one line"
    r"|no other|every)\b"
)
SMALL = 1 << 18  # bytes of all vectors


def plain(text: str) -> str:
    """Words without the marks of Markdown."""
    return " ".join(re.sub(r"[*`]|\[([^\]]*)\]\([^)]*\)", r"\1", text).split())


def units(text: str) -> list[str]:
    """Paragraphs, items of lists and rows of tables."""
    text = re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)
    begins = re.compile(r"^\s*(?:\d+\.|[-*]|\|) ")
    found: list[str] = []
    going = False
    for line in text.splitlines():
        if not line.strip() or line.startswith(("#", ":::", "|--")):
            going = False
        elif begins.match(line) or not going:
            found.append(begins.sub("", line, count=1))
            going = True
        else:
            found[-1] += f" {line}"
    return [plain(unit) for unit in found]


def listed(page: str) -> dict[str, str]:
    """The first words of each claim of a page, and the tests behind it."""
    rows = re.findall(
        r"^\| (.+?) \| (.+) \|$", CLAIMS.partition(f"## {page}\n")[2].partition("\n## ")[0], re.MULTILINE
    )
    return dict(rows[1:])


@pytest.mark.parametrize("page", PAGES)
def test_every_claim_is_listed(page: str) -> None:
    found = units((ROOT / page).read_text(encoding="utf-8"))
    assert len(found) > 25
    known = listed(page)
    missing = [unit[:80] for unit in found if CLAIMING.search(unit) and not unit.startswith(tuple(known))]
    assert missing == [], f"docs/audit/claims.md lacks claims of {page}"
    gone = [words for words in known if not any(unit.startswith(words) for unit in found)]
    assert gone == [], f"docs/audit/claims.md lists what {page} does not say"


def test_every_named_test_exists() -> None:
    named = re.findall(r"`([a-z_0-9/.:]+)`", CLAIMS.partition("## SECURITY.md")[2])
    assert len(named) > 100
    for name in named:
        file, _, function = name.partition("::")
        path = ROOT / "tests" / file
        assert path.exists(), name
        if function:
            assert f"def {function}(" in path.read_text(encoding="utf-8"), name
    rows = [row for page in PAGES for row in listed(page).values()]
    assert all(row == "*explained*" or row.startswith("`") for row in rows)


def test_every_attack_is_described() -> None:
    files = {file.name for file in (ROOT / "tests" / "attacks").glob("test_*.py")}
    assert set(re.findall(r"`(test_\w+\.py)`", (AUDIT / "attacks.md").read_text(encoding="utf-8"))) == files


def test_what_draws_at_random_is_run_by_make_attack() -> None:
    """It runs what is marked `fuzz`."""
    for file in sorted((ROOT / "tests" / "attacks").glob("test_*.py")):
        if "wear_out" in file.name:  # it has a number of runs
            continue
        for test in re.findall(
            r"((?:^@.*\n)*)^def (test_\w+)(.*\n(?:(?:    .*)?\n)*)",
            file.read_text(encoding="utf-8"),
            re.MULTILINE,
        ):
            marks, name, body = test
            draws = re.search(r"\btries\(|Random\(SEED\)", body) is not None
            assert ("mark.fuzz" in marks) is draws, f"{file.name}::{name}"


def test_the_vectors_are_those_of_the_code() -> None:
    """If a format changed on purpose: python -m building.vectors docs/audit/vectors."""
    files = {file.stem: json.loads(file.read_text(encoding="utf-8")) for file in AUDIT.glob("vectors/*.json")}
    assert json.loads(json.dumps(all_vectors())) == files
    assert sum(file.stat().st_size for file in AUDIT.glob("vectors/*.json")) < SMALL


def test_another_implementation_agrees() -> None:
    line = [sys.executable, AUDIT / "check_vectors.py"]
    checked = subprocess.run(line, capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stderr
    assert "16 primitives and 4 whole runs agree" in checked.stdout
    assert "dagora" not in sys.modules or "import dagora" not in (AUDIT / "check_vectors.py").read_text()


def flip(messages: list[dict], tag: str) -> None:
    """Change the last bit of the last message under a tag."""
    message = [message for message in messages if message["tag"] == tag][-1]
    content = bytes.fromhex(message["bytes"])
    message["bytes"] = (content[:-1] + bytes([content[-1] ^ 1])).hex()


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("primitives", lambda content: content["masks"].update(round=4)),
        ("primitives", lambda content: content["fourth"]["sums"].__setitem__(-1, 0)),
        ("primitives", lambda content: content["gate"].update(first_tweak=41)),
        ("primitives", lambda content: flip(content["base_transfer"]["messages"], "seeds/offer")),
        ("federated", lambda content: content["sums"][1].__setitem__(0, 0)),
        ("federated", lambda content: flip(content["messages"], "plan")),
        ("federated", lambda content: flip(content["messages"], "roster")),
        ("federated", lambda content: flip(content["messages"], "keys")),
        ("federated", lambda content: content["messages"][-1].update(size=1)),
        ("private", lambda content: content["edges"].pop()),
    ],
)
def test_another_implementation_sees_a_change(tmp_path, name, change) -> None:
    (tmp_path / "vectors").mkdir()
    for file in AUDIT.glob("vectors/*.json"):
        content = json.loads(file.read_text(encoding="utf-8"))
        if file.stem == name:
            change(content)
        (tmp_path / "vectors" / file.name).write_text(json.dumps(content), encoding="utf-8")
    script = tmp_path / "check_vectors.py"
    script.write_bytes((AUDIT / "check_vectors.py").read_bytes())
    checked = subprocess.run([sys.executable, script], capture_output=True, check=False)
    assert b"AssertionError" in checked.stderr
