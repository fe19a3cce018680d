"""The pipeline of the 19 families: choice, grey images, and banks that are the same to the byte."""

from pathlib import Path

import numpy as np
import pytest

from boostrun.errors import BoostrunError
from boostrun.features import bank_key, build, open_bank
from boostrun.papers.adaptive.families import NAMES
from boostrun.papers.adaptive.families.images import GrayHist
from boostrun.papers.adaptive.families19 import Families19

ALL = {"name": "families19"}


def made(only=None, on_gray="keep"):
    return Families19({"only": only, "on_gray": on_gray})


def pictures(n, shape=(12, 12), seed=0):
    return np.random.default_rng(seed).integers(0, 256, (n, *shape), dtype=np.uint8)


@pytest.fixture
def data(tmp_path):
    """30 + 10 grey images of 12x12 in an .npz file."""
    x, y = pictures(40), np.arange(40) % 2
    np.savez(tmp_path / "i.npz", x_train=x[:30], y_train=y[:30], x_test=x[30:], y_test=y[30:])
    return {"name": "npz", "path": str(tmp_path / "i.npz")}


def test_families_lie_one_after_the_other_in_the_order_of_the_table():
    images = pictures(3, (28, 28))
    pipeline = made().fit(images)
    features, places = pipeline(images), pipeline.families(16775)
    assert features.shape == (3, 16775) and tuple(name for name, *_ in places) == NAMES
    for name, start, stop in places:
        np.testing.assert_array_equal(features[:, start:stop], made([name])(images))


def test_on_grey_images_the_two_twins_may_be_dropped():
    grey, colour = pictures(2), pictures(2, (12, 12, 3))
    kept = [name for name, *_ in made(on_gray="drop").fit(grey).families(0)]
    assert set(NAMES) - set(kept) == {"gray", "color_hist"}
    whole = made().fit(grey)
    same = {name: whole(grey)[:, start:stop] for name, start, stop in whole.families(0)}
    np.testing.assert_array_equal(same["gray"], same["identity"])
    np.testing.assert_array_equal(same["color_hist"], same["gray_hist"])
    assert len(made(on_gray="drop").fit(colour).families(0)) == 19
    with pytest.raises(BoostrunError, match="leaves none of the chosen families"):
        made(["gray"], "drop")(grey)


def test_features_do_not_depend_on_n_jobs_or_blocks(monkeypatch):
    images = pictures(20)
    alone = made()(images)
    monkeypatch.setattr("boostrun.papers.adaptive.families19._PIXELS", 3 * 144)
    pipeline = made()
    pipeline.n_jobs = 2
    np.testing.assert_array_equal(alone, pipeline(images))
    np.testing.assert_array_equal(alone[3:9], pipeline(images[3:9]))


def test_banks_are_the_same_to_the_byte_for_any_n_jobs_and_blocks(data, tmp_path, monkeypatch):
    one = open_bank(data, ALL, tmp_path, tmp_path / "a")
    monkeypatch.setattr(build, "block_rows", lambda *_: 7)
    monkeypatch.setattr("boostrun.papers.adaptive.families19._PIXELS", 2 * 144)
    two = open_bank(data, ALL, tmp_path, tmp_path / "b", n_jobs=2)
    assert one.meta["files"] == two.meta["files"] and one.families == two.families
    assert [name for name, *_ in one.families] == list(NAMES) and one.families[-1][2] == one.n_features


def test_an_interrupted_build_goes_on_and_gives_the_same_bank(data, tmp_path, monkeypatch):
    few = {**ALL, "only": ["gray_hist", "lbp", "rect_u"]}
    expected = open_bank(data, few, tmp_path, tmp_path / "undisturbed")
    monkeypatch.setattr(build, "block_rows", lambda *_: 8)
    count = GrayHist.__call__
    left, seen = iter(range(7)), []  # probe, four blocks for the quantiles, two of training images

    def interrupted(self, images):
        if next(left, None) is None:
            raise KeyboardInterrupt
        return count(self, images)

    with monkeypatch.context() as patch:
        patch.setattr(GrayHist, "__call__", interrupted)
        with pytest.raises(KeyboardInterrupt):
            open_bank(data, few, tmp_path, tmp_path / "cache")
    monkeypatch.setattr(GrayHist, "__call__", lambda self, images: (seen.append(len(images)), count(self, images))[1])
    assert open_bank(data, few, tmp_path, tmp_path / "cache").meta["files"] == expected.meta["files"]
    assert seen == [1, 8, 6, 8, 2]  # the probe, then only what was missing


def test_test_images_change_no_code_of_the_training_images_and_no_edge(tmp_path):
    banks = []
    for number in range(2):
        path, test = tmp_path / f"{number}.npz", pictures(4, seed=1 + number)
        np.savez(path, x_train=pictures(20), y_train=np.arange(20) % 2, x_test=test, y_test=[0, 1, 0, 1])
        banks.append(open_bank({"name": "npz", "path": str(path)}, ALL, tmp_path, tmp_path / "cache"))
    np.testing.assert_array_equal(banks[0].edges, banks[1].edges)
    np.testing.assert_array_equal(banks[0].codes("train"), banks[1].codes("train"))
    assert (banks[0].codes("test") != banks[1].codes("test")).any()


def test_the_random_rectangles_never_change_and_the_bank_names_them(data, tmp_path):
    assert made().fit(pictures(1, (28, 28))).describe().endswith("random rectangles de9e61d6d1006846")
    assert made().fit(pictures(1, (128, 64, 3))).describe().endswith("random rectangles e57b48e02be78739")
    assert made().fit(pictures(1, (32, 32, 3))).describe().endswith("random rectangles 79e310705ee78aea")
    assert made(["lbp"]).fit(pictures(1)).describe() == "lbp of the 19 feature families (Dubout & Fleuret 2014)"
    assert "random rectangles" in open_bank(data, {**ALL, "only": "rect_u"}, tmp_path, tmp_path).meta["pipeline"]


def test_every_module_of_the_families_is_part_of_the_banks_key():
    import boostrun.papers.adaptive.families as package
    from boostrun.digest import reached, roots_in

    found = reached(roots_in("boostrun.papers.adaptive.families19", ["Pipeline"])).definitions
    families = {f"{package.__name__}.{path.stem}" for path in Path(package.__file__).parent.glob("[a-z]*.py")}
    assert families < {label.rpartition(".")[0] for label in found}


def test_other_families_are_another_bank(data, tmp_path):
    keys = {bank_key(data, {**ALL, **more}, tmp_path) for more in ({}, {"only": ["lbp"]}, {"on_gray": "drop"})}
    assert len(keys) == 3


@pytest.mark.parametrize(
    ("images", "sentence"),
    [
        (np.zeros((3, 7)), "table of 7 columns"),
        (np.zeros((2, 7, 9), np.uint8), "at least 8x8 pixels"),
        (np.zeros((2, 9, 9)), "of uint8, not float64"),
        (np.zeros((2, 9, 9, 4), np.uint8), "of uint8, not uint8 of the shape"),
    ],
)
def test_what_is_no_image_is_a_sentence(images, sentence):
    with pytest.raises(BoostrunError, match=sentence):
        made().fit(images)


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("features.only=[lbp,hog_u5]", "did you mean 'hog_u8'"),
        ("features.only=[]", "a list of some of identity, gray"),
        ("features.on_gray=drp", "did you mean 'drop'"),
    ],
)
def test_wrong_words_on_the_command_line_are_a_sentence(command, line, sentence):
    code, _, err = command(f"algo=rand features=families19 {line}")
    assert code == 2 and sentence in err and len(err.splitlines()) == 1


def test_the_command_runs_them_on_digits_and_the_order_of_names_makes_no_other_cell(command, workplace):
    line = "algo=rand dataset=digits features=families19 r=50 T=5 trials=1 n_jobs=1 features.only="
    for names in ("[lbp,hog_u8]", "[hog_u8,lbp]"):
        assert command(line + names)[0] == 0
        assert len(list((workplace / "results" / "runs").rglob("*.json"))) == 1
