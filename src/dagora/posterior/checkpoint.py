"""Chains on disk: where they stand and what they have kept, so that a run can be taken up where it stopped.

The file holds two fingerprints, of the weights of all families (data, score, prior, space and knowledge in
one) and of the settings; a run takes up only a file that has the same. The number of draws is not among
them: a longer run goes on from a shorter one.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dagora.errors import FormatError, OptionError
from dagora.files import PathLike, write_whole
from dagora.posterior.chain_state import KEPT, Chain, Kept
from dagora.posterior.tables import FamilyTables

VERSION = "dagora chains 1"


@dataclass(frozen=True)
class Fingerprint:
    """What a checkpoint belongs to."""

    weights: str
    settings: str

    @classmethod
    def of(cls, tables: FamilyTables, settings: Mapping[str, object]) -> Fingerprint:
        """Fingerprint of a problem and of how it is sampled."""
        digest = hashlib.sha256()
        for array in (tables.cores, tables.extras, tables.log_weights):
            digest.update(str(array.shape).encode())
            digest.update(np.ascontiguousarray(array).tobytes())
        return cls(digest.hexdigest(), json.dumps(settings, sort_keys=True))


def check_place(path: PathLike) -> None:
    """Refuse a place where no checkpoint can be written, before any work is done."""
    folder = Path(path).resolve().parent
    if not folder.is_dir():
        raise OptionError(f"option 'checkpoint': there is no folder '{folder}'")
    if Path(path).is_dir():
        raise OptionError(f"option 'checkpoint': '{path}' is a folder; name a file in it")


def save(path: PathLike, fingerprint: Fingerprint, chains: Sequence[Chain], kept: Sequence[Kept]) -> None:
    """Write all chains in one piece."""
    most = max(int(chain.counters[KEPT]) for chain in chains)
    content = io.BytesIO()
    np.savez(
        content,
        version=np.array(VERSION),
        weights=np.array(fingerprint.weights),
        settings=np.array(fingerprint.settings),
        places=np.stack([chain.places for chain in chains]),
        random=np.stack([chain.random for chain in chains]),
        counters=np.stack([chain.counters for chain in chains]),
        parents=np.stack([each.parents[:most] for each in kept]),
        log_scores=np.stack([each.log_scores[:most] for each in kept]),
    )
    write_whole(path, content.getvalue(), error=OptionError)


def restore(path: PathLike, fingerprint: Fingerprint, chains: Sequence[Chain], kept: list[Kept]) -> bool:
    """Bring chains to where a checkpoint left them; False where there is no file yet."""
    if not Path(path).exists():
        return False
    found = read(path)
    if str(found["weights"]) != fingerprint.weights:
        raise OptionError(
            f"the checkpoint {path} belongs to other data, score, prior, space or knowledge, or a time limit "
            "cut the scoring short: name another file"
        )
    if str(found["settings"]) != fingerprint.settings:
        theirs, ours = json.loads(str(found["settings"])), json.loads(fingerprint.settings)
        which = next(key for key in ours if theirs.get(key) != ours[key])
        raise OptionError(
            f"the checkpoint {path} was made with {which} = {theirs.get(which)}, not {ours[which]}: "
            "name another file"
        )
    most = found["log_scores"].shape[1]
    for k, chain in enumerate(chains):
        chain.places[:] = found["places"][k]
        chain.random[:] = found["random"][k]
        chain.counters[:] = found["counters"][k]
        if most > len(kept[k].log_scores):
            kept[k] = Kept(found["parents"][k].copy(), found["log_scores"][k].copy())
        else:
            kept[k].parents[:most] = found["parents"][k]
            kept[k].log_scores[:most] = found["log_scores"][k]
    return True


def read(path: PathLike) -> dict[str, np.ndarray]:
    """Read the arrays of a checkpoint; anything else is refused in one line."""
    names = ("version", "weights", "settings", "places", "random", "counters", "parents", "log_scores")
    try:
        with np.load(io.BytesIO(Path(path).read_bytes()), allow_pickle=False) as content:
            found = {name: content[name] for name in names}
    except (OSError, ValueError, KeyError, EOFError, AttributeError, TypeError, zipfile.BadZipFile):
        raise FormatError(f"{path}: is not a checkpoint of dagora; name another file") from None
    if str(found["version"]) != VERSION:
        raise FormatError(f"{path}: is a checkpoint of another version of dagora; name another file")
    return found
