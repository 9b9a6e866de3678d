"""A folder of data with three proteins: PKA → Erk → Akt, the published table as it is."""

import gzip
from pathlib import Path

import numpy as np

from dagora.papers.gpn.published import SACHS


def write_proteins(folder: Path, data_dir: Path, pka: np.ndarray, erk: np.ndarray, akt: np.ndarray) -> None:
    """Write logarithms of the three to base 2, the consensus, and the published numbers."""
    lines = ["Erk,Akt,PKA", *(f"{2**a},{2**b},{2**c}" for a, b, c in zip(erk, akt, pka, strict=True))]
    (folder / "sachs").mkdir(parents=True)
    (folder / "sachs" / "sachs_observational.csv.gz").write_bytes(gzip.compress("\n".join(lines).encode()))
    (folder / "sachs" / "sachs_consensus_edges.csv").write_text("from,to\nErk,Akt\nPKA,Erk\n")
    (folder / SACHS).parent.mkdir(parents=True)
    (folder / SACHS).write_bytes((data_dir / SACHS).read_bytes())
