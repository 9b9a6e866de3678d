"""Puts compiled kernels into a wheel, where `make wheel` asks for it; any other wheel is as ever."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CompiledKernels(BuildHookInterface):
    """Adds the folder that DAGORA_KERNELS names, and to the wheel's name for whom its kernels are."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Do so before the wheel is written; an editable installation compiles its own."""
        folder = os.environ.get("DAGORA_KERNELS")
        if version == "standard" and folder:
            sys.path.insert(0, str(Path(self.root) / "building"))
            from kernel_tag import is_fresh
            from wheel_tag import linux_tag

            kernels = Path(self.root) / folder
            if not is_fresh(kernels, Path(self.root)):
                raise SystemExit(
                    f"{folder} is not there, or of another Python, numba, processor or source: "
                    "`make wheel` makes it anew"
                )
            build_data["force_include"][str(kernels)] = "dagora/compiled_kernels"
            build_data["pure_python"] = False
            build_data["infer_tag"] = True
            if sys.platform == "linux":
                build_data["tag"] = linux_tag(kernels)
