"""`dagora score`: the file holds the scores that the library gives, and only sets worth keeping."""

from collections.abc import Callable
from pathlib import Path

import pytest

import dagora
from dagora.learners.candidates.jkl import read_jkl


@pytest.mark.parametrize("name", ["s.jkl", "s.jkl.gz"])
def test_the_file_is_what_the_library_finds(run: Callable, garden: Path, tmp_path: Path, name: str) -> None:
    line = ["--score", "bdeu", "--option", "ess=5", "--max-parents", "2"]
    ran = run("score", garden / "garden.csv", *line, "-o", tmp_path / name)
    assert (ran.code, ran.out) == (0, "")
    table = dagora.read_table(garden / "garden.csv")
    found, expected = read_jkl(tmp_path / name), dagora.candidates(table, score="bdeu", max_parents=2, ess=5)
    assert found.names == expected.names == table.names
    for ours, theirs in zip(found, expected, strict=True):
        assert ours.parents == theirs.parents
        assert ours.scores.tolist() == theirs.scores.tolist(), "no digit is lost in the file"
        assert sorted(ours.scores, reverse=True) == list(ours.scores)
    child = found.sets[3]
    family = [(table.names[i], table.names[3]) for i in child.parents[0]]
    with_parents = dagora.score(table, dagora.DAG(table.names, family), score="bdeu", ess=5)
    without = dagora.score(table, dagora.DAG(table.names), score="bdeu", ess=5)
    assert child.scores[0] - child.scores[child.parents.index(())] == pytest.approx(
        with_parents - without, rel=1e-9
    )
    assert f"{sum(map(len, found))} parent sets of 11 columns" in ran.err


def test_knowledge_leaves_sets_out(run: Callable, garden: Path, tmp_path: Path) -> None:
    (tmp_path / "k.json").write_text('{"required": [["season", "cloud"]], "forbidden": [["cloud", "light"]]}')
    line = ("--max-parents", 2, "--knowledge", tmp_path / "k.json", "-o", tmp_path / "s.jkl")
    assert run("score", garden / "garden.csv", *line).code == 0
    found = read_jkl(tmp_path / "s.jkl")
    season, cloud, light = (found.names.index(name) for name in ("season", "cloud", "light"))
    assert all(season in parents for parents in found.sets[cloud].parents)
    assert not any(cloud in parents for parents in found.sets[light].parents)
    assert any(season in parents for parents in found.sets[light].parents)


def test_no_file_that_is_read_is_overwritten(run: Callable, garden: Path, tmp_path: Path) -> None:
    knowledge = tmp_path / "k.jkl"
    knowledge.write_text('{"max_parents": 1}')
    ran = run("score", garden / "garden.csv", "--knowledge", knowledge, "-o", knowledge)
    assert ran.code == 2
    assert "k.jkl is read and would be overwritten" in ran.err
    assert knowledge.read_text() == '{"max_parents": 1}'
