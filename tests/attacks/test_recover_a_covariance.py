"""A lying coordinator of a run in which sites show what they learned alone wants the covariance of one site's rows.

One edge i → j alone has the weight S_ij / S_ii, and with a penalty λ (S_ij − λ) / S_ii. So d (d − 1) questions with
one edge each and one more with a penalty give S, and the level at which `pc` keeps an edge gives its p-value. A
plan says what is asked, word for word, and a policy how many plans of this kind there are for ever.
"""

from itertools import permutations

import numpy as np
import pytest

from dagora.base.errors import DataError, ProtocolError
from dagora.data.partition import split_rows
from dagora.data.table import Table
from dagora.parties.horizontal.learners.tasks import TASKS
from dagora.parties.horizontal.log import site_log
from dagora.parties.horizontal.log.log_events import History
from dagora.parties.horizontal.log.log_text import log_in_words
from dagora.parties.horizontal.log.site_log import MemoryLog, open_log, read_log
from dagora.parties.horizontal.secure_sum.identity import hand_out_keys
from dagora.parties.horizontal.session.questions import ANSWER, SHOWN, PlanQuestion
from tests.parties.horizontal.federations import simulated
from tests.parties.horizontal.meeting import Meeting

# A refusal of the first ends a run; the others may not have come to theirs.
NAMES = ("east", "north", "west")
TABLE = simulated(4, 300, 1)[1]
SITES = dict(zip(NAMES, split_rows(TABLE, 3), strict=True))
COLUMNS = TABLE.names
PENALTY = 1e-3
ALL = list(permutations(range(4), 2))


def weights_question(edge=None, penalty=0.0):
    """What a coordinator asks for a vote; with `edge`, only this one is allowed."""
    knowledge = {}
    if edge is not None:
        others = [pair for pair in ALL if pair != edge]
        knowledge = {"forbidden": [[COLUMNS[i], COLUMNS[j]] for i, j in others]}
    run = {"knowledge": knowledge, "seconds": -1.0, "seed": 0}
    return {"model": "linear", "lambda1": penalty, "threshold": 0.0, **run}


def graph_question(alpha):
    return {"model": "pc", "alpha": alpha, "knowledge": {}, "seconds": -1.0, "seed": 0}


def recover(ask):
    """S of a site from its answers to thirteen questions."""
    ratio = np.zeros((4, 4))
    for edge in ALL:
        ratio[edge] = ask(weights_question(edge))[edge]
    first = max(ALL, key=lambda edge: ratio[edge])
    # w(0) − w(λ) = λ / S_ii gives one variance, and ratios of weights the others.
    variance = PENALTY / (ratio[first] - ask(weights_question(first, PENALTY))[first])
    i = first[0]
    variances = np.array([variance if j == i else variance * ratio[i, j] / ratio[j, i] for j in range(4)])
    return np.where(np.eye(4, dtype=bool), np.diag(variances), variances[:, None] * ratio)


def bisect_level(ask, pair, rounds=30):
    """The level at which a pair is joined, to `rounds` bits."""
    low, high = -80.0, 0.0
    for _ in range(rounds):
        middle = (low + high) / 2
        joined = ask(graph_question(10.0**middle))[pair]
        low, high = (low, middle) if joined else (middle, high)
    return 10.0**high


def covariance(site):
    columns = np.stack(SITES[site].columns)
    return np.cov(columns, bias=True)


def test_the_questions_would_do_where_nothing_holds_them_back():
    """The attack itself, on sites that answer whatever they are asked."""
    federation = Meeting(SITES, method="vote").open

    def ask(question):
        return federation.gather("local-weights", question)["east"]["weights"]

    np.testing.assert_allclose(recover(ask), covariance("east"), rtol=1e-9)


class Liar:
    """A coordinator that keeps its logs and keys over many runs; its policies are those of owners who allow votes."""

    def __init__(self, shown_for_ever=1):
        self.logs = {name: MemoryLog() for name in NAMES}
        self.policies = {name: {"shows": ("vote",), "shown_for_ever": shown_for_ever} for name in NAMES}
        self.keys = None

    def meet(self, task, question, sites=SITES, tasks=TASKS, **plan):
        plan = {"shows": (task,), "shown_questions": {task: question}, **plan}
        meeting = Meeting(
            sites,
            method="vote",
            keys=self.keys,
            logs=self.logs,
            policies=self.policies,
            plan=plan,
            tasks=tasks,
        )
        self.keys = meeting.keys
        return meeting

    def answer(self, task, question, field, **more):
        """The answer of one site in a run whose plan has the question."""
        meeting = self.meet(task, question, **more)
        try:
            with meeting.session as session:
                return ask(session, task)["east"][field]
        finally:
            meeting.lines()

    def shown(self, site="east"):
        return [event for event in self.logs[site].events if event["event"] == "shown"]


def ask(session, task, content=None):
    """Send a question whatever the plan says."""
    session.agree()
    session._ask(PlanQuestion(SHOWN, task=task, content=content or {}))
    return {site: reply["answer"] for site, reply in session._collect(ANSWER, {"answer": dict}).items()}


def test_questions_beside_the_plan_are_refused():
    """One run, whose plan asks an honest question, and thirteen others."""
    liar = Liar()
    meeting = liar.meet("local-weights", weights_question(penalty=0.01))
    with (
        pytest.raises(ProtocolError, match="the plan says already what is asked"),
        meeting.session as session,
    ):
        recover(lambda question: ask(session, "local-weights", question)["east"]["weights"])
    meeting.lines()
    assert liar.shown() == []


def test_levels_beside_the_plan_are_refused():
    liar = Liar()
    meeting = liar.meet("local-graph", graph_question(0.01))
    with (
        pytest.raises(ProtocolError, match="the plan says already what is asked"),
        meeting.session as session,
    ):
        bisect_level(lambda question: ask(session, "local-graph", question)["east"]["graph"], (0, 1))
    meeting.lines()
    assert liar.shown() == []


def test_a_question_is_asked_once_in_a_run():
    liar = Liar()
    meeting = liar.meet("local-weights", weights_question())
    with pytest.raises(ProtocolError, match="a second time"), meeting.session as session:
        assert [ask(session, "local-weights") for _ in range(2)]
    meeting.lines()
    assert len(liar.shown()) == 1


@pytest.mark.parametrize("allowed", [1, 3])
def test_a_plan_for_each_question_meets_the_limit_for_ever(allowed):
    liar = Liar(allowed)
    with pytest.raises(ProtocolError, match="refused the plan"):
        recover(lambda question: liar.answer("local-weights", question, "weights"))
    assert len(liar.shown()) == allowed
    refused = [event for event in liar.logs["east"].events if event["event"] == "refused"]
    assert f"(shown_for_ever): {allowed} different answer" in refused[-1]["reason"]


def test_a_plan_for_each_level_meets_the_limit_for_ever():
    liar = Liar()
    with pytest.raises(ProtocolError, match="refused the plan"):
        bisect_level(lambda question: liar.answer("local-graph", question, "graph"), (0, 1))
    assert len(liar.shown()) == 1


def test_the_same_question_gets_the_same_answer_whatever_the_rows_and_the_plan():
    """Otherwise a coordinator that asks again would learn which rows have changed, and nobody would count it."""
    liar = Liar()
    question = weights_question(penalty=0.01)
    first = liar.answer("local-weights", question, "weights")
    fewer = {**SITES, "east": SITES["east"].take(range(50))}
    for plan in ({}, {"settings": {"seed": 2}}):
        codebook = Meeting(SITES, method="vote").codebook
        again = liar.answer("local-weights", question, "weights", sites=fewer, codebook=codebook, **plan)
        np.testing.assert_array_equal(again, first)
    assert [("again" in event, "answer" in event) for event in liar.shown()] == [
        (False, True),
        (True, False),
        (True, False),
    ]


def test_a_plan_that_does_not_say_what_is_asked_is_refused():
    liar = Liar()
    meeting = liar.meet("local-weights", {}, shown_questions={})
    with pytest.raises(ProtocolError, match="refused the plan"), meeting.session as session:
        session.agree()
    assert "does not say what it asks" in meeting.lines()["east"]


def test_a_question_that_cannot_be_answered_counts():
    """Whether a site can answer tells something, too."""
    liar = Liar()
    constant = {**SITES, "east": Table(SITES["east"].schema, tuple(np.ones(9) * 1e300 for _ in COLUMNS))}
    question = weights_question()
    with pytest.raises(ProtocolError, match="cannot answer"):
        liar.answer("local-weights", {**question, "lambda1": -1.0}, "weights", sites=constant)
    with pytest.raises(ProtocolError, match="refused the plan"):
        liar.answer("local-weights", question, "weights")
    assert [event["bytes"] for event in liar.shown()] == [0]


def rows_or_none(least):
    """A task that can answer from so many rows; the answer is their number."""

    def answer(site, _question):
        if site.table.n_rows < least:
            raise DataError("too few rows")
        return {"weights": np.full((4, 4), float(site.table.n_rows))}

    return {"local-weights": answer}


@pytest.mark.parametrize("in_a_new_file", [False, True])
def test_a_question_without_an_answer_is_not_tried_on_other_rows(tmp_path, monkeypatch, in_a_new_file):
    """Before, each run with the same question told whether rows had come, and then what they tell, free of charge."""
    liar = Liar()
    few, question = {**SITES, "east": SITES["east"].take(range(50))}, weights_question()
    same = {
        "codebook": Meeting(SITES, method="vote").codebook,
        "largest_rows": 400,
        "tasks": rows_or_none(60),
    }
    with open_log(tmp_path / "log") as log:
        liar.logs["east"] = log
        with pytest.raises(ProtocolError, match=r"cannot answer \(DataError\)"):
            liar.answer("local-weights", question, "weights", sites=few, **same)
        if in_a_new_file:
            monkeypatch.setattr(site_log, "LONG_FILE", 0)
            log.hand_over(liar.keys["east"])
            assert len(log.events) == 1
        lines = []
        for sites in (few, SITES):
            with pytest.raises(ProtocolError, match="was asked before, and had no answer") as refused:
                liar.answer("local-weights", question, "weights", sites=sites, **same)
            lines.append(str(refused.value))
            assert (
                "had no answer"
                in [event for event in log.events if event["event"] == "refused"][-1]["reason"]
            )
        assert lines[0] == lines[1]
        assert len(History.of(log.events).shown) == 1


def test_the_log_has_the_whole_question(tmp_path, monkeypatch):
    liar = Liar()
    question = weights_question((0, 1), 0.5)
    with open_log(tmp_path / "log") as log:
        liar.logs["east"] = log
        weights = liar.answer("local-weights", question, "weights")
        said = [line for line in log_in_words(log.events) if "local-weights" in line]
    (event,) = [event for event in read_log(tmp_path / "log").events if event["event"] == "shown"]
    assert event["question"] == question
    assert all("lambda1 0.5" in line and "x1 → x0" in line for line in said), said
    assert len(said) == 2  # the plan and the answer
    # The count and the answer are there in a new file, too.
    monkeypatch.setattr(site_log, "LONG_FILE", 0)
    with open_log(tmp_path / "log") as log:
        liar.logs["east"] = log
        log.hand_over(liar.keys["east"])
        assert len(log.events) == 1
        np.testing.assert_array_equal(liar.answer("local-weights", question, "weights"), weights)
        with pytest.raises(ProtocolError, match="refused the plan"):
            liar.answer("local-weights", weights_question((0, 1), 0.4), "weights")
        assert "(shown_for_ever): 1 different answer of" in log.events[-1]["reason"]


def test_one_answer_and_the_moments_of_all_sites_tell_nearly_all():
    """It gets it, as docs/federated.md says. The weights leave d variances of each site open, and one sum tells most."""
    d, draw = 8, np.random.default_rng(3)
    names = [f"x{i}" for i in range(d)]
    tables = {}
    for name, rows in zip(NAMES, (60, 90, 120), strict=True):
        mixed = draw.normal(size=(rows, d)) @ np.linalg.inv(
            np.eye(d) - np.triu(draw.normal(size=(d, d)) / 2, 1)
        )
        tables[name] = Table.from_numpy(mixed - mixed.mean(axis=0), names=names)
    run = {"knowledge": {"tiers": [[name] for name in names]}, "seconds": -1.0, "seed": 0}
    question = {"model": "linear", "lambda1": 0.0, "threshold": 0.0, **run}
    plan = {
        "shows": ("local-weights",),
        "shown_questions": {"local-weights": question},
        "questions": ("moments",),
    }
    policies = {name: {"shows": ("vote",), "shown_for_ever": 1} for name in NAMES}
    meeting = Meeting(tables, method="vote", plan=plan, policies=policies)
    with meeting.session as session:
        shown = ask(session, "local-weights")
        scatter = session.moments().scatter
    meeting.lines()
    effects = {name: np.linalg.inv(np.eye(d) - shown[name]["weights"]) for name in NAMES}
    above = np.triu_indices(d)
    parts = np.array([np.outer(row, row)[above] for name in NAMES for row in effects[name]]).T
    found = np.linalg.lstsq(parts, scatter[above], rcond=None)[0].reshape(3, d)
    for name, own in zip(NAMES, found, strict=True):
        apart = np.linalg.inv(effects[name])
        true = (
            np.diag(apart.T @ np.cov(np.stack(tables[name].columns), bias=True) @ apart) * tables[name].n_rows
        )
        np.testing.assert_allclose(own[: d - 2], true[: d - 2], rtol=1e-2)


def first_round(centre):
    prepared = {"n": 400, "centre": centre, "mean": np.zeros(4), "unit": np.ones(4)}
    return {**prepared, "weights": np.zeros((4, 4)), "rho": 1.0}


def run_admm(east, logs, keys, allowed):
    """Two rounds of a run of admm; the sums of squares and products of one site, centred and not."""
    plan = {"codebook": Meeting(SITES).codebook, "largest_rows": 400, "shows": ("admm-step",)}
    policies = {name: {"shows": ("admm",), "shown_for_ever": allowed} for name in NAMES}
    meeting = Meeting(
        {**SITES, "east": east}, method="admm", plan=plan, policies=policies, logs=logs, keys=keys
    )
    sums = []
    try:
        with meeting.session as session:
            for centre in ("local", "none"):
                away = ask(session, "admm-step", first_round(centre))["east"]["away"]
                sums.append(400 * np.linalg.solve(np.eye(4) - away, away))
    finally:
        meeting.lines()
    return sums


def test_rounds_of_admm_tell_moments_and_a_row_that_was_added():
    """It gets them, as docs/federated.md says, where the owner allows a second run: each of them counts."""
    logs = {name: MemoryLog() for name in NAMES}
    keys = hand_out_keys(["coordinator", *NAMES])
    row = np.array([3.25, -1.5, 0.75, 2.125])
    longer = Table(
        TABLE.schema, tuple(np.append(*both) for both in zip(SITES["east"].columns, row, strict=True))
    )
    centred, plain = run_admm(SITES["east"], logs, keys, 1)
    means = np.stack(SITES["east"].columns).mean(axis=1)
    np.testing.assert_allclose(centred / 100, covariance("east"), rtol=1e-9)
    np.testing.assert_allclose(plain - centred, 100 * np.outer(means, means), rtol=1e-6, atol=1e-9)
    with pytest.raises(ProtocolError, match="refused the plan"):
        run_admm(longer, logs, keys, 1)
    assert (
        "(shown_for_ever): 1 different answer of this site alone left already; each run"
        in (logs["east"].events[-1]["reason"])
    )
    _, later = run_admm(longer, logs, keys, 2)
    np.testing.assert_allclose(later - plain, np.outer(row, row), rtol=1e-6)
    assert len(History.of(logs["east"].events).shown) == 2
    assert any("each run counts as one more answer" in line for line in log_in_words(logs["east"].events))


def test_runs_in_rounds_are_counted_in_a_new_file(tmp_path, monkeypatch):
    keys = hand_out_keys(["coordinator", *NAMES])
    monkeypatch.setattr(site_log, "LONG_FILE", 0)
    with open_log(tmp_path / "log") as log:
        run_admm(SITES["east"], {"east": log}, keys, 1)
        log.hand_over(keys["east"])
        assert len(log.events) == 1
        with pytest.raises(ProtocolError, match="refused the plan"):
            run_admm(SITES["east"], {"east": log}, keys, 1)


UNANSWERABLE = {
    "more rows than it says": {"n": 5},
    "units that are too small": {"unit": np.full(4, 1e-200)},
    "weights that are too large": {"weights": np.full((4, 4), 1e308)},
    "no number": {"rho": float("nan")},
    "fields of its own": {"more": [{"x": b"y"}, 10**400]},
}


@pytest.mark.parametrize("change", UNANSWERABLE)
def test_a_round_that_is_refused_counts_as_one_that_is_answered(tmp_path, change):
    """Whether a round is refused may depend on rows: before, a coordinator tried as often as it liked, and no line said so."""
    keys = hand_out_keys(["coordinator", *NAMES])
    question = {**first_round("local"), **UNANSWERABLE[change]}
    plan = {"codebook": Meeting(SITES).codebook, "largest_rows": 400, "shows": ("admm-step",)}
    policies = {name: {"shows": ("admm",), "shown_for_ever": 1} for name in NAMES}
    with open_log(tmp_path / "log") as log:
        for said in ("cannot answer", "refused the plan"):
            meeting = Meeting(
                SITES, method="admm", plan=plan, policies=policies, logs={"east": log}, keys=keys
            )
            with pytest.raises(ProtocolError, match=said), meeting.session as session:
                ask(session, "admm-step", question)
            meeting.lines()
    events = read_log(tmp_path / "log").events
    (shown,) = [event for event in events if event["event"] == "shown"]
    assert (shown["task"], shown["bytes"]) == ("admm-step", 0)
    assert len(History.of(events).shown) == 1
    assert any("admm-step" in line and "no answer" in line for line in log_in_words(events))
