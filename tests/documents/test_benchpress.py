"""The module for Benchpress: its script, called as Snakemake calls it, writes what the workflow reads."""

import csv
import json
import runpy
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import dagora
from dagora.network.greenhouse import greenhouse
from dagora.network.sample import sample_network
from tests.conftest import ROOT

MODULE = ROOT / "examples" / "benchpress" / "dagora"


def called(folder: Path, **chosen: object) -> tuple[list[str], np.ndarray]:
    output = {name: str(folder / name) for name in ("adjmat", "time", "ntests")}
    snakemake = SimpleNamespace(
        input={"data": str(folder / "data.csv")}, output=output, wildcards={"replicate": "1", **chosen}
    )
    runpy.run_path(str(MODULE / "script.py"), init_globals={"snakemake": snakemake})
    assert float((folder / "time").read_text()) > 0
    assert (folder / "ntests").read_text() == "None"
    names, *rows = csv.reader((folder / "adjmat").read_text().splitlines())
    return names, np.array(rows, dtype=int)


@pytest.mark.parametrize("method", ["auto", "ges"])
def test_discrete_tables_have_levels_in_their_second_line(tmp_path: Path, method: str) -> None:
    table = sample_network(greenhouse(), 300, seed=1)
    rows = np.column_stack([table.codes(k) for k in range(len(table.names))])
    cards = [variable.cardinality for variable in table.schema]
    lines = [",".join(table.names), *(",".join(map(str, row)) for row in (cards, *rows.tolist()))]
    (tmp_path / "data.csv").write_text("\n".join(lines) + "\n")
    names, marks = called(tmp_path, method=method, score="None", datatype="discrete", timeout="None")
    columns = dict(zip(table.names, rows.T.astype(str).tolist(), strict=True))
    learned = dagora.learn(columns, method, discrete=["all"], seed=1).graph
    assert tuple(names) == learned.nodes
    assert np.array_equal(marks, learned.to_numpy())


def test_numbers_and_a_time_limit(tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text("a,b\n" + "".join(f"{x},{2 * x + (x * 7) % 3}\n" for x in range(40)))
    names, marks = called(tmp_path, method="tabu", score="bic-gaussian", datatype="continuous", timeout="30")
    assert (names, marks.sum()) == (["a", "b"], 1)


def test_the_schema_names_what_the_script_reads() -> None:
    schema = json.loads((MODULE / "schema.json").read_text())
    asked = set(schema["items"]["properties"]) - {"id"}
    script = (MODULE / "script.py").read_text()
    assert all(f'"{name}"' in script for name in asked)
