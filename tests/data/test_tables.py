"""csv and parquet."""

import gzip

import numpy as np
import pandas
import pytest

from boostrun.data import load
from boostrun.errors import BoostrunError


@pytest.fixture
def csv(tmp_path):
    def from_text(text, test=None, **config):
        (tmp_path / "t.csv").write_bytes(text if isinstance(text, bytes) else text.encode())
        if test is not None:
            (tmp_path / "u.csv").write_text(test)
            config["test_path"] = str(tmp_path / "u.csv")
        return load({"name": "csv", "path": str(tmp_path / "t.csv"), **config}, tmp_path)

    return from_text


ROWS = "1,2,x\n3,4,y\n" * 5


def test_the_last_column_is_the_label_unless_another_is_named_and_test_samples_may_have_a_file(csv):
    assert csv("a,b,c\n" + ROWS).classes == ("x", "y")
    assert csv("a,b,c\n" + ROWS, label="a").classes == ("1", "3")
    data = csv("a,b\n" + "1,0\n2,1\n" * 4, test="a,b\n5,1\n")
    assert len(data.x_train) == 8 and data.x_test.tolist() == [[5]]


@pytest.mark.parametrize("head", ["", "a,b,c\n", "\ufeffa,b,c\n"])
@pytest.mark.parametrize("separator", [",", ";", "\t", "  "])
def test_names_and_separators_are_found_out(csv, head, separator):
    data = csv((head + ROWS).replace(",", separator))
    assert len(data.x_train) + len(data.x_test) == 10
    assert {tuple(row) for row in data.x_train} == {(1, 2), (3, 4)}


def test_text_becomes_ordinals_of_the_training_part_and_booleans_numbers(csv):
    data = csv("a,b\nlow,0\nmid,1\nhigh,0\n", test="a,b\nmid,1\nnew,0\n")
    assert data.x_train[:, 0].tolist() == [1, 2, 0] and data.x_test[:, 0].tolist() == [2, -1]
    assert set(csv("a,b\n" + "True,0\nFalse,1\n" * 4).x_train[:, 0]) == {0, 1}


@pytest.mark.parametrize(
    ("text", "config", "sentence"),
    [
        ("", {}, "is empty"),
        ("\n\n", {}, "is empty"),
        ("a,b,c\n", {}, "holds no rows"),
        ("a,b,c\n" + ROWS, {"label": "A"}, "no column 'A'.*did you mean 'a'"),
        ("a,b,c\n" + ROWS + "1,,x\n", {"missing": "error"}, "row 11 has no value in column 'b'"),
        ("a,b,c\n" + ROWS + "1,inf,x\n", {}, "column 'b'"),
        ("a,b,c\n" + ROWS + "1,2,\n", {}, "1 rows without a label"),
        ("a,b,c\n" + ROWS + ",2,x\n", {"label": "c", "missing": "error"}, "row 11 .* column 'a'"),
        ("a,b\n" + "u,0\n,1\nu,0\nu,1\n" * 3, {"missing": "error"}, "row 2 has no value in column 'a'"),
        ("a,b,c\n" + ROWS + "1,2,3,4,5\n", {}, "5 values in row 11 and 3 columns"),
        ("a,b\n" + "1,2,3,x\n4,5,6,y\n" * 3, {}, "4 values in row 1 and 2 columns"),
        ("c\nx\ny\n", {}, "there are no features"),
        ("a,b\n" + "1,0.5\n2,1.5\n" * 3, {}, "no whole numbers"),
        ("a,b\n" + "1,0\n" * 5, {}, "same label"),
        ("a,b\n" + "1,0\n2,1\n" * 3 + "?,0\n", {}, "column 'a' .* 1 other values, first [?] in row 7: dataset.na"),
        (b"a,b\n\xff\xfe\xfa,1\n", {}, "no sample"),
        (b"\x00\x01\x02" * 100, {}, "t.csv"),
        ('a,b\n"1,0\n2,1\n', {}, "t.csv"),
    ],
)
def test_a_bad_table_is_a_sentence(csv, text, config, sentence):
    with pytest.raises(BoostrunError, match=sentence):
        csv(text, **config)


@pytest.mark.parametrize(
    ("text", "test", "sentence"),
    [
        ("a,b,c\n" + ROWS, "a,c\n1,x\n", "it lacks 'b'"),
        ("a,b\n1,0\n2,1\n", "a,b\nu,1\n", "column 'a' .* 'u' in row 1, which is no number"),
        (f"a,b\n2,0\n{2**64},1\n", "a,b\nu,1\n3,0\n", "column 'a' .* 'u' in row 1, which is no number"),
        ("a,b\n2,0\n3,1\n" + f"{10**400},1\n" * 2, None, "beyond float32"),
        (f"a,b\n1,{2**64 - 1}\n2,5\n", f"a,b\n1,{2**64 - 2}\n",
         r"labels that no training sample has .first: 18446744073709551614"),
        ("a,b\n" + "".join(f"1,{2**64 - i}\n" for i in range(1, 300)), None, "no classification task"),
    ],
)  # fmt: skip
def test_parts_that_do_not_fit_and_numbers_beyond_64_bits_are_a_sentence(csv, text, test, sentence):
    with pytest.raises(BoostrunError, match=sentence):
        csv(text, test)


def test_a_gzip_that_is_none_is_a_sentence(tmp_path):
    (tmp_path / "t.csv.gz").write_text(ROWS)
    with pytest.raises(BoostrunError, match="cannot be read"):
        load({"name": "csv", "path": str(tmp_path / "t.csv.gz")}, tmp_path)


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        pytest.param(b"0" * 2**20, "a row of more than 1 MiB of text.*run.memory_mb=64;", marks=pytest.mark.slow),
        pytest.param(b"1," * 2**19, "a row of more than 1 MiB of text", marks=pytest.mark.slow),
        (b"1,2\n" * 2**18, "rows, and splitting them.*run.memory_mb=64; raise that"),
    ],
)
def test_a_gzip_that_unpacks_to_more_than_memory_mb_is_a_sentence(tmp_path, line, sentence):
    path = tmp_path / "t.csv.gz"
    with gzip.open(path, "wb", compresslevel=1) as stream:
        for _ in range(20):
            stream.write(line)
    with pytest.raises(BoostrunError, match=sentence):
        load({"name": "csv", "path": str(path)}, tmp_path, 64)


def test_a_gzip_within_memory_mb_is_read(csv, tmp_path):
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(("\ufeffa,b,c\n" + ROWS * 100).encode()))
    packed = load({"name": "csv", "path": str(tmp_path / "t.csv.gz")}, tmp_path, 1)
    np.testing.assert_array_equal(packed.x_train, csv("a,b,c\n" + ROWS * 100).x_train)


def test_parquet_holds_the_same_as_csv(tmp_path):
    frame = pandas.DataFrame(
        {
            "n": np.arange(20.0),
            "kind": pandas.Categorical(["u", "v"] * 10),
            "flag": [True, False] * 10,
            "y": [0, 1] * 10,
        }
    )
    frame.to_parquet(tmp_path / "t.parquet")
    frame.to_csv(tmp_path / "t.csv", index=False)
    one, two = (load({"name": kind, "path": str(tmp_path / f"t.{kind}")}, tmp_path) for kind in ("parquet", "csv"))
    np.testing.assert_array_equal(one.x_train, two.x_train)
    np.testing.assert_array_equal(one.y_test, two.y_test)


def test_missing_values_of_nullable_columns_are_data_or_a_sentence(tmp_path):
    frame = pandas.DataFrame({"n": pandas.array([1, None] * 5, dtype="Int64"), "y": [0, 1] * 5})
    frame.to_parquet(tmp_path / "t.parquet")
    config = {"name": "parquet", "path": str(tmp_path / "t.parquet"), "missing": "data"}
    data = load(config, tmp_path)
    assert data.missing.tolist() == [0] and np.isnan(data.x_train).sum() + np.isnan(data.x_test).sum() == 5
    with pytest.raises(BoostrunError, match="row 2 has no value in column 'n'"):
        load({**config, "missing": "error"}, tmp_path)


def test_missing_bools_and_columns_without_any_value_are_read(tmp_path):
    lines = ["flag,none,kind", "True,,a", ",,b", "FALSE,,a", "true,,b"]
    (tmp_path / "t.csv").write_text("\n".join([lines[0], *lines[1:] * 5]))
    data = load({"name": "csv", "path": str(tmp_path / "t.csv")}, tmp_path)
    assert data.missing.tolist() == [0, 1] and np.isnan(data.x_train[:, 1]).all()
    assert sorted(set(data.x_train[~np.isnan(data.x_train[:, 0]), 0])) == [0, 1]


def test_a_damaged_parquet_file_is_a_sentence(tmp_path):
    (tmp_path / "t.parquet").write_bytes(b"PAR1 nothing PAR1")
    with pytest.raises(BoostrunError, match=r"t\.parquet cannot be read"):
        load({"name": "parquet", "path": str(tmp_path / "t.parquet")}, tmp_path)


@pytest.mark.parametrize("big", [2**64, 10**30, -(10**25)])
def test_a_number_beyond_64_bits_leaves_its_column_numbers(csv, big):
    data = csv("a,b\n" + "2,0\n12,1\n3,0\n" + f"{big},1\n", test=f"a,b\n7,1\n12,0\n{big},0\n")
    assert data.x_train[:, 0].tolist() == [2, 12, 3, float(big)] and data.x_test[:, 0].tolist() == [7, 12, float(big)]
    assert csv("a,b\n2,0\n12,1\n", test=f"a,b\n{big},1\n3,0\n").x_test[:, 0].tolist() == [float(big), 3]


def test_unsigned_labels_keep_their_names(csv, tmp_path):
    wide = [2**64 - 1, 2**64 - 2, 5]
    rows = "".join(f"{i},{y}\n" for i, y in enumerate(wide * 4))
    split, given = csv("a,b\n" + rows), csv("a,b\n" + rows, test="a,b\n1,5\n2,18446744073709551615\n")
    assert split.classes == given.classes == ("5", "18446744073709551614", "18446744073709551615")
    assert given.y_train[:3].tolist() == [2, 1, 0] and given.y_test.tolist() == [0, 2]
    labels = np.array(wide * 4, np.uint64)
    np.savez(tmp_path / "w.npz", x_train=np.eye(12), y_train=labels, x_test=np.eye(12), y_test=labels[:, None])
    data = load({"name": "npz", "path": str(tmp_path / "w.npz")}, tmp_path)
    assert data.classes == given.classes and (data.y_test == data.y_train).all()


def test_a_test_table_is_read_as_the_training_table_is(csv, tmp_path):
    train = "code,y\n" + "250,a\nV57,b\n401,b\nE85,a\n" * 3
    data = csv(train, test="code,y\n401,b\n250,a\n401,b\n", types={"code": "category"})
    assert data.x_test[:, 0].tolist() == [data.x_train[row, 0] for row in (2, 0, 2)]
    for name, codes in (("a", ["A", "B", "7", "A"]), ("b", [7, 7, 7, 7])):
        pandas.DataFrame({"code": codes, "y": list("xyxy")}).to_parquet(tmp_path / f"{name}.parquet")
    paths = {"path": str(tmp_path / "a.parquet"), "test_path": str(tmp_path / "b.parquet")}
    assert load({"name": "parquet", **paths}, tmp_path).x_test[:, 0].tolist() == [0.0] * 4  # the rank of "7"
    days = "".join(f"{day}/01/2024,{'ab'[day % 2]}\n" for day in range(10, 30))
    months = csv("day,y\n" + days, test="day,y\n01/10/2024,a\n02/11/2024,b\n")
    assert (np.diff(months.x_test[:, 0]) / 86400 == 32).all()  # the first of October, the second of November
    with pytest.raises(BoostrunError, match="day"):
        csv("day,y\n" + "".join(f"{n},{'ab'[n % 2]}\n" for n in range(20)), test="day,y\n2024-01-10,a\n")
    moments = pandas.DataFrame({"t": pandas.to_datetime(["2024-01-01"] * 4), "y": list("xyxy")})
    moments.to_parquet(tmp_path / "a.parquet")
    moments.assign(t=[1, 2, 3, 4]).to_parquet(tmp_path / "b.parquet")
    with pytest.raises(BoostrunError, match=r"column 't' is a date in .* and a number in"):
        load({"name": "parquet", **paths}, tmp_path)


def test_whole_numbers_of_a_typed_table_are_dates_where_that_is_said(tmp_path):
    pandas.DataFrame({"day": [20240131, 20240201] * 4, "y": list("xy") * 4}).to_parquet(tmp_path / "d.parquet")
    data = load({"name": "parquet", "path": str(tmp_path / "d.parquet"), "types": {"day": "date"}}, tmp_path)
    assert set(data.x_train[:, 0]) == {1706659200.0, 1706745600.0}


def test_a_sheet_without_names_keeps_its_first_row(tmp_path):
    pytest.importorskip("openpyxl")
    frame = pandas.DataFrame([[n, n % 2] for n in range(10)])
    frame.to_excel(tmp_path / "e.xlsx", header=False, index=False)
    data = load({"name": "table", "path": str(tmp_path / "e.xlsx"), "header": False}, tmp_path)
    assert len(data.x_train) + len(data.x_test) == 10
