"""CSV: matrices with and without row names, weights, lists of edges, and what must be refused."""

import csv
import io

import numpy as np
import pandas as pd
import pytest

from dagora.formats import adjacency_csv
from dagora.graph.cpdag import CPDAG
from dagora.graph.dag import DAG

GRAPH = DAG(["rain", "wet, grass", "sprinkler"], [("rain", "wet, grass"), ("sprinkler", "wet, grass")])


def test_pandas_reads_what_we_write_and_back():
    text = adjacency_csv.render_graph(GRAPH)
    frame = pd.read_csv(io.StringIO(text), index_col=0)
    np.testing.assert_array_equal(frame.to_numpy(), GRAPH.to_numpy())
    assert list(frame.columns) == list(frame.index) == list(GRAPH.nodes)
    assert adjacency_csv.parse_graph(frame.to_csv()) == GRAPH
    assert adjacency_csv.parse_graph(frame.to_csv(index=False)) == GRAPH
    assert next(csv.reader(io.StringIO(text))) == ["", *GRAPH.nodes]


def test_weights_blanks_and_line_ends():
    text = "x, a, b, c\r\n\r\na, 0, -0.5, 0\r\nb, 0, 0, 1e-9\r\nc, 0.0, 0, 0"
    assert adjacency_csv.parse_graph(text) == DAG("abc", [("a", "b"), ("b", "c")])


def test_both_directions_are_one_undirected_edge():
    assert adjacency_csv.parse_graph(",a,b,c\na,0,1,0\nb,1,0,1\nc,0,0,0\n") == CPDAG(
        "abc", [("b", "c")], [("a", "b")]
    )


@pytest.mark.parametrize("header", ["from,to", "From,To,weight", "source,target"])
def test_lists_of_edges(header):
    more = ",2" if "weight" in header else ""
    assert adjacency_csv.parse_graph(f"{header}\nb,a{more}\n\na,c{more}\n") == DAG(
        "bac", [("b", "a"), ("a", "c")]
    )


@pytest.mark.every_case
@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", "is empty; expected a matrix"),
        (",a,b\na,0,1\n", "has 1 rows below a header of 3 cells; an adjacency matrix has"),
        (",a,b\na,0,1\nb,0\n", "line 3: has 2 cells where the header has 3"),
        (",a,b\nb,0,1\na,0,0\n", "line 2: row 'b' stands where the header has 'a'"),
        (",a,b\na,0,yes\nb,0,0\n", "line 2: 'yes' is not a number; an entry is 0, 1 or a weight"),
        (",a,b\na,0,\nb,0,0\n", "line 2: '' is not a number"),
        (",a,b\na,0,nan\nb,0,0\n", "line 2: an entry is not a finite number"),
        (",a,a\na,0,1\na,0,0\n", "two nodes are named 'a'"),
        (",a,b\na,1,0\nb,0,0\n", "the graph has a cycle: a → a"),
        (",a,b,c\na,0,1,0\nb,0,0,1\nc,1,0,0\n", "the graph has a cycle: a → b → c → a"),
        (',a,"b\na,0,1\n', "line 2: is not CSV"),
        ("from,to\na\n", "line 2: has 1 cells where the header has 2"),
        ("from,to\na,\n", "line 2: an edge needs two names"),
        ("from,to\na,b\nb,a\n", "the graph has a cycle: a → b → a"),
    ],
)
def test_malformed(text, line, refused):
    assert refused("g.csv", text).startswith(line)
