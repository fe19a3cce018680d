"""``boostrun doctor``, ``boostrun data`` and ``boostrun check``: this installation, a data set, your own work."""

from __future__ import annotations

import importlib.metadata
import os
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from boostrun.cli.arguments import Arguments
from boostrun.config import MISSING, catalogue, defaults
from boostrun.config.words import quoted, single_values
from boostrun.errors import BoostrunError
from boostrun.runner.plan import compose_one, roots

PACKAGES = (
    "boostrun", "numpy", "scipy", "numba", "scikit-learn", "hydra-core", "omegaconf", "joblib", "pandas",
    "scikit-image", "PyWavelets", "matplotlib", "filelock", "torch", "torchvision", "river", "lightgbm",
)  # fmt: skip
_WIDTH = 8  # of a status


def main(words: Arguments) -> int:
    """Print versions, threads, cores, data found, compiler cache and folders; 1 if a folder is not writable."""
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


def _section(title: str, lines: Iterable[str]) -> None:
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
        except (Exception, SystemExit) as error:  # a loader may be a plug-in's
            lines.append(f"{name}: not found; {catalogue.describe_error(error)}")
    return lines


def _compiler_cache() -> str:
    """The folder of compiled kernels, and their number."""
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


def _broken(words: Arguments) -> list[str]:
    """Entry points of installed packages that cannot be read, including every claim and item of their papers."""
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


def data(words: Arguments) -> int:
    """Fetch a data set if it is missing and can be fetched, verify it, and describe it in one line."""
    from boostrun import data
    from boostrun.extend import loader

    name = words.names[0] if words.names else single_values(words.overrides).get("dataset")
    if name is None:
        known = ", ".join(catalogue.summaries("dataset", words.config_dir))
        raise BoostrunError(f"data needs the name of a data set ({known}), or a file")
    settings = compose_one([*naming(str(name)), *words.overrides], words.config_dir)
    root, _ = roots(settings)
    print(data.fetch(loader.config_for(settings.dataset, root), root))
    return 0


def naming(name: str) -> list[str]:
    """The overrides that choose a data set, with an algorithm that can learn from it.

    >>> naming("digits")
    ['dataset=digits']
    """
    reader = name if name in catalogue.datasets() else next(iter(catalogue.readers(name).values()), "")
    declared = catalogue.datasets().get(reader)
    able = (each for each, method in catalogue.methods().items() if declared and declared.gives in method.inputs)
    fitting = next(able, None)
    return [f"dataset={quoted(name)}", *([f"algo={fitting}"] if fitting else [])]


def check(words: Arguments) -> int:
    """Print one line per conformance check, with its details below if it fails; 1 if a check fails.

    The name is module:Class (or a function, an object, a whole paper: module:PAPER), the name of an installed paper or
    of one of its items, or any choice of the catalogue. A module is looked up in ``--config-dir``, else in the current
    folder, and where Python finds its modules. Keys are those of the class or function, and budget symbols of a method.
    """
    from boostrun.conformance import outcomes, things

    if not words.names:
        raise BoostrunError(
            "check needs the name of a class, function or paper, as in check my_algo:MyBooster or check my_paper:PAPER"
        )
    if words.config_dir is not None and not Path(words.config_dir).is_dir():
        raise BoostrunError(f"--config-dir {words.config_dir}: there is no such folder")
    count = failed = 0
    found = things.sections(words.names[0], words.config_dir, words.overrides)
    for number, section in enumerate(found):
        print(f"{chr(10) if number else ''}{section.title}", flush=True)
        for outcome in outcomes(section.checks, section.own):
            print(f"{outcome.status:<{_WIDTH}} {outcome.name}{f': {outcome.reason}' if outcome.reason else ''}")
            for detail in outcome.details:
                print(f"{'':<{_WIDTH}} - {detail}" if detail else "", flush=True)
            count, failed = count + 1, failed + (outcome.status == "FAILED")
    several = f" of {len(found)} things" if len(found) > 1 else ""
    print(f"{count} checks{several}, {failed} failed")
    return 1 if failed else 0
