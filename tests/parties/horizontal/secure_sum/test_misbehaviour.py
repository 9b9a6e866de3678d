"""A coordinator that lies, and sites that notice: each lie ends at the site with its reason, and gains nothing."""

import numpy as np
import pytest

from dagora.errors import ProtocolError
from dagora.parties.horizontal.secure_sum.identity import hand_out_keys
from dagora.parties.horizontal.secure_sum.masks import KeyPair
from dagora.parties.horizontal.secure_sum.roster import Entry, Roster, encode_roster
from dagora.parties.transport.messages import decode, encode
from tests.parties.horizontal.secure_sum.sums import begin, names_of
from tests.parties.network import PATIENCE

NAMES = names_of(5)


def lie_to(site, tag, change):
    """A coordinator's transport that changes one message to one site."""

    def wire(to, sent, payload):
        return change(payload) if (to, sent) == (site, tag) else payload

    return wire


def what_it_says(change, *, victim="s0", rounds=1, **options):
    """Run the sums; return the victim's error and what it sent."""
    party = begin(NAMES, change=change, rounds=rounds, patience=2.0, **options)
    try:
        party.sums.set_up()
        for round_ in range(rounds):
            party.sums.sum(f"task {round_}")
    except ProtocolError as error:
        party.end(str(error))
    else:
        party.end()
    error = party.working[victim].exception(PATIENCE)
    assert isinstance(error, ProtocolError), error
    assert "\n" not in str(error)
    return str(error), {tag for _, tag, _ in party.wires[victim].sent}


def with_roster(change):
    def changed(payload):
        roster = Roster.decode(payload, "roster")
        entries, threshold = dict(roster.entries), roster.threshold
        threshold = change(entries) or threshold
        return encode_roster(roster.challenge, threshold, entries)

    return lie_to("s0", "sum/roster", changed)


def _swap_mask_key(entries):
    old = entries["s1"]
    entries["s1"] = Entry("s1", old.share_key, KeyPair.make().public, old.signature, old.certificate)


def _swap_share_key(entries):
    old = entries["s1"]
    entries["s1"] = Entry("s1", KeyPair.make().public, old.mask_key, old.signature, old.certificate)


def _sign_for_another(entries):
    entries["s1"] = Entry.make(
        hand_out_keys(["s1"])["s1"], b"c" * 32, KeyPair.make().public, KeyPair.make().public
    )


def _rename(entries):
    old = entries.pop("s1")
    entries["s9"] = Entry("s9", old.share_key, old.mask_key, old.signature, old.certificate)


def _pose(entries):
    entries["coordinator"] = Entry("coordinator", KeyPair.make().public, KeyPair.make().public, b"", b"")


def _repeat_keys(entries):
    old, other = entries["s1"], entries["s2"]
    entries["s1"] = Entry("s1", other.share_key, old.mask_key, old.signature, old.certificate)


def _leave_two(entries):
    for name in ("s2", "s3", "s4"):
        del entries[name]
    return 2


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (_swap_mask_key, "keys of site 's1' are not signed by it"),
        (_swap_share_key, "keys of site 's1' are not signed by it"),
        (_sign_for_another, "keys of site 's1' are not signed by it"),
        (_rename, "keys of site 's9' are not signed by it"),
        (_pose, "the coordinator cannot be one of the sites"),
        (_repeat_keys, "two of its keys are the same"),
        (_leave_two, "2 sites are too few: at least 3 must take part"),
        (lambda entries: entries.pop("s0") and None, "does not hold this site's own keys"),
        (lambda entries: 2, "a threshold of 2 does not protect 5 sites"),
        (lambda entries: 6, "a threshold of 6 does not protect 5 sites"),
    ],
)
def test_a_roster_that_cannot_be_trusted(change, reason):
    said, sent = what_it_says(with_roster(change))
    assert reason in said
    assert sent == {"sum/keys"}


def test_a_recording_of_a_site_from_an_earlier_session():
    """Its keys are signed for the same challenge, but it cannot have signed today's roster."""
    challenge = encode({"challenge": b"c" * 32})
    identities = hand_out_keys(NAMES)
    recorded = {}

    def first(to, tag, payload):
        if tag == "sum/begin":
            return challenge
        if tag == "sum/roster":
            roster = Roster.decode(payload, "roster")
            recorded.update(roster.entries)
            return encode_roster(b"c" * 32, roster.threshold, roster.entries)
        return payload

    party = begin(NAMES, change=first, identities=identities)
    party.sums.set_up()
    party.end()
    own_keys = {}

    def second(to, tag, payload):
        if tag == "sum/begin":
            return challenge
        if tag == "sum/roster":
            roster = Roster.decode(payload, "roster")
            entries = dict(roster.entries)
            own_keys[to] = True
            if to != "s1":
                entries["s1"] = recorded["s1"]
            return encode_roster(b"c" * 32, roster.threshold, entries)
        return payload

    said, sent = what_it_says(second, identities=identities)
    assert "site 's1' did not sign the roster that this site was shown" in said
    assert "sum/0/input" not in sent


def test_a_challenge_of_another_session():
    said, _ = what_it_says(lie_to("s0", "sum/begin", lambda payload: encode({"challenge": b"c" * 32})))
    assert "the roster belongs to another session" in said
    said, _ = what_it_says(lie_to("s0", "sum/begin", lambda payload: encode({"challenge": b"c"})))
    assert "a challenge has 32 bytes" in said


def with_shares(change, epoch=0):
    def changed(payload):
        content = decode(payload)
        change(content)
        return encode(content)

    return lie_to("s0", f"sum/shares/{epoch}", changed)


def _flip(content):
    box = content["sealed"]["s2"]
    content["sealed"]["s2"] = box[:5] + bytes((box[5] ^ 1,)) + box[6:]


def _cross(content):
    sealed = content["sealed"]
    sealed["s1"], sealed["s2"] = sealed["s2"], sealed["s1"]


def _unsign(content):
    content["signatures"]["s3"] = content["signatures"]["s2"]


def _drop(*names):
    def change(content):
        for name in names:
            del content["sealed"][name]

    return change


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (_flip, "the shares of site 's2' were changed on the way"),
        (_cross, "the shares of site 's1' were changed on the way"),
        (_unsign, "site 's3' did not sign the roster"),
        (_drop("s1", "s2"), "only 3 sites have shared their secrets; 4 must"),
        (lambda content: content["sealed"].update(s9=b""), "not those of the session's sites"),
        (lambda content: content["sealed"].update(s1=7), "the shares of site 's1' were changed"),
    ],
)
def test_shares_that_were_tampered_with(change, reason):
    said, sent = what_it_says(with_shares(change))
    assert reason in said
    assert "sum/0/input" not in sent


def test_a_later_epoch_for_other_sites():
    said, sent = what_it_says(with_shares(_drop("s1"), epoch=1), rounds=5)
    assert "not those of the session's sites" in said
    assert "sum/4/input" not in sent


def asking(round_, survivors, lost=(), at=0):
    content = {"round": round_, "survivors": list(survivors), "lost": list(lost)}
    return lie_to("s0", f"sum/{at}/open", lambda payload: encode(content))


@pytest.mark.parametrize(
    ("lie", "rounds", "reason"),
    [
        (asking(0, NAMES, ["s2"]), 1, "asks for both kinds of shares of site 's2'"),
        (asking(0, NAMES[:3], NAMES[3:]), 1, "asks to open a sum of 3 sites; at least 4"),
        (asking(0, NAMES[:4]), 1, "does not name every site"),
        (asking(0, [*NAMES, "s9"]), 1, "names site 's9', which is not in this session"),
        (asking(0, [1, 2]), 1, "does not name sites"),
        (asking(1, NAMES), 1, "sum 2, which this site was not asked for"),
        (asking(0, NAMES[:4], ["s4"], at=1), 2, "asks to open sum 1 a second time"),
        (asking(1, NAMES[:4], ["s4"], at=1), 2, "without site 's4' after sums with it were opened"),
    ],
)
def test_requests_that_would_bare_a_site(lie, rounds, reason):
    said, sent = what_it_says(lie, rounds=rounds)
    assert reason in said
    assert f"sum/{rounds - 1}/shares" not in sent


def test_half_told_one_set_and_half_another_opens_nothing():
    """With more than two thirds needed, neither kind of share of 's4' comes together."""
    given = {"seeds": 0, "keys": 0}

    def split_view(to, tag, payload):
        if tag == "sum/0/open" and to in ("s0", "s1"):
            return encode({"round": 0, "survivors": NAMES[:4], "lost": ["s4"]})
        return payload

    party = begin(NAMES, change=split_view, patience=2.0)
    party.sums.set_up()
    with pytest.raises(ProtocolError):
        party.sums.sum("task 0")
    party.end("over")
    for name in NAMES:
        for _, tag, payload in party.wires[name].sent:
            if tag == "sum/0/shares":
                content = decode(payload)
                given["keys"] += bool(content["keys"])
                given["seeds"] += not content["keys"]
    assert given == {"keys": 2, "seeds": 3}
    assert max(given.values()) < party.sums._roster.threshold


@pytest.mark.parametrize("kind", ["seeds", "keys"])
def test_a_site_with_wrong_shares_is_noticed_where_shares_are_to_spare(kind):
    names = names_of(7)
    party = begin(names, die={"s6": "before sum/0/input"})
    wire = party.wires["s0"]

    def change(to, tag, payload):
        if tag != "sum/0/shares":
            return payload
        content = decode(payload)
        content[kind] = bytes((content[kind][0] ^ 1,)) + content[kind][1:]
        return encode(content)

    wire.change = change
    party.sums.set_up()
    with pytest.raises(ProtocolError, match="do not fit together"):
        party.sums.sum("task 0")
    party.end("over")


def test_garbage_from_a_site_ends_the_run_by_name():
    party = begin(names_of(3))
    party.wires["s2"].change = lambda to, tag, payload: b"garbage" if tag == "sum/0/input" else payload
    party.sums.set_up()
    with pytest.raises(ProtocolError, match="site 's2': is not a message of dagora"):
        party.sums.sum("task 0")
    party.end("over")


def test_a_site_that_does_not_share_with_all_is_named():
    party = begin(names_of(4))

    def change(to, tag, payload):
        if tag != "sum/share/0":
            return payload
        content = decode(payload)
        del content["sealed"]["s2"]
        return encode(content)

    party.wires["s1"].change = change
    with pytest.raises(ProtocolError, match="site 's1' did not share with all others"):
        party.sums.set_up()
    party.end("over")


def test_the_coordinator_cannot_read_the_shares_it_passes_on():
    party = begin(names_of(3), vectors={name: [np.zeros(3, dtype=np.uint64)] for name in names_of(3)})
    party.sums.set_up()
    party.sums.sum("task 0")
    party.end()
    seen = b"".join(payload for _, _, payload in party.coordinator.received + party.coordinator.sent)
    held = party.sites["s0"]._vault._seeds
    assert len(held) == 3
    for shares in held.values():
        for share in shares.values():
            assert share.to_bytes(33, "little")[:16] not in seen
