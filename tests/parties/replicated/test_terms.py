"""What other owners say before the run is checked: whatever is wrong ends all with one line that names who said it."""

import numpy as np
import pytest

from dagora.base.errors import OptionError, ProtocolError
from dagora.parties.crypto.channel import Channel
from dagora.parties.replicated.meeting import check_roster
from dagora.parties.replicated.terms import GroupProposal, check_owners
from dagora.parties.transport.in_memory import memory_network
from dagora.parties.transport.messages import decode, encode
from tests.parties.replicated.groups import errors, holdings, wires
from tests.parties.vertical.test_k2_schedule import random_data


def changed(step, **values):
    """A change of some values of a message."""
    return lambda to, tag, payload: encode({**decode(bytes(payload)), **values}) if tag == step else payload


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"version": 9}, "it has version 9 of the protocol, not 1: use the same dagora"),
        ({"max_parents": 1 << 40}, "a number is out of its range"),
        ({"max_parents": 7}, "option 'max_parents' must be from 1 to 6, not 7"),
        ({"min_rows": 0}, "option 'min_rows' must be from 2"),
        ({"names": []}, "its columns are not different short printable names"),
        ({"names": ["a", "a"]}, "its columns are not different short printable names"),
        ({"names": [3]}, "its columns are not different short printable names"),
        ({"score": "h"}, "option 'score' must be f or g"),
        ({"owners": ["ann"]}, "option 'owners' must name 3 to 32 owners"),
    ],
)
def test_wishes_that_nobody_should_have(values, said):
    brought = holdings(random_data(np.random.default_rng(1), 12, 3), [1, 1, 1])
    ended = errors(wires(change={"bob": changed("agreement/wishes", **values)}), brought, GroupProposal())
    assert said in str(ended[0])
    assert "'bob'" in str(ended[0])
    assert all(isinstance(error, ProtocolError) and "\n" not in str(error) for error in ended)


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"max_parents": 1}, "its terms have other max_parents than we proposed"),
        ({"order": [0, 1, 1]}, "its order does not name every column once"),
        ({"owners": ["ann", "cleo", "dora"]}, "its owners lack us or itself"),
        ({"columns": [["x0"], ["other"], ["x2"]]}, "its terms have other columns than we proposed"),
        ({"min_rows": 3}, "its terms have other min_rows than we proposed"),
        ({"score": "x"}, "an option is out of its range"),
    ],
)
def test_terms_that_the_host_did_not_agree_on(values, said):
    brought = holdings(random_data(np.random.default_rng(1), 12, 3), [1, 1, 1])
    wishes = [GroupProposal(), GroupProposal(max_parents=3), GroupProposal()]
    ended = errors(wires(change={"ann": changed("agreement/terms", **values)}), brought, wishes)
    assert any(said in str(error) for error in ended[1:])
    assert all(isinstance(error, ProtocolError) and "\n" not in str(error) for error in ended)


@pytest.mark.parametrize(
    "owners",
    [
        ["ann", "cleo", "dora"],
        ["bob", "ann", "cleo"],
        ["ann", "bob"],
        ["ann", 3, "bob"],
        ["ann", "b/", "bob"],
    ],
)
def test_rosters_that_cannot_be(owners):
    network = memory_network(["ann", "bob"])
    network["ann"].send("bob", "meeting/roster", encode({"owners": owners}))
    with pytest.raises(ProtocolError, match="'ann'"):
        check_roster(Channel(network["bob"], "ann", "meeting"), ["ann", "bob", "cat"])


def test_owners_are_three_to_thirty_two():
    assert check_owners(["a", "b", "c"]) == ("a", "b", "c")
    for owners in (["a", "b"], ["a", "b", "b"], [f"o{k}" for k in range(33)]):
        with pytest.raises(OptionError, match="must name 3 to 32 owners"):
            check_owners(owners)
