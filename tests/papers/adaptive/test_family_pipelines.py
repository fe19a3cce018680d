"""The pipelines of the 19 and of the 33 families: choice, codebooks of one split or of each, banks that are the same to
the byte."""

import multiprocessing
import os
import signal
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from sklearn.cluster import MiniBatchKMeans

from boostrun.digest import reached, roots_in
from boostrun.errors import BoostrunError, DataMissingError
from boostrun.features import bank_key, build, open_bank
from boostrun.features.bank import Bank
from boostrun.features.store import Journal
from boostrun.papers.adaptive import families, groups
from boostrun.papers.adaptive.families import Families19
from boostrun.papers.adaptive.groups import DEFAULTS, Families33
from boostrun.papers.adaptive.groups.pyramid import nearest

slow = pytest.mark.slow  # banks of 33 families take long to build
both = pytest.mark.parametrize("name", ["families19", pytest.param("families33", marks=slow)])

MODULES = {"families19": families, "families33": groups}
# few bins and few descriptors: of the smallest files, quickly
ALL = {"families19": {"name": "families19"}, "families33": {"name": "families33", "bins": 4, "descriptors": 40}}
FEW = {**ALL["families33"], "only": ["sift_gray300_0", "sift_hsv300_1", "covariance_0"]}


def made(name, **options):
    if name == "families19":
        return Families19({"only": None, "on_gray": "keep", **options})
    return Families33({**DEFAULTS, "descriptors": 40, **options})


def pictures(n, shape=(20, 18, 3), seed=0):
    return np.random.default_rng(seed).integers(0, 256, (n, *shape), dtype=np.uint8)


def save(path, train=15, test=5, seed=1):
    """An .npz file whose training images are always the same."""
    x, y = pictures(train), np.arange(train) % 2
    np.savez(path, x_train=x, y_train=y, x_test=pictures(test, seed=seed), y_test=np.arange(test) % 2)
    return {"name": "npz", "path": str(path)}


@pytest.fixture
def data(tmp_path):
    """15 + 5 colour images of 20x18 with a split of their own."""
    return save(tmp_path / "i.npz")


@pytest.fixture
def unsplit(tmp_path):
    """30 images that are split at random."""
    np.savez(tmp_path / "u.npz", x=pictures(30), y=np.arange(30) % 2)
    return {"name": "npz", "path": str(tmp_path / "u.npz"), "test_fraction": 0.5}


@pytest.fixture
def clustered(monkeypatch):
    """How many words each codebook that is learned in this process was asked for."""
    asked, cluster = [], groups.cluster
    monkeypatch.setattr(groups, "cluster", lambda vectors, words: (asked.append(words), cluster(vectors, words))[1])
    return asked


# --- both


@both
def test_families_lie_one_after_the_other_in_the_order_of_the_table(name):
    few = "phog180_1", "sift_gray1000_0", "sift_hsv300_3", "covariance_2", "lbp_0", "v1s"
    images = pictures(3, (28, 28)) if name == "families19" else pictures(3)
    pipeline = made(name).fit(images)
    features, width = pipeline(images), {"families19": 16775, "families33": 336640}[name]
    places = pipeline.families(width)
    assert features.shape == (3, width) and places[-1][2] == width
    assert tuple(each for each, *_ in places) == MODULES[name].NAMES
    for each, start, stop in places:
        if name == "families19" or each in few:
            np.testing.assert_array_equal(features[:, start:stop], made(name, only=each).fit(images)(images))


@both
def test_features_do_not_depend_on_n_jobs_or_blocks(name, monkeypatch):
    images, alone, pipeline = pictures(12), made(name), made(name)
    features = alone.fit(images)(images)
    monkeypatch.setattr(MODULES[name], "_PIXELS", 2 * 360)
    pipeline.n_jobs = 2
    assert pipeline.fit(images).describe() == alone.describe()
    np.testing.assert_array_equal(features, pipeline(images))
    np.testing.assert_array_equal(features[3:8], pipeline(images[3:8]))


@both
def test_banks_are_the_same_to_the_byte_for_any_n_jobs_and_blocks(name, data, tmp_path, monkeypatch):
    one = open_bank(data, ALL[name], tmp_path, tmp_path / "a")
    monkeypatch.setattr(build, "block_rows", lambda *_: 4)
    monkeypatch.setattr(MODULES[name], "_PIXELS", 360)
    two = open_bank(data, ALL[name], tmp_path, tmp_path / "b", n_jobs=2)
    assert one.meta["files"] == two.meta["files"] and one.meta["pipeline"] == two.meta["pipeline"]
    assert one.families == two.families and one.families[-1][2] == one.n_features
    assert tuple(each for each, *_ in one.families) == MODULES[name].NAMES
    Bank(one.folder, verify=True)


@both
def test_test_images_change_no_code_of_the_training_images_no_edge_and_no_codebook(name, tmp_path):
    features = FEW if name == "families33" else ALL[name]
    one, two = (
        open_bank(save(tmp_path / f"{seed}.npz", seed=seed), features, tmp_path, tmp_path / "cache") for seed in (1, 2)
    )
    assert one.meta["pipeline"] == two.meta["pipeline"]
    np.testing.assert_array_equal(one.edges, two.edges)
    np.testing.assert_array_equal(one.codes("train"), two.codes("train"))
    assert (one.codes("test") != two.codes("test")).any()


@both
def test_every_module_and_every_option_is_part_of_the_banks_key(name, data, tmp_path):
    module = MODULES[name]
    found = reached((*roots_in(module.__name__, ["Pipeline"]), *getattr(module, "SOURCES", ()))).definitions
    modules = {label.rpartition(".")[0] for label in found}
    assert {f"{module.__name__}.{path.stem}" for path in Path(module.__file__).parent.glob("[a-z]*.py")} < modules
    assert "boostrun.features.bank" in modules or name == "families19"
    changes = {
        "families19": [{"only": ["lbp"]}, {"on_gray": "drop"}],
        "families33": [{"only": ["lbp_0"]}, {"codebook": "per_split"}, {"descriptors": 41}, {"size": 16}],
    }
    keys = {bank_key(data, {**ALL[name], **change}, tmp_path) for change in ({}, *changes[name])}
    assert len(keys) == 1 + len(changes[name])


@both
def test_what_is_no_image_is_a_sentence(name):
    least = {"families19": 8, "families33": 16}[name]
    for images, sentence in (
        (np.zeros((3, 7)), "table of 7 columns"), (np.zeros((2, least - 1, 40), np.uint8), f"at least {least}x{least}"),
        (np.zeros((2, 19, 19)), "of uint8, not float64"),
        (np.zeros((2, 19, 19, 4), np.uint8), "of uint8, not uint8 of the shape"),
    ):  # fmt: skip
        with pytest.raises(BoostrunError, match=sentence):
            made(name).fit(images)


@pytest.mark.parametrize(("line", "sentence"), [
    ("families19 features.only=[lbp,hog_u5]", "did you mean 'hog_u8'"),
    ("families19 features.only=[]", "a list of some of identity, gray"),
    ("families19 features.on_gray=drp", "did you mean 'drop'"),
    ("families33 features.only=[lbp_4]", "did you mean 'lbp_"),
    ("families33 features.codebook=per_splt", "did you mean 'per_split'"),
    ("families33 features.size=8", "whole number of at least 16"), ("families33 dataset=caltech101", "belongs at"),
    ("families33 dataset=digits", "features.size=16 or more"),
])  # fmt: skip
def test_wrong_words_on_the_command_line_are_a_sentence(command, line, sentence):
    code, _, err = command(f"algo=rand features={line}")
    assert code == 2 and sentence in err and "Traceback" not in err


@pytest.mark.parametrize("words", [
    ["families19 features.only=[lbp,hog_u8]", "families19 features.only=[hog_u8,lbp]"],
    pytest.param(["families33 features.bin_samples=50 features.descriptors=200 features.size=16 "
                  "features.only=[sift_gray300_0,lbp_0]"], marks=slow),
])  # fmt: skip
def test_the_command_runs_them_on_digits_and_the_order_of_names_makes_no_other_cell(words, command, workplace):
    for each in words:
        assert command(f"algo=rand dataset=digits r=50 T=5 trials=1 n_jobs=1 features={each}")[0] == 0
    assert len(list((workplace / "results" / "runs").rglob("*.json"))) == 1


# --- the 19 families


def test_on_grey_images_the_two_twins_may_be_dropped():
    grey, whole = pictures(2, (12, 12)), made("families19")
    kept = [name for name, *_ in made("families19", on_gray="drop").fit(grey).families(0)]
    assert set(families.NAMES) - set(kept) == {"gray", "color_hist"}
    whole.fit(grey)
    same = {name: whole(grey)[:, start:stop] for name, start, stop in whole.families(0)}
    np.testing.assert_array_equal(same["gray"], same["identity"])
    np.testing.assert_array_equal(same["color_hist"], same["gray_hist"])
    assert len(made("families19", on_gray="drop").fit(pictures(2)).families(0)) == 19
    with pytest.raises(BoostrunError, match="leaves none of the chosen families"):
        made("families19", only=["gray"], on_gray="drop")(grey)


def test_the_random_rectangles_never_change_and_the_bank_names_them(data, tmp_path):
    for shape, known in (
        ((28, 28), "de9e61d6d1006846"), ((128, 64, 3), "e57b48e02be78739"), ((32, 32, 3), "79e310705ee78aea"),
    ):  # fmt: skip
        assert made("families19").fit(pictures(1, shape)).describe().endswith(f"random rectangles {known}")
    alone = made("families19", only=["lbp"]).fit(pictures(1)).describe()
    assert alone == "lbp of the 19 feature families (Dubout & Fleuret 2014)"
    rectangles = {**ALL["families19"], "only": "rect_u"}
    assert "random rectangles" in open_bank(data, rectangles, tmp_path, tmp_path).meta["pipeline"]


# --- the 33 families


@slow
def test_products_and_clusters_are_computed_on_one_thread_each(monkeypatch):
    from threadpoolctl import threadpool_info, threadpool_limits

    threads = []

    def noted(function):
        def call(*arguments):
            threads.append({pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"})
            return function(*arguments)

        return call

    monkeypatch.setattr("boostrun.papers.adaptive.groups.pyramid.nearest", noted(nearest))
    monkeypatch.setattr("sklearn.cluster.MiniBatchKMeans.fit", noted(MiniBatchKMeans.fit))
    with threadpool_limits(2, user_api="blas"):
        images = pictures(80, (24, 24))
        made("families33", only="sift_gray300_0", descriptors=400).fit(images)(images)
    assert threads == [{1}] * 3  # k-means, and two chunks of images


@slow
def test_images_of_another_size_are_resized_first_when_told_so():
    images = pictures(3, (8, 8))
    larger = np.array([Image.fromarray(image).resize((24, 24), Image.Resampling.BILINEAR) for image in images])
    resized, plain = made("families33", size=24).fit(images), made("families33").fit(larger)
    np.testing.assert_array_equal(resized(images), plain(larger))


def killed(function, *args):
    process = multiprocessing.get_context("fork").Process(target=function, args=args)
    process.start()
    process.join(60)
    assert process.exitcode == -signal.SIGKILL


def build_until(data, root, features, entry):
    """In a child: build, and be killed after the entry of this number in a journal."""
    write, count = Journal._write, iter(range(1000))

    def counted(self):
        write(self)
        if next(count) == entry:
            os.kill(os.getpid(), signal.SIGKILL)

    Journal._write = counted
    open_bank(data, features, root, root / "cache")


@slow
@pytest.mark.parametrize(("codebook", "entry", "learned", "computed"), [
    # codebooks 0 and 1, probe 2, quantile bins 3-5, edges 6, training images 7-9, test images 10
    ("shared", 0, [300], [1, 6, 6, 3, 6, 6, 3, 5]), ("per_split", 0, [300], [1, 6, 6, 3, 6, 6, 3, 5]),
    ("per_split", 4, [], [1, 3, 6, 6, 3, 5]), ("shared", 8, [], [1, 3, 5]),
])  # fmt: skip
def test_a_killed_build_goes_on_where_it_was(
    data, tmp_path, monkeypatch, clustered, codebook, entry, learned, computed
):
    monkeypatch.setattr(build, "block_rows", lambda *_: 6)
    features = {**FEW, "codebook": codebook}
    expected = open_bank(data, features, tmp_path, tmp_path / "undisturbed")
    killed(build_until, data, tmp_path, features, entry)
    clustered.clear()
    seen, call = [], Families33.__call__
    monkeypatch.setattr(Families33, "__call__", lambda self, x: (seen.append(len(x)), call(self, x))[1])
    bank = open_bank(data, features, tmp_path, tmp_path / "cache")
    assert bank.meta["files"] == expected.meta["files"] and bank.meta["pipeline"] == expected.meta["pipeline"]
    assert clustered == learned and seen == computed


def bank_of(unsplit, tmp_path, split, **more):
    return open_bank({**unsplit, "split_seed": split}, {**FEW, **more}, tmp_path, tmp_path / "cache")


@slow
def test_codebooks_of_split_0_serve_all_splits_and_are_learned_once(unsplit, tmp_path, clustered):
    banks = [bank_of(unsplit, tmp_path, split) for split in (2, 0, 1)]
    assert clustered == [300, 300] and len({bank.key for bank in banks}) == 3
    assert len({bank.meta["pipeline"] for bank in banks}) == 1 and "shared codebooks" in banks[0].meta["pipeline"]
    assert len(list((tmp_path / "cache" / "codebooks").glob("*/journal.json"))) == 1
    alone = open_bank({**unsplit, "split_seed": 0}, FEW, tmp_path, tmp_path / "alone")
    assert alone.meta["files"] == banks[1].meta["files"]


@slow
def test_codebooks_of_each_split_are_the_strict_variant(unsplit, tmp_path, clustered):
    banks = [bank_of(unsplit, tmp_path, split, codebook="per_split") for split in (0, 1)]
    assert clustered == [300] * 4 and not (tmp_path / "cache" / "codebooks").exists()
    assert banks[0].meta["pipeline"] != banks[1].meta["pipeline"]
    shared = bank_of(unsplit, tmp_path, 0)
    np.testing.assert_array_equal(shared.codes("test"), banks[0].codes("test"))  # split 0 is its own


@slow
def test_a_damaged_codebook_is_learned_again(unsplit, tmp_path, clustered):
    expected = bank_of(unsplit, tmp_path, 0)
    for path in (tmp_path / "cache" / "codebooks").glob("*/codebook_sift_gray300.*.npz"):
        content = bytearray(path.read_bytes())
        content[len(content) // 2] ^= 1
        path.write_bytes(content)
    clustered.clear()
    assert bank_of(unsplit, tmp_path, 1).meta["pipeline"] == expected.meta["pipeline"] and clustered == [300]


def caltech(root, kinds=3, each=6):
    """A folder in the format of Caltech-101, its images of several sizes, some grey."""
    folder, rng = root / "caltech101" / "101_ObjectCategories", np.random.default_rng(0)
    for kind in [f"kind_{number}" for number in range(kinds)] + ["BACKGROUND_Google"]:
        (folder / kind).mkdir(parents=True)
        for number in range(each):
            shape = (20 + number, 30) if number == 1 else (20 + number, 30, 3)
            image = Image.fromarray(rng.integers(0, 256, shape, dtype=np.uint8))
            image.save(folder / kind / f"image_{number + 1:04d}.jpg")
    return {"name": "caltech101", "train_per_class": 3, "test_per_class": 2, "size": 24}


@slow
def test_a_bank_of_caltech101_for_each_split(tmp_path, clustered):
    pytest.importorskip("torch")
    with pytest.raises(DataMissingError, match=r"belongs at .*101_ObjectCategories"):
        open_bank({"name": "caltech101"}, ALL["families33"], tmp_path, tmp_path / "cache")
    assert not (tmp_path / "cache").exists()
    some = {**ALL["families33"], "only": ["phog360_1", "sift_gray1000_0", "sift_hsv300_1", "v1s"]}
    config = caltech(tmp_path)
    banks = [open_bank({**config, "split_seed": s}, some, tmp_path, tmp_path / "cache") for s in (0, 1)]
    assert clustered == [1000, 300] and banks[0].meta["pipeline"] == banks[1].meta["pipeline"]
    for bank in banks:
        assert bank.codes("train").shape == (88760, 9) and bank.codes("test").shape == (88760, 6)
        assert len(bank.families) == 4 and len(bank.classes) == 3
    assert (banks[0].codes("train") != banks[1].codes("train")).any()


def test_wrong_options_are_a_sentence():
    for options, sentence in (
        ({"codebook": "own"}, "shared or per_split"), ({"descriptors": 0}, "descriptors must be at least 1"),
        ({"size": 15}, "size must be at least 16"),
    ):  # fmt: skip
        with pytest.raises(BoostrunError, match=sentence):
            made("families33", **options)
