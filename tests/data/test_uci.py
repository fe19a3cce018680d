"""Pendigits, StatLog, Isolet and Letter in the published formats; and the real files, if present."""

import numpy as np
import pytest

from boostrun.data import load
from boostrun.errors import BoostrunError, DataMissingError

FILES = {  # name -> training file, test file, attributes, separator
    "pendigits": ("pendigits.tra", "pendigits.tes", 16, ", "),
    "statlog": ("sat.trn", "sat.tst", 36, " "),
    "isolet": ("isolet1+2+3+4.data", "isolet5.data", 617, ", "),
}


def rows(n, width, separator, label, first=0):
    """Lines whose attributes are first, first + 1, ..., in the format of `label`."""
    numbers = first + np.arange(n * width).reshape(n, width)
    return "".join(separator.join([*map(str, row), label.format(i % 3 + 1)]) + "\n" for i, row in enumerate(numbers))


@pytest.fixture(params=FILES)
def small(request, tmp_path):
    """Six training and three test rows of each set; its name, attributes, and the root."""
    train, test, width, separator = FILES[request.param]
    label = "{}." if request.param == "isolet" else "{}"
    (tmp_path / "uci").mkdir()
    (tmp_path / "uci" / train).write_text(rows(6, width, separator, label))
    (tmp_path / "uci" / test).write_text(rows(3, width, separator, label, first=7))
    return request.param, width, tmp_path


def test_a_table_has_its_own_split_and_the_last_column_is_the_label(small):
    name, width, root = small
    data = load({"name": name}, root)
    assert data.x_train.dtype == np.float64 and data.x_train.shape == (6, width) and data.x_test.shape == (3, width)
    np.testing.assert_array_equal(data.x_train, np.arange(6 * width).reshape(6, width))
    assert data.x_test[0, 0] == 7 and data.y_train.tolist() == [0, 1, 2, 0, 1, 2] and data.classes == ("1", "2", "3")


def test_another_split_is_random_stratified_and_of_the_same_size(small):
    name, width, root = small
    one, again, other = (load({"name": name, "split": number}, root) for number in (1, 1, 2))
    assert one.x_train.shape == (6, width) and np.bincount(one.y_test).tolist() == [1, 1, 1]
    np.testing.assert_array_equal(one.x_train, again.x_train)
    assert (one.x_train != other.x_train).any() and len({one.checksum, other.checksum}) == 2
    published = load({"name": name}, root)
    for data in (one, other):
        pooled = [np.sort(np.concatenate([d.x_train, d.x_test]), axis=0) for d in (data, published)]
        np.testing.assert_array_equal(*pooled)


def test_a_missing_file_is_named_with_its_place(small):
    name, _, root = small
    absent = root / "uci" / FILES[name][1]
    absent.unlink()
    with pytest.raises(DataMissingError) as caught:
        load({"name": name}, root)
    assert f"dataset={name} is not there ({absent.name})" in str(caught.value) and str(absent) in str(caught.value)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda text: text.replace("1", "one", 1), "text in column|no whole numbers|columns"),
        (lambda text: "1, 2, 3\n" * 4, "has 3 columns|has 1 columns|cannot be read"),
        (lambda text: "", "cannot be read"),
        (lambda text: text.rstrip().rsplit(maxsplit=1)[0] + " \n", "NaN|columns|text in column"),
    ],
)
def test_a_damaged_file_is_a_sentence(small, change, sentence):
    name, _, root = small
    path = root / "uci" / FILES[name][0]
    path.write_text(change(path.read_text()))
    with pytest.raises(BoostrunError, match=sentence):
        load({"name": name}, root)


@pytest.fixture
def letters(tmp_path):
    """26 classes in turn, 16,104 rows."""
    (tmp_path / "uci").mkdir()
    line = "{}," + ",".join(map(str, range(16))) + "\n"
    text = "".join(line.format(chr(ord("A") + i % 26)) for i in range(16104))
    (tmp_path / "uci" / "letter-recognition.data").write_text(text)
    return tmp_path


def test_letter_has_the_label_first_and_its_first_16000_rows_to_train(letters):
    data = load({"name": "letter"}, letters)
    assert data.x_train.shape == (16000, 16) and data.x_test.shape == (104, 16)
    assert data.x_train[5].tolist() == list(range(16))
    assert data.classes[0] == "A" and len(data.classes) == 26 and data.y_train[:3].tolist() == [0, 1, 2]


def test_classes_come_in_a_random_order_and_more_of_them_hold_the_fewer(letters):
    few, more, other = (
        load({"name": "letter", "classes": n, "class_order": order}, letters).classes
        for n, order in ((3, 0), (25, 0), (3, 1))
    )
    assert len(few) == 3 and set(few) < set(more) and few != other
    assert load({"name": "letter", "classes": 3}, letters).y_train.max() == 2
    with pytest.raises(BoostrunError, match=r"dataset\.classes=27: letter has from 2 to 26"):
        load({"name": "letter", "classes": 27}, letters)


def test_a_letter_file_cut_short_is_a_sentence(letters):
    path = letters / "uci" / "letter-recognition.data"
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:100]))
    with pytest.raises(BoostrunError, match="holds 100 rows"):
        load({"name": "letter"}, letters)


@pytest.mark.realdata
@pytest.mark.parametrize(
    ("name", "train", "test", "width", "classes"),
    [("pendigits", 7494, 3498, 16, 10), ("statlog", 4435, 2000, 36, 6), ("letter", 16000, 4000, 16, 26),
     ("isolet", 6238, 1559, 617, 26)],
)  # fmt: skip
def test_the_real_files_have_the_published_sizes(real_root, name, train, test, width, classes):
    try:
        data = load({"name": name}, real_root)
    except DataMissingError as missing:
        pytest.skip(str(missing))
    assert data.x_train.shape == (train, width) and data.x_test.shape == (test, width) and len(data.classes) == classes
