"""A wheel with compiled kernels is for one Python and one kind of machine; without them it is for all."""

import platform
import sys
from pathlib import Path

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Platform(BuildHookInterface):
    """Name the wheel after the Python and the machine whose kernels `scripts/compile_kernels.py` has compiled."""

    def initialize(self, version, build_data):
        if (Path(self.root) / "boostrun" / "compiled" / "target.json").exists():
            python = f"cp{sys.version_info.major}{sys.version_info.minor}"
            system = {"Linux": "manylinux_2_17", "Windows": "win"}.get(platform.system(), "macosx_11_0")
            build_data["pure_python"] = False
            build_data["tag"] = f"{python}-{python}-{system}_{'amd64' if system == 'win' else 'x86_64'}"
