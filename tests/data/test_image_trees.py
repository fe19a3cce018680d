"""Trees of image files: image_folder, INRIA, Caltech-101."""

import numpy as np
import pytest
from PIL import Image

from boostrun.data import checksum, load
from boostrun.data.files import read_image
from boostrun.errors import BoostrunError, DataMissingError


def paint(path, width, height, seed=0, mode="RGB"):
    path.parent.mkdir(parents=True, exist_ok=True)
    pixels = np.random.default_rng(seed).integers(0, 256, (height, width, 3), dtype=np.uint8)
    Image.fromarray(pixels).convert(mode).save(path)
    return np.asarray(Image.fromarray(pixels).convert(mode).convert("RGB"))


@pytest.fixture
def inria(tmp_path):
    """A small tree in the published layout; returns the pixels of the first training person."""
    first = None
    for split, size in (("train", (96, 160)), ("test", (70, 134))):
        folder = tmp_path / "INRIAPerson" / f"{split}_64x128_H96"
        for i in range(2):
            pixels = paint(folder / "pos" / f"{i}.png", *size, seed=i)
            first = pixels if (split, i) == ("train", 0) else first
            paint(folder / "neg" / f"{i}.png", 150, 140, seed=10 + i)
    return first


def test_inria_takes_the_centre_of_people_and_random_windows_of_backgrounds(inria, tmp_path):
    one, two, other = (load({"name": "inria", "windows_per_image": 3, "split_seed": s}, tmp_path) for s in (0, 0, 1))
    assert one.x_train.shape == (2 + 6, 128, 64, 3) and one.x_test.shape == (2 + 6, 128, 64, 3)
    assert one.y_train.tolist() == [1, 1] + [0] * 6 and one.classes == ("background", "person")
    np.testing.assert_array_equal(one.x_train[0], inria[16:144, 16:80])
    np.testing.assert_array_equal(one.x_train, two.x_train)
    assert (one.x_train != other.x_train).any() and one.checksum != other.checksum


def test_inria_negatives_are_found_where_the_links_are_lost(inria, tmp_path):
    root = tmp_path / "INRIAPerson"
    before = load({"name": "inria"}, tmp_path)
    for split in ("train", "test"):
        (root / split.capitalize()).mkdir()
        (root / f"{split}_64x128_H96" / "neg").rename(root / split.capitalize() / "neg")
        (root / f"{split}_64x128_H96" / "neg").write_text(f"../{split.capitalize()}/neg")
    after = load({"name": "inria"}, tmp_path)
    np.testing.assert_array_equal(before.x_test, after.x_test)
    assert before.checksum == after.checksum


@pytest.fixture
def archive(tmp_path):
    """Seven windows for training, of which three show people, and four for tests, as inria.npz."""
    rng, labels = np.random.default_rng(0), np.array([0, 1, 0, 1, 0, 0, 1], np.uint8)
    arrays = {"y_train": labels, "y_test": labels[:4]}
    arrays |= {x: rng.integers(0, 256, (n, 128, 64, 3), dtype=np.uint8) for x, n in (("x_train", 7), ("x_test", 4))}
    np.savez(tmp_path / "inria.npz", **arrays)
    return arrays


def test_inria_in_an_archive_is_read_as_it_is_and_backgrounds_are_drawn(archive, tmp_path):
    whole = load({"name": "inria"}, tmp_path)
    assert whole.classes == ("background", "person") and whole.y_train.tolist() == archive["y_train"].tolist()
    np.testing.assert_array_equal(whole.x_test, archive["x_test"])
    drawn = {seed: load({"name": "inria", "backgrounds": 2, "split_seed": seed}, tmp_path) for seed in range(6)}
    for part in drawn.values():  # all people, two backgrounds, in the order of the file
        places = [int(np.flatnonzero((archive["x_train"] == x).all((1, 2, 3)))[0]) for x in part.x_train]
        assert places == sorted(set(places)) and {1, 3, 6} < set(places) and len(places) == 5
        np.testing.assert_array_equal(part.y_train, archive["y_train"][places])
        np.testing.assert_array_equal(part.x_test, archive["x_test"])
    assert len({part.x_train.tobytes() for part in drawn.values()}) > 1


def test_an_inria_archive_that_does_not_fit_is_a_sentence(archive, tmp_path, inria, capsys):
    with pytest.raises(BoostrunError, match="of 4 for training"):
        load({"name": "inria", "backgrounds": 5}, tmp_path)
    with pytest.raises(BoostrunError, match="10 windows a photograph"):
        load({"name": "inria", "windows_per_image": 3}, tmp_path)
    assert capsys.readouterr().err.count("inria.npz, not") == 1  # beside the folder, said once
    for wrong in ({"y_test": np.arange(4)}, {"x_test": archive["x_test"][:, :64]}, {"x_train": archive["x_train"] / 2}):
        np.savez(tmp_path / "inria.npz", **(archive | wrong))
        with pytest.raises(BoostrunError, match=r"inria\.npz needs"):
            load({"name": "inria"}, tmp_path)


def test_inria_images_that_are_too_small_broken_or_absent_are_a_sentence(inria, tmp_path):
    path = tmp_path / "INRIAPerson" / "train_64x128_H96" / "neg" / "0.png"
    paint(path, 60, 200)
    with pytest.raises(BoostrunError, match="60x200 pixels"):
        load({"name": "inria"}, tmp_path)
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(BoostrunError, match=r"0\.png cannot be read as an image"):
        load({"name": "inria"}, tmp_path)
    for image in path.parent.iterdir():
        image.unlink()
    with pytest.raises(DataMissingError, match="holds no images"):
        load({"name": "inria"}, tmp_path)


def test_image_folder_with_and_without_a_test_part(tmp_path):
    for kind in ("cat", "dog"):
        for i in range(5):
            paint(tmp_path / "all" / kind / f"{i}.png", 9, 7, seed=i, mode="L" if i else "RGB")
            paint(tmp_path / "two" / "train" / kind / f"{i}.png", 6, 6, seed=i)
        paint(tmp_path / "two" / "test" / kind / "0.jpg", 6, 6)
    whole = load({"name": "image_folder", "path": str(tmp_path / "all"), "size": 6}, tmp_path)
    assert whole.x_train.shape == (8, 6, 6, 3) and len(whole.x_test) == 2 and whole.classes == ("cat", "dog")
    parts = load({"name": "image_folder", "path": str(tmp_path / "two")}, tmp_path)
    assert len(parts.x_train) == 10 and len(parts.x_test) == 2


def test_an_image_folder_is_known_by_its_content_and_what_is_wrong_in_it_is_a_sentence(tmp_path):
    config = {"name": "image_folder", "path": str(tmp_path / "d")}
    (tmp_path / "d" / "a").mkdir(parents=True)
    with pytest.raises(BoostrunError, match="no class folders"):
        load(config, tmp_path)
    for kind in "ab":
        paint(tmp_path / "d" / kind / "0.png", 4, 4)
    before = checksum(config, tmp_path)
    paint(tmp_path / "d" / "a" / "0.png", 4, 4, seed=9)
    assert checksum(config, tmp_path) != before
    (tmp_path / "d" / "a" / "0.png").write_text("no image")
    with pytest.raises(BoostrunError, match="as an image"):
        load(config, tmp_path)


@pytest.mark.slow
def test_a_class_without_images_of_its_own_is_a_sentence(tmp_path):
    for place in ("cat/1.png", "dog/1.png", "bird/2024/1.png"):
        (tmp_path / "all" / place).parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(np.full((6, 6, 3), len(place), np.uint8)).save(tmp_path / "all" / place)
    with pytest.raises(BoostrunError, match=r"bird holds no images that are read .* directly in it"):
        load({"name": "image_folder", "path": str(tmp_path / "all"), "size": 6}, tmp_path)


def test_caltech101_takes_so_many_of_each_class_and_no_background(tmp_path):
    pytest.importorskip("torch")
    folder = tmp_path / "caltech101" / "101_ObjectCategories"
    for kind, count in (("ant", 7), ("bee", 3), ("BACKGROUND_Google", 2)):
        for i in range(1, count + 1):
            paint(folder / kind / f"image_{i:04d}.jpg", 10, 8, seed=i, mode="L" if i == 1 else "RGB")
    config = {"name": "caltech101", "train_per_class": 2, "test_per_class": 3, "size": 8}
    data = load(config, tmp_path)
    assert data.classes == ("ant", "bee") and data.x_train.shape == (4, 8, 8, 3)
    assert np.bincount(data.y_test).tolist() == [3, 1]
    assert data.checksum != checksum({**config, "split_seed": 1}, tmp_path)
    (folder / "ant" / "image_0003.jpg").write_text("no image")
    with pytest.raises(BoostrunError, match="cannot be read as an image"):
        load({**config, "train_per_class": 7}, tmp_path)


@pytest.mark.parametrize("ending", ["png", "tif", "pgm"])
def test_pixels_of_16_bits_are_scaled_and_those_of_32_bits_are_a_sentence(tmp_path, ending):
    pixels = np.arange(0, 65536, 256, np.uint16).reshape(16, 16)
    path = tmp_path / f"wide.{ending}"
    if ending == "pgm":
        path.write_bytes(b"P5\n16 16\n65535\n" + pixels.astype(">u2").tobytes())
    else:
        Image.fromarray(pixels).save(path)
    np.testing.assert_array_equal(read_image(path), np.repeat((pixels >> 8)[..., None], 3, axis=2))
    for kind in (np.int32, np.float32):
        Image.fromarray(np.ones((4, 4), kind)).save(tmp_path / "wider.tif")
        with pytest.raises(BoostrunError, match="8 or 16 bits"):
            read_image(tmp_path / "wider.tif")
