"""An owner with made-up columns wants one person's value of the other's column: with opened parameters it gets it.

SECURITY.md says so: this test shows that the warning there is true, and would fail if the warning could go.
"""

import numpy as np
import pandas as pd
import pytest

from dagora.api.learn_private import learn_private

pytestmark = pytest.mark.full


def fitting(theta, rows, ones):
    """Counts N[y, column] of all tables that give opened probabilities of a column, given its ones."""
    y1 = np.arange(rows + 1)[:, None]
    x1 = np.arange(rows + 1)[None]
    counts = np.stack([rows - y1 - (ones - x1), ones - x1 + 0 * y1, y1 - x1, x1 + 0 * y1])
    below = np.stack([counts[0] + counts[1], counts[0] + counts[1], y1 + 0 * x1, y1 + 0 * x1]) + 2
    with np.errstate(divide="ignore"):
        given = (2000 * (counts + 1) + below) // (2 * below)
    wanted = np.rint(1000 * np.array(theta)).reshape(4, 1, 1)
    good = (counts >= 0).all(axis=0) & (given == wanted).all(axis=0) & (below >= 12).all(axis=0)
    return {(int(a), int(b)) for a, b in np.argwhere(good)}


def test_made_up_columns_read_one_person_s_value_from_opened_parameters():
    """As SECURITY.md says: S1 = S2 ∪ S3 ∪ {a person}, every configuration with far more than 10 rows."""
    for seed in range(2):
        rng = np.random.default_rng(seed)
        rows = 300
        group = rng.random(rows) < 0.5
        secret = np.where(rng.random(rows) < 0.9, group, ~group)
        person, *rest = np.flatnonzero(group)
        sets = {"s1": group, "s2": np.zeros(rows, bool), "s3": np.zeros(rows, bool)}
        sets["s2"][rest[::2]] = sets["s3"][rest[1::2]] = True
        host = pd.DataFrame({"ID": range(rows), **{k: np.where(v, "1", "0") for k, v in sets.items()}})
        guest = pd.DataFrame({"ID": range(rows), "y": np.where(secret, "1", "0")})
        result = learn_private(
            host, guest, "ID", order="y,s2,s3,s1", max_parents=1, parameters="open"
        )  # fmt: skip
        opened = result.settings["tables"]["opened"]
        one, two, three = (fitting(opened[name], rows, int(sets[name].sum())) for name in ("s1", "s2", "s3"))
        read = {a - b - c for n, a in one for m, b in two for k, c in three if n == m == k}
        assert read == {int(secret[person])}
