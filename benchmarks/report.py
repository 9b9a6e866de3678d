"""Markdown for the benchmarks' numbers, and a description of the machine they come from."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from statistics import median

from dagora.base.version import __version__
from runs import cores


def markdown_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table with its columns aligned, so that it also reads well as text."""
    lines = [list(header), *map(list, rows)]
    widths = [max(len(line[k]) for line in lines) for k in range(len(header))]
    padded = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) + " |"
        for line in lines
    ]
    rule = "|" + "|".join("-" * (width + 2) for width in widths) + "|"
    return "\n".join([padded[0], rule, *padded[1:]])


def promises(lines: Sequence[Sequence[str]]) -> str:
    """A table of what is promised, what was measured, and the verdict."""
    return markdown_table(["problem", "promise", "measured", ""], lines)


def verdict(kept: bool) -> str:
    """The verdict on a promise."""
    return "kept" if kept else "missed"


def seconds(times: Sequence[float]) -> str:
    """The median, with the range where there are several."""
    middle = digits(median(times))
    return middle if len(times) == 1 else f"{middle} ({digits(min(times))}–{digits(max(times))})"


def digits(number: float) -> str:
    """Three significant digits, without an exponent."""
    return f"{number:.0f}" if number >= 100 else f"{number:#.3g}"


def machine(*packages: str) -> str:
    """Processor, cores, memory, system, and versions of the packages in this environment."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    load = os.getloadavg()[0]
    versions = [
        f"Python {platform.python_version()}",
        *(f"{name} {known_version(name)}" for name in packages),
    ]
    return (
        f"{processor()}, {cores()} cores, {memory:.0f} GiB memory, {platform.machine()}, "
        f"{platform.system()}; load {load:.1f} before the run; {', '.join(versions)}."
    )


def processor() -> str:
    """The processor's name."""
    listing = Path("/proc/cpuinfo")
    if listing.exists():
        for line in listing.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or "unknown processor"


def known_version(package: str) -> str:
    """A package's version; a library used from its working tree knows its own, and dagora always does."""
    if package == "dagora":
        return __version__
    try:
        return version(package)
    except PackageNotFoundError:
        return str(getattr(__import__(package), "__version__", "of unknown version"))


def deliver(text: str, output: Path | None) -> None:
    """Print the report, and write it where a file is named."""
    print(text)
    if output is not None:
        output.write_text(text + "\n")
