"""Streams whose concept may change: `draw` makes one from its config and the seeds of a trial.

A loader is a module with these names, see `boostrun.data`:

- `files(options, data_root) -> {logical name: Path}`: the files to read, none for a generator; raises DataMissingError;
- `places(options, data_root) -> str`: which file belongs where, as a clause of a sentence;
- `draw(options, data_root, rng, holdout_rng) -> DriftStream`, or an object with its attributes except `x` and `y`;
- `located(options, data_root, folder) -> options` with absolute paths, if a path is the user's;
- `NEEDS` (optional): the keys of following a stream that `draw` needs; others are left out of its options.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from boostrun.config import catalogue, defaults
from boostrun.data.streams.drift_stream import DriftStream, beginning
from boostrun.errors import BoostrunError, did_you_mean

# keys that a loader gets only if it ``NEEDS`` them
_OF_FOLLOWING = ("first", "delay", "scored_after", "measures", "changes_at")

__all__ = ["DriftStream", "draw", "names"]


def names() -> list[str]:
    """The names of all streams."""
    return [name for name, declared in catalogue.datasets().items() if declared.gives == "stream"]


def draw(config: Mapping, data_root: Path, stream_seed=0, holdout_seed=0) -> DriftStream:
    """A stream and the hold-outs of its concepts.

    Parameters
    ----------
    config : mapping with `name` and the loader's keys; `first` limits the number of examples
    data_root : Path, the folder of the data sets
    stream_seed, holdout_seed : seeds for ``numpy.random.default_rng``
        The hold-outs do not depend on the first, nor the stream on the second, unless the hold-out is taken from the
        stream itself.

    Raises
    ------
    DataMissingError
        A file is missing; the message says which file belongs where.
    BoostrunError
        A key, a file or its content is wrong.

    >>> stream = draw({"name": "sea", "n_samples": 400}, Path("datasets"))
    >>> stream.x.shape, stream.changes.tolist(), stream.classes
    ((400, 3), [100, 200, 300], ('-1', '1'))
    """
    import numpy as np

    from boostrun.data.options import merge

    name = str(config.get("name"))
    if name not in names():
        raise BoostrunError(f"no stream '{name}'{did_you_mean(name, names())} (streams: {', '.join(names())})")
    module = importlib.import_module(catalogue.dataset(config).loader)
    options = merge(config, defaults("dataset", name), "dataset")
    first = options.get("first")
    needed = getattr(module, "NEEDS", ())
    of_loader = {key: value for key, value in options.items() if key not in _OF_FOLLOWING or key in needed}
    rngs = np.random.default_rng(stream_seed), np.random.default_rng(holdout_seed)
    stream = module.draw(of_loader, Path(data_root), *rngs)
    if changes := options.get("changes_at"):
        if changes[-1] >= len(stream):
            raise BoostrunError(f"dataset.changes_at={changes[-1]}: the stream has only {len(stream)} examples")
        stream = replace(stream, changes=np.array(changes, np.int64))
    return stream if first is None else beginning(stream, first)
