"""The grammar that DOT and DAGitty share: what belongs to nodes, and how many arrows groups may stand for."""

import pytest

from dagora.base.errors import FormatError
from dagora.formats import arrows
from dagora.formats.arrows import parse_drawing


def test_attributes_of_nodes_are_none_of_edges() -> None:
    text = "digraph { node [dir=back]; graph [dir=none]; a -> b; edge [dir=both]; c -> d }"
    found = parse_drawing(text, ("digraph",), keywords=True).arrows
    assert [(one.tail, one.head, one.attributes) for one in found] == [
        ("a", "b", {}),
        ("c", "d", {"dir": "both"}),
    ]


def test_groups_stand_for_no_more_arrows_than_there_is_room_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrows, "UNWRITTEN_ARROWS", 0)
    group = "{" + " ".join(f"a{k}" for k in range(20)) + "}"
    assert len(parse_drawing(f"digraph {{ {group} -> b }}", ("digraph",), keywords=True).arrows) == 20
    with pytest.raises(FormatError, match="line 1: groups of nodes stand for far more arrows"):
        parse_drawing(f"digraph {{ {group} -> {group} }}", ("digraph",), keywords=True)
