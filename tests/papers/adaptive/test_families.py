"""Each of the 19 families and each kind of the 33: its size, its twin, grey and colour; codebooks."""

import numpy as np
import pytest

from boostrun.errors import BoostrunError
from boostrun.papers.adaptive import groups
from boostrun.papers.adaptive.families import FAMILIES, NAMES, Families19, Families19Colour, choose, families
from boostrun.papers.adaptive.groups import make_groups
from boostrun.papers.adaptive.groups.filters import PERIODS, gabors
from boostrun.papers.adaptive.groups.pyramid import (
    cluster,
    colour_planes,
    descriptors,
    nearest,
    sample,
)
from boostrun.papers.adaptive.keys import Families19Keys, Families33Keys
from tests.reference import groups as twins
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
    """Half of the images random, half of them flat with a brighter square."""
    rng = np.random.default_rng(seed)
    images = rng.integers(0, 256, (n, *shape), dtype=np.uint8)
    for image in images[n // 2 :]:
        image[...] = rng.integers(0, 200, shape[2:])
        image[3:11, 4:12] += 55
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


@pytest.mark.parametrize("name", ["patch_sums", "haar_like"])
def test_rectangles_in_colour_see_the_channels_in_turn_and_on_grey_images_nothing_changes(name):
    images = pictures(2, (16, 12, 3), seed=1)
    pipelines = [made({"only": [name], "on_gray": "keep"}) for made in (Families19, Families19Colour)]
    usual, colour = (pipeline.fit(images) for pipeline in pipelines)
    of_channels = np.stack([usual(np.repeat(images[..., [c]], 3, axis=3)) for c in range(3)])
    number = np.arange(of_channels.shape[2])
    np.testing.assert_array_equal(colour(images), of_channels[number % 3, :, number].T)
    np.testing.assert_array_equal(colour(images[..., 0]), usual(images[..., 0]))
    assert colour.families(0) == usual.families(0) and colour.describe() != usual.describe()


def test_the_pipeline_in_colour_has_orientations_of_the_strongest_channel_and_the_papers_total():
    colour = Families19Colour({"only": None, "on_gray": "keep"}).fit(pictures(1, (32, 32, 3)))
    assert colour.families(0)[-1][2] == TOTALS[2] and "strongest colour channel" in colour.describe()


def test_a_flat_rectangle_has_no_energy_left_from_rounding():
    image = np.zeros((1, 28, 28), np.uint8)
    image[0, :12, :12] = pictures(1, (12, 12))[0]
    for family in choose(["rect_u", "rect_s"]):
        rectangles, _ = family.draws(28, 28, 1)
        outside = (rectangles[:, 0] > 12) | (rectangles[:, 1] > 12)
        assert outside.any() and (family(image)[0, outside] == 0).all()


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


@pytest.mark.parametrize(("chooser", "only", "sentence"), [
    (choose, ["hgo_u4"], "did you mean 'hog_u4'"), (choose, [], "names no family"), (choose, "lpb", "mean 'lbp'"),
    (groups.choose, ["phog18_0"], "did you mean 'phog180_0'"), (groups.choose, [], "names no family"),
    (groups.choose, "v1", "did you mean 'v1s'"),
])  # fmt: skip
def test_a_wrong_choice_of_families_is_a_sentence(chooser, only, sentence):
    with pytest.raises(BoostrunError, match=sentence):
        chooser(only)


# kind: values on the levels 0 to 3 (Dubout & Fleuret 2014, our dimensions)
WIDTHS_OF_KINDS = {
    "phog180": (20, 80, 320, 1280), "phog360": (40, 160, 640, 2560), "sift_gray300": (300, 1200, 4800, 19200),
    "sift_gray1000": (1000, 4000, 16000, 64000), "sift_hsv300": (300, 1200, 4800, 19200),
    "sift_hsv1000": (1000, 4000, 16000, 64000), "covariance": (28, 112, 448, 1792), "lbp": (256, 1024, 4096, 16384),
    "v1s": (86400,),
}  # fmt: skip
TABLE = {"phog": 1700 + 3400, "sift": 221000, "covariance": 2380, "lbp": 21760, "v1s": 86400}
KINDS = tuple(WIDTHS_OF_KINDS)
WORDS = 12  # of a codebook here; the counts of the others are 0

each_kind = pytest.mark.parametrize("kind", KINDS)


def codebook(colour, seed=0):
    return np.random.default_rng(seed).random((WORDS, {"gray": 128, "hsv": 384}[colour])).astype(np.float32) / 8


def values_of(kind, images):
    """(n, d) of one kind."""
    (group,) = [group for group in make_groups() if kind in group.kinds]
    if hasattr(group, "codebooks"):
        group.codebooks[kind] = codebook(group.colour)
    ((name, values),) = group(images, [kind])
    assert name == kind
    return values


def twin_of(kind, image):
    if kind.startswith("phog"):
        return twins.phog(image, *{"phog180": (20, 180), "phog360": (40, 360)}[kind])
    if kind.startswith("sift"):
        colour, words = ("gray", int(kind[9:])) if "gray" in kind else ("hsv", int(kind[8:]))
        return twins.visual_words(image, colour, codebook(colour), words)
    return {"covariance": twins.covariance, "lbp": twins.lbp_histograms, "v1s": twins.v1s}[kind](image)


def test_the_families_are_the_33_of_the_config_and_their_sizes_those_of_the_table():
    assert (
        Families33Keys.__dataclass_fields__["only"].metadata["kind"].choices == groups.NAMES
        and len(set(groups.NAMES)) == 33
    )
    assert {kind: widths for group in make_groups() for kind, widths in group.kinds.items()} == WIDTHS_OF_KINDS
    sizes = {name: sum(f.stop - f.start for f in groups.FAMILIES if f.name.startswith(name)) for name in TABLE}
    assert sizes == TABLE and sum(sizes.values()) == 336640 == sum(f.stop - f.start for f in groups.FAMILIES)


@each_kind
@pytest.mark.parametrize("shape", [(16, 16), (27, 33, 3)])
def test_a_kind_equals_its_twin_and_has_its_size(kind, shape):
    images = pictures(2, shape)
    values = values_of(kind, images)
    assert values.dtype == np.float32 and values.shape == (2, sum(WIDTHS_OF_KINDS[kind]))
    expected = np.array([twin_of(kind, image) for image in images])
    np.testing.assert_allclose(values, expected, rtol=1e-4, atol=1e-4 if kind == "covariance" else 2e-5)
    assert np.abs(values).max() > 0


@pytest.mark.slow
@pytest.mark.parametrize("colour", ["gray", "hsv"])
def test_words_of_four_sizes_of_patches_are_counted_together(colour):
    images, kind = pictures(2, (27, 38, 3)), f"sift_{colour}300"  # no patch of 32 fits
    (group,) = [group for group, _ in groups.Families33Scales({**groups.DEFAULTS, "only": f"{kind}_0"})._groups]
    group.codebooks[kind] = codebook(colour)
    ((_, values),) = group(images, [kind])
    expected = [twins.visual_words(image, colour, codebook(colour), 300, (8, 16, 24, 32), 10) for image in images]
    np.testing.assert_array_equal(values, expected)
    np.testing.assert_array_equal(next(group(images[1:], [kind]))[1], values[1:])


@each_kind
def test_a_black_image_and_a_white_one_have_the_same_finite_features(kind):
    black = np.zeros((1, 16, 20), np.uint8)
    values = values_of(kind, black)
    assert np.isfinite(values).all()
    np.testing.assert_allclose(values_of(kind, ~black), values, atol=1e-6)


def test_the_filters_are_those_of_scikit_image():
    bank = gabors()
    assert bank.shape == (96, 43, 43)
    for number in (0, 5, 7, 40, 95):
        angle, period = divmod(number, len(PERIODS))
        np.testing.assert_allclose(bank[number], twins.gabor(PERIODS[period], np.pi * angle / 16), atol=1e-12)


def in_one(images):
    def in_chunks(work, which):
        work(0, len(which), images[which])

    return in_chunks


def in_pairs(images):
    def in_chunks(work, which):
        for start in range(0, len(which), 2)[::-1]:
            stop = min(start + 2, len(which))
            work(start, stop, images[which[start:stop]])

    return in_chunks


@pytest.mark.parametrize(("colour", "most"), [("gray", 10), ("hsv", 100)])
def test_patches_are_drawn_once_each_and_in_any_chunks_the_same(colour, most):
    images = pictures(7, (24, 24, 3), seed=3)
    images[:] = np.random.default_rng(1).integers(0, 256, images.shape)
    every = descriptors(colour_planes(images, colour)).reshape(28, -1)
    drawn = sample(7, (24, 24), colour, most, in_one(images))
    np.testing.assert_array_equal(drawn, sample(7, (24, 24), colour, most, in_pairs(images)))
    which = [int(np.flatnonzero((every == vector).all(axis=1))[0]) for vector in drawn]
    assert len(set(which)) == len(drawn) == min(most, 28) and which == sorted(which)


def test_words_are_the_centres_of_clusters_and_always_the_same():
    rng = np.random.default_rng(0)
    centres = rng.random((4, 128)).astype(np.float32) * 10
    vectors = (centres[rng.integers(0, 4, 500)] + rng.normal(0, 0.01, (500, 128))).astype(np.float32)
    words = cluster(vectors, 4)
    order = nearest(centres[None], words)[0]
    assert sorted(order) == [0, 1, 2, 3]
    np.testing.assert_allclose(words[order], centres, atol=0.01)
    assert cluster(vectors, 4).tobytes() == words.tobytes()


def test_so_few_vectors_are_their_own_words():
    vectors = np.random.default_rng(0).random((5, 128)).astype(np.float32)
    np.testing.assert_array_equal(cluster(vectors, 300), vectors)


def test_the_nearest_word_is_the_nearest_and_the_first_of_equal_ones():
    rng = np.random.default_rng(0)
    vectors, words = rng.random((2, 30, 128)).astype(np.float32), rng.random((9, 128)).astype(np.float32)
    brute = np.linalg.norm(vectors[:, :, None] - words, axis=3).argmin(axis=2)
    np.testing.assert_array_equal(nearest(vectors, np.concatenate([words, words])), brute)
