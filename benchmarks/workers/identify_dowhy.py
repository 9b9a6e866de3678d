"""DoWhy's back-door sets for the questions in a job file: [{"nodes", "edges", "pairs"}, …].

With the seconds of each question. `seen` are the nodes that may be adjusted for, by default all.
"""

import json
import sys
from pathlib import Path

import networkx as nx
from clock import hand_over, timed
from dowhy.causal_identifier.auto_identifier import BackdoorAdjustment, identify_backdoor


def main() -> None:
    sets, seconds = [], []
    for one in json.loads(Path(sys.argv[1]).read_text()):
        graph = nx.DiGraph()
        graph.add_nodes_from(one["nodes"])
        graph.add_edges_from(one["edges"])
        seen = one.get("seen", one["nodes"])
        answers = [timed(lambda x=x, y=y, g=graph, s=seen: ask(g, x, y, s)) for x, y in one["pairs"]]
        sets.append([answer for answer, _, _ in answers])
        seconds.append([cpu for _, _, cpu in answers])
    hand_over(sets=sets, seconds=seconds)


def ask(graph: nx.DiGraph, x: str, y: str, seen: list[str]) -> list[list[str]]:
    """The sets that it offers."""
    observed = [node for node in seen if node not in {x, y}]
    found = identify_backdoor(graph, [x], [y], observed, BackdoorAdjustment.BACKDOOR_DEFAULT)
    return [sorted(one.get_adjustment_variables()) for one in found]


main()
