"""Own pictures: transparency on white, palettes, the camera's turn, wide pixels; for training and predict."""

import numpy as np
import pytest
from PIL import Image, ImageOps

from boostrun.data import load
from boostrun.data.files import all_equal, read_image, read_picture
from boostrun.errors import BoostrunError

SIZE = (6, 5)  # height, width
RNG = np.random.default_rng(0)
RGBA = RNG.integers(0, 256, (*SIZE, 4), dtype=np.uint8)
SEEN = np.rint(RGBA[..., :3] * (RGBA[..., 3:] / 255) + 255 * (1 - RGBA[..., 3:] / 255))  # on white, by hand
GRAY = RGBA[..., 0]
RAMP = np.arange(0, 30 * 2000, 2000, np.uint16).reshape(SIZE)


def rgb(gray):
    return np.repeat(np.asarray(gray, float)[..., None], 3, axis=2)


PALETTE = Image.fromarray((np.arange(30).reshape(SIZE) % 3).astype(np.uint8), "P")
PALETTE.putpalette([10, 20, 30, 200, 100, 0, 0, 0, 0] + [0] * 759)
COLOURS = np.array([[10, 20, 30], [200, 100, 0], [0, 0, 0]], float)
PLACES = np.arange(30).reshape(SIZE) % 3
ON_WHITE = np.where((PLACES == 1)[..., None], 255.0, COLOURS[PLACES])
HALF = np.where((PLACES == 1)[..., None], 255 - (255 - COLOURS[1]) * 128 / 255, COLOURS[PLACES])

MODES = {  # name -> image, ending of the file, how it is saved, pixels to be seen
    "1": (Image.fromarray(GRAY > 128), "png", {}, rgb(255.0 * (GRAY > 128))),
    "L": (Image.fromarray(GRAY), "png", {}, rgb(GRAY)),
    "L with a transparent gray": (
        Image.fromarray(GRAY), "png", {"transparency": int(GRAY[2, 3])}, rgb(np.where(GRAY[2, 3] == GRAY, 255, GRAY)),
    ),
    "LA": (
        Image.fromarray(RGBA[..., [0, 3]], "LA"), "png", {},
        rgb(np.rint(GRAY * (RGBA[..., 3] / 255) + 255 * (1 - RGBA[..., 3] / 255))),
    ),
    "P": (PALETTE, "png", {}, COLOURS[PLACES]),
    "P with a transparent colour": (PALETTE, "png", {"transparency": 1}, ON_WHITE),
    "P with alphas": (PALETTE, "png", {"transparency": bytes([255, 128, 255])}, HALF),
    "gif": (PALETTE, "gif", {"transparency": 1}, ON_WHITE),
    "RGB": (Image.fromarray(RGBA[..., :3]), "png", {}, RGBA[..., :3]),
    "RGB with a transparent colour": (
        Image.fromarray(RGBA[..., :3]), "png", {"transparency": tuple(map(int, RGBA[1, 1, :3]))},
        np.where((RGBA[..., :3] == RGBA[1, 1, :3]).all(-1, keepdims=True), 255, RGBA[..., :3]),
    ),
    "RGBA": (Image.fromarray(RGBA), "png", {}, SEEN),
    "RGBA in a tif": (Image.fromarray(RGBA), "tif", {}, SEEN),
    "RGBA in a webp": (Image.fromarray(RGBA), "webp", {"lossless": True, "exact": True}, SEEN),
    "CMYK": (Image.fromarray(255 - RGBA, "CMYK"), "tif", {}, RGBA[..., :3] * (RGBA[..., 3:] / 255)),
    "I;16": (Image.fromarray(RAMP), "png", {}, rgb(RAMP >> 8)),
    "I;16 in a tif": (Image.fromarray(RAMP), "tif", {}, rgb(RAMP >> 8)),
    "I;16 with a transparent gray": (
        Image.fromarray(RAMP), "png", {"transparency": 4000}, rgb(np.where(RAMP == 4000, 255, RAMP >> 8)),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", MODES)
def test_a_picture_of_every_mode_is_what_is_seen_on_white(name, tmp_path):
    image, ending, save, seen = MODES[name]
    image.save(tmp_path / f"it.{ending}", **save)
    found = read_picture(tmp_path / f"it.{ending}", SIZE)
    assert found.dtype == np.uint8 and np.abs(found - seen).max() <= 1


@pytest.mark.parametrize("ending", ["jpg", "png", "webp", "tif"])
@pytest.mark.parametrize("orientation", range(1, 9))
def test_the_turn_of_a_camera_is_undone(orientation, ending, tmp_path):
    exif = Image.Exif()
    exif[0x0112] = orientation
    path = tmp_path / f"it.{ending}"
    Image.fromarray(np.kron(RGBA[..., :3], np.ones((16, 16, 1), np.uint8))).save(path, exif=exif)
    with Image.open(path) as image:
        upright = ImageOps.exif_transpose(image).convert("RGB")
        assert (image.getexif().get(0x0112, 1) == orientation) or ending == "tif"
    found = read_picture(path, (upright.height, upright.width))
    np.testing.assert_array_equal(found, np.asarray(upright))
    assert found.shape[:2] == ((96, 80) if orientation < 5 else (80, 96))


def test_opaque_pictures_without_a_turn_are_read_as_published_sets_are(tmp_path):
    for name in ("L", "RGB", "CMYK", "I;16"):
        MODES[name][0].save(tmp_path / "it.tif")
        for size in (SIZE, (3, 9), (20, 20)):
            np.testing.assert_array_equal(
                read_picture(tmp_path / "it.tif", size), read_image(tmp_path / "it.tif", size)
            )


def test_a_damaged_exif_block_does_not_cost_the_picture(tmp_path):
    Image.fromarray(RGBA[..., :3]).save(tmp_path / "it.png", exif=b"Exif\0\0MM\0*\xff\xff\xff\xff torn")
    np.testing.assert_array_equal(read_picture(tmp_path / "it.png", SIZE), RGBA[..., :3])
    (tmp_path / "it.png").write_text("no picture")
    with pytest.raises(BoostrunError, match="cannot be read as an image"):
        read_picture(tmp_path / "it.png", SIZE)


def shape(kind, number):
    """A black bar or dot on a transparent ground."""
    alpha = np.zeros((8, 8), np.uint8)
    alpha[2:6, 3 + number % 2 : 5] = 255 if kind == "bar" else 0
    alpha[1:3, 1 : 3 + number % 3] = 255 if kind == "dot" else 0
    return Image.fromarray(np.dstack([np.zeros((8, 8, 3), np.uint8), alpha]))


def test_shapes_on_a_transparent_ground_are_told_apart_in_training_and_in_predictions(workplace, command):
    for number in range(24):
        for kind in ("bar", "dot"):
            (workplace / "photos" / kind).mkdir(parents=True, exist_ok=True)
            shape(kind, number).save(workplace / "photos" / kind / f"{number}.png")
    words = "export algo=rand r=10 T=10 dataset=image_folder dataset.path=photos dataset.size=8 n_jobs=1"
    assert command(f"{words} --to npz -o m.npz")[0] == 0
    code, out, _ = command("predict m.npz photos")
    assert code == 0
    for line in out.splitlines()[1:]:
        file, answer = line.split(",")
        assert file.split("/")[0] == answer


def test_pictures_that_are_all_the_same_are_a_sentence(tmp_path):
    for kind in "ab":
        (tmp_path / "d" / kind).mkdir(parents=True)
        for number in range(3):
            pixels = np.full((9, 9, 4), 255, np.uint8)
            pixels[..., 3] = 60 * number  # white on transparent
            Image.fromarray(pixels).save(tmp_path / "d" / kind / f"{number}.png")
    with pytest.raises(BoostrunError, match="all 6 pictures are the same once they are resized to 4x4 pixels"):
        load({"name": "image_folder", "path": str(tmp_path / "d"), "size": 4}, tmp_path)
    assert not all_equal(np.zeros((1, 2, 2, 3), np.uint8))
