"""Routes of the server: the page, its files, and the page's requests (`/api/…`, all JSON)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import Future
from functools import partial, wraps
from typing import Any, TypeVar
from urllib.parse import unquote

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.convertors import register_url_convertor
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from dagora.base.errors import DagoraError, DataError, OptionError, speaking
from dagora.base.files import json_text
from dagora.base.phrases import printable
from dagora.explore.asking import knowledge_of, parse_request, reading_of, refuse_unknown
from dagora.explore.bodies import TooLargeError, read_json, save
from dagora.explore.doorkeeper import Application, Door, Doorkeeper
from dagora.explore.effect_question import parse_effect
from dagora.explore.page_files import page_file
from dagora.explore.page_words import PAGE
from dagora.explore.results import side_by_side
from dagora.explore.session import BusyError, Session

EVERY = 0.15  # seconds between two reports of progress
FILE_NAME = "x-file-name"
ANSWER_SECONDS = 60.0  # by hand: somebody is waiting; the commands have no limit
TOO_LONG = f"this takes longer than {ANSWER_SECONDS:.0f} s here: `dagora {{}}` has no limit"

T = TypeVar("T")


class Count:
    """A number in a path; one with more digits than any result has is nothing that is here."""

    regex = "[0-9]{1,9}"

    def convert(self, digits: str) -> int:
        """The number that was written."""
        return int(digits)

    def to_string(self, number: int) -> str:
        """Write the number."""
        return str(number)


register_url_convertor("count", Count())


def application(session: Session, door: Door, most_upload: int) -> Application:
    """The whole server, behind its doorkeeper."""
    answers = Answers(session, door, most_upload)
    routes = [
        Route("/", answers.page),
        Route("/static/{name}", answers.file),
        Route("/api/state", answers.state),
        Route("/api/table", answers.upload, methods=["POST"]),
        Route("/api/look", answers.look, methods=["POST"]),
        Route("/api/knowledge", answers.knowledge, methods=["POST"]),
        Route("/api/estimate", answers.estimate, methods=["POST"]),
        Route("/api/learn", answers.learn, methods=["POST"]),
        Route("/api/stop", answers.stop, methods=["POST"]),
        Route("/api/progress", answers.progress),
        Route("/api/results/{number:count}", answers.result),
        Route("/api/results/{number:count}", answers.remove, methods=["DELETE"]),
        Route("/api/results/{number:count}/ask", answers.ask, methods=["POST"]),
        Route("/api/results/{number:count}/effect", answers.effect, methods=["POST"]),
        Route("/api/results/{number:count}/check", answers.check, methods=["POST"]),
        Route("/api/results/{number:count}/result.json", answers.result_file),
        Route("/api/results/{number:count}/report.html", answers.report),
        Route("/api/compare/{first:count}/{second:count}", answers.compare),
    ]
    handlers = {DagoraError: refusal_response, HTTPException: not_found, Exception: failure_response}
    return Doorkeeper(Starlette(routes=routes, exception_handlers=handlers), door)


def refusal_response(_request: Request, error: Exception) -> Response:
    """One line that says what is wrong."""
    status = 413 if isinstance(error, TooLargeError) else 409 if isinstance(error, BusyError) else 400
    return JSONResponse({"error": printable(" ".join(str(error).split()))}, status)


def not_found(_request: Request, error: Exception) -> Response:
    """There is nothing of that name, or not for that verb."""
    status = error.status_code if isinstance(error, HTTPException) else 404
    return JSONResponse({"error": "there is nothing here"}, status)


def failure_response(_request: Request, _error: Exception) -> Response:
    """A fault of ours: the terminal has the traceback, the answer has not."""
    return JSONResponse({"error": "this is a fault of dagora: the terminal says more"}, 500)


def download(content: str, name: str, kind: str) -> Response:
    """A file for the user to keep: a browser that is sent there saves it and never shows it."""
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(content, media_type=kind, headers=headers)


Method = Callable[["Answers", Request], Awaitable[Response]]


def for_the_page(answer: Method) -> Method:
    """An answer whose errors name what the user sees on the page."""

    @wraps(answer)
    async def answering(self: Answers, request: Request) -> Response:
        with speaking(PAGE):
            return await answer(self, request)

    return answering


class Answers:
    """The answers to requests, on a session."""

    def __init__(self, session: Session, door: Door, most_upload: int) -> None:
        self._session = session
        self._door = door
        self._most_upload = most_upload

    # The page

    async def page(self, _request: Request) -> Response:
        """The page itself; the cookie opens its files."""
        found = page_file("page.html")
        assert found is not None
        headers = {"set-cookie": self._door.set_cookie}
        return Response(found.content, media_type=found.type, headers=headers)

    async def file(self, request: Request) -> Response:
        """A file of the page."""
        found = page_file(request.path_params["name"])
        if found is None:
            raise HTTPException(404)
        return Response(found.content, media_type=found.type)

    # The table

    async def state(self, _request: Request) -> Response:
        """Answer with the table, the run and the results."""
        session = self._session
        return JSONResponse(
            {
                "data": None if session.data is None else session.data.name,
                "columns": session.columns,
                "reading": session.reading,
                "max_upload": self._most_upload,
                "run": session.run.to_dict() if session.run is not None and session.running else None,
                "results": [kept.summary for kept in list(session.results.values())],
            }
        )

    @for_the_page
    async def upload(self, request: Request) -> Response:
        """Take a file as the table; its name says its format, the query how to read it (`reading_of`)."""
        if self._session.running:
            raise BusyError("a method is running: stop it before you open another table")
        name = unquote(request.headers.get(FILE_NAME, ""), errors="replace")
        if not name:
            raise DataError(f"the header {FILE_NAME} says the file's name")
        reading = self._session.reading_of_upload(request.query_params)
        place = self._session.room_for(name, reading)
        try:
            await save(request, place, self._most_upload)
        except BaseException:
            self._session.forget(place)
            raise
        await in_thread(self._session.open, place, reading)
        return JSONResponse({"name": place.name, "reading": reading, "columns": self._session.columns})

    @for_the_page
    async def look(self, request: Request) -> Response:
        """Answer with the table's columns under these options, and the methods that fit it."""
        reading = reading_of(await read_json(request))
        return JSONResponse(await in_thread(self._session.look, reading))

    @for_the_page
    async def knowledge(self, request: Request) -> Response:
        """Check knowledge, and return it as the file that `--knowledge` takes."""
        known = knowledge_of(await read_json(request))
        return download(json_text(known.to_dict(), indent=1) + "\n", "knowledge.json", "application/json")

    # Runs

    @for_the_page
    async def learn(self, request: Request) -> Response:
        """Begin a run."""
        asked = parse_request(await read_json(request), self._session.jobs)
        run = await in_thread(self._session.learn, asked)
        return JSONResponse(run.to_dict())

    @for_the_page
    async def estimate(self, request: Request) -> Response:
        """About how long such a run would take, in words; what is wrong with it is the reason for none."""
        content = await read_json(request)
        try:
            asked = parse_request(content, self._session.jobs)
        except DagoraError as error:
            return JSONResponse({"words": f"no estimate: {printable(' '.join(str(error).split()))}"})
        words = await asyncio.wrap_future(await in_thread(self._session.estimate, asked))
        return JSONResponse({"words": words})

    async def stop(self, request: Request) -> Response:
        """End the run, with its best graph so far or (`at_once`) without."""
        content = await read_json(request)
        at_once = content.get("at_once", False)
        if not isinstance(at_once, bool) or set(content) - {"at_once"}:
            raise OptionError("a request to stop says at_once, true or false, and nothing else")
        await in_thread(partial(self._session.stop, at_once=at_once))
        return JSONResponse({})

    async def progress(self, request: Request) -> Response:
        """Answer with the run's progress as server-sent events, until it is over."""
        if self._session.run is None:
            raise OptionError("nothing is running")

        async def stream_states() -> AsyncIterator[str]:
            seen = drawn = 0
            again = 0.0  # when the next graph may be drawn
            run = self._session.run
            while run is not None and not self._session.closed and not await request.is_disconnected():
                state = run.to_dict(seen)
                seen += len(state["trace"])
                best = None if run.over or run.stopping else run.best
                if best is not None and best.number > drawn and time.monotonic() >= again:
                    picture = await in_thread(lambda best=best: best.picture)
                    state["best"] = picture
                    drawn, again = best.number, time.monotonic() + picture["rest"]
                yield f"data: {json_text(state)}\n\n"
                if state["over"]:
                    return
                await asyncio.sleep(EVERY)

        return StreamingResponse(stream_states(), media_type="text/event-stream")

    # Results

    async def result(self, request: Request) -> Response:
        """A result with its pictures."""
        kept = self._session.find_result(request.path_params["number"])
        return JSONResponse(await in_thread(lambda: kept.page_entry))

    async def remove(self, request: Request) -> Response:
        """Forget a result."""
        self._session.remove(request.path_params["number"])
        return JSONResponse({})

    @for_the_page
    async def ask(self, request: Request) -> Response:
        """Distributions of variables, given levels and values of others."""
        kept = self._session.find_result(request.path_params["number"])
        return JSONResponse(await in_thread(kept.ask, await read_json(request)))

    @for_the_page
    async def effect(self, request: Request) -> Response:
        """The effect of one variable on another, by the graph of a result or averaged over graphs."""
        kept = self._session.find_result(request.path_params["number"])
        question = parse_effect(await read_json(request), kept.result.graph.nodes)
        answer = await in_thread(self._session.effect, kept.number, question)
        shown = await self._wait_for(answer, "effect")
        command = question.command(kept.asked, kept.data.typed, kept.number)
        return JSONResponse({**shown, "command": command})

    @for_the_page
    async def check(self, request: Request) -> Response:
        """A check of the graph of a result against the rows that it was learned from."""
        kept = self._session.find_result(request.path_params["number"])
        refuse_unknown(await read_json(request), (), "a request for a check")
        answer = await in_thread(self._session.check, kept.number)
        shown = await self._wait_for(answer, "check")
        return JSONResponse({**shown, "command": kept.check_command})

    async def _wait_for(self, answer: Future[dict[str, Any]], command: str) -> dict[str, Any]:
        """The answer of the process that computes, within the time; a command has no limit."""
        waiting = asyncio.wrap_future(answer)
        try:
            shown = await asyncio.wait_for(asyncio.shield(waiting), ANSWER_SECONDS)
        except TimeoutError:
            await in_thread(self._session.end_answer, TOO_LONG.format(command))
            shown = await waiting
        if "error" in shown:
            raise OptionError(shown["error"])
        return shown

    async def result_file(self, request: Request) -> Response:
        """The result as `dagora learn -o result.json` writes it."""
        kept = self._session.find_result(request.path_params["number"])
        return download(kept.text, f"result-{kept.number}.json", "application/json")

    async def report(self, request: Request) -> Response:
        """The report as `dagora learn --report` writes it."""
        kept = self._session.find_result(request.path_params["number"])
        while kept.report is None:
            if kept.no_report or self._session.closed:
                raise OptionError(f"there is no report: {kept.no_report or 'the server ends'}")
            await asyncio.sleep(EVERY)
            self._session.find_result(kept.number)  # it may have been removed
        page = await in_thread(kept.report.read_text, "utf-8")
        return download(page, f"report-{kept.number}.html", "text/html")

    @for_the_page
    async def compare(self, request: Request) -> Response:
        """Two results side by side."""
        first, second = (self._session.find_result(request.path_params[key]) for key in ("first", "second"))
        return JSONResponse(await in_thread(side_by_side, first, second))


async def in_thread(function: Callable[..., T], *given: Any) -> T:  # noqa: ANN401
    """Do work that takes a while without holding up other answers."""
    answer: T = await run_in_threadpool(function, *given)
    return answer
