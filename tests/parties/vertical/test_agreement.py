"""The agreed terms are the same on both sides, or both end with one line that names the option or column."""

import numpy as np
import pytest

from dagora.base.errors import DagoraError, DataError, DisagreementError, OptionError, ProtocolError
from dagora.data.table import Table
from dagora.parties.transport.messages import decode, encode
from dagora.parties.vertical.agreement import (
    AgreedTerms,
    TermsProposal,
    agree,
    binary_columns,
    combine_proposals,
)
from dagora.parties.vertical.columns import column_levels
from tests.parties.pairs import both, endings, replace, wires

A, B = ("a1", "a2"), ("b1",)


def agreed(pair, wanted, expected=None, names=(A, B)):
    return both(
        pair,
        lambda wire: agree(wire, "host", names[0], wanted),
        lambda wire: agree(wire, "guest", names[1], expected or TermsProposal()),
    )


def refused(pair, wanted=None, expected=None, names=(A, B), roles=("host", "guest")):
    ended = endings(
        pair,
        lambda wire: agree(wire, roles[0], names[0], wanted or TermsProposal()),
        lambda wire: agree(wire, roles[1], names[1], expected or TermsProposal()),
    )
    for error in ended:
        # Who lies in the last message has agreed before the other can complain: it hears of it later.
        assert error is None or isinstance(error, ProtocolError)
        assert "\n" not in str(error)
    return [str(error) for error in ended]


def test_terms_on_every_network(network):
    host, guest = agreed(wires(network.open("host", "b")), TermsProposal(order="b1, a2,a1", max_parents=2))
    assert host == guest == AgreedTerms(A, B, (2, 1, 0), 2, "f", "hidden", "rlwe")
    assert host.names == ("a1", "a2", "b1")
    assert host.n_moments == 7


def test_without_an_order_the_hosts_columns_come_first():
    host, guest = agreed(
        wires(), TermsProposal(score="g", mode="adaptive", crypto="paillier"), TermsProposal(score="g")
    )
    assert host == guest
    assert (host.order, host.limit, host.max_parents) == ((0, 1, 2), 2, 3)
    assert (host.score, host.mode, host.crypto) == ("g", "adaptive", "paillier")


@pytest.mark.parametrize(
    ("expected", "line"),
    [
        (TermsProposal(max_parents=2), "option 'max_parents' is '3' at the host and '2' at the guest"),
        (TermsProposal(score="g"), "option 'score' is 'f' at the host and 'g' at the guest"),
        (TermsProposal(mode="adaptive"), "option 'mode' is 'hidden' at the host and 'adaptive' at the guest"),
        (
            TermsProposal(crypto="paillier"),
            "option 'crypto' is 'rlwe' at the host and 'paillier' at the guest",
        ),
        (
            TermsProposal(parameters="open"),
            "is 'none' at the host and 'open' at the guest: both must ask for it",
        ),
        (
            TermsProposal(order="b1,a1,a2"),
            "option 'order' is not given at the host and 'b1,a1,a2' at the guest",
        ),
    ],
)
def test_a_guest_that_wants_otherwise_ends_both(expected, line):
    for said in refused(wires(), expected=expected):
        assert said.endswith(line)


@pytest.mark.parametrize(
    ("wanted", "names", "line"),
    [
        (TermsProposal(), (("a", "x"), ("x",)), "both parties have a column 'x'"),
        (TermsProposal(order="a1,a2"), (A, B), "'b1' is missing"),
        (TermsProposal(order="a1,a2,b1,c"), (A, B), "'c', which is not a variable"),
        (TermsProposal(order="a1,a2,b1,b1"), (A, B), "'b1' twice"),
        (
            TermsProposal(max_parents=6),
            (tuple(f"a{i}" for i in range(40)), B),
            "take fewer columns or a lower max_parents",
        ),
        (TermsProposal(), (A, ("b\x1b[31m",)), "control character U+001B"),
        (TermsProposal(), (A, ()), "columns"),
    ],
)
def test_what_does_not_fit_ends_both(wanted, names, line):
    said = refused(wires(), wanted, names=names)
    assert all(line in one for one in said), said


def expecting(pair, wanted, expected, levels):
    return endings(
        pair,
        lambda wire: agree(wire, "host", A, wanted, levels=levels[0]),
        lambda wire: agree(wire, "guest", B, expected, levels=levels[1]),
    )


@pytest.mark.parametrize(
    ("wanted", "expected", "line"),
    [
        (
            TermsProposal(levels="b1=3"),
            TermsProposal(),
            "column 'b1' has 4 levels at the guest, and the host expects 3",
        ),
        (
            TermsProposal(),
            TermsProposal(levels="a2=2,b1=4"),
            "column 'a2' has 3 levels at the host, and the guest expects 2",
        ),
        (
            TermsProposal(levels="c=2"),
            TermsProposal(),
            "option 'levels' of the host names 'c', which nobody has",
        ),
        (
            TermsProposal(score="g"),
            TermsProposal(),
            "the score g is of columns with two levels, and column 'a2' has more",
        ),
    ],
)
def test_owners_who_disagree_on_levels_end_with_the_same_line(wanted, expected, line):
    parties = wires()
    for error in expecting(parties, wanted, expected, ((2, 3), (4,))):
        assert isinstance(error, ProtocolError)
        assert line in str(error)
    assert {tag for wire in parties for _, tag, _ in wire.sent} == {"agreement/wishes"}


def test_levels_and_the_fewest_rows_are_agreed_on():
    host, guest = both(
        wires(),
        lambda wire: agree(wire, "host", A, TermsProposal(min_rows=5), levels=(2, 3)),
        lambda wire: agree(wire, "guest", B, TermsProposal(min_rows=40, levels="a2=3,b1=4"), levels=(4,)),
    )
    assert host == guest
    assert (host.levels, host.min_rows, host.n_moments) == ((2, 3, 4), 40, 6 + 2 + 3 + 6 + 6)
    assert host.describe().startswith("order a1 (2 levels), a2 (3 levels), b1 (4 levels); at most")


def test_who_does_not_like_the_offer_has_not_agreed():
    parties = wires()

    def decline(terms):
        raise OptionError("too dear")

    ended = endings(
        parties,
        lambda wire: agree(wire, "host", A, TermsProposal(), on_offer=decline),
        lambda wire: agree(wire, "guest", B, TermsProposal()),
    )
    assert isinstance(ended[0], OptionError)
    assert isinstance(ended[1], ProtocolError)
    assert [tag for _, tag, _ in parties[0].sent] == ["agreement/wishes"]


def test_what_a_party_expects_of_its_own_columns_is_checked_before_it_sends_anything():
    parties = wires()
    ended = endings(
        parties,
        lambda wire: agree(wire, "host", A, TermsProposal(), levels=(2, 2)),
        lambda wire: agree(wire, "guest", B, TermsProposal(levels="b1=2"), levels=(3,)),
    )
    assert isinstance(ended[1], OptionError)
    assert "column 'b1' has 3 levels here" in str(ended[1])
    assert not parties[1].sent


def test_two_hosts():
    assert all("both parties are the host" in line for line in refused(wires(), roles=("host", "host")))


@pytest.mark.parametrize("liar", [0, 1])
@pytest.mark.parametrize(
    ("step", "lie", "line"),
    [
        ("wishes", {"version": 2}, "use the same dagora"),
        ("wishes", {"statistical": 10}, "security level is not"),
        ("wishes", {"role": "king"}, "neither host nor guest"),
        ("wishes", {"names": ["q", "q"]}, "the same name"),
        ("wishes", {"names": [7]}, "printable"),
        ("wishes", {"names": []}, "0 columns"),
        ("wishes", {"max_parents": 77}, "from 1 to 6"),
        ("wishes", {"score": "h"}, "f or g"),
        ("wishes", {"mode": "\u00a0"}, "out of its range"),
        ("wishes", {"names": ["other"], "levels": [2]}, "its terms differ from the terms here"),
        ("digest", {"digest": b"x"}, "its terms differ from the terms here"),
        ("wishes", {"version": 1 << 60_000}, "out of its range"),
        ("wishes", {"max_parents": -1}, "from 1 to 6"),
        ("wishes", {"order": "a1\u00a0"}, "one line of names"),
        ("wishes", {"order": "a1," * 50_000}, "one line of names"),
        ("digest", {"more": 1}, "unknown field"),
        ("wishes", {"levels": [2] * 4}, "2 to 5 levels each"),
        ("wishes", {"levels": [2, 6, 2]}, "2 to 5 levels each"),
        ("wishes", {"levels": ["2", 2]}, "2 to 5 levels each"),
        ("wishes", {"expected": "a1"}, "must be like age=3"),
        ("wishes", {"min_rows": -4}, "must be 2 or more"),
    ],
)
def test_lies(liar, step, lie, line):
    change = [None, None]
    change[liar] = replace(step, lambda payload: encode({**decode(payload), **lie}))
    said = refused(wires(change=change))
    assert line in said[1 - liar], said
    assert all(one.isprintable() for one in said)


@pytest.mark.parametrize("liar", [0, 1])
@pytest.mark.parametrize("step", ["wishes", "digest"])
def test_garbage(liar, step):
    change = [None, None]
    change[liar] = replace(step, lambda payload: b"garbage")
    assert "is not a message of dagora" in refused(wires(change=change))[1 - liar]


@pytest.mark.parametrize(
    ("wrong", "name"),
    [
        ({"max_parents": 0}, "max_parents"),
        ({"max_parents": 7}, "max_parents"),
        ({"score": "k2"}, "score"),
        ({"mode": "open"}, "mode"),
        ({"crypto": "rsa"}, "crypto"),
        ({"min_rows": 1}, "min_rows"),
        ({"min_rows": "9"}, "min_rows"),
        ({"levels": "a=6"}, "levels"),
        ({"levels": "a"}, "levels"),
    ],
)
def test_wishes_that_cannot_be(wrong, name):
    with pytest.raises(OptionError, match=f"option '{name}' must be"):
        TermsProposal(**wrong)


def test_every_term_is_in_the_digest():
    terms = combine_proposals(A, B, TermsProposal(max_parents=1), TermsProposal())
    others = [
        combine_proposals(A, ("b2",), TermsProposal(max_parents=1), TermsProposal()),
        combine_proposals((*A, *B), ("b2",), TermsProposal(max_parents=1), TermsProposal()),
        combine_proposals(A, B, TermsProposal(max_parents=2), TermsProposal()),
        *(
            combine_proposals(A, B, TermsProposal(max_parents=1, **{name: value}), TermsProposal())
            for name, value in (
                ("order", "b1,a1,a2"),
                ("score", "g"),
                ("mode", "adaptive"),
                ("crypto", "paillier"),
                ("min_rows", 3),
            )
        ),
        combine_proposals(A, B, TermsProposal(max_parents=1), TermsProposal(), (2, 2, 3)),
    ]
    assert len({each.digest() for each in (terms, *others)}) == 10


@pytest.mark.parametrize(
    ("values", "discrete", "line"),
    [
        ([0, 1, 2, 3, 4, 5], True, "column 'a' has 6 levels"),
        ([1, 1, 1], True, "column 'a' has 1 level,"),
        ([0.5, 1.5, 2.5], False, "column 'a' is continuous"),
    ],
)
def test_columns_of_too_many_levels_or_too_few(values, discrete, line):
    table = Table.from_numpy(np.array(values)[:, None], names=["a"], discrete=["a"] if discrete else [])
    with pytest.raises(DataError, match=line):
        column_levels(table)


def test_what_takes_two_levels_refuses_three():
    table = Table.from_numpy(np.arange(3)[:, None], names=["a"], discrete=["a"])
    with pytest.raises(DataError, match="column 'a' has 3 levels, but this takes columns of two"):
        binary_columns(table)


def test_a_table_without_columns_is_refused():
    with pytest.raises(DagoraError, match="at least one is needed"):
        column_levels(Table.from_numpy([[0], [1]], names=["a"]).select([]))


def test_disagreements_are_bad_input():
    with pytest.raises(DisagreementError):
        combine_proposals(A, A, TermsProposal(), TermsProposal())
