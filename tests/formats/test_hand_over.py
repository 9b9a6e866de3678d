"""Networks handed over to pgmpy, pyAgrum and DoWhy, each in an environment of its own: they answer as we do.

`python benchmarks/peers.py pgmpy pyagrum dowhy` makes the environments. They hold the peers alone: dagora's own
dependencies come from where these tests run, and count only where a peer brings none of that name.
"""

import json
import os
import re
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dagora import CPDAG, DAG, GraphError, OptionError
from dagora.formats.hand_over import to_dowhy, to_pgmpy, to_pyagrum
from dagora.network.greenhouse import greenhouse
from dagora.network.networks import DiscreteNetwork
from dagora.network.sample import sample_network
from tests.conftest import ROOT

PEERS = Path(os.environ.get("DAGORA_PEERS", ROOT / ".bench"))
BESIDE = f"import sys; sys.path.append({sysconfig.get_path('purelib')!r})\n"
MADE = """
import json, sys
import numpy as np
import dagora
from dagora.formats import hand_over
from dagora.network.greenhouse import greenhouse
network = greenhouse()
rng = np.random.default_rng(1)
names = list(network.graph.nodes)
asked = []
for _ in range(20):
    node, *given = rng.permutation(names)[: 1 + rng.integers(0, 3)]
    evidence = {str(x): str(rng.choice(network.levels[x])) for x in given}
    asked.append((str(node), evidence))
assert len(asked) > 10
def ours(node, evidence):
    bar = " | " + ", ".join(f"{x}={v}" for x, v in evidence.items()) if evidence else ""
    answer = network.query(f"P({node}{bar})").probabilities
    return [answer[level] if level in answer else answer[level,] for level in network.levels[node]]
"""
SCRIPTS = {
    "pgmpy": MADE + """
from pgmpy.inference import VariableElimination
model = hand_over.to_pgmpy(network)
assert model.check_model()
engine = VariableElimination(model)
worst = 0.0
for node, evidence in asked:
    answer = engine.query([node], evidence=evidence, show_progress=False)
    worst = max(worst, max(abs(answer.get_value(**{node: level}) - p) for level, p in zip(network.levels[node], ours(node, evidence))))
graph = dagora.DAG("abc", [("a", "c"), ("b", "c")])
from dagora.network.networks import GaussianNetwork
lines = GaussianNetwork(graph, dict(a=1.0, b=0.0, c=0.5), dict(a=np.zeros(0), b=np.zeros(0), c=np.array([2.0, -1.0])), dict(a=1.0, b=2.0, c=0.5))
mean, covariance = hand_over.to_pgmpy(lines).to_joint_gaussian()
order = list(hand_over.to_pgmpy(lines).nodes())
variance = float(np.asarray(covariance)[2, 2])
print(json.dumps([worst, variance]))
""",
    "pyagrum": MADE + """
import pyagrum
model = hand_over.to_pyagrum(network)
worst = 0.0
for node, evidence in asked:
    engine = pyagrum.LazyPropagation(model)
    engine.setEvidence(evidence)
    engine.makeInference()
    answer = engine.posterior(node)
    worst = max(worst, max(abs(answer[{node: level}] - p) for level, p in zip(network.levels[node], ours(node, evidence))))
print(json.dumps([worst]))
""",
    "dowhy": """
import json, warnings
warnings.simplefilter("ignore")
import numpy as np, pandas as pd
import dagora
from dagora.formats.hand_over import to_dowhy
rng = np.random.default_rng(0)
z = rng.normal(size=2000); x = z + rng.normal(size=2000); y = 2.0 * x - 3.0 * z + rng.normal(size=2000)
frame = pd.DataFrame({"age": z, "daily dose": x, "effect": y})
graph = dagora.DAG(["age", "daily dose", "effect"], [("age", "daily dose"), ("age", "effect"), ("daily dose", "effect")])
model = to_dowhy(graph, frame, "daily dose", "effect")
found = model.identify_effect(proceed_when_unidentifiable=True)
effect = model.estimate_effect(found, method_name="backdoor.linear_regression").value
ours = np.linalg.lstsq(np.column_stack([x, z, np.ones(2000)]), y, rcond=None)[0][0]
print(json.dumps([abs(effect - ours), float(effect), found.get_backdoor_variables()]))
""",
}  # fmt: skip


def answers(python: Path | str, script: str, folder: Path, given: str = "") -> Any:
    """What a script prints in its last line."""
    said = subprocess.run(
        [python, "-c", BESIDE + script], cwd=folder, input=given, capture_output=True, encoding="utf-8", check=False,
        timeout=600, env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
    )  # fmt: skip
    assert said.returncode == 0, said.stderr[-2000:]
    return json.loads(said.stdout.splitlines()[-1])


def ask(peer: str, folder: Path, script: str | None = None, given: str = "") -> Any:
    """The same in the environment of a peer."""
    python = PEERS / peer / "bin" / "python"
    if not python.exists():
        pytest.skip(f"needs `python benchmarks/peers.py {peer}`, which makes {PEERS / peer}")
    return answers(python, script or SCRIPTS[peer], folder, given)


@pytest.mark.peer
@pytest.mark.slow
def test_pgmpy_answers_the_same(tmp_path):
    worst, variance = ask("pgmpy", tmp_path)
    assert worst < 1e-12
    assert variance == pytest.approx(0.25 + 4 * 1 + 1 * 4, abs=1e-3)  # pgmpy rounds


@pytest.mark.peer
@pytest.mark.slow
def test_pyagrum_answers_the_same(tmp_path):
    (worst,) = ask("pyagrum", tmp_path)
    assert worst < 1e-12


@pytest.mark.peer
@pytest.mark.slow
def test_dowhy_finds_what_to_adjust_for(tmp_path):
    difference, effect, adjusted = ask("dowhy", tmp_path)
    assert adjusted == ["age"]
    assert difference < 1e-6
    assert effect == pytest.approx(2.0, abs=0.1)


# The lines of docs/hand-over.md, one by one: what each of its functions returned, or said of a library that is not there.
PAGE = """
import ast, json, sys, warnings
warnings.simplefilter("ignore")
from dagora.base.errors import OptionError
names, said = {}, {}
for line in ast.parse(sys.stdin.read()).body:
    if not isinstance(line, ast.Expr):
        exec(compile(ast.Module([line], []), "hand-over.md", "exec"), names)
        continue
    try:
        answer = type(eval(compile(ast.Expression(line.value), "hand-over.md", "eval"), names)).__name__
    except OptionError as error:
        answer = str(error)
    said[line.value.func.id] = answer
print(json.dumps(said))
"""
MODELS = {"pgmpy": "DiscreteBayesianNetwork", "pyagrum": "BayesNet", "dowhy": "CausalModel"}


@pytest.fixture
def lines(tmp_path: Path) -> str:
    """The block of the page, and the table that it reads."""
    table = sample_network(greenhouse(), 300, seed=1).select(["season", "light", "growth"]).to_pandas()
    table.set_axis(["smoker", "tar", "cough"], axis=1).to_csv(tmp_path / "patients.csv", index=False)
    (block,) = re.findall(r"```python\n(.*?)```", (ROOT / "docs/hand-over.md").read_text(), re.DOTALL)
    return block


def test_the_page_runs_where_no_peer_is_installed(lines, tmp_path):
    said = answers(sys.executable, PAGE, tmp_path, lines)
    assert sorted(said) == sorted(f"to_{peer}" for peer in MODELS)
    for peer, model in MODELS.items():
        assert said[f"to_{peer}"] == model or f"pip install {peer}" in said[f"to_{peer}"]


@pytest.mark.peer
@pytest.mark.slow
@pytest.mark.parametrize("peer", MODELS)
def test_the_page_hands_a_network_over(peer, lines, tmp_path):
    assert ask(peer, tmp_path, PAGE, lines)[f"to_{peer}"] == MODELS[peer]


def test_what_cannot_be_handed_over():
    one = DiscreteNetwork(DAG("a"), {"a": ("x",)}, {"a": np.array([1.0])})
    with pytest.raises(GraphError, match="choose a member"):
        to_dowhy(CPDAG("ab", undirected=[("a", "b")]), None, "a", "b")
    with pytest.raises(GraphError, match="known are a, b"):
        to_dowhy(DAG("ab"), None, "a", "z")
    for hand_over in (to_pgmpy, to_pyagrum):
        with pytest.raises(GraphError, match="fit"):
            hand_over(DAG("ab"))
        with pytest.raises((OptionError, GraphError), match=r"pip install|one level"):
            hand_over(one)
