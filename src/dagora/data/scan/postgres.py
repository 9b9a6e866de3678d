"""Rows in PostgreSQL, by an address: read only, and in one transaction, so that all passes see the same rows.

The password comes from the environment (PGPASSWORD) or from the usual file (~/.pgpass), both of which the
driver reads itself. An address with a password is refused before anything is done with it, and not repeated.
"""

from __future__ import annotations

import contextlib
from typing import Any
from urllib.parse import quote, unquote

from dagora.base.addresses import refuse_password
from dagora.base.extras import POSTGRESQL
from dagora.data.scan.other_sources import QueriedRows, query_of

PREFIXES = ("postgresql://", "postgres://")
# Nothing can be written, and every query sees the rows as they were at the first one.
SETTINGS = r"-c default_transaction_read_only=on -c default_transaction_isolation=repeatable\ read"


def is_postgres(source: object) -> bool:
    """Return True if something is an address of PostgreSQL.

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
    """An address that asks for a transaction that only reads; all that it asks for itself stays as it is.

    >>> with_settings("postgresql:///shop?user=ada&options=-c%20jit%3Doff").partition("%20-c%20default")[0]
    'postgresql:///shop?user=ada&options=-c%20jit%3Doff'
    """
    scheme, rest = address.split("://", 1)
    place, _, query = rest.partition("?")
    fields = [field.partition("=") for field in query.split("&") if field]
    options = [value for key, _, value in fields if unquote(key) == "options"]
    others = ["".join(field) for field in fields if unquote(field[0]) != "options"]
    settings = "%20".join([*options, quote(SETTINGS)])
    return f"{scheme.lower()}://{place}?{'&'.join([*others, f'options={settings}'])}"


def database_name(address: str) -> str:
    """The database that an address names; empty where that is left to the server or to a parameter.

    >>> database_name("postgresql://ada@one:1,two:2/my%20shop?sslmode=require"), database_name("postgres://")
    ('my shop', '')
    """
    return unquote(address.split("://", 1)[1].partition("?")[0].partition("/")[2])


def open_postgres(address: str, table: str | None, query: str | None) -> QueriedRows:
    """A table or a query of a PostgreSQL database."""
    POSTGRESQL.require("a PostgreSQL database")
    database = Postgres(address)
    name = database_name(address)
    return QueriedRows(database, query_of(table, query), f"the database {name}" if name else "the database")
