"""The table of strengths, by hand."""

import numpy as np

from dagora.graph.bits import pack
from dagora.graph.dag import DAG
from dagora.posterior.resample.strengths import Strengths
from dagora.report.strength_section import strength_sections
from tests.report.reading import read, table_under


def test_shares_stand_under_their_headings() -> None:
    """In 3 of 4 graphs a v-structure at c compels both edges; in the fourth, a line stays open."""
    graphs = [DAG("abc", [("a", "c"), ("b", "c")])] * 3 + [DAG("abc", [("c", "a")])]
    marks = np.stack([pack(graph.to_numpy().T) for graph in graphs])
    strengths = Strengths(("a", "b", "c"), marks, True, "hill-climb", "finished", "made by hand")
    page = read(strength_sections(strengths, None)[-1].body)
    assert table_under(page, "from", "to", "either way", "this way", "other way round", "compelled") == [
        ["a", "c", "1.000", "0.750", "0.250", "0.750", "yes"],
        ["b", "c", "0.750", "0.750", "0.000", "0.750", "yes"],
    ]
