"""Parameters that several public functions share, described once.

A line `{knowledge, seed}` in a docstring becomes these entries (`takes_reading`).
"""

import re

ENTRIES = """\
data : path, data frame, matrix, mapping of columns, Table or Statistics
    One row per observation. Types of columns are inferred; `inspect` shows how.
knowledge : Knowledge, mapping or path, optional
    Required and forbidden edges, tiers and the most parents (docs/reference.md).
max_parents : int, optional
    Most parents of a variable; no limit by default.
seed : int, default 0
    The same seed gives the same result.
time_limit : float, optional
    Seconds, counted from before the data are read. The best graph by then is returned.
jobs : int, default 1
    Threads or processes to use; they do not change the result.
on_event : callable, optional
    Called with every `Event` of progress, for example a `ProgressBar`.
budget : Budget, optional
    A time limit that can be stopped from another thread, instead of `time_limit`.
interventions : str, mapping or list, optional
    Column that says which variables were set from outside in a row, such a column with the meaning of
    its levels ({column: {level: variables}}), or the variables of each row. Such a row does not count
    for what these variables depend on.
em_rounds : int, default 6
    Most rounds of structural EM where missing values are modelled, under the assumption that they are
    missing at random; with 0, the method runs once on what was seen.
"""

SHARED = {entry.partition(" ")[0]: entry for entry in re.split(r"\n(?=\S)", ENTRIES.strip())}
