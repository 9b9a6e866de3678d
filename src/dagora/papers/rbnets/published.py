"""The paper's printed values: the seconds of its table 2, the counts of its tables 3 and 4."""

from __future__ import annotations

from dagora.papers.rbnets.contenders import PUBLISHED

OT, OM = "OT", "OM"
# Its GOBNILP stands beside our ILP.
SECONDS_COLUMNS = ("A*", "ILP", "GHC", "OBS", "ASOBS", "RL-BIC", PUBLISHED)
# Table 2, seconds.
SECONDS: dict[str, tuple[float | str, ...]] = {
    "shuttle": (0.8, 3.6, 5.6, 3.2, 3.0, 2.8, 1.2),
    "adult": (9.6, 0.9, 28.4, 12.8, 6.4, 3.6, 2.3),
    "voting": (4.4, 3.1, 19.2, 18.6, 12.5, 8.3, 2.6),
    "segment": (2.8, 4.0, 26.7, 10.2, 5.8, 6.1, 3.5),
    "horse colic": (8.5, 11.8, 121.6, 64.0, 42.3, 29.6, 12.4),
    "water*": (6.2, 4.7, 239.4, 43.9, 26.6, 25.7, 15.8),
    "alarm*": (70.1, 6.9, 1385.1, 482.3, 320.7, 105.4, 80.5),
    "sponge": (138.4, 20.6, OT, 215.6, 68.5, 29.8, 19.7),
    "hailfinder*": (OM, 129.3, OT, 673.3, 104.3, 105.6, 71.1),
    "hepar*": (OM, OT, OT, 1204.7, 382.4, 309.1, 209.2),
    "ozone": (OM, OT, OT, 3420.0, 715.7, 769.2, 526.4),
    "insurance": (OM, OT, OT, 3257.8, 2802.5, 2035.7, 1953.0),
    "pathfinder*": (OM, OM, OT, 3070.6, 1961.0, 1544.9, 1194.1),
    "gas sensor": (OM, OM, OT, 3641.2, 3409.4, 3284.8, 3026.5),
    "semeion": (OM, OM, OT, 18530.6, 13298.5, 12037.0, 10573.2),
    "madelon": (OM, OM, OT, 30268.9, 22746.6, 22453.7, 19281.7),
    "isolet": (OM, OM, OT, 38211.4, 29682.3, 28444.8, 26318.6),
    "parkinson": (OM, OM, OT, OT, 31842.1, 28373.5, 27805.9),
    "androgen": (OM, OM, OT, OT, 39467.4, 37009.2, 36256.0),
    "wikipedia": (OM, OM, OT, OT, 40369.2, 38675.1, 38096.8),
}

# Tables 3 and 4: of 30 data sets, how many fall into each category of RBNets' BIC less the other's.
CATEGORIES = (
    "very positive",
    "strongly positive",
    "positive",
    "neutral",
    "negative",
    "strongly negative",
    "very negative",
)
# Table 3.
UNKNOWN_STRUCTURES = {
    "GHC": (24, 3, 2, 1, 0, 0, 0),
    "OBS": (21, 4, 2, 3, 0, 0, 0),
    "ASOBS": (15, 3, 6, 5, 1, 0, 0),
    "RL-BIC": (12, 6, 5, 6, 1, 0, 0),
}
# Table 4.
KNOWN_STRUCTURES = {
    "GHC": (29, 0, 1, 0, 0, 0, 0),
    "OBS": (23, 1, 3, 3, 0, 0, 0),
    "ASOBS": (19, 0, 2, 5, 2, 1, 1),
    "RL-BIC": (14, 5, 3, 4, 2, 2, 0),
}


def seconds_in_paper(data: str, label: str) -> float | str | None:
    """The paper's entry, OT or OM where its limits ended a method; None where it has none."""
    return SECONDS[data][SECONDS_COLUMNS.index(label)] if label in SECONDS_COLUMNS else None


def category(difference: float) -> str:
    """The evidence that a difference in BIC is; the paper leaves the bounds themselves open.

    >>> category(10.5), category(10.0), category(-2.0), category(-2.5)
    ('very positive', 'strongly positive', 'neutral', 'negative')
    """
    if abs(difference) <= 2:
        return "neutral"
    strength = 2 if abs(difference) > 10 else 1 if abs(difference) > 6 else 0
    return CATEGORIES[2 - strength] if difference > 0 else CATEGORIES[4 + strength]
