"""Streams whose concept may change: `draw` makes one from its config and the seeds of a trial.

A loader is one module of this package with

- `DEFAULTS`: its config keys and their default values;
- `files(options, data_root) -> {logical name: Path}`: the files that it reads (none where it generates), or
  DataMissingError;
- `places(options, data_root) -> str`: which file belongs where, as a clause;
- `draw(options, data_root, rng, holdout_rng) -> DriftStream`, or what has all of one but its arrays, `x` and `y`;
- where a path is the user's, `located(options, data_root, folder) -> options` with absolute paths.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from boostrun.config import catalogue, defaults
from boostrun.data.streams.drift_stream import DriftStream, beginning
from boostrun.errors import BoostrunError, did_you_mean

# keys that a loader is told only where it says that it ``NEEDS`` them
_OF_FOLLOWING = ("first", "delay", "scored_after", "measures", "changes_at")

__all__ = ["DriftStream", "draw", "names"]


def names() -> list[str]:
    """The streams that there are."""
    return [name for name, declared in catalogue.datasets().items() if declared.gives == "stream"]


def draw(config: Mapping, data_root: Path, stream_seed=0, holdout_seed=0) -> DriftStream:
    """A stream and the hold-outs of its concepts.

    Parameters
    ----------
    config : mapping with `name` and the loader's keys; of its `first` examples alone, where it says so
    data_root : Path, the folder that holds the data sets
    stream_seed, holdout_seed : whatever ``numpy.random.default_rng`` takes
        The hold-outs do not change with the first, nor the stream with the second, except where the hold-out is set
        aside from the stream itself.

    Raises
    ------
    DataMissingError
        The files are not there; the message says which belongs where.
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
    own = {key: value for key, value in options.items() if key not in _OF_FOLLOWING or key in needed}
    rngs = np.random.default_rng(stream_seed), np.random.default_rng(holdout_seed)
    stream = module.draw(own, Path(data_root), *rngs)
    if told := options.get("changes_at"):
        if told[-1] >= len(stream):
            raise BoostrunError(f"dataset.changes_at={told[-1]}: the stream has {len(stream)} examples, none is left")
        stream = replace(stream, changes=np.array(told, np.int64))
    return stream if first is None else beginning(stream, first)
