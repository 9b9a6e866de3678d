"""Roots and leaves, causes and priors of knowledge: what they forbid, and contradictions named."""

from __future__ import annotations

from pathlib import Path

import pytest

import dagora
from dagora import DAG, Knowledge, KnowledgeError


def test_roots_have_no_parents_and_leaves_no_children() -> None:
    known = Knowledge(roots=["a"], leaves=["c"])
    assert known.forbidden_matrix("abc").astype(int).tolist() == [[1, 0, 0], [1, 1, 0], [1, 1, 1]]
    assert known.directs
    assert not known.allows("b", "a")
    assert not known.allows("c", "b")
    assert known.violations(DAG("abc", ["ba", "cb"])) == ["b → a is forbidden", "c → b is forbidden"]


def test_causes_forbid_the_way_back() -> None:
    known = Knowledge(causes=[("a", "b"), ("b", "c")], not_causes=[("d", "a")])
    matrix = known.forbidden_matrix("abcd")
    assert [(i, j) for i in range(4) for j in range(4) if matrix[i, j] and i != j] == [
        (1, 0), (2, 0), (2, 1), (3, 0)
    ]  # fmt: skip
    assert known.violations(DAG("abcd", ["ab", "da"])) == [
        "d → a is forbidden", "b is no cause of c", "d is a cause of a"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ({"roots": ["b"], "required": [["a", "b"]]}, "the edge a → b is required, and 'b' is a root"),
        ({"leaves": ["a"], "required": [["a", "b"]]}, "the edge a → b is required, and 'a' is a leaf"),
        ({"roots": ["b"], "causes": [["a", "b"]]}, "'causes' says that a is a cause of b, and 'b' is a root"),
        ({"tiers": [["b"], ["a"]], "causes": [["a", "b"]]}, "a is a cause of b, which is in an earlier tier"),
        ({"causes": [["a", "b"], ["b", "c"], ["c", "a"]]}, "causes cannot all be there: .*→"),
        ({"causes": [["a", "b"]], "required": [["b", "a"]]}, "causes cannot all be there"),
        (
            {"causes": [["a", "b"], ["b", "c"]], "not_causes": [["a", "c"]]},
            "'not_causes' says that a is no cause of c, and required edges or causes lead there",
        ),
        ({"causes": [["a", "b"]], "max_parents": 0}, "max_parents is 0: no edge leads anywhere"),
        ({"prior": [["a", "b", 0.8]], "required": [["a", "b"]]}, "a → b is required and has a prior"),
        (
            {"prior": [["a", "b", 0.8]], "roots": ["b"]},
            "the knowledge forbids the edge a → b, which has a prior",
        ),
        ({"prior": [["a", "b", 0.8], ["a", "b", 0.7]]}, "'prior' has a → b twice"),
        (
            {"prior": [["a", "b", 0.9], ["b", "a", 0.7]]},
            r"a → b \(0.9\) and b → a \(0.7\) exclude each other, and their probabilities are more than 1",
        ),
        (
            {"prior": [["a", "b", 0.8]], "prior_adjacent": [["b", "a", 0.7]]},
            "in 'prior' and in 'prior_adjacent'",
        ),
        ({"prior_adjacent": [["a", "b", 0.8], ["b", "a", 0.7]]}, "'prior_adjacent' has b — a twice"),
        ({"prior": [["a", "b", 1.5]]}, "is between 0 and 1, not 1.5"),
        ({"prior": [["a", "b", 0]]}, "what is certain is written as required or forbidden"),
        ({"prior": [["a", "b"]]}, "'prior' is a list of two variable names and a probability"),
        ({"prior": [["a", "a", 0.3]]}, "from 'a' to itself"),
        ({"roots": "ab"}, "'roots' is a list of variable names"),
        ({"causes": [["a"]]}, "'causes' is a list of pairs"),
    ],
)
def test_contradictions_are_refused_by_name(content: dict, said: str) -> None:
    with pytest.raises(KnowledgeError, match=said):
        Knowledge.from_dict(content)


def test_goes_to_json_and_back() -> None:
    known = Knowledge(
        roots=["a"], leaves=["c"], causes=[("a", "c")], not_causes=[("b", "d")],
        prior=[("a", "b", 0.8)], prior_adjacent=[("c", "d", 0.3)],
    )  # fmt: skip
    assert Knowledge.from_dict(known.to_dict()) == known
    assert set(known.mentioned) == set("abcd")
    assert not known.is_empty
    assert Knowledge(prior=[("a", "b", 0.8)]).is_empty is False
    assert len(Knowledge(prior=[("a", "b", 0.7), ("b", "a", 0.3)]).prior) == 2
    assert Knowledge(prior=[("a", "b", 0.8)]).directs is False


def test_opinions_of_experts_come_from_a_csv_file(tmp_path: Path) -> None:
    file = tmp_path / "experts.csv"
    file.write_text(
        "expert,from,to,probability,kind\nanna,a,b,0.9,\nben,a,b,0.1,direction\nben,c,a,0.7,adjacency\n"
    )
    with pytest.raises(KnowledgeError, match="line 2: kind is direction or adjacency, not ''"):
        dagora.read_knowledge(file)
    file.write_text(
        "expert,from,to,probability,kind\nanna,a,b,0.9,direction\nben,a,b,0.1,direction\nben,c,a,0.7,adjacency\n"
    )
    known = dagora.read_knowledge(file)
    assert known.prior[0][:2] == ("a", "b")
    assert known.prior[0][2] == pytest.approx(0.5)
    assert known.prior_adjacent == (("a", "c", 0.7),)
    file.write_text("from,to\na,b\n")
    with pytest.raises(KnowledgeError, match="'probability' is missing"):
        dagora.read_knowledge(file)
    file.write_text("from,to,probability\na,b,1\n")
    with pytest.raises(KnowledgeError, match="line 2: the probability is a number between 0 and 1"):
        dagora.read_knowledge(file)


def test_a_method_that_learns_a_class_refuses_roots() -> None:
    with pytest.raises(KnowledgeError, match=r"the method ges cannot obey roots \('a'\)"):
        dagora.learn({"a": [0, 1] * 20, "b": [0, 1] * 20}, "ges", knowledge={"roots": ["a"]})
    found = dagora.learn({"a": [0, 1] * 20, "b": [0, 1] * 20}, knowledge={"roots": ["b"]})
    assert found.graph.edges == (("b", "a"),)
