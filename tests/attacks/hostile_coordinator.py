"""A hostile coordinator: it has the session's code but sends what it likes, and up to K − 2 sites help it.

"It has the target's vector" means that some combination of what it saw equals it; as masks are uniform, tests
compare what it can compute with the target's counts.
"""

import numpy as np

from dagora.data.table import Table
from dagora.parties.horizontal.plan.coded_rows import code_rows
from dagora.parties.horizontal.secure_sum.masks import MaskContext, pair_masks, pair_secret
from dagora.parties.horizontal.secure_sum.roster import Roster
from dagora.parties.horizontal.session.questions import Conversation
from dagora.parties.horizontal.session.row_sums import joint_counts
from dagora.parties.transport.messages import decode

NAMES = ("east", "mid", "north", "south", "west")


def tables(names=NAMES, rows=30):
    rng = np.random.default_rng(3)
    return {name: Table.from_numpy(rng.integers(0, 2, (rows, 2)), names=["a", "b"]) for name in names}


def is_noise(vector):
    """No entry is anything like a count (chance: 2⁻¹⁹ for each)."""
    return bool((np.abs(np.asarray(vector).view(np.int64).astype(float)) > 2.0**44).all())


def masked_answers(meeting, tag="answer"):
    """Every masked vector that the coordinator received, by site, in order."""
    found = {name: [] for name in meeting.names}
    for sender, got, payload in meeting.hub.received:
        if got == tag:
            content = decode(payload)
            if "masked" in content:
                found[sender].append(content["masked"])
    return found


def target_vector(meeting, site, sets):
    rows = code_rows(
        meeting.open.sites[meeting.names.index(site)].table, meeting.codebook, meeting.plan.largest_rows
    )
    return joint_counts(rows, sets)


def colluder_view(meeting, colluders, round_=0):
    """What the coordinator has if sites give it all their secrets: each answer without the masks it can compute."""
    roster_message = next(p for to, tag, p in meeting.hub.sent if tag == "roster")
    roster, _ = Roster.decode(roster_message, meeting.plan, "roster")
    ask = [payload for to, tag, payload in meeting.hub.sent if (to, tag) == (meeting.names[0], "ask")]
    heard = Conversation()
    for payload in ask[: round_ + 1]:
        heard.add(payload)
    views = {}
    for name, answers in masked_answers(meeting).items():
        vector = answers[round_]
        known = {}
        for other, keys in colluders.items():
            if other != name:
                known[other] = pair_secret(keys, other, name, roster.entries[name].key)
        context = MaskContext(roster.session, round_, heard.label, vector.shape)
        views[name] = vector - pair_masks(name, known, context)
    return views


def handed_over(meeting, helpers, remembered_keys):
    """The keys of the sites that help the coordinator."""
    public = {keys.public: keys for keys in remembered_keys}
    message = next(p for to, tag, p in meeting.hub.sent if tag == "roster")
    roster, _ = Roster.decode(message, meeting.plan, "roster")
    return {name: public[roster.entries[name].key] for name in helpers}
