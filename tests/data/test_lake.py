"""Folders, patterns and addresses of Parquet, Arrow and csv as one streamed set."""

import gzip
import os
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config

from boostrun.cli import main
from boostrun.config import defaults
from boostrun.data import lake, stream_set
from boostrun.errors import BoostrunError
from boostrun.evaluation.measures import spawn
from boostrun.evaluation.staged import Staged
from boostrun.inputs.bank import Chunks
from boostrun.methods.weak_learner import Binner
from boostrun.papers.reservoir.classifier import ReservoirClassifier
from boostrun.papers.reservoir.variants import SplitReservoirClassifier

pa = pytest.importorskip("pyarrow")
from pyarrow import csv, parquet  # noqa: E402


def rows(n, seed):
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 50, (n, 3))
    kind = np.where(x[:, 0] > 24, "big", "small")
    return pa.table({"a": x[:, 0], "b": x[:, 1].astype(np.float32), "c": x[:, 2] > 20, "kind": kind})


def write(folder, kind, n=3, label=True):
    folder.mkdir(parents=True, exist_ok=True)
    for seed in range(n):
        table = rows(100, seed) if label else rows(100, seed).drop_columns(["kind"])
        if kind == "parquet":
            parquet.write_table(table, folder / f"part-{seed}.parquet", row_group_size=40)
        elif kind == "arrow":
            with pa.ipc.new_file(folder / f"part-{seed}.arrow", table.schema) as file:
                file.write_table(table, max_chunksize=40)
        elif kind == "csv":
            csv.write_csv(table, folder / f"part-{seed}.csv")
        else:
            csv.write_csv(table, folder / "one.csv")
            (folder / f"part-{seed}.csv.gz").write_bytes(gzip.compress((folder / "one.csv").read_bytes()))
            (folder / "one.csv").unlink()
    (folder / "_SUCCESS").write_text("")
    return folder


def opened(path, root, **more):
    given = {**defaults("dataset", "stream"), "name": "stream", "path": str(path), "label": "kind", **more}
    return stream_set.open_set(given, root)


def all_of(part):
    values, labels = zip(*part.reader().in_order(64))
    return np.concatenate(values), np.concatenate(labels)


@pytest.mark.parametrize("kind", ["parquet", "arrow", "csv", "gz"])
def test_every_row_is_read_once_in_each_pass_whatever_the_kind_of_files(tmp_path, kind):
    found = opened(write(tmp_path / "rows", kind), tmp_path, test_path=str(write(tmp_path / "test", kind, 1)))
    whole = pa.concat_tables([rows(100, seed) for seed in range(3)])
    expected = np.column_stack([whole[name].to_numpy().astype(np.float32) for name in "abc"])
    values, labels = all_of(found.train)
    assert np.array_equal(values, expected) and labels.tolist() == whole["kind"].to_pylist()
    assert found.train_facts.rows == 300 and found.test_facts.rows == 100 and found.classes.tolist() == ["big", "small"]
    drawn = found.source(16, 0).open(300)
    for _ in range(2):
        x, y = drawn.draw(300)
        drawn.release(300)
        assert sorted(map(tuple, x.tolist())) == sorted(map(tuple, expected.tolist()))
        assert ((x[:, 0] > 24) == (y == "big")).all()


def test_a_pass_reads_row_groups_in_an_order_of_its_own(tmp_path):
    reader = opened(write(tmp_path / "rows", "parquet"), tmp_path, test_share=0.3).train.reader()
    rng, orders = np.random.default_rng(0), []
    for _ in range(4):
        each, first = reader.begin(rng, 40), []
        values, labels = np.empty((40, 3), reader.dtype), np.empty(40, "U5")
        while each.read_into(values, labels):
            first.append(values[0].tolist())
        orders.append(first)
    assert len({str(order) for order in orders}) > 1 and len({str(sorted(order)) for order in orders}) == 1


def test_a_share_of_the_row_groups_is_for_tests_and_the_rest_for_training(tmp_path):
    folder = write(tmp_path / "rows", "parquet")
    found = opened(folder, tmp_path, test_share=0.3)
    train, test = found.train.reader().parts, found.test.reader().parts
    assert not {*train} & {*test} and len(train) + len(test) == 9
    os.rename(folder, tmp_path / "moved")  # the choice follows from names below the folder
    again = opened(tmp_path / "moved", tmp_path, test_share=0.3)
    assert [part.number for part in again.test.reader().parts] == [part.number for part in test]
    given = {**defaults("dataset", "stream"), "name": "stream", "label": "kind", "test_share": 0.3}
    moved = {**given, "path": str(tmp_path / "moved")}
    before = lake.key(moved, tmp_path)
    os.rename(tmp_path / "moved", folder)
    assert lake.key({**given, "path": str(folder)}, tmp_path) == before


def test_folders_named_key_value_are_columns(tmp_path):
    for kind in ("x", "y z"):
        write(tmp_path / "rows" / f"kind={kind}" / "day=3", "parquet", 2, label=False)
    found = opened(tmp_path / "rows", tmp_path, test_share=0.3)
    assert found.train_facts.columns == ["a", "b", "c", "kind", "day"] and found.classes.tolist() == ["x", "y z"]
    assert (all_of(found.train)[0][:, 3] == 3).all()


def test_patterns_and_addresses_read_the_same_rows(tmp_path):
    pytest.importorskip("fsspec")
    import fsspec

    folder = write(tmp_path / "rows", "parquet")
    memory = fsspec.filesystem("memory")
    memory.put(str(folder), "/rows", recursive=True)
    wanted = all_of(opened(folder, tmp_path, test_share=0.3).train)[0]
    for place in (f"{folder}/*.parquet", f"file://{folder}", "memory://rows"):
        assert np.array_equal(all_of(opened(place, tmp_path, test_share=0.3).train)[0], wanted)


def test_a_delta_table_is_its_newest_version(tmp_path):
    deltalake = pytest.importorskip("deltalake")
    deltalake.write_deltalake(str(tmp_path / "rows"), rows(50, 9))
    for seed in range(3):
        deltalake.write_deltalake(str(tmp_path / "rows"), rows(100, seed), mode="append" if seed else "overwrite")
    test = str(write(tmp_path / "test", "parquet", 1))
    assert opened(tmp_path / "rows", tmp_path, test_path=test).train_facts.rows == 300


def test_a_trial_runs_and_repeats(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "rows", "parquet")
    words = ["algo=wsam", "dataset=stream", "dataset.path=rows", "dataset.label=kind", "dataset.test_share=0.3", "r=20",
             "T=5", "trials=1", "n_jobs=1", "run.pictures=false", "run.memory_limit=16"]  # fmt: skip
    assert main(words) == 0
    first = capsys.readouterr().out
    assert float(first.split("wsam  ")[1].split()[0]) > 80
    assert main(words) == 0
    assert capsys.readouterr().out == first


def damaged(folder):
    path = folder / "part-1.parquet"
    start = parquet.ParquetFile(path).metadata.row_group(1).column(0).data_page_offset
    with path.open("r+b") as file:
        file.seek(start)
        file.write(b"\xff" * 40)


def other_columns(folder):
    parquet.write_table(rows(10, 0).drop_columns(["b"]), folder / "part-1.parquet")


def text(folder):
    table = rows(10, 0).set_column(1, "b", pa.array(["many"] * 10))
    parquet.write_table(table, folder / "part-1.parquet")


def no_label(folder):
    parquet.write_table(rows(10, 0).set_column(3, "kind", pa.array([None] * 10, "string")), folder / "part-1.parquet")


def two_kinds(folder):
    csv.write_csv(rows(10, 0), folder / "more.csv")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (damaged, r"row group 1 of .*part-1.parquet cannot be read"),
        (other_columns, "part-1.parquet has other columns"),
        (text, "part-1.parquet holds text in the column b"), (no_label, "part-1.parquet has rows without a label"),
        (two_kinds, "files of two kinds"),
    ],
)  # fmt: skip
def test_a_sentence_names_the_file_and_the_row_group(tmp_path, change, said):
    change(write(tmp_path / "rows", "parquet"))
    with pytest.raises(BoostrunError, match=said):
        found = opened(tmp_path / "rows", tmp_path, test_path=str(write(tmp_path / "test", "parquet", 1)))
        all_of(found.train)


def with_labels(folder, labels, kinds=None):
    """A folder of a Parquet file for each list of labels, of the same rows."""
    folder.mkdir()
    for place, words in enumerate(labels):
        column = pa.array(words, kinds[place] if kinds else None)
        parquet.write_table(pa.table({"a": np.arange(float(len(words))), "kind": column}), folder / f"{place}.parquet")
    return folder


LABELS = {  # labels of files -> the classes
    "a text in the last file": ([["1", "2"], ["1", "2"], ["1", "x", "2"]], None, ["1", "2", "x"]),
    "zeros before numbers in one file": ([["01", "1"], ["1", "01"], ["1", "01"]], None, ["01", "1"]),
    "whole numbers in one file, text in others": (
        [[1, 2], ["1", "2", "w"], ["2", "w", "1"]], [pa.int32(), pa.string(), pa.string()], ["1", "2", "w"],
    ),
    "whole numbers of three types": (
        [[1, 2], ["2", "1"], [2.0, 1.0]], [pa.int8(), pa.large_string(), pa.float64()], [1, 2],
    ),
    "a dictionary beside text": (
        [["b", "a"], ["a", "b"], ["b", "a"]], [pa.dictionary(pa.int8(), pa.string()), pa.string(), pa.string()],
        ["a", "b"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("words", list(LABELS))
def test_labels_of_all_files_are_of_one_kind(tmp_path, words):
    labels, kinds, classes = LABELS[words]
    given = [each * 5 for each in labels]
    test = str(with_labels(tmp_path / "test", given[-1:], kinds and kinds[-1:]))
    found = opened(with_labels(tmp_path / "rows", given, kinds), tmp_path, test_path=test)
    assert found.classes.tolist() == classes
    read = all_of(found.train)[1]
    assert sorted(map(str, read.tolist())) == sorted(str(int(x)) if isinstance(x, float) else str(x)
                                                     for each in given for x in each)  # fmt: skip
    assert set(all_of(found.test)[1].tolist()) == set(classes)


@pytest.mark.parametrize("ending", ["csv", "csv.gz"])
def test_labels_of_csv_are_text_as_they_are_written(tmp_path, ending):
    (tmp_path / "rows").mkdir()
    for place in range(3):
        text = "a,kind\n" + "".join(f"{n},{word}\n" for n, word in enumerate(["01", "1", "1e5", "100000"] * 3))
        content = text.encode() if ending == "csv" else gzip.compress(text.encode())
        (tmp_path / "rows" / f"{place}.{ending}").write_bytes(content)
    found = opened(tmp_path / "rows", tmp_path, test_share=0.4)
    assert found.classes.tolist() == ["01", "1", "100000", "1e5"]


@pytest.mark.parametrize(("labels", "said"), [
    (["a", "", "b"], "rows without a label"), (["a", None, "b"], "rows without a label"),
    ([1.5, 1.0, 2.0], "no whole numbers"), ([[1], [2], [1]], "values of the type list"),
    ([str(n) for n in range(10_001)], "more than 10000 different labels"),
])  # fmt: skip
def test_labels_that_are_no_classes_are_a_sentence(tmp_path, labels, said):
    folder = with_labels(tmp_path / "rows", [labels] * 4)
    with pytest.raises(BoostrunError, match=said) as error:
        opened(folder, tmp_path, test_share=0.4)
    assert "rows" in str(error.value)


def test_a_folder_of_rows_without_a_label_is_a_sentence(tmp_path):
    for word in ("a", "b", "__HIVE_DEFAULT_PARTITION__"):
        write(tmp_path / "rows" / f"y={word}", "parquet", n=2)
    with pytest.raises(BoostrunError, match="rows without a label"):
        opened(tmp_path / "rows", tmp_path, test_share=0.4, label="y")


def rows_of(found):
    return found.train_facts.rows + found.test_facts.rows


@pytest.mark.parametrize("pattern", ["", "/*.parquet", "/**/*.parquet", "/[0-9a-z_]*.parquet"])
def test_names_that_begin_with_a_mark_are_left_out_of_patterns_too(tmp_path, pattern):
    folder = write(tmp_path / "rows", "parquet", n=5)
    for hidden in ("_temporary/0", ".cache"):
        write(folder / hidden, "parquet", n=1)
    (folder / "_old.parquet").write_bytes((folder / "part-0.parquet").read_bytes())
    assert rows_of(opened(f"{folder}{pattern}", tmp_path, test_share=0.3)) == 500


def test_a_folder_whose_name_is_a_pattern_is_that_folder(tmp_path):
    assert rows_of(opened(write(tmp_path / "br[1]", "parquet", n=5), tmp_path, test_share=0.3)) == 500


@pytest.mark.parametrize("kind", ["csv", "arrow"])
def test_parts_without_rows_are_left_out(tmp_path, kind):
    folder = write(tmp_path / "rows", kind, n=6)
    if kind == "csv":
        (folder / "part-9.csv").write_text("a,b,c,kind\n")
    else:
        empty = pa.RecordBatch.from_pylist([], rows(1, 0).schema)
        with pa.ipc.new_file(folder / "part-9.arrow", empty.schema) as file:
            file.write_batch(empty)
    found = opened(folder, tmp_path, test_share=0.4)
    assert rows_of(found) == 600 and len(found.train.reader().some(50)) > 0


def test_numbers_of_half_precision_dates_and_times_are_read(tmp_path):
    (tmp_path / "rows").mkdir()
    moments = np.array(["2024-01-01", "2024-01-02"] * 10, "datetime64[us]")
    table = pa.table({
        "half": np.arange(20, dtype=np.float16), "whole": np.arange(20.0, dtype=np.float32), "when": moments,
        "day": pa.array(moments.astype("datetime64[D]")), "kind": ["u", "v"] * 10,
    })  # fmt: skip
    for place in range(3):
        parquet.write_table(table, tmp_path / "rows" / f"{place}.parquet")
    values, _ = all_of(opened(tmp_path / "rows", tmp_path, test_share=0.4).train)
    assert np.array_equal(values[:20, 0], np.arange(20.0)) and np.array_equal(values[:20, 1], np.arange(20.0))
    assert np.array_equal(values[:2, 2], [1704067200.0, 1704153600.0]) and np.array_equal(values[:, 2], values[:, 3])


def test_what_is_wrong_with_values_is_said_with_the_row_group_and_the_column(tmp_path):
    nothing = pa.array([None, *range(19)], pa.int64())
    nested = pa.array([{"x": 1}] * 20)
    for name, column, said in (
        ("missing", nothing, r"row group 0 of .*parquet has rows without a value in the column b"),
        ("nested", nested, r"row group 0 of .*parquet holds values of the type struct.* in the column b"),
    ):
        (tmp_path / name).mkdir()
        for place in range(3):
            table = pa.table({"a": np.arange(20.0), "b": column, "kind": ["u", "v"] * 10})
            parquet.write_table(table, tmp_path / name / f"{place}.parquet")
        with pytest.raises(BoostrunError, match=said):
            all_of(opened(tmp_path / name, tmp_path, test_share=0.4).train)
    (tmp_path / "twice").mkdir()
    table = pa.Table.from_arrays([pa.array([1.0, 2.0]), pa.array([1.0, 2.0]), pa.array(["u", "v"])], ["a", "a", "kind"])
    for place in range(2):
        parquet.write_table(table, tmp_path / "twice" / f"{place}.parquet")
    with pytest.raises(BoostrunError, match="two columns called 'a'"):
        opened(tmp_path / "twice", tmp_path, test_share=0.4)


def test_an_index_of_pandas_is_no_column_and_columns_have_one_kind_in_all_files(tmp_path):
    frame = rows(100, 0).to_pandas()
    (tmp_path / "rows").mkdir()
    for name, more in (("a", frame), ("b", frame[frame.a > 3])):
        more.to_parquet(tmp_path / "rows" / f"{name}.parquet")
    assert opened(tmp_path / "rows", tmp_path, test_share=0.5).train.reads.features == ["a", "b", "c"]
    frame.assign(a=pd.Timestamp("2024-01-01")).to_parquet(tmp_path / "rows" / "c.parquet")
    with pytest.raises(BoostrunError, match=r"c\.parquet has a date in the column a, other than .*a\.parquet"):
        opened(tmp_path / "rows", tmp_path, test_share=0.5)


def test_fractions_after_whole_numbers_and_packed_files_beside_others_are_read(tmp_path):
    (tmp_path / "rows").mkdir()
    lines = ["a,kind", *(f"{n},{'xy'[n % 2]}" for n in range(200_000)), "0.5,x"]
    (tmp_path / "rows" / "0.csv").write_text("\n".join(lines) + "\n")
    (tmp_path / "rows" / "1.csv.gz").write_bytes(gzip.compress(b"a,kind\n7,x\n0.25,y\n"))
    values, _ = all_of(opened(tmp_path / "rows", tmp_path, test_path=str(tmp_path / "rows")).train)
    assert len(values) == 200_003 and values[-3:, 0].tolist() == [0.5, 7.0, 0.25]


def test_bad_values_of_the_test_part_and_a_test_part_without_labels_are_a_sentence(tmp_path):
    train = write(tmp_path / "rows", "parquet")
    bad = rows(100, 5).to_pandas().assign(b=np.nan)
    (tmp_path / "bad").mkdir()
    pa.parquet.write_table(pa.Table.from_pandas(bad.assign(b=np.inf)), tmp_path / "bad" / "0.parquet")
    found = opened(train, tmp_path, test_path=str(tmp_path / "bad"))
    with pytest.raises(BoostrunError, match="NaN or infinite"):
        list(found.test_chunks(16))
    with pytest.raises(BoostrunError, match="bare has no column 'kind', the label of"):
        opened(train, tmp_path, test_path=str(write(tmp_path / "bare", "parquet", label=False)))


def test_a_file_that_vanishes_is_named(tmp_path):
    found = opened(write(tmp_path / "rows", "parquet"), tmp_path, test_share=0.3)
    os.remove(tmp_path / "rows" / "part-2.parquet")
    with pytest.raises(BoostrunError, match=r"part-2.parquet has gone"):
        all_of(found.train), all_of(found.test)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({}, "dataset.test_path"), ({"test_share": 0.3, "test_path": "x"}, "dataset.test_path"),
        ({"test_share": 0.001}, "leaves none for tests"), ({"test_share": 0.3, "label": "nope"}, "no column 'nope'"),
        ({"test_share": 0.3, "path": "nowhere/*.parquet"}, "no file of rows at nowhere"),
        ({"test_share": 0.3, "path": "odd://nowhere"}, "odd://nowhere"),
    ],
)  # fmt: skip
def test_settings_that_cannot_be_are_a_sentence(tmp_path, more, said):
    write(tmp_path / "rows", "parquet")
    with pytest.raises(BoostrunError, match=said):
        opened(more.pop("path", tmp_path / "rows"), tmp_path, **more)


def test_settings_are_chosen_on_row_groups_that_are_held_out(tmp_path, monkeypatch, capsys):
    folder = write(tmp_path / "rows", "parquet", 6)
    whole = opened(folder, tmp_path, test_share=0.3)
    part = opened(folder, tmp_path, test_share=0.3, holdout=0.4)
    kept, held = set(part.train.reader().parts), set(part.test.reader().parts)
    assert kept | held == set(whole.train.reader().parts) and not kept & held and kept and held
    monkeypatch.chdir(tmp_path)
    words = ["algo=wsam", "dataset=stream", "dataset.path=rows", "dataset.label=kind", "dataset.test_share=0.3", "r=20",
             "T=5", "n_jobs=1", "run.memory_limit=16", "tune.trials=2"]  # fmt: skip
    assert main(["tune", *words]) == 0
    assert "shrinkage" in capsys.readouterr().out


def test_a_folder_of_the_data_root_is_found(tmp_path):
    write(tmp_path / "rows", "parquet")
    given = {**defaults("dataset", "stream"), "name": "stream", "label": "kind", "test_share": 0.3, "path": "rows"}
    assert stream_set.open_set(given, tmp_path).train_facts.classes == ["big", "small"]
    assert stream_set.files(given, tmp_path) == {}


def test_the_row_groups_of_a_lake_are_split_into_disjoint_sources(tmp_path):
    found = opened(write(tmp_path / "rows", "parquet"), tmp_path, test_share=0.3)
    source, rows_in = found.source(16, 0), found.train_facts.rows
    parts = source.split(3)
    groups = [{(group.file, group.number) for group in part.reader.parts} for part in parts]
    assert sum(map(len, groups)) == len(set.union(*groups)) == len(source.reader.parts)
    assert sum(part.reader.words()[0] for part in parts) == rows_in
    assert all(part.memory_limit_mb == 16 / 3 and part.class_labels().tolist() == ["big", "small"] for part in parts)
    again = [[(group.file, group.number) for group in part.reader.parts] for part in found.source(16, 0).split(3)]
    assert [set(each) for each in again] == groups
    with pytest.raises(BoostrunError, match="row groups: 50 parts need one each"):
        source.split(50)


@pytest.mark.slow
def test_learners_of_a_lakes_parts_are_averaged_whatever_the_number_at_a_time(tmp_path):
    found = opened(write(tmp_path / "rows", "parquet", n=6), tmp_path, test_share=0.3)
    (columns, truth), *_ = found.test_chunks(16)
    said = []
    for n_jobs in (None, 2):
        model = SplitReservoirClassifier(
            "wsam", parts=3, reservoir_size=20, n_estimators=6, random_state=0, n_jobs=n_jobs
        )
        model.fit_source(found.source(16, 0))
        assert model.classes_.tolist() == ["big", "small"] and model.ensemble_.n_rounds == 18
        said.append(model.decision_function(columns.T))
    assert np.array_equal(*said) and np.mean(model.predict(columns.T) == truth) > 0.9


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_a_method_on_codes_gets_the_codes_of_all_samples_and_of_the_test_part(tmp_path, kind):
    found = opened(write(tmp_path / "rows", kind), tmp_path, test_path=str(write(tmp_path / "test", kind, 1)))
    model = ReservoirClassifier("wsam", reservoir_size=20, n_estimators=6, random_state=0)
    chunks = Chunks(found, 16, 12)
    assert not chunks.for_model(ReservoirClassifier("wsam", stump_search="exact")).coded  # it compares values
    assert not chunks.for_model(object()).coded
    source = chunks.source(0)
    chunks.set_up(model)
    binner, (values, _) = Binner(found.train.reader().some(10_000), 12), all_of(found.train)
    x = source.open(300).draw(300)[0]
    assert x.dtype == np.uint8 and len(np.unique(x[:, 0])) == 12
    assert sorted(map(tuple, x.tolist())) == sorted(map(tuple, binner.encode(values).tolist()))
    columns, truth = map(np.hstack, zip(*chunks.test_chunks()))
    assert np.array_equal(columns, binner.encode(all_of(found.test)[0]).T)
    for part in source.split(2) if kind == "parquet" else ():
        assert part.open(30).draw(30)[0].dtype == np.uint8
    result = Staged().run(model, chunks, spawn(0))
    said = model.classes_[(model.decision_function(columns.T) > 0).astype(int)]
    assert result["metrics"]["test_accuracy_pct"] == 100 * np.mean(said == truth) > 90


def test_bins_are_fitted_on_samples_of_many_row_groups_the_same_each_time(tmp_path):
    reader = opened(write(tmp_path / "rows", "parquet"), tmp_path, test_share=0.3).train.reader()
    firsts = [next(reader.lake.batches(part, reader.features, 1)) for part in reader.parts]
    first = {tuple(batch.to_pylist()[0].values()) for batch in firsts}
    values = reader.some(len(reader.parts))
    assert len(values) == len(reader.parts) > 4 and {tuple(row) for row in values.tolist()} == first
    assert np.array_equal(values, reader.some(len(reader.parts)))
    assert len(reader.some(10_000)) == reader.words()[0]


def test_bins_of_a_few_columns_at_a_time_are_those_of_all():
    values = np.random.default_rng(0).normal(size=(200, 150)).astype(np.float32).round(1)
    train = SimpleNamespace(reader=lambda: SimpleNamespace(some=lambda count: values))
    data = SimpleNamespace(train=train, classes=np.arange(2), train_facts=SimpleNamespace(dtype="<f4"))
    chunks = Chunks(data, 16, 12)
    np.testing.assert_array_equal(chunks._bins().encode(values[:9]), Binner(values, 12).encode(values[:9]))


def test_parts_of_a_lake_train_one_learner_whatever_the_number_at_a_time(tmp_path):
    found = opened(write(tmp_path / "rows", "parquet", n=6), tmp_path, test_share=0.3)
    (columns, truth), *_ = found.test_chunks(16)
    sizes = {"parts": 3, "rounds": "merged", "reservoir_size": 20, "n_estimators": 12, "random_state": 0}
    said = []
    for n_jobs in (None, 2):
        with parallel_config("threading"):
            model = SplitReservoirClassifier("wsam", n_jobs=n_jobs, **sizes).fit_source(found.source(16, 0))
        assert model.classes_.tolist() == ["big", "small"] and model.ensemble_.n_rounds == 12
        said.append(model.decision_function(columns.T))
    assert np.array_equal(*said) and np.mean(model.predict(columns.T) == truth) > 0.9
