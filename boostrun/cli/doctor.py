"""``boostrun doctor``: what this installation has and what it lacks."""

from __future__ import annotations

import importlib.metadata
import os
import sys
import tempfile
from pathlib import Path

from boostrun.cli.arguments import Arguments
from boostrun.cli.data import naming
from boostrun.config import MISSING, catalogue, defaults
from boostrun.runner.compose import compose_one
from boostrun.runner.plan import roots

PACKAGES = (
    "boostrun", "numpy", "scipy", "numba", "scikit-learn", "hydra-core", "omegaconf", "joblib", "pandas",
    "scikit-image", "PyWavelets", "matplotlib", "filelock", "torch", "torchvision", "river", "lightgbm",
)  # fmt: skip


def main(words: Arguments) -> int:
    """Print versions, threads, cores, data found, compiler cache and writable folders; 1 when a folder is not."""
    settings = compose_one(words.overrides, words.config_dir)
    data_root, cache_root = roots(settings)
    _section("versions", [f"python {sys.version.split()[0]}", *map(_version, PACKAGES)])
    _section("cores and threads", _threads())
    _section(f"data in {data_root}", _data(words))
    _section("compiler cache", [_compiler_cache()])
    folders = {"store": settings.root["store"], "results": settings.root["results"], "banks": cache_root}
    states = [f"{name}: {_writable(Path(path))}" for name, path in folders.items()]
    _section("folders", states)
    if broken := _broken(words):
        _section("installed and left out", broken)
    return 1 if any("not writable" in state for state in states) else 0


def _section(title: str, lines: list[str]) -> None:
    print(f"{title}:")
    for line in lines:
        print(f"  {line}")


def _version(package: str) -> str:
    try:
        return f"{package} {importlib.metadata.version(package)}"
    except importlib.metadata.PackageNotFoundError:
        return f"{package} is not installed"


def _threads() -> list[str]:
    from boostrun.store.provenance import usable_cores

    variables = [f"{key}={value}" for key, value in sorted(os.environ.items()) if key.endswith("_NUM_THREADS")]
    use = "a trial runs on one thread; ShareBoost's and its rivals' also on cores that no other trial has"
    return [f"{usable_cores()} usable cores; {use}", *variables]


def _broken(words: Arguments) -> list[str]:
    """What packages bring and cannot be read; of their papers every claim and item is looked at."""
    from boostrun.runner import claims, paper

    for name in filter(catalogue.is_guest, catalogue.papers()):
        with catalogue.leaving_out(name, requested=False):
            if catalogue.papers()[name].claims is not None:
                claims.claims_of([name], words.config_dir)
            for item in catalogue.options("paper", words.config_dir):
                if item.startswith(f"{name}/"):
                    paper.faults(item, words.config_dir)
    for group in catalogue.GROUPS:
        catalogue.summaries(group, words.config_dir)
    return [str(one) for one in catalogue.left_out()]


def _data(words: Arguments) -> list[str]:
    from boostrun import data

    lines = []
    for name in catalogue.summaries("dataset", words.config_dir):
        if name not in catalogue.names("dataset") or MISSING in defaults("dataset", name).values() or name == "openml":
            lines.append(f"{name}: yours to name")
            continue
        try:
            settings = compose_one([*naming(name), *words.overrides], words.config_dir)
            data.checksum(settings.dataset, roots(settings)[0])
            lines.append(f"{name}: found")
        except (Exception, SystemExit) as error:  # a loader may be somebody else's
            lines.append(f"{name}: not found; {catalogue.describe_error(error)}")
    return lines


def _compiler_cache() -> str:
    """Where compiled kernels are kept, and how many there are."""
    from boostrun.kernel_cache import last_resort
    from boostrun.kernels import stumps

    path = Path(stumps.add_scores._cache.cache_path)  # type: ignore[attr-defined]
    entries = len(list(path.glob("*.nbi"))) if path.is_dir() else 0
    if not path.is_relative_to(last_resort()):
        return f"{path}: {entries} kernels; {_writable(path)}"
    why = "the folders of the code and of the user's cache cannot be written (NUMBA_CACHE_DIR chooses another)"
    return f"{path}: {entries} kernels; {why}" if last_resort().is_dir() else f"none, each process compiles anew; {why}"


def _writable(path: Path) -> str:
    place = path
    while not place.exists() and place != place.parent:
        place = place.parent
    try:
        with tempfile.TemporaryFile(dir=place):
            return f"{path} is writable" if place == path else f"{path} will be made"
    except OSError as error:
        return f"{path} is not writable ({error.strerror})"
