"""Predictors of whole numbers: the C is the twin's, row by row, and loses as few labels as it says."""

import ctypes
import itertools
import re
import subprocess

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_digits

from boostrun import (
    AdaBoostMHClassifier,
    BoostrunError,
    FullDataClassifier,
    IBoostClassifier,
    ShareBoostClassifier,
)
from boostrun.cli import main
from boostrun.cli.export import calibrated
from boostrun.export import Saved, read
from boostrun.export.chip import laid_out, size_of, sizes, source, within
from boostrun.export.forms import (
    TreeForm,
    heap_trees,
    is_leaf,
    pruned,
    real_form,
    real_scores,
    splits_of,
    stump_trees,
    sums_of,
)
from boostrun.export.integer import quantised
from boostrun.export.proof import drawn_models, lacking, proof_codes, prove
from boostrun.prediction.model import load
from boostrun.rivals import boosted_trees, forests
from boostrun.rivals.kept import BranchingTrees, RivalModelClassifier, kept
from tests.export.test_classifiers import STUMPS, samples
from tests.marks import slow_but

SANITIZED = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]


@pytest.fixture(autouse=True)
def _compiler(request):
    if "monkeypatch" not in request.fixturenames and (absent := lacking("portable")):
        pytest.skip(absent)


def fitted(name, classes, tmp_path):
    """(saved model, X, class numbers of X, new X, class numbers of new X)."""
    X, y = samples(300, classes)
    X_new, _ = samples(1000, classes, seed=1)
    clf = STUMPS[name].fit(X, y)
    saved = read(clf.save(tmp_path / "model.npz"))
    numbers = [np.searchsorted(clf.classes_, clf.predict(rows)) for rows in (X, X_new)]
    return saved, X, numbers[0], X_new, numbers[1]


KINDS = [*((name, 4) for name in STUMPS), *((name, 2) for name in ("reservoir", "trees", "votes", "jointboost"))]


@pytest.mark.parametrize(("name", "classes"), KINDS)
def test_c_gives_the_twins_numbers(name, classes, tmp_path):
    saved, X, labels, X_new, new_labels = fitted(name, classes, tmp_path)
    model = quantised(saved, X, labels)
    (proof,) = prove(model, model.codes(X_new), "portable", SANITIZED)
    assert proof.rows == 1000 and proof.different == 0
    assert model.lost == (model.predict(model.codes(X)) != labels).sum() == 0
    assert (model.predict(model.codes(X_new)) != new_labels).mean() < 0.01


@pytest.mark.parametrize("bits", [*itertools.product((8, 16), repeat=2)])
def test_more_bits_are_as_good_and_every_table_is_counted(bits, tmp_path):
    saved, X, labels, X_new, new_labels = fitted("trees", 4, tmp_path)
    model = quantised(saved, X, labels, bits=bits)
    assert prove(model, proof_codes(model, X_new), "portable")[0].different == 0
    assert model.lost == (model.predict(model.codes(X)) != labels).sum()
    if bits == (16, 16):
        assert model.lost == 0 and (model.predict(model.codes(X_new)) != new_labels).sum() <= 1
    layout = laid_out(model)
    widths = {"int8_t": 1, "uint8_t": 1, "int16_t": 2, "uint16_t": 2, "int32_t": 4, "uint32_t": 4}
    counted = sum(
        widths[line.split()[2]] * int(line.split("[")[1].split("]")[0])
        for line in source(model).splitlines() if line.startswith("static const") and " FLASH = {" in line
    )  # fmt: skip
    assert sizes(model, layout).tables == layout.size == counted == size_of(saved, X, bits).tables


def test_pruned_trees_give_the_same_values():
    rng = np.random.default_rng(0)

    def grown(depth):
        if not depth:
            return rng.integers(0, 2, 1)
        return int(rng.integers(0, 2)), float(rng.integers(-1, 4)), grown(depth - 1), grown(depth - 1)

    def values_of(tree, X):
        return sums_of([tree], [0], np.zeros(1), lambda feature: X[:, feature], len(X))

    X = rng.integers(-2, 5, (200, 2)).astype(float)
    for _ in range(50):
        tree = grown(4)
        np.testing.assert_array_equal(values_of(pruned(tree), X), values_of(tree, X))


def test_sums_of_trees_are_those_of_a_walk_sample_by_sample():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 200, (150, 6))
    for wide in (False, True):
        size = 3 if wide else 1
        leaves = iter(rng.integers(-99, 99, (36, size)))
        trees = [(t % 6, 100, next(leaves), (5, 40 + 10 * t, next(leaves), next(leaves))) for t in range(12)]
        rows = [-1 if wide else t % 3 for t in range(12)]
        base = np.array([5, 0, -5])
        expected = np.tile(base, (150, 1))
        for x, scores in zip(X, expected):
            for tree, row in zip(trees, rows):
                leaf = tree
                while not is_leaf(leaf):
                    leaf = leaf[3] if x[leaf[0]] >= leaf[1] else leaf[2]
                scores[slice(None) if wide else row] += leaf if wide else leaf[0]
        found = sums_of(trees, rows, base, lambda feature: X[:, feature], 150)
        np.testing.assert_array_equal(found, expected)
        assert found.dtype == base.dtype


def test_a_linear_model_without_rows_and_bad_words_are_sentences(tmp_path, capsys):
    X, y = samples(200)
    path = ShareBoostClassifier(3, reg=1e-3).fit(X, y).save(tmp_path / "m.npz")
    with pytest.raises(BoostrunError, match="give rows too"):
        quantised(read(path))
    for words, sentence in (
        (["--target", "arm"], "one of portable, avr, cortex-m is needed"),
        (["--integer", "--to", "onnx"], "--integer writes C"),
        ([str(tmp_path / "rows.npz")], "settings are given as key=value"),
        (["--integer"], "give rows too"),
    ):
        output = tmp_path / "out.c"
        assert main(["export", str(path), *words, "-o", str(output)]) == 2
        assert sentence in capsys.readouterr().err and not output.exists()


RIVALS = {
    "lightgbm": lambda: boosted_trees.LightGBMClassifier(n_estimators=6, random_state=0, min_samples_leaf=3),
    "xgboost": lambda: boosted_trees.XGBoostClassifier(n_estimators=6, random_state=0, depth=4),
    "hist_gradient": lambda: boosted_trees.HistGradientRivalClassifier(n_estimators=6, random_state=0),
    "random_forest": lambda: forests.RivalForestClassifier(n_estimators=6, random_state=0),
    "extra_trees": lambda: forests.RivalExtraTreesClassifier(n_estimators=6, random_state=0),
}


@pytest.mark.parametrize("classes", slow_but([4], [2, 4]))
@pytest.mark.parametrize("name", RIVALS)
def test_trees_of_other_libraries_go_through_the_same_code(name, classes, tmp_path):
    rival = RIVALS[name]()
    try:
        rival.installed()
    except BoostrunError as missing:
        pytest.skip(str(missing))
    X, y = samples(300, classes)
    found = kept(rival.fit(X, y))
    saved = read(found.save(tmp_path / "m.npz"))
    labels = np.searchsorted(found.classes_, found.predict(X))
    model = quantised(saved, X, labels, bits=(16, 16))
    assert prove(model, proof_codes(model, X), "portable")[0].different == 0
    assert (model.predict(model.codes(X)) != labels).sum() == model.lost <= 3  # equal shares of a forest
    size = size_of(saved)
    assert 0 < size_of(saved, X, (8, 8)).tables <= size_of(saved, bits=(16, 16)).tables
    assert size.tables <= size_of(saved, bits=(16, 16)).tables and size.ram < 512


def test_iboost_and_linear_models(tmp_path):
    rng = np.random.default_rng(0)
    X, y = samples(600)
    X[:, 4] /= 1e6
    for clf, forgiven in (
        (IBoostClassifier(n_window=150, budget=12), 0),
        (IBoostClassifier(n_window=150, budget=12, multiclass="ovr"), 0),
        (ShareBoostClassifier(4, reg=1e-3, bias="free"), 3),
        (ShareBoostClassifier(6, "stumps", reg=1e-3), 0),
    ):
        path = clf.fit(X, y).save(tmp_path / "m.npz")
        np.save(tmp_path / "rows.npy", X)
        model, rows = calibrated(path, str(tmp_path / "rows.npy"))
        assert rows is not None and model.lost <= forgiven and model.given
        assert model.lost == (model.predict(model.codes(X)) != np.searchsorted(clf.classes_, clf.predict(X))).sum()
        assert prove(model, proof_codes(model, rng.permutation(X)), "portable", SANITIZED)[0].different == 0
    two = IBoostClassifier(n_window=100, budget=9).fit(X, y == "a")
    model, _ = calibrated(two.save(tmp_path / "two.npz"), str(tmp_path / "rows.npy"))
    assert not model.lost and len(model.base) == 1
    bayes = IBoostClassifier(base="gnb", n_window=100, budget=3).fit(X, y)
    with pytest.raises(BoostrunError, match="no integer predictor: stumps have"):
        calibrated(bayes.save(tmp_path / "bayes.npz"), None)
    with pytest.raises(BoostrunError, match="exported: --integer exports an IBoost committee"):
        read(tmp_path / "two.npz")


def test_missing_values_have_the_code_0(tmp_path):
    X, y = samples(400)
    X[::7, 0], X[::5, 3] = np.nan, np.nan
    clf = FullDataClassifier("all", weak_learner="tree", depth=3, n_estimators=9, random_state=0).fit(X, y)
    saved, labels = read(clf.save(tmp_path / "m.npz")), np.searchsorted(clf.classes_, clf.predict(X))
    model = quantised(saved, X, labels)
    assert len(model.codes.twins) and not model.lost
    codes = model.codes(X)
    assert np.array_equal(codes == 0, np.isnan(X[:, model.codes.columns]))
    assert quantised(saved).lost <= 5  # of 1,000 rows that are drawn
    assert prove(model, codes, "portable", SANITIZED)[0].different == 0


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("word", ["stump", "tree"])
def test_a_split_between_missing_values_and_all_others_keeps_its_labels(word, kind, tmp_path):
    rng = np.random.default_rng(0)
    X, holes = rng.normal(size=(600, 3)).astype(kind), rng.random(600) < 0.3
    X[holes, 0] = np.nan
    y = holes ^ (rng.random(600) < 0.05)
    clf = FullDataClassifier("all", weak_learner=word, n_estimators=9).fit(X, y)
    saved, labels = read(clf.save(tmp_path / "m.npz")), clf.predict(X).astype(np.int64)
    assert any(threshold == np.finfo(float).min for tree in real_form(saved).trees for _, threshold in splits_of(tree))
    model = quantised(saved, X, labels)
    assert np.isfinite(model.codes.offset).all() and not model.lost and not quantised(saved).lost
    assert prove(model, model.codes(X), "portable", SANITIZED)[0].different == 0


def test_a_column_of_a_table_in_double_precision_with_missing_values_keeps_its_labels(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    time = 1_700_000_000_000 + rng.integers(0, 10**6, 400)
    kind = np.where(time % 10**7 > np.median(time % 10**7), "b", "a")
    rows = [("", "c") if rng.random() < 0.2 else pair for pair in zip(time, kind)]
    (tmp_path / "t.csv").write_text("".join(["time,kind\n", *(f"{t},{k}\n" for t, k in rows)]))
    assert main(["export", "algo=logitboost", "dataset=t.csv", "T=10", "--integer", "-o", "m.c"]) == 0
    assert "0 of 320 labels lost" in capsys.readouterr().out


def test_indices_have_room_for_the_copies_of_columns_with_missing_values(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(800, 600))
    y = X[:, :40].sum(axis=1) > 0
    X[rng.random(X.shape) < 0.15] = np.nan
    clf = FullDataClassifier("all", weak_learner="tree", depth=5, n_estimators=7, random_state=0).fit(X, y)
    model = quantised(read(clf.save(tmp_path / "m.npz")), X, clf.predict(X).astype(np.int64))
    columns, copies = len(model.codes.columns), len(model.codes.twins)
    assert columns < 256 < columns + copies
    assert prove(model, model.codes(X), "portable", SANITIZED)[0].different == 0


def test_classes_without_a_sample_are_none_of_the_predictors(tmp_path):
    X, y = samples(300, 3)
    for kind in ("raw", "stumps"):
        clf = ShareBoostClassifier(3, kind, n_classes=6, reg=1e-3).fit(X, y)
        model = quantised(read(clf.save(tmp_path / "m.npz")), X, clf.predict(X))
        assert model.scores(model.codes(X)).shape[1] == 3 and len(model.classes) == 3


def test_tiny_values_and_a_limit_of_ram_choose_the_scale_and_the_bits():
    X = np.random.default_rng(0).random((300, 1)) * 1e-18
    form = TreeForm("a stump", stump_trees(np.zeros(1, int), np.array([4e-19]), -np.ones((1, 1)), np.ones((1, 1))), [0],
                    np.zeros(1))  # fmt: skip
    assert not quantised(Saved(None, ["a", "b"], 1, {}, ""), X, form=form).lost
    many = TreeForm("", stump_trees(np.zeros(1, int), np.zeros(1), -np.ones((1, 200)), np.ones((1, 200))), [-1],
                    np.zeros(200))  # fmt: skip
    saved = Saved(None, list(map(str, range(200))), 1, {}, "")
    chosen = quantised(saved, np.zeros((3, 1)), form=many, fits=within(None))
    assert sizes(chosen, laid_out(chosen)).ram <= 512


def test_rows_of_several_pieces_and_of_other_columns_choose_the_bits(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"small": rng.random(600), "large": 1e4 * rng.random(600)})
    clf = AdaBoostMHClassifier(n_estimators=9).fit(X, X.small + X.large / 1e4 > 1.0)
    clf.save("m.npz")
    X[["large", "small"]].assign(more="x").to_csv("other.csv", index=False)
    model, rows = calibrated(tmp_path / "m.npz", "other.csv")
    np.testing.assert_allclose(rows, X.to_numpy())
    assert model.lost == 0 and model.names == ["small", "large"]


def test_shareboost_on_bins_of_a_table_with_missing_values(tmp_path, monkeypatch):
    """Each edge of a bin is a stump; 60 of the values of ``a`` differ, so that its last edges are infinite."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 3))
    X[:, 0] = np.round(10 * X[:, 0])
    y = X[:, 0] / 10 + X[:, 1] > 0.2
    X[::6, 1], X[::9, 0] = np.nan, np.nan
    rows = [",".join(["" if np.isnan(value) else str(value) for value in row]) for row in X]
    lines = [f"{row},{['no', 'yes'][label]}\n" for row, label in zip(rows, y.astype(int))]
    (tmp_path / "mine.csv").write_text("".join(["a,b,c,y\n", *lines]))
    words = ["algo=shareboost", "dataset=csv", "dataset.path=mine.csv", "dataset.label=y", "T=5", "algo.reg=1e-5"]
    assert main(["export", *words, "--to", "npz", "-o", "m.npz"]) == 0
    saved = read(tmp_path / "m.npz")
    assert str(saved.inputs["kind"]) == "edges" and saved.model.kind == "codes"
    scores = real_scores(real_form(saved), X, saved.missing)
    wanted = load("m.npz").decision_function(pd.DataFrame(X, columns=["a", "b", "c"]))
    np.testing.assert_allclose(scores[:, 1] - scores[:, 0], wanted, rtol=1e-9, atol=1e-12)
    model, _ = calibrated(tmp_path / "m.npz", "mine.csv")
    assert model.lost <= 5
    assert prove(model, model.codes(X), "portable", SANITIZED)[0].different == 0


@pytest.mark.parametrize("kind", ["raw", "stumps"])
def test_means_in_place_of_missing_values(kind, tmp_path):
    """Whether column 0 is missing tells the classes 0 and 1 apart; its mean decides nothing."""
    rng = np.random.default_rng(0)
    X = rng.normal(loc=[5.0, 100.0, 0.0], scale=[1.0, 30.0, 1e-3], size=(900, 3))
    y = (X[:, 1] > 110).astype(int) + 2 * (X[:, 2] > 0)
    X[(y % 2 == 1) & (rng.random(900) < 0.8), 0] = np.nan
    X[::5, 2] = np.nan
    clf = ShareBoostClassifier(5, kind, reg=1e-4).fit(X, y)
    saved, labels = read(clf.save(tmp_path / "m.npz")), clf.predict(X)
    assert np.any(saved.model.features["index"] >= saved.raw_width)
    scores = real_scores(real_form(saved), X, saved.missing)
    np.testing.assert_allclose(scores, clf.decision_function(X), rtol=1e-9, atol=1e-9)
    model = quantised(saved, X, labels)
    assert model.lost <= 9 and model.lost == (model.predict(model.codes(X)) != labels).sum()
    assert prove(model, model.codes(X), "portable", SANITIZED)[0].different == 0


def test_a_model_of_a_table_loses_no_label(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 3, 600)
    size, weight = rng.normal(kind, 0.7), rng.normal(40 - 5 * kind, 4.0)
    lines = [f"{s:.2f},{w:.1f},{'abc'[k]}\n" for s, w, k in zip(size, weight, kind)]
    (tmp_path / "mine.csv").write_text("".join(["size,weight,kind\n", *lines]))
    words = ["algo=logitboost", "dataset=csv", "dataset.path=mine.csv", "T=30", "--integer", "--target", "avr"]
    assert main(["export", *words, "-o", "mine.c"]) == 0
    said = capsys.readouterr().out
    assert "0 of 479 labels lost" in said and "x[1]: weight, number 1" in said  # the training rows
    assert "0 of 479 calibration rows" in " ".join((tmp_path / "mine.c").read_text().split())
    (tmp_path / "mine.csv").rename(tmp_path / "my ü.csv")
    assert main(["export", "mine.npz", "my ü.csv", "--integer", "--target", "avr", "-o", "again.c"]) == 0
    assert "0 of 600 labels lost" in capsys.readouterr().out


@pytest.mark.parametrize("word", ["stumps", "missing", "means"])
def test_the_helper_makes_the_twins_codes_of_all_doubles(word, tmp_path):
    X, y = samples(300)
    if word != "stumps":
        X[::7, 0] = np.nan
    clf = ShareBoostClassifier(6, reg=1e-4) if word == "means" else FullDataClassifier("all", n_estimators=20)
    saved = read(clf.fit(X, y).save(tmp_path / "m.npz"))
    for bits in ((8, 8), (16, 8)):
        model = quantised(saved, X, bits=bits)
        assert np.any(model.codes.absent) == (word == "means")
        (tmp_path / "m.c").write_text(source(model))
        command = ["cc", "-std=c99", "-Wall", "-Wextra", "-Wconversion", "-pedantic", "-Werror", "-DBOOSTRUN_FLOAT"]
        place = str(tmp_path / f"{bits[0]}.so")
        command += ["-ffp-contract=off", "-shared", "-fPIC", "-o", place, str(tmp_path / "m.c")]
        subprocess.run(command, check=True)
        library = ctypes.CDLL(place)
        odd = np.array([np.nan, np.inf, -np.inf, 1e308, -1e308, 5e-324, 0.0, -0.0])
        rows = np.concatenate([np.tile(odd[:, None], (1, X.shape[1])), X])
        out = np.zeros(len(model.codes.columns), f"uint{bits[0]}")
        for row, expected in zip(rows[:, model.codes.columns], model.codes(rows)):
            given = np.ascontiguousarray(row)
            library.quantise(given.ctypes.data_as(ctypes.c_void_p), out.ctypes.data_as(ctypes.c_void_p))
            assert out.tolist() == expected.tolist()


def test_check_says_which_packages_are_lacking(monkeypatch, capsys):
    monkeypatch.setenv("PATH", "/nowhere")
    for target, packages in (("avr", "gcc-avr avr-libc simavr"), ("cortex-m", "gcc-arm-none-eabi qemu-system-arm")):
        assert main(["check", "--target", target]) == 2
        assert f"apt install {packages}" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize("target", ["portable", "avr", "cortex-m"])
def test_emulators_give_the_twins_numbers(target, capsys):
    if absent := lacking(target):
        pytest.skip(absent)
    assert main(["check", "--target", target]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 8 * (2 if target == "cortex-m" else 1)
    for line in lines:
        assert "1000 rows on" in line and "all the twin's" in line and " 0 bytes of data" in line
        if target == "avr":
            assert int(re.search(r"(\d+) bytes of stack", line)[1]) < 512 - 256


@pytest.mark.slow
def test_flash_is_counted_as_an_atmega328p_has_it():
    if absent := lacking("avr"):
        pytest.skip(absent)
    for name, model, samples_drawn in drawn_models():
        (proof,) = prove(model, model.codes(samples_drawn[:2]), "avr")
        size = sizes(model, laid_out(model))
        assert size.flash - 180 <= proof.flash <= size.flash, name
        assert proof.stack <= size.ram, name


@pytest.mark.slow
@pytest.mark.parametrize("missing", [False, True])
def test_code_takes_no_more_flash_than_is_counted(missing):
    """Models of drawn numbers of each form, of few and of many classes, trees, columns and bits."""
    if absent := lacking("avr"):
        pytest.skip(absent)
    seen = set()
    for seed in range(120):
        rng = np.random.default_rng([seed, missing])
        d, k, n = rng.choice([2, 8, 40, 300]), rng.choice([1, 2, 3, 10, 26]), rng.choice([4, 15, 40])
        size, own = rng.choice([1e-3, 1.0, 30.0]), rng.random() < 0.5 or k == 1
        leaves, width = 2 ** rng.choice([1, 2, 3]), 1 if own else k
        values = rng.normal(size=(n, leaves, width)) * size
        if rng.random() < 0.5 and not own:
            values = np.sign(values) * rng.random((n, 1, 1)) ** 3 * size
        X = rng.normal(size=(600, d))
        columns = np.arange(d)[rng.random(d) < 0.5] if missing else np.empty(0, int)
        features = rng.integers(0, d + len(columns), (n, leaves - 1))
        edges = np.where(features < d, X[rng.integers(0, 600, features.shape), features % d], 0.5)
        if leaves == 2:
            trees = stump_trees(features.ravel(), edges.ravel(), -values[:, 0], values[:, 0])
        else:
            trees = heap_trees(features, edges, values)
        form = TreeForm("", trees, np.sort(rng.integers(0, k, n)).tolist() if own else [-1] * n, rng.normal(size=k))
        X[rng.random(X.shape) < 0.1 * np.isin(np.arange(d), columns)] = np.nan
        inputs = {"kind": "", "missing": columns, "means": np.zeros(d)} if missing else {}
        saved = Saved(None, [str(c) for c in range(max(2, k))], d + len(columns), inputs, "")
        model = quantised(saved, X, form=form, bits=tuple(rng.choice([8, 16], 2).tolist()))
        layout = laid_out(model)
        seen.add(layout.form)
        (proof,) = prove(model, model.codes(X[:2]), "avr")
        size = sizes(model, layout)
        assert proof.flash <= size.flash and proof.stack <= size.ram and not proof.different, (seed, layout.form)
    assert len(seen) == 6


@pytest.mark.slow
@pytest.mark.parametrize("target", ["avr", "cortex-m"])
def test_trained_models_on_emulators(target, tmp_path):
    if absent := lacking(target):
        pytest.skip(absent)
    X, y = samples(600)
    X[:, 4] /= 1e6
    np.save(tmp_path / "rows.npy", X)
    for clf in (
        *(STUMPS[name] for name in ("reservoir", "votes", "vote trees", "jointboost")),
        IBoostClassifier(n_window=150, budget=12),
        ShareBoostClassifier(4, reg=1e-3, bias="free"),
        kept(forests.RivalForestClassifier(n_estimators=6, random_state=0).fit(X, y)),
    ):
        path = (clf if isinstance(clf, RivalModelClassifier) else clf.fit(X, y)).save(tmp_path / "m.npz")
        model, _ = calibrated(path, str(tmp_path / "rows.npy"))
        for proof in prove(model, proof_codes(model, X), target):
            assert proof.rows == 1000 and proof.different == proof.data == 0 and (proof.stack or 0) < 256


@pytest.mark.slow
def test_models_that_did_not_fit_an_atmega328p_do(tmp_path):
    if absent := lacking("avr"):
        pytest.skip(absent)
    digits = load_digits()
    for clf, most in (
        (AdaBoostMHClassifier("few_features", n_estimators=30, random_state=0), 700),
        (FullDataClassifier("all", n_estimators=100, random_state=0), 2200),
        (FullDataClassifier("all", weak_learner="tree", depth=3, n_estimators=30, random_state=0), 9000),
    ):
        clf.fit(digits.data, digits.target)
        model = quantised(read(clf.save(tmp_path / "m.npz")), digits.data, clf.predict(digits.data))
        (proof,) = prove(model, proof_codes(model, digits.data), "avr")
        assert proof.different == 0 and proof.flash < most and proof.data == 0 and proof.stack < 256


def test_values_on_both_sides_of_the_last_threshold_have_codes_of_their_own(tmp_path):
    X = np.concatenate([np.linspace(-3.0, -1.0, 200), np.zeros(100), np.linspace(0.5, 1.0, 100)])[:, None]
    y = np.repeat([2, 0, 1], [200, 100, 100])
    trees = stump_trees(np.zeros(2, int), np.array([-0.9, 1e-35]), -np.eye(3)[:2], np.eye(3)[1:])
    form = TreeForm("two stumps", trees, [-1, -1], np.zeros(3))
    for bits in itertools.product((8, 16), repeat=2):
        model = quantised(Saved(None, list("abc"), 1, {}, ""), X, bits=bits, form=form)
        assert not model.lost and model.predict(model.codes(X)).tolist() == y.tolist()


def test_what_has_no_predictor_is_a_sentence():
    saved = Saved(None, ["a", "b"], 1, {}, "")
    alike = stump_trees(np.zeros(2, int), np.zeros(2), np.array([[-1e-9], [-1e-9]]), np.array([[1e-9], [1e-9]]))
    steady = TreeForm("stumps that vanish beside a leaf", [*alike, (0, 9.0, np.array([5.0]), np.array([5.0]))], [0] * 3,
                      np.zeros(1))  # fmt: skip
    with pytest.raises(BoostrunError, match="no split"):
        quantised(saved, np.zeros((3, 1)), form=TreeForm("", [np.array([1.0])], [0], np.zeros(1)))
    assert quantised(saved, np.zeros((3, 1)), form=steady).trees
    many = TreeForm("", stump_trees(np.zeros(1, int), np.zeros(1), -np.ones((1, 600)), np.ones((1, 600))), [-1],
                    np.zeros(600))  # fmt: skip
    with pytest.raises(BoostrunError, match="scores of 600 classes take"):
        source(quantised(Saved(None, list(map(str, range(600))), 1, {}, ""), np.zeros((3, 1)), form=many))
    nodes = 500
    chain = BranchingTrees(
        np.zeros(nodes, np.int32), np.arange(float(nodes)),
        np.column_stack([~np.arange(nodes), [*range(1, nodes), ~nodes]]).astype(np.int32), np.zeros(1, np.int32),
        np.zeros(1, np.int32), np.arange(nodes + 1.0)[:, None], np.zeros(1), np.array("softmax"),
    )  # fmt: skip
    with pytest.raises(BoostrunError, match="deeper than 400"):
        size_of(Saved(chain, ["a", "b"], 1, {}, "boostrun.BranchingTrees/1"))
