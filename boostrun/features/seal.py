"""Whether the files of a finished bank are what was written: hashed again after each change of one, before it is used.

`meta.json` holds the checksums of what a build has written. `seal.json` beside it holds those of what came later (the
samples, a transposition made when first asked for) and of `meta.json` itself, and the state in which each file was
last found right, where any later change is sure to end it (see `boostrun.data.states`): it is not read again.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import numpy as np

from boostrun.data.states import looked_at, state_of
from boostrun.files import write_whole

NAME = "seal.json"
_DERIVED = "samples_"  # what is made again from the rest
_ROWS = 1024  # samples that are compared at a time


class Findings(NamedTuple):
    """What a look at a bank found.

    ``damage``: a clause, empty where all that cannot be made again is as it was written; ``spoilt``: names of derived
    files that are damaged; ``sha256`` by name of the files that were read and are right, and ``states`` of those whose
    state will tell.
    """

    damage: str
    spoilt: tuple[str, ...] = ()
    sha256: Mapping[str, str] = {}
    states: Mapping[str, Mapping[str, int]] = {}


def look(folder: Path, anew: bool = False) -> Findings:
    """Hash what may have changed since it was last found right, in two threads; all with ``anew``. Changes nothing."""
    sealed, states = _read(folder)
    try:
        content = (folder / "meta.json").read_bytes()
        expected = {str(name): str(entry["sha256"]) for name, entry in json.loads(content)["files"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return Findings("meta.json cannot be read")
    names = {"meta.json", *expected, *(path.name for path in folder.glob("*.np[yz]"))}
    expected = {**sealed, **expected}
    try:
        now = {name: state_of(folder / name) for name in sorted(names)}
        changed = [name for name in now if anew or name not in expected or states.get(name) != now[name]]
        with ThreadPoolExecutor(2) as threads:
            looks = threads.map(lambda name: looked_at(folder / name, sha256_of), changed)
            found = {name: (sha256, state) for name, (sha256, state) in zip(changed, looks)}
    except OSError as error:
        return Findings(f"a file cannot be read: {error.strerror or error}")
    right = {name: sha256 for name, (sha256, _) in found.items() if expected.get(name, sha256) == sha256}
    if lost := [name for name in changed if name not in right and not name.startswith(_DERIVED)]:
        return Findings(f"{lost[0]} is not what was written")
    for name in [name for name in right if name.startswith(_DERIVED) and name not in expected]:
        if not _transposed(folder, name):  # of before there were seals
            del right[name]
    spoilt = tuple(name for name in changed if name not in right)
    return Findings("", spoilt, right, {name: state for name in right if (state := found[name][1]) is not None})


def note(folder: Path, sha256: Mapping[str, str], states: Mapping[str, Mapping[str, int]]) -> None:
    """Add to the seal; the caller holds the bank's lock. It is a memory: where it cannot be written, it is left out."""
    if not sha256:
        return
    sealed, known = _read(folder)
    content = {"sha256": {**sealed, **sha256}, "states": {**known, **states}}
    if content == {"sha256": sealed, "states": known}:
        return
    with contextlib.suppress(OSError):
        write_whole(folder / NAME, json.dumps(content, indent=1).encode())


def sha256_of(path: Path) -> str:
    """sha256 (hex) of a file's bytes."""
    digest = hashlib.sha256()
    with open(path, "rb") as stream:
        while chunk := stream.read(1 << 22):
            digest.update(chunk)
    return digest.hexdigest()


def _transposed(folder: Path, name: str) -> bool:
    """Whether samples are the codes that lie beside them, turned round."""
    try:
        samples, codes = (np.load(folder / each, mmap_mode="r") for each in (name, name.replace(_DERIVED, "codes_")))
    except Exception:  # a damaged head raises any of a dozen kinds
        return False
    rows = (slice(start, start + _ROWS) for start in range(0, len(samples), _ROWS))
    return samples.shape == codes.shape[::-1] and all(np.array_equal(samples[some], codes[:, some].T) for some in rows)


def _read(folder: Path) -> tuple[dict[str, str], dict[str, dict]]:
    """Checksums and states; empty where there is no seal or it is damaged."""
    try:
        content = json.loads((folder / NAME).read_bytes())
        return {**content["sha256"]}, {**content["states"]}
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return {}, {}
