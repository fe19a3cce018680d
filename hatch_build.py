"""A wheel with compiled kernels is for one Python and one kind of machine; without them it is for all."""

from pathlib import Path

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Platform(BuildHookInterface):
    """Name the wheel after this Python and machine if `scripts/compile_kernels.py` has compiled kernels on it."""

    def initialize(self, version, build_data):
        if (Path(self.root) / "boostrun" / "compiled" / "target.json").exists():
            build_data["pure_python"], build_data["infer_tag"] = False, True
