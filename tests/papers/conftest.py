"""Data that tests of several methods learn."""

import numpy as np
import pytest
from sklearn.datasets import load_digits


@pytest.fixture(scope="session")
def digits():
    """1,797 digits of 64 pixels, uint8, and their labels; nobody changes them."""
    X, y = load_digits(return_X_y=True)
    return X.astype(np.uint8), y
