"""A store and toys in the folder of a test."""

import pytest
from run_toys import Toy

from boostrun.store import Store


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "s")


@pytest.fixture
def toy(tmp_path):
    return lambda **options: Toy(str(tmp_path), **options)
