"""The accuracy of scores that are estimates: standard errors of the families scored.

Two families whose scores differ by less than their standard errors cannot be distinguished by these scores.
"""

from __future__ import annotations

from collections.abc import Mapping
from statistics import median

from dagora.scores.local_score import LocalScore

# Standard error, in nats, above which there is a warning: the family's weight is known to about 10 %.
DOUBTFUL = 0.1


def estimation(score: LocalScore | None) -> tuple[dict[str, float], list[str]]:
    """Median and largest standard error of the families scored, and the warnings of the score.

    There is a warning if an error exceeds `DOUBTFUL`. Both are empty for a score without errors or warnings.
    """
    errors = {} if score is None else score.capabilities.standard_errors()
    if score is None or not errors:
        return {}, [] if score is None else score.capabilities.warnings()
    stats = {
        "estimated_families": float(len(errors)),
        "score_error_median": median(errors.values()),
        "score_error_largest": max(errors.values()),
    }
    doubtful = sum(error > DOUBTFUL for error in errors.values())
    if not doubtful:
        return stats, []
    (child, parents), worst = max(errors.items(), key=lambda item: item[1])
    names = score.schema.names
    given = ", ".join(f"'{names[parent]}'" for parent in parents)
    others = f", and {doubtful - 1} more above {DOUBTFUL:g}" if doubtful > 1 else ""
    warning = (
        f"the score of '{names[child]}' given {given} has a standard error of {worst:.2g} nat{others}: edges "
        "that depend on it are less certain than they look; use more points, or another estimator"
    )
    return stats, [warning]


def describe_errors(stats: Mapping[str, float]) -> str:
    """The standard errors in one line.

    >>> describe_errors({"estimated_families": 8, "score_error_median": 0.0123, "score_error_largest": 0.05})
    'standard error of the score: median 0.012, largest 0.05 nat, over 8 families'
    """
    return (
        f"standard error of the score: median {stats['score_error_median']:.2g}, largest "
        f"{stats['score_error_largest']:.2g} nat, over {stats['estimated_families']:.0f} families"
    )
