"""The walk-throughs of CONTRIBUTING.md: run as they stand, held against oracles, and broken on purpose."""

import importlib
import inspect
import math
import re
import runpy
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from itertools import combinations, product
from pathlib import Path

import numpy as np
import pytest

import dagora
from dagora.data.table import Table
from dagora.graph.enumerate import all_dags
from dagora.learners import registry as method_registry
from dagora.learners.method import KnowledgePart
from dagora.scores import registry
from tests.conftest import ROOT
from tests.contracts import test_methods as contracts
from tests.random_tables import random_discrete

PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
BLOCKS = dict(re.findall(r"^```python\n# (\w+)\.py\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE))
LINTED = ["qnml", "chow_liu"]

Walk = Callable[..., None]


@pytest.fixture
def walk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Walk]:
    """Save a walk-through's files, perhaps with a mistake, and run the last; nothing of it stays afterwards."""
    before = (registry.SCORES, method_registry.METHODS)
    monkeypatch.setattr(registry, "SCORES", registry.SCORES)
    monkeypatch.setattr(method_registry, "METHODS", method_registry.METHODS)
    monkeypatch.syspath_prepend(tmp_path)

    def run(name: str, right: str = "", wrong: str = "") -> None:
        assert BLOCKS[name].count(right) == 1 or not right
        (tmp_path / f"{name}.py").write_text(BLOCKS[name].replace(right, wrong, 1), encoding="utf-8")
        (tmp_path / f"try_{name}.py").write_text(BLOCKS[f"try_{name}"], encoding="utf-8")
        importlib.invalidate_caches()
        runpy.run_path(str(tmp_path / f"try_{name}.py"))

    yield run
    monkeypatch.undo()
    for name in BLOCKS:
        sys.modules.pop(name, None)
    assert before == (registry.SCORES, method_registry.METHODS)


def test_every_block_is_known() -> None:
    assert set(BLOCKS) == {"qnml", "try_qnml", "chow_liu", "try_chow_liu"}
    assert PAGE.count("```python") == len(BLOCKS)


@pytest.mark.parametrize("name", LINTED)
@pytest.mark.parametrize("command", [["check"], ["format", "--check"]], ids=["check", "format"])
def test_the_code_keeps_the_conventions(name: str, command: list[str]) -> None:
    there = ["--stdin-filename", f"src/dagora/{name}.py", "-"]
    ran = subprocess.run(
        [sys.executable, "-m", "ruff", *command, *there],
        cwd=ROOT, input=BLOCKS[name], capture_output=True, encoding="utf-8", check=False, timeout=60,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_the_score_is_as_short_as_the_page_says() -> None:
    promised = int(re.search(r"## Add a score in (\d+) lines", PAGE)[1])
    assert sum(bool(line.strip()) for line in BLOCKS["qnml"].splitlines()) <= promised


# ------------------------------------------------------------------------------------------------ the score


@cache
def complexity(rows: int, cells: int) -> float:
    """C(m, K) by its definition for K = 2, then C(m, K + 2) = C(m, K + 1) + m/K C(m, K).

    (Kontkanen & Myllymäki 2007, "A linear-time algorithm for computing the multinomial stochastic complexity".)
    """
    shares = [h / rows for h in range(rows + 1)]
    two = math.fsum(
        math.comb(rows, h) * share**h * (1 - share) ** (rows - h) for h, share in enumerate(shares)
    )
    values = [1.0, two]
    for k in range(1, cells - 1):
        values.append(values[-1] + rows / k * values[-2])
    return values[cells - 1]


@pytest.mark.parametrize(("rows", "cells"), [(1, 3), (6, 2), (6, 3), (5, 4)])
def test_the_oracle_is_the_sum_over_all_data(rows: int, cells: int) -> None:
    every = product(range(cells), repeat=rows)
    highest = [math.prod((n / rows) ** n for n in Counter(data).values()) for data in every]
    assert complexity(rows, cells) == pytest.approx(math.fsum(highest), rel=1e-12)


def random_table(seed: int) -> Table:
    return random_discrete(np.random.default_rng(seed), 100, [2, 3, 4, 2])


def log_nml(table: Table, columns: frozenset[int]) -> float:
    """ln NML of some columns as one variable, from its rows in plain Python."""
    cells = math.prod(table.schema[column].cardinality for column in columns)
    chosen = [table.columns[column].tolist() for column in sorted(columns)]
    counts = Counter(zip(*chosen, strict=True)) if chosen else {(): table.n_rows}
    fit = math.fsum(n * math.log(n / table.n_rows) for n in counts.values())
    return fit - math.log(complexity(table.n_rows, cells))


def check_score() -> None:
    """The score of every graph of four nodes, the best of them, and what equivalent ones share."""
    for seed in (0, 1):
        table = random_table(seed)
        exact = {
            frozenset(some): log_nml(table, frozenset(some))
            for k in range(5)
            for some in combinations(range(4), k)
        }
        found, classes = [], defaultdict(list)
        for dag in all_dags(4):
            renamed = dagora.DAG.from_numpy(dag.to_numpy(), table.names)
            found.append(dagora.score(table, renamed, score="qnml"))
            classes[dagora.CPDAG.from_dag(dag)].append(found[-1])
            families = [(frozenset(dag.parent_indices(child)), child) for child in range(4)]
            right = math.fsum(exact[parents | {child}] - exact[parents] for parents, child in families)
            # Each of the eight terms may be 0.1 off, always to the same side.
            assert abs(found[-1] - right) < 0.4
        assert (len(found), len(classes)) == (543, 185)
        assert max(max(values) - min(values) for values in classes.values()) < 1e-9 * abs(max(found))
        result = dagora.learn(table, method="dynamic", score="qnml")
        assert result.status == "optimal"
        assert result.score == pytest.approx(max(found), rel=1e-12)
        assert result.graph.edges


def test_the_score_works_as_it_stands(walk: Walk, capsys: pytest.CaptureFixture[str]) -> None:
    walk("qnml")
    assert capsys.readouterr().out == "optimal (('a', 'b'), ('b', 'c'))\n"
    check_score()


def test_the_approximation_is_as_good_as_it_says(walk: Walk) -> None:
    walk("qnml")
    approximate = sys.modules["qnml"].log_complexity
    for rows in (1, 2, 10, 100, 1000):
        assert approximate(rows, np.ones(1)) == 0
        for cells in (2, 3, 10, 100):
            off = approximate(rows, np.array([float(cells)]))[0] - math.log(complexity(rows, cells))
            assert 0 < off < 0.1
    # Far more cells than rows: every row is in a cell of its own, and C is (K / m)^m.
    assert approximate(10, np.array([1e200]))[0] == pytest.approx(10 * math.log(1e200 / 10), rel=1e-12)


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("fit - log_complexity(rows, cells)", "fit"),
        ("joint(counts, configurations)", "joint(counts, configurations * 2)"),
        ("leading - np.log1p(excess + 2 / a) / 2", "leading"),
        ("np.log1p(excess + 2 / a) / 2", "np.log1p(excess + 2 / a)"),
        ("np.where(cells == 1, 0.0, ", "np.where(cells == 1, 1.0, "),
    ],
)
def test_a_mistake_in_the_score_is_seen(walk: Walk, right: str, wrong: str) -> None:
    walk("qnml", right, wrong)
    with pytest.raises(AssertionError):
        check_score()


# ----------------------------------------------------------------------------------------------- the method


def dependent_bits(seed: int) -> Table:
    """Four columns that all depend on a hidden one, more or less, and a fifth that depends on nothing."""
    rng = np.random.default_rng(seed)
    hidden, alone = rng.random((2, 300)) < 0.5
    noisy = [hidden ^ (rng.random(300) < rng.uniform(0.1, 0.35)) for _ in range(4)]
    columns = np.column_stack([*noisy, alone])[:, rng.permutation(5)]
    return Table.from_numpy(columns.astype(int), discrete=[f"x{i}" for i in range(5)])


def mutual_information(one: np.ndarray, other: np.ndarray) -> float:
    joint = np.histogram2d(one, other, bins=2)[0] / len(one)
    product_of_margins = np.outer(joint.sum(axis=1), joint.sum(axis=0))
    occupied = joint > 0
    return float((joint[occupied] * np.log(joint[occupied] / product_of_margins[occupied])).sum())


def is_forest(pairs: tuple[tuple[int, int], ...]) -> bool:
    tree = list(range(5))
    for i, j in pairs:
        if tree[i] == tree[j]:
            return False
        tree = [tree[i] if of == tree[j] else of for of in tree]
    return True


def check_method() -> None:
    """Of all 291 forests of five nodes, that of most mutual information at the price of BIC per edge."""
    forests = [
        some for k in range(5) for some in combinations(combinations(range(5), 2), k) if is_forest(some)
    ]
    assert len(forests) == 291
    for seed in range(8):
        table = dependent_bits(seed)
        price = math.log(table.n_rows) / 2  # an edge between two binary columns costs one parameter
        gains = {
            (i, j): table.n_rows * mutual_information(table.columns[i], table.columns[j]) - price
            for i, j in combinations(range(5), 2)
        }
        best = max(forests, key=lambda forest: sum(gains[pair] for pair in forest))
        result = dagora.learn(table, method="chow-liu", score="bic")
        assert not result.graph.edges
        assert set(result.graph.undirected) == {(f"x{i}", f"x{j}") for i, j in best}
        empty = dagora.score(table, dagora.DAG(table.names), score="bic")
        assert result.score == pytest.approx(empty + sum(gains[pair] for pair in best), rel=1e-9)


def test_the_method_works_as_it_stands(walk: Walk, capsys: pytest.CaptureFixture[str]) -> None:
    walk("chow_liu")
    assert capsys.readouterr().out == "finished (('hub', 'x'), ('hub', 'y'), ('hub', 'z'))\n"
    check_method()


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("tree[tree == tree[j]] = tree[i]", "gains[chosen] = 0.0"),
        (" and gains[k] > tie]", "]"),
        ("gains[useful].max()", "gains[useful].min()"),
        ("alone[[j for _, j in pairs]]", "alone[[i for i, _ in pairs]]"),
        ("total += float(gains[chosen])", "total += float(best) + 1"),
    ],
)
def test_a_mistake_in_the_method_is_seen(walk: Walk, right: str, wrong: str) -> None:
    walk("chow_liu", right, wrong)
    with pytest.raises(AssertionError):
        check_method()


# -------------------------------------------------------------------------------------------- the contracts


def cases(role: str, like: str) -> list[tuple[str, dict[str, object]]]:
    """The contract tests that an entry like a registered one must keep, with their other parameters."""
    found = []
    for name, function in vars(contracts).items():
        if not name.startswith("test_") or role not in inspect.signature(function).parameters:
            continue
        marks = [mark.args for mark in getattr(function, "pytestmark", ()) if mark.name == "parametrize"]
        for chosen in product(*(list(named_values(names, values)) for names, values in marks)):
            given = {key: value for part in chosen for key, value in part.items()}
            if given.pop(role).name == like:
                found.append((name, given))
    return found


def named_values(names: str | tuple[str, ...], values: list[object]) -> Iterator[dict[str, object]]:
    """What `parametrize` passes on, one case after the other."""
    for value in values:
        yield {names: value} if isinstance(names, str) else dict(zip(names, value, strict=True))


def label(value: object) -> str:
    if isinstance(value, dict):
        return "-".join(str(getattr(each, "name", each)) for each in value.values()) or "once"
    return str(value).removeprefix("test_")


# Every method that takes a score takes any: a greedy one, one on classes and one on candidates stand for them.
SOME = {"hill-climb", "ges", "dynamic"}
OF_METHODS = cases("method", "ges") + cases("entry", "ges")
OF_SCORES = [
    case
    for case in cases("score", "bic") + cases("entry", "bic")
    if "method" not in case[1] or case[1]["method"].name in SOME
]


def test_there_are_contracts() -> None:
    assert len({name for name, _ in OF_METHODS}) > 15
    assert len({name for name, _ in OF_SCORES}) > 3


def keep(contract: str, role: str, entry: object, others: dict[str, object]) -> None:
    function = getattr(contracts, contract)
    function(**{role if role in inspect.signature(function).parameters else "entry": entry}, **others)


@pytest.mark.parametrize(("contract", "others"), OF_METHODS, ids=label)
def test_the_method_keeps_the_contract(walk: Walk, contract: str, others: dict[str, object]) -> None:
    walk("chow_liu")
    keep(contract, "method", method_registry.METHODS[-1], others)


@pytest.mark.parametrize(("contract", "others"), OF_SCORES, ids=label)
def test_the_score_keeps_the_contract(walk: Walk, contract: str, others: dict[str, object]) -> None:
    walk("qnml")
    keep(contract, "score", registry.SCORES[-1], others)


@pytest.mark.parametrize(
    ("contract", "others", "right", "wrong"),
    [
        ("test_obeys_knowledge_or_says_what_it_cannot", {"kind": "discrete", "part": "forbidden pairs"}, "if not forbidden[i, j]", "if i != j"),
        ("test_a_tiny_time_limit_still_gives_a_graph", {"kind": "discrete"}, "if run.budget.exhausted:", "if not pairs:"),
        ("test_the_score_is_the_graphs_score", {"kind": "discrete"}, "status, message, total,", "status, message, 0.0,"),
    ],
)  # fmt: skip
def test_a_broken_promise_is_seen(
    walk: Walk, contract: str, others: dict[str, str], right: str, wrong: str
) -> None:
    walk("chow_liu", right, wrong)
    # An entry of its own: the contract tests keep results by entry.
    method_registry.METHODS = (
        *method_registry.METHODS[:-1],
        replace(method_registry.METHODS[-1], summary=f"broken: {right}"),
    )
    kind = next(kind for kind in contracts.KINDS if str(kind) == others["kind"])
    with pytest.raises((AssertionError, pytest.fail.Exception)):
        keep(contract, "method", method_registry.METHODS[-1], {**others, "kind": kind})


@pytest.mark.parametrize("part", ["required", "max_parents"])
def test_an_entry_that_claims_to_obey_more_is_seen(walk: Walk, part: KnowledgePart) -> None:
    walk("chow_liu")
    entry = method_registry.METHODS[-1]
    method_registry.METHODS = (*method_registry.METHODS[:-1], replace(entry, obeys=(*entry.obeys, part)))
    with pytest.raises((AssertionError, pytest.fail.Exception)):
        contracts.test_obeys_knowledge_or_says_what_it_cannot(
            method_registry.METHODS[-1], contracts.Kind.DISCRETE, part
        )


# ---------------------------------------------------------------------------------------------- the page


def test_what_the_page_names_is_there() -> None:
    prose = re.sub(r"^```.*?^```", "", PAGE, flags=re.DOTALL | re.MULTILINE)
    linked = re.findall(r"\]\(([^)]+)\)", prose)
    named = re.findall(r"`((?:src|tests|docs|benchmarks|examples)/[\w/.]*)`", prose)
    assert len(linked) > 3
    assert len(named) > 5
    assert [path for path in linked + named if not (ROOT / path).exists()] == []
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert set(re.findall(r"`make\s+([a-z-]+)`", PAGE)) <= targets
