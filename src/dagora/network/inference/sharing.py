"""Answer several questions at once: those with the same evidence share one junction tree.

A tree costs about two eliminations and answers for every variable, so it pays from three questions on.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dagora.base.errors import QueryError
from dagora.graph.dag import DAG
from dagora.network.inference.answer import Answer, Distribution
from dagora.network.inference.answer_notes import with_notes
from dagora.network.inference.asking import ask
from dagora.network.inference.exact import impossible_evidence
from dagora.network.inference.junction_tree import CalibratedTree, JunctionTree
from dagora.network.inference.problem import NodeEvidence, relevant_nodes
from dagora.network.inference.question import EVERYTHING, Question, check_known, check_targets, check_value
from dagora.network.inference.row_uncertainty import SECONDS
from dagora.network.inference.settings import QuerySettings
from dagora.network.model import NetworkModel

PAYING = 3
"""Questions from which on a tree pays."""


def ask_all(
    model: NetworkModel, questions: Sequence[Question], settings: QuerySettings, seconds: float = SECONDS
) -> list[Answer]:
    """Answer questions in their order, with notes about what the answers rest on.

    `seconds` is the time for the uncertainty that comes from the rows, of all answers together.
    """
    each = seconds / max(1, len(questions))
    return [with_notes(model, answer, settings, each) for answer in answer_all(model, questions, settings)]


def ask_each(
    model: NetworkModel, questions: Sequence[Question], settings: QuerySettings
) -> list[Answer | QueryError]:
    """Answer questions in their order; in the place of one that has no answer stands the reason."""
    try:
        return list(ask_all(model, questions, settings))
    except QueryError:
        pass  # one by one, so that the others keep their answers
    found: list[Answer | QueryError] = []
    for question in questions:
        try:
            found += ask_all(model, [question], settings)
        except QueryError as error:
            found.append(error)
    return found


def answer_all(model: NetworkModel, questions: Sequence[Question], settings: QuerySettings) -> list[Answer]:
    """Answer questions in their order, as `ask` answers each."""
    trees: dict[tuple[object, ...], CalibratedTree | None] = {}
    groups: dict[tuple[object, ...], list[Question]] = {}
    for question in questions:
        groups.setdefault(evidence_key(question), []).append(question)
    answers = []
    for question in questions:
        group = groups[evidence_key(question)]
        alone = [one for one in group if shares_a_tree(one)]
        if (
            question not in alone
            or len(alone) < PAYING
            or model.kind != "discrete"
            or settings.method == "sampling"
        ):
            answers.append(ask(model, question, settings))
            continue
        known = check_known(model, question.given, question.do)
        (target,) = check_targets(model, question, known)
        for name, value in question.event.items():
            check_value(model, name, value)
        key = evidence_key(question)
        if key not in trees:
            targets = [check_targets(model, one, known)[0] for one in alone]
            trees[key] = shared_tree(model, targets, known, settings)
        tree = trees[key]
        if tree is None:
            answers.append(ask(model, question, settings))
        elif tree.log_probability == -np.inf:
            raise impossible_evidence(model, known)
        else:
            levels = {target: model.levels[target]}
            answers.append(Distribution(question, (target,), None, levels, tree.marginal(target)))
    return answers


def shares_a_tree(question: Question) -> bool:
    """Return True for a question about one variable, given values alone."""
    simple = question.kind == "P" and len(question.of) == 1 and question.of != (EVERYTHING,)
    return simple and question.is_certain and not question.within and question.against is None


def evidence_key(question: Question) -> tuple[object, ...]:
    """A key that questions with the same evidence share."""
    return tuple(sorted((k, str(v)) for k, v in question.given.items())), tuple(
        sorted((k, str(v)) for k, v in question.do.items())
    )


def shared_tree(
    model: NetworkModel, targets: Sequence[str], known: NodeEvidence, settings: QuerySettings
) -> CalibratedTree | None:
    """The calibrated tree of all that is relevant to the targets; None if it would be too large."""
    nodes = relevant_nodes(model, targets, known)
    free = [node for node in nodes if node not in known.do]
    edges = [(parent, node) for node in free for parent in model.parents[node]]
    graph = DAG(nodes, edges)
    # The order of the parents is that of the nodes, which are now in a topological order.
    tables = {node: reorder_table(model, graph, node) for node in free}
    for node, code in known.do.items():
        if node in nodes:
            tables[node] = np.eye(len(model.levels[node]))[int(code)]
    try:
        # A tree holds its tables twice, and messages.
        tree = JunctionTree(
            NetworkModel(graph, model.levels, tables), most_cells=settings.limits.memory // 24
        )
    except QueryError:
        return None
    return tree.calibrate({node: int(code) for node, code in known.values.items() if node in nodes})


def reorder_table(
    model: NetworkModel, graph: DAG, node: str
) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """A table with its parents in the order of another graph."""
    before = model.parents[node]
    order = [before.index(parent) for parent in graph.parents(node)]
    return model.distributions[node].transpose([*order, len(before)])
