"""The errors that a user can cause.

Every error that a user can cause is a `DagoraError`: its text is one line that names the file, column or
option at fault and says what to do. The command prints that line and exits with code 2.
"""

from __future__ import annotations


class DagoraError(Exception):
    """Base of every error that bad input can cause."""


class DagoraWarning(UserWarning):
    """Something about data or a result that a user should not miss; the result holds it too."""


class DataError(DagoraError):
    """The data cannot be used as they are."""


class GraphError(DagoraError):
    """An invalid graph: a cycle, an unknown node, two nodes with one name."""


class FormatError(DagoraError):
    """A file that cannot be read or written in its format."""


class KnowledgeError(DagoraError):
    """Prior knowledge that contradicts itself, names unknown variables, or that a method cannot obey."""


class OptionError(DagoraError):
    """An unknown method, score or option, or a value out of its range."""


class QueryError(DagoraError):
    """A question that cannot be read, or that a network cannot answer."""


class RowsUnavailableError(DagoraError):
    """A method asked for rows where only sums over rows are available."""


class ProtocolError(DagoraError):
    """A protocol between parties failed: a peer left, broke the rules, or sent an unreadable message.

    `party` is the peer at fault, where there is one. `consequence` ends the line with what the failure means
    for whoever reads it here; peers are told the line without it.
    """

    def __init__(self, message: str, *, party: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.party = party
        self.consequence = ""

    def __str__(self) -> str:
        return self.message + self.consequence


class PartyTimeoutError(ProtocolError):
    """A peer did not answer in time; nothing is lost, and the caller may wait again."""


class DisagreementError(ProtocolError):
    """The parties' data do not fit together; the message names columns, never values."""


for _error in [each for each in globals().values() if isinstance(each, type)]:
    _error.__module__ = "dagora"  # where users import it from: tracebacks and pickles name no room
del _error
