"""A file without a sample is one sentence."""

import numpy as np
import pytest

from boostrun.data import load
from boostrun.errors import BoostrunError


@pytest.mark.parametrize("names", [("x", "y"), ("x_train", "y_train", "x_test", "y_test")])
def test_an_npz_without_a_sample_is_one_sentence(names, tmp_path):
    empty = {name: np.empty((0, 5)) if name.startswith("x") else np.empty(0, np.int64) for name in names}
    np.savez(tmp_path / "mine.npz", **empty)
    with pytest.raises(BoostrunError, match="npz holds no samples"):
        load({"name": "npz", "path": str(tmp_path / "mine.npz")}, tmp_path)
