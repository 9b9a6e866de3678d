"""The process that learns: it is told by lines of JSON what to do, and answers by lines of JSON.

A process of its own can be ended whatever it does, and its kernels do not hold up the server. "Stop" is the
library's own: it exhausts the budget of the run, and the method returns the best graph so far. An estimate of
the time gives way to whatever is asked for after it. When the server ends, however it ends, the pipe closes:
then this process ends, too.
"""

from __future__ import annotations

import json
import os
import queue
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from dagora.base.budget import Budget
from dagora.base.errors import DagoraError, speaking
from dagora.base.events import Event
from dagora.base.phrases import printable
from dagora.base.wording import option, render
from dagora.explore.asking import ExploreRequest
from dagora.explore.best_so_far import GraphSender
from dagora.explore.effect_question import EffectQuestion
from dagora.explore.page_words import PAGE
from dagora.kernels.compilation import compilation

if TYPE_CHECKING:
    from dagora.learners.request import PreparedRequest
    from dagora.learners.result import Result
    from dagora.network.networks import Network
    from dagora.posterior.resample.strengths import Strengths
    from dagora.report.page import Section
    from dagora.stats.statistics import Statistics

EVERY = 0.1  # seconds between two reports
STOPPED = "it was stopped"
AVERAGING = 20.0  # seconds for graphs to average an effect over
PATIENCE = 8.0  # seconds for an estimate, reading the table included; kernels that are being compiled go on


class Voice:
    """Writes messages, from any thread."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._lock = threading.Lock()

    def say(self, kind: str, **content: Any) -> None:  # noqa: ANN401
        """Write one message."""
        with self._lock:
            self._stream.write(json.dumps({"kind": kind, **content}) + "\n")
            self._stream.flush()


class Ear(threading.Thread):
    """Reads messages: requests wait in a queue, "stop" is obeyed at once, also before its run has begun."""

    def __init__(self, stream: TextIO) -> None:
        super().__init__(name="ear", daemon=True)
        self._stream = stream
        self._lock = threading.Lock()
        self._budgets: dict[int, Budget] = {}  # of the runs that have begun
        self._stopped: set[int] = set()
        self._estimate = 0  # the one that is still wanted
        self._estimating = Budget()
        self.waiting: queue.Queue[dict[str, Any]] = queue.Queue()

    def run(self) -> None:
        """Read until the server is gone."""
        for line in self._stream:
            message = json.loads(line)
            if message["do"] == "stop":
                self._stop(message["run"])
            else:
                self._give_way(message.get("estimate", 0))
                self.waiting.put(message)
        os._exit(0)

    def _give_way(self, estimate: int) -> None:
        """End the estimate that is being made: a run, or another estimate, comes in its place."""
        with self._lock:
            self._estimate = estimate
            self._estimating.stop(STOPPED)

    def begin_estimate(self, number: int) -> Budget | None:
        """The budget of an estimate whose turn it is; None where something else was asked for since."""
        with self._lock:
            if number != self._estimate:
                return None
            self._estimating = Budget(PATIENCE)
            return self._estimating

    def _stop(self, run: int) -> None:
        with self._lock:
            self._stopped.add(run)
            if run in self._budgets:
                self._budgets[run].stop(STOPPED)

    def begin(self, run: int, seconds: float | None) -> Budget:
        """The budget of a run whose turn it is: the time that it waited for others does not count."""
        with self._lock:
            budget = Budget(seconds)
            self._budgets = {run: budget}
            if run in self._stopped:
                budget.stop(STOPPED)
            return budget


def work() -> None:
    """Answer requests, one after the other, until the server is gone."""
    voice = Voice(os.fdopen(os.dup(1), "w", encoding="utf-8"))
    os.dup2(2, 1)  # whatever is printed goes to the terminal, not into the messages
    warnings.simplefilter("ignore")
    import dagora.api.learn
    import dagora.learners.request  # noqa: F401 (imported while the user looks at the columns)

    ear = Ear(sys.stdin)
    ear.start()
    threading.Thread(target=tell_of_compiling, args=(voice,), daemon=True).start()
    with speaking(PAGE):
        while True:
            message = ear.waiting.get()
            asked = ExploreRequest.from_dict(message["asked"])
            if message["do"] == "estimate":
                estimate(voice, message["estimate"], Path(message["path"]), asked, ear)
                continue
            if message["do"] in TELLING:
                with failing(voice, "no-answer", message["number"]):
                    shown = TELLING[message["do"]](message, asked)
                    voice.say("answer", run=message["number"], shown=shown)
                continue
            task = Task(message["run"], Path(message["path"]), message["name"], Path(message["report"]))
            answer(voice, task, asked, ear.begin(task.run, asked.time_limit))


@dataclass(frozen=True)
class Task:
    """The number of a run, its file and the file's name, and the place of its report."""

    run: int
    path: Path
    name: str
    report: Path


def answer(voice: Voice, task: Task, asked: ExploreRequest, budget: Budget) -> None:
    """Learn, say what came of it, and write the report; whatever goes wrong with either is one line."""
    from dagora.formats.json_format import render_result

    with failing(voice, "error", task.run):
        found = learn_graph(task, asked, budget, Watcher(voice, task.run, budget))
        text = render_result(found.content, *found.parameters)
        voice.say(
            "result", run=task.run, text=text, strengths=found.strength_parts, effects=askable(found.rows)
        )
        with failing(voice, "report-failed", task.run):
            found.write_report(str(task.report), task.path.name)
            voice.say("report", run=task.run, path=str(task.report))


@contextmanager
def failing(voice: Voice, kind: str, run: int) -> Iterator[None]:
    """Say in one line, as a message of this kind, what goes wrong within."""
    try:
        yield
    except DagoraError as error:
        voice.say(kind, run=run, line=printable(" ".join(str(error).split())))
    except MemoryError:
        line = "out of memory: leave columns out, or choose a method that needs less"
        voice.say(kind, run=run, line=line)
    except Exception as error:  # the page must hear of it; the terminal has the rest
        traceback.print_exc()
        line = f"this is a fault of dagora ({type(error).__name__}): the terminal says more"
        voice.say(kind, run=run, line=line)


def estimate(voice: Voice, number: int, path: Path, asked: ExploreRequest, ear: Ear) -> None:
    """Say about how long a run would take, unless nobody wants to know any more."""
    from dagora.api.estimate_time import estimate_time

    budget = ear.begin_estimate(number)
    if budget is None:
        return
    with failing(voice, "no-estimate", number):
        try:
            found = estimate_time(
                path,
                asked.method,
                score=asked.score,
                knowledge=asked.knowledge,
                seed=asked.seed,
                jobs=asked.jobs,
                samples=asked.bootstrap,
                budget=budget,
                **asked.reading,
                **asked.options,
            )
        except DagoraError:
            if not budget.exhausted:
                raise
            found = None
        if found is None or (found.low is None and budget.exhausted):
            raise DagoraError(
                "kernels were compiled meanwhile, once per installation: the next estimate need not wait"
                if compilation.lately
                else "it takes too long to read this table and to try the method on parts of it"
            )
        said = "; ".join([str(found), *limit_in_words(found.high, asked.time_limit)])
        voice.say("estimate", run=number, line=said)


def askable(rows: Statistics) -> dict[str, Any]:
    """The variables that can be asked about effects, with their levels; or why none can."""
    from dagora.stats.designed import DesignStatistics
    from dagora.stats.table import TableStatistics

    if not isinstance(rows, TableStatistics | DesignStatistics):
        said = f"an effect needs rows without missing cells: {option('missing', 'drop')}, and learn again"
        return {"variables": [], "why_not": render(said)}
    return {"variables": [{"name": one.name, "levels": list(one.levels)} for one in rows.schema]}


def tell_effect(message: Mapping[str, Any], asked: ExploreRequest) -> dict[str, Any]:
    """The effect of setting a variable, as the report of `dagora effect` shows it."""
    from dagora.api.effect import effect
    from dagora.learners.result import Result
    from dagora.report.effect_sections import effect_lead, effect_sections

    question = EffectQuestion.from_dict(message["question"])
    by: dict[str, Any] = {"graph": Result.from_json(message["text"])}
    if question.averaged:
        by = {"knowledge": asked.knowledge, "time_limit": AVERAGING}
    found = effect(
        rows_of_run(message, asked),
        question.cause,
        question.outcome,
        levels=question.levels,
        event=question.event,
        seed=asked.seed,
        **by,
    )
    return shown_answer(effect_lead(found), effect_sections(found))


def tell_check(message: Mapping[str, Any], asked: ExploreRequest) -> dict[str, Any]:
    """The check of a graph against the rows, as the report of `dagora check` shows it."""
    from dagora.api.check import ALPHA, FOLDS, PERMUTATIONS
    from dagora.learners.result import Result
    from dagora.posterior.criticism.check import check_rows
    from dagora.report.checked import check_lead, check_sections

    graph = Result.from_json(message["text"]).graph
    rows = rows_of_run(message, asked)
    found = check_rows(graph, rows, permutations=PERMUTATIONS, alpha=ALPHA, folds=FOLDS, seed=asked.seed)
    return shown_answer(check_lead(found), check_sections(found))


TELLING = {"effect": tell_effect, "check": tell_check}


def shown_answer(lead: str, sections: Sequence[Section]) -> dict[str, Any]:
    """The parts of a report, for the page."""
    return {"lead": lead, "parts": [{"title": part.heading, "body": part.body} for part in sections]}


def rows_of_run(message: Mapping[str, Any], asked: ExploreRequest) -> Statistics:
    """The rows as the run had them: what takes numbers only reads codes as numbers."""
    return prepare_run(Path(message["path"]), asked, Budget()).source.statistics


def prepare_run(path: Path, asked: ExploreRequest, budget: Budget) -> PreparedRequest:
    """The request of a run, checked, with its rows."""
    from dagora.api.learn import EM_ROUNDS
    from dagora.learners.request import GivenData, prepare

    return prepare(
        GivenData(path, asked.jobs),
        asked.method,
        {**asked.reading, **asked.options},
        clock=budget,
        score=asked.score,
        knowledge=asked.knowledge,
        em_rounds=EM_ROUNDS,
    )


def limit_in_words(seconds: float | None, limit: float | None) -> list[str]:
    """Say that a run ends at the time limit, if it may take longer.

    >>> limit_in_words(20.0, 5), limit_in_words(2.0, 5), limit_in_words(None, None)
    (['it ends after 5 s at the latest'], [], [])
    """
    late = limit is not None and (seconds is None or seconds > limit)
    return [f"it ends after {limit:g} s at the latest"] if late else []


@dataclass(frozen=True)
class LearnedResult:
    """A result, the rows that it was learned from, and how often samples of them show each edge."""

    result: Result
    rows: Statistics
    strengths: Strengths | None = None

    @property
    def content(self) -> dict[str, Any]:
        """The content of the result's file, without parameters."""
        from dagora.posterior.resample.strengths import account_of

        more = {} if self.strengths is None else {"bootstrap": account_of(self.strengths)}
        return {**self.result.to_dict(), **more}

    @property
    def strength_parts(self) -> list[tuple[str, str]]:
        """Titles and contents of the parts of the report that are about samples."""
        from dagora.report.strength_section import strength_sections

        parts = [] if self.strengths is None else strength_sections(self.strengths, None)
        return [(part.heading, part.body) for part in parts]

    @cached_property
    def parameters(self) -> tuple[Network | None, str | None]:
        """The fitted network, or the reason why there is none."""
        from dagora.api.fitted_parameters import fit_parameters

        network, reason = fit_parameters(self.result, self.rows)
        return network, None if reason is None else render(reason)

    def write_report(self, file: str, source: str) -> None:
        """Write the page that `dagora learn --report` writes."""
        from dagora.api.fitted_parameters import fitted_processes, own_table
        from dagora.report import write_report

        network = fitted_processes(self.result, self.rows) or self.parameters[0]
        write_report(
            self.result,
            file,
            network=network,
            source=source,
            strengths=self.strengths,
            table=own_table(self.rows),
        )


def learn_graph(task: Task, asked: ExploreRequest, budget: Budget, observe: Watcher) -> LearnedResult:
    """Learn a graph, and from samples where they were asked for, as `dagora learn` does."""
    from dagora.api.bootstrap import bootstrap
    from dagora.api.learn import learn
    from dagora.posterior.resample.run_samples import before_samples

    same: dict[str, Any] = {"score": asked.score, "knowledge": asked.knowledge, "jobs": asked.jobs}
    prepared = prepare_run(task.path, asked, budget)
    rows = prepared.source.statistics
    score = prepared.searching.score
    class_only = score is not None and score.tells_class_only
    observe.begin(GraphSender(rows.schema.names, class_only=class_only))
    same |= {"seed": asked.seed, "time_limit": asked.time_limit, "on_event": observe, **asked.options}
    on_all = before_samples(budget) if asked.bootstrap else budget
    result = learn(rows, asked.method, budget=on_all, **same)
    if result.status == "failed":
        raise DagoraError(f"{result.method} failed: {result.message}")
    strengths = None
    if asked.bootstrap:
        observe.tell_of(result)
        strengths = bootstrap(rows, asked.method, samples=asked.bootstrap, budget=budget, **same)
    return LearnedResult(replace(result, command=asked.command(task.name)), rows, strengths)


TOLD = ("phase", "step", "score", "total", "bound", "message")
"""The fields that are passed on of every event."""


class Watcher:
    """An observer that passes events on, not too many of them; the result has the whole trace.

    As soon as the columns are known, it also passes on the best graphs so far, until the run is stopped.
    """

    def __init__(self, voice: Voice, run: int, budget: Budget) -> None:
        self._voice = voice
        self._run = run
        self._budget = budget
        self._last = -EVERY
        self.sender: GraphSender | None = None

    def __call__(self, event: Event) -> None:
        """Pass an event on, if it is time to."""
        now = self._budget.elapsed
        if now - self._last >= EVERY:
            self._last = now
            told = {name: getattr(event, name) for name in TOLD}
            self._voice.say("event", run=self._run, seconds=now, **told)
        if self.sender is not None and now >= self.sender.next and not self._budget.exhausted:
            self._tell(self.sender.news(event, now))

    def begin(self, sender: GraphSender) -> None:
        """From now on, pass graphs on; or say why there will be none."""
        self.sender = sender
        if sender.reason_not_drawn:
            self._voice.say("undrawn", run=self._run, words=sender.reason_not_drawn)

    def tell_of(self, result: Result) -> None:
        """Pass on the graph that was learned, where the run goes on after it."""
        if self.sender is not None:
            self._tell(self.sender.result_news(result))

    def _tell(self, graph: Mapping[str, Any] | None) -> None:
        if graph is not None:
            self._voice.say("graph", run=self._run, **graph)


def tell_of_compiling(voice: Voice) -> None:
    """Say when kernels are being compiled, which nothing else reports."""
    told = False
    while True:
        time.sleep(EVERY)
        if compilation.lately != told:
            told = not told
            voice.say("compiling", now=told, words=compilation.describe())
