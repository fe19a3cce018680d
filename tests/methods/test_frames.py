"""Frames, missing values and sparse matrices: a model is that of the same numbers coded by hand, row by row."""

import datetime
import decimal
import inspect
from importlib.util import find_spec

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy.sparse
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from boostrun import (
    AdaBoostMHClassifier,
    BoostrunError,
    FullDataClassifier,
    IBoostClassifier,
    IBoostTreesClassifier,
    JointBoostClassifier,
    MixedNormClassifier,
    OnlineRivalClassifier,
    ReservoirClassifier,
    SGBTClassifier,
    ShareBoostClassifier,
)
from boostrun.config.catalogue import methods
from boostrun.methods.declaration import obtain
from boostrun.methods.fitting import numbered
from boostrun.methods.preparation import RawTable
from boostrun.methods.stream_learner import StreamLearner
from tests.marks import slow_but

N = 160
RNG = np.random.default_rng(0)
DAY = 86400.0
SMALL = {"n_estimators": 8, "random_state": 0}
BATCH = {
    "reservoir": lambda: ReservoirClassifier(reservoir_size=40, **SMALL),
    "trees": lambda: ReservoirClassifier("wsam", weak_learner="tree", depth=2, reservoir_size=40, **SMALL),
    "exact": lambda: ReservoirClassifier("wsam", stump_search="exact", reservoir_size=40, **SMALL),
    "full": lambda: FullDataClassifier("all", **SMALL),
    "online": lambda: OnlineRivalClassifier("oza", subset_size=60, **SMALL),
    "adaboost_mh": lambda: AdaBoostMHClassifier(**SMALL),
    "shareboost": lambda: ShareBoostClassifier(3),
    "jointboost": lambda: JointBoostClassifier(rounds=6),
    "mixed_norm": MixedNormClassifier,
}
STREAMS = {
    "iboost": lambda: IBoostClassifier(budget=6, n_window=40, random_state=0),
    "iboost_trees": lambda: IBoostTreesClassifier(budget=6, n_window=40, random_state=0),
    "sgbt": lambda: SGBTClassifier(random_state=0),
}
BINNED = sorted(BATCH.keys() - {"shareboost", "mixed_norm"})

WORDS = np.array(["red", "blue", "green"])[RNG.integers(0, 3, N)]
DAYS = RNG.integers(0, 900, N)
FRAME = pd.DataFrame({
    "size": RNG.normal(size=N), "colour": WORDS, "on": RNG.random(N) < 0.5, "rank": pd.array(DAYS % 7, dtype="Int64"),
    "day": pd.to_datetime("2020-01-01") + pd.to_timedelta(DAYS, unit="D"), "kind": pd.Categorical(DAYS % 12),
})  # fmt: skip
HAND = np.column_stack([
    FRAME["size"], np.searchsorted(["blue", "green", "red"], WORDS), FRAME["on"], DAYS % 7, 18262 * DAY + DAYS * DAY,
    np.searchsorted(sorted(map(str, range(12))), (DAYS % 12).astype(str)),
]).astype(float)  # fmt: skip
Y = np.where((FRAME["size"] > 0) ^ (WORDS == "red"), "yes", "no")
GAPS = FRAME.copy()
for place, column in enumerate(GAPS):
    GAPS[column] = GAPS[column].astype(object if column == "on" else GAPS[column].dtype)
    GAPS.loc[place :: place + 5, column] = None
KINDS = {"pandas": lambda frame: frame, "arrow": lambda frame: pa.Table.from_pandas(frame, preserve_index=False)}


SIZES = {"n_estimators": 6, "budget": 6, "n_window": 40, "n_models": 3, "rounds": 6, "n_features": 3, "random_state": 0}
EVERY = {obtain(method.target): method for method in methods().values() if find_spec((method.needs or ("numpy",))[0])}
EVERY = {cls.__name__: (cls, method) for cls, method in EVERY.items()
         if find_spec(getattr(cls, "package", "numpy").partition(".")[0])}  # fmt: skip
# they stand for the others in quick tests, of which many take seconds to compile
QUICK = (
    "AdaBoostMHClassifier", "FullDataClassifier", "IBoostClassifier", "JointBoostClassifier",
    "LightGBMClassifier", "MajorityClassifier", "MLPRivalClassifier", "OnlineBoostClassifier", "OnlineRivalClassifier",
    "PastingClassifier", "ReservoirClassifier", "RivalForestClassifier", "ShareBoostClassifier",
)  # fmt: skip


def small(name, **more):
    """A classifier of the catalogue, with small budgets."""
    cls, method = EVERY[name]
    taken = inspect.signature(cls).parameters
    sizes = {key: size for key, size in SIZES.items() if key in taken and not isinstance(taken[key].default, str)}
    return cls(**sizes | {key: value for key, value in dict(method.fixed).items() if key in taken}, **more)


def scores(model, X):
    return model.decision_function(X) if hasattr(model, "decision_function") else model.predict(X)


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", slow_but({*BATCH, "iboost"}, BATCH | STREAMS))
def test_a_frame_is_the_same_numbers_coded_by_hand(name, kind, tmp_path):
    make, frame = (BATCH | STREAMS)[name], KINDS[kind](FRAME)
    expected = scores(make().fit(HAND, Y), HAND)
    model = make().fit(frame, Y)
    assert np.array_equal(scores(model, frame), expected) and np.array_equal(scores(model, HAND), expected)
    assert model.feature_names_in_.tolist() == [*FRAME] and model.n_features_in_ == 6
    loaded = type(model).load(model.save(tmp_path / "model.npz"))
    assert np.array_equal(scores(loaded, frame), expected) and loaded.feature_names_in_.tolist() == [*FRAME]


@pytest.mark.parametrize("kind", slow_but(["pandas"], KINDS))
@pytest.mark.parametrize("name", BATCH)
def test_rows_one_by_one_have_the_answers_of_all_together(name, kind, tmp_path):
    model = BATCH[name]().fit(KINDS[kind](GAPS), Y)
    together = scores(model, KINDS[kind](GAPS))
    shuffled = RNG.permutation(N)
    assert np.allclose(scores(model, KINDS[kind](GAPS.iloc[shuffled])), together[shuffled], rtol=1e-9)
    alone = [scores(model, KINDS[kind](GAPS.iloc[row : row + 1]))[0] for row in range(0, N, 4)]
    assert np.allclose(alone, together[::4], rtol=1e-9)
    loaded = type(model).load(model.save(tmp_path / "model.npz"))
    assert np.array_equal(scores(loaded, KINDS[kind](GAPS)), together)
    assert model.n_features_in_ == 6 and len(getattr(model, "feature_importances_", range(6))) == 6


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.parametrize("name", slow_but(QUICK, EVERY))
def test_every_classifier_takes_frames_sparse_matrices_and_missing_values(name):
    expected = small(name).fit(HAND, Y).predict(HAND)
    model = small(name).fit(FRAME, Y)
    assert np.array_equal(model.predict(FRAME), expected) and np.array_equal(model.predict(HAND), expected)
    assert name == "MajorityClassifier" or model.feature_names_in_.tolist() == [*FRAME]
    X = scipy.sparse.random_array((N, 5), density=0.3, rng=1, format="csr")
    dense = small(name).fit(X.toarray(), Y).predict(X.toarray())
    assert np.array_equal(small(name).fit(X, Y).predict(X.tocsc()), dense)
    if isinstance(model, StreamLearner):
        with pytest.raises(BoostrunError, match="row 1 has no value in column 'size'; fill or leave out such rows"):
            small(name).fit(GAPS, Y)
        return
    model.fit(GAPS, Y)
    together = model.predict(GAPS)
    assert [model.predict(GAPS[row : row + 1])[0] for row in range(0, N, 9)] == together[::9].tolist()
    assert not hasattr(model, "predict_proba") or len(model.predict_proba(GAPS)) == N
    assert np.array_equal(model.fit(HAND, Y).predict(HAND), expected)


@pytest.mark.parametrize("name", slow_but(*(
    [name for name in EVERY if name not in left] for left in (["LearnerReservoirClassifier"], ["MajorityClassifier"])
)))  # fmt: skip
def test_every_classifier_takes_class_weight_or_says_what_to_do(name):
    if "class_weight" in inspect.signature(EVERY[name][0]).parameters:
        rare = np.where(np.arange(N) % 20 == 0, "yes", "no")
        said = [small(name, class_weight=weight).fit(FRAME, rare).predict(FRAME) for weight in (None, "balanced")]
        assert (said[1] == "yes").sum() > (said[0] == "yes").sum()
    else:
        with pytest.raises(TypeError, match=f"{name} has no parameter 'class_weight', .*sklearn.utils.resample"):
            small(name, class_weight="balanced")


def test_a_parameter_that_is_not_known_is_answered_by_its_meaning():
    with pytest.raises(TypeError, match="the number of weak learners is n_estimators: n_estimators=100"):
        ReservoirClassifier(max_iter=100)


@pytest.mark.parametrize("name", BINNED)
def test_a_missing_value_has_its_own_bin(name):
    """Only the missing values of one column tell the classes apart."""
    X = np.random.default_rng(1).normal(size=(400, 3))
    gone = np.random.default_rng(2).random(400) < 0.3
    X[gone, 1] = np.nan
    model = BATCH[name]().set_params(**({} if name == "jointboost" else {"n_estimators": 20})).fit(X, gone)
    assert (model.predict(X) == gone).mean() > 0.99
    assert (model.predict([[0.0, np.nan, 0.0], [0.0, -1e30, 0.0], [0.0, 1e30, 0.0]]) == [True, False, False]).all()


@pytest.mark.parametrize("name", BINNED)
def test_a_value_that_is_missing_for_the_first_time_is_below_all(name):
    model = BATCH[name]().fit(HAND, Y)
    gap = HAND.copy()
    gap[::3, 0] = np.nan
    assert np.array_equal(scores(model, gap), scores(model, np.where(np.isnan(gap), -1e300, gap)))


def test_a_missing_value_of_a_linear_model_is_the_mean_and_a_mark():
    X = np.random.default_rng(1).normal(size=(200, 3))
    X[::4, 1] = np.nan
    gone = np.isnan(X[:, 1])
    X[gone, 0] = X[gone, 2] = 0.0
    by_hand = np.column_stack([np.where(np.isnan(X), np.nanmean(X, axis=0), X), gone])
    for make in (BATCH["shareboost"], BATCH["mixed_norm"]):
        model, expected = make().fit(X, gone), make().fit(by_hand, gone)
        assert np.allclose(scores(model, X), scores(expected, by_hand), rtol=1e-12)


@pytest.mark.parametrize("name", slow_but({*BATCH, "iboost"}, BATCH | STREAMS))
def test_a_sparse_matrix_is_the_dense_one(name):
    X = scipy.sparse.random_array((N, 5), density=0.3, rng=1, format="csr")
    make = (BATCH | STREAMS)[name]
    dense = scores(make().fit(X.toarray(), Y), X.toarray())
    assert np.array_equal(scores(make().fit(X, Y), X.tocsc()), dense)
    frame = pd.DataFrame.sparse.from_spmatrix(X)
    assert np.array_equal(scores(make().fit(frame, Y), frame), dense)


@pytest.mark.parametrize("name", slow_but(["hoeffding_tree"], ["hoeffding_tree", "vfdt", "arf_stream"]))
def test_probabilities_of_a_stream_learner_take_a_sparse_matrix(name):
    if name == "hoeffding_tree":
        pytest.importorskip("river")
    X = scipy.sparse.random_array((N, 5), density=0.3, rng=1, format="dok")
    model = obtain(methods()[name].target)().fit(X, Y)
    np.testing.assert_array_equal(model.predict_proba(X), model.predict_proba(X.toarray()))


def test_a_sparse_matrix_too_large_for_the_machine_is_a_sentence_with_its_size():
    with pytest.raises(BoostrunError, match=r"100000000 x 1000000 with 0 values, and would take 762939453 MiB"):
        ReservoirClassifier().fit(scipy.sparse.csr_array((10**8, 10**6)), Y)


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
@pytest.mark.parametrize("zone", [None, "UTC", "Asia/Kolkata"])
def test_a_time_is_the_same_number_in_every_unit_and_zone(unit, zone):
    begin, end = datetime.datetime(1900, 5, 6, 7, 8, 9), datetime.datetime(2024, 2, 29, 23, 59, 59)
    times = pd.Series([begin, end + datetime.timedelta(seconds=0 if unit == "s" else 0.123)])
    times = times.dt.tz_localize("UTC").dt.tz_convert(zone) if zone else times
    column = times.astype(f"datetime64[{unit}, {zone}]" if zone else f"datetime64[{unit}]")
    expected = [(one - datetime.datetime(1970, 1, 1)) / datetime.timedelta(seconds=1) for one in (begin, end)]
    expected[1] += 0.0 if unit == "s" else 0.123
    assert numbered(pd.DataFrame({"t": column}))[0]["t"].tolist() == expected


ARROW = {
    "int8": ([1, None, -3], pa.int8(), [1, np.nan, -3]), "uint64": ([1, None, 3], pa.uint64(), [1, np.nan, 3]),
    "float32": ([0.5, None, 2], pa.float32(), [0.5, np.nan, 2]),
    "bool": ([True, None, False], pa.bool_(), [1, np.nan, 0]),
    "string": (["b", None, "a"], pa.string(), [1, np.nan, 0]),
    "large_string": (["b", None, "a"], pa.large_string(), [1, np.nan, 0]),
    "string_view": (["b", None, "a"], pa.string_view(), [1, np.nan, 0]),
    "dictionary": (["b", None, "a"], pa.dictionary(pa.int8(), pa.string()), [1, np.nan, 0]),
    "decimal": ([decimal.Decimal("1.5"), None, decimal.Decimal(2)], pa.decimal128(9, 2), [1.5, np.nan, 2]),
    "date32": ([datetime.date(1970, 1, 2), None, datetime.date(1969, 12, 31)], pa.date32(), [DAY, np.nan, -DAY]),
    "timestamp": ([1500, None, -500], pa.timestamp("ms"), [1.5, np.nan, -0.5]),
    "zoned": ([1500, None, -500], pa.timestamp("ms", "Asia/Tokyo"), [1.5, np.nan, -0.5]),
    "duration": ([1500, None, -500], pa.duration("ms"), [1.5, np.nan, -0.5]),
    "time32": ([1500, None, 500], pa.time32("ms"), [1.5, np.nan, 0.5]),
    "time64": ([1500000, None, 500000], pa.time64("us"), [1.5, np.nan, 0.5]),
    "null": ([None, None, None], pa.null(), [np.nan, np.nan, np.nan]),
}  # fmt: skip


@pytest.mark.parametrize("kind", ARROW)
def test_each_type_of_arrow_has_one_number_for_a_value_whatever_the_rows_beside_it(kind):
    values, dtype, expected = ARROW[kind]
    table = pa.table({"x": pa.array(values, dtype)})
    found, known = numbered(table)
    known = known or RawTable(("x",))
    alone = [known.numbers(table[row : row + 1], "X", missing=True)[0, 0] for row in range(3)]
    assert np.array_equal(found["x"], expected, equal_nan=True) and np.array_equal(alone, expected, equal_nan=True)


@pytest.mark.parametrize("kind", ["list", "binary", "struct"])
def test_a_column_of_another_kind_is_named(kind):
    values = {"list": [[1], [2]], "binary": [b"a", b"b"], "struct": [{"a": 1}, {"a": 2}]}[kind]
    with pytest.raises(BoostrunError, match="column 'odd' holds values of the type"):
        ReservoirClassifier().fit(pa.table({"fine": [1, 2], "odd": values}), [0, 1])


def bad_frames():
    yield FRAME.assign(size="x"), "row 1 has 'x' in column 'size', where the model takes a number"
    yield FRAME.assign(size=np.inf), "row 1 has inf in column 'size': infinite"
    yield FRAME[["size", "colour"]], "feature names should match"
    yield pd.concat([FRAME, FRAME[["on"]]], axis=1), "two columns of the name 'on'"


@pytest.mark.parametrize("number", range(4))
@pytest.mark.parametrize("name", ["reservoir", "shareboost", "iboost"])
def test_a_frame_that_does_not_fit_is_a_sentence_with_its_column(name, number):
    frame, sentence = [*bad_frames()][number]
    model = (BATCH | STREAMS)[name]().fit(FRAME, Y)
    with pytest.raises(ValueError, match=sentence):
        model.predict(frame)


@pytest.mark.parametrize("name", slow_but(["iboost"], STREAMS))
def test_a_stream_refuses_missing_values_by_column(name):
    with pytest.raises(BoostrunError, match="X: row 1 has no value in column 'size'"):
        STREAMS[name]().partial_fit(GAPS, Y)


def test_a_stream_goes_on_with_the_words_of_its_first_rows():
    model = STREAMS["iboost"]().partial_fit(FRAME[:80], Y[:80], classes=["no", "yes"])
    by_hand = STREAMS["iboost"]().partial_fit(HAND[:80], Y[:80], classes=["no", "yes"])
    new = FRAME[80:].assign(colour="mauve")
    coded = HAND[80:].copy()
    coded[:, 1] = -1
    assert np.array_equal(
        model.partial_fit(new, Y[80:]).predict(FRAME), by_hand.partial_fit(coded, Y[80:]).predict(HAND)
    )


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_a_word_that_training_has_not_seen_and_numbers_for_words():
    model = BATCH["full"]().fit(FRAME, Y)
    coded = HAND.copy()
    coded[:, 1], coded[:, 5] = -1, np.searchsorted(sorted(map(str, range(12))), "3")
    new = FRAME.assign(colour="mauve", kind=3.0)
    assert np.array_equal(scores(model, new), scores(model, coded))


def test_pandas_output_of_a_pipeline_keeps_the_names():
    numbers = FRAME[["size"]].assign(day=HAND[:, 4])
    pipe = make_pipeline(StandardScaler(), BATCH["full"]()).set_output(transform="pandas").fit(numbers, Y)
    assert pipe[-1].feature_names_in_.tolist() == ["size", "day"]


def test_a_second_fit_on_numbers_forgets_the_words():
    for make in (BATCH["full"], STREAMS["iboost"]):
        model = make().fit(FRAME, Y).fit(FRAME[["size"]], Y)
        with pytest.raises(ValueError, match="feature names should match"):
            model.predict(FRAME)
        assert len(model.predict(FRAME[["size"]])) == N


def test_training_goes_on_with_the_bins_that_it_began_with():
    model = ReservoirClassifier(reservoir_size=40, warm_start=True, **SMALL).fit(GAPS, Y).set_params(n_estimators=16)
    whole = ReservoirClassifier(reservoir_size=40, **{**SMALL, "n_estimators": 16}).fit(GAPS, Y)
    assert np.array_equal(scores(model.fit(GAPS, Y), GAPS), scores(whole, GAPS))


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.uint8])
def test_an_array_that_needs_no_check_is_answered_as_a_checked_one(kind):
    X = np.random.default_rng(0).integers(0, 9, (90, 4)).astype(kind)
    model = ReservoirClassifier(reservoir_size=20, n_estimators=5, random_state=0).fit(X, X[:, 0] > X[:, 1])
    expected = model.decision_function(X.tolist() if kind is not np.float32 else np.asfortranarray(X))
    for given in (X, np.asfortranarray(X), X[::1], np.repeat(X, 2, axis=1)[:, ::2]):
        assert np.array_equal(model.decision_function(given), expected)
    for bad in (X[:, :3], X[0], X[:0], np.full((2, 4), np.inf)):
        with pytest.raises(ValueError):
            model.predict(bad)
