"""MNIST, CIFAR-10 and STL-10 in the published formats, read through torchvision; and the real files, if present."""

import gzip
import hashlib
import pickle
import struct
import sys

import numpy as np
import pytest

from boostrun.data import describe, fetch, load, torchvision_sets
from boostrun.errors import BoostrunError


def write_idx(path, array):
    """One file in the idx format, packed and unpacked: magic number, sizes (big-endian), bytes."""
    header = struct.pack(f">HBB{array.ndim}I", 0, 8, array.ndim, *array.shape)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(header + array.tobytes())
    path.with_name(path.name + ".gz").write_bytes(gzip.compress(header + array.tobytes()))


def now_published(monkeypatch, name, root):
    """Take the md5 sums of the small files for the published ones."""
    sums = {place: hashlib.md5((root / place).read_bytes()).hexdigest() for place in torchvision_sets.PUBLISHED[name]}
    monkeypatch.setitem(torchvision_sets.PUBLISHED, name, sums)
    return sums


@pytest.fixture
def mnist(tmp_path, monkeypatch):
    pytest.importorskip("torch")
    rng = np.random.default_rng(0)
    images = {
        "train": rng.integers(0, 256, (12, 28, 28), np.uint8),
        "t10k": rng.integers(0, 256, (6, 28, 28), np.uint8),
    }
    raw = tmp_path / "MNIST" / "raw"
    for part, array in images.items():
        write_idx(raw / f"{part}-images-idx3-ubyte", array)
        write_idx(raw / f"{part}-labels-idx1-ubyte", (np.arange(len(array)) % 3).astype(np.uint8))
    now_published(monkeypatch, "mnist", tmp_path)
    return images


@pytest.mark.slow
def test_mnist_is_read_from_the_idx_files_that_were_verified(mnist, tmp_path):
    torch = pytest.importorskip("torch")
    (tmp_path / "MNIST" / "processed").mkdir()  # of an older version, which torchvision would rather read
    for name, count in (("training.pt", 12), ("test.pt", 6)):
        other = (torch.zeros(count, 28, 28, dtype=torch.uint8), torch.arange(count) % 3)
        torch.save(other, tmp_path / "MNIST" / "processed" / name)
    data = load({"name": "mnist"}, tmp_path)
    np.testing.assert_array_equal(data.x_train, mnist["train"])
    np.testing.assert_array_equal(data.x_test, mnist["t10k"])
    assert data.y_test.tolist() == [0, 1, 2, 0, 1, 2] and data.y_train.dtype == np.int64
    assert "4 of 4" in describe({"name": "mnist"}, tmp_path)
    one = load({"name": "mnist_digit", "digit": 1}, tmp_path)
    assert one.classes == ("others", "1") and one.y_test.tolist() == (data.y_test == data.classes.index("1")).tolist()
    assert one.checksum != load({"name": "mnist_digit", "digit": 0}, tmp_path).checksum


@pytest.mark.slow
def test_damaged_mnist_files_are_a_sentence(mnist, tmp_path):
    raw = tmp_path / "MNIST" / "raw"
    unpacked, packed = raw / "t10k-images-idx3-ubyte", raw / "train-labels-idx1-ubyte.gz"
    content = bytearray(unpacked.read_bytes())
    content[100] ^= 1
    unpacked.write_bytes(content)
    with pytest.raises(BoostrunError, match="expected sha256"):
        load({"name": "mnist"}, tmp_path)
    packed.write_bytes(b"damaged")
    found = hashlib.md5(b"damaged").hexdigest()
    for read in (load, fetch):
        with pytest.raises(BoostrunError, match=rf"labels.*expected md5 \w{{32}}, found {found}"):
            read({"name": "mnist"}, tmp_path)
    for path in raw.glob("*.gz"):
        path.unlink()
    unpacked.write_bytes(content[:500])
    with pytest.raises(BoostrunError, match="cannot be read as mnist"):
        load({"name": "mnist"}, tmp_path)


@pytest.mark.slow
def test_cifar10_is_read_from_its_batches(tmp_path, monkeypatch):
    pytest.importorskip("torch")
    folder = tmp_path / "cifar-10-batches-py"
    folder.mkdir()
    rng = np.random.default_rng(0)
    batches = {}
    for name in [*(f"data_batch_{i}" for i in range(1, 6)), "test_batch"]:
        batches[name] = rng.integers(0, 256, (10, 3072), dtype=np.uint8)
        (folder / name).write_bytes(pickle.dumps({"data": batches[name], "labels": list(range(10))}))
    (folder / "batches.meta").write_bytes(pickle.dumps({"label_names": list("abcdefghij")}))
    sums = now_published(monkeypatch, "cifar10", tmp_path)
    kind = torchvision_sets.torchvision_datasets().CIFAR10
    as_list = [[place.split("/")[1], md5] for place, md5 in sums.items()]
    monkeypatch.setattr(kind, "train_list", as_list[:5])
    monkeypatch.setattr(kind, "test_list", as_list[5:6])
    monkeypatch.setattr(kind, "meta", {**kind.meta, "md5": as_list[6][1]})
    data = load({"name": "cifar10"}, tmp_path)
    assert data.x_train.shape == (50, 32, 32, 3) and data.classes[0] == "airplane"
    np.testing.assert_array_equal(data.x_test[3, :, :, 1].ravel(), batches["test_batch"][3, 1024:2048])


@pytest.mark.slow
def test_stl10_is_read_without_its_unlabelled_images(tmp_path, monkeypatch):
    pytest.importorskip("torch")
    folder = tmp_path / "stl10_binary"
    folder.mkdir()
    columns_first = np.random.default_rng(0).integers(0, 256, (20, 3, 96, 96), dtype=np.uint8)
    for part in ("train", "test"):
        (folder / f"{part}_X.bin").write_bytes(columns_first.tobytes())
        (folder / f"{part}_y.bin").write_bytes((np.arange(20) % 10 + 1).astype(np.uint8).tobytes())
    sums = now_published(monkeypatch, "stl10", tmp_path)
    kind = torchvision_sets.torchvision_datasets().STL10
    as_list = [[place.split("/")[1], md5] for place, md5 in sums.items()]
    monkeypatch.setattr(kind, "train_list", [*as_list[:2], ["unlabeled_X.bin", "0"]])
    monkeypatch.setattr(kind, "test_list", as_list[2:])
    data = load({"name": "stl10"}, tmp_path)
    assert data.x_train.shape == (20, 96, 96, 3) and data.y_train.max() == 9
    # the file holds each channel column by column
    np.testing.assert_array_equal(data.x_train[5, :, :, 2], columns_first[5, 2].T)


@pytest.mark.slow
def test_without_torchvision_a_sentence_says_what_to_install(tmp_path, monkeypatch, mnist):
    monkeypatch.setitem(sys.modules, "torchvision", None)
    with pytest.raises(BoostrunError, match=r"pip install 'boostrun\[images\]'.*npz"):
        load({"name": "mnist"}, tmp_path)


@pytest.mark.slow
def test_a_download_that_fails_says_where_the_files_belong(tmp_path, monkeypatch):
    pytest.importorskip("torch")

    def dead(*_, **__):
        raise OSError("no route to host")

    monkeypatch.setattr(torchvision_sets.torchvision_datasets().MNIST, "download", dead)
    with pytest.raises(BoostrunError, match=rf"no route to host.*{tmp_path}"):
        fetch({"name": "mnist"}, tmp_path / "new" / "folder")
    assert not list(tmp_path.iterdir())


def real(root, *places):
    for place in places:
        if not (root / place).exists():
            pytest.skip(f"{root / place} is not there")


@pytest.mark.realdata
def test_real_mnist_is_verified_and_whole(real_root):
    pytest.importorskip("torch")
    real(real_root, "MNIST/raw/train-images-idx3-ubyte.gz")
    data = load({"name": "mnist"}, real_root)
    assert data.x_train.shape == (60000, 28, 28) and data.x_test.shape == (10000, 28, 28)
    assert round(float(data.x_train.mean()) / 255, 4) == 0.1307 and data.y_train[:5].tolist() == [5, 0, 4, 1, 9]


@pytest.mark.realdata
def test_real_cifar10_has_the_published_channel_means(real_root):
    real(real_root, "cifar10.npz")
    data = load({"name": "cifar10"}, real_root)
    np.testing.assert_allclose(data.x_train.mean((0, 1, 2)) / 255, [0.4914, 0.4822, 0.4465], atol=1e-4)
    assert np.bincount(data.y_train).tolist() == [5000] * 10


@pytest.mark.realdata
@pytest.mark.parametrize(
    ("keys", "samples", "classes"),
    [
        ({"path": "uci/pendigits.tra", "test_path": "uci/pendigits.tes"}, 7494, 10),
        ({"path": "uci/sat.trn", "test_path": "uci/sat.tst"}, 4435, 6),
        ({"path": "uci/letter-recognition.data", "label": "0"}, 16000, 26),
    ],
)
def test_real_uci_tables_are_read_whole_as_csv(real_root, keys, samples, classes):
    real(real_root, *(keys[key] for key in keys if key.endswith("path")))
    data = load({"name": "csv", **keys}, real_root)
    assert len(data.classes) == classes and abs(len(data.x_train) - samples) < 20  # a split by class rounds
