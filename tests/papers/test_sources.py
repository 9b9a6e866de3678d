"""Every number called a paper's has its source beside it in the code: a table, figure, section or equation."""

import ast
import re
from pathlib import Path

import pytest

PAPERS = Path(__file__).parents[2] / "src" / "dagora" / "papers"
SOURCE = re.compile(
    r"\b(table|figure|section|equation|algorithm|appendix)s? [A-Z]?\.?\d|published/\w+/\w+", re.IGNORECASE
)
THEIRS = re.compile("PAPER|PUBLISHED|PRINTED")


def has_number(node: ast.AST) -> bool:
    """Whether a number is written somewhere inside."""
    return any(
        isinstance(part, ast.Constant)
        and isinstance(part.value, int | float)
        and not isinstance(part.value, bool)
        for part in ast.walk(node)
    )


def names_of(node: ast.stmt) -> list[str]:
    """The names that a statement at the top of a module assigns."""
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return [
        part.id for target in targets if target for part in ast.walk(target) if isinstance(part, ast.Name)
    ]


def printed_values(text: str, *, all_printed: bool) -> list[ast.AST]:
    """Constants named as a paper's, all with numbers in a module of them, and lines labelled as a paper's."""
    tree = ast.parse(text)
    found: list[ast.AST] = [
        node
        for node in tree.body
        if isinstance(node, ast.Assign | ast.AnnAssign)
        and node.value is not None
        and has_number(node.value)
        and (all_printed or any(THEIRS.search(name) for name in names_of(node)))
    ]
    for node in ast.walk(tree):
        if isinstance(node, ast.Tuple | ast.List) and any(
            isinstance(part, ast.Constant) and "paper" in str(part.value) for part in node.elts
        ):
            found += [node] * any(isinstance(part, ast.Constant) and has_number(part) for part in node.elts)
    return found


def is_sourced(text: str, node: ast.AST) -> bool:
    """Whether a source stands on the lines of a value, or in the comment right above it."""
    lines = text.splitlines()
    first = node.lineno - 1
    above = first
    # Lines labelled as a paper's follow each other under one comment.
    while above and (lines[above - 1].lstrip().startswith("#") or "paper" in lines[above - 1]):
        above -= 1
    return bool(SOURCE.search("\n".join(lines[above : node.end_lineno])))


MODULES = sorted(PAPERS.rglob("*.py"))


@pytest.mark.parametrize("file", MODULES, ids=lambda file: str(file.relative_to(PAPERS)))
def test_every_printed_value_has_its_source(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    printed = printed_values(text, all_printed=file.name == "published.py")
    bare = [f"{file.name}:{node.lineno}" for node in printed if not is_sourced(text, node)]
    assert not bare, f"say in a comment above which table, figure or section these are from: {bare}"


def test_values_are_found_where_there_are_some() -> None:
    found = {
        str(file.relative_to(PAPERS))
        for file in MODULES
        if printed_values(file.read_text(encoding="utf-8"), all_printed=file.name == "published.py")
    }
    assert {"rbnets/published.py", "gpn/published.py", "notears/table1.py"} <= found


@pytest.mark.parametrize(
    ("text", "sourced"),
    [
        ("PAPER = {1: 2.0}", [False]),
        ("# TPR of the text.\nPAPER_TPR = {1: 2.0}", [False]),
        ("# Table 1.\nPAPER = {1: 2.0}", [True]),
        ("# Equation 6, section 3.\nPRINTED: int = 3", [True]),
        ("# Table 1.\n\nPAPER = 3", [False]),
        ("OURS = 3", []),
        ("PAPER = 'words'", []),
        ("def f():\n    return [\n        ('ours', 3),\n        ('NOTEARS, the paper', 16),\n    ]", [False]),
        ("def f():\n    # Section 5.4.\n    return ('the paper', 16)", [True]),
    ],
)
def test_what_counts_as_a_source(text: str, sourced: list[bool]) -> None:
    assert [is_sourced(text, node) for node in printed_values(text, all_printed=False)] == sourced
