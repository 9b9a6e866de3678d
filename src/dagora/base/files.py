"""Read text files, and write files whole or not at all.

The bytes go to a temporary file beside the target, which takes the target's name only when all of them are on
disk: a full disk, a crash or Ctrl-C leaves the old file, or none. A name that ends in `.gz` is compressed,
without a time stamp, so that the same content gives the same file.
"""

from __future__ import annotations

import contextlib
import errno
import gzip
import io
import json
import os
import secrets
import stat
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from dagora.base.errors import DagoraError, FormatError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from _typeshed import WriteableBuffer as Buffer


PathLike = str | os.PathLike[str]

# A gzip file may unpack to a thousand times its size; tables and networks come to 5 to 50 times.
UNPACKED_FREELY = 1 << 26
UNPACKED_RATIO = 100
CHUNK = 1 << 20
# What to do where the system refuses to write.
WAYS_OUT = {
    **dict.fromkeys((errno.ENOSPC, errno.EDQUOT, errno.EFBIG), ": free some space, or write elsewhere"),
    **dict.fromkeys((errno.EACCES, errno.EPERM, errno.EROFS), ": write to a folder of your own"),
}


def write_whole(
    path: PathLike, content: str | bytes, *, error: type[DagoraError] = FormatError, private: bool = False
) -> None:
    r"""Write a file whole or not at all, text as UTF-8; a failure is raised as `error`, in one line.

    A `private` file can be read by its owner only.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_whole(Path(folder, "a.txt"), "one\n")
    ...     Path(folder, "a.txt").read_text(), os.listdir(folder)
    ('one\n', ['a.txt'])
    """
    payload = encode_text(path, content, error=error) if isinstance(content, str) else content
    with open_whole(path, error=error, private=private) as handle:
        handle.write(payload)


def encode_text(path: PathLike, text: str, *, error: type[DagoraError] = FormatError) -> bytes:
    r"""Text as UTF-8 for a file; half a character is refused.

    >>> encode_text("a.json", "\ud800")
    Traceback (most recent call last):
    dagora.FormatError: cannot write a.json: the character '\ud800' cannot be written as UTF-8
    """
    try:
        return text.encode()
    except UnicodeEncodeError as failure:
        character = failure.object[failure.start]
        raise error(f"cannot write {path}: the character {character!r} cannot be written as UTF-8") from None


@contextlib.contextmanager
def open_whole(
    path: PathLike, *, error: type[DagoraError] = FormatError, private: bool = False
) -> Iterator[BinaryIO]:
    """Open a file for writing that appears under its name only when the block ends without an error."""
    # A link stays a link: the file it points to is replaced.
    target = Path(os.path.realpath(path))
    with report_failure(path, error):
        mode = target.stat().st_mode if target.exists() else None
        if mode is not None and not stat.S_ISREG(mode):
            # A pipe or a device such as /dev/stdout cannot be replaced; a folder fails here.
            with target.open("wb") as device, compress_by_name(device, path) as handle:
                yield handle
            return
        temporary = target.with_name(f".{target.name[:100]}.{secrets.token_hex(6)}.tmp")
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600 if private else 0o666)
        try:
            with os.fdopen(descriptor, "wb") as raw:
                with compress_by_name(raw, path) as handle:
                    yield handle
                raw.flush()
                os.fsync(raw.fileno())
            if mode is not None and not private:
                temporary.chmod(stat.S_IMODE(mode))
            temporary.replace(target)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise


@contextlib.contextmanager
def compress_by_name(raw: BinaryIO, path: PathLike) -> Iterator[BinaryIO]:
    """Wrap a file so that what is written is compressed if the name ends in `.gz`."""
    if Path(path).suffix.lower() != ".gz":
        yield raw
        return
    with gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0, compresslevel=6) as packed:
        yield cast("BinaryIO", packed)


@contextlib.contextmanager
def report_failure(path: PathLike, error: type[DagoraError]) -> Iterator[None]:
    """Turn a failure of the file system into one line that names the file."""
    try:
        yield
    except FileNotFoundError:
        # A link may point into a folder that is missing; folders such as /proc take no files.
        named, real = Path(path).parent, Path(os.path.realpath(path)).parent
        if real.is_dir():
            raise error(f"cannot write {path}: no file can be made in the folder '{named}'") from None
        missing = real if named.is_dir() else named
        raise error(f"cannot write {path}: there is no folder '{missing}'") from None
    except IsADirectoryError:
        raise error(f"cannot write {path}: it is a folder; name a file in it") from None
    except (OSError, ValueError) as failure:
        way_out = WAYS_OUT.get(getattr(failure, "errno", None) or 0, "")
        raise error(f"cannot write {path}: {_reason(failure)}{way_out}") from None


def as_utf8(content: bytes) -> str:
    """The text of bytes in UTF-8, without a byte-order mark."""
    return content.decode("utf-8-sig")


def read_text(
    path: PathLike, *, error: type[DagoraError] = FormatError, decode: Callable[[bytes], str] = as_utf8
) -> str:
    """Return the text of a UTF-8 file, decompressed if the name ends in `.gz`.

    Line ends stay as they are; a byte-order mark is dropped. `decode` knows other encodings.

    >>> read_text("no such folder/graph.json")
    Traceback (most recent call last):
    dagora.FormatError: no such folder/graph.json: no such file
    """
    file = Path(path)
    packed = file.suffix.lower() == ".gz"
    try:
        with open_unpacked(file, error=error) if packed else file.open("rb") as handle:
            content = handle.read()
    except FileNotFoundError:
        raise error(f"{path}: no such file") from None
    except IsADirectoryError:
        raise error(f"{path}: is a folder, not a file") from None
    except (gzip.BadGzipFile, EOFError, zlib.error) as failure:
        raise error(f"{path}: is not a valid gzip file: {_reason(failure)}") from None
    except (OSError, ValueError) as failure:
        raise error(f"{path}: cannot be read: {_reason(failure)}") from None
    try:
        with naming(path):
            return decode(content)
    except UnicodeDecodeError as failure:
        line = content.count(b"\n", 0, failure.start) + 1
        encoding = failure.encoding.upper()
        raise error(f"{path}: line {line}: is not {encoding} text; save the file as UTF-8") from None


def open_unpacked(
    path: PathLike, *, error: type[DagoraError] = FormatError, opener: Callable[[Path], Any] = gzip.open
) -> BinaryIO:
    """Open a compressed file; one that unpacks to far more than its size is refused while it is read."""
    return cast("BinaryIO", io.BufferedReader(_PackedContent(Path(path), error, opener), CHUNK))


class _PackedContent(io.RawIOBase):
    """The content of a compressed file, up to a limit."""

    def __init__(self, path: Path, error: type[DagoraError], opener: Callable[[Path], Any]) -> None:
        super().__init__()
        self._path, self._error = path, error
        self._packed = opener(path)
        size = path.stat().st_size if path.is_file() else 0
        self._limit = self._left = max(UNPACKED_FREELY, UNPACKED_RATIO * size)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Buffer) -> int:
        got = int(self._packed.readinto(buffer))
        self._left -= got
        if self._left < 0:
            raise self._error(
                f"{self._path}: unpacks to more than {self._limit >> 20} MiB, far more than its size: "
                "if you trust it, unpack it first (gunzip) and give that file"
            )
        return got

    def close(self) -> None:
        self._packed.close()
        super().close()


def json_text(content: object, *, indent: int | None = None) -> str:
    """JSON text of plain content: letters as they are, and no NaN, which JSON does not have.

    >>> json_text({"β": [1, None]})
    '{"β": [1, null]}'
    """
    return json.dumps(content, ensure_ascii=False, allow_nan=False, indent=indent)


def require_path(path: object, error: type[DagoraError] = FormatError) -> Path:
    """Return the path of a file; refuse what cannot be one."""
    if not isinstance(path, str | os.PathLike):
        raise error(f"the name of a file is needed, not a {type(path).__name__}")
    return Path(path)


@contextlib.contextmanager
def naming(path: PathLike) -> Iterator[None]:
    """Put the file's name in front of any error of ours that is raised inside.

    >>> with naming("graph.json"):
    ...     raise FormatError("line 2: a comma is missing")
    Traceback (most recent call last):
    dagora.FormatError: graph.json: line 2: a comma is missing
    """
    try:
        yield
    except DagoraError as error:
        # A line break in a name must not break the one line of the message.
        text = "\\n".join(error.text.splitlines())
        raise error.with_text(f"{path}: {text}") from None


def _reason(error: Exception) -> str:
    text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    text = " ".join(text.split())
    return text[:1].lower() + text[1:]
