import numpy as np
import pytest

from dagora.learners.search.exact.state_store import BYTES_PER_STATE, find_slot, make_store, pop, push


@pytest.mark.parametrize("seed", range(5))
def test_the_heap_gives_the_largest_first(seed):
    rng = np.random.default_rng(seed)
    keys, heap = np.empty(300), np.empty(300, dtype=np.int32)
    waiting = []
    size = 0
    for step in range(300):
        if rng.random() < 0.6 or not waiting:
            # Few distinct keys, so that equal ones meet.
            waiting.append((float(rng.integers(0, 40)), step))
            push(keys, heap, size, *waiting[-1])
            size += 1
        else:
            assert keys[0] == max(waiting)[0]
            assert (keys[0], heap[0]) in waiting
            waiting.remove((keys[0], heap[0]))
            pop(keys, heap, size)
            size -= 1
    while size:
        assert keys[0] == max(waiting)[0]
        waiting.remove((keys[0], heap[0]))
        pop(keys, heap, size)
        size -= 1
    assert not waiting


def test_states_are_found_again_also_after_growing():
    rng = np.random.default_rng(0)
    states = np.unique(
        np.concatenate(
            [rng.integers(0, 2**63, 30).astype(np.uint64), np.arange(34, dtype=np.uint64) << np.uint64(58)]
        )
    )[:64]
    store = make_store(64)
    for number, placed in enumerate(states):
        slot = find_slot(store.placed, store.slots, placed)
        assert store.slots[slot] == -1
        store.slots[slot] = number
        store.placed[number] = placed
    for fresh in (store, make_store(128, store, len(states), 0)):
        for number, placed in enumerate(states):
            assert fresh.slots[find_slot(fresh.placed, fresh.slots, placed)] == number
        assert fresh.slots[find_slot(fresh.placed, fresh.slots, np.uint64(2**64 - 1))] == -1


def test_the_estimate_of_memory_covers_growing():
    old, new = make_store(1024), make_store(2048)
    largest = max(array.nbytes for array in old)
    assert sum(array.nbytes for array in new) + largest <= 2048 * BYTES_PER_STATE
