import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dagora.base.errors import GraphError, KnowledgeError, speaking
from dagora.base.wording import COMMAND
from dagora.graph.dag import DAG
from dagora.graph.knowledge import Knowledge
from dagora.graph.knowledge_files import as_knowledge, read_knowledge
from tests.graph.graph_strategies import dags


def test_matrices():
    known = Knowledge(required=[("a", "b")], forbidden=[("c", "a")], tiers=[["a"], ["b", "d"]])
    nodes = ("a", "b", "c", "d")
    assert np.argwhere(known.required_matrix(nodes)).tolist() == [[0, 1]]
    forbidden = {(nodes[i], nodes[j]) for i, j in np.argwhere(known.forbidden_matrix(nodes))}
    assert forbidden == {(n, n) for n in nodes} | {("c", "a"), ("b", "a"), ("d", "a")}


def test_the_reverse_of_a_required_edge_is_forbidden():
    assert Knowledge(required=[("a", "b")]).forbidden_matrix(["a", "b"]).tolist() == [
        [True, False],
        [True, True],
    ]


@pytest.mark.full
@given(st.data())
def test_what_closes_a_cycle_with_required_edges_is_forbidden(data):
    """Edge by edge: the constructor of a DAG says which ones cannot be there."""
    order = data.draw(st.permutations("abcdef"))
    pairs = [(a, b) for i, a in enumerate(order) for b in order[i + 1 :]]
    required = data.draw(st.lists(st.sampled_from(pairs), unique=True, max_size=6))
    matrix = Knowledge(required=required).forbidden_matrix("abcdef")
    for i, tail in enumerate("abcdef"):
        for j, head in enumerate("abcdef"):
            try:
                DAG("abcdef", {*required, (tail, head)})
            except GraphError:
                assert matrix[i, j], (tail, head)
            else:
                assert not matrix[i, j], (tail, head)


@pytest.mark.full
@given(st.data())
def test_forbidden_matrix_is_allows_pair_by_pair(data):
    names = "abcde"
    edge = st.tuples(st.sampled_from(names), st.sampled_from(names)).filter(lambda pair: pair[0] != pair[1])
    forbidden = data.draw(st.lists(edge, max_size=6))
    ranks = data.draw(st.lists(st.integers(0, 3), min_size=5, max_size=5))
    tiers = [
        [n for n, rank in zip(names, ranks, strict=True) if rank == k] for k in range(3)
    ]  # rank 3: in none
    known = Knowledge(forbidden=forbidden, tiers=tiers)
    matrix = known.forbidden_matrix(names)
    for i, tail in enumerate(names):
        for j, head in enumerate(names):
            backwards = ranks[i] < 3 and ranks[j] < 3 and ranks[i] > ranks[j]
            if i != j:
                assert (
                    matrix[i, j] == ((tail, head) in forbidden or backwards) == (not known.allows(tail, head))
                )


def test_violations_name_each_fault():
    known = Knowledge(required=[("a", "b")], forbidden=[("c", "d")], max_parents=1)
    graph = DAG("abcd", [("c", "d"), ("a", "d")])
    assert known.violations(graph) == ["c → d is forbidden", "a → b is required", "d has 2 parents"]
    assert known.violations(DAG("abcd", [("a", "b"), ("d", "c")])) == []


@pytest.mark.full
@given(dags(min_nodes=2))
def test_a_graph_obeys_itself(dag):
    absent = [(a, b) for a in dag for b in dag if a != b and not dag.has_edge(a, b)]
    known = Knowledge(required=dag.edges, forbidden=absent, max_parents=len(dag))
    assert known.violations(dag) == []
    if dag.edges:
        fewer = DAG(dag.nodes, dag.edges[1:])
        assert known.violations(fewer) == ["{} → {} is required".format(*dag.edges[0])]


@pytest.mark.parametrize(
    "known",
    [
        Knowledge(),
        Knowledge(required=[["a", "b"]]),
        Knowledge(forbidden=[("a", "b")], tiers=[["a", "b"], ["c"]], max_parents=0),
    ],
)
def test_json_round_trip(known, tmp_path):
    path = tmp_path / "knowledge.json"
    path.write_text(json.dumps(known.to_dict()))
    assert read_knowledge(path) == known
    assert known.is_empty == (known.to_dict() == {})


@pytest.mark.every_case
@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"require": []}, "unknown key 'require' in the knowledge: use causes, forbidden"),
        ({"tiers": [["a"], ["a"]]}, "'a' is in two tiers"),
        ({"tiers": ["ab"]}, "one list per tier"),
        ({"max_parents": -1}, "0 or more, not -1"),
        ({"max_parents": True}, "0 or more, not True"),
        ({"max_parents": 1.5}, "0 or more, not 1.5"),
        ({"required": ["ab"]}, "'required' is a list of pairs of variable names, not 'ab'"),
        ({"required": [["a", "b", "c"]]}, "pairs of variable names"),
        ({"forbidden": [[1, 2]]}, "'forbidden' is a list of pairs"),
        (
            {"required": [["a", "b"], ["b", "a"]]},
            "the required edges cannot all be there: .*cycle: a → b → a",
        ),
        ({"required": [["a", "b"]], "tiers": [["b"], ["a"]]}, "leads from a later tier to an earlier one"),
        (
            {"required": [["a", "c"], ["b", "c"]], "max_parents": 1},
            "'c' has 2 required parents, but max_parents",
        ),
        ([], "knowledge is a JSON object"),
        ({"required": 3}, "knowledge.json"),
    ],
)
def test_refuses_with_the_file_named(content, message, tmp_path):
    path = tmp_path / "knowledge.json"
    path.write_text(json.dumps(content))
    with pytest.raises(KnowledgeError, match=message) as error:
        read_knowledge(path)
    assert "knowledge.json" in str(error.value)
    assert "\n" not in str(error.value)


def test_keys_of_a_file_are_named_as_they_are_at_every_door(tmp_path):
    path = tmp_path / "knowledge.json"
    path.write_text('{"max_parents": -1}')
    with pytest.raises(KnowledgeError) as error, speaking(COMMAND):
        read_knowledge(path)
    assert str(error.value) == f"{path}: max_parents must be a whole number, 0 or more, not -1"
    assert (error.value.option, error.value.value) == ("max_parents", -1)


def test_unreadable_files(tmp_path):
    with pytest.raises(KnowledgeError, match="no such file"):
        read_knowledge(tmp_path / "absent.json")
    (tmp_path / "broken.json").write_text("{")
    with pytest.raises(KnowledgeError, match=r"broken.json: line 1: is not JSON"):
        read_knowledge(tmp_path / "broken.json")


def test_unknown_variables():
    with pytest.raises(KnowledgeError, match="names 'z', which is not a variable"):
        Knowledge(tiers=[["a"], ["z"]]).check_nodes(["a", "b"])


def test_an_edge_that_is_listed_twice_is_one_parent():
    assert Knowledge(required=[("a", "b"), ("a", "b")], max_parents=1).max_parents == 1


def test_no_parents_at_all_is_something_known():
    known = Knowledge(max_parents=0)
    assert known.to_dict() == {"max_parents": 0}
    assert Knowledge.from_dict(known.to_dict()) == known


def test_no_edge_leads_back_over_several_tiers():
    forbidden = Knowledge(tiers=[["a"], [], ["b"], ["c"]]).forbidden_matrix("abc")
    assert forbidden.astype(int).tolist() == [[1, 0, 0], [1, 1, 0], [1, 1, 1]]


def test_the_smaller_limit_holds():
    known = Knowledge(max_parents=2)
    assert [as_knowledge(known, limit).max_parents for limit in (None, 1, 5)] == [2, 1, 2]
    with pytest.raises(KnowledgeError, match="max_parents must be a whole number, 0 or more"):
        as_knowledge(known, True)
