"""RL-BIC against its null models on linear Gaussian problems of 12 nodes, as in its paper.

    python benchmarks/rl_bic.py [--rounds 20000] [--graphs 5] [--output FILE.md]

Needs only numpy and JAX, and wants a GPU: the network and the learning of `dagora.learners.search.rl_bic`, as
one program that draws, scores and learns without leaving the device, for all problems at once. (The method
itself takes any score and asks for it on the processor, which is slower: on one, about 0.15 s a round.)

Random DAGs of 12 nodes, weights ±[0.5, 2], noise of variance 1, 5000 rows, columns shuffled. "dense" has half
of all pairs joined, as in the paper, "sparse" 1.5 edges a node. RL-BIC draws `rounds` times 64 graphs; then
edges are pruned that the score can do without. The null models: the best of as many random DAGs, pruned
alike, and greedy hill climbing on the same score. "equal": one pooled variance (the paper's BIC2).
"""

from __future__ import annotations

import argparse
import time
from functools import partial
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax, random

jax.config.update("jax_enable_x64", True)

NODES, ROWS = 12, 5000
HIDDEN, BLOCKS, HEADS, SAMPLE, BATCH, DECODER, CRITIC = 64, 6, 16, 64, 64, 16, 64
STAGES = 20  # how often the penalties grow
BITS = 1 << np.arange(NODES)
SINGLE = jnp.float32


def problem(seed, degree):
    """Rows, the true graph, and the BIC of every family: [child, bits of the parents]."""
    rng = np.random.default_rng(seed)
    truth = np.triu(rng.random((NODES, NODES)) < 2 * degree / (NODES - 1), 1)
    weights = truth * rng.uniform(0.5, 2, truth.shape) * rng.choice([-1, 1], truth.shape)
    rows = rng.normal(size=(ROWS, NODES)) @ np.linalg.inv(np.eye(NODES) - weights)
    order = rng.permutation(NODES)
    rows, truth = rows[:, order], truth[np.ix_(order, order)]
    rows -= rows.mean(axis=0)
    scatter = rows.T @ rows
    sets = np.arange(1 << NODES)
    members = (sets[:, None] >> np.arange(NODES)) & 1
    table = np.zeros((NODES, 1 << NODES))
    for size in range(NODES):
        chosen = sets[members.sum(axis=1) == size]
        parents = np.nonzero(members[chosen])[1].reshape(len(chosen), size)
        among = scatter[parents[:, :, None], parents[:, None]]
        for child in range(NODES):
            free = members[chosen, child] == 0
            with_child = scatter[parents[free], child]
            left = scatter[child, child]
            if size:
                solved = np.linalg.solve(among[free], with_child[..., None])[..., 0]
                left = left - np.einsum("ij,ij->i", with_child, solved)
            likelihood = -ROWS / 2 * (np.log(2 * np.pi * left / ROWS) + 1)
            table[child, chosen[free]] = likelihood - price(size)
    return rows, truth, table


def price(parents):
    return np.log(ROWS) / 2 * (parents + 2)


def glorot(key, *shape):
    limit = np.sqrt(6 / (shape[-1] + shape[-2]))
    return random.uniform(key, shape, SINGLE, -limit, limit)


def new_policy(key):
    keys = iter(random.split(key, 20))
    zeros = partial(jnp.zeros, dtype=SINGLE)
    embedding = glorot(next(keys), SAMPLE, HIDDEN)
    square = {name: glorot(next(keys), BLOCKS, HIDDEN, HIDDEN) for name in ("q", "k", "v", "merge")}
    blocks = {
        **square,
        "wide": glorot(next(keys), BLOCKS, HIDDEN, 4 * HIDDEN),
        "wide_bias": zeros((BLOCKS, 4 * HIDDEN)),
        "narrow": glorot(next(keys), BLOCKS, 4 * HIDDEN, HIDDEN),
        "narrow_bias": zeros((BLOCKS, HIDDEN)),
        "scale": zeros((BLOCKS, 2, HIDDEN)) + 1,
        "shift": zeros((BLOCKS, 2, HIDDEN)),
    }
    return {
        "embedding": embedding,
        "blocks": blocks,
        "tails": glorot(next(keys), HIDDEN, DECODER),
        "heads": glorot(next(keys), HIDDEN, DECODER),
        "edges": glorot(next(keys), DECODER, 1),
        "critic": glorot(next(keys), HIDDEN, CRITIC),
        "critic_bias": zeros(CRITIC),
        "foretold": glorot(next(keys), CRITIC, 1),
        "foretold_bias": zeros(()),
    }


def normalised(tokens, scale, shift):
    centred = tokens - tokens.mean(axis=(0, 1), keepdims=True)
    return centred * lax.rsqrt((centred**2).mean(axis=(0, 1), keepdims=True) + 1e-5) * scale + shift


def considered(policy, samples):
    """Logits of edges, and the rewards that the critic expects."""

    def through(tokens, block):
        split = (BATCH, NODES, HEADS, HIDDEN // HEADS)
        q, k, v = ((tokens @ block[name]).reshape(split) for name in "qkv")
        alike = jnp.einsum("bihk,bjhk->bhij", q, k) / np.float32((HIDDEN // HEADS) ** 0.5)
        taken = jnp.einsum("bhij,bjhk->bihk", jax.nn.softmax(alike, -1), v).reshape(tokens.shape)
        tokens = normalised(tokens + taken @ block["merge"], block["scale"][0], block["shift"][0])
        inner = jax.nn.relu(tokens @ block["wide"] + block["wide_bias"])
        tokens = tokens + inner @ block["narrow"] + block["narrow_bias"]
        return normalised(tokens, block["scale"][1], block["shift"][1]), None

    tokens = lax.scan(through, samples @ policy["embedding"], policy["blocks"])[0]
    joint = (tokens @ policy["tails"])[:, :, None] + (tokens @ policy["heads"])[:, None]
    mean = lax.stop_gradient(tokens.mean(axis=1))
    foretold = jax.nn.relu(mean @ policy["critic"] + policy["critic_bias"]) @ policy["foretold"]
    return (jnp.tanh(joint) @ policy["edges"])[..., 0], foretold[:, 0] + policy["foretold_bias"]


FREE = ~np.eye(NODES, dtype=bool)


def judged(graphs, table, bounds, penalties, equal):
    """Scores of graphs, which of them are DAGs, and rewards."""
    sets = jnp.einsum("bij,i->bj", graphs.astype(jnp.int32), jnp.asarray(BITS, jnp.int32))
    families = table[jnp.arange(NODES), sets]
    prices = price(graphs.sum(axis=1))
    variances = jnp.exp(-2 / ROWS * (families + prices) - 1)
    pooled = -ROWS * NODES / 2 * (jnp.log(variances.mean(axis=1)) + 1) - prices.sum(axis=1)
    scores = jnp.where(equal, pooled, families.sum(axis=1))
    part, unit = graphs.astype(jnp.float64) / 16, jnp.eye(NODES)
    total = unit + part / 10
    for term in range(9, 0, -1):
        total = unit + part @ total / term
    for _ in range(4):
        total = total @ total
    walks = jnp.trace(total, axis1=1, axis2=2) - NODES
    acyclic = walks < 1e-7
    cost = 5 * (bounds[1] - scores) / (bounds[1] - bounds[0])
    cyclic = penalties[0] * ~acyclic + penalties[1] * jnp.where(acyclic, 0, walks)
    return scores, acyclic, -(cost + cyclic).astype(SINGLE)


def loss(policy, samples, graphs, rewards, usual):
    logits, expected = considered(policy, samples)
    surprise = rewards - usual - expected
    likelihood = ((jnp.where(graphs, logits, 0) - jax.nn.softplus(logits)) * FREE).sum((1, 2))
    entropy = ((jax.nn.softplus(logits) - logits * jax.nn.sigmoid(logits)) * FREE).sum((1, 2))
    gain = lax.stop_gradient(surprise) * likelihood
    return (surprise**2 - gain - np.float32(1e-3) * entropy).mean()


def one_round(state, _, rows, table, bounds, penalties, equal):
    policy, mean, square, count, usual, key, best, best_graph, dags = state
    key, for_rows, for_edges = random.split(key, 3)
    samples = rows[random.randint(for_rows, (BATCH, SAMPLE), 0, ROWS)].swapaxes(1, 2)
    logits, _ = considered(policy, samples)
    graphs = (random.uniform(for_edges, logits.shape, SINGLE) < jax.nn.sigmoid(logits)) & FREE
    scores, acyclic, rewards = judged(graphs, table, bounds, penalties, equal)
    permitted = jnp.where(acyclic, scores, -1e18)
    leader = permitted.argmax()
    better = permitted[leader] > best
    best_graph = jnp.where(better, graphs[leader], best_graph)
    best = jnp.where(better, permitted[leader], best)
    usual = jnp.where(count == 0, rewards.mean(), usual)
    slope = jax.grad(loss)(policy, samples, graphs, rewards, usual)
    norm = jnp.sqrt(sum((part**2).sum() for part in jax.tree.leaves(slope)))
    length = jnp.minimum(1.0, 1 / (norm + 1e-8)).astype(SINGLE)
    mean = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * length * g, mean, slope)
    square = jax.tree.map(lambda s, g: 0.999 * s + 0.001 * (length * g) ** 2, square, slope)
    count = count + 1
    t = count.astype(SINGLE)
    rate = np.float32(1e-3) * 0.96 ** (t / 5000) * jnp.sqrt(1 - 0.999**t) / (1 - 0.9**t)
    policy = jax.tree.map(lambda w, m, s: w - rate * m / (jnp.sqrt(s) + 1e-8), policy, mean, square)
    usual = 0.99 * usual + 0.01 * rewards.mean()
    dags = dags + acyclic.sum(dtype=jnp.int32)
    return (policy, mean, square, count, usual, key, best, best_graph, dags), None


def best_drawn(problems, equal, rounds):
    """The best DAG drawn for each problem, how many DAGs were drawn, and seconds."""
    number = len(problems)
    rows = jnp.asarray(np.stack([r / np.sqrt((r**2).mean()) for r, _, _ in problems]), SINGLE)
    table = jnp.asarray(np.stack([each for _, _, each in problems]))
    low = [each[:, 0].sum() for _, _, each in problems]
    high = [each.max(axis=1, where=each < 0, initial=-1e18).sum() for _, _, each in problems]
    bounds = jnp.asarray(np.column_stack([low, high]))
    policy = jax.vmap(new_policy)(jnp.stack([random.key(0)] * number))
    zeros = jax.tree.map(jnp.zeros_like, policy)
    state = (
        *(policy, zeros, zeros, jnp.zeros(number, jnp.int32), jnp.zeros(number, SINGLE)),
        *(jnp.stack([random.key(99)] * number), jnp.full(number, -1e18)),
        *(jnp.zeros((number, NODES, NODES), bool), jnp.zeros(number, jnp.int32)),
    )

    def stage(state, rows, table, bounds, equal, penalties):
        step = partial(one_round, rows=rows, table=table, bounds=bounds, penalties=penalties, equal=equal)
        return lax.scan(step, state, None, length=rounds // STAGES)[0]

    many = jax.jit(jax.vmap(stage, in_axes=(0, 0, 0, 0, 0, None)))
    penalties = (0.0, 10.0 ** -round(NODES / 3))
    started = time.perf_counter()
    for _ in range(STAGES):
        state = many(state, rows, table, bounds, jnp.asarray(equal), jnp.asarray(penalties))
        penalties = (min(5.0, penalties[0] + 1), min(0.01, penalties[1] * 10))
    graphs, dags = np.asarray(state[7]), np.asarray(state[8])
    return graphs, dags, time.perf_counter() - started


def values(graphs, table, equal):
    """Scores of graphs by numpy."""
    families = table[np.arange(NODES), np.einsum("bij,i->bj", graphs, BITS)]
    if not equal:
        return families.sum(axis=1)
    prices = price(graphs.sum(axis=1))
    variances = np.exp(-2 / ROWS * (families + prices) - 1).mean(axis=1)
    return -ROWS * NODES / 2 * (np.log(variances) + 1) - prices.sum(axis=1)


def pruned(graph, table, equal):
    best = values(graph[None], table, equal)[0]
    while graph.any():
        edges = np.argwhere(graph)
        without = np.repeat(graph[None], len(edges), axis=0)
        without[np.arange(len(edges)), edges[:, 0], edges[:, 1]] = False
        found = values(without, table, equal)
        if found.max() < best:
            break
        graph, best = without[found.argmax()], found.max()
    return graph


def best_random(table, equal, count):
    """The best of so many random DAGs: a random order, each edge with a probability drawn for the graph."""
    rng, best, leader = np.random.default_rng(0), -np.inf, np.zeros((NODES, NODES), bool)
    for start in range(0, count, 20_000):
        some = min(20_000, count - start)
        places = rng.random((some, NODES))
        later = places[:, :, None] < places[:, None]
        graphs = later & (rng.random((some, NODES, NODES)) < rng.random((some, 1, 1)))
        found = values(graphs, table, equal)
        if found.max() > best:
            best, leader = found.max(), graphs[found.argmax()]
    return leader


def acyclic(graph):
    left = np.ones(NODES, bool)
    for _ in range(NODES):
        left = left & (graph & left[:, None]).any(axis=0)
    return not left.any()


def climbed(table, equal):
    """Greedy hill climbing from the empty graph: the best edge added, deleted or turned."""
    graph = np.zeros((NODES, NODES), bool)
    best = values(graph[None], table, equal)[0]
    while True:
        moves = []
        for i, j in np.argwhere(FREE):
            other = graph.copy()
            other[i, j] = not graph[i, j]
            moves.append(other.copy())
            if graph[i, j]:
                other[j, i] = True
                moves.append(other)
        moves = np.array([each for each in moves if acyclic(each)])
        found = values(moves, table, equal)
        if found.max() <= best + 1e-6:
            return graph
        graph, best = moves[found.argmax()], found.max()


def distance(one, other):
    """Pairs that are not joined alike."""
    wrong = one != other
    return int(np.triu(wrong | wrong.T, 1).sum())


def main() -> None:
    parser = argparse.ArgumentParser(description="RL-BIC against its null models.")
    parser.add_argument("--rounds", type=int, default=20_000)
    parser.add_argument("--graphs", type=int, default=5)
    parser.add_argument("--output", type=Path, help="write the report to this file too")
    given = parser.parse_args()
    dense = [(seed, 2.75) for seed in range(1, given.graphs + 1)]
    sparse = [(seed, 1.5) for seed in range(11, given.graphs + 11)]
    cases = [("dense, equal", dense, True), ("dense", dense, False), ("sparse", sparse, False)]
    problems = {key: problem(*key) for key in (*dense, *sparse)}
    listed = [problems[key] for _, keys, _ in cases for key in keys]
    equal = np.array([is_equal for _, keys, is_equal in cases for _ in keys])
    graphs, dags, seconds = best_drawn(listed, equal, given.rounds)
    lines = [
        "| problem | truth | RL-BIC | random DAGs | climbing | SHD of RL-BIC | random DAGs | climbing |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for k, (name, seed, is_equal) in enumerate(
        (name, key[0], is_equal) for name, keys, is_equal in cases for key in keys
    ):
        _, truth, table = listed[k]
        drawn = pruned(graphs[k], table, is_equal)
        null = pruned(best_random(table, is_equal, given.rounds * BATCH), table, is_equal)
        greedy = climbed(table, is_equal)
        found = [values(each[None], table, is_equal)[0] for each in (truth, drawn, null, greedy)]
        apart = [distance(each, truth) for each in (drawn, null, greedy)]
        cells = [f"{name} {seed}", *(f"{value:.1f}" for value in found), *map(str, apart)]
        lines.append("| " + " | ".join(cells) + " |")
        print(lines[-1], flush=True)
    share = dags.sum() / (len(dags) * given.rounds * BATCH)
    told = (
        f"{given.rounds} rounds of {BATCH} graphs each, {share:.0%} of them DAGs; {seconds:.0f} s for all on "
        f"{jax.devices()[0].device_kind}, jax {jax.__version__}."
    )
    lines += ["", told]
    if given.output is not None:
        given.output.write_text("\n".join(lines) + "\n")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
