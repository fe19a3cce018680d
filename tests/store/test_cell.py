import json
import pickle
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from boostrun.errors import BoostrunError
from boostrun.store.cell import Cell, Inputs, Trial, canonical_json

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


def make(**changes):
    parts = {"algo": {"name": "geem", "shrinkage": 0.1}, "dataset": {"name": "mnist"}, "features": {"name": "raw"}}
    return Cell(**{**parts, "budget": {"T": 250, "r": 100, "M": None, "extra": 2}, **changes})


@given(PLAIN)
def test_a_record_read_back_from_json_has_the_same_canonical_form(value):
    text = canonical_json(value)
    assert canonical_json(json.loads(text)) == text
    assert text.isascii()


@given(st.dictionaries(st.text(), PLAIN, max_size=5))
def test_the_order_of_keys_does_not_matter(value):
    assert canonical_json(dict(reversed(list(value.items())))) == canonical_json(value)


def test_an_int_a_float_and_a_bool_of_equal_value_are_three_different_things():
    assert len({canonical_json(value) for value in (1, 1.0, True)}) == 3
    assert make(budget={"r": 1}) != make(budget={"r": 1.0})
    assert canonical_json(-0.0) == canonical_json(0.0) == "0.0"


@pytest.mark.parametrize(
    "value",
    [float("nan"), float("inf"), np.float64(1), np.int64(1), b"x", {1, 2}, object(), {1: 2}, {"a": [np.ones(2)]}],
)
def test_what_json_cannot_say_without_a_guess_is_refused(value):
    with pytest.raises(BoostrunError):
        canonical_json(value)


def test_what_is_refused_is_named_by_its_place():
    with pytest.raises(BoostrunError, match=r"algo\.layers\[1\]\.rate is nan"):
        make(algo={"layers": [{}, {"rate": float("nan")}]})
    value = []
    value.append(value)
    with pytest.raises(BoostrunError, match="contains itself"):
        canonical_json(value)


def test_keys_are_the_same_in_another_process_and_do_not_change_between_versions():
    trial = Trial(make(), 3, Inputs("data", "source"))
    code = (
        "from boostrun.store.cell import *; print(Trial(Cell({'shrinkage': 0.1, 'name': 'geem'}, {'name': 'mnist'}, "
        "{'name': 'raw'}, {'extra': 2, 'M': None, 'r': 100, 'T': 250}), 3, Inputs('data', 'source')).key)"
    )
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == trial.key
    assert trial.key == "5f9f9d24a23480fe25a9af602c0ca151cefcc273ea19f8017124d77bc0d119e5"


def test_the_key_depends_on_the_seed_and_each_input_as_plain_numbers():
    keys = {
        Trial(cell, seed, Inputs(data, source)).key for cell in (make(), make(budget={"r": 1})) for seed in (0, 1)
        for data in "ab" for source in "ab"
    }  # fmt: skip
    assert len(keys) == 16
    assert Trial(make(), np.int64(3), Inputs("a", "b")).key == Trial(make(), 3, Inputs("a", "b")).key


def test_cells_are_equal_and_hashed_by_key_and_survive_pickling_and_changes_of_the_callers_mapping():
    assert len({make(), make(), make(budget={})}) == 2
    assert pickle.loads(pickle.dumps(make())) == make()
    assert make() != "geem"
    algo = {"name": "geem", "layers": [1]}
    cell = make(algo=algo)
    before = cell.key
    algo["layers"].append(2)
    cell.config()["algo"]["name"] = "other"
    assert make(algo={"name": "geem", "layers": [1]}).key == before == Cell.from_config(cell.config()).key


def test_the_label_follows_the_papers_order_of_symbols_and_leaves_out_what_is_not_set():
    assert make().label == "geem · mnist · raw · r=100 T=250 extra=2"
    assert make(features={}, budget={}).label == "geem · mnist"


@pytest.mark.parametrize("seed", [-1, 1.0, "1", True, None])
def test_a_bad_seed_is_refused(seed):
    with pytest.raises(BoostrunError, match="seed must be"):
        Trial(make(), seed, Inputs("a", "b"))
