"""The series of sites whose tables one person has: in the order of time, each series at one site."""

from __future__ import annotations

from collections.abc import Sequence

from dagora.base.errors import DataError
from dagora.base.files import naming
from dagora.data.series import Panel, Timing, same_step
from dagora.parties.horizontal.session.federation import Site

# The length of a step where no series has two.
ANY_STEP = 1.0


def in_series(sites: Sequence[Site], timing: Timing) -> tuple[list[Site], float]:
    """The sites with their rows in the order of time, and the length of a step, which all must share.

    A series whose name is at two sites is refused: windows that reach from one site to the other would be
    lost.
    """
    found: dict[str, Panel] = {}
    for site in sites:
        with naming(site.name):
            found[site.name] = Panel.of_table(site.table, timing.time, timing.series)
    steps = {name: panel.step for name, panel in found.items() if panel.step is not None}
    first = next(iter(steps), "")
    for name, step in steps.items():
        if not same_step(step, steps[first]):
            raise DataError(
                f"the steps of time are {steps[first]:.7g} long at {first} and {step:.7g} at {name}: sites "
                "need steps of one length"
            )
    homes: dict[str, str] = {}
    for name, panel in found.items():
        for label in panel.labels if timing.series is not None else ():
            if label in homes:
                raise DataError(
                    f"the series '{label}' (column '{timing.series}') is at {homes[label]} and at {name}: a "
                    "series lives whole at one site; if these are two, give them two names"
                )
            homes[label] = name
    return [Site(name, panel.table, panel=panel) for name, panel in found.items()], steps.get(
        first
    ) or ANY_STEP
