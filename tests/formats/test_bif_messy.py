"""BIF of fifty messy tables: in words that the strictest reader takes, and the same network for ours."""

import re

import numpy as np
import pytest

from dagora.base.errors import GraphError
from dagora.formats import bif, read_network, write_network
from dagora.formats.bif_words import level_words, variable_words
from dagora.graph.dag import DAG
from dagora.network.networks import DiscreteNetwork
from tests.formats.format_oracles import assert_same_network
from tests.formats.messy_tables import MESSY, NAMES, messy_network
from tests.formats.strict_bif import assert_like, strict_reading


def test_there_are_fifty():
    assert len(MESSY) == 50


@pytest.mark.parametrize("key", MESSY)
def test_every_reader_could_read_it_and_ours_restores_the_names(key, tmp_path):
    network = messy_network(key)
    assert network.graph.edges, "a network without edges would test little"
    write_network(network, tmp_path / "n.bif")
    assert_like(network, *strict_reading((tmp_path / "n.bif").read_text(encoding="ascii")))
    assert_same_network(read_network(tmp_path / "n.bif"), network)


def test_without_originals_there_is_no_comment(tmp_path):
    network = messy_network(next(key for key in MESSY if "intervals" in key))
    write_network(network, tmp_path / "n.bif", originals=False)
    text = (tmp_path / "n.bif").read_text()
    assert "//" not in text
    assert_like(network, *strict_reading(text))
    assert "from_0.5_to_1e06" in text


def test_plain_names_are_left_alone():
    names = ["age", "_a", "3days", "Table", "BMI_2", "x" * 500]
    levels = ["no", "-1", "+1", "007", "Transp.", "a-b", "3days", "0_00_kg"]
    assert variable_words(names) == names
    assert level_words(levels) == levels
    levels, tables = dict.fromkeys("ab", ("n", "y")), dict.fromkeys("ab", np.ones(2) / 2)
    plain = DiscreteNetwork(DAG("ab"), levels, tables, "plain")
    assert "//" not in bif.render(plain)


def test_words_do_not_depend_on_the_order_where_plain_names_are_taken():
    # A plain name is never renamed because a messy one stands before it.
    assert variable_words(["a b", "a_b"]) == ["a_b_2", "a_b"]
    assert variable_words(NAMES["case only"]) == ["Age", "age_2", "AGE_3", "aGe_4"]


BLOCK = """network n {{
}}
variable a {{
  {comment}
  type discrete [ 2 ] {{ n, y }};
}}
probability ( a ) {{
  table 0.5, 0.5;
}}
"""


@pytest.mark.every_case
@pytest.mark.parametrize(
    ("comment", "line"),
    [
        ('// original name: "a b', "line 4: the comment with the original name is damaged"),
        ("// original name: 5", "line 4: the comment with the original name is damaged"),
        ('// original levels: ["a", 1]', "line 4: the comment with the original levels is damaged"),
        ('// original levels: ["a", "b", "c"]', "line 4: 'a' has 2 levels, but the comment"),
        ('// original levels: ["a", "a"]', "line 4: 'a' has 2 levels, but the comment"),
        ('// original levels: ["a"]', "the table of 'a' is not made of probabilities that sum to 1"),
    ],
)
def test_originals_that_do_not_fit_are_refused(comment, line, refused):
    assert refused("n.bif", BLOCK.format(comment=comment), read_network).startswith(line)


@pytest.mark.parametrize(
    "comment", ["// the original name: 5", "// original idea", '/* // original name: "b" */']
)
def test_other_comments_are_only_comments(comment):
    assert bif.parse(BLOCK.format(comment=comment)).graph.nodes == ("a",)


def test_a_name_restored_twice_is_refused():
    text = BLOCK.format(comment='// original name: "b"')
    more = re.sub("network n {\n}\n", "", text).replace("variable a", "variable c").replace("( a )", "( c )")
    with pytest.raises(GraphError, match="two nodes are named 'b'"):
        bif.parse(text + more)
