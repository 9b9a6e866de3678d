"""A process that parses files: whatever happens there, one line is said here, and the next file is read."""

import json
import os
import subprocess
import sys
import threading

import pandas as pd
import pyarrow.parquet as pq
import pytest

import dagora
from dagora.base.errors import DataError
from dagora.data import binary_files, file_limits, file_process
from dagora.data.binary_files import describe, read_batches

pytestmark = pytest.mark.full
SCRIPT = (
    "import sys; sys.path[:] = sys.argv[1:]; import os; from dagora.data import arrow_parser, file_answers; "
    "arrow_parser.describe_parquet = lambda file: {instead}; file_answers.answer_questions()"
)
FAILURES = {
    "os.abort()": "parsing it failed, or took more than 256 MiB of memory",
    "os._exit(0)": "parsing it failed, or took more than 256 MiB of memory",
    "[bytearray(1 << 20) for _ in range(4000)]": "parsing it takes too much memory",
    "next(iter(()))": "StopIteration",
    "(_ for _ in ()).throw(BaseException('panic'))": "panic",
    "exec('while True: pass')": "parsing it takes too long",
    "os.write(3, b'a word of another program\\n')": "parsing it failed, or took more than 256 MiB of memory",
}


@pytest.fixture
def file(tmp_path):
    file = tmp_path / "t.parquet"
    pd.DataFrame({"a": [1, 2] * 400, "b": ["x", "y"] * 400}).to_parquet(file, row_group_size=100)
    return file


@pytest.fixture(autouse=True)
def _fresh():
    file_process._kept.end()
    yield
    file_process._kept.end()


@pytest.mark.parametrize("instead", FAILURES)
def test_whatever_happens_there_is_one_line_here(instead, file, monkeypatch):
    monkeypatch.setattr(file_limits, "SECONDS", 1)
    with monkeypatch.context() as patch:
        patch.setattr(file_process, "SCRIPT", SCRIPT.replace("{instead}", instead))
        with pytest.raises(DataError) as told:
            dagora.read_table(file)
        assert str(told.value) == f"{file}: the file cannot be read, it may be damaged: {FAILURES[instead]}"
    file_process._kept.end()
    assert dagora.read_table(file).n_rows == 800


LIES = {
    "nothing": {},
    "a list": [1],
    "texts for numbers": {"schema": "", "rows": "1", "cells": 1, "bytes": 1, "largest": 1},
    "numbers below 0": {"schema": "", "rows": 1, "cells": -1, "bytes": 1, "largest": 1},
    "no schema": {"schema": "AAAA", "rows": 1, "cells": 1, "bytes": 1, "largest": 1},
    "no base64": {"schema": "A", "rows": 1, "cells": 1, "bytes": 1, "largest": 1},
    "rows that nobody asked for": {
        "schema": "", "rows": 1, "cells": 1, "bytes": 1, "largest": 1, "rows_follow": True,
    },
    "an error without words": {"error": "DataError"},
    "an error that is a number": {"error": 3, "text": "x"},
}  # fmt: skip


@pytest.mark.parametrize("lie", LIES)
def test_a_parser_that_answers_something_else(lie, file, monkeypatch):
    """Before, a field that was not there ended the program that asks with a traceback."""
    said = LIES[lie] if isinstance(LIES[lie], list) else {"rows_follow": False, **LIES[lie]}
    script = (
        f"import sys; sys.stdin.readline(); print({json.dumps(said)!r}, flush=True); sys.stdin.readline()"
    )
    with monkeypatch.context() as patch:
        patch.setattr(file_process, "SCRIPT", script)
        with pytest.raises(DataError, match="may be damaged: its parser gave an odd answer"):
            dagora.read_table(file)
    file_process._kept.end()
    assert dagora.read_table(file).n_rows == 800


def test_rows_that_break_off_without_a_reason(file, monkeypatch):
    instead = SCRIPT.replace("arrow_parser.describe_parquet = lambda file: {instead}", "{instead}")
    odd = "arrow_parser.validate_batch = lambda *_: 1 / 0; file_answers.error_answer = lambda problem: [3]"
    about = describe(file, "parquet")
    file_process._kept.end()
    with monkeypatch.context() as patch:
        patch.setattr(file_process, "SCRIPT", instead.replace("{instead}", odd))
        with pytest.raises(DataError, match="may be damaged: its parser gave an odd answer"):
            list(read_batches(file, "parquet", about, [0]))


def test_where_python_is_not_known_that_is_said(file, monkeypatch):
    """Before, the file was said not to be there."""
    monkeypatch.setattr(sys, "executable", "")
    with pytest.raises(DataError, match=r"t.parquet: a process of its own parses it, .*sys.executable"):
        dagora.read_table(file)
    monkeypatch.setattr(sys, "executable", "/there/is/no/python")
    with pytest.raises(DataError, match=r"t.parquet: no process can be started to parse it: No such file"):
        dagora.read_table(file)


def test_processes_are_limited_in_number(file, monkeypatch):
    monkeypatch.setattr(file_process._kept, "turns", threading.BoundedSemaphore(2))
    monkeypatch.setattr(file_process, "TURN_SECONDS", 0.1)
    about = describe(file, "parquet")
    passes = [read_batches(file, "parquet", about, [0], 10) for _ in range(3)]
    assert [next(each).num_rows for each in passes[:2]] == [10, 10]
    with pytest.raises(DataError, match="other files are being read: try again when one of them is done"):
        next(passes[2])
    passes[0].close()
    assert next(read_batches(file, "parquet", about, [0], 10)).num_rows == 10


LIMITS = """
import resource
from dagora.data.file_answers import limit
resource.setrlimit(resource.RLIMIT_CPU, (3000, 4000))
for seconds in (60, None, 9000):
    limit(None, seconds)
    print(*resource.getrlimit(resource.RLIMIT_CPU))
"""


def test_limits_of_whoever_started_the_program_stay():
    pytest.importorskip("resource", reason="Windows has no such limits")
    ran = subprocess.run([sys.executable, "-c", LIMITS], capture_output=True, text=True, check=True)
    (first, *hard), *others = (list(map(int, line.split())) for line in ran.stdout.splitlines())
    assert first < 70
    assert (hard, others) == ([4000], [[4000, 4000], [4000, 4000]])


def test_a_process_is_used_again(file):
    dagora.read_table(file)
    kept = file_process._kept._waiting
    dagora.read_table(file)
    assert file_process._kept._waiting is kept
    kept._process.kill()
    kept._process.wait()
    assert dagora.read_table(file).n_rows == 800


def test_a_pass_that_is_left_ends_its_process(file):
    about = describe(file, "parquet")
    first, second = (read_batches(file, "parquet", about, [0], 10) for _ in range(2))
    assert next(first).num_rows == next(second).num_rows == 10
    first.close()
    assert file_process._kept._waiting is None
    assert sum(batch.num_rows for batch in second) == 790
    assert file_process._kept._waiting is not None


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning", "ignore:.*fork:RuntimeWarning")
def test_a_fork_has_a_process_of_its_own(file):
    dagora.read_table(file)
    kept = file_process._kept._waiting
    if not (child := os.fork()):
        code = 1
        try:
            code = 0 if file_process._kept._waiting is None else 2
        finally:
            os._exit(code)
    assert os.waitpid(child, 0)[1] == 0
    assert kept.is_alive


FORK = """
import os
from dagora.data import file_process
file_process.TURN_SECONDS = 0.5
for _ in range(file_process.MOST_PROCESSES):
    file_process._kept.turns.acquire()
if not (child := os.fork()):
    with file_process.file_process():
        os._exit(7)
print(os.waitpid(child, 0)[1] >> 8, file_process._kept.turns.acquire(timeout=0))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_fork_has_turns_of_its_own():
    """Before, what was forked while many files were read could read none: nobody there gave a turn back."""
    ran = subprocess.run([sys.executable, "-c", FORK], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == ["7", "False"]


def test_a_file_that_changes_between_its_description_and_its_rows(file):
    about = describe(file, "parquet")
    pq.write_table(pq.read_table(file).select(["b"]), file)
    with pytest.raises(DataError, match="changed while it was read"):
        list(read_batches(file, "parquet", about, [0]))


def test_more_than_is_free_is_refused(file, monkeypatch):
    monkeypatch.setattr(binary_files, "free_memory", lambda: 2000)
    with pytest.raises(
        DataError, match=r"takes 0 MiB of memory or more, and 0 MiB are free: open_rows\(file\)"
    ):
        dagora.read_table(file)


def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "p.parquet")
    with pytest.raises(DataError, match="it is a pipe or a device"):
        dagora.read_table(tmp_path / "p.parquet")


def test_who_may_not_read_is_told_so(file):
    if os.geteuid() == 0:
        pytest.skip("the superuser may read everything")
    file.chmod(0)
    with pytest.raises(DataError, match="you may not read it"):
        dagora.read_table(file)
