"""Addresses of databases and clusters: none may hold a password, which would end in files and on screens."""

from __future__ import annotations

import re
from urllib.parse import unquote

from dagora.errors import OptionError

# An address may stand in quotes, and begin with blanks.
BEGIN = r"^[\s\"']*"
# scheme://…:…@: a host and its port stand behind the @. A path of a file has only one of two slashes.
WITH_PASSWORD = re.compile(
    BEGIN + r"((?:[a-z][a-z0-9+.-]*:)+/{1,2}|postgres(ql)?[^:/@]*:)[^@]*:[^@]*@", re.IGNORECASE
)
IS_ADDRESS = re.compile(
    BEGIN + r"((?:[a-z][a-z0-9+.-]*:)+/{1,2}|duckdb:|postgres(ql)?:|[a-z_]+\s*=)", re.IGNORECASE
)
# How passwords and tokens are named.
NAMES = r"(?:ssl)?(?:password|passwd|pwd)|(?:[a-z]+_)?(?:token|secret)"
NAMED_PASSWORD = re.compile(rf"(^|[?&;\s\"'])({NAMES})\s*=", re.IGNORECASE)
# Secrets within a query: what follows a name, in quotes of several kinds, or stands before the @ of an
# address.
NAMED_SECRET = re.compile(
    rf"\b((?:{NAMES})\s*=\s*)(''.*?''|\\'.*?\\'|'[^']*'|\"[^\"]*\"|[^\s'\"&;,)]+)", re.IGNORECASE
)
ADDRESS_SECRET = re.compile(r"([a-z][a-z0-9+.-]*://[^\s:@'\"/]*:)[^@'\"\s]*@", re.IGNORECASE)


def refuse_password(text: str) -> None:
    """Refuse an address with a password; the message does not repeat it.

    >>> refuse_password("postgresql+driver://ada:secret@localhost/shop")
    Traceback (most recent call last):
    dagora.errors.OptionError: an address must not hold a password or a token: leave it out (a password ...
    >>> refuse_password("tcp://127.0.0.1:8786"), refuse_password("patients@home.csv")
    (None, None)
    """
    decoded = unquote(text)
    named = IS_ADDRESS.search(decoded) and NAMED_PASSWORD.search(decoded)
    if named or WITH_PASSWORD.search(decoded):
        raise OptionError(
            "an address must not hold a password or a token: leave it out (a password of PostgreSQL comes "
            "from PGPASSWORD or ~/.pgpass)"
        )


def without_secrets(query: str) -> str:
    """A query as it may be shown: what looks like a password or a token in it is starred out.

    >>> without_secrets("SELECT * FROM dblink('host=h password=secret', 'SELECT 1') AS t(a int)")
    "SELECT * FROM dblink('host=h password=***', 'SELECT 1') AS t(a int)"
    """
    return ADDRESS_SECRET.sub(r"\1***@", NAMED_SECRET.sub(r"\1***", query))
