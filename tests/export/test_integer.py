"""Predictors of whole numbers: the C is the twin's, row by row, and loses as few labels as it says."""

import itertools

import numpy as np
import pytest

from boostrun import BoostrunError, ShareBoostClassifier
from boostrun.cli import main
from boostrun.export import read
from boostrun.export.chip import laid_out, size_of, sizes, source
from boostrun.export.integer import pruned, quantised, values_of
from boostrun.export.proof import lacking, prove
from tests.export.test_classifiers import STUMPS, samples

SANITIZED = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]


@pytest.fixture(autouse=True)
def _compiler(request):
    if "target" not in request.fixturenames and (absent := lacking("portable")):
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
    (proof,) = prove(model, X_new, "portable", SANITIZED)
    assert proof.rows == 1000 and proof.different == 0
    assert model.lost == (model.predict(model.codes(X)) != labels).sum() == 0
    assert (model.predict(model.codes(X_new)) != new_labels).mean() < 0.01


@pytest.mark.parametrize("bits", [*itertools.product((8, 16), repeat=2)])
def test_more_bits_are_as_good_and_every_table_is_counted(bits, tmp_path):
    saved, X, labels, X_new, new_labels = fitted("trees", 4, tmp_path)
    model = quantised(saved, X, labels, bits=bits)
    assert prove(model, X_new, "portable")[0].different == 0
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

    X = rng.integers(-2, 5, (200, 2)).astype(float)
    for _ in range(50):
        tree = grown(4)
        np.testing.assert_array_equal(
            np.broadcast_to(values_of(pruned(tree), lambda f: X[:, f]), (200, 1)), values_of(tree, lambda f: X[:, f])
        )


def test_a_linear_model_without_rows_and_bad_words_are_sentences(tmp_path, capsys):
    X, y = samples(200)
    path = ShareBoostClassifier(3, reg=1e-3).fit(X, y).save(tmp_path / "m.npz")
    with pytest.raises(BoostrunError, match="give rows too"):
        quantised(read(path))
    for words, sentence in (
        (["--target", "arm"], "one of portable, avr, cortex-m is needed"),
        (["--integer", "--to", "onnx"], "--integer writes C"),
        ([str(tmp_path / "rows.npz")], "rows beside a model are for --integer"),
        (["--integer"], "give rows too"),
    ):
        output = tmp_path / "out.c"
        assert main(["export", str(path), *words, "-o", str(output)]) == 2
        assert sentence in capsys.readouterr().err and not output.exists()
