"""A run on disk, so that it can continue where it stopped: the families scored, and where the chains stand.

While families are scored, the file holds what an expensive score has computed. Once chains run, it also holds
their states, their random numbers, the draws they have kept, and the search space they run in. A run
continues only from a file with the same settings, the same fingerprint of an expensive score, and the same
weights of all families (which depend on data, score, prior, space and knowledge). The number of draws may
differ: a longer run continues a shorter one.
"""

from __future__ import annotations

import hashlib
import io
import json
import time
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import FormatError, OptionError
from dagora.base.events import Event
from dagora.base.files import PathLike, write_whole
from dagora.base.parsing import parse_json
from dagora.learners.run import Run
from dagora.posterior.chains.chain_state import KEPT, ChainState, KeptDraws, room_for
from dagora.posterior.space.family_tables import FamilyTables, pad_lists
from dagora.posterior.space.space import Space
from dagora.scores.local_score import LocalScore

Arrays = dict[str, NDArray[np.generic]]

VERSION = "dagora chains 3"
SAVE_EVERY = 10.0  # seconds
# Names of the arrays: those that every file has, those of the space and of the chains once these run, and the
# prefix of what a score remembers.
HEAD = ("version", "settings", "score")
OF_SPACE = ("weights", "cores", "extras", "note", "cut")
OF_CHAINS = ("places", "random", "counters", "parents", "log_scores")
OF_SCORE = "score_"


class Checkpoint:
    """The file of one run. A file of another run is refused before any work is done."""

    def __init__(self, path: PathLike, score: LocalScore, settings: Mapping[str, object]) -> None:
        check_place(path)
        self.path = path
        self.recalled = 0
        self._storage = score.capabilities.storage
        self._settings = dict(settings)
        self._space: Arrays = {}
        self._chains: Arrays = {}
        self._saved = time.monotonic()
        if Path(path).exists():
            self._take_up(read(path))

    @property
    def has_chains(self) -> bool:
        """True if the file holds chains, for which all families had been scored."""
        return bool(self._chains)

    @property
    def keeps_scores(self) -> bool:
        """True if the file holds scores; it does if they are expensive."""
        return self._storage is not None

    @property
    def space(self) -> Space | None:
        """The space in which the chains of the file run."""
        if not self._space:
            return None
        cores, extras = (
            tuple(tuple(j for j in row if j >= 0) for row in self._space[name].tolist())
            for name in ("cores", "extras")
        )
        return Space(cores, extras, str(self._space["note"]), bool(self._space["cut"]))

    @contextmanager
    def scoring(self, run: Run) -> Iterator[Run]:
        """Save what the score computes inside the block: every few seconds, and at the end even on errors."""
        if self.has_chains or not self.keeps_scores:
            yield run
            return

        def observe(event: Event) -> None:
            if self.is_due:
                self._write()
            run.on_event(event)

        try:
            yield replace(run, on_event=observe)
        finally:
            self._write()

    def begin(
        self, tables: FamilyTables, space: Space, chains: Sequence[ChainState], kept: list[KeptDraws]
    ) -> bool:
        """Bring chains to where the file left them; False if it has none yet."""
        weights = fingerprint(tables)
        if self.has_chains and str(self._space["weights"]) != weights:
            raise OptionError(
                f"the checkpoint {self.path} belongs to other data, score, prior, space or knowledge: "
                "name another file"
            )
        self._space = {
            "weights": np.array(weights),
            "cores": pad_lists(space.cores),
            "extras": pad_lists(space.extras),
            "note": np.array(space.note),
            "cut": np.array(space.cut),
        }
        if not self.has_chains:
            return False
        found = self._chains
        most = found["log_scores"].shape[1]
        for k, chain in enumerate(chains):
            chain.places[:] = found["places"][k]
            chain.random[:] = found["random"][k]
            chain.counters[:] = found["counters"][k]
            if most > len(kept[k].log_scores):
                kept[k] = room_for(most, len(chain.places))
            kept[k].parents[:most] = found["parents"][k]
            kept[k].log_scores[:most] = found["log_scores"][k]
        return True

    def save(self, chains: Sequence[ChainState], kept: Sequence[KeptDraws]) -> None:
        """Write all chains in one piece."""
        most = max(int(chain.counters[KEPT]) for chain in chains)
        self._chains = {
            "places": np.stack([chain.places for chain in chains]),
            "random": np.stack([chain.random for chain in chains]),
            "counters": np.stack([chain.counters for chain in chains]),
            "parents": np.stack([each.parents[:most] for each in kept]),
            "log_scores": np.stack([each.log_scores[:most] for each in kept]),
        }
        self._write()

    @property
    def is_due(self) -> bool:
        """True if the last save, or the start, is more than `SAVE_EVERY` seconds ago."""
        return time.monotonic() - self._saved > SAVE_EVERY

    def _write(self) -> None:
        head = (VERSION, json.dumps(self._settings, sort_keys=True), self._identity)
        scored = {} if self._storage is None else self._storage.export()
        arrays: Arrays = {
            **{name: np.array(value) for name, value in zip(HEAD, head, strict=True)},
            **{f"{OF_SCORE}{name}": array for name, array in scored.items()},
            **self._space,
            **self._chains,
        }
        content = io.BytesIO()
        np.savez(content, **arrays)  # type: ignore[arg-type]  # the stub takes every name for an option
        write_whole(self.path, content.getvalue())
        self._saved = time.monotonic()

    @property
    def _identity(self) -> str:
        return "" if self._storage is None else self._storage.fingerprint()

    def _take_up(self, found: Arrays) -> None:
        self._refuse_others(found)
        if OF_SPACE[0] in found:
            self._space = {name: found[name] for name in OF_SPACE}
            self._chains = {name: found[name] for name in OF_CHAINS}
        if self._storage is not None:
            own = {name: array for name, array in found.items() if name.startswith(OF_SCORE)}
            with refusing_other_files(self.path):
                self.recalled = self._storage.load(
                    {name.removeprefix(OF_SCORE): array for name, array in own.items()}
                )

    def _refuse_others(self, found: Arrays) -> None:
        with refusing_other_files(self.path):
            theirs = dict(parse_json(str(found["settings"]), error=OptionError))
        ours = json.loads(json.dumps(self._settings))
        for which, value in ours.items():
            if theirs.get(which) != value:
                raise OptionError(
                    f"the checkpoint {self.path} was made with {which} = {theirs.get(which)}, not {value}: "
                    "name another file"
                )
        if str(found["score"]) != self._identity:
            raise OptionError(
                f"the checkpoint {self.path} belongs to other data or another score: name another file"
            )


def check_place(path: PathLike) -> None:
    """Refuse a place where no checkpoint can be written, before any work is done."""
    folder = Path(path).resolve().parent
    if not folder.is_dir():
        raise OptionError(f"option 'checkpoint': there is no folder '{folder}'")
    if Path(path).is_dir():
        raise OptionError(f"option 'checkpoint': '{path}' is a folder; name a file in it")


def fingerprint(tables: FamilyTables) -> str:
    """Fingerprint of the weights of all families."""
    digest = hashlib.sha256()
    for array in (tables.cores, tables.extras, tables.log_weights):
        digest.update(str(array.shape).encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def read(path: PathLike) -> Arrays:
    """Read the arrays of a checkpoint; any other file is refused in one line."""
    with (
        refusing_other_files(path),
        np.load(io.BytesIO(Path(path).read_bytes()), allow_pickle=False) as content,
    ):
        found = {name: content[name] for name in content.files}
        version = str(found["version"])
        wanted = (*HEAD, *(OF_SPACE + OF_CHAINS if OF_SPACE[0] in found else ()))
        if version == VERSION and not found.keys() >= set(wanted):
            raise KeyError
    if version != VERSION:
        raise FormatError(f"{path}: is a checkpoint of another version of dagora; name another file")
    return found


@contextmanager
def refusing_other_files(path: PathLike) -> Iterator[None]:
    """Turn any error of reading a file's content into one line: this is no checkpoint."""
    try:
        yield
    except (
        OSError,
        ValueError,
        LookupError,
        EOFError,
        AttributeError,
        TypeError,
        RuntimeError,  # by zipfile: a damaged entry looks as if it were encrypted, or packed otherwise
        zipfile.BadZipFile,
        FormatError,
    ):
        raise FormatError(f"{path}: is not a checkpoint of dagora; name another file") from None
