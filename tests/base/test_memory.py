"""Free memory: the smaller of what the machine and what a container's limit leaves."""

from pathlib import Path

import pytest

from dagora.base import memory
from dagora.base.memory import free_in_container, free_in_machine, free_memory, peak_megabytes


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "meminfo").write_text("MemTotal: 9000 kB\nMemFree: 1 kB\nMemAvailable: 5000 kB\n")
    monkeypatch.setattr(memory, "MEMINFO", tmp_path / "meminfo")
    monkeypatch.setattr(memory, "CONTAINER", tmp_path)
    return tmp_path


def limit(folder: Path, names: tuple[str, str, str], most: str) -> None:
    folder.mkdir(exist_ok=True)
    for name, text in zip(
        names, (most, "3000000", "anon 5\ninactive_file 500000\nactive_file 7\n"), strict=True
    ):
        (folder / name).write_text(text)


def test_what_linux_has_without_swapping(machine: Path) -> None:
    assert free_in_machine() == 5000 * 1024
    assert free_in_container() is None
    assert free_memory() == 5000 * 1024


def test_the_limit_of_a_container_counts_files_that_are_kept_for_later_as_free(machine: Path) -> None:
    limit(machine, ("memory.max", "memory.current", "memory.stat"), "4000000")
    assert free_in_container() == 4_000_000 - 3_000_000 + 500_000
    assert free_memory() == 1_500_000


def test_a_container_without_a_limit_has_none(machine: Path) -> None:
    limit(machine, ("memory.max", "memory.current", "memory.stat"), "max")
    assert free_in_container() is None
    old = ("memory.limit_in_bytes", "memory.usage_in_bytes", "memory.stat")
    limit(machine / "memory", old, "9000000")
    assert free_in_container() == 9_000_000 - 3_000_000 + 500_000
    assert free_memory() == 5000 * 1024


def test_without_such_figures_the_memory_built_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "MEMINFO", tmp_path / "none")
    monkeypatch.setattr(memory, "CONTAINER", tmp_path / "none")
    assert free_memory() == memory.built_in()


def test_the_peak_is_that_of_this_process_in_millions_of_bytes() -> None:
    peak = peak_megabytes()
    assert peak is None or 20 < peak < 200_000
