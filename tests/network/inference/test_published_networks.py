"""Published networks: two ways of ours to the same answer, and recorded answers of another program."""

import numpy as np
import pytest

from dagora.formats import read_network
from dagora.network.inference.junction_tree import JunctionTree
from dagora.network.networks import DiscreteNetwork
from dagora.network.sample import sample_network
from tests.network.network_oracles import implied_normal

# pyAgrum 3.3.1, LazyPropagation, by benchmarks/workers/query_pyagrum.py: tables in double precision.
RECORDED = [
    (
        "alarm",
        "P(HYPOVOLEMIA | HISTORY=FALSE, CVP=NORMAL, PCWP=HIGH, HRBP=LOW)",
        [0.7355745729834444, 0.2644254270165555],
    ),
    (
        "insurance",
        "P(Age | GoodStudent=False, PropCost=Thousand, OtherCar=False, MedCost=Thousand)",
        [0.14892803583689276, 0.6168957582547698, 0.23417620590833732],
    ),
    (
        "hailfinder",
        "P(N0_7muVerMo | R5Fcst=SVR, Dewpoints=LowSHighN, LowLLapse=Steep, MeanRH=Dry)",
        [0.24573384449162253, 0.2493029195688456, 0.2505679916469148, 0.25439524429261695],
    ),
    (
        "water",
        "P(C_NI_12_00 | C_NI_12_45=5, CKNI_12_45=30_MG_L, CBODD_12_45=20_MG_L, CKND_12_45=4_MG_L)",
        [0.220415727617469, 0.2465885806731341, 0.2724951769314731, 0.26050051477792363],
    ),
]


@pytest.mark.parametrize(("name", "question", "expected"), RECORDED, ids=[name for name, *_ in RECORDED])
def test_answers_are_those_of_pyagrum(name, question, expected, data_dir):
    network = read_network(data_dir / "networks" / f"{name}.bif.gz")
    np.testing.assert_allclose(network.query(question).table, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", ["alarm", "insurance", "hailfinder", "win95pts", "andes"])
def test_the_tree_and_single_questions_agree(name, data_dir):
    loaded = read_network(data_dir / "networks" / f"{name}.bif.gz")
    network = DiscreteNetwork(loaded.graph, loaded.levels, loaded.model.distributions)
    row = sample_network(network, 1, seed=2)
    leaves = [node for node in network.graph if not network.graph.children(node)][:12]
    codes = {node: int(row.codes(network.graph.index(node))[0]) for node in leaves}
    found = JunctionTree(network).calibrate(codes)
    given = {node: network.levels[node][code] for node, code in codes.items()}
    for node in [node for node in network.graph if node not in codes][::5]:
        np.testing.assert_allclose(
            network.query(of=node, given=given).table, found.marginal(node), rtol=0, atol=1e-12
        )


@pytest.mark.parametrize("name", ["ecoli70", "arth150"])
def test_gaussian_networks_answer_by_their_joint_normal(name, data_dir):
    network = read_network(data_dir / "networks" / f"{name}.json")
    mean, covariance = implied_normal(network)
    nodes = network.graph.nodes
    by, at = [1, 5, 20], 30
    values = mean[by] + 1.0
    gain = covariance[at, by] @ np.linalg.inv(covariance[np.ix_(by, by)])
    answer = network.query(of=nodes[at], given=dict(zip([nodes[i] for i in by], values, strict=True)))
    assert answer.mean[nodes[at]] == pytest.approx(mean[at] + gain.sum())
    assert answer.sd[nodes[at]] ** 2 == pytest.approx(covariance[at, at] - gain @ covariance[by, at])
