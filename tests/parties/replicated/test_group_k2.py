"""Three and more owners learn what the central search learns; sizes tell nothing; whoever leaves, all end."""

import numpy as np
import pytest

from dagora.base.errors import DisagreementError, ProtocolError
from dagora.parties.replicated import moments
from dagora.parties.replicated.layers import sort_into_layers
from dagora.parties.replicated.terms import GroupProposal
from dagora.parties.vertical.k2_schedule import hidden_plan
from dagora.parties.vertical.private_k2 import PartyData
from dagora.parties.vertical.widths import BitWidths
from tests.parties.pairs import traffic
from tests.parties.replicated.groups import NAMES, errors, holdings, learn, wires
from tests.parties.vertical.central import central_edges, formula_edges
from tests.parties.vertical.owners import edges, written
from tests.parties.vertical.test_k2_schedule import random_data
from tests.parties.wiretap import Death

ROWS = (2, 31, 120, 1100)


def one_line(error):
    assert isinstance(error, ProtocolError), repr(error)
    assert "\n" not in str(error)
    return str(error)


@pytest.mark.full
@pytest.mark.parametrize("times", [1, pytest.param(20, marks=pytest.mark.slow)])
def test_the_structure_of_random_tables_is_the_central_one(times):
    rng = np.random.default_rng(5)
    found = 0
    for rows in ROWS * times:
        counts = rng.integers(1, 3, int(rng.integers(3, 6))).tolist()
        limit = int(rng.integers(1, 4))
        data = random_data(rng, rows, sum(counts))
        order = rng.permutation(sum(counts)).tolist()
        proposal = GroupProposal(written(order), limit, min_rows=2)
        learned = learn(wires(len(counts)), holdings(data, counts, seed=rows), proposal)
        expected = central_edges(data, order, limit)
        assert all(edges(each) == expected for each in learned), (rows, counts, order, limit)
        assert all(each.outcome.stats["rows"] == rows for each in learned)
        found += len(expected)
    assert found > len(ROWS) * times


def test_the_score_g():
    data = random_data(np.random.default_rng(8), 50, 4)
    learned = learn(wires(), holdings(data, [2, 1, 1]), GroupProposal(max_parents=2, score="g"))
    assert all(edges(each) == formula_edges(data, range(4), 2, "g") for each in learned)


def test_rows_in_blocks_give_the_same(monkeypatch):
    data = random_data(np.random.default_rng(9), 100, 4)
    monkeypatch.setattr(moments, "BLOCK_ROWS", 7)
    learned = learn(wires(4), holdings(data, [1, 1, 1, 1]), GroupProposal())
    assert all(edges(each) == central_edges(data, range(4), 3) for each in learned)


def test_four_parents_take_products_of_up_to_three_columns():
    rng = np.random.default_rng(3)
    data = rng.integers(0, 2, (60, 5))
    data[:, 4] = data[:, :4].sum(axis=1) > 2
    learned = learn(wires(), holdings(data, [1, 2, 2]), GroupProposal(max_parents=4))
    expected = central_edges(data, range(5), 4)
    assert sum(child == 4 for _, child in expected) == 4
    assert all(edges(each) == expected for each in learned)


@pytest.mark.full
def test_messages_have_the_same_sizes_whatever_the_data():
    seen = []
    for kind in (np.zeros, np.ones, np.random.default_rng(1).random):
        parties = wires(4)
        data = np.rint(kind((45, 5))).astype(np.int64)
        learn(parties, holdings(data, [1, 2, 1, 1]), GroupProposal(max_parents=2))
        # Only the edges, which all learn, and what follows from them may differ.
        seen.append([[each for each in traffic(wire) if each[0] != "result/edges"] for wire in parties])
    assert seen[0] == seen[1] == seen[2]
    assert all(len(messages) > 5 for messages in seen[0])


def test_no_column_and_no_key_is_on_the_wire():
    data = np.random.default_rng(11).integers(0, 2, (400, 4))
    parties, brought = wires(4), holdings(data, [1, 1, 1, 1])
    learn(parties, brought, GroupProposal(max_parents=1))
    for wire, owner in zip(parties, brought, strict=True):
        bits = owner.table.codes(0)
        by_key = bits[np.argsort(owner.keys)]
        everything = b"".join(payload for _, _, payload in wire.sent)
        for column in (bits, by_key):
            wide = (column.astype(kind).tobytes() for kind in (np.uint8, np.uint16, np.uint32))
            for code in (*wide, np.packbits(column).tobytes()):
                assert code[:32] not in everything
        assert b"row-" not in everything


def test_one_element_per_party_and_product():
    data = random_data(np.random.default_rng(12), 60, 6)
    parties = wires()
    learned = learn(parties, holdings(data, [2, 2, 2]), GroupProposal(max_parents=2))
    plan = hidden_plan(BitWidths(60, 2), range(6))
    program = sort_into_layers(plan.stages, plan.n_slots)
    for wire, each in zip(parties, learned, strict=True):
        sent = [size for tag, size in traffic(wire) if tag == "replicated/products"]
        # Bits of the AND gates, 12 products of columns of two owners, and the comparison of keys.
        columns, keys = 12 * 60 * 2, sum(size for size in sent[:8])
        assert sent[8] == columns
        assert keys == 2 * 128 - 1
        assert sum(sent) == program.message_bytes + columns + keys
        assert len(sent) == each.outcome.stats["layers"] + 9
        assert each.outcome.stats["ands"] == sum(stage.n_and for stage in plan.stages)


@pytest.mark.parametrize("left", NAMES[:4])
def test_an_owner_that_leaves_at_any_step_ends_all_with_one_line(left):
    data = random_data(np.random.default_rng(14), 12, 4)
    brought = holdings(data, [1, 1, 1, 1])
    parties = wires(4)
    learn(parties, brought, GroupProposal(max_parents=1))
    tags = dict.fromkeys(tag for wire in parties if wire.name == left for _, tag, _ in wire.sent)
    assert len(tags) >= 6
    for tag in tags:
        ended = errors(wires(4, die={left: f"before {tag}"}), brought, GroupProposal(max_parents=1))
        for name, error in zip(NAMES, ended, strict=False):
            if name == left:
                assert isinstance(error, Death)
            else:
                assert f"'{left}'" in one_line(error) or "ended the run" in one_line(error), tag


@pytest.mark.parametrize("liar", NAMES[:4])
def test_short_messages_at_any_step_end_all_with_one_line(liar):
    data = random_data(np.random.default_rng(15), 12, 4)
    brought = holdings(data, [1, 1, 1, 1])
    parties = wires(4)
    learn(parties, brought, GroupProposal(max_parents=1))
    tags = dict.fromkeys(tag for wire in parties if wire.name == liar for _, tag, _ in wire.sent)
    for spoilt in tags:

        def change(to, tag, payload, spoilt=spoilt):
            return b"garbage" if tag == spoilt else payload

        ended = errors(wires(4, change={liar: change}), brought, GroupProposal(max_parents=1))
        assert any(error is not None for error in ended), spoilt
        for error in ended:
            assert error is None or one_line(error)


def refusals(brought, proposals):
    """The one line that every owner ends with."""
    parties = wires(len(brought))
    ended = errors(parties, brought, proposals)
    assert all(isinstance(error, DisagreementError) for error in ended), ended
    assert len({str(error) for error in ended}) == 1
    return one_line(ended[0]), {tag for wire in parties for _, tag, _ in wire.sent}


def small(rows=12, **options):
    return holdings(random_data(np.random.default_rng(16), rows, 3), [1, 1, 1], **options)


@pytest.mark.parametrize(
    ("wishes", "line"),
    [
        ((GroupProposal(max_parents=2), GroupProposal(), GroupProposal(max_parents=1)),
         "option 'max_parents' is '2' at 'ann' and '1' at 'cleo'"),
        ((GroupProposal(), GroupProposal(order="x2,x1,x0"), GroupProposal()),
         "option 'order' is not given at 'ann' and 'x2,x1,x0' at 'bob'"),
        ((GroupProposal(order="x0,x1"), GroupProposal(), GroupProposal()),
         "option 'order' must name every variable once: 'x2' is missing"),
        ((GroupProposal(), GroupProposal(owners=("ann", "cleo", "bob")), GroupProposal()),
         "option 'owners' is 'ann,bob,cleo' at 'ann' and 'ann,cleo,bob' at 'bob'"),
        ((GroupProposal(), GroupProposal(score="g"), GroupProposal()),
         "option 'score' is 'f' at 'ann' and 'g' at 'bob'"),
    ],
)  # fmt: skip
def test_other_options_end_all_before_anything_depends_on_rows(wishes, line):
    said, tags = refusals(small(), wishes)
    assert line in said
    assert tags == {"agreement/wishes", "agreement/terms"}


def test_the_same_column_at_two_owners():
    one, two, three = small()
    said, _ = refusals([one, two, PartyData(one.table, one.keys)], GroupProposal())
    assert said == "'ann' and 'cleo' both have a column 'x0': one must rename it or leave it out"
    del two, three


def test_fewer_rows_than_one_owner_asks_for():
    wishes = [GroupProposal(min_rows=5), GroupProposal(min_rows=13), GroupProposal()]
    said, _ = refusals(small(), wishes)
    assert said == "the owners have 12 rows, fewer than the 13 that were asked for"


def test_other_numbers_of_rows_and_other_keys():
    one, two, _ = small()
    _, _, fewer = small(11)
    said, _ = refusals([one, two, fewer], GroupProposal())
    assert said.startswith("'ann' has 12 rows and 'cleo' has 11: each must bring the same rows")
    for owner in range(3):
        brought = small()
        keys = list(brought[owner].keys)
        keys[3] = "somebody else"
        brought[owner] = PartyData(brought[owner].table, keys)
        said, tags = refusals(brought, GroupProposal())
        assert said.startswith("the owners do not have the same keys")
        assert not {tag for tag in tags if tag.startswith("columns")}
