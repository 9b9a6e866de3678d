"""What the coordinator sees: sums, and no site's part of one."""

import json
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from dagora.data.table import Table
from dagora.data.writers import write_table
from dagora.parties.horizontal.secure_sum import roster
from dagora.parties.horizontal.session import serving
from dagora.parties.horizontal.session.questions import ANSWER
from dagora.parties.horizontal.session.row_sums import SUMMED
from dagora.parties.horizontal.session.sealed_transport import SealedTransport
from dagora.parties.transport.messages import decode
from tests.attacks.test_count_rows_behind_noise import fixed_sums, simulated_table
from tests.cli.federate.consortium import COORDINATOR, SITES, agree_on, client_line, log_of


class Recording:
    """What the coordinator receives in a simulation in memory, and what the sites answered in plain."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.received: list[tuple[str, str, bytes]] = []
        self.plain: dict[str, list[np.ndarray]] = {}
        receive = SealedTransport.receive

        def hear(transport: SealedTransport, sender: str, tag: str, timeout: float | None = None) -> bytes:
            payload = receive(transport, sender, tag, timeout)
            if transport.name == COORDINATOR:
                self.received.append((sender, tag, payload))
            return payload

        patch.setattr(SealedTransport, "receive", hear)
        for kind, compute in SUMMED.items():

            def remember(*arguments: object, compute: Callable = compute) -> np.ndarray:
                vector = compute(*arguments)
                self.plain.setdefault(threading.current_thread().name, []).append(vector.view(np.uint64))
                return vector

            patch.setitem(SUMMED, kind, remember)

    def inputs(self) -> dict[str, list[np.ndarray]]:
        """The masked vectors of each site, sum by sum."""
        found: dict[str, list[np.ndarray]] = {}
        for sender, tag, payload in self.received:
            if tag == ANSWER:
                found.setdefault(sender, []).append(decode(payload)["masked"])
        return found

    def leaks(self) -> list[tuple[str, int]]:
        """Places where a plain vector stands among the bytes that the coordinator received."""
        everything = [payload for _, _, payload in self.received]
        return [
            (who, k)
            for who, vectors in self.plain.items()
            for k, vector in enumerate(vectors)
            if any(vector.tobytes() in payload for payload in everything)
        ]


@pytest.mark.parametrize("kind", ["garden", "numbers"])
def test_no_plain_count_or_sum_reaches_the_coordinator(
    run: Callable, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    file = request.getfixturevalue(kind)
    line = ("federate", "simulate", file / "garden.csv" if kind == "garden" else file, "--parties", 3, "--in-memory")  # fmt: skip
    with monkeypatch.context() as patch:
        seen = Recording(patch)
        assert run(*line, "--quiet").code == 0
    masked, plain = seen.inputs(), list(seen.plain.values())
    sums = len(plain[0])
    assert sums >= 4 if kind == "garden" else sums == 1
    assert [len(vectors) for vectors in (*masked.values(), *plain)] == [sums] * 6
    assert seen.leaks() == []
    for k in range(sums):
        total = np.sum([vectors[k] for vectors in plain], axis=0, dtype=np.uint64)
        for vectors in masked.values():
            # Not one entry is the site's own, nor the sum; and masked entries are large.
            assert not any((vectors[k] == other).any() for other in (*(some[k] for some in plain), total))
            assert (vectors[k] > 2**32).mean() > 0.9
    # The test can fail: this is what it says without masks.
    with monkeypatch.context() as patch:
        patch.setattr(roster, "pair_masks", lambda *given: np.zeros(given[-1].shape, dtype=np.uint64))
        bare = Recording(patch)
        assert run(*line, "--quiet").code == 0
    assert len(bare.leaks()) == 3 * sums


def test_the_sizes_of_messages_do_not_depend_on_the_numbers(
    run: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(3)
    traffic = []
    for scale, rows in ((1.0, 90), (1e6, 3000)):
        X = scale * rng.normal(size=(rows, 4)) @ np.triu(rng.normal(size=(4, 4)))
        write_table(Table.from_numpy(X), tmp_path / "numbers.csv")
        with monkeypatch.context() as patch:
            seen = Recording(patch)
            line = ("simulate", tmp_path / "numbers.csv", "--parties", 3, "--in-memory", "--method", "ges")
            assert run("federate", *line).code == 0
        traffic.append(sorted((sender, tag, len(payload)) for sender, tag, payload in seen.received))
    assert traffic[0] == traffic[1]
    assert len(traffic[0]) == 6, "a key and an answer of each site"


def test_what_the_coordinator_of_a_release_prints_does_not_depend_on_rows(
    play: Callable, keys: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bytes on the wire differ by the lengths of signatures; the plan is the same in every byte."""
    monkeypatch.setattr(serving, "release_part", lambda rows, terms, _key: fixed_sums(terms, rows.schema))
    tables = {site: tmp_path / f"{site}.csv" for site in SITES}
    found, plans = [], []
    for rows in (999, 1000):
        for seed, (site, file) in enumerate(tables.items()):
            write_table(simulated_table("discrete", rows if site == "west" else 400, seed), file)
        if not found:
            agree_on(keys, list(tables.values()))
        clients = {site: client_line(keys, site, file) for site, file in tables.items()}
        ended = play("--privacy", "epsilon=1", "--json", others=clients, agreed=True)
        content = json.loads(ended[COORDINATOR].out)
        content["stats"] = {key: value for key, value in content["stats"].items() if "bytes_" not in key}
        found.append(
            {key: value for key, value in content.items() if key not in {"seconds", "trace", "command"}}
        )
        plans.append([event["plan_digest"] for event in log_of(keys, "west") if event["event"] == "plan"])
    assert found[0] == found[1]
    assert len(plans[1]) == 2
    assert len(set(plans[1])) == 1
