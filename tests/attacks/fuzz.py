"""How hard the attacks of this folder try: `make attack` raises the number of tries and bounds the time.

`DAGORA_ATTACKS` is the number of tries of each, `DAGORA_ATTACK_SECONDS` the time of all of them together, and
`DAGORA_ATTACK_SEED` what they begin with; a failure is found again with the seed that is printed.
"""

import os
import random
import time
from collections.abc import Iterator

TRIES = int(os.environ.get("DAGORA_ATTACKS", "1000"))
SECONDS = float(os.environ.get("DAGORA_ATTACK_SECONDS", "inf"))
SEED = int(os.environ.get("DAGORA_ATTACK_SEED", "0"))
LEAST_SECONDS = 5.0


class SharedTime:
    """The time of all tests that draw; each has an even share of what those before it left.

    So the time that a test takes to begin, for its last try and to end is taken from those that follow.
    """

    def __init__(self) -> None:
        self.begin(1)

    def begin(self, tests: int) -> None:
        """Deal out the time from now on."""
        self.end, self.tests = time.monotonic() + SECONDS, tests

    def next_share(self) -> float:
        """The seconds of the test that begins; never so few that it sees nothing."""
        share = (self.end - time.monotonic()) / max(1, self.tests)
        self.tests -= 1
        return max(LEAST_SECONDS, share)


shared_time = SharedTime()


def tries(share: float = 1.0) -> Iterator[random.Random]:
    """A source of chance for each try, of which there are a share of the usual number."""
    most, began, seconds = max(1, round(share * TRIES)), time.monotonic(), shared_time.next_share()
    print(f"seed {SEED}, at most {most} tries and {seconds:.0f} s")
    for number in range(most):
        if time.monotonic() - began > seconds:
            print(f"{number} tries in {time.monotonic() - began:.0f} s")
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
