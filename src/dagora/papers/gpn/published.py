"""The authors' published results: E-SHD and seconds of their runs, from the reference data.

Their tuning parameters were chosen by E-SHD against the truth. For a Gaussian process the parameter is the
factor by which an edge is made less likely, on top of constants in their scores that do the same; for BGe
it is the prior sample size of the mean. `CHOSEN` has their choices for DAGs, so that a run under their
prior needs no reference data.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass

from dagora.files import read_text
from dagora.papers.reference_data import reference_file

SIMULATIONS, SACHS = "published/gpn/sims_best_parameter_n10.csv", "published/gpn/sachs_table.csv"

# Score and sampler as the paper names them → λ → the factor per edge.
CHOSEN: Mapping[tuple[str, str], Mapping[float, float]] = {
    ("GP", "partition"): {0.0: 100.0, 0.5: 100.0, 1.0: 10.0},
    ("GP", "order"): {0.0: 100.0, 0.5: 100.0, 1.0: 100.0},
    ("Laplace", "partition"): {0.0: 100.0, 0.5: 10.0, 1.0: 10.0},
    ("Laplace", "order"): {0.0: 100.0, 0.5: 10.0, 1.0: 10.0},
}
CHOSEN_BGE = 0.1  # their prior sample size of the mean, at every λ and for both samplers

PROTEIN_FACTOR = 1.0
"""Their factor per edge on the proteins (table 1): none."""

PROTEIN_BGE = 1.0
"""Their prior sample size of the mean on the proteins (table 1)."""


@dataclass(frozen=True)
class Simulated:
    """A line of the published simulations: medians over 100 graphs with n = 10."""

    parameter: float
    shd: float
    class_shd: float
    seconds: float


@dataclass(frozen=True)
class OnProteins:
    """A line of the published table on protein signalling; `erk_pka_absent` is 1 − P(Erk → PKA)."""

    shd: float
    class_shd: float | None
    true_edges: float
    false_edges: float
    erk_akt: float
    erk_pka_absent: float
    seconds: float


def published_simulations() -> dict[tuple[float, str, str], Simulated]:
    """Medians by λ, score and sampler ("GP", "partition"); methods that have no sampler have an empty one."""
    lines = read_lines(SIMULATIONS)
    classes = {named(line): float(line["ESHD_median"]) for line in lines if line["graph"] == "cpdag"}
    found = {}
    for line in lines:
        if line["graph"] == "dag":
            found[named(line)] = Simulated(
                parameter=float(line["parameter"]),
                shd=float(line["ESHD_median"]),
                class_shd=classes[named(line)],
                seconds=float(line["time_median"]),
            )
    return found


def named(line: Mapping[str, str]) -> tuple[float, str, str]:
    """λ, score and sampler of a line."""
    score, _, sampler = line["method"].partition(", ")
    return float(line["lambda"]), score, sampler


def published_proteins() -> dict[tuple[str, str], OnProteins]:
    """Table 1 by score ("GP", "GP²", "BGe", …) and sampler, with the seconds it took."""
    lines = read_lines(SACHS)
    classes = {line["Scorefn"]: float(line["ESHD"]) for line in lines if line["graph"] == "cpdag"}
    found = {}
    for line in lines:
        if line["graph"] == "dag":
            score, _, sampler = line["Scorefn"].partition(", ")
            found[{"GP_int": "GP²"}.get(score, score), sampler] = OnProteins(
                shd=float(line["ESHD"]),
                class_shd=classes.get(line["Scorefn"]),
                true_edges=float(line["eTP"]),
                false_edges=float(line["eFP"]),
                erk_akt=float(line["ErktoAkt"]),
                erk_pka_absent=float(line["ErktoPKA"]),
                seconds=float(line["time"]),
            )
    return found


def read_lines(name: str) -> list[dict[str, str]]:
    """Lines of a CSV file of the reference data."""
    return list(csv.DictReader(read_text(reference_file(name)).splitlines()))
