"""Addresses of databases and clusters: none may hold a password, which would end in files and on screens."""

from __future__ import annotations

import re
from urllib.parse import unquote

from dagora.errors import OptionError

# scheme://…:…@: a host and its port stand behind the @. A path of a file has only one of two slashes.
WITH_PASSWORD = re.compile(r"^[a-z][a-z0-9+.-]*:/{1,2}[^@]*:[^@]*@", re.IGNORECASE)
IS_ADDRESS = re.compile(
    r"^[a-z][a-z0-9+.-]*:/{1,2}|^\s*(host|hostaddr|port|dbname|user|(ssl)?password)\s*=", re.IGNORECASE
)
NAMED_PASSWORD = re.compile(r"(^|[?&;\s])(ssl)?(password|passwd|pwd)\s*=", re.IGNORECASE)


def refuse_password(text: str) -> None:
    """Refuse an address with a password; the message does not repeat it.

    >>> refuse_password("postgresql+driver://ada:secret@localhost/shop")
    Traceback (most recent call last):
    dagora.errors.OptionError: an address must not hold a password: leave it out, and set PGPASSWORD ...
    >>> refuse_password("tcp://127.0.0.1:8786"), refuse_password("patients@home.csv")
    (None, None)
    """
    decoded = unquote(text)
    named = IS_ADDRESS.search(decoded) and NAMED_PASSWORD.search(decoded)
    if named or WITH_PASSWORD.search(decoded):
        raise OptionError(
            "an address must not hold a password: leave it out, and set PGPASSWORD or write it to ~/.pgpass"
        )
