"""Questions that a hostile coordinator may send to a site, made from honest ones by changes at random.

`assault(task, number, seed)` asks a site so many of them, and raises unless each is answered with finite
numbers or refused with a `ProtocolError`. Tests ask hundreds; call it with more for a longer search:

    python -c "from tests.parties.horizontal.learners.hostile import *; assault('admm-step', 100_000, 0)"
"""

import numpy as np

from dagora.base.errors import ProtocolError
from dagora.data.table import Table
from dagora.parties.horizontal.learners.admm_mlp_site import NetworkShape
from dagora.parties.horizontal.learners.tasks import TASKS
from dagora.parties.horizontal.session.federation import Site
from dagora.parties.transport.messages import decode, encode

D, ROWS, HIDDEN = 3, 9, 2
SHOWN_BY_CONSENT = (
    "own-squares",
    "admm-step",
    "admm-loss",
    "admm-mlp-step",
    "admm-mlp-loss",
    "local-weights",
    "local-graph",
)
ODD_NUMBERS = (0, -1, 1, 2**31, 2**63, -(2**63), 10**4000, True, 0.0, -0.0, 1e-320, 1e308, -1e308, 0.5)
ODD = (
    *ODD_NUMBERS,
    *(
        np.nan,
        np.inf,
        -np.inf,
        None,
        "",
        "global",
        "none",
        "linear",
        "ges",
        b"",
        [],
        {},
        [[1.0]],
        [["a", "b"]],
    ),
)
TYPES = ("f8", "f4", "i8", "u1", "?", "u8", "i2")


def honest(task: str) -> dict:
    """What a coordinator that keeps the rules asks; for a step, the first question of a run."""
    prepare = {"n": 30, "centre": "global", "mean": np.zeros(D)}
    size = NetworkShape(HIDDEN, D).size
    questions = {
        "own-squares": {},
        "admm-step": {**prepare, "unit": np.ones(D), "weights": np.zeros((D, D)), "rho": 0.5},
        "admm-loss": {"weights": np.zeros((D, D))},
        "admm-mlp-step": {
            **prepare, "hidden": HIDDEN, "published": 0, "free": ~np.eye(D, dtype=bool), "weights": np.full(size, 0.1), "rho": 0.5,
        },
        "admm-mlp-loss": {"weights": np.full(size, 0.1)},
        "local-weights": {
            "model": "linear", "lambda1": 0.1, "threshold": 0.3, "seconds": -1.0, "seed": 0,
            "knowledge": {"forbidden": [["a", "b"]]},
        },
        "local-graph": {
            "model": "pc", "alpha": 0.1, "seconds": -1.0, "seed": 0, "knowledge": {"forbidden": [["a", "b"]]},
        },
    }  # fmt: skip
    return questions[task]


def site() -> Site:
    rows = np.random.default_rng(1).normal(size=(ROWS, D))
    return Site("north", Table.from_numpy(rows, names=["a", "b", "c"]))


def odd_array(rng: np.random.Generator, near: object) -> np.ndarray:
    """An array of a random type and shape, or one of the right ones with odd entries."""
    if isinstance(near, np.ndarray) and near.size and rng.random() < 0.6:
        array = near.astype(rng.choice(TYPES) if rng.random() < 0.2 else near.dtype)
        flat = array.reshape(-1)
        entry = rng.choice([np.nan, np.inf, -np.inf, 1e308, -1e308, 1e155, 1e-310, 0.0, -1.0, 3.0])
        with np.errstate(all="ignore"):
            flat[rng.integers(flat.size, size=rng.integers(1, 3))] = np.float64(entry).astype(array.dtype)
        return array
    shape = tuple(rng.integers(0, D + 2, size=rng.integers(0, 4)))
    with np.errstate(all="ignore"):
        return (rng.normal(size=shape) * 10.0 ** rng.integers(-300, 300)).astype(rng.choice(TYPES))


def changed(question: dict, rng: np.random.Generator) -> dict:
    """Fields left out, added, or given odd values; some of nested knowledge too."""
    asked = dict(question)
    for _ in range(rng.integers(1, 3)):
        kind = rng.integers(5)
        name = str(rng.choice([*asked, "more"]))
        if kind == 0:
            asked.pop(name, None)
        elif kind == 1:
            asked[name] = odd_array(rng, asked.get(name))
        elif kind == 2 and name == "knowledge":
            key = str(rng.choice(["required", "forbidden", "tiers", "max_parents", "wish"]))
            asked[name] = {key: ODD[rng.integers(len(ODD))]}
        else:
            asked[name] = ODD[rng.integers(len(ODD))]
    return asked


def assault(task: str, number: int, seed: int) -> dict[str, int]:
    """How many questions were answered and how many refused; any other error is raised."""
    rng = np.random.default_rng(seed)
    told = {"answered": 0, "refused": 0}
    begun = site()
    if task.endswith("loss"):
        TASKS[task.replace("loss", "step")](begun, honest(task.replace("loss", "step")))
    for _ in range(number):
        asked = decode(encode(changed(honest(task), rng)))
        try:
            answer = TASKS[task](begun, asked)
        except ProtocolError as error:
            told["refused"] += 1
            assert "\n" not in str(error)
            assert len(str(error)) < 200
            continue
        told["answered"] += 1
        assert all(np.isfinite(value).all() for value in answer.values()), (task, asked)
    return told
