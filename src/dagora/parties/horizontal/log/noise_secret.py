"""The secret from which a site's noise follows: a file beside its log, readable by its owner only.

With another secret, a release that was made before would get new noise, and two releases tell more than one.
"""

from __future__ import annotations

import contextlib
import os
import secrets
from pathlib import Path

from dagora.errors import FormatError
from dagora.files import report_failure

FILE_NAME = "noise.key"
SECRET_BYTES = 32


def noise_secret(folder: Path) -> bytes:
    """Read the secret; it is made if there is none.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     noise_secret(Path(folder)) == noise_secret(Path(folder)), len(noise_secret(Path(folder)))
    (True, 32)
    """
    path = folder / FILE_NAME
    with report_failure(path, FormatError):
        with contextlib.suppress(FileExistsError):
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(handle, "wb") as file:
                file.write(secrets.token_bytes(SECRET_BYTES))
                file.flush()
                os.fsync(file.fileno())
        secret = path.read_bytes()
    if len(secret) != SECRET_BYTES:
        raise FormatError(
            f"{path}: is not a secret of {SECRET_BYTES} bytes: restore it, or noise can be averaged away"
        )
    return secret
