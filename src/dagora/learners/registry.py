"""The registry of learners: the name, input, promise, reference and options of each.

A new method adds an entry to a file of `entries/`; the command, the contract tests and
`dagora methods` then know it.
"""

from __future__ import annotations

from dagora.base.errors import OptionError
from dagora.base.extras import require_all
from dagora.base.options import find_in_any_case
from dagora.learners.entries.independence import INDEPENDENCE
from dagora.learners.entries.nongaussian import NONGAUSSIAN
from dagora.learners.entries.policies import POLICIES
from dagora.learners.entries.searches import SEARCHES
from dagora.learners.entries.sites import SITES
from dagora.learners.entries.time import TIME
from dagora.learners.entries.weights import WEIGHTS
from dagora.learners.method import Method

METHODS = (*SEARCHES, *POLICIES, *WEIGHTS, *TIME, *INDEPENDENCE, *NONGAUSSIAN, *SITES)


def method_named(name: str) -> Method:
    """Find a method, or say which there are; one whose packages are missing is refused.

    >>> method_named("hill-climb").promise
    'a local optimum: no added, deleted or reversed edge improves the score'
    """
    if hasattr(name, "shape"):
        raise OptionError(
            f"the second argument is the name of a method, not a {type(name).__name__}: all variables, also "
            "a target, are columns of one table"
        )
    method = find_in_any_case("method", name, {method.name: method for method in METHODS})
    require_all(method.needs, f"the method {method.name}")
    return method


def methods_with(option: str) -> str:
    """The end of an error about an option that a method has not: the methods that have it.

    >>> methods_with("restarts"), methods_with("zebra")
    ('; hill-climb, tabu, obs have it', '')
    """
    names = [method.name for method in METHODS if option in {own.name for own in method.options}]
    return f"; {', '.join(names)} {'has' if len(names) == 1 else 'have'} it" if names else ""
