"""Which directions are determined, against all DAGs of a class."""

import json
import time
from collections import defaultdict
from itertools import combinations

import numpy as np
import pytest

import dagora
from dagora.graph.cpdag import CPDAG
from dagora.graph.dag import DAG
from dagora.graph.directions import MOST_LISTED, WEAK, Directions, directions_of
from dagora.graph.enumerate import all_dags
from dagora.graph.knowledge import Knowledge
from dagora.learners.result import Result

DAGS = [DAG.from_numpy(dag.to_numpy(), "abcd") for dag in all_dags(4)]
CLASSES = defaultdict(list)
for one in DAGS:
    CLASSES[CPDAG.from_dag(one)].append(one)


def reversible(dag, knowledge):
    """Edges that some DAG of the class that obeys the knowledge has the other way."""
    members = [one for one in CLASSES[CPDAG.from_dag(dag)] if not knowledge.violations(one)]
    return {(tail, head) for tail, head in dag.edges if any(one.has_edge(head, tail) for one in members)}


def some_knowledge(rng):
    names = list(rng.permutation(list("abcd")))
    pairs = [(str(i), str(j)) for i in names for j in names if i != j]
    chosen = [pairs[k] for k in rng.choice(len(pairs), rng.integers(0, 3), replace=False)]
    tiers = [names[:2], names[2:]] if rng.random() < 0.3 else []
    return Knowledge(forbidden=chosen, tiers=[[str(name) for name in tier] for tier in tiers])


@pytest.mark.full
def test_open_edges_are_those_that_another_graph_of_the_class_has_the_other_way():
    rng = np.random.default_rng(0)
    seen = 0
    for dag in DAGS:
        for knowledge in (Knowledge(), some_knowledge(rng), some_knowledge(rng)):
            if knowledge.violations(dag):
                continue
            found = directions_of(dag, {}, (), knowledge)
            assert set(found.open) == reversible(dag, knowledge), (dag.edges, knowledge)
            assert found.unsure == {}
            seen += not knowledge.is_empty
    assert seen > 300


@pytest.mark.full
def test_a_direction_is_unsure_if_it_falls_with_the_weak_edges():
    rng = np.random.default_rng(1)
    for dag in DAGS:
        gains = {edge: WEAK + rng.choice([-1.0, 1.0]) for edge in dag.edges}
        weak = [edge for edge in dag.edges if gains[edge] < WEAK]
        found = directions_of(dag, gains, (), Knowledge())
        whole = set(dag.edges) - reversible(dag, Knowledge())
        falls = {}
        for left_out in [*([edge] for edge in weak), weak]:
            rest = DAG(dag.nodes, [edge for edge in dag.edges if edge not in left_out])
            firm = set(rest.edges) - reversible(rest, Knowledge())
            for edge in whole - firm:
                falls.setdefault(edge, []).append(tuple(left_out))
        assert set(found.unsure) == set(falls), (dag.edges, weak)
        for edge, rests_on in found.unsure.items():
            alone = [one for one in falls[edge] if len(one) == 1]
            assert rests_on == (tuple(dict.fromkeys(one for (one,) in alone)) or tuple(weak))
        assert set(found.open) == reversible(dag, Knowledge())


def test_required_edges_are_not_weak():
    collider = DAG("abc", [("a", "c"), ("b", "c")])
    gains = {("a", "c"): 50.0, ("b", "c"): 0.1}
    assert directions_of(collider, gains, (), Knowledge(required=[("b", "c")])).undetermined == ()


def test_a_direction_is_unsure_if_it_falls_with_an_absent_edge_that_costs_little():
    """Against all DAGs of the class with that edge."""
    rng = np.random.default_rng(2)
    for dag in rng.permutation(np.array(DAGS, dtype=object))[:150]:
        pairs = combinations(dag.order, 2)
        absent = [pair for pair in pairs if not dag.has_edge(*pair) and rng.random() < 0.5]
        whole = set(dag.edges) - reversible(dag, Knowledge())
        falls = defaultdict(list)
        for one in absent:
            for edge in whole & reversible(DAG(dag.nodes, [*dag.edges, one]), Knowledge()):
                falls[edge].append(one)
        found = directions_of(dag, {}, (), Knowledge(), absent)
        assert {edge: list(rests_on) for edge, rests_on in found.unsure.items()} == falls
        flipped = directions_of(dag, {}, (), Knowledge(), [one[::-1] for one in absent])
        assert list(flipped.unsure) == list(found.unsure)
        assert Directions.from_dict(found.to_dict(), dag) == found


@pytest.mark.parametrize(("seed", "rests"), [(3, True), (4, True), (None, False)])
def test_a_confounded_drug_does_not_look_like_an_effect(seed, rests):
    rng = np.random.default_rng(seed)
    severe = rng.random(2000) < 0.5
    drug = rng.random(2000) < (np.where(severe, 0.8, 0.3) if rests else 0.5)
    death = rng.random(2000) < 0.1 + 0.5 * severe + 0.2 * ~drug
    if not rests:  # plainly independent causes of a common effect
        cells = np.repeat(
            [(0, 0, 0), (0, 1, 1), (1, 0, 1), (1, 1, 0), (1, 1, 1)], [800, 800, 800, 400, 400], axis=0
        )
        severe, death, drug = cells.T
    rows = {"severe": severe, "drug": drug, "death": death}
    result = dagora.learn({name: np.where(values, "yes", "no") for name, values in rows.items()})
    if not rests:
        assert result.describe_directions() == "the data determine 2 of 2 directions"
        return
    assert result.describe_directions() == "the data determine 0 of 2 directions"
    assert result.unsure_directions()[0].startswith(
        "drug → severe rests on the absence of drug — death (which would cost "
    )
    again = Result.from_json(result.to_json())
    assert again.unsure_directions() == result.unsure_directions()


def test_the_shown_graph_has_arrows_where_the_direction_is_determined():
    collider = DAG("abcd", [("a", "c"), ("b", "c"), ("c", "d")])
    gains = {("a", "c"): 50.0, ("b", "c"): 50.0, ("c", "d"): 0.5}
    result = Result(collider, "tabu", "finished", "", 0.0, "bic", edge_gains=gains)
    assert result.shown_graph.edges == (("a", "c"), ("b", "c"))
    assert result.shown_graph.undirected == (("c", "d"),)
    assert result.describe_directions() == "the data determine 2 of 3 directions"
    assert result.unsure_directions() == []  # it rests on itself alone
    weak = {("a", "c"): 50.0, ("b", "c"): 0.08, ("c", "d"): 50.0}
    result = Result(collider, "tabu", "finished", "", 0.0, "bic", edge_gains=weak)
    assert result.shown_graph.edges == ()
    assert result.unsure_directions() == [
        "a → c rests on b — c (0.1 nats)",
        "c → d rests on b — c (0.1 nats)",
    ]
    again = Result.from_json(result.to_json())
    assert again.directions == result.directions
    assert Directions.from_dict(result.to_dict()["directions"], collider) == result.directions


def test_a_direction_that_rests_on_a_pair_that_no_data_show_is_not_determined():
    """`b` is seen at one value of `a`: an edge between them would undo a → c ← b, but not f → e ← d."""
    dag = DAG("abcdef", [("a", "c"), ("b", "c"), ("d", "e"), ("f", "e")])
    result = Result(dag, "tabu", "finished", "", unseen_pairs=(("b", "a"),))
    assert result.shown_graph.edges == (("d", "e"), ("f", "e"))
    assert result.unsure_directions() == [
        "a → c rests on whether b — a exists (no data show it)",
        "b → c rests on whether b — a exists (no data show it)",
    ]
    again = Result.from_json(result.to_json())
    assert again.directions == result.directions
    assert Directions.from_dict(result.to_dict()["directions"], dag) == result.directions
    tiers = {"knowledge": {"tiers": [["a", "b"], ["c", "d", "e", "f"]]}}
    told = Result(dag, "tabu", "finished", "", settings=tiers, unseen_pairs=(("b", "a"),))
    assert told.open_edges == ()


@pytest.mark.parametrize("unseen", [5, [["a"]], [["a", "nobody"]]])
def test_damaged_pairs_are_refused(unseen):
    with pytest.raises(dagora.FormatError, match="directions"):
        Directions.from_dict({"open": [], "unseen": unseen}, DAG("ab", [("a", "b")]))
    content = Result(DAG("ab", [("a", "b")]), "tabu", "finished", "").to_dict() | {"unseen_pairs": unseen}
    with pytest.raises(dagora.FormatError, match="unseen_pairs"):
        Result.from_json(json.dumps(content))


def test_nothing_is_said_to_be_checked_where_no_strength_is_known():
    result = Result(DAG("ab", [("a", "b")]), "tabu", "finished", "", 0.0, "bic")
    assert result.describe_directions().endswith("of 1 direction")
    assert Result(CPDAG("ab", [], [("a", "b")]), "pc", "finished", "").describe_directions() == (
        "the data determine 0 of 1 direction"
    )


@pytest.mark.parametrize("knowledge", [None, {"tiers": [["smoker"], ["cough", "tar"]]}])
def test_knowledge_directs(knowledge):
    rng = np.random.default_rng(0)
    smoker = rng.integers(0, 2, 2000)
    flip = [rng.random(2000) < 0.2 for _ in range(2)]
    rows = {"smoker": smoker, "tar": smoker ^ flip[0], "cough": smoker ^ flip[1]}
    result = dagora.learn(rows, "tabu", knowledge=knowledge)
    expected = 0 if knowledge is None else 2
    assert result.describe_directions().endswith(f"determine {expected} of 2 directions")
    assert len(result.shown_graph.edges) == expected
    assert result.cpdag.edges == result.shown_graph.edges


def test_hostile_directions_are_refused():
    graph = DAG("ab", [("a", "b")])
    for content in (
        [],
        {"open": 3},
        {"open": [["a"]]},
        {"unsure": [["a", "b"]]},
        {"unsure": [["a", "b", 3]]},
    ):
        with pytest.raises(dagora.FormatError):
            Directions.from_dict(content, graph)


def test_every_pair_of_a_triangle_is_open():
    assert len(directions_of(DAG("abc", combinations("abc", 2)), {}, (), Knowledge()).open) == 3


def test_many_weak_edges_of_a_dense_graph_take_no_longer_than_a_second():
    names = [f"v{k}" for k in range(120)]
    rng = np.random.default_rng(0)
    edges = [(a, b) for i, a in enumerate(names) for b in names[i + 1 :] if rng.random() < 0.4]
    dense = DAG(names, edges)
    gains = {edge: 0.5 if k % 15 == 0 else 50.0 for k, edge in enumerate(edges)}
    began = time.process_time()
    found = directions_of(dense, gains, (), Knowledge())
    assert len(edges) > 2500
    assert time.process_time() - began < 1
    strong = DAG(names, [edge for edge in edges if gains[edge] > WEAK])
    assert set(found.unsure) == set(CPDAG.from_dag(dense).edges) - set(CPDAG.from_dag(strong).edges)


class CountedName(str):
    """A name of a node that counts how often it is compared with a different object."""

    __slots__ = ()
    compared = 0

    def __eq__(self, other):
        CountedName.compared += 1
        return str.__eq__(self, other)

    __hash__ = str.__hash__


def dense_dag(nodes, edges):
    names = [CountedName(f"x{k}") for k in range(nodes)]
    pairs = list(combinations(names, 2))
    rng = np.random.default_rng(0)
    return DAG(names, [pairs[k] for k in sorted(rng.choice(len(pairs), edges, replace=False))])


def test_showing_thousands_of_edges_takes_work_in_proportion_to_their_number():
    """A scan of all open edges for each edge took seconds of 7,000 edges after Ctrl-C."""
    dag = dense_dag(120, 4000)
    result = Result(dag, "hill-climb", "time-limit", "", score=1.0, score_name="bic-gaussian")
    CountedName.compared = 0
    assert len(result.open_edges) == 4000
    assert len(result.shown_graph.undirected) == 4000
    assert "0 of 4000 directions" in result.describe_directions()
    result.to_json()
    assert CountedName.compared < 20 * 4000


def test_of_many_weak_edges_only_some_are_listed_at_each_direction():
    """4,900 edges of which 2,000 are weak were a file of 70 MB."""
    dag = dense_dag(120, 4000)
    gains = {edge: 0.5 if k % 2 else 50.0 for k, edge in enumerate(dag.edges)}
    found = directions_of(dag, gains, (), Knowledge())
    weak = {edge for edge, gain in gains.items() if gain < WEAK}
    assert found.together == 2000
    assert found.unsure
    assert max(map(len, found.unsure.values())) <= MOST_LISTED + 1
    assert all(edge in rests for edge, rests in found.unsure.items() if edge in weak)
    assert all(weak.issuperset(rests) for rests in found.unsure.values())
    again = Directions.from_dict(json.loads(json.dumps(found.to_dict())), dag)
    assert again == found
    result = Result(dag, "tabu", "finished", "", score=1.0, score_name="bic", edge_gains=gains)
    assert "2,000 weak edges are too many to be tried one by one" in result.describe_directions()
    assert len(result.to_json()) < 1_500_000
