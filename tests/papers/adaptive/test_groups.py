"""Each kind of the 33 families: its size, its twin, grey and colour, that an image stands by itself; codebooks."""

import numpy as np
import pytest

from boostrun.errors import BoostrunError
from boostrun.papers.adaptive.groups import FAMILIES, NAMES, choose, make_groups
from boostrun.papers.adaptive.groups.filters import PERIODS, gabors
from boostrun.papers.adaptive.groups.pyramid import (
    canny_edges,
    cluster,
    colour_planes,
    descriptors,
    finest,
    nearest,
    pyramid,
    sample,
    starts,
)
from boostrun.papers.adaptive.keys import Families33Keys
from tests.reference import groups as twins

# kind: values on the levels 0 to 3 (Dubout & Fleuret 2014, our dimensions)
WIDTHS = {
    "phog180": (20, 80, 320, 1280), "phog360": (40, 160, 640, 2560), "sift_gray300": (300, 1200, 4800, 19200),
    "sift_gray1000": (1000, 4000, 16000, 64000), "sift_hsv300": (300, 1200, 4800, 19200),
    "sift_hsv1000": (1000, 4000, 16000, 64000), "covariance": (28, 112, 448, 1792), "lbp": (256, 1024, 4096, 16384),
    "v1s": (86400,),
}  # fmt: skip
TABLE = {"phog": 1700 + 3400, "sift": 221000, "covariance": 2380, "lbp": 21760, "v1s": 86400}
KINDS = tuple(WIDTHS)
WORDS = 12  # of a codebook here; the counts of the others are 0

each_kind = pytest.mark.parametrize("kind", KINDS)


def pictures(n, shape, seed=0):
    """Half of the images random, half of them flat but for a brighter square."""
    rng = np.random.default_rng(seed)
    images = rng.integers(0, 256, (n, *shape), dtype=np.uint8)
    for image in images[n // 2 :]:
        image[...] = rng.integers(0, 200, shape[2:])
        image[3:11, 4:12] += 55
    return images


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
    assert Families33Keys.__dataclass_fields__["only"].metadata["kind"].choices == NAMES and len(set(NAMES)) == 33
    assert {kind: widths for group in make_groups() for kind, widths in group.kinds.items()} == WIDTHS
    sizes = {name: sum(f.stop - f.start for f in FAMILIES if f.name.startswith(name)) for name in TABLE}
    assert sizes == TABLE and sum(sizes.values()) == 336640 == sum(f.stop - f.start for f in FAMILIES)


@each_kind
@pytest.mark.parametrize("shape", [(16, 16), (27, 33, 3)])
def test_a_kind_equals_its_twin_and_has_its_size(kind, shape):
    images = pictures(2, shape)
    values = values_of(kind, images)
    assert values.dtype == np.float32 and values.shape == (2, sum(WIDTHS[kind]))
    expected = np.array([twin_of(kind, image) for image in images])
    np.testing.assert_allclose(values, expected, rtol=1e-4, atol=1e-4 if kind == "covariance" else 2e-5)
    assert np.abs(values).max() > 0


@each_kind
@pytest.mark.parametrize("shape", [(19, 23), (19, 23, 3)])
def test_an_image_has_the_same_features_to_the_last_bit_in_any_company(kind, shape):
    images = pictures(9, shape)
    together = values_of(kind, images)
    np.testing.assert_array_equal(together[4:5], values_of(kind, images[4:5]))
    np.testing.assert_array_equal(together[2:9], values_of(kind, images[2:9]))
    np.testing.assert_array_equal(together[::2], values_of(kind, images[::2]))  # not contiguous


@each_kind
def test_three_equal_channels_are_the_grey_image(kind):
    grey = pictures(3, (20, 18))
    np.testing.assert_array_equal(values_of(kind, np.repeat(grey[..., None], 3, axis=3)), values_of(kind, grey))


@each_kind
def test_a_black_image_and_a_white_one_have_the_same_finite_features(kind):
    black = np.zeros((1, 16, 20), np.uint8)
    values = values_of(kind, black)
    assert np.isfinite(values).all()
    np.testing.assert_allclose(values_of(kind, ~black), values, atol=1e-6)


@pytest.mark.parametrize("group", make_groups(), ids=lambda group: type(group).__name__)
def test_a_group_describes_itself_in_one_line(group):
    assert "\n" not in group.describe() and len(group.describe()) > 20


@pytest.mark.parametrize("kind", ["phog180", "sift_hsv300", "lbp"])
def test_every_level_of_a_histogram_holds_all_votes(kind):
    levels = np.split(values_of(kind, pictures(3, (24, 40, 3))), np.cumsum(WIDTHS[kind])[:-1], axis=1)
    totals = np.array([level.sum(axis=1) for level in levels])
    np.testing.assert_allclose(totals, totals[:1].repeat(4, axis=0), rtol=1e-5)
    assert (totals > 0).all()


def test_cells_part_an_image_evenly_and_nest():
    assert np.bincount(finest(17)).tolist() == [3, 2, 2, 2, 2, 2, 2, 2]
    sums = np.arange(64).reshape(1, 8, 8, 1)
    levels = pyramid(sums)[0, :, 0]
    assert levels[0] == 64 * 63 / 2 and levels[1] == sums[0, :4, :4].sum() and levels[-1] == 63 and len(levels) == 85


def test_edges_turned_by_a_quarter_vote_ten_of_twenty_bins_on():
    image = np.zeros((1, 32, 32), np.uint8)
    image[:, :, 16:] = 200
    assert canny_edges(image).any()
    across, down = (values_of("phog180", x)[0, :20] for x in (image, np.ascontiguousarray(image.swapaxes(1, 2))))
    np.testing.assert_array_equal(np.roll(across, 10), down)
    assert across.sum() == 1 and across[[0, 19]].tolist() == [0.5, 0.5]  # angle 0 lies between two bins


def test_mirroring_an_image_changes_signed_edges_and_not_unsigned_ones():
    image = np.zeros((1, 32, 32), np.uint8)
    image[:, :, 16:] = 200
    one, other = (values_of("phog360", x)[0, :40] for x in (image, image[:, :, ::-1].copy()))
    np.testing.assert_array_equal(np.roll(one, 20), other)
    np.testing.assert_array_equal(values_of("phog180", image)[0, :20], values_of("phog180", image[:, :, ::-1])[0, :20])


def test_descriptors_are_unit_vectors_that_contrast_and_brightness_do_not_change():
    images = pictures(4, (32, 32)) // 4
    vectors = descriptors(colour_planes(images, "gray"))
    np.testing.assert_allclose(np.linalg.norm(vectors[:2], axis=3), 1, atol=1e-5)
    np.testing.assert_allclose(descriptors(colour_planes(2 * images + 9, "gray")), vectors, atol=1e-5)
    assert vectors.shape == (4, 3, 3, 128) and starts(16).tolist() == [0] and starts(35).tolist() == [1, 9, 17]


def test_hue_and_saturation_of_grey_images_are_nothing():
    vectors = descriptors(colour_planes(pictures(2, (16, 16)), "hsv"))
    assert vectors.shape == (2, 1, 1, 384) and not vectors[..., :256].any() and vectors[..., 256:].any()


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


@pytest.mark.parametrize(
    ("only", "sentence"),
    [(["phog18_0"], "did you mean 'phog180_0'"), ([], "names no family"), ("v1", "did you mean 'v1s'")],
)
def test_a_wrong_choice_of_families_is_a_sentence(only, sentence):
    with pytest.raises(BoostrunError, match=sentence):
        choose(only)
