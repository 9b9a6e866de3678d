"""Knowledge about windows: the past has no parents, plain names mean the present, patterns mean all earlier steps."""

import numpy as np
import pytest

from dagora.base.errors import KnowledgeError
from dagora.graph.dag import DAG
from dagora.graph.knowledge import Knowledge
from dagora.graph.knowledge_in_time import knowledge_in_time
from dagora.graph.lagged_graph import window_names

NAMES = window_names(("x", "y"), 2)


def test_nothing_leads_into_the_past_and_plain_names_mean_the_present() -> None:
    known = knowledge_in_time(Knowledge(forbidden=[("x", "y")], required=[("y[t-2]", "x")]), ("x", "y"), 2)
    forbidden = known.forbidden_matrix(NAMES)
    assert forbidden[:, 2:].all()
    allowed = {(NAMES[i], NAMES[j]) for i, j in np.argwhere(~forbidden)}
    lagged = {(f"{tail}[t-{lag}]", head) for tail in "xy" for head in "xy" for lag in (1, 2)}
    assert allowed == lagged | {("y", "x")}
    assert {(a, b) for a in NAMES for b in NAMES if a != b and known.allows(a, b)} == allowed
    assert known.required_matrix(NAMES).sum() == 1
    assert known.without_parents(NAMES).tolist() == [False, False, True, True, True, True]
    assert known.violations(DAG(NAMES, [("x", "y"), ("y[t-2]", "x")])) == ["x → y is forbidden"]


def test_a_pattern_means_every_earlier_step_and_only_those() -> None:
    known = knowledge_in_time(Knowledge(forbidden=[("x[t-*]", "y")]), ("x", "y"), 2)
    assert known.forbidden == (("x[t-1]", "y"), ("x[t-2]", "y"))
    assert known.allows("x", "y")
    assert Knowledge.from_dict(known.to_dict()).forbidden == known.forbidden


def test_tiers_and_the_parent_limit_are_about_the_present_step() -> None:
    known = knowledge_in_time(Knowledge(tiers=[["x"], ["y"]], max_parents=1), ("x", "y"), 2)
    assert not known.allows("y", "x")
    assert known.allows("y[t-1]", "x")
    assert known.max_parents == 1


@pytest.mark.parametrize(
    ("known", "said"),
    [
        ({"required": [("x", "y[t-1]")]}, "edges lead to the present step only"),
        ({"required": [("x", "y[t-*]")]}, "edges lead to the present step only"),
        ({"forbidden": [("x[t-3]", "y")]}, r"'x\[t-3\]', which is not a variable"),
        ({"forbidden": [("z[t-*]", "y")]}, r"'z\[t-1\]', which is not a variable"),
    ],
)
def test_what_lies_outside_the_window_is_refused(known: dict, said: str) -> None:
    with pytest.raises(KnowledgeError, match=said):
        knowledge_in_time(Knowledge(**known), ("x", "y"), 2)
