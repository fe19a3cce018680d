"""Each of the 19 families: its size, its twin, grey and colour, and that an image stands by itself."""

import numpy as np
import pytest

from boostrun.errors import BoostrunError
from boostrun.papers.adaptive.families import FAMILIES, NAMES, choose, families
from boostrun.papers.adaptive.families.gradients import cell_votes
from boostrun.papers.adaptive.keys import Families19Keys
from tests.reference.families import STRONGEST, TWINS

# 28x28 grey, 128x64 colour, 32x32 colour (Dubout & Fleuret 2014, our dimensions)
WIDTHS = {
    "identity": (784, 24576, 3072), "gray": (784, 8192, 1024), "fourier": (784, 24576, 3072),
    "haar": (784, 24576, 3072), "gradient": (784, 24576, 3072), "lbp": (676, 7812, 900), "ilbp": (676, 7812, 900),
    "patch_sums": (1000, 1000, 1000), "gray_hist": (256, 256, 256), "color_hist": (256, 768, 768),
    "hog_u4": (1296, 16740, 1764), "hog_s4": (2592, 33480, 3528), "hog_u8": (144, 3780, 324),
    "hog_s8": (288, 7560, 648), "ori_s": (1568, 16384, 2048), "ori_u": (784, 8192, 1024), "rect_u": (784, 8192, 1024),
    "rect_s": (784, 8192, 1024), "haar_like": (1751, 3839, 1359),
}  # fmt: skip
SIZES = ((28, 28), (128, 64, 3), (32, 32, 3))
TOTALS = (16775, 230503, 29879)

each_family = pytest.mark.parametrize("family", FAMILIES, ids=NAMES)


def pictures(n, shape, seed=0):
    """Half of the images random, half of them flat but for one brighter square."""
    rng = np.random.default_rng(seed)
    images = rng.integers(0, 256, (n, *shape), dtype=np.uint8)
    for image in images[n // 2 :]:
        image[...] = rng.integers(0, 200)
        image[2:6, 3:7] += 55
    return images


def sizes(shape):
    return (*shape, 1) if len(shape) == 2 else shape


def test_the_names_are_those_of_the_config_and_every_family_has_a_twin():
    assert (
        Families19Keys.__dataclass_fields__["only"].metadata["kind"].choices == NAMES == tuple(WIDTHS) == tuple(TWINS)
    )


@pytest.mark.parametrize("number", range(3), ids=["mnist", "inria", "cifar10"])
def test_dimensions_and_totals_are_the_papers(number):
    shape, total = SIZES[number], TOTALS[number]
    images = pictures(1, shape)
    widths = {family.name: family.width(*sizes(shape)) for family in FAMILIES}
    assert widths == {name: row[number] for name, row in WIDTHS.items()} and sum(widths.values()) == total
    assert {family.name: family(images).shape[1] for family in FAMILIES} == widths


@each_family
@pytest.mark.parametrize("shape", [(8, 8), (12, 16), (17, 13, 3), (16, 20, 3)])
def test_a_family_equals_its_twin(family, shape):
    images = pictures(2, shape)
    draws = family.draws(*sizes(shape)) if hasattr(family, "draws") else ()
    features = family(images)
    assert features.dtype == np.float32 and features.shape == (2, family.width(*sizes(shape)))
    expected = np.array([TWINS[family.name](image, *draws) for image in images], dtype=float)
    np.testing.assert_allclose(features, expected, rtol=1e-5, atol=2e-5)


@pytest.mark.parametrize("family", families(strongest=True)[10:18], ids=NAMES[10:18])
def test_orientations_of_the_strongest_channel_equal_their_twin_and_on_grey_images_nothing_changes(family):
    images = pictures(2, (16, 12, 3), seed=1)
    draws = family.draws(16, 12, 3) if hasattr(family, "draws") else ()
    expected = np.array([STRONGEST[family.name](image, *draws) for image in images], dtype=float)
    np.testing.assert_allclose(family(images), expected, rtol=1e-5, atol=2e-5)
    (usual,) = choose([family.name])
    assert (family(images) != usual(images)).any()
    np.testing.assert_array_equal(family(images[..., 0]), usual(images[..., 0]))


@each_family
@pytest.mark.parametrize("shape", [(12, 14), (12, 14, 3)])
def test_an_image_has_the_same_features_to_the_last_bit_in_any_company(family, shape):
    images = pictures(9, shape)
    together = family(images)
    np.testing.assert_array_equal(together[4:5], family(images[4:5]))
    np.testing.assert_array_equal(together[2:9], family(images[2:9]))
    np.testing.assert_array_equal(together[::2], family(images[::2]))  # not contiguous


@each_family
def test_three_equal_channels_are_the_grey_image_or_three_times_its_features(family):
    grey = pictures(4, (12, 12))
    one, three = family(grey), family(np.repeat(grey[..., None], 3, axis=3))
    if family.name == "identity":  # channels last
        one = np.repeat(one, 3, axis=1)
    elif three.shape != one.shape:
        one = np.concatenate([one] * 3, axis=1)
    np.testing.assert_array_equal(three, one)


@each_family
def test_a_black_image_and_a_white_one_have_finite_features(family):
    black = np.zeros((1, 16, 16), np.uint8)
    for images in (black, ~black):
        assert np.isfinite(family(images)).all()


@each_family
def test_it_describes_itself_in_one_line(family):
    assert "\n" not in family.describe() and len(family.describe()) > 20


@pytest.mark.parametrize(("unsigned", "signed"), [(9, 18), (4, 8)])
def test_signed_votes_folded_are_the_unsigned_ones(unsigned, signed):
    images = pictures(4, (12, 12))
    half, whole = cell_votes(images, 2, unsigned, False), cell_votes(images, 2, signed, True)
    np.testing.assert_allclose(whole[..., :unsigned] + whole[..., unsigned:], half, atol=1e-4)


def test_votes_add_up_to_the_length_of_the_gradient_exactly_in_any_order():
    votes = cell_votes(pictures(3, (16, 16)), 1, 9, False)
    assert votes.sum() == votes.transpose(3, 1, 0, 2)[::-1].copy().sum()
    np.testing.assert_allclose(votes[0].sum(), np.sum(TWINS["gradient"](pictures(3, (16, 16))[0])), atol=1e-3)


def test_a_flat_rectangle_has_no_energy_left_from_rounding():
    image = np.zeros((1, 28, 28), np.uint8)
    image[0, :12, :12] = pictures(1, (12, 12))[0]
    for family in choose(["rect_u", "rect_s"]):
        rectangles, _ = family.draws(28, 28, 1)
        outside = (rectangles[:, 0] > 12) | (rectangles[:, 1] > 12)
        assert outside.any() and (family(image)[0, outside] == 0).all()


def test_haar_coefficients_keep_the_energy_of_the_image():
    (haar,) = choose(["haar"])
    images = pictures(3, (16, 24))
    np.testing.assert_allclose((haar(images) ** 2).sum(axis=1), (images.astype(float) ** 2).sum(axis=(1, 2)), rtol=1e-6)


def test_the_bits_of_lbp_that_need_no_interpolation_are_those_of_scikit_image():
    from skimage.feature import local_binary_pattern

    (lbp,) = choose(["lbp"])
    images, axial = pictures(3, (16, 16)), 0b01010101
    theirs = np.array([local_binary_pattern(image, 8, 1)[1:-1, 1:-1].ravel() for image in images]).astype(int)
    np.testing.assert_array_equal(lbp(images).astype(int) & axial, theirs & axial)


@pytest.mark.parametrize("shape", [(8, 8, 1), (28, 28, 1), (128, 64, 3)])
def test_random_rectangles_lie_in_the_image_and_are_large_enough(shape):
    h, w, _ = shape
    for family, side in zip(choose(["patch_sums", "rect_u", "rect_s", "haar_like"]), (2, 3, 3, 1)):
        rectangles, *more = family.draws(*shape)
        top, left, bottom, right = rectangles.T
        assert (top >= 0).all() and (left >= 0).all() and (bottom <= h).all() and (right <= w).all()
        assert (bottom - top >= side).all() and (right - left >= side).all()
        assert bottom.max() == h and right.max() == w and top.min() == left.min() == 0
        if family.name == "haar_like":
            assert ((bottom - top) * (right - left) >= 8).all() and set(more[0]) == set(range(5))


@pytest.mark.parametrize(
    ("only", "sentence"),
    [(["hgo_u4"], "did you mean 'hog_u4'"), ([], "names no family"), ("lpb", "did you mean 'lbp'")],
)
def test_a_wrong_choice_of_families_is_a_sentence(only, sentence):
    with pytest.raises(BoostrunError, match=sentence):
        choose(only)
