"""How hard the attacks of this folder try: `make attack` raises the number of tries and bounds the time.

`DAGORA_ATTACKS` is the number of tries of each, `DAGORA_ATTACK_SECONDS` the most that each may take, and
`DAGORA_ATTACK_SEED` what they begin with; a failure is found again with the seed that is printed.
"""

import os
import random
import time
from collections.abc import Iterator

TRIES = int(os.environ.get("DAGORA_ATTACKS", "1000"))
SECONDS = float(os.environ.get("DAGORA_ATTACK_SECONDS", "inf"))
SEED = int(os.environ.get("DAGORA_ATTACK_SEED", "0"))


def tries(share: float = 1.0) -> Iterator[random.Random]:
    """A source of chance for each try, of which there are a share of the usual number."""
    most, began = max(1, round(share * TRIES)), time.monotonic()
    print(f"seed {SEED}, at most {most} tries and {SECONDS:g} s")
    for number in range(most):
        if time.monotonic() - began > SECONDS:
            print(f"{number} tries in {SECONDS:g} s")
            return
        yield random.Random(f"{SEED} {number}")


def damage(content: bytes, draw: random.Random) -> bytes:
    """The content with bytes changed, cut out, doubled, put in or moved."""
    changed = bytearray(content)
    for _ in range(draw.choice([1, 1, 2, 5, 20])):
        a, b = sorted(draw.randrange(len(changed) + 1) for _ in range(2))
        b = min(b, a + draw.choice([1, 4, 64, len(changed)]))
        how = draw.randrange(6)
        if how == 0 and a < len(changed):
            changed[a] = draw.randrange(256)
        elif how == 1 and a < len(changed):
            changed[a] ^= 1 << draw.randrange(8)
        elif how == 2:
            del changed[a:b]
        elif how == 3:
            changed[a:a] = changed[a:b]
        elif how == 4:
            changed[a:b] = draw.randbytes(draw.randrange(9))
        else:
            changed[a:b] = draw.choice([b"\xff" * 8, bytes(8), b"\x7f" + b"\xff" * 7, b"9" * 20, b"[" * 50])
    return bytes(changed)
