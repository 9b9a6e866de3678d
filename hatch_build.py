"""Puts compiled kernels into a wheel, where `make wheel` has made some; any other wheel is as ever."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

KERNELS = Path("build") / "kernels"


class CompiledKernels(BuildHookInterface):
    """Adds the folder, and the kind of processor and version of Python to the wheel's name."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Do so before the wheel is written; an editable installation compiles its own."""
        folder = Path(self.root) / KERNELS
        if version == "standard" and folder.is_dir():
            sys.path.insert(0, str(Path(self.root) / "building"))
            from kernel_tag import TAG_FILE, made_for

            tag = folder / TAG_FILE
            if not tag.exists() or tag.read_text() != made_for(Path(self.root)):
                raise SystemExit(
                    f"{KERNELS} is of another Python, processor or source: `make wheel` makes it anew"
                )
            build_data["force_include"][str(folder)] = "dagora/compiled_kernels"
            build_data["pure_python"] = False
            build_data["infer_tag"] = True
