"""Front door: a small table to try things on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dagora.base.errors import OptionError

if TYPE_CHECKING:
    from dagora.data.table import Table


def example(name: str = "patients") -> Table:
    """Return a small made-up table to try things on.

    Parameters
    ----------
    name : str, default "patients"
        "patients": 1000 patients with sex, age, smoking, body mass, blood pressure, the severity of an
        illness, a drug and death. Severe cases get drug B more often, so that it looks worse than it is.

    Returns
    -------
    Table

    Examples
    --------
    >>> table = example()
    >>> table.n_rows, table.names
    (1000, ('sex', 'age', 'smoker', 'bmi', 'sbp', 'severity', 'drug', 'death'))
    """
    if name != "patients":
        raise OptionError(option="name", value=name, must="be 'patients'")
    from dagora.network.patients import patient_rows

    return patient_rows()
