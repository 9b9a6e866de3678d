"""The server's memory: the table, the run, the results; all of it ends with the server."""

from __future__ import annotations

import math
import shutil
import tempfile
import threading
import time
from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dagora.base.errors import DagoraError, DataError, OptionError
from dagora.data.columns.overview import Overview
from dagora.data.columns.reading_options import READING
from dagora.data.foreign_files import refuse_foreign_ending
from dagora.data.readers import column_names, file_format, look_at_file
from dagora.data.scan.sqlite import is_sqlite
from dagora.explore.asking import ExploreRequest, looking_at, reading_of
from dagora.explore.best_so_far import BestSoFar
from dagora.explore.choosing import Fit, first_discrete
from dagora.explore.effect_question import EffectQuestion
from dagora.explore.open_table import Data
from dagora.explore.results import KeptResult
from dagora.explore.worker_process import Cleaner, NewestAnswer, WorkerProcess

MOST_POINTS = 2000  # of the trace that is shown while a method runs
MOST_RESULTS = 100  # that a session keeps in memory
MOST_BYTES_OF_A_NAME = 200  # file systems take 255
COMPUTING = "another question is being computed: wait for it, a minute at most"
NUMBERS_FOR = "a method that takes numbers only"


class BusyError(DagoraError):
    """There is a run already."""


@dataclass
class LearningRun:
    """One run: what was asked for, how far it is, and how it ended."""

    number: int
    asked: ExploreRequest
    data: Data
    started: float = field(default_factory=time.monotonic)
    last: Mapping[str, Any] = field(default_factory=dict)
    trace: list[tuple[float, float]] = field(default_factory=list)
    best: BestSoFar | None = None
    undrawn: str = ""  # why no graph is drawn on the way
    compiling: str = ""
    stopping: bool = False
    over: bool = False
    error: str = ""
    result: int | None = None

    def take(self, event: Mapping[str, Any]) -> None:
        """Remember an event; a score or bound that is no number yet, such as an infinite one, is none."""
        self.last = finite(event)
        score = self.last["score"]
        better = score is not None and (not self.trace or score > self.trace[-1][1])
        if better and len(self.trace) < MOST_POINTS:
            self.trace.append((event["seconds"], score))

    def take_graph(self, message: Mapping[str, Any]) -> None:
        """Remember the best graph so far."""
        self.best = BestSoFar(1 if self.best is None else self.best.number + 1, finite(message))

    def to_dict(self, seen: int = 0) -> dict[str, Any]:
        """The run's progress; of the trace, the points after those that were `seen`."""
        wanted = ("phase", "step", "total", "score", "bound", "message")
        return {
            "run": self.number,
            "method": self.asked.method,
            "seconds": time.monotonic() - self.started,
            "compiling": self.compiling,
            "stopping": self.stopping,
            "over": self.over,
            "error": self.error,
            "result": self.result,
            "trace": self.trace[seen:],
            "undrawn": self.undrawn,
            **{key: self.last.get(key) for key in wanted},
        }


def finite(message: Mapping[str, Any]) -> dict[str, Any]:
    """A message in which floats that JSON does not have are None."""

    def finite_value(value: object) -> object:
        return None if isinstance(value, float) and not math.isfinite(value) else value

    return {key: finite_value(value) for key, value in message.items()}


def estimate_in_words(message: Mapping[str, Any], data: Data | None) -> str:
    """The estimated time of a run, in words."""
    line = message["line"] if data is None else data.one_line(OptionError(message["line"]))
    return line if message["kind"] == "estimate" else f"no estimate: {line}"


class Session:
    """The table, the run and the results of one server; safe to use from several threads."""

    def __init__(self, jobs: int = 1, reading: Mapping[str, Any] | None = None) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="dagora-explore-"))  # readable by this user only
        self._cleaner = Cleaner(self.folder)  # before anything is written there
        self.jobs = jobs
        self.reading = dict(reading or {})  # as said to the command, then as the table was opened
        self.data: Data | None = None
        self.columns: list[str] = []  # of the table as it was opened
        self.run: LearningRun | None = None
        self.results: dict[int, KeptResult] = {}
        self.closed = False
        self._lock = threading.RLock()
        self._uploads = 0
        self._numbers = 0
        self._worker: WorkerProcess | None = None
        self._estimates = NewestAnswer[str]()  # of the time; empty where one is wanted no more
        self._answers = NewestAnswer[dict[str, Any]]()  # from the rows: what is shown, or an `error`

    # Data

    def reading_of_upload(self, said: Mapping[str, Any]) -> dict[str, Any]:
        """The reading options of an uploaded file; `said` are those chosen on the page.

        The rest is as it was said to the command. Columns that were named there are those of the first table.
        """
        kept = {
            name: value
            for name, value in self.reading.items()
            if self.data is None or READING[name].type != "names"
        }
        return {**{name: value for name, value in kept.items() if name not in said}, **reading_of(said)}

    def room_for(self, name: str, reading: Mapping[str, Any]) -> Path:
        """A place for an uploaded file, in a folder of its own; refuses a name that is no table's."""
        plain = Path(name.replace("\\", "/")).name
        clean = "".join(letter if letter.isalnum() or letter in " ._-()" else "_" for letter in plain)
        clean = clean.lstrip(" .-").encode()[-MOST_BYTES_OF_A_NAME:].decode(errors="ignore")
        if is_sqlite(clean):  # text under this name would be opened as a database
            refuse_foreign_ending(Path(clean))
        if "separator" not in reading or not clean:
            file_format(clean)
        with self._lock:
            self._uploads += 1
            place = self.folder / str(self._uploads)
        place.mkdir(mode=0o700)
        return place / clean

    def open(self, path: Path, reading: Mapping[str, Any] | None = None) -> None:
        """Take a file as the table, if it can be read; an uploaded one takes the place of the one before.

        Of an uploaded one, cells may be hard to understand: the page says which, and what to choose there.
        """
        data = Data(path, path.name, path.name if self._is_upload(path) else str(path))
        try:
            columns = [column.name for column in self._look(data, reading or {}).columns]
        except DagoraError as error:
            columns = self._columns_at_least(data, reading or {}) if self._is_upload(path) else []
            if not columns:
                self.forget(path)
                raise DataError(data.one_line(error)) from None
        with self._lock:
            if self.running:
                self.forget(path)
                raise BusyError("a method is running: stop it before you open another table")
            before, self.data = self.data, data
            self.reading, self.columns = dict(reading or {}), columns
        if before is not None and before.path != path:
            self.forget(before.path)
        self.warm_up()

    def _is_upload(self, path: Path) -> bool:
        return path.parent.parent == self.folder

    def forget(self, path: Path) -> None:
        """Remove a file that was uploaded; never one that the user named."""
        if self._is_upload(path):
            shutil.rmtree(path.parent, ignore_errors=True)

    def require_data(self) -> Data:
        """The table; refuses to go on without one."""
        if self.data is None:
            raise DataError("there is no table yet: choose a file")
        return self.data

    def look(self, reading: Mapping[str, Any]) -> dict[str, Any]:
        """Describe the table's columns, and the methods that fit it."""
        data = self.require_data()
        try:
            usual = self._look(data, reading)
            # Where no column is discrete, none is for what takes numbers only: it need not be read again.
            numbers = self._look(data, reading, numbers_for=NUMBERS_FOR) if first_discrete(usual) else usual
        except DagoraError as error:
            raise DataError(data.one_line(error)) from None
        fit = Fit(usual, numbers, reading.get("missing", "auto"))
        table = {**usual.to_dict(), "heading": usual.heading, "warnings": list(usual.warnings)}
        return {"name": data.name, "table": table, **fit.to_dict()}

    @staticmethod
    def _columns_at_least(data: Data, reading: Mapping[str, Any]) -> list[str]:
        """The names of the columns of a file that can be read; none where it cannot."""
        try:
            return column_names(data.path, looking_at(reading))
        except DagoraError:
            return []

    @staticmethod
    def _look(data: Data, reading: Mapping[str, Any], **purpose: Any) -> Overview:  # noqa: ANN401
        return look_at_file(data.path, looking_at(reading, **purpose))

    # Runs

    @property
    def running(self) -> bool:
        """True if a method is running."""
        return self.run is not None and not self.run.over

    def warm_up(self) -> None:
        """Start the process that learns, which takes a moment, before it is needed."""
        with self._lock:
            if not self.closed and (self._worker is None or not self._worker.alive):
                self._give_up_reports()
                self._worker = WorkerProcess(self._hear)

    def learn(self, asked: ExploreRequest) -> LearningRun:
        """Begin a run; there is one at a time."""
        data = self.require_data()
        with self._lock:
            if self.running:
                raise BusyError("a method is running already: wait for it, or stop it")
            if self._answers.busy:
                raise BusyError(COMPUTING)
            if len(self.results) >= MOST_RESULTS:
                raise OptionError(f"{MOST_RESULTS} results are kept at most: remove some")
            self.warm_up()
            assert self._worker is not None
            self._estimates.give_up("")
            self._numbers += 1
            self.run = LearningRun(self._numbers, asked, data)
            self._worker.tell(
                do="learn",
                run=self.run.number,
                path=str(data.path),
                name=data.typed,
                report=str(self.folder / f"report-{self.run.number}.html"),
                asked=asked.to_dict(),
            )
            return self.run

    def estimate(self, asked: ExploreRequest) -> Future[str]:
        """About how long a run would take, in words; empty where something else is asked for meanwhile."""
        data = self.require_data()
        with self._lock:
            self._estimates.give_up("")
            number, answer = self._estimates.ask()
            if self.running or self.closed:
                self._estimates.give_up("")
            else:
                self.warm_up()
                assert self._worker is not None
                self._worker.tell(do="estimate", estimate=number, path=str(data.path), asked=asked.to_dict())
            return answer

    def effect(self, number: int, question: EffectQuestion) -> Future[dict[str, Any]]:
        """The effect of one variable on another, from the table of a result; what is shown, or an error."""
        return self._ask_rows(number, do="effect", question=question.to_dict())

    def check(self, number: int) -> Future[dict[str, Any]]:
        """A check of the graph of a result against its table; what is shown, or an error."""
        return self._ask_rows(number, do="check")

    def _ask_rows(self, number: int, **question: Any) -> Future[dict[str, Any]]:  # noqa: ANN401
        kept = self.find_result(number)
        with self._lock:
            if kept.data != self.data:
                raise OptionError("the table of this result is not open any more: open it and learn again")
            if self.running:
                raise BusyError("a method is running: wait for it, or stop it")
            if self._answers.busy:
                raise BusyError(COMPUTING)
            self._estimates.give_up("")
            self.warm_up()
            assert self._worker is not None
            place, answer = self._answers.ask()
            self._worker.tell(
                number=place, path=str(kept.data.path), asked=kept.asked.to_dict(), text=kept.text, **question
            )
            return answer

    def end_answer(self, reason: str) -> None:
        """End a computation that takes too long, with the process that computes it."""
        with self._lock:
            if self._answers.busy and not self.running and self._worker is not None:
                self._worker.kill()
                self._worker = None  # another one is started when it is needed
                self._give_up_reports()
            self._answers.give_up({"error": reason})

    def stop(self, *, at_once: bool = False) -> None:
        """End the run: the best graph so far is its result, or, `at_once`, there is none."""
        with self._lock:
            if self.run is None or not self.running or self._worker is None:
                raise OptionError("nothing is running")
            self.run.stopping = True
            if at_once:
                self.run.over, self.run.error = True, "it was ended, without a result"
                self._worker.kill()
                self._worker = None  # another one is started when it is needed
                self._give_up_reports()
                self._estimates.give_up("")
            else:
                self._worker.tell(do="stop", run=self.run.number)

    def _hear(self, worker: WorkerProcess, message: dict[str, Any]) -> None:
        """Take a message of the process that learns; the last words of one before it mean nothing."""
        with self._lock:
            run, kind, about = self.run, message["kind"], message.get("run")
            if kind in {"report", "report-failed"}:
                self._take_report(message)
            if worker is not self._worker:
                return
            if kind == "ended":
                self._give_up_reports()
                self._estimates.give_up("")
                self._answers.give_up(
                    {"error": "the process that computes has ended: perhaps it lacked memory"}
                )
            if kind in {"answer", "no-answer"}:
                told = message["shown"] if kind == "answer" else {"error": self._own_words(message["line"])}
                self._answers.take(message["run"], told)
                return
            if kind in {"estimate", "no-estimate"}:
                self._estimates.take(message["run"], estimate_in_words(message, self.data))
                return
            if run is None or run.over or about not in {run.number, None}:
                return
            if kind == "event":
                run.take(message)
            elif kind == "graph":
                run.take_graph(message)
            elif kind == "undrawn":
                run.undrawn = message["words"]
            elif kind == "compiling":
                run.compiling = message["words"] if message["now"] else ""
            elif kind == "result":
                run.result, run.over = run.number, True
                self.results[run.number] = KeptResult(
                    run.number, run.data, run.asked, message["text"], message["strengths"], message["effects"]
                )
            elif kind == "error":
                run.error, run.over = run.data.one_line(OptionError(message["line"])), True
            elif kind == "ended":
                run.error, run.over = "the process that learns has ended: perhaps it lacked memory", True

    def _own_words(self, line: str) -> str:
        """A line of the process, without the path of an uploaded file."""
        return line if self.data is None else self.data.one_line(OptionError(line))

    # Results

    def _take_report(self, message: Mapping[str, Any]) -> None:
        """Remember the report of a result, or why there is none; nothing, where the result was removed."""
        owner = self.results.get(message["run"])
        if message["kind"] == "report-failed":
            if owner is not None:
                owner.no_report = message["line"].replace(f"{self.folder}/", "")
        elif owner is None:
            Path(message["path"]).unlink(missing_ok=True)
        else:
            owner.report = Path(message["path"])

    def _give_up_reports(self) -> None:
        """The process that would have written them has ended."""
        for kept in self.results.values():
            if kept.report is None and not kept.no_report:
                kept.no_report = "the process that wrote it has ended"

    def find_result(self, number: int) -> KeptResult:
        """A result by its number."""
        found = self.results.get(number)
        if found is None:
            raise OptionError(f"there is no result {number}")
        return found

    def remove(self, number: int) -> None:
        """Forget a result."""
        report = self.find_result(number).report
        del self.results[number]
        if report is not None:
            report.unlink(missing_ok=True)

    def close(self) -> None:
        """End the process that learns, and remove everything that was written."""
        self.closed = True
        self._estimates.give_up("")
        self._answers.give_up({"error": "the server ends"})
        if self._worker is not None:
            self._worker.close()
        self._cleaner.close()
