"""The authors' published results: E-SHD and seconds of their runs, from the reference data.

Their tuning parameters were chosen by E-SHD against the truth. For a Gaussian process the parameter is the
factor by which an edge is made less likely, on top of constants in their scores that do the same; for BGe
it is the prior sample size of the mean. `CHOSEN` has their choices for DAGs, so that a run under their
prior needs no reference data.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dagora.base.files import read_text
from dagora.papers.reference_data import reference_file

SACHS = "published/gpn/sachs_table.csv"  # table 1
SIMULATIONS = {  # figures 1 and 2, and their counterparts with 15 nodes
    10: "published/gpn/sims_best_parameter_n10.csv",
    15: "published/gpn/sims_best_parameter_n15.csv",
}

BY_PARAMETER = "published/gpn/sims_summary_by_parameter_n10.csv"  # each parameter that they tried

# Figure 1: number of nodes → score and sampler as the paper names them → λ → the factor per edge.
CHOSEN: Mapping[int, Mapping[tuple[str, str], Mapping[float, float]]] = {
    10: {
        ("GP", "partition"): {0.0: 100.0, 0.5: 100.0, 1.0: 10.0},
        ("GP", "order"): {0.0: 100.0, 0.5: 100.0, 1.0: 100.0},
        ("Laplace", "partition"): {0.0: 100.0, 0.5: 10.0, 1.0: 10.0},
        ("Laplace", "order"): {0.0: 100.0, 0.5: 10.0, 1.0: 10.0},
    },
    15: {
        (score, sampler): {0.0: 100.0, 0.5: 100.0, 1.0: 100.0}
        for score in ("GP", "Laplace")
        for sampler in ("partition", "order")
    },
}
CHOSEN_BGE = 0.1  # figure 1: their prior sample size of the mean, at every λ and for both samplers

# Table 1, the proteins: their factor per edge (none), and their prior sample size of the mean.
PROTEIN_FACTOR, PROTEIN_BGE = 1.0, 1.0


@dataclass(frozen=True)
class PublishedSimulation:
    """A line of the published simulations: medians over 100 graphs, quartiles, and means of counts.

    `rates` are the mean true and false positives per true edge of the edges above a probability of ½;
    `true_edges` is the mean number of edges of the true graphs, which follows from the other means.
    """

    parameter: float
    shd: float
    quartiles: tuple[float, float]
    class_shd: float
    seconds: float
    rates: tuple[float, float]
    true_edges: float


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


Line = tuple[float, str, str]


def published_simulations(nodes: int = 10) -> dict[Line, PublishedSimulation]:
    """Results by λ, score and sampler ("GP", "partition"); methods that have no sampler have an empty one."""
    return read_simulations(read_lines(SIMULATIONS[nodes]))


def published_dibs_lines() -> dict[Line, PublishedSimulation]:
    """Results of DiBS+ with ten nodes by λ, score and each of their parameters ("par = 2")."""
    lines = [line for line in read_lines(BY_PARAMETER) if line["method"] == "DiBS+"]
    return {
        (decay, name, f"par = {par:g}"): line
        for par in {float(line["parameter"]) for line in lines}
        for (decay, name, _), line in read_simulations(
            [line for line in lines if float(line["parameter"]) == par]
        ).items()
    }


def read_simulations(lines: Sequence[Mapping[str, str]]) -> dict[Line, PublishedSimulation]:
    """Results by λ, score and sampler; classes may be those of another parameter."""
    classes = {parse_line(line): float(line["ESHD_median"]) for line in lines if line["graph"] == "cpdag"}
    return {
        parse_line(line): PublishedSimulation(
            parameter=float(line["parameter"]),
            shd=float(line["ESHD_median"]),
            quartiles=(float(line["q25"]), float(line["q75"])),
            class_shd=classes[parse_line(line)],
            seconds=float(line["time_median"]),
            rates=(float(line["TPR_mean"]), float(line["FPRp_mean"])),
            true_edges=float(line["ESHD_mean"]) + float(line["eTP_mean"]) - float(line["eFP_mean"]),
        )
        for line in lines
        if line["graph"] == "dag"
    }


def parse_line(line: Mapping[str, str]) -> Line:
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
