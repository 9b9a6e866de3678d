"""A file of samples that is damaged, or not ours, is refused in one line; nothing of it is believed."""

from pathlib import Path

import numpy as np
import pytest

from dagora.base.errors import FormatError
from dagora.graph.bits import pack
from dagora.posterior.resample.one_sample import SampleGraph
from dagora.posterior.resample.sample_file import SampleFile

NODES = 5
SETTINGS = {"method": "hill-climb", "seed": 0}
CHAIN = pack(np.eye(NODES, k=1, dtype=np.bool_).T)
CIRCLE = pack((np.eye(NODES, k=1) + np.eye(NODES, k=1 - NODES)).astype(np.bool_).T)
BOTH_WAYS = pack((np.eye(NODES, k=1) + np.eye(NODES, k=-1)).astype(np.bool_))
BEYOND, ITSELF = CHAIN.copy(), CHAIN.copy()
BEYOND[0, 0] |= np.uint64(1) << np.uint64(NODES)
ITSELF[2, 0] |= np.uint64(1) << np.uint64(2)


def saved(folder: Path) -> dict[str, np.ndarray]:
    file = folder / "whole.npz"
    found = {
        0: SampleGraph(CHAIN),
        3: SampleGraph(None, "column 'a' is constant"),
        4: SampleGraph(np.zeros_like(CHAIN)),
    }
    SampleFile(file, SETTINGS).save(found, np.zeros_like(CHAIN), last=True)
    again = SampleFile(file, SETTINGS).read(NODES, directed=True)
    assert again.keys() == found.keys()
    assert np.array_equal(again[0].marks, CHAIN)
    assert again[3].refused == "column 'a' is constant"
    with np.load(file) as content:
        return dict(content)


def marks(graph: np.ndarray) -> dict[str, np.ndarray]:
    return {"marks": np.stack([CHAIN, np.zeros_like(CHAIN), graph])}


THREE = np.stack([CHAIN] * 3)
DAMAGED = {
    "fewer nodes": {"marks": THREE[:, :3]},
    "more words": {"marks": np.concatenate([THREE, THREE], axis=2)},
    "no matrix": {"marks": THREE[:, :, 0]},
    "other type": {"marks": THREE.astype(np.float64)},
    "fewer graphs": {"marks": THREE[:2]},
    "a bit beyond the nodes": marks(BEYOND),
    "its own parent": marks(ITSELF),
    "a cycle": marks(CIRCLE),
    "both ways": marks(BOTH_WAYS),
    "negative": {"numbers": np.array([-3, 0, 1])},
    "twice": {"numbers": np.array([0, 3, 3])},
    "fewer numbers": {"numbers": np.array([0, 3])},
    "broken numbers": {"numbers": np.array([0.5, 1.5, 2.5])},
    "a single number": {"numbers": np.array(3)},
    "reasons that are numbers": {"refused": np.array([0, 1, 0])},
    "fewer reasons": {"refused": np.array(["", ""])},
}


@pytest.mark.parametrize("damage", DAMAGED)
def test_what_cannot_be_samples_is_refused(damage: str, tmp_path: Path) -> None:
    file = tmp_path / "samples.npz"
    np.savez(file, **{**saved(tmp_path), **DAMAGED[damage]})
    with pytest.raises(FormatError, match=r"samples\.npz: is not a checkpoint of dagora; name another file"):
        SampleFile(file, SETTINGS).read(NODES, directed=True)


def test_classes_may_have_marks_both_ways_but_no_cycle(tmp_path: Path) -> None:
    file = tmp_path / "samples.npz"
    content = saved(tmp_path)
    np.savez(file, **{**content, **marks(BOTH_WAYS)})
    assert np.array_equal(SampleFile(file, SETTINGS).read(NODES, directed=False)[4].marks, BOTH_WAYS)
    np.savez(file, **{**content, **marks(CIRCLE)})
    with pytest.raises(FormatError, match="is not a checkpoint"):
        SampleFile(file, SETTINGS).read(NODES, directed=False)


@pytest.mark.full
def test_no_damaged_byte_of_the_directory_is_a_traceback(tmp_path: Path) -> None:
    file = tmp_path / "samples.npz"
    saved(tmp_path)
    whole = (tmp_path / "whole.npz").read_bytes()
    refused = 0
    for position in range(whole.index(b"PK\x01\x02"), len(whole)):
        changed = bytearray(whole)
        changed[position] ^= 0b00100001  # among them the marks of encrypted and of patched entries
        file.write_bytes(changed)
        try:
            SampleFile(file, SETTINGS).read(NODES, directed=True)
        except FormatError:
            refused += 1
    assert refused > 100
