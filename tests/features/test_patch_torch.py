"""The torch path on torch's own CPU device against the compiled kernels, and what happens without torch or a GPU."""

import sys

import numpy as np
import pytest

from boostrun.errors import BoostrunError
from boostrun.features import bank_key, open_bank, patch_kernels, patch_torch
from boostrun.features.coates_ng import DEFAULTS, CoatesNg
from boostrun.runner.plan import cell_of, compose_one

RNG = np.random.default_rng(0)
PICTURES = RNG.integers(0, 256, (20, 13, 12, 3), dtype=np.uint8)
CUDA = {"name": "coates_ng", "atoms": 3, "patches": 50, "iterations": 2, "size": 8, "device": "cuda"}


def encoded(function, images, *more):
    rng = np.random.default_rng(1)
    weights, offset = rng.normal(size=(108, 7)).astype(np.float32), rng.normal(size=7).astype(np.float32)
    out = np.empty((len(images), 56), np.float32)
    function(images, 6, 10.0, weights, offset, np.float32(0.25), out, *more)
    return out


@pytest.mark.slow
def test_encoding_equals_the_compiled_kernel():
    pytest.importorskip("torch")
    expected = encoded(patch_kernels.encode_images, PICTURES)
    np.testing.assert_allclose(encoded(patch_torch.encode_images, PICTURES, "cpu"), expected, rtol=1e-5, atol=1e-3)


def test_encoding_does_not_depend_on_blocks(monkeypatch):
    pytest.importorskip("torch")
    monkeypatch.setattr(patch_torch, "_BATCH", 4 * 8 * 7 * (7 + 216) * 6)  # six images
    whole = encoded(patch_torch.encode_images, PICTURES, "cpu")
    np.testing.assert_array_equal(encoded(patch_torch.encode_images, PICTURES[3:8], "cpu"), whole[3:8])


def test_the_strongest_atoms_are_the_same():
    pytest.importorskip("torch")
    patches = RNG.normal(size=(2 * patch_kernels.ROWS, 30)).astype(np.float32)
    patches[-5:] = 0  # filling
    atoms = RNG.normal(size=(30, 9)).astype(np.float32)
    found = []
    for function, more in ((patch_kernels.strongest_atoms, ()), (patch_torch.strongest_atoms, ("cpu",))):
        labels, values = np.empty(len(patches), np.int64), np.empty(len(patches), np.float32)
        function(patches, atoms, labels, values, *more)
        found.append((labels, values))
    np.testing.assert_array_equal(found[0][0], found[1][0])
    np.testing.assert_allclose(found[0][1], found[1][1], rtol=1e-5, atol=1e-5)


@pytest.mark.slow
def test_the_pipeline_in_torch_equals_the_compiled_one():
    pytest.importorskip("torch")
    options = {**DEFAULTS, "atoms": 5, "patches": 300, "iterations": 3, "size": 12}
    compiled, in_torch = CoatesNg(options), CoatesNg(options)
    in_torch._torch_device = "cpu"
    expected = compiled.fit(PICTURES)(PICTURES)
    np.testing.assert_allclose(in_torch.fit(PICTURES)(PICTURES), expected, atol=2e-4)


def test_without_a_gpu_the_command_is_refused_before_anything_is_written(command, workplace, monkeypatch):
    torch = pytest.importorskip("torch")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    code, _, err = command("dataset=digits features=coates_ng features.size=8 features.device=cuda r=20")
    assert code == 2 and "needs a GPU" in err.splitlines()[-1] and "Traceback" not in err
    assert not (workplace / "results").exists() and not (workplace / "datasets").exists()


def test_without_torch_the_bank_is_refused_before_anything_is_written(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(BoostrunError, match="which is not installed"):
        open_bank({"name": "digits"}, CUDA, tmp_path, tmp_path / "cache")
    assert not (tmp_path / "cache").exists()  # the data's checksum may have been kept beside them


def test_an_unknown_device_is_a_sentence(tmp_path):
    with pytest.raises(BoostrunError, match="must be cpu or cuda, not 'gpu'"):
        open_bank({"name": "digits"}, {**CUDA, "device": "gpu"}, tmp_path, tmp_path / "cache")


def test_the_device_is_part_of_the_banks_key(tmp_path):
    keys = {device: bank_key({"name": "digits"}, {**CUDA, "device": device}, tmp_path) for device in ("cpu", "cuda")}
    assert keys["cpu"] != keys["cuda"]


def test_the_usual_device_is_left_out_of_a_cell():
    usual, cuda = (cell_of(compose_one(["features=coates_ng", *more])) for more in ((), ("features.device=cuda",)))
    assert "device" not in usual.features and cuda.features["device"] == "cuda"
