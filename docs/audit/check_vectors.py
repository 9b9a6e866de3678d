"""Check the test vectors beside this file by another implementation, from the documents alone.

    python docs/audit/check_vectors.py

It imports nothing of dagora: the standard library, and the ciphers and curves of `cryptography`. Each
function below takes one vector and computes it again. What is not computed again is listed at the end.
"""

import hashlib
import hmac
import json
import math
import struct
import sys
from fractions import Fraction
from itertools import combinations_with_replacement, count, product
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import CTR, ECB

FOLDER = Path(__file__).parent / "vectors"
TYPES = "?BbHhIiQqfd"  # of arrays, by number


# --- messages


class Reader:
    """Reads a message of dagora (src/dagora/parties/transport/messages.py)."""

    def __init__(self, content):
        self.content, self.at = content, 0

    def take(self, layout):
        (value,) = struct.unpack_from("<" + layout, self.content, self.at)
        self.at += struct.calcsize("<" + layout)
        return value

    def bytes(self, size):
        self.at += size
        assert self.at <= len(self.content)
        return self.content[self.at - size : self.at]

    def value(self):
        kind = self.bytes(1)
        if kind in b"ntf":
            return {b"n": None, b"t": True, b"f": False}[kind]
        if kind == b"i":
            return int.from_bytes(self.bytes(self.take("I")), "little", signed=True)
        if kind == b"d":
            return self.take("d")
        if kind == b"s":
            return self.bytes(self.take("I")).decode()
        if kind == b"b":
            return self.bytes(self.take("Q"))
        if kind == b"l":
            return [self.value() for _ in range(self.take("I"))]
        if kind == b"m":
            return {self.bytes(self.take("H")).decode(): self.value() for _ in range(self.take("I"))}
        assert kind == b"a"
        letter, dimensions = TYPES[self.take("B")], self.take("B")
        size = math.prod(self.take("Q") for _ in range(dimensions))
        return [self.take(letter) for _ in range(size)]  # flat


def read(content):
    reader = Reader(content)
    assert reader.bytes(4) == b"dgm1"
    found = reader.value()
    assert reader.at == len(content)
    return found


def write(value):
    """The other way round, for the few kinds that go into derivations."""
    if isinstance(value, int):
        size = (value if value >= 0 else ~value).bit_length() // 8 + 1
        return b"i" + struct.pack("<I", size) + value.to_bytes(size, "little", signed=True)
    if isinstance(value, str):
        return b"s" + struct.pack("<I", len(value.encode())) + value.encode()
    if isinstance(value, bytes):
        return b"b" + struct.pack("<Q", len(value)) + value
    if isinstance(value, list):
        return b"l" + struct.pack("<I", len(value)) + b"".join(map(write, value))
    named = b"".join(struct.pack("<H", len(key)) + key.encode() + write(item) for key, item in value.items())
    return b"m" + struct.pack("<I", len(value)) + named


def message(value):
    return b"dgm1" + write(value)


def check_wire(vector):
    payload = bytes.fromhex(vector["payload"])
    assert read(payload) == {
        "nothing": None, "yes": True, "no": False, "number": -300, "large": 1 << 70, "real": 0.5,
        "text": "naïve", "bytes": b"\x00\xff", "list": [1, "two"], "named": {"n": 3}, "array": [1, 2, 3, 4],
    }  # fmt: skip
    tag = vector["tag"].encode()
    header = struct.pack("<4sBBHQQ", b"dgra", 1, 3, len(tag), vector["sequence"], len(payload))
    assert bytes.fromhex(vector["frame"]) == header + tag + payload


# --- small parts


def sha(*parts):
    return hashlib.sha256(b"".join(parts)).digest()


def unhex(text, size=16):
    content = bytes.fromhex(text)
    return [content[k : k + size] for k in range(0, len(content), size)]


def xor(*parts):
    total = 0
    for part in parts:
        total ^= int.from_bytes(part, "little")
    return total.to_bytes(len(parts[0]), "little")


def words(text, size=8):
    return [int.from_bytes(part, "little") for part in unhex(text, size)]


def stream(key, size):
    """AES in counter mode, from a counter of zero."""
    return Cipher(AES(key), CTR(bytes(16))).encryptor().update(bytes(size))


def permute(key, block):
    return Cipher(AES(key), ECB()).encryptor().update(block)  # noqa: S305


def expand(key, info, size=32):
    """HKDF-Expand of RFC 5869; one block is enough."""
    return hmac.new(key, info + b"\x01", "sha256").digest()[:size]


def derive(secret, info):
    return expand(hmac.new(bytes(32), secret, "sha256").digest(), info)


def source(name, call, size):
    """The randomness of the vectors (building/vectors.py)."""
    return hashlib.shake_256(f"dagora vectors, {name}, {call}".encode()).digest(size)


# --- secure sums


def agree(private, public):
    own = X25519PrivateKey.from_private_bytes(private)
    return own.exchange(X25519PublicKey.from_public_bytes(public))


def public_of(private):
    return X25519PrivateKey.from_private_bytes(private).public_key().public_bytes_raw()


def pair_secret(private, name, other, public):
    ends = sorted([(name, public_of(private)), (other, public)])
    info = message({"pair": [name for name, _ in ends], "keys": [key for _, key in ends]})
    return derive(agree(private, public), info)


def mask(secret, session, round_, label, size):
    info = message({"session": session, "round": round_, "label": label, "shape": [size]})
    return words(stream(expand(secret, info), 8 * size).hex())


def check_masks(vector):
    east, north = map(bytes.fromhex, vector["private_keys"])
    secret = pair_secret(east, "east", "north", public_of(north))
    assert secret.hex() == vector["pair_secret"]
    assert secret == pair_secret(north, "north", "east", public_of(east))
    session = bytes.fromhex(vector["session"])
    found = mask(secret, session, vector["round"], vector["label"], vector["size"])
    assert found == words(vector["mask_of_east"])  # east comes before north, and adds
    assert stream(secret, 8 * vector["size"]).hex() == vector["keystream_of_the_secret"]


def check_federated(run):
    """The whole run: signatures, the session, every mask, and sums that are those of the rows."""
    told = [(m["from"], m["to"], m["tag"], bytes.fromhex(m["bytes"])) for m in run["messages"]]
    offer, roster = (read(same_for_all(told, tag, run["private_keys"])) for tag in ("plan", "roster"))
    plan = json.loads(offer["plan"])
    written = json.dumps(plan, sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode()
    assert written == offer["plan"], "there is one way to write a plan"
    plan_digest = sha(b"dagora plan\0", written)
    assert plan["coordinator"] == "sha256:" + sha(offer["certificate"]).hex()
    entries = [read(entry) for entry in roster["entries"]]
    sent = {name: content for name, _, tag, content in told if tag == "keys"}
    assert [sent[entry["name"]] for entry in entries] == roster["entries"], "keys are passed on as they came"
    for entry in entries:
        assert plan["sites"][entry["name"]] == "sha256:" + sha(entry["certificate"]).hex()
        statement = message({"name": entry["name"], "plan": plan_digest, "key": entry["key"]})
        signed_by(entry["certificate"], entry["signature"], b"dagora plan: site\0" + statement)
        assert entry["key"] == public_of(bytes.fromhex(run["private_keys"][entry["name"]]))
    listed = {"plan": plan_digest, "entries": roster["entries"], "key": roster["key"]}
    session = sha(b"dagora session\0", message(listed))
    signed_by(offer["certificate"], roster["signature"], b"dagora plan: coordinator\0" + session)
    keys = {entry["name"]: entry["key"] for entry in entries}
    own = bytes.fromhex(run["private_keys"]["coordinator"])
    assert roster["key"] == public_of(own)
    opened = {}
    for site, key in keys.items():
        secret = pair_secret(own, "coordinator", site, key)
        for tag, ends in (("ask", ("coordinator", site)), ("answer", (site, "coordinator"))):
            sealed = [content for sender, to, named, content in told if (sender, to, named) == (*ends, tag)]
            opened[site, tag] = [open_seal(secret, session, ends, tag, k, s) for k, s in enumerate(sealed)]
    asked = opened["east", "ask"]
    assert all(opened[site, "ask"] == asked for site in keys), "all are asked the same"
    label = b""
    for round_, sets in enumerate(run["questions"]):
        label = sha(label, sha(asked[round_]))
        total = None
        for name in sorted(keys):
            vector = read(opened[name, "answer"][round_])["masked"]
            private = bytes.fromhex(run["private_keys"][name])
            for other in sorted(set(keys) - {name}):
                secret = pair_secret(private, name, other, keys[other])
                sign = 1 if name < other else -1
                noise = mask(secret, session, round_, label.hex(), len(vector))
                vector = [(v - sign * m) % 2**64 for v, m in zip(vector, noise, strict=True)]
            assert vector == counts(run["rows"][name], sets), f"the part of {name}"
            total = vector if total is None else [a + b for a, b in zip(total, vector, strict=True)]
        assert total == run["sums"][round_]


def same_for_all(told, tag, parties):
    """The one message under a tag that the coordinator sends to every site."""
    found = {to: content for sender, to, named, content in told if (sender, named) == ("coordinator", tag)}
    assert sorted(["coordinator", *found]) == sorted(parties)
    assert len(set(found.values())) == 1
    return found.popitem()[1]


def open_seal(secret, session, ends, tag, number, sealed):
    """The number-th message of one direction."""
    key = expand(secret, message({"sealed": session, "from": ends[0], "to": ends[1]}))
    return ChaCha20Poly1305(key).decrypt(number.to_bytes(12, "little"), sealed, tag.encode())


def signed_by(certificate, signature, statement):
    Ed25519PublicKey.from_public_bytes(certificate).verify(signature, statement)


def counts(columns, sets):
    """Joint counts of binary columns, tables one after the other; the last column of a table runs fastest."""
    rows = list(zip(*columns, strict=True))
    return [
        sum(tuple(row[column] for column in some) == cell for row in rows)
        for some in sets
        for cell in product((0, 1), repeat=len(some))
    ]


def check_log(vector):
    last = "0" * 64
    for line in vector["lines"]:
        entry = json.loads(line)
        assert entry["after"] == last
        unsealed = line.removesuffix(f', "hash": "{entry["hash"]}"}}') + "}"
        last = sha(unsealed.encode()).hex()
        assert entry["hash"] == last


# --- garbling


def label_hash(key, block, tweak):
    inner = permute(key, block)
    return xor(permute(key, xor(inner, tweak.to_bytes(16, "little"))), inner)


def check_aes(vector):
    key, blocks = bytes.fromhex(vector["key"]), unhex(vector["blocks"])
    assert [permute(key, block) for block in blocks] == unhex(vector["encrypted"])
    first = vector["first_tweak"]
    assert [label_hash(key, b, first + k) for k, b in enumerate(blocks)] == unhex(vector["hashed"])


def check_gate(vector):
    key, delta = (bytes.fromhex(vector[name]) for name in ("key", "delta"))
    zeros, tables = unhex(vector["zero_labels"]), unhex(vector["tables"])
    output, tweak = bytes.fromhex(vector["zero_label_of_output"]), vector["first_tweak"]
    for a, b in product((0, 1), repeat=2):
        left, right = (xor(zero, delta) if bit else zero for zero, bit in zip(zeros, (a, b), strict=True))
        found = xor(label_hash(key, left, tweak), label_hash(key, right, tweak + 1))
        if left[0] & 1:
            found = xor(found, tables[0])
        if right[0] & 1:
            found = xor(found, tables[1], left)
        assert found == (xor(output, delta) if a & b else output)


def check_outputs(vector):
    """Commitments, hashes of labels and proofs of both sides."""
    zeros = [unhex(some) for some in vector["zero_labels"]]
    deltas = [bytes.fromhex(some) for some in vector["deltas"]]
    bits = vector["opened"]
    labels = [
        [xor(zero, delta) if bit else zero for zero, bit in zip(some, bits, strict=True)]
        for some, delta in zip(zeros, deltas, strict=True)
    ]
    proof = sha(b"dagora proof ", *labels[0], *labels[1])
    told = {(m["from"], m["tag"]): read(bytes.fromhex(m["bytes"])) for m in vector["messages"]}
    for side, name in enumerate(("sender", "receiver")):
        hashes = [
            sha(b"dagora output %d %d " % (side, wire), some)
            for wire, zero in enumerate(zeros[side])
            for some in (zero, xor(zero, deltas[side]))
        ]
        for step, content in (("decoding", b"".join(hashes)), ("proof", proof)):
            opened = told[name, f"outputs/{step}"]
            assert opened["content"] == content
            bound = sha(b"dagora commitment %s %d " % (step.encode(), side), opened["nonce"], content)
            assert bound == told[name, f"outputs/{step}-commitment"]["digest"]


# --- the group of Ed25519 (RFC 8032)

P, ORDER = 2**255 - 19, 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, P) % P


def decode_point(text):
    y = int.from_bytes(text, "little") & 2**255 - 1
    square = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    x = pow(square, (P + 3) // 8, P)
    if x * x % P != square:
        x = x * pow(2, (P - 1) // 4, P) % P
    if x * x % P != square or y >= P or (x == 0 and text[31] >> 7):
        return None
    return (P - x if x & 1 != text[31] >> 7 else x), y


def encode_point(point):
    return (point[1] | (point[0] & 1) << 255).to_bytes(32, "little")


def add(p, q):
    both = D * p[0] * q[0] * p[1] * q[1] % P
    x = (p[0] * q[1] + p[1] * q[0]) * pow(1 + both, -1, P)
    y = (p[1] * q[1] + p[0] * q[0]) * pow(1 - both, -1, P)
    return x % P, y % P


def times(scalar, point):
    total = (0, 1)
    while scalar:
        if scalar & 1:
            total = add(total, point)
        point, scalar = add(point, point), scalar >> 1
    return total


def negative(point):
    return -point[0] % P, point[1]


BASE = decode_point((4 * pow(5, -1, P) % P).to_bytes(32, "little"))


def scalar(name, call):
    return int.from_bytes(source(name, call, 64), "little") % ORDER


def point_rows(vector, sender, tag):
    content = next(
        bytes.fromhex(m["bytes"]) for m in vector["messages"] if (m["from"], m["tag"]) == (sender, tag)
    )
    flat = bytes(read(content)["points"])
    return [flat[k : k + 32] for k in range(0, len(flat), 32)]


def check_base_transfer(vector):
    """Chou & Orlandi, with all scalars known."""
    secret = scalar("base sender", 1)
    offer = times(secret, BASE)
    told = next(bytes.fromhex(m["bytes"]) for m in vector["messages"] if m["from"] == "sender")
    assert read(told)["point"] == encode_point(offer)
    answers = point_rows(vector, "receiver", "seeds/answers")
    for i, choice in enumerate(vector["choices"]):
        own = scalar("base receiver", i + 1)
        answer = add(times(own, BASE), offer) if choice else times(own, BASE)
        assert encode_point(answer) == answers[i]
        names = (sha(b"dagora seed: seeds"), i.to_bytes(8, "little"), encode_point(offer), answers[i])
        shared = [times(secret, answer), times(secret, add(answer, negative(offer)))]
        seeds = [sha(*names, encode_point(point))[:16].hex() for point in shared]
        assert seeds == vector["pairs"][i]
        assert seeds[choice] == vector["chosen"][i]


def hash_point(index, bit, content):
    names = sha(b"dagora point: seeds") + index.to_bytes(8, "little") + bytes([bit])
    for attempt in count():
        point = decode_point(sha(names, attempt.to_bytes(4, "little"), content))
        if point is not None and times(8, point) != (0, 1):
            return times(8, point)
    raise AssertionError


def check_endemic_transfer(vector):
    """Masny & Rindal, with all scalars known."""
    offers = point_rows(vector, "sender", "seeds/offers")
    answers = point_rows(vector, "receiver", "seeds/answers")
    for i, choice in enumerate(vector["choices"]):
        secret, own = scalar("endemic sender", i + 1), scalar("endemic receiver", 2 * i + 1)
        assert encode_point(times(secret, BASE)) == offers[i]
        texts = answers[2 * i : 2 * i + 2]
        points = [decode_point(text) for text in texts]
        assert texts[1 - choice] == encode_point(hash_point(i, 2, source("endemic receiver", 2 * i + 2, 32)))
        hashed = hash_point(i, choice, texts[1 - choice])
        assert points[choice] == add(times(own, BASE), negative(hashed))
        for bit in (0, 1):
            total = times(8, add(points[bit], hash_point(i, bit, texts[1 - bit])))
            names = (sha(b"dagora endemic seed: seeds"), i.to_bytes(8, "little"), bytes([bit]), offers[i])
            seed = sha(*names, *texts, encode_point(times(secret, total)))[:16].hex()
            assert seed == vector["pairs"][i][bit]
        assert vector["chosen"][i] == vector["pairs"][i][choice]


# --- transfers by extension, and what is made of them


def check_extension(vector):
    """The receiver has of each pair the string that its choice names."""
    pairs, chosen = unhex(vector["pairs"]), unhex(vector["chosen"])
    for i, choice in enumerate(vector["choices"]):
        assert chosen[i] == pairs[2 * i + choice] != pairs[2 * i + 1 - choice]


def check_checked_transfer(vector):
    delta, zeros, labels = (unhex(vector[name]) for name in ("delta", "zero_labels", "labels"))
    assert delta[0][0] & 1
    assert delta[0] == bytes([source("checked sender", 1, 16)[0] | 1]) + source("checked sender", 1, 16)[1:]
    for choice, zero, label in zip(vector["choices"], zeros, labels, strict=True):
        assert label == (xor(zero, delta[0]) if choice else zero)


def field_product(a, b):
    """In GF(2)[x] / (x¹²⁸ + x⁷ + x² + x + 1)."""
    total = 0
    while b:
        total ^= a * (b & 1)
        a, b = a << 1, b >> 1
        a ^= (a >> 128) * (1 << 128 | 0x87)
    return total


def check_column_hash(vector):
    key = int.from_bytes(bytes.fromhex(vector["key"]), "little")
    blocks, hashes = words(vector["columns"], 16), words(vector["hashes"], 16)
    for i in range(2):
        total = 0
        for block in blocks[3 * i : 3 * i + 3]:
            total = field_product(total, key) ^ block
        assert total == hashes[i]


def check_function(vector):
    """F_j(x_j) from the sender's key is what the receiver has."""
    session = bytes.fromhex(vector["session"])
    inputs, choice = unhex(vector["inputs"]), bytes.fromhex(vector["choice"])
    rows, values = unhex(vector["rows_of_the_key"], 64), unhex(vector["values"])
    salt = sha(b"dagora values ", session)[:16]
    keys = [sha(b"dagora code %d " % k, session)[:16] for k in range(4)]
    for j, text in enumerate(inputs):
        code = b"".join(permute(key, text) for key in keys)
        taken = bytes(s & c for s, c in zip(choice, code, strict=True))
        hashed = j.to_bytes(8, "little") + xor(rows[j], taken)
        assert hashlib.blake2b(hashed, digest_size=16, salt=salt).digest() == values[j]


def check_zero(vector):
    seeds = [bytes.fromhex(seed) for seed in vector["seeds"]]
    parts = [words(part, 4) for part in vector["parts"]]
    streams = [words(stream(seed, 16).hex(), 4) for seed in seeds]
    for i, part in enumerate(parts):
        other = streams[(i + 1) % 3]
        assert part == [(a - b) % 2**32 for a, b in zip(streams[i], other, strict=True)]
    assert all(sum(some) % 2**32 == 0 for some in zip(*parts, strict=True))


def check_encryption(vector):
    """Paillier by its definition; Ring-LWE is judged by SEAL in tests/parties/crypto/encryption."""
    own = vector["paillier"]
    p, q, cipher = int(own["p"]), int(own["q"]), int(own["ciphertext"])
    n, order = p * q, math.lcm(p - 1, q - 1)
    plain = (pow(cipher, order, n * n) - 1) // n * pow((pow(1 + n, order, n * n) - 1) // n, -1, n) % n
    assert plain == own["message"]


class Uniform:
    """Uniform integers from SHAKE-256 of the key (src/dagora/parties/privacy/discrete_gaussian.py)."""

    def __init__(self, key):
        self.left, blocks = b"", count()
        self.more = lambda: hashlib.shake_256(
            b"dagora noise 1" + key + next(blocks).to_bytes(8, "big")
        ).digest(1 << 16)

    def below(self, bound, number):
        found, bits = [], (bound - 1).bit_length()
        width = max(1, -(-bits // 64))
        while len(found) < number:
            size = 8 * width * (number - len(found))
            while len(self.left) < size:
                self.left += self.more()
            taken, self.left = self.left[:size], self.left[size:]
            drawn = [int.from_bytes(taken[k : k + 8 * width], "big") for k in range(0, size, 8 * width)]
            found += [some for value in drawn if (some := value >> (64 * width - bits)) < bound]
        return found


def small_exp(draw, tops, bottom):
    """Events of probability exp(-p/q), p ≤ q."""
    happens, going, k = [False] * len(tops), list(range(len(tops))), 1
    while going:
        drawn = draw.below(bottom * k, len(going))
        passed = [value < tops[at] for value, at in zip(drawn, going, strict=True)]
        for at, well in zip(going, passed, strict=True):
            if not well:
                happens[at] = k % 2 == 1
        going, k = [at for at, well in zip(going, passed, strict=True) if well], k + 1
    return happens


def exp_events(draw, tops, bottom):
    happens = [True] * len(tops)
    for time in range(1, max((top // bottom for top in tops), default=0) + 1):
        going = [at for at, top in enumerate(tops) if happens[at] and top // bottom >= time]
        for at, well in zip(going, small_exp(draw, [bottom] * len(going), bottom), strict=True):
            happens[at] = well
    going = [at for at, well in enumerate(happens) if well]
    for at, well in zip(going, small_exp(draw, [tops[a] % bottom for a in going], bottom), strict=True):
        happens[at] = well
    return happens


def laplace(draw, scale, tries):
    rest = draw.below(scale, tries)
    rest = [r for r, well in zip(rest, exp_events(draw, rest, scale), strict=True) if well]
    times_, going = [0] * len(rest), list(range(len(rest)))
    while going:
        going = [a for a, well in zip(going, exp_events(draw, [1] * len(going), 1), strict=True) if well]
        for at in going:
            times_[at] += 1
    sizes = [r + scale * t for r, t in zip(rest, times_, strict=True)]
    signs = draw.below(2, len(rest))
    return [-s if sign else s for s, sign in zip(sizes, signs, strict=True) if s or not sign]


def check_noise(vector):
    """Canonne, Kamath & Steinke 2020, one draw at a time."""
    variance = Fraction(vector["variance"])
    a, b = variance.numerator, variance.denominator
    scale, draw, found = math.isqrt(a // b) + 1, Uniform(bytes.fromhex(vector["key"])), []
    size = len(vector["draws"])
    while len(found) < size:
        drawn = laplace(draw, scale, 2 * (size - len(found)))
        distances = [(abs(y) * scale * b - a) ** 2 for y in drawn]
        accepted = exp_events(draw, distances, 2 * a * b * scale**2)
        found += [y for y, well in zip(drawn, accepted, strict=True) if well]
    assert found[:size] == vector["draws"]


def check_fourth(vector):
    """Products of two, with 1 as 2ᵇ, are cut into halves of b bits; three sums of products of halves."""
    bits, low = vector["bits"], (1 << vector["bits"]) - 1
    columns = [vector["columns"][place] for place in vector["set"]]
    rows = [(1 << bits, *row) for row in zip(*columns, strict=True)]
    found = []
    for a, b, c, d in combinations_with_replacement(range(len(columns) + 1), 4):
        pairs = [(row[a] * row[b], row[c] * row[d]) for row in rows]
        found.append(sum((p >> bits) * (q >> bits) for p, q in pairs))
        found.append(sum((p >> bits) * (q & low) + (p & low) * (q >> bits) for p, q in pairs))
        found.append(sum((p & low) * (q & low) for p, q in pairs))
        whole = (found[-3] << 2 * bits) + (found[-2] << bits) + found[-1]
        assert whole == sum(p * q for p, q in pairs)
    assert found == vector["sums"]


# --- whole runs of owners: the graph is that of K2 on all rows


def check_k2(run):
    rows = run["rows"]
    names = [f"x{column}" for column in range(len(rows[0]))]

    def score(child, parents):
        total = 0.0
        for cell in product((0, 1), repeat=len(parents)):
            some = [row[child] for row in rows if tuple(row[p] for p in parents) == cell]
            ones = sum(some)
            total += math.lgamma(ones + 1) + math.lgamma(len(some) - ones + 1) - math.lgamma(len(some) + 2)
        return total

    found = []
    for child in range(len(names)):
        best, parents = score(child, ()), ()
        for parent in range(child):
            if score(child, (parent,)) > best + 1e-9:
                best, parents = score(child, (parent,)), (parent,)
        found += [[names[parent], names[child]] for parent in parents]
    assert sorted(found) == sorted(run["edges"])
    assert found, "an edge is there to be found"


def check_sizes(content):
    """Every message that stands here in full has the size that it says."""
    inner = content.values() if isinstance(content, dict) else content if isinstance(content, list) else ()
    if isinstance(content, dict) and {"bytes", "size"} <= set(content):
        assert len(bytes.fromhex(content["bytes"])) == content["size"]
    for each in inner:
        check_sizes(each)


def main() -> None:
    files = {file.stem: json.loads(file.read_text(encoding="utf-8")) for file in FOLDER.glob("*.json")}
    primitives = files.pop("primitives")
    for some in (primitives, files):
        check_sizes(some)
    for name, vector in primitives.items():
        globals()[f"check_{name}"](vector)
    check_federated(files.pop("federated"))
    for run in files.values():
        check_k2(run)
    print(f"{len(primitives)} primitives and {1 + len(files)} whole runs agree")
    print("not computed again here: columns of transfers by extension, Ring-LWE, messages of owners")


if __name__ == "__main__":
    sys.exit(main())
