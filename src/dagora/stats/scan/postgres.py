"""Rows in PostgreSQL, by an address: read only, and in one transaction, so that all passes see the same rows.

The password comes from the environment (PGPASSWORD) or from the usual file (~/.pgpass), both of which the
driver reads itself. An address with a password is refused before anything is done with it, and not repeated.
"""

from __future__ import annotations

import contextlib
from typing import Any
from urllib.parse import parse_qsl, quote, urlsplit

from dagora.addresses import refuse_password
from dagora.extras import POSTGRESQL
from dagora.stats.scan.other_sources import QueriedRows, query_of

PREFIXES = ("postgresql://", "postgres://")
# Nothing can be written, and every query sees the rows as they were at the first one.
SETTINGS = r"-c default_transaction_read_only=on -c default_transaction_isolation=repeatable\ read"


def is_postgres(source: object) -> bool:
    """Whether something is an address of PostgreSQL.

    >>> is_postgres("postgresql://localhost/shop"), is_postgres("shop.csv")
    (True, False)
    """
    return isinstance(source, str) and source.lower().startswith(PREFIXES)


class Postgres:
    """A connection that is made when it is needed, and made anew after a failure."""

    def __init__(self, address: str) -> None:
        self._connection: Any = None
        self._made = 0
        refuse_password(address)
        self._address = with_settings(address)

    def cursor(self) -> Any:  # noqa: ANN401 - the driver's own
        """A cursor in the one transaction of this connection."""
        from adbc_driver_postgresql import dbapi

        if self._connection is None:
            self._connection = dbapi.connect(self._address)
            self._made += 1
        return self._connection.cursor()

    @property
    def transaction(self) -> int:
        """The number of the transaction that the next cursor is in: every connection has one."""
        return self._made + (self._connection is None)

    def __del__(self) -> None:
        """Close the connection with its last user."""
        self.forget()

    def forget(self) -> None:
        """Close what failed: the next cursor is one of a new connection."""
        connection, self._connection = self._connection, None
        if connection is not None:
            with contextlib.suppress(Exception):
                connection.close()


def with_settings(address: str) -> str:
    """An address that asks for a transaction that only reads, besides what it asks for itself."""
    parts = urlsplit(address)
    asked = parse_qsl(parts.query)
    settings = " ".join([*(value for key, value in asked if key == "options"), SETTINGS])
    query = [*((key, value) for key, value in asked if key != "options"), ("options", settings)]
    return parts._replace(query="&".join(f"{key}={quote(value)}" for key, value in query)).geturl()


def open_postgres(address: str, table: str | None, query: str | None) -> QueriedRows:
    """A table or a query of a PostgreSQL database."""
    POSTGRESQL.require("a PostgreSQL database")
    database = Postgres(address)
    name = urlsplit(address).path.strip("/")
    return QueriedRows(database, query_of(table, query), f"the database {name}" if name else "the database")
