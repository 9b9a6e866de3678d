"""What a notebook shows: HTML of every kind of object, well formed, without scripts, and nothing unescaped."""

import html.parser
import re

import numpy as np
import pytest

import dagora
from dagora.data.table import Table
from dagora.report.snippets import MOST_NODES, MOST_ROWS, edge_table

VOID = {"br", "img", "input", "meta"}
HOSTILE = "<script>alert(1)</script>"


class Strict(html.parser.HTMLParser):
    """Reads HTML and notes tags that are not closed as they were opened."""

    def __init__(self):
        super().__init__()
        self.open, self.tags, self.words = [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


def shown(thing):
    page = Strict()
    page.feed(thing._repr_html_())
    page.close()
    assert not page.open
    assert "script" not in page.tags
    return page


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    a = rng.integers(0, 2, 200)
    b = np.where(rng.random(200) < 0.9, a, 1 - a)
    return Table.from_numpy(
        np.column_stack([a, b, rng.integers(0, 3, 200)]),
        names=[HOSTILE, "b", "c"],
        discrete=[HOSTILE, "b", "c"],
    )


def test_a_result_shows_its_picture_and_says_what_is_open(table):
    result = dagora.learn(table)
    page = shown(result)
    words = " ".join(page.words)
    assert "svg" in page.tags
    assert "The data determine 0 of 1 direction." in words
    assert "--&gt;" not in result.plot().svg
    assert "nats" in result.plot().svg


@pytest.mark.parametrize(
    "what", ["table", "schema", "dag", "cpdag", "pag", "comparison", "strengths", "posterior", "lagged"]
)
def test_every_kind_of_object_shows_itself(table, what):
    dag = dagora.DAG([HOSTILE, "b", "c"], [(HOSTILE, "b")])
    things = {
        "table": lambda: table,
        "schema": lambda: table.schema,
        "dag": lambda: dag,
        "cpdag": lambda: dagora.CPDAG.from_dag(dag),
        "pag": lambda: dagora.PAG([HOSTILE, "b"], [(HOSTILE, "o->", "b")]),
        "comparison": lambda: dagora.compare(dag, dag),
        "strengths": lambda: dagora.bootstrap(table, "hill-climb", samples=5),
        "posterior": lambda: dagora.sample(table, "exact", draws=20),
        "lagged": lambda: dagora.LaggedGraph([HOSTILE, "b"], 1, [(HOSTILE, "b", 1)]),
    }
    page = shown(things[what]())
    assert any(HOSTILE in words for words in page.words)


def test_a_comparison_shows_both_graphs_and_colours_what_differs():
    one, other = (
        dagora.DAG("abc", [("a", "b"), ("b", "c")]),
        dagora.DAG("cab", [("b", "a"), ("a", "b")[::-1]]),
    )
    page = shown(dagora.compare(one, other))
    assert page.tags.count("svg") == 2
    words = " ".join(page.words)
    assert "a → b (other direction)" in words
    assert "b → c (only here)" in words
    marked = dagora.PAG("ab", [("a", "o->", "b")])
    assert shown(dagora.compare(marked, marked)).tags.count("svg") == 2
    many = dagora.DAG([f"v{i}" for i in range(MOST_NODES + 1)])
    assert "svg" not in shown(dagora.compare(many, many)).tags


CHAIN = np.random.default_rng(5).random((500, 3))


def chain():
    first = (CHAIN[:, 0] < 0.5).astype(int)
    second = first ^ (CHAIN[:, 1] < 0.1)
    return {"a": first, "b": second, "c": second ^ (CHAIN[:, 2] < 0.1)}


def test_the_words_do_not_say_more_than_is_known():
    """Without an edge because of a limit; directed by tests, by knowledge, or by what a method assumes."""
    discrete = {"discrete": ["a", "b", "c"]}

    def words(**options):
        return " ".join(shown(dagora.learn(chain(), **discrete, **options)).words)

    assert "was not looked at" in words(method="hill-climb", max_parents=0)
    assert "stopped early (time-limit)" in words(method="hill-climb", time_limit=1e-6)
    assert "The data determine 0 of 2 directions" in words(method="pc")
    known = {"required": [["a", "b"]]}
    assert "The data and the knowledge determine" in words(method="hill-climb", knowledge=known)
    numbers = {name: column + CHAIN[:, 0] for name, column in chain().items()}
    lasso = dagora.learn(numbers, method="hill-climb", score="lasso")
    assert lasso.edge_gains == {}
    assert not lasso.class_only
    assert dagora.learn(numbers, method="pc").class_only


def test_large_things_are_not_drawn():
    many = dagora.DAG([f"v{i}" for i in range(MOST_NODES + 1)])
    assert "svg" not in shown(many).tags
    wide = Table.from_numpy(np.random.default_rng(1).standard_normal((9, MOST_ROWS + 5)))
    assert "… and 5 columns more" in shown(wide).words


def test_a_picture_is_saved(table, tmp_path):
    picture = dagora.learn(table).plot()
    picture.save(tmp_path / "graph.svg")
    assert (tmp_path / "graph.svg").read_text() == picture.svg == picture._repr_svg_()
    with pytest.raises(dagora.DagoraError, match=r"saved as \.svg"):
        picture.save(tmp_path / "graph.png")
    assert not (tmp_path / "graph.png").exists()


def test_edges_are_listed_from_their_parents_the_most_probable_first():
    shown = edge_table(("a", "b", "c"), np.array([[0, 0.2, 0], [0, 0, 0.9], [0.01, 0, 0]]), "probability")
    assert " ".join(re.sub("<[^>]*>", " ", shown).split()) == "from to probability b c 0.9 a b 0.2"
