"""StreamSource: files read in chunks through a bounded buffer, and the sentence for files that are not right."""

import gzip
import tracemalloc

import numpy as np
import pandas
import pyarrow
import pytest

from boostrun.data import describe
from boostrun.data.source import ArraySource
from boostrun.data.stream import StreamSource
from boostrun.data.stream_readers import TableReader
from boostrun.errors import BoostrunError
from boostrun.papers.reservoir.classifier import ReservoirClassifier
from boostrun.papers.reservoir.full_data_classifier import FullDataClassifier
from tests.marks import slow_after

ROWS, WIDTH = 3000, 6


@pytest.fixture
def table():
    """Values whose first two columns number the rows, and labels of three classes, sorted as files often are."""
    rng = np.random.default_rng(0)
    values = rng.integers(0, 256, (ROWS, WIDTH)).astype(np.uint8)
    values[:, 0], values[:, 1] = np.arange(ROWS) // 256, np.arange(ROWS) % 256
    return values, np.sort(rng.integers(0, 3, ROWS))


def number(values):
    return values[:, 0].astype(int) * 256 + values[:, 1].astype(int)


def frame_of(values, labels):
    return pandas.DataFrame({**{f"x{i}": column for i, column in enumerate(values.T)}, "y": labels})


@pytest.fixture(params=["npy", "npy with labels in a column", "big-endian npy", "csv", "parquet", "iterator"])
def make_source(request, table, tmp_path):
    """The same samples in every form; ``make_source(seed=..., ...)``."""
    values, labels = table
    path, label_path = tmp_path / "data.npy", tmp_path / "labels.npy"
    given, more = (path, label_path), {"memory_limit_mb": 0.05, "chunk_rows": 10, "n_features": WIDTH}
    if request.param == "npy":
        np.save(path, values)
        np.save(label_path, labels)
    elif request.param == "big-endian npy":
        np.save(path, values.astype(">f4"))
        np.save(label_path, labels.astype(">i2"))
    elif request.param == "npy with labels in a column":
        np.save(path, np.insert(values, 2, labels, axis=1))
        given = (path, 2)
    elif request.param == "iterator":

        def chunks():
            for start in range(0, ROWS, 77):
                yield values[start : start + 77], labels[start : start + 77]

        given, more = (chunks,), {"memory_limit_mb": 0.5}
    else:
        given, more = (tmp_path / f"data.{request.param}",), {"memory_limit_mb": 0.5, "dtype": "uint8"}
        if request.param == "csv":
            frame_of(values, labels).to_csv(*given, index=False)
        else:
            frame_of(values, labels).to_parquet(*given, row_group_size=1000)
    return lambda **options: StreamSource(*given, **{**more, **options})


def test_a_buffer_of_codes_hands_out_the_code_of_each_sample_once(make_source, table):
    source = make_source(seed=0)
    source.encode = lambda values: (values // 3).astype(np.uint8)
    drawn, labels = source.open(ROWS).draw(ROWS)
    assert source.dtype == drawn.dtype == np.uint8
    expected = np.column_stack([table[0] // 3, table[1]])
    assert sorted(np.column_stack([drawn, labels]).tolist()) == sorted(expected.tolist())


def test_codes_leave_a_buffer_room_for_more_samples_and_are_fitted_on_many_places(tmp_path):
    values = np.arange(40 * 5000, dtype=np.float32).reshape(5000, 40)
    np.save(tmp_path / "x.npy", values)
    np.save(tmp_path / "y.npy", np.arange(5000) % 2)
    source = StreamSource(tmp_path / "x.npy", tmp_path / "y.npy", memory_limit_mb=0.1, classes=[0, 1], seed=0)
    rows, _ = source.buffer_rows()
    some = source.reader.some(1000)
    assert some.shape == (1000, 40) and np.array_equal(some, source.reader.some(1000))
    assert len(np.unique(some[:, 0] // 40 // 10)) == 100 and np.isin(some[:, 0], values[:, 0]).all()
    source.encode = np.isfinite
    assert 2.5 * rows < source.buffer_rows()[0]


def test_every_sample_comes_once_before_any_comes_again(make_source, table):
    values, labels = table
    source = make_source(seed=0)
    assert (source.n_features, source.class_labels().tolist()) == (WIDTH, [0, 1, 2])
    filter_ = source.open(capacity=ROWS)
    assert filter_.buffer_bytes < filter_.source.memory_limit_mb * 2**20 / 3
    for _ in range(3):
        found = [filter_.draw(n) for n in (1, 999, 1500, 500)]
        rows = np.concatenate([number(v) for v, _ in found])
        assert (np.sort(rows) == np.arange(ROWS)).all() and not (np.diff(rows) > 0).all()
        for v, y in found:
            assert v.dtype == source.dtype
            assert (v == values[number(v)]).all() and (y == labels[number(v)]).all()
        filter_.release(ROWS)
    assert (filter_.drawn, filter_.held, filter_.peak_held) == (3 * ROWS, 0, ROWS)


def test_equal_streams_hand_out_equal_samples_and_the_budget_is_kept(make_source):
    def first(seed, stream):
        return number(make_source(seed=seed).open(capacity=200, stream=stream).draw(200)[0])

    assert (first(0, 1) == first(0, 1)).all()
    assert (first(0, 1) != first(0, 2)).any() and (first(0, 1) != first(1, 1)).any()
    filter_ = make_source(seed=0).open(capacity=10)
    filter_.draw(8)
    with pytest.raises(BoostrunError, match="holds 8 samples and asked for 3 more, but its budget is 10"):
        filter_.draw(3)
    filter_.release(5)
    filter_.draw(7)


def test_balanced_draws_and_their_counts(make_source, table):
    filter_ = make_source(seed=0).open(capacity=500)
    for n in (1, 7, 100):
        before = filter_.drawn
        samples, labels = filter_.draw_balanced(n, 1)
        assert len(samples) == n and (labels == 1).sum() == (n + 1) // 2
        assert (labels == table[1][number(samples)]).all()
        assert filter_.drawn - before >= n
    seen = np.concatenate([number(filter_.draw(50)[0]) for _ in range(3)])
    assert len(np.unique(seen)) == 150
    with pytest.raises(BoostrunError, match="inside and outside class 7"):
        filter_.draw_balanced(2, 7)


def test_a_stream_teaches_as_much_as_the_samples_in_memory(table, tmp_path):
    values, labels = table
    np.save(tmp_path / "x.npy", values)
    np.save(tmp_path / "y.npy", labels)

    def score(model, source):
        model.fit_source(source)
        return (model.classes_[model.ensemble_.decision(values).argmax(axis=0)] == labels).mean()

    def stream(limit):
        return StreamSource(tmp_path / "x.npy", tmp_path / "y.npy", memory_limit_mb=limit, chunk_rows=10, seed=0)

    given = {"reservoir_size": 50, "n_estimators": 30, "random_state": 0}
    in_memory = score(ReservoirClassifier("wsam", **given), ArraySource(values, labels, 0))
    assert abs(score(ReservoirClassifier("wsam", **given), stream(0.02)) - in_memory) < 0.05 and in_memory > 0.9
    given |= {"reservoir_size": 40, "n_estimators": 5}
    for model in (
        ReservoirClassifier("rand", balanced=True, **given), FullDataClassifier("fix", **given),
        FullDataClassifier("filterboost", **given),
    ):  # fmt: skip
        assert score(model, stream(0.5)) > 0.8  # the first column gives the class away
        assert model.peak_samples_held_ <= 80
    with pytest.raises(BoostrunError, match="a StreamSource does not hold them"):
        FullDataClassifier("wss", random_state=0).fit_source(stream(0.5))


def test_memory_stays_under_a_tiny_limit(tmp_path):
    """A file 20 times the limit: the memory allocated while drawing through it stays near the limit."""
    rng = np.random.default_rng(0)
    n, limit = 160_000, 0.25
    labels = (rng.random(n) < 0.5).astype(np.uint8)
    np.save(tmp_path / "x.npy", rng.integers(0, 256, (n, 32)).astype(np.uint8))
    np.save(tmp_path / "y.npy", labels)

    def largest():
        """Draws through the file twice; returns the largest memory allocated meanwhile, in bytes."""
        tracemalloc.start()
        source = StreamSource(
            tmp_path / "x.npy", tmp_path / "y.npy", classes=[0, 1], seed=0, memory_limit_mb=limit, chunk_rows=1000
        )
        filter_, total = source.open(250), 0
        for _ in range(2 * n // 250):
            total += int(filter_.draw(250)[1].sum())
            filter_.release(250)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert filter_.drawn == 2 * n and total == 2 * int(labels.sum())
        return peak

    # the second measurement has no imports; the smaller one, as threads of other tests allocate too
    # 0.1: the 250 samples held, the order of the chunks, Python's own
    assert min(largest(), largest()) < (limit + 0.1) * 2**20


def test_memory_is_shared_by_the_filters_of_all_problems(table):
    values, labels = table
    many = StreamSource(lambda: iter([(values, np.arange(ROWS) % 100)]), memory_limit_mb=1, seed=0)
    few = StreamSource(lambda: iter([(values, labels % 2)]), memory_limit_mb=1, seed=0)
    assert 99 < few.buffer_rows()[0] / many.buffer_rows()[0] < 120  # a chunk comes off either
    assert 100 * many.buffer_rows()[0] * (WIDTH + 16) < 2**20


# --- sentences


def refused(words, samples, labels=None, **options):
    with pytest.raises(BoostrunError, match=words) as caught:
        StreamSource(samples, labels, **{"memory_limit_mb": 1, "seed": 0, **options}).open(capacity=10).draw(10)
    assert "\n" not in str(caught.value)


GOOD = (np.zeros((4, 2), np.float32), np.array([0, 1, 0, 1]))


@pytest.mark.parametrize(
    ("chunks", "words"),
    [
        ([], "gave no samples"),
        ([GOOD, (np.zeros((3, 5)), np.zeros(3))], "changed from 2 to 5 features"),
        ([GOOD, (np.full((1, 2), np.nan), np.array([1]))], "NaN or infinite"),
        ([GOOD, (np.full((1, 2), np.inf), np.array([1]))], "NaN or infinite"),
        ([(GOOD[0], np.array([0, 1, np.nan, 0]))], "labels that are NaN"),
        ([(GOOD[0], np.zeros(3))], "with labels of the shape"),
        ([np.zeros(3)], "pairs"),
        ([(np.array([["a", "b"]]), np.array([1]))], "numbers are expected"),
        ([(np.zeros((4, 2), np.uint8), GOOD[1]), (np.full((1, 2), 0.5), np.array([0]))], "whole numbers from 0 to 255"),
        ([(np.zeros((40_000, 10)), np.zeros(40_000))], "above its memory limit of 1 MiB"),
    ],
)
def test_a_bad_stream_is_one_sentence(chunks, words):
    refused(words, lambda: iter(chunks))


def test_other_labels_and_a_stream_that_ends_for_good_are_one_sentence():
    other = (GOOD[0], np.array([0, 1, 2, 1]))
    refused("the label 2, which is none of the 2 classes", lambda: iter([GOOD, other]), classes=[0, 1])
    once = iter([GOOD, GOOD])
    refused("gave no samples", lambda: once, classes=[0, 1])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"memory_limit_mb": 0}, "memory_limit_mb=0"),
        ({"memory_limit_mb": 5e-5}, "too little"),
        ({"chunk_rows": 0}, "chunk_rows=0"),
        ({"n_features": 3}, "has 2 features a sample, not 3"),
        ({"dtype": "int32"}, "none of uint8, float32, float64"),
    ],
)
def test_bad_options_are_one_sentence(options, words):
    refused(words, lambda: iter([GOOD]), **options)


def test_damaged_npy_files_are_one_sentence(table, tmp_path):
    values, labels = table
    path, label_path = tmp_path / "x.npy", tmp_path / "y.npy"
    np.save(label_path, labels)
    np.save(path, values)
    whole = path.read_bytes()
    path.write_bytes(whole[:-100])
    refused("ends early: its header says 3000 rows, but row 29", path, label_path)
    path.write_bytes(b"PK nonsense")
    refused("cannot be read as .npy", path, label_path)
    for content, words in (
        (labels, "shape"),
        (np.asfortranarray(values), "column by column"),
        (values[:0], "no samples|shape"),
        (values.astype(object), "Python objects"),
        (values.astype(str), "numbers are expected"),
        (values[:10], r"y.npy has the shape \(3000,\); \(10,\) is expected"),
    ):
        np.save(path, content, allow_pickle=True)
        refused(words, path, label_path)
    refused("labels=9 is none of them", path, 9)
    refused("there is no file", tmp_path / "absent.npy", label_path)
    (tmp_path / "x.bin").write_bytes(b"")
    refused(r"neither .npy nor .csv", tmp_path / "x.bin", label_path)


@pytest.mark.parametrize(
    ("text", "options", "words"),
    [
        ("a,b,y\n1,2,0\n1,x,1\n", {}, "text in the column b"),
        ("a,b,y\n1,2,0\n1,,1\n", {}, "NaN"),
        ("a,b,y\n1,2,0\n1\n", {}, "fewer values than its first line"),
        ("a,b,y\n1,2,0\n1,2,3,4\n", {}, "4 values in row 2"),
        ("a,b,y\n1,2,0\n300,2,1\n", {"dtype": "uint8"}, "whole numbers from 0 to 255"),
        ("a,b,y\n1,2,0\n", {"labels": "z"}, "no column 'z'"),
        ("a,b,y\n1,2,0\n", {"labels": 3}, "labels=3 is none"),
        ("y\n0\n", {}, "and no other"),
        ("", {}, "is empty"),
        ("a,b,y\n", {}, "holds no rows"),
    ],
)
def test_bad_csv_files_are_one_sentence(text, options, words, tmp_path):
    (tmp_path / "data.csv").write_text(text)
    refused(words, tmp_path / "data.csv", **options)


@pytest.mark.parametrize(
    ("columns", "options", "words"),
    [
        ({"a": [1.0, None], "y": [0, 1]}, {}, "NaN or infinite"),
        ({"a": ["x", "z"], "y": [0, 1]}, {}, "holds text in the column a"),
        ({"a": [1, 2], "y": [0, None]}, {}, "without a label"),
        ({"a": [1, 2], "y": [0, 1]}, {"labels": "z"}, "no column 'z'"),
        ({"y": [0, 1]}, {}, "and no other"),
        ({"a": np.array([], float), "y": np.array([], int)}, {}, "gave no samples"),
        (None, {}, "cannot be read as a Parquet file"),
    ],
)
def test_bad_parquet_files_are_one_sentence(columns, options, words, tmp_path):
    path = tmp_path / "data.parquet"
    if columns is None:
        path.write_bytes(b"PAR1 and no more")
    else:
        pandas.DataFrame(columns).to_parquet(path, index=False)
    refused(words, path, **options)


def test_csv_labels_may_be_text_and_stand_anywhere(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("kind,a,b\n" + "".join(f"{'cat' if i % 2 else 'elephant'},{i},{-i}\n" for i in range(50)))
    source = StreamSource(path, "kind", seed=0)
    samples, labels = source.open(capacity=50).draw(50)
    assert source.class_labels().tolist() == ["cat", "elephant"] and source.dtype == np.float32
    assert ((samples[:, 0] % 2 == 1) == (labels == "cat")).all() and (samples[:, 1] == -samples[:, 0]).all()
    model = ReservoirClassifier("wsam", reservoir_size=10, n_estimators=3, random_state=0).fit_source(source)
    assert model.classes_.tolist() == ["cat", "elephant"]


@pytest.mark.parametrize("unit", slow_after(1, [b"0" * 4096, b"1," * 2048, b"abc," * 1024]))
@pytest.mark.parametrize("head", slow_after(1, [b"", b"a,b\n1,0\n2,1\n"]))
def test_a_line_that_no_memory_holds_is_a_sentence(tmp_path, head, unit):
    path = tmp_path / "bomb.csv.gz"
    path.write_bytes(gzip.compress(head + unit * (20 << 8), 1))
    (tmp_path / "t.csv").write_text("a,b\n1,0\n2,1\n")
    options = {"name": "stream", "path": str(path), "test_path": str(tmp_path / "t.csv")}
    with pytest.raises(BoostrunError, match="a row of more than 1 MiB of text"):
        describe(options, tmp_path)


# --- Parquet


def test_a_parquet_stream_has_the_samples_of_the_csv_stream_in_its_order(table, tmp_path, monkeypatch):
    frame = frame_of(*table)
    frame.to_csv(tmp_path / "a.csv", index=False)
    frame.to_parquet(tmp_path / "a.parquet", row_group_size=700)
    expected = StreamSource(tmp_path / "a.csv", memory_limit_mb=0.2, seed=3).open(4000)
    drawn = [expected.draw(500) for _ in range(8)]  # more than a pass
    for side_by_side in (4, 1 << 40):  # all columns at once, each after the other
        monkeypatch.setattr("boostrun.data.parquet._SIDE_BY_SIDE", side_by_side)
        found = StreamSource(tmp_path / "a.parquet", memory_limit_mb=0.2, seed=3).open(4000)
        for one in drawn:
            for right, other in zip(one, found.draw(500)):
                assert right.dtype == other.dtype and (right == other).all()


def test_a_parquet_stream_is_described_and_a_part_of_another_kind_is_refused(table, tmp_path):
    frame = frame_of(table[0], np.array(["p", "q", "r"])[table[1]])
    frame.to_parquet(tmp_path / "a.parquet")
    frame[::9].to_parquet(tmp_path / "b.parquet", index=False)
    frame.to_csv(tmp_path / "b.csv")
    options = {"name": "stream", "path": str(tmp_path / "a.parquet"), "test_path": str(tmp_path / "b.parquet")}
    assert f"{ROWS} training and {ROWS // 9 + 1} test samples of {WIDTH} features" in describe(options, tmp_path)
    with pytest.raises(BoostrunError, match=r"is Parquet but .* is CSV; both must be of one kind"):
        describe({**options, "test_path": str(tmp_path / "b.csv")}, tmp_path)


def test_a_parquet_stream_is_read_in_little_memory(tmp_path):
    rows, rng = 120_000, np.random.default_rng(0)
    frame = frame_of(rng.random((rows, 30)), rng.integers(0, 2, rows))
    frame.to_parquet(tmp_path / "a.parquet", index=False, row_group_size=rows)
    del frame
    before = pyarrow.total_allocated_bytes()
    filter_ = StreamSource(tmp_path / "a.parquet", memory_limit_mb=4, classes=[0, 1], seed=0).open(3000)
    most = 0
    for _ in range(30):
        filter_.draw(100)
        most = max(most, pyarrow.total_allocated_bytes() - before)
    assert most < rows * 30 * 8 / 2  # a page or two of each column


def test_labels_of_two_kinds_are_a_sentence_that_says_where_and_what_to_write(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,kind\n" + "1,1\n2,2\n" * 100 + "3,x\n")
    with pytest.raises(BoostrunError, match=r"whole numbers in rows 1 to 50, text in those read first; write all"):
        list(TableReader(path, None, None, 1 << 20).in_order(50))
