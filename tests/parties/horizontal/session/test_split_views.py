"""A coordinator that tells sites different things, at any time, opens noise from then on.

Each lie here sets the sites up so that one question, asked of all alike, bares single sites, and each attack is
shown to succeed once what protects against it is taken away.
"""

from contextlib import contextmanager
from hashlib import sha256

import numpy as np
import pytest

from dagora.data.table import Table
from dagora.federated import sites_in_threads
from dagora.parties.horizontal.learners.admm import admm
from dagora.parties.horizontal.replies import collect
from dagora.parties.horizontal.secure_sum import coordinator as sum_coordinator
from dagora.parties.horizontal.secure_sum.masks import Context, self_mask
from dagora.parties.horizontal.secure_sum.shamir import pack
from dagora.parties.horizontal.session.federation import OpenFederation, Site
from dagora.parties.horizontal.session.questions import ANSWER, ASK, Conversation, decode_ask, encode_ask
from dagora.parties.horizontal.statistics.agreement import write_schema
from dagora.parties.horizontal.tasks import TASKS
from dagora.parties.transport.messages import decode, encode
from dagora.run import Run
from tests.parties.horizontal.federations import Recording
from tests.parties.horizontal.secure_sum.sums import begin, names_of
from tests.parties.network import PATIENCE
from tests.parties.wiretap import Wire

NAMES = ("north", "south", "west")
ROWS = 20


def sites_of(draw):
    rng = np.random.default_rng(0)
    return [Site(name, Table.from_numpy(draw(rng), names=["a", "b"])) for name in NAMES]


def discrete_sites():
    return sites_of(lambda rng: rng.integers(0, 2, (ROWS, 2)))


def continuous_sites():
    return sites_of(lambda rng: rng.normal(size=(ROWS, 2)))


def remember_last_question_only(patch):
    """What a sum is bound to if it is not the whole conversation."""
    patch.setattr(
        Conversation, "add", lambda self, question: setattr(self, "_digest", sha256(question).digest())
    )


def take_no_masks_off(patch):
    """Leave it to the liar, who knows better which these are."""
    patch.setattr(
        sum_coordinator, "self_mask", lambda seed, context: np.zeros(context.shape, dtype=np.uint64)
    )


class Liar:
    """A coordinator that may tell sites different things, and takes off each the self-mask that it put on."""

    def __init__(self, session, told, lied):
        self.session, self.told, self.lied = session, told, lied
        self.sums, self.wire = session._sum, session._transport
        self.wire.change = self._lie
        self.seeds = {}
        self._recover, self.sums._recover = self.sums._recover, self._keep_seed

    def _lie(self, to, tag, payload):
        asked = decode_ask(payload, "ask") if tag == ASK else {"task": None}
        if asked["task"] not in self.told or to not in self.lied:
            return payload
        return encode_ask(
            asked["kind"], asked["task"], {**asked["question"], **self.lied[to]}, asked["largest"]
        )

    def _keep_seed(self, shares, owner):
        self.seeds[owner] = self._recover(shares, owner)
        return self.seeds[owner]

    def label(self, site, task):
        heard = Conversation()
        for to, tag, payload in self.wire.sent:
            if (to, tag) == (site, ASK):
                heard.add(payload)
        return heard.label(task)

    def open(self, kind, task, question, largest=0.0):
        sums, _ = self.session._open(kind, task, question, largest)
        for site in NAMES:
            label = self.label(site, task)
            context = Context(self.sums._roster.session, self.sums._round - 1, NAMES, label, sums.shape)
            sums = sums - self_mask(self.seeds[site], context)
        return sums.view(np.int64)


@contextmanager
def liar(patch, sites, task="", told=None):
    take_no_masks_off(patch)
    with sites_in_threads(sites, 3, Wire) as (session, _):
        yield Liar(session, {task}, told or {})


def is_noise(sums):
    """No entry is anything like a count, or like a real number of the sizes here (chance: 2⁻¹⁹ an entry)."""
    return bool((np.abs(sums.astype(np.float64)) > 2.0**44).all())


# Each site's levels have a place of their own.
PLACES = {
    "north": ["0", "1", "x", "y", "p", "q"],
    "south": ["x", "y", "0", "1", "p", "q"],
    "west": ["x", "y", "p", "q", "0", "1"],
}
CELLS = {"columns": np.array([0]), "offsets": np.array([0, 1])}


def own_counts(site):
    return np.bincount(site.table.codes(0), minlength=2).tolist()


def side_by_side(patch, places):
    """Let sites adopt different levels; then ask for one sum of counts."""
    told = {name: {"levels": [levels, ["0", "1"]]} for name, levels in places.items()}
    sites = discrete_sites()
    with liar(patch, sites, "adopt", told) as lying:
        lying.session.gather("schema", {})
        lying.session.gather("adopt", write_schema(sites[0].table.schema))
        return lying.open("count", "cells", CELLS)


def test_different_levels_do_not_lay_the_sites_counts_side_by_side(monkeypatch):
    assert is_noise(side_by_side(monkeypatch, PLACES))


def test_they_would_if_a_sum_were_bound_to_its_own_question(monkeypatch):
    remember_last_question_only(monkeypatch)
    opened = side_by_side(monkeypatch, PLACES).reshape(3, 2)
    assert opened.tolist() == [own_counts(site) for site in discrete_sites()]


def test_levels_that_all_adopt_add_up(monkeypatch):
    opened = side_by_side(monkeypatch, dict.fromkeys(NAMES, PLACES["north"]))
    assert opened.tolist() == [*np.sum([own_counts(site) for site in discrete_sites()], axis=0), 0, 0, 0, 0]


def test_a_site_that_was_asked_one_question_more_is_out_of_step(monkeypatch):
    with liar(monkeypatch, discrete_sites()) as lying:
        lying.session.gather("schema", {})
        lying.wire.send("south", ASK, encode_ask("gather", "schema", {}))
        collect(lying.wire, ["south"], ANSWER, {"answer": dict}, PATIENCE)
        assert is_noise(lying.open("count", "cells", CELLS))


def test_after_a_lie_no_later_sum_opens_either(monkeypatch):
    with liar(monkeypatch, discrete_sites(), "cells", {"west": {"columns": np.array([1])}}) as lying:
        assert is_noise(lying.open("count", "cells", CELLS))
        assert is_noise(lying.open("count", "size-and-orders", {}))


HEADROOM, BITS = 2.0**20, 40
WEIGHTS = np.array([[0.0, 0.4], [0.1, 0.0]])


def two_rounds():
    """What an honest coordinator asks in two rounds of ADMM."""
    federation = Recording([site.table for site in continuous_sites()])
    admm(federation, Run(), max_rounds=2)
    return [question for task, question in federation.asked if task == "admm-step"]


def silent():
    """Units in which whatever a site adds is nothing."""
    begin, _ = two_rounds()
    return {name: begin[name] * 1e15 for name in ("gradient_scale", "gradient_unit", "weight_unit")}


def second_round(patch, told):
    """A second round of ADMM, asked of all alike, when sites were told different things in the first."""
    first, second = two_rounds()
    with liar(patch, continuous_sites(), "admm-step", told) as lying:
        lying.open("total", "admm-step", first, HEADROOM)
        lying.lied = {}
        return lying.open("total", "admm-step", second, HEADROOM)


def in_the_clear(sites):
    federation = OpenFederation(sites, TASKS)
    first, second = two_rounds()
    federation.total("admm-step", first, largest=HEADROOM)
    return federation.total("admm-step", second, largest=HEADROOM)


def test_sites_silenced_in_one_round_of_admm_do_not_bare_another_in_the_next(monkeypatch):
    assert is_noise(second_round(monkeypatch, dict.fromkeys(("south", "west"), silent())))


def test_they_would_if_a_round_were_bound_to_its_own_question(monkeypatch):
    remember_last_question_only(monkeypatch)
    opened = second_round(monkeypatch, dict.fromkeys(("south", "west"), silent()))
    north = in_the_clear(continuous_sites()[:1])
    assert np.ldexp(opened.astype(np.float64), -BITS) == pytest.approx(north, abs=1e-9)


@pytest.mark.parametrize(
    "lie", [{"weights": WEIGHTS}, {"rho": 0.25}, {"mean": np.ones(2)}, {"centre": "local"}]
)
def test_different_broadcasts_of_admm_spoil_the_rounds_after(monkeypatch, lie):
    assert is_noise(second_round(monkeypatch, {"west": lie}))


def test_rounds_of_admm_told_alike_add_up(monkeypatch):
    opened = second_round(monkeypatch, {})
    assert np.ldexp(opened.astype(np.float64), -BITS) == pytest.approx(
        in_the_clear(continuous_sites()), abs=1e-9
    )


def told_of_different_members(patch):
    """A first sum for which s0 was told that s4 never shared its secrets, the others that it was lost later.

    The unit of the fixed point goes by the number of members: s0 would use another than the rest, in this sum
    and in no later one, and the two together would show its part.
    """

    def lie(to, tag, payload):
        if to == "s0" and tag == "sum/shares/0":
            content = decode(payload)
            del content["sealed"]["s4"]
            return encode(content)
        if to == "s0" and tag == "sum/0/open":
            return encode({**decode(payload), "lost": []})
        return payload

    def no_share_of_the_lost(to, tag, payload):
        return encode({**decode(payload), "keys": pack([0])}) if tag == "sum/0/shares" else payload

    take_no_masks_off(patch)
    party = begin(names_of(5), change=lie, threshold=3, die={"s4": "before sum/0/input"})
    party.wires["s0"].change = no_share_of_the_lost
    recover, masks_of, seeds = party.sums._recover, party.sums._masks_of, {}

    def keep(shares, owner):
        seeds[owner] = recover({point: share for point, share in shares.items() if share}, owner)
        return seeds[owner]

    party.sums._recover = keep
    party.sums._masks_of = lambda name, key, survivors, context: masks_of(name, key, survivors[1:], context)
    party.sums.set_up()
    opened = party.sums.sum("task 0")
    party.end()
    total = opened.values
    for site in opened.sites:
        members = tuple(names_of(4 if site == "s0" else 5))
        context = Context(party.sums._roster.session, 0, members, "task 0", total.shape)
        total = total - self_mask(seeds[site], context)
    return total, party.plain(opened.sites)


def test_sites_told_of_different_members_share_no_masks(monkeypatch):
    opened, plain = told_of_different_members(monkeypatch)
    assert (opened != plain).all()


def test_they_would_if_masks_were_not_bound_to_members(monkeypatch):
    info = Context.info
    monkeypatch.setattr(
        Context, "info", lambda self, use: info(Context(self.session, 0, (), self.label, self.shape), use)
    )
    opened, plain = told_of_different_members(monkeypatch)
    assert opened.tolist() == plain.tolist()
