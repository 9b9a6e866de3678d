"""What can go wrong, in the user's words.

Every error that a user can cause is a `DagoraError`: its text is one line that names the file, column or
option at fault and says what to do. The command prints that line and exits with code 2.
"""

from __future__ import annotations


class DagoraError(Exception):
    """Base of every error that bad input can cause."""


class DataError(DagoraError):
    """The data cannot be used as they are."""


class GraphError(DagoraError):
    """A graph that cannot be: a cycle, an unknown node, two nodes with one name."""


class FormatError(DagoraError):
    """A file that does not follow its format."""


class KnowledgeError(DagoraError):
    """Prior knowledge that contradicts itself, names unknown variables, or that a method cannot obey."""


class OptionError(DagoraError):
    """An unknown method, score or option, or a value out of its range."""


class RowsUnavailableError(DagoraError):
    """A method asked for rows where only sums may be seen."""
