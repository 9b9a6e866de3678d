"""J-PCMCI+ against d-separation in unrolled graphs with contexts, regressions written out, and draws."""

import numpy as np
import pytest
from scipy import stats

import dagora
from dagora.base.errors import DataError, KnowledgeError, OptionError, RowsUnavailableError
from dagora.data.partition import split_series
from dagora.data.series import Timing
from dagora.data.table import Table
from dagora.graph.cpdag import CPDAG
from dagora.graph.dag import DAG
from dagora.graph.knowledge import Knowledge
from dagora.graph.lagged_graph import LaggedGraph, class_in_time, split_name
from dagora.graph.separation import d_separated
from dagora.learners.result import Result
from dagora.learners.run import Run
from dagora.learners.time.context_tests import Blocks, Cast, ContextLinks, Given, VarianceTests
from dagora.learners.time.jpcmci_plus import ContextFindings, edges_of_contexts
from dagora.learners.time.pcmci_plus import SearchLimits, search_in_time
from dagora.stats.centred import SERIES, STEPS
from tests.learners.time.separation_in_time import OLDER, SeparationLinks, random_graph_in_time

DUMMIES = {SERIES: "every series", STEPS: "every step"}


class TrueContexts:
    """A graph in time with contexts: which nodes are separated, given dummies and other nodes.

    `kinds` has the kind of each context; those whose names begin with "hidden" are not observed.
    """

    def __init__(self, truth: LaggedGraph, kinds: dict[str, str]) -> None:
        self.truth, self.kinds = truth, kinds
        seen = sorted(name for name in kinds if not name.startswith("hidden"))
        system = tuple(name for name in truth.variables if name not in kinds)
        self.cast = Cast(system, tuple(seen), tuple(kinds[name] for name in seen), (SERIES, STEPS))
        self.steps = (2 + OLDER) * truth.lags + 1
        nodes = list(dict.fromkeys(self.name(v, k) for k in range(self.steps) for v in truth.variables))
        edges = [
            (self.name(tail, back + lag), self.name(head, back))
            for back in range(self.steps)
            for tail, head, lag in truth.edges
            if back + lag < self.steps
        ]
        self.graph = DAG(nodes, edges)
        of_dummies = [(DUMMIES[kind], node) for kind in DUMMIES for node in self.all_of({kind})]
        self.with_dummies = DAG([*nodes, *DUMMIES.values()], [*edges, *of_dummies])

    def name(self, variable: str, back: int) -> str:
        """A node of the unrolled graph; a context of series is one node."""
        return variable if self.kinds.get(variable) == SERIES else f"{variable}@{back}"

    def all_of(self, kinds: Blocks | set[str]) -> list[str]:
        """All nodes of contexts of some kinds, which dummies determine."""
        return list(
            dict.fromkeys(
                self.name(one, k)
                for one, kind in self.kinds.items()
                if kind in kinds
                for k in range(self.steps)
            )
        )

    def node(self, number: int) -> str:
        """A node by its number in windows."""
        back, at = divmod(number, self.cast.count)
        if self.cast.is_dummy(number):
            return DUMMIES[self.cast.kind(number)]
        return self.name(self.cast.observed[at], back)

    def p_value(self, context: int, effect: int, given: Given) -> tuple[float, None]:
        """1 where a context or dummy is separated from a variable."""
        graph = self.with_dummies if self.cast.is_dummy(context) else self.graph
        known = {*map(self.node, given), *self.all_of(self.cast.beside(self.cast.kind(context)))}
        return float(d_separated(graph, self.node(context), self.node(effect), known)), None

    def p_among_blocks(self, context: int, effect: int, given: Given) -> float:
        """The same as without a review: separating sets were tried before."""
        return 0.0

    def links(self) -> ContextLinks:
        """Tests that are right."""
        every = self.cast.beside("")
        given = {every, every - {SERIES}, every - {STEPS}}
        return ContextLinks(self.cast, {by: GivenDummies(self, by) for by in given}, self, 0.01)


class GivenDummies(SeparationLinks):
    """Tests of columns given some dummies."""

    def __init__(self, world: TrueContexts, by: Blocks) -> None:
        self.max_given = 99
        known = world.all_of(by)
        self.separated = lambda x, y, given: d_separated(
            world.graph, world.node(x), world.node(y), {*known, *map(world.node, given)}
        )


def random_world(seed: int, d: int, lags: int, hidden: int) -> TrueContexts:
    """A random graph in time, two contexts of each kind, and as many `hidden` ones."""
    rng = np.random.default_rng([seed, 5])
    system = random_graph_in_time(d, lags, seed)
    kinds = {"soil": SERIES, "age": SERIES, "rain": STEPS, "law": STEPS}
    kinds.update({f"hidden{kind}{k}": kind for k in range(hidden) for kind in (SERIES, STEPS)})
    edges = list(system.edges)
    for name, kind in kinds.items():
        if kind == STEPS and rng.random() < 0.5:
            edges.append((name, name, 1))
        for variable in system.variables:
            if rng.random() < 0.4:
                edges.append((name, variable, int(rng.integers(lags + 1)) if kind == STEPS else 0))
    return TrueContexts(LaggedGraph((*system.variables, *kinds), lags, edges), kinds)


def learn_from(world: TrueContexts) -> tuple[LaggedGraph, dict[str, set[str]]]:
    """The graph of the variables and observed contexts, and what dummies point at."""
    tests, cast = world.links(), world.cast
    allowed, required = edges_of_contexts(Run(), cast, world.truth.lags)
    names = (*cast.observed, *cast.hidden)
    found = search_in_time(tests, names, allowed, required, SearchLimits(0.01, "majority"), Run(), tests)
    graph = LaggedGraph.of_window(found.graph(cast.observed, world.truth.lags))
    assert graph is not None
    answer = ContextFindings(found, cast)
    return graph, {kind: set(answer.pointed_at(kind)) for kind in cast.hidden}


def true_directions(world: TrueContexts) -> CPDAG:
    """The class of the variables, where contexts and dummies are known to be causes: as if they were earlier."""
    edges = []
    for tail, head, lag in world.truth.edges:
        kind = world.kinds.get(tail)
        if head in world.kinds:
            continue
        if tail.startswith("hidden"):
            edges.append((f"dummy {kind}", head, 1))
        else:
            edges.append((tail, head, lag if kind is None else lag + 1))
    names = (*world.cast.observed, "dummy series", "dummy steps")
    graph = LaggedGraph(names, world.truth.lags + 1, sorted(set(edges)))
    return class_in_time(graph.window, names)


def within(graph: CPDAG, names: tuple[str, ...]) -> tuple[set[tuple[str, str]], set[frozenset[str]]]:
    """The edges among some nodes, with and without a direction."""
    some = set(names)
    lines = {frozenset(edge) for edge in graph.undirected if some.issuperset(edge)}
    return {edge for edge in graph.edges if some.issuperset(edge)}, lines


def of_contexts(graph: LaggedGraph, world: TrueContexts) -> set[tuple[str, str, int]]:
    """The edges from observed contexts to variables."""
    return {edge for edge in graph.edges if edge[0] in world.cast.contexts and edge[1] in world.cast.system}


@pytest.mark.parametrize(("d", "lags", "seeds"), [(3, 1, 4), pytest.param(4, 2, 12, marks=pytest.mark.full)])
@pytest.mark.parametrize("hidden", [0, 1, 2])
def test_where_every_test_is_right_variables_and_dummies_are(
    d: int, lags: int, seeds: int, hidden: int
) -> None:
    """Links among the variables, and which of them hidden contexts act on, are exact.

    Links of observed contexts are exact where none is hidden; else there may be too many, which can only
    leave directions open.
    """
    superfluous = 0
    for seed in range(seeds):
        world = random_world(seed, d, lags, hidden)
        graph, pointed = learn_from(world)
        system, truth = world.cast.system, world.truth
        found, best = graph.window, true_directions(world)
        late = {edge for edge in graph.lagged if edge[0] in system}
        assert late == {edge for edge in truth.lagged if edge[0] in system and edge[1] in system}
        directed, lines = within(found, system)
        wanted, open_lines = within(best, system)
        assert {frozenset(edge) for edge in directed} | lines == {frozenset(e) for e in wanted} | open_lines
        assert directed <= wanted
        for kind in (SERIES, STEPS):
            acted = {head for tail, head, _ in truth.edges if tail.startswith(f"hidden{kind}")}
            assert pointed[kind] == acted - set(world.kinds)
        more = of_contexts(graph, world) - of_contexts(truth, world)
        assert of_contexts(truth, world) <= of_contexts(graph, world)
        superfluous += len(more)
        if not more:
            assert directed == wanted
    assert hidden or not superfluous


def numbers(rng: np.random.Generator, blocks: int, each: int, columns: int) -> np.ndarray:
    """Rows of blocks that differ in their means."""
    return rng.normal(size=(blocks * each, columns)) + np.repeat(
        rng.normal(size=(blocks, columns)), each, axis=0
    )


def left(rows: np.ndarray, given: np.ndarray) -> float:
    """The sum of squares that a regression leaves."""
    return float(np.sum((rows - given @ np.linalg.lstsq(given, rows, rcond=None)[0]) ** 2))


def test_dummies_and_contexts_are_tested_as_regressions_do() -> None:
    """F tests by indicators written out; a context among blocks as in a regression of their means."""
    rng = np.random.default_rng(3)
    blocks, each = 7, 11
    block = np.repeat(np.arange(blocks), each)
    x, z = numbers(rng, blocks, each, 2).T
    soil = rng.normal(size=blocks)[block]
    x += 0.5 * soil
    columns = np.column_stack([x, z, soil])
    total = columns - columns.mean(axis=0)
    inside = columns - np.array([columns[block == k].mean(axis=0) for k in range(blocks)])[block]
    scatters = {}
    for by, rows in ((frozenset(), total), (frozenset({SERIES}), inside)):
        scatters[by] = np.zeros((4, 4))
        scatters[by][:3, :3] = rows.T @ rows
    scatters[frozenset({SERIES})][2] = scatters[frozenset({SERIES})][:, 2] = 0.0
    n = len(columns)
    cast = Cast(("x", "z"), ("soil",), (SERIES,), (SERIES,))
    tests = VarianceTests(cast, scatters, {frozenset(): n, frozenset({SERIES}): n - blocks + 1})
    one, indicators = np.ones((n, 1)), (block[:, None] == np.arange(blocks)).astype(float)
    for given in ((), (1,), (1, 2)):
        with_z = np.hstack([one, columns[:, given]])
        full = np.hstack([with_z, indicators])
        more, free = np.linalg.matrix_rank(full) - with_z.shape[1], n - np.linalg.matrix_rank(full)
        f = (left(x, with_z) - left(x, full)) / more / (left(x, full) / free)
        assert tests.p_value(3, 0, given)[0] == pytest.approx(stats.f.sf(f, more, free), rel=1e-6)
    for given in ((), (1,)):
        with_z = np.hstack([one, columns[:, given]])
        residuals = [c - with_z @ np.linalg.lstsq(with_z, c, rcond=None)[0] for c in (x, soil)]
        r = np.corrcoef(*residuals)[0, 1]
        p, value = tests.p_value(2, 0, given)
        assert value == pytest.approx(r)
        t = r * np.sqrt((n - 2 - len(given)) / (1 - r**2))
        assert p == pytest.approx(2 * stats.t.sf(abs(t), n - 2 - len(given)))
    means = [x[block == k].mean() for k in range(blocks)]
    assert tests.p_among_blocks(2, 0, ()) == pytest.approx(stats.linregress(soil[::each], means).pvalue)


def draw(seed: int, series: int = 8, steps: int = 120, hidden: float = 1.0) -> Table:
    """b → x, c → x, x[t-1] → y, w[t-1] → y; hidden contexts act on a and b, and on a and y; n is noise."""
    rng = np.random.default_rng(seed)
    c, noise, of_series = rng.normal(size=(3, series))
    w, of_steps = rng.normal(size=(2, steps + 50))
    rows = []
    for s in range(series):
        x = rng.normal(size=(steps + 50, 4))
        for t in range(1, steps + 50):
            x[t] += 0.5 * x[t - 1] + hidden * np.array(
                [2 * of_series[s] + of_steps[t], 2 * of_series[s], 0, of_steps[t]]
            )
            x[t, 2] += 0.5 * x[t, 1] + c[s]
            x[t, 3] += 0.5 * x[t - 1, 2] + 0.8 * w[t - 1]
        rows += [[s, t, *x[t], c[s], noise[s], w[t]] for t in range(50, steps + 50)]
    return Table.from_numpy(rows, ["id", "t", *"abxycnw"], continuous=["all"])


TRUE = {("b", "x"), ("x[t-1]", "y"), ("c", "x"), ("w[t-1]", "y"), *((f"{v}[t-1]", v) for v in "abxy")}


def learn(table: Table, method: str = "jpcmci-plus", **more: object) -> Result:
    return dagora.learn(table, method, time="t", series="id", lags=1, **more)


def test_series_with_different_means_are_joined_by_pcmci_plus_and_not_by_this() -> None:
    table = draw(1)
    found = learn(table)
    assert set(found.graph.edges) == TRUE
    assert found.graph.undirected == ()
    assert (
        "the contexts 'c', 'n' are the same all along each series; the context 'w' is the same in all "
        in (found.message)
    )
    assert (
        "which differ between series, act on 'a', 'b'; hidden contexts, which change alike in all series, act on 'a', 'y'"
        in found.message
    )
    assert (found.stats["hidden_series"], found.stats["hidden_steps"]) == (2, 2)
    assert found.link_tests["b", "x"].p < 1e-9
    assert Result.from_json(found.to_json()).graph == found.graph
    plain = learn(table.select(["id", "t", *"abxy"]), "pcmci-plus").lagged_graph
    assert {"a", "b"} in [{e[0], e[1]} for e in (*plain.edges, *plain.undirected)]
    turned = learn(table.select(["t", "w", "y", "id", "b", "n", "x", "a", "c"]))
    assert turned.graph.reorder(found.graph.nodes) == found.graph


@pytest.mark.full
def test_rates_over_draws() -> None:
    """False links of contexts that do nothing are as rare as the level says, also with hidden contexts."""
    wrong = missed = 0
    for seed in range(40):
        edges = set(learn(draw(seed, hidden=seed % 2)).graph.edges)
        wrong += len([edge for edge in edges - TRUE if split_name(edge[0])[0] in "ncw"])
        missed += len(TRUE - edges)
    assert wrong / (40 * 12) < 0.02
    assert missed / (40 * len(TRUE)) < 0.02


def test_what_is_told_and_refused() -> None:
    table = draw(2, series=3, steps=40)
    rows = np.column_stack(table.columns)
    late = rows.copy()
    late[:, 1] += 100 * late[:, 0]
    apart = Table.from_numpy(late, table.names, continuous=["all"])
    found = learn(apart)
    assert any('share steps: hidden="both" would leave 0 of 114' in line for line in found.warnings)
    assert "hidden_steps" not in found.stats
    assert "'w'" not in found.message, "no step is shared"
    with pytest.raises(DataError, match='hidden="both" leaves nothing to test'):
        learn(apart, hidden="both")
    two = [one for one in table.names if one not in ("c", "n")]
    assert any(
        "3 series apart: whether these or hidden contexts act is not known" in line
        for line in learn(table).warnings
    )
    assert learn(table.select(two), hidden="none").stats.keys().isdisjoint({"hidden_series", "hidden_steps"})
    short = Table.from_numpy(rows[rows[:, 1] < 70], table.names, continuous=["all"])
    assert any("series have 18 windows on average" in line for line in learn(short, hidden="series").warnings)
    one = Table.from_numpy(rows[rows[:, 0] == 0], table.names, continuous=["all"])
    with pytest.raises(OptionError, match=r"there is one: series names the column .* take pcmci-plus"):
        learn(one)
    with pytest.raises(KnowledgeError, match="leads to 'c', which is a context"):
        learn(table, knowledge=Knowledge(required=[("x", "c")]))
    both = Table.from_numpy(
        np.column_stack([rows, rows[:, 6] + rows[:, 8]]), [*table.names, "sum"], continuous=["all"]
    )
    with pytest.raises(DataError, match="'sum' is the sum of a part that only depends on the series"):
        learn(both.select(["id", "t", "a", "x", "sum"]), hidden="both")
    with pytest.raises(DataError, match="found contexts alone"):
        learn(table.select(["id", "t", "c", "w"]))


def test_knowledge_and_bootstrap() -> None:
    table = draw(3, steps=80)
    known = Knowledge(forbidden=[("c", "x"), ("c[t-*]", "x")], required=[("n", "a")])
    edges = learn(table, knowledge=known).graph.edges
    assert ("n", "a") in edges
    assert ("c", "x") not in edges
    strengths = dagora.bootstrap(table, "jpcmci-plus", time="t", series="id", lags=1, samples=4)
    assert strengths is not None


def test_over_sites_it_is_refused_with_the_way_out() -> None:
    table = draw(2, series=3, steps=40)
    sites = dict(zip("abc", split_series(table, Timing("t", "id"), 3), strict=True))
    with pytest.raises(RowsUnavailableError, match="the method jpcmci-plus needs rows, which the sites keep"):
        dagora.learn_federated(sites, "jpcmci-plus", time="t", series="id", lags=1)


@pytest.mark.parametrize("steps", [1, 2, 3])
def test_series_without_two_windows_are_refused_in_one_line(steps: int) -> None:
    rows = {"s": np.repeat(np.arange(20), steps), "t": np.tile(np.arange(steps), 20)}
    rows["x"], rows["y"] = np.random.default_rng(0).normal(size=(2, 20 * steps))
    with pytest.raises(
        DataError, match=f"needs 4 steps that follow each other, and the longest has {steps}$"
    ):
        dagora.learn(rows, "jpcmci-plus", time="t", series="s", lags=1)


def test_a_column_that_is_nearly_a_context_is_named_and_contexts_of_three_series_are_no_copies() -> None:
    rng = np.random.default_rng(0)
    rows = {"s": np.repeat(np.arange(3), 60), "t": np.tile(np.arange(60), 3)}
    rows["soil"], rows["height"] = np.array([[0.1, 0.9, 0.4], [2.0, 9.0, 3.0]])[:, rows["s"]]
    rows["x"], rows["y"] = rng.normal(size=(2, 180))
    told = " ".join(dagora.learn(rows, "jpcmci-plus", time="t", series="s", lags=1).warnings)
    assert "say the same" not in told
    rows["soil"] = rows["soil"] + 1e-6 * rng.normal(size=180)
    told = " ".join(dagora.learn(rows, "jpcmci-plus", time="t", series="s", lags=1).warnings)
    assert "'soil' is nearly the same all along each series, but not exactly" in told
