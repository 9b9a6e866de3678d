"""The .jkl format: reference files with published scores, round trips, broken files."""

import csv
import gzip

import numpy as np
import pytest

from dagora.base.errors import FormatError
from dagora.graph.knowledge import Knowledge
from dagora.learners.candidates.candidates import Candidates
from dagora.learners.candidates.jkl import read_jkl, render_jkl
from dagora.learners.candidates.level_search import find_candidates
from dagora.learners.run import Run
from dagora.scores.registry import score_named
from dagora.stats.table import TableStatistics
from tests.random_tables import discrete_table, random_discrete


def reference_score(data_dir, name):
    """BIC of a sample; the reference counts the levels seen, so codes are made dense."""
    with gzip.open(data_dir / "scores" / f"{name}.csv.gz", "rt", encoding="utf-8") as handle:
        header, *lines = csv.reader(handle)
    codes = np.array(lines, dtype=np.int64)
    columns = [np.unique(column, return_inverse=True)[1] for column in codes.T]
    table = discrete_table(columns, [column.max() + 1 for column in columns], header)
    return score_named("bic").make(TableStatistics(table))


@pytest.mark.parametrize(
    ("name", "variables", "rows", "sets"), [("alarm_1000", 37, 1000, 951), ("water_500c", 26, 500, 128)]
)
def test_reference_scores_are_ours(data_dir, name, variables, rows, sets):
    score = reference_score(data_dir, name)
    assert (len(score.schema), score.n_rows) == (variables, rows)
    reference = read_jkl(data_dir / "scores" / f"{name}.jkl")
    assert reference.names == tuple(map(str, range(variables)))
    assert sum(map(len, reference)) == sets
    for entry in reference:
        ours = score.families([(entry.child, parents) for parents in entry.parents])
        np.testing.assert_allclose(ours, entry.scores, rtol=0, atol=1e-5)


def test_reference_sets_up_to_two_parents_are_found_again(data_dir):
    found = find_candidates(reference_score(data_dir, "water_500c"), Run(Knowledge(max_parents=2)))
    reference = read_jkl(data_dir / "scores" / "water_500c.jkl")
    for ours, theirs in zip(found, reference, strict=True):
        assert set(ours.parents) == {parents for parents in theirs.parents if len(parents) <= 2}


def write(tmp_path, text):
    path = tmp_path / "scores.jkl"
    path.write_text(text, encoding="utf-8")
    return path


def assert_same(one, other):
    assert one.names == other.names
    assert [(e.child, e.parents) for e in one] == [(e.child, e.parents) for e in other]
    for a, b in zip(one, other, strict=True):
        np.testing.assert_array_equal(a.scores, b.scores)


@pytest.mark.parametrize("name", ["bic", "bdeu", "k2"])
def test_round_trip_keeps_every_bit(tmp_path, name):
    table = random_discrete(np.random.default_rng(1), 200, [2, 3, 2, 4, 2])
    candidates = find_candidates(score_named(name).make(TableStatistics(table)), Run())
    text = render_jkl(candidates)
    again = read_jkl(write(tmp_path, text))
    assert_same(candidates, again)
    assert render_jkl(again) == text


def test_windows_line_ends_blank_lines_marks_and_order(tmp_path):
    text = "\ufeff2\r\n\r\nb 2\r\n-3.5 0 \r\n-1e0 1 a\r\na 1\r\n -2.25\t0\r\n\r\n"
    path = tmp_path / "scores.jkl"
    path.write_bytes(text.encode())
    found = read_jkl(path)
    assert found.names == ("b", "a")
    assert found.sets[0].parents == ((1,), ())
    assert found.sets[0].scores.tolist() == [-1.0, -3.5]
    assert found.sets[1].scores.tolist() == [-2.25]


def test_compressed_files(tmp_path):
    path = tmp_path / "scores.jkl.gz"
    path.write_bytes(gzip.compress(b"1\na 1\n-1 0\n"))
    assert read_jkl(path).names == ("a",)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "the file ends"),
        ("\n \n", "the file ends"),
        ("two\n", "line 1: 'two' is not a whole number"),
        ("-1\n", "line 1: '-1' is not a whole number"),
        ("1.0\n", "not a whole number"),
        ("²\n", "not a whole number"),
        ("9" * 5000, "not a whole number"),
        ("1 2\n", "line 1: expected one number"),
        ("1\n", "the file ends where a variable"),
        ("999999999\na 1\n-1 0\n", "the file ends where a variable"),
        ("1\na\n", "line 2: expected a variable"),
        ("1\na 1 1\n", "line 2: expected a variable"),
        ("1\na 0\n", "'a' has no parent set"),
        ("1\na 2\n-1 0\n", "the file ends where a parent set"),
        ("1\na x\n-1 0\n", "'x' is not a whole number"),
        ("1\na 1\n-1\n", "line 3: expected a score"),
        ("1\na 1\nminus 0\n", "'minus' is not a score"),
        ("1\na 1\nnan 0\n", "'nan' is not a score"),
        ("1\na 1\n-inf 0\n", "'-inf' is not a score"),
        ("1\na 1\n1e999 0\n", "'1e999' is not a score"),
        ("2\na 1\n-1 1 b c\nb 1\n-1 0\n", "line 3: expected a score"),
        ("2\na 1\n-1 2 b\nb 1\n-1 0\n", "line 3: expected a score"),
        ("2\na 1\n-1 -1\nb 1\n-1 0\n", "'-1' is not a whole number"),
        ("2\na 1\n-1 1 z\nb 1\n-1 0\n", "line 3: 'z' cannot be a parent of 'a'"),
        ("2\na 1\n-1 1 a\nb 1\n-1 0\n", "line 3: 'a' cannot be a parent of 'a'"),
        ("2\na 1\n-1 2 b b\nb 1\n-1 0\n", "listed twice"),
        ("2\na 2\n-1 1 b\n-2 1 b\nb 1\n-1 0\n", "line 4: .* listed twice"),
        ("2\na 1\n-1 0\na 1\n-1 0\n", "a variable is listed twice"),
        ("1\na 1\n-1 0\n-2 0\n", "line 4: more text after 1 variables"),
    ],
)
def test_broken_files_are_refused_in_one_line(tmp_path, text, problem):
    path = write(tmp_path, text)
    with pytest.raises(FormatError, match=problem) as caught:
        read_jkl(path)
    message = str(caught.value)
    assert message.startswith(str(path))
    assert "\n" not in message
    assert len(message) < len(str(path)) + 120


def test_files_that_are_no_text(tmp_path):
    path = tmp_path / "scores.jkl"
    path.write_bytes(b"\xff\xfe1\x00")
    with pytest.raises(FormatError, match="UTF-8"):
        read_jkl(path)
    with pytest.raises(FormatError, match="no such file"):
        read_jkl(tmp_path / "absent.jkl")


@pytest.mark.parametrize("name", ["", "two words", "a\tb", "line\u2028end"])
def test_names_that_the_format_cannot_hold(name):
    with pytest.raises(FormatError, match="cannot hold the name"):
        render_jkl(Candidates.of([name], [[((), -1.0)]]))
