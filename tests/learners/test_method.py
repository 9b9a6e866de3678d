"""Knowledge that a method refuses by its entry, and knowledge that asks for nothing."""

import pytest

from dagora.base.errors import KnowledgeError
from dagora.graph.knowledge import Knowledge
from dagora.learners.registry import method_named

NAMES = ["x0", "x1", "x2", "x3"]


@pytest.mark.parametrize(
    ("method", "knowledge", "words"),
    [
        ("ges", Knowledge(required=[("x0", "x1")]), "required edges (x0 → x1): it learns a class of"),
        ("boss", Knowledge(tiers=[["x0"], ["x1"]]), "tiers: it learns a class of"),
        ("ges", Knowledge(forbidden=[("x2", "x1")]), "forbidden edges in one direction only (x2 → x1)"),
        ("pc", Knowledge(max_parents=2), "max_parents: it tests pairs and counts no parents; use ges"),
        ("notears", Knowledge(max_parents=0), "max_parents: raise lambda1 or the threshold"),
        ("lingam", Knowledge(max_parents=1), "max_parents: use ges or hill-climb"),
        ("vote", Knowledge(max_parents=1), "max_parents: use ges or hill-climb"),
        ("dynotears", Knowledge(max_parents=3), "max_parents: raise lambda1"),
    ],
)
def test_knowledge_that_a_method_cannot_obey_is_refused_by_name(method, knowledge, words):
    with pytest.raises(KnowledgeError) as refusal:
        method_named(method).check_knowledge(knowledge, NAMES)
    assert str(refusal.value).startswith(f"the method {method} cannot obey {words}")
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("method", ["ges", "pc", "notears", "dual-pc"])
def test_knowledge_that_asks_for_nothing_is_taken(method):
    both_ways = [("x2", "x1"), ("x1", "x2")]
    nothing = Knowledge(tiers=[NAMES, []], forbidden=both_ways, max_parents=len(NAMES) - 1)
    method_named(method).check_knowledge(nothing, NAMES)
