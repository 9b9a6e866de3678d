"""Parse a file of Stata or SPSS, by pyreadstat, in a process of its own.

A damaged file can end the process that parses it, because pyreadstat is written in C. The process that is
started here says what the file holds, is told which columns to read, and hands them out as an Arrow stream.
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast

from dagora.base.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType

    import pyarrow as pa

SCRIPT = (
    "import sys; file, sys.path[:] = sys.argv[1], sys.argv[2:]; "
    "from dagora.data.statistics_parser import answer; answer(file)"
)


@dataclass(frozen=True)
class Description:
    """What a file says about itself; everything about columns is in their order."""

    names: list[str]
    rows: int
    kinds: list[str]  # "string", "float", "double", …
    formats: list[str]  # how a column is shown: "%td", "DATE11", …
    labels: list[list[tuple[float | str, str]]]  # of values


class ParsedFile:
    """A file that is being parsed."""

    def __init__(self, file: Path) -> None:
        self._process = subprocess.Popen(  # noqa: S603 (our own program)
            [sys.executable, "-c", SCRIPT, str(file), *sys.path],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )

    def __enter__(self) -> ParsedFile:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.communicate()

    @property
    def _answers(self) -> IO[bytes]:
        return cast("IO[bytes]", self._process.stdout)

    def describe(self) -> Description:
        """What the file holds."""
        return Description(**self._hear())

    def columns(self, places: Sequence[int]) -> list[pa.ChunkedArray]:
        """The columns at these places."""
        import pyarrow as pa

        line = cast("IO[bytes]", self._process.stdin)
        line.write(json.dumps(list(places)).encode() + b"\n")
        line.flush()
        self._hear()
        try:
            return list(pa.ipc.open_stream(self._answers).read_all().columns)
        except (pa.ArrowException, OSError):
            raise damaged("it ends too early") from None

    def _hear(self) -> dict[str, Any]:
        """The next line of the process; what it says is wrong is refused, as is a process that died."""
        said = self._answers.readline()
        if not said.endswith(b"\n"):
            raise damaged("parsing it failed")
        content: dict[str, Any] = json.loads(said)
        if "problem" in content:
            raise damaged(content["problem"])
        return content


def damaged(why: str) -> DataError:
    """The error about a file that cannot be parsed."""
    return DataError(f"the file cannot be read, it may be damaged, or of another program: {why}")


def answer(file: str) -> None:
    """Answer the process that started this one: first what the file holds, then the columns it asks for."""
    import pyarrow as pa
    import pyreadstat

    read = pyreadstat.read_dta if file.lower().endswith(".dta") else pyreadstat.read_sav
    out = sys.stdout.buffer

    def say(content: dict[str, Any]) -> None:
        out.write(json.dumps(content).encode() + b"\n")
        out.flush()

    def parse(**options: Any) -> tuple[dict[str, list[Any]], Any]:  # noqa: ANN401
        return read(file, disable_datetime_conversion=True, output_format="dict", **options)  # type: ignore[no-any-return]

    try:
        about = parse(metadataonly=True)[1]
        say(description_of(about))
        names = [about.column_names[place] for place in json.loads(sys.stdin.buffer.readline())]
        cells = parse(usecols=names)[0]
        kinds = [about.readstat_variable_types[name] for name in names]
        types = [pa.string() if kind == "string" else pa.float64() for kind in kinds]
        arrays = [pa.array(cells.pop(name), kind) for name, kind in zip(names, types, strict=True)]
    except Exception as problem:
        say({"problem": " ".join(str(problem).split())})
        return
    say({})
    table = pa.table(arrays, names=[str(place) for place in range(len(names))])
    with pa.ipc.new_stream(out, table.schema) as stream:
        stream.write_table(table)


def description_of(about: Any) -> dict[str, Any]:  # noqa: ANN401 (pyreadstat's own)
    """The description of a file, as JSON holds it."""
    names = list(about.column_names)
    return {
        "names": names,
        "rows": -1 if about.number_rows is None else int(about.number_rows),
        "kinds": [about.readstat_variable_types[name] for name in names],
        "formats": [str(about.original_variable_types[name]) for name in names],
        "labels": [list(about.variable_value_labels.get(name, {}).items()) for name in names],
    }
