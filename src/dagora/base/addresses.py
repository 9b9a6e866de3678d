"""Addresses of databases and clusters: none may hold a password, which would end in files and on screens."""

from __future__ import annotations

import re
from urllib.parse import unquote

from dagora.base.errors import OptionError

# An address may stand in quotes, and begin with blanks.
BEGIN = r"^[\s\"']*"
# scheme://…:…@: a host and its port stand behind the @. A path of a file has only one of two slashes.
WITH_PASSWORD = re.compile(
    BEGIN + r"((?:[a-z][a-z0-9+.-]*:)+/{1,2}|postgres(ql)?[^:/@]*:)[^@]*:[^@]*@", re.IGNORECASE
)
IS_ADDRESS = re.compile(
    BEGIN + r"((?:[a-z][a-z0-9+.-]*:)+/{1,2}|duckdb:|postgres(ql)?:|[a-z_]+\s*=)", re.IGNORECASE
)
# How passwords and tokens are named, and how the signature of an address that opens a file to whoever has it.
NAMES = r"[a-z_-]*(?:password|passwd|pwd|passphrase|token|secret)"
SIGNATURE = r"[?&;][a-z_-]*(?:signature|sig)="
NAMED_PASSWORD = re.compile(rf"(^|[?&;#\s\"'])({NAMES})\s*=|{SIGNATURE}", re.IGNORECASE)
# Signs of a secret within a query: such a name with a value, or an address with a user and a password.
SECRET = re.compile(
    rf"(?:{NAMES}|(?:api|access)_?key|credentials?)[\"']?\s*(?:=|:)|{SIGNATURE}|[a-z]://[^\s/]*:.*@",
    re.IGNORECASE,
)
LEFT_OUT = "(left out: it may hold a secret)"


def refuse_password(text: str) -> None:
    """Refuse an address with a password; the message does not repeat it.

    >>> refuse_password("postgresql+driver://ada:secret@localhost/shop")
    Traceback (most recent call last):
    dagora.OptionError: an address must not hold a password, a token or a signature: leave it out ...
    >>> refuse_password("tcp://127.0.0.1:8786"), refuse_password("patients@home.csv")
    (None, None)
    """
    once = unquote(text)
    for form in (text, once, unquote(once)):  # what is written otherwise may be read as a password further on
        named = IS_ADDRESS.search(form) and NAMED_PASSWORD.search(form)
        if named or WITH_PASSWORD.search(form):
            raise OptionError(
                "an address must not hold a password, a token or a signature: leave it out (a password of "
                "PostgreSQL comes from PGPASSWORD or ~/.pgpass)"
            )


def without_secrets(query: str) -> str:
    """A query as it may be shown: not at all where something in it looks like a password or a token.

    >>> without_secrets("SELECT * FROM dblink('host=h password=secret', 'SELECT 1') AS t(a int)")
    '(left out: it may hold a secret)'
    >>> without_secrets("SELECT a, token FROM visits WHERE year = 2024")
    'SELECT a, token FROM visits WHERE year = 2024'
    """
    once = unquote(query)
    return LEFT_OUT if any(map(SECRET.search, (query, once, unquote(once)))) else query
