"""A missing package: one line that names the right extra, before any data are read, in Python and on the command line."""

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import dagora
from dagora.base import extras
from dagora.base.extras import Need
from dagora.learners.registry import METHODS
from dagora.papers.registry import ITEMS
from tests.conftest import ROOT

# Dask comes with distributed, and JAX for a GPU is JAX.
NEEDS = [
    need
    for need in vars(extras).values()
    if isinstance(need, Need) and need not in (extras.DASK, extras.JAX_GPU)
]

# What needs each package, as a command or as Python; the files they name do not exist, and nobody looks for them.
SITES, OWNERS = "the package 'cryptography': pip install 'dagora[federated]'", "'dagora[private]'"
CASES: dict[str, dict[str, str]] = {
    "pyscipopt": {
        "learn none.csv --method ilp": "the method ilp needs PySCIPOpt: pip install 'dagora[exact]'",
        "federate simulate none.csv --parties 3 --method ilp": "the method ilp needs PySCIPOpt",
        "reproduce rbnets/table2 -o none/at/all": "the reproduction rbnets/table2 needs PySCIPOpt",
        "dagora.learn('none.csv', 'ilp')": "the method ilp needs PySCIPOpt: pip install 'dagora[exact]'",
    },
    "jax": {
        "learn none.csv --method notears-mlp": "the method notears-mlp needs JAX: pip install 'dagora[bayes]'",
        "learn none.csv --method rbnets": "the method rbnets needs JAX: pip install 'dagora[bayes]'",
        "learn none.csv --method rl-bic": "the method rl-bic needs JAX: pip install 'dagora[bayes]'",
        "federate simulate none.csv --parties 3 --method admm-mlp": "the method admm-mlp needs JAX",
        "reproduce admm/fig4": "the reproduction admm/fig4 needs JAX: pip install 'dagora[bayes]'",
        "dagora.learn('none.csv', method='rbnets')": "the method rbnets needs JAX",
    },
    "matplotlib": {
        "reproduce notears/table1": "needs matplotlib: pip install 'dagora[papers]'",
    },
    "cryptography": {
        "federate keys none --sites a,b,c": f"dagora federate needs {SITES}",
        "federate coordinator --keys none --sites a,b,c": f"dagora federate needs {SITES}",
        "federate client none.csv --keys none --connect 127.0.0.1:1": f"dagora federate needs {SITES}",
        "federate policy init none.csv --keys none": f"dagora federate needs {SITES}",
        "federate simulate none.csv --parties 3": f"dagora federate needs {SITES}",
        "federate simulate none.csv --parties 3 --in-memory": f"dagora federate needs {SITES}",
        "private certificates none": OWNERS,
        "private host --data none.csv --key ID --certificates none": OWNERS,
        "private join --data none.csv --key ID --connect 127.0.0.1:1 --certificates none": OWNERS,
        "private simulate none.csv none.csv --key ID": OWNERS,
        "private simulate none.csv none.csv --key ID --in-memory": OWNERS,
        "reproduce private-k2/f-vs-g": OWNERS,
        "reproduce admm/privacy": "'dagora[federated]'",
        "__import__('dagora.api.learn_private')": f"learning from the columns of two owners needs the package 'cryptography': pip install {OWNERS}",
    },
    "nacl": {
        "private certificates none": "dagora private needs the package 'pynacl': pip install 'dagora[private]'",
        "private host --data none.csv --key ID --certificates none": OWNERS,
        "private join --data none.csv --key ID --connect 127.0.0.1:1 --certificates none": OWNERS,
        "private simulate none.csv none.csv --key ID": OWNERS,
        "private simulate none.csv none.csv --key ID --in-memory": OWNERS,
        "reproduce private-k2/f-vs-g": OWNERS,
        "__import__('dagora.api.learn_private')": f"learning from the columns of two owners needs the package 'pynacl': pip install {OWNERS}",
    },
    "gmpy2": {
        "private simulate none.csv none.csv --key ID --crypto paillier": "--crypto paillier needs the package 'gmpy2': pip install 'dagora[private]'",
        "reproduce private-k2/scaling": OWNERS,
    },
    "arviz": {
        "dagora.Posterior.to_arviz(None)": "to_arviz needs ArviZ: pip install 'dagora[bayes]'",
    },
    "distributed": {
        "learn none.parquet --dask tcp://127.0.0.1:1": "a Dask cluster needs Dask: pip install 'dagora[dask]'",
        "learn none.csv --bootstrap 9 --dask tcp://127.0.0.1:1": "a Dask cluster needs Dask",
        "sample none.csv --dask tcp://127.0.0.1:1": "a Dask cluster needs Dask: pip install 'dagora[dask]'",
        "score none.csv -o none.jkl --dask tcp://127.0.0.1:1": "a Dask cluster needs Dask",
        "reproduce private-k2/f-vs-g -o none/at/all --dask tcp://127.0.0.1:1": "a Dask cluster needs Dask",
        "dagora.bootstrap('none.csv', dask='tcp://127.0.0.1:1')": "a Dask cluster needs Dask: pip install 'dagora[dask]'",
        "dagora.sample('none.csv', dask='tcp://127.0.0.1:1')": "a Dask cluster needs Dask: pip install 'dagora[dask]'",
    },
    "adbc_driver_postgresql": {
        "dagora.open_rows('postgresql://ada@localhost/shop', table='orders')": "a PostgreSQL database needs the package 'adbc-driver-postgresql': pip install 'dagora[engines]'",
    },
    "sklearn": {
        "__import__('dagora.estimators')": "dagora.estimators needs scikit-learn: pip install 'dagora[sklearn]'",
    },
    "starlette": {
        "explore none.csv": "dagora explore needs Starlette: pip install 'dagora[app]'",
    },
    "uvicorn": {
        "explore": "pip install 'dagora[app]'",
    },
    "duckdb": {
        "dagora.open_rows('duckdb:shop.db', table='orders')": "a DuckDB file needs DuckDB: pip install 'dagora[engines]'",
    },
    "python_calamine": {
        "learn none.xlsx": "a spreadsheet needs the package 'python-calamine': pip install 'dagora[files]'",
        "dagora.read_table('none.ods')": "a spreadsheet needs the package 'python-calamine'",
    },
    "pyreadstat": {
        "inspect none.sav": "a file of SPSS needs the package 'pyreadstat': pip install 'dagora[files]'",
        "dagora.learn('none.dta')": "a file of Stata needs the package 'pyreadstat'",
    },
}  # fmt: skip

# Packages that are imported under another name.
PACKAGES = {"sklearn": "scikit-learn", "nacl": "pynacl"}

TRY = """
import contextlib, io, json, sys
package, cases = sys.argv[1], json.loads(sys.argv[2])
sys.modules[package] = None  # as if it were not installed
import dagora
from dagora.cli.main import run
from dagora.base.errors import DagoraError
for case in cases:
    said = io.StringIO()
    if "(" in case:
        try:
            eval(case)
            code = 0
        except DagoraError as error:
            code, said = 2, io.StringIO(f"dagora: error: {error}\\n")
    else:
        with contextlib.redirect_stderr(said), contextlib.redirect_stdout(said):
            code = run(case.split())
    print(json.dumps([code, said.getvalue()]))
"""


@pytest.mark.full
@pytest.mark.parametrize("package", CASES)
def test_without_a_package(package: str, tmp_path: Path) -> None:
    cases = CASES[package]
    ran = subprocess.run(
        [sys.executable, "-c", TRY, package, json.dumps(list(cases))], cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True, encoding="utf-8", timeout=120, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    answers = [json.loads(line) for line in ran.stdout.splitlines()]
    for (case, expected), (code, said) in zip(cases.items(), answers, strict=True):
        assert (case, code, said.count("\n")) == (case, 2, 1), said
        assert said.startswith("dagora: error: ")
        assert expected in said, case
    assert list(tmp_path.iterdir()) == [], "nothing was begun"


def test_every_need_is_tried() -> None:
    assert {need.module for need in NEEDS} == set(CASES)
    tried = " ".join(case for cases in CASES.values() for case in cases)
    assert [m.name for m in METHODS if m.needs and f"--method {m.name}" not in tried] == []


def test_extras_install_what_is_needed() -> None:
    installed = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    for need in NEEDS:
        packages = {re.split(r"[<>=\[]", package)[0] for package in installed[need.extra]}
        assert PACKAGES.get(need.module, need.module.replace("_", "-")) in packages
    every = next(package for package in installed["runtime"])
    assert {need.extra for need in NEEDS} == set(re.findall(r"\[(.*)\]", every)[0].split(","))


def test_reproductions_say_what_they_need() -> None:
    assert {item.name.partition("/")[0] for item in ITEMS if len(item.needs) > 1} == {"admm", "private-k2", "rbnets"}  # fmt: skip


def test_the_registry_tells_what_a_method_needs() -> None:
    assert "needs      PySCIPOpt: pip install 'dagora[exact]'" in repr(dagora.methods("ilp"))


def test_no_other_file_says_how_to_install() -> None:
    saying = [
        str(file.relative_to(ROOT))
        for file in (ROOT / "src").rglob("*.py")
        if "pip install 'dagora" in file.read_text()
    ]
    assert saying == ["src/dagora/base/extras.py"]
