"""Small data in the published formats, and the real data root."""

import os
from pathlib import Path

import numpy as np
import pytest


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    """Digests are remembered in the test's folder, never in the user's."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "user-cache"))


@pytest.fixture
def real_root():
    return Path(os.environ.get("BOOSTRUN_DATA") or "datasets")


@pytest.fixture
def arrays():
    """The four arrays of a small colour data set with three classes."""
    rng = np.random.default_rng(0)
    return {
        "x_train": rng.integers(0, 256, (30, 4, 5, 3), dtype=np.uint8),
        "y_train": np.arange(30) % 3,
        "x_test": rng.integers(0, 256, (9, 4, 5, 3), dtype=np.uint8),
        "y_test": np.arange(9) % 3,
    }
