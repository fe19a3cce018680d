"""Tables as they come: each oddity gives the table of its plain twin, in every format and by every verb."""

import csv
import gzip
import io
import re
import shutil

import numpy as np
import pandas
import pyarrow
import pyarrow.feather
import pytest

from boostrun.cli import main
from boostrun.data import table
from boostrun.data import text as texts
from boostrun.data.columns import Form
from boostrun.data.formats import ExcelTable, source_of
from boostrun.data.table import parts_of
from boostrun.errors import BoostrunError
from boostrun.methods.preparation import RawTable

OPTIONS = {"name": "csv", "label": None, "test_fraction": 0.3, "split_seed": 3}
N = 40
KINDS = ["pos", "neg"] * (N // 2)


def read(path, **options):
    given = {**OPTIONS, **options}
    return parts_of(source_of(path.name, path, given), None, given)


def same(one, two):
    assert np.array_equal(one.x_train, two.x_train, equal_nan=True) and one.y_train.tolist() == two.y_train.tolist()
    assert np.array_equal(one.x_test, two.x_test, equal_nan=True) and one.classes == two.classes


def lines(row, head="a,b,kind", end="\n"):
    return head + end + "".join(row(i) + end for i in range(N))


PLAIN = lines(lambda i: f"{i}.5,{i % 7},{KINDS[i]}")
COLUMNS = ("a", "b")
TWINS = {
    "semicolons and decimal commas": lines(lambda i: f"{i},5;{i % 7};{KINDS[i]}", "a;b;kind"),
    "tabs": PLAIN.replace(",", "\t"),
    "tabs, a comma in a name": PLAIN.replace(",", "\t").replace("a", "a (C, mean)", 1),
    "bars": PLAIN.replace(",", "|"),
    "runs of blanks": lines(lambda i: f"  {i}.5   {i % 7}  {KINDS[i]}", "a b kind"),
    "blanks after commas": PLAIN.replace(",", ", "),
    "quotes": lines(lambda i: f'"{i}.5","{i % 7}","{KINDS[i]}"', '"a","b","kind"'),
    "blanks before quotes": lines(lambda i: f'"{i}.5", "{i % 7}", "{KINDS[i]}"', '"a", "b", "kind"'),
    "a newline in a name": PLAIN.replace("a", '"a\n(kg)"', 1),
    "CR": PLAIN.replace("\n", "\r"),
    "CRLF": PLAIN.replace("\n", "\r\n"),
    "blank lines": "\n\n" + PLAIN.replace("\n", "\n\n"),
    "sep=;": "sep=;\n" + PLAIN.replace(",", ";"),
    "a title": "A table\n\n" + PLAIN,
    "a comma at the end of each line": PLAIN.replace("\n", ",\n"),
    "a comma at the end of each row": PLAIN.replace("\n", ",\n").replace("kind,", "kind", 1),
    "rows of separators at the end": PLAIN + ",,\n , ,\n",
    "a title in a row of separators": "Report 2024,,\n" + PLAIN,
    "a remark with commas": "# made by hand, twice, in 2024\n" + PLAIN,
    "UTF-32": PLAIN.encode("utf-32"),
    "numbers from 1 as names": lines(lambda i: f"{i},{i % 7},{KINDS[i]}", "1,2,kind"),
    "units": lines(lambda i: f"{i}.5 kg,{i % 7},{KINDS[i]}"),
    "a remark before few rows": "# short\n" + PLAIN,
    "percents as names": PLAIN.replace("a,b", "10%,90%", 1),
    "BOM": "\ufeff" + PLAIN,
    "UTF-16": PLAIN.encode("utf-16"),
    "UTF-16 without a mark": PLAIN.encode("utf-16-be"),
    "years as names": PLAIN.replace("a,b", "2019,2020", 1),
    "percent": lines(lambda i: f"{i}.5%,{i % 7},{KINDS[i]}"),
    "money": lines(lambda i: f"${i}.50,{i % 7},{KINDS[i]}"),
    "commas between thousands": lines(lambda i: f'"{1000 + i:,}.5",{i % 7},{KINDS[i]}'),
    "no last values": lines(lambda i: f"{KINDS[i]},{i}.5" + (f",{i % 7}" if i % 7 else ""), "kind,a,b"),
}  # fmt: skip


@pytest.mark.parametrize("name", TWINS)
@pytest.mark.parametrize("packed", [False, True])
def test_an_odd_table_is_read_as_its_plain_twin(tmp_path, name, packed):
    content = TWINS[name] if isinstance(TWINS[name], bytes) else TWINS[name].encode()
    path = tmp_path / ("t.csv.gz" if packed else "t.csv")
    path.write_bytes(gzip.compress(content) if packed else content)
    (tmp_path / "plain.csv").write_text(PLAIN)
    found, plain = read(path, label="kind"), read(tmp_path / "plain.csv")
    if name == "commas between thousands":
        plain.x_train[:, 0] += 1000
        plain.x_test[:, 0] += 1000
    if name == "numbers from 1 as names":
        plain.x_train[:, 0] -= 0.5
        plain.x_test[:, 0] -= 0.5
    if name == "no last values":
        for x in (plain.x_train, plain.x_test):
            x[x[:, 1] == 0, 1] = np.nan
    same(found, plain)


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("seed", range(6))
def test_what_the_csv_module_writes_is_read_as_it_reads_it(tmp_path, separator, seed):
    rng = np.random.default_rng(seed)
    words = ["u", "v;w", "x,y", "two\nlines", 'say "no"', "tab\tbed", "ä|ö"]
    rows = [[f"{rng.normal():.6g}", words[rng.integers(len(words))], str(rng.integers(9)), KINDS[i]] for i in range(N)]
    with open(tmp_path / "t.csv", "w", newline="", encoding="utf-8") as stream:
        quoting = [csv.QUOTE_MINIMAL, csv.QUOTE_ALL][seed % 2]
        csv.writer(stream, delimiter=separator, quoting=quoting).writerows([["n", "w", "i", "kind"], *rows])
    found = source_of("t.csv", tmp_path / "t.csv", {})
    assert found.layout.separator == separator and found.names == ("n", "w", "i", "kind")
    whole = pyarrow.concat_tables(found.pieces())
    assert [list(row) for row in zip(*(column.to_pylist() for column in whole.columns))] == rows


NAMELESS = {
    "numbers": lines(lambda i: f"{i}.5,{i % 7},{KINDS[i]}", "7.5,0,pos"),
    "decimal commas": lines(lambda i: f"{i},5;{i % 7},0;{KINDS[i]}", "7,5;0,0;pos"),
    "text": lines(lambda i: f"{'uv'[i % 2]},{'xyz'[i % 3]},{KINDS[i]}", "u,x,pos"),
    "whole numbers": lines(lambda i: f"{i},{i % 7},{i % 2}", "7,8,1"),
}


@pytest.mark.parametrize("name", NAMELESS)
def test_a_table_without_names_loses_no_row(tmp_path, name):
    (tmp_path / "t.csv").write_text(NAMELESS[name])
    found = read(tmp_path / "t.csv")
    assert len(found.x_train) + len(found.x_test) == N + 1 and found.columns == ("0", "1")
    named = read(tmp_path / "t.csv", header=True) if name == "text" else found
    assert len(named.x_train) + len(named.x_test) in (N, N + 1)


SENTENCES = {
    "two columns called 'a'": PLAIN.replace("a,b", "a,a", 1),
    "4 values in row 8 and 3 columns": PLAIN.replace("7.5,0", "7.5,0,9", 1),
    "4 values in row 1 and 3 columns": lines(lambda i: f"{i % 3},5,{i % 7},{KINDS[i]}"),
    "repeats its line of names in row 6": PLAIN.replace("\n5.5", "\na,b,kind\n5.5"),
    "a second line of names or units, 'kg,cm,-'": PLAIN.replace("kind\n", "kind\nkg,cm,-\n", 1),
    "opens a quote in row 6 that is not closed": PLAIN.replace("\n5.5", '\n"5.5'),
    "write them as two quotes": lines(lambda i: f'"a \\"b\\" c",{i},{KINDS[i]}'),
    "is JSON, not a table": "".join(f'{{"a": {i}}}\n' for i in range(N)),
    "is of svmlight's format": "".join(f"{i % 2} 1:{i}.5 2:7\n" for i in range(N)),
    "is packed by gzip, not a table": gzip.compress(PLAIN.encode()),
    "no features; dataset.sep says": PLAIN.replace(",", "~"),
    "a: numbers before 'kg'": TWINS["units"],
    "there are no features": "kind\npos\nneg\n",
    "is empty": "\n\n",
    "holds no rows": "a,b,kind\n",
    "dataset.drop=.a. leaves it out": lines(lambda i: f"word {i},{i},{KINDS[i]}"),
    "has another value in each row; dataset.drop=.id.": lines(lambda i: f"{i},{i % 7},{KINDS[i]}", "id,b,kind"),
    "repeats the label; dataset.drop=.b.": lines(lambda i: f"{i},{KINDS[i]},{KINDS[i]}"),
    "a class 'None'; dataset.na=.None.": lines(lambda i: f"{i},{i % 7},{['None', 'mild'][i % 2]}"),
    "20 rows without a label .column 'kind'., the first is row 1": lines(lambda i: f"{i},1,{['', 'mild'][i % 2]}"),
    "read with a: decimal commas": TWINS["semicolons and decimal commas"],
    "it is read as latin-1": lines(lambda i: f"{'éàè'[i % 3]},{i},{KINDS[i]}").encode("latin-1"),
    "it is left out": TWINS["a title"],
    "the first one is 'Unnamed: 0'": lines(lambda i: f"{i},{i},{i % 7},{KINDS[i]}"),
}


@pytest.mark.parametrize("sentence", SENTENCES)
def test_what_is_odd_is_named(tmp_path, capsys, monkeypatch, sentence):
    monkeypatch.setattr("boostrun.data.files._SAID", set())
    content = SENTENCES[sentence]
    (tmp_path / "t.csv").write_bytes(content if isinstance(content, bytes) else content.encode())
    try:
        read(tmp_path / "t.csv")
        said = capsys.readouterr().err
    except BoostrunError as error:
        said = str(error)
    assert re.search(sentence, said) and said.count("\n") <= 2, said


def test_labels_are_kept_as_they_are_written(tmp_path):
    for words, classes in (
        (["01", "1"], ("01", "1")), (["1e5", "100000"], ("100000", "1e5")), (["TRUE", "FALSE"], ("FALSE", "TRUE")),
        (["None", "mild"], ("None", "mild")), (["+1", "-1"], ("+1", "-1")), (["10", "9"], None),
    ):  # fmt: skip
        (tmp_path / "t.csv").write_text(lines(lambda i, words=words: f"{i},1,{words[i % 2]}"))
        found = read(tmp_path / "t.csv")
        assert found.classes == classes and (classes or sorted(set(found.y_train.tolist())) == [9, 10])


@pytest.mark.parametrize("label", [None, "n", "word"])
def test_pieces_of_any_size_give_the_same_table(tmp_path, monkeypatch, label):
    rng = np.random.default_rng(0)
    rows = 6000
    frame = pandas.DataFrame({
        "x": rng.normal(size=rows), "n": rng.integers(0, 4, rows), "late": [*["5"] * (rows - 3), "?", "7", "8"],
        "word": rng.choice(["u", "v", "ö", 'q"q'], rows), "day": pandas.Timestamp("2024-01-01"),
        "y": rng.choice(["a", "b"], rows),
    })  # fmt: skip
    frame["day"] += pandas.to_timedelta(rng.integers(0, 99, rows), unit="h")
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_parquet(tmp_path / "t.parquet", row_group_size=500)
    options = {"label": label, "na": ["", "?"]}
    whole = read(tmp_path / "t.csv", **options)
    monkeypatch.setattr(texts, "_MOST_TEXT", 1 << 16)
    monkeypatch.setattr(texts, "_HEAD", 1 << 12)
    monkeypatch.setattr("boostrun.data.parquet._MOST_BYTES", 4096)
    same(read(tmp_path / "t.csv", **options), whole)
    same(read(tmp_path / "t.parquet", **options), whole)
    append = table._Blocks.append

    def spilled(self, block):
        self._room = 0  # in a file, not in memory
        append(self, block)

    monkeypatch.setattr(table._Blocks, "append", spilled)
    same(read(tmp_path / "t.csv", **options), whole)


# -- every type in every format by every verb


def frame(rows, seed):
    rng = np.random.default_rng(seed)
    size = rng.normal(size=rows).round(3)
    return pandas.DataFrame({
        "size": np.where(rng.random(rows) < 0.1, np.nan, size), "count": rng.integers(0, 9, rows),
        "old": rng.random(rows) < 0.5, "colour": rng.choice(["red", "blue", "green, dark"], rows),
        "day": pandas.Timestamp("2024-01-01") + pandas.to_timedelta(rng.integers(0, 200, rows), unit="h"),
        "kind": np.where(size + rng.normal(size=rows) / 4 > 0, "yes", "no"),
    })  # fmt: skip


def as_arff(rows, path):
    cells = rows.astype(object).astype({"old": str, "day": str}).fillna("?")
    head = ["size numeric", "count integer", "old {True,False}", "colour string", "day date", "kind {yes,no}"]
    lines = [",".join(f"'{cell}'" if isinstance(cell, str) and cell != "?" else str(cell) for cell in row)
            for row in cells.itertuples(index=False)]  # fmt: skip
    path.write_text("@relation r\n" + "".join(f"@attribute {each}\n" for each in head) + "@data\n" + "\n".join(lines))


WRITERS = {
    "csv": lambda rows, path: rows.to_csv(path, index=False),
    "tsv": lambda rows, path: rows.to_csv(path, index=False, sep="\t"),
    "csv.gz": lambda rows, path: rows.to_csv(path, index=False),
    "txt": lambda rows, path: rows.to_csv(path, index=False, sep=";", decimal=","),
    "parquet": lambda rows, path: rows.to_parquet(path),
    "arrow": lambda rows, path: pyarrow.feather.write_feather(pyarrow.Table.from_pandas(rows), path),
    "arff": as_arff,
    "xlsx": lambda rows, path: rows.to_excel(path, index=False),
}


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """The same training and new table in every format, and the predictions of a model of the csv."""
    folder = tmp_path_factory.mktemp("tables")
    for ending, write in WRITERS.items():
        try:
            write(frame(160, 0), folder / f"train.{ending}")
            write(frame(50, 1), folder / f"new.{ending}")
        except ImportError:  # Excel's writer
            continue
    return folder


@pytest.mark.parametrize("names", [["a", "a ", "b", "k"], ["a", "b", "a", "k"]])
def test_two_columns_of_excel_that_are_called_alike_are_a_sentence(tmp_path, names):
    pytest.importorskip("openpyxl")
    rows = pandas.DataFrame([names, *([x, 2 * x, 1, x % 2] for x in range(20))])
    rows.to_excel(tmp_path / "alike.xlsx", index=False, header=False)
    with pytest.raises(BoostrunError, match="two columns called 'a'"):
        ExcelTable(tmp_path / "alike.xlsx")


def test_words_for_missing_values_are_those_of_csv_in_excel(tmp_path):
    """A label None or NA is a label, a feature NA is missing, also in a column of numbers."""
    pytest.importorskip("openpyxl")
    rows = pandas.DataFrame({
        "a": [i + 0.5 if i % 5 else "NA" for i in range(N)],
        "b": ["x" if i % 3 else [None, "NA"][i % 2] for i in range(N)],
        "k": ["None" if i % 2 else "NA" for i in range(N)],
    })  # fmt: skip
    for ending in ("csv", "xlsx"):
        WRITERS[ending](rows, tmp_path / f"t.{ending}")
    same(read(tmp_path / "t.xlsx"), read(tmp_path / "t.csv"))
    assert read(tmp_path / "t.xlsx").classes == ("NA", "None")


def kept(folder, name, capsys):
    words = f"export algo=laminating T=20 dataset={folder / name} --to npz -o {folder / 'm.npz'} n_jobs=1".split()
    places = [f"{key}={folder / key}" for key in ("store", "results", "cache_root")]
    assert main([*words, *places]) == 0, capsys.readouterr().err
    capsys.readouterr()


def answers(folder, name, capsys, model="m.npz"):
    assert main(["predict", str(folder / model), str(folder / name)]) == 0, capsys.readouterr().err
    return pandas.read_csv(io.StringIO(capsys.readouterr().out))["prediction"].tolist()


@pytest.mark.parametrize("ending", WRITERS)
def test_each_format_gives_the_same_table_model_and_predictions(tables, capsys, ending):
    if not (tables / f"train.{ending}").exists():
        pytest.skip("openpyxl is not installed")
    same(read(tables / f"train.{ending}"), read(tables / "train.csv"))
    kept(tables, f"train.{ending}", capsys)
    expected = answers(tables, f"new.{ending}", capsys)
    for other in ("csv", "parquet", "arff"):
        assert answers(tables, f"new.{other}", capsys) == expected and len(set(expected)) == 2


@pytest.mark.parametrize("ending", ["csv", "txt", "parquet", "arff"])
def test_a_row_is_predicted_as_its_file_and_as_the_file_shuffled(tables, tmp_path, capsys, ending):
    shutil.copy(tables / f"train.{ending}", tmp_path)
    kept(tmp_path, f"train.{ending}", capsys)
    new = frame(12, 2)
    WRITERS[ending](new, tmp_path / f"all.{ending}")
    expected = answers(tmp_path, f"all.{ending}", capsys)
    order = np.random.default_rng(0).permutation(len(new))
    WRITERS[ending](new.iloc[order].reset_index(drop=True), tmp_path / f"shuffled.{ending}")
    assert answers(tmp_path, f"shuffled.{ending}", capsys) == [expected[row] for row in order]
    for row in range(len(new)):
        WRITERS[ending](new.iloc[row : row + 1], tmp_path / f"one.{ending}")
        assert answers(tmp_path, f"one.{ending}", capsys) == [expected[row]]


def test_keys_say_what_columns_and_words_are(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    row = lambda i: f"{i % 5},{'?' if i == 3 else i},{i % 12 + 1}/1/2024,{KINDS[i]}"  # noqa: E731
    (tmp_path / "t.csv").write_text(lines(row, "code,n,day,kind"))
    base = ["algo=laminating", "T=3", "n_jobs=1", "dataset=t.csv", "store=s", "results=r", "cache_root=c"]
    for words, sentence in (
        ([], "dataset.na"), (["dataset.na=[?]"], "day or month first"),
        (["dataset.na=[?]", "dataset.types={day: date}"], "day or month first"),
        (["dataset.na=[?]", "dataset.types={dya: date_dmy}"], "no column 'dya'"),
        (["dataset.drop=[kind]"], "which is the label"), (["dataset.decimal=dot"], "point, comma"),
        (["dataset.encoding=klingon"], "is no encoding"), (["dataset.encoding=base64"], "is no encoding"),
        (["dataset.sep=;;"], "';;' is no separator"),
        (["dataset.drop=[code, n, day]"], "and no other: there are no features"),
        (["dataset.types={day: when}"], "date_dmy"),
    ):  # fmt: skip
        assert main([*base, *words]) == 2
        err = capsys.readouterr().err.splitlines()[-1]
        assert err.startswith("boostrun: ") and sentence in err
    for words in ("dataset.types={day: date_dmy, code: category}", "dataset.drop=[day]"):
        assert main([*base, "dataset.na=[?]", words, "trials=1", "run.pictures=false"]) == 0
    words = [*base, "dataset.na=[?]", "dataset.types={day: drop, code: category}"]
    capsys.readouterr()
    assert main(["export", *words, "--to", "npz", "-o", "m.npz"]) == 0
    capsys.readouterr()
    assert answers(tmp_path, "t.csv", capsys)


def test_a_number_among_the_words_for_a_missing_value_is_missing_in_every_format(tmp_path):
    rows = pandas.DataFrame({"x": [-999, 1.5] * 20, "kind": KINDS})
    for ending in ("csv", "parquet", "arrow"):
        WRITERS[ending](rows, tmp_path / f"t.{ending}")
        found = read(tmp_path / f"t.{ending}", na=["-999"])
        assert np.isnan(found.x_train).sum() + np.isnan(found.x_test).sum() == 20


def test_a_label_that_is_nan_is_missing_and_a_list_is_no_label(tmp_path):
    pandas.DataFrame({"x": range(4), "y": [0.0, 1.0, np.nan, 1.0]}).to_parquet(tmp_path / "t.parquet")
    with pytest.raises(BoostrunError, match="1 rows without a label"):
        read(tmp_path / "t.parquet")
    pandas.DataFrame({"x": range(4), "y": [[1]] * 4}).to_parquet(tmp_path / "t.parquet")
    with pytest.raises(BoostrunError, match=r"'y' .*, the label, holds values of the type list"):
        read(tmp_path / "t.parquet")


def test_an_arff_of_latin_1_is_read_and_its_numbers_have_no_underscores(tmp_path, capsys):
    head = "@relation r\n@attribute größe numeric\n@attribute kind {a,b}\n@data\n"
    (tmp_path / "t.arff").write_bytes((head + "1,a\n2,b\n" * 5).encode("latin-1"))
    assert read(tmp_path / "t.arff").columns == ("größe",) and "latin-1" in capsys.readouterr().err
    (tmp_path / "t.arff").write_text(head + "1_0,a\n2,b\n" * 5)
    with pytest.raises(BoostrunError, match="'1_0' in row 0 of 'größe', which is a number"):
        read(tmp_path / "t.arff")


def test_a_test_part_may_have_another_format_and_another_order_of_columns(tmp_path):
    rows = frame(40, 0)
    rows.to_csv(tmp_path / "t.csv", index=False)
    rows[rows.columns[::-1]].to_parquet(tmp_path / "u.parquet")
    options = {**OPTIONS, "label": "kind"}
    found = parts_of(*(source_of(name, tmp_path / name, options) for name in ("t.csv", "u.parquet")), options)
    assert np.array_equal(found.x_train, found.x_test, equal_nan=True)
    assert found.y_train.tolist() == found.y_test.tolist()


def test_a_date_of_a_new_row_may_be_written_in_another_plain_form():
    table = RawTable(("day",), forms={"day": Form("date", "2024-01-31")})
    for word in ("2024-03-05", "05.03.2024", "5 March 2024", "Mar 5, 2024"):
        assert table.numbers(pyarrow.table({"day": [word]}), "new.csv").tolist() == [[1709596800.0]]
    with pytest.raises(BoostrunError, match="where the model takes a date such as 2024-01-31"):
        table.numbers(pyarrow.table({"day": ["5/3/2024"]}), "new.csv")


LATE = {  # a value in one late row of a table of 900 -> the message
    "zone": ("2024-01-01 10:00", "2024-01-01 10:00+02:00",
             "'2024-01-01 10:00.02:00' in row 801 of .* and '2024-01-01 10:00' in row 1 of .*types={x: date}"),
    "no zone": ("2024-01-01T10:00Z", "2024-01-01 10:00", "'2024-01-01 10:00' in row 801 of .*types={x: date}"),
    "order": ("2024-01-31", "31/12/2024", "two ways, 2024-01-31 in row 1 and 31/12/2024 in row 801"),
    "no day": ("2024-02-01", "2024-02-30", "'2024-02-30' in row 801, which is no date"),
    "text": ("7", "abc", "first abc in row 801"),
    "mark": ("7", "\u200b8", [7.0, 8.0]), "comma": ("7", "7,5", [7.0, 7.5]),
    "clock": ("2024-01-01", "2024-01-01 0:01", 60),
}  # fmt: skip


@pytest.mark.parametrize("name", LATE)
def test_a_late_row_is_read_as_it_would_be_in_the_first_rows(name, tmp_path):
    usual, late, expected = LATE[name]
    (tmp_path / "t.csv").write_text(
        "x;n;y\n" + "".join(f"{late if row == 800 else usual};{row % 7};{'ab'[row % 2]}\n" for row in range(900))
    )
    if isinstance(expected, str):
        with pytest.raises(BoostrunError, match=expected):
            read(tmp_path / "t.csv")
        return
    found = read(tmp_path / "t.csv")
    values = np.unique(np.concatenate([found.x_train[:, 0], found.x_test[:, 0]]))
    assert np.diff(values) == expected if isinstance(expected, int) else values.tolist() == expected


def test_a_zone_in_the_test_file_alone_is_a_sentence(tmp_path):
    for name, zone in {"train.csv": "", "test.csv": "Z"}.items():
        rows = (f"2024-01-{day} 10:00{zone},{day},{'ab'[day % 2]}\n" for day in range(11, 31))
        (tmp_path / name).write_text("x,n,y\n" + "".join(rows))
    with pytest.raises(BoostrunError, match=r"row 1 of test\.csv and .* row 1 of train\.csv, with and without"):
        parts_of(*(source_of(name, tmp_path / name, OPTIONS) for name in ("train.csv", "test.csv")), OPTIONS)


def test_what_is_read_but_may_not_be_meant_is_a_line(tmp_path, capsys):
    rows = "".join(f"{2**60 + row};{['Yes', 'yes', 'no'][row % 3]}\n" for row in range(60))
    (tmp_path / "t.csv").write_text("n;y\n" + rows)
    read(tmp_path / "t.csv")
    said = capsys.readouterr().err
    assert "whole numbers beyond 2^53" in said and "the classes 'Yes' and 'yes': two, as written" in said
    (tmp_path / "t.csv").write_text("a,b,y\n" + "1,'x, 2',0\n3,'y, 4',1\n" * 9)
    with pytest.raises(BoostrunError, match=r"quotes cells by ', as in 'x,"):
        read(tmp_path / "t.csv")
    wide = pandas.DataFrame(np.zeros((4100, 520))).rename(columns="c{}".format).assign(y=np.arange(4100) % 2)
    wide.to_parquet(tmp_path / "w.parquet")
    parts_of(source_of("w", tmp_path / "w.parquet", {}, 16), None, OPTIONS, 16, tmp_path)
    assert "520 columns, and checking and binning them takes about 34 MiB, more than run.mem" in capsys.readouterr().err


@pytest.mark.parametrize(("form", "there", "day"), [
    ("dd.MM.yyyy", "03.04.2005", "2005-04-03"), ("MM/dd/yyyy", "03/04/2005", "2005-03-04"),
    ("yyyy-MM-dd'T'HH:mm:ss", "2005-04-03T00:00:00", "2005-04-03"), ("yy.MM.dd", "05.04.03", None),
    ("yyyyMMdd", "20050403", None),
])  # fmt: skip
def test_dates_and_nominal_numbers_of_an_arff_are_what_its_head_says(tmp_path, form, there, day):
    head = f'@relation r\n@attribute code {{01,1,2}}\n@attribute day date "{form}"\n@attribute kind {{a,b}}\n@data\n'
    (tmp_path / "t.arff").write_text(head + f"01,{there},a\n1,{there},b\n2,{there},a\n" * 5)
    if day is None:
        with pytest.raises(BoostrunError, match=f"dates as '{form}' in 'day' are not read; write them as yyyy-MM-dd"):
            read(tmp_path / "t.arff")
        return
    found = read(tmp_path / "t.arff")
    assert sorted({*found.x_train[:, 0]}) == [0, 1, 2]
    assert {*found.x_train[:, 1]} == {pandas.Timestamp(day).timestamp()}
