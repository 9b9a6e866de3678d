"""A coordinator, or who has the authority's key, wants to speak for a site, or to show sites different things."""

import base64
from dataclasses import replace

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, load_pem_private_key

from dagora.base.errors import ProtocolError
from dagora.parties.horizontal.log.log_events import History
from dagora.parties.horizontal.policy.policy import PolicyError
from dagora.parties.horizontal.secure_sum.identity import CertifiedIdentity
from dagora.parties.horizontal.secure_sum.masks import KeyPair
from dagora.parties.horizontal.secure_sum.roster import Roster, RosterEntry
from dagora.parties.transport.authority import der_of
from dagora.parties.transport.certificates import fingerprint, make_certificates
from dagora.parties.transport.messages import encode
from tests.attacks.hostile_coordinator import NAMES, colluder_view, handed_over, is_noise, tables
from tests.parties.horizontal.meeting import COORDINATOR, Meeting


def test_a_roster_with_another_certificate_is_refused():
    meeting = Meeting(tables())
    stranger = "sha256:" + "0" * 64
    meeting.session.plan = replace(meeting.plan, sites={**meeting.plan.sites, "west": stranger})
    with pytest.raises(ProtocolError, match="refused the plan"), meeting.session as session:
        session.counts([(0,)])
    assert "another certificate for site 'west'" in meeting.lines()["east"]


def test_a_site_cannot_be_replaced_by_a_key_of_the_coordinator():
    meeting = Meeting(tables())
    own = KeyPair.make()

    def forge(to, tag, payload):
        if tag != "roster" or to != "east":
            return payload
        roster, signature = Roster.decode(payload, meeting.plan, "roster")
        entry = roster.entries["west"]
        entries = {
            **roster.entries,
            "west": RosterEntry(entry.name, own.public, entry.certificate, entry.signature),
        }
        return Roster(meeting.plan, entries, roster.key).encode(signature)

    meeting.hub.change = forge
    with pytest.raises(ProtocolError), meeting.session as session:
        session.counts([(0,)])
    assert "site 'west' did not sign this plan" in meeting.lines()["east"]


def test_a_roster_that_the_coordinator_did_not_sign_is_refused():
    meeting = Meeting(tables())

    def forge(to, tag, payload):
        if tag != "roster" or to != "east":
            return payload
        roster, _ = Roster.decode(payload, meeting.plan, "roster")
        return roster.encode(meeting.keys["west"].sign(roster.statement()))

    meeting.hub.change = forge
    with pytest.raises(ProtocolError), meeting.session as session:
        session.counts([(0,)])
    assert "the coordinator did not sign the roster" in meeting.lines()["east"]


def test_another_plan_for_one_site_is_noticed_by_all():
    meeting = Meeting(tables())
    other = replace(meeting.plan, settings={"score": "k2"})

    def change(to, tag, payload):
        if tag == "plan" and to == "west":
            return encode({"plan": other.encode(), "certificate": meeting.keys[COORDINATOR].certificate})
        return payload

    meeting.hub.change = change
    with pytest.raises(ProtocolError, match="site 'west' did not sign this plan"), meeting.session as session:
        session.counts([(0,)])


# --- with the authority's key


def test_an_authority_cannot_pose_as_a_party(credentials):
    """The CA's own certificate is issued by the CA, but names no party."""
    judge = CertifiedIdentity(credentials["c"])
    ca = der_of(credentials["c"].ca.read_bytes())
    assert not judge.verify("b", b"hello", judge.sign(b"hello"), ca)


def two_in_one(known, forged):
    """Texts in which one parser finds the certificate that is known, and another a forged one."""
    first, second = (base64.b64encode(der).decode() for der in (known, forged))
    begin, end = "-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----"
    yield f"{begin}\n{first}\n{end}\n{begin}\n{second}\n{end}\n"
    for mark in (":", ": "):
        yield f"{begin}\n{first[:10]}{mark}{first[10:]}\n\n{second}\n{end}\n"
        yield f"{begin}\n{second[:10]}{mark}{second[10:]}\n\n{first}\n{end}\n"


def test_whoever_has_the_authoritys_key_cannot_sign_under_a_known_fingerprint(tmp_path):
    """Attack: one message that has a site's fingerprint, and holds another key for its name."""
    made = make_certificates(tmp_path / "keys", ["b", "c"])
    b, judge = (CertifiedIdentity(made[name]) for name in ("b", "c"))
    key = ec.generate_private_key(ec.SECP256R1())
    pem = (tmp_path / "keys" / "b" / "party.pem").read_bytes()
    forged = forge(pem, (tmp_path / "keys" / "ca.key").read_bytes(), key)
    signature = key.sign(b"hello", ec.ECDSA(hashes.SHA256()))
    assert judge.verify("b", b"hello", signature, forged), "the authority vouches for it"
    known = judge.fingerprint(b.certificate)
    assert known == fingerprint(pem) != judge.fingerprint(forged)
    shown = [text.encode() for text in two_in_one(b.certificate, forged)]
    for message in [forged, *shown, b.certificate + forged, forged + b.certificate]:
        assert judge.fingerprint(message) != known or not judge.verify("b", b"hello", signature, message)
    for text in shown:
        assert not judge.verify("b", b"hello", signature, text)


def forge(pem, authority, key):
    """Another certificate for the same name, by whoever has the authority's key."""
    true = x509.load_pem_x509_certificate(pem)
    builder = x509.CertificateBuilder(
        true.issuer, true.subject, key.public_key(), x509.random_serial_number()
    )
    builder = builder.not_valid_before(true.not_valid_before_utc).not_valid_after(true.not_valid_after_utc)
    signed = builder.sign(load_pem_private_key(authority, password=None), hashes.SHA256())
    return signed.public_bytes(Encoding.DER)


@pytest.fixture(scope="module")
def consortium(tmp_path_factory):
    """Certificates of five sites and of the coordinator, and the key of their authority."""
    folder = tmp_path_factory.mktemp("consortium") / "keys"
    made = make_certificates(folder, [COORDINATOR, *NAMES])
    return {name: CertifiedIdentity(made[name]) for name in made}, folder


class Forged:
    """An identity with the authority's word for a name, and a key that is not its bearer's."""

    def __init__(self, true, folder):
        self._key = ec.generate_private_key(ec.SECP256R1())
        pem = (folder / true.name / "party.pem").read_bytes()
        self._true, self.name = true, true.name
        self.certificate = forge(pem, (folder / "ca.key").read_bytes(), self._key)

    def sign(self, message):
        return self._key.sign(message, ec.ECDSA(hashes.SHA256()))

    def __getattr__(self, name):
        return getattr(self._true, name)


def meet(consortium, forged, **options):
    """Five sites, two of them honest: east, mid and north help a coordinator that has the authority's key."""
    identities, folder = consortium
    keys = {name: Forged(each, folder) if name in forged else each for name, each in identities.items()}
    return Meeting(tables(), keys=keys, **options)


def test_a_forged_site_is_refused_by_the_policies_of_honest_ones(consortium):
    """The coordinator plays west itself, with a certificate that the authority has signed."""
    identities, _ = consortium
    known = {name: each.fingerprint(each.certificate) for name, each in identities.items()}
    sites = {name: known[name] for name in NAMES}
    meeting = meet(consortium, ["west"], policies={name: {"sites": sites} for name in NAMES})
    with pytest.raises(ProtocolError, match="refused the plan"), meeting.session as session:
        session.counts([(0, 1)])
    policy = meeting.policies["south"]
    with pytest.raises(PolicyError, match="another certificate for site 'west'"):
        policy.check(meeting.plan, "south", History())
    meeting.lines()
    assert meeting.answers("south") == []


def test_a_forged_key_in_the_roster_is_refused_by_honest_sites(consortium):
    """The plan names the true west, which takes part; south is shown a west of the coordinator's making."""
    identities, folder = consortium
    meeting = meet(consortium, [])
    west, own = Forged(identities["west"], folder), KeyPair.make()

    def change(to, tag, payload):
        if (to, tag) != ("south", "roster"):
            return payload
        roster, _ = Roster.decode(payload, meeting.plan, "roster")
        entries = {**roster.entries, "west": RosterEntry.make(west, meeting.plan, own.public)}
        shown = Roster(meeting.plan, entries, roster.key)
        return shown.encode(meeting.keys[COORDINATOR].sign(shown.statement()))

    meeting.hub.change = change
    with pytest.raises(ProtocolError), meeting.session as session:
        session.counts([(0, 1)])
    assert "the certificate of site 'west' is not the one that the plan names" in meeting.lines()["south"]
    assert meeting.answers("south") == []


def test_a_forged_coordinator_is_refused(consortium):
    """Policies name the coordinator's certificate, not only its name."""
    identities, _ = consortium
    true = identities[COORDINATOR]
    policies = {name: {"coordinator": true.fingerprint(true.certificate)} for name in NAMES}
    meeting = meet(consortium, [COORDINATOR], policies=policies)
    with pytest.raises(ProtocolError, match="refused the plan"), meeting.session as session:
        session.counts([(0, 1)])
    assert any("another coordinator" in line for line in meeting.lines().values())
    assert not any(meeting.answers(name) for name in NAMES)


def test_with_three_helpers_and_the_authority_two_honest_sites_stay_hidden(consortium, remembered_keys):
    """Nothing is forged, so the run goes on: what the coordinator has is the sum of the two."""
    meeting = meet(consortium, [])
    with meeting.session as session:
        session.counts([(0, 1)])
    meeting.lines()
    views = colluder_view(meeting, handed_over(meeting, NAMES[:3], remembered_keys))
    assert is_noise(views["south"])
    assert is_noise(views["west"])
