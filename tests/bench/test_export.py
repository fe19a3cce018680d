"""The exported predictor of patch templates beside scikit-learn's SVC and nearest neighbours; no time is asserted.

All on one core, in seconds of that core, so that a busy machine disturbs little. scikit-learn gets the test digits as
one batch, which favours it; the predictor gets them one after the other.
"""

import ctypes

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from boostrun import ReservoirClassifier
from boostrun.data import load
from boostrun.errors import DataMissingError
from boostrun.export import c_source, read
from boostrun.runner.execute import train_one
from boostrun.runner.plan import compose_one
from tests.bench.timing import show, taken
from tests.conftest import REAL_DATA
from tests.export.compiled import FLAGS, Compiled

pytestmark = pytest.mark.bench
TRAIN, TEST, ROUNDS, CENTRES = 5000, 500, 75, 100


@pytest.fixture(scope="module")
def digits(tmp_path_factory):
    """5,000 training and 500 test digits of MNIST, as a file."""
    try:
        mnist = load({"name": "mnist"}, REAL_DATA)
    except DataMissingError:
        pytest.skip("MNIST is not there")
    arrays = {
        "x_train": mnist.x_train[:TRAIN], "y_train": mnist.y_train[:TRAIN], "x_test": mnist.x_test[:TEST],
        "y_test": mnist.y_test[:TEST],
    }  # fmt: skip
    path = tmp_path_factory.mktemp("digits") / "digits.npz"
    np.savez(path, **arrays)
    return path, arrays, mnist.x_train.reshape(-1, 784), mnist.y_train


def test_microseconds_per_digit(digits, workplace):
    path, arrays, all_digits, all_labels = digits
    settings = compose_one([
        "algo=shareboost", "algo.reg=1e-5", f"T={ROUNDS}", "dataset=npz", f"dataset.path={path}", "features=templates",
        f"features.centres={CENTRES}", "features.patches=100000",
    ])  # fmt: skip
    source = c_source(read(train_one(settings, workplace / "model.npz")))
    small, test = (arrays[name].reshape(-1, 784) / 255.0 for name in ("x_train", "x_test"))
    labels, truth = arrays["y_train"], arrays["y_test"]
    svm = SVC(C=10).fit(small, labels)
    near, nearest = KNeighborsClassifier(3, algorithm="brute").fit(small, labels), KNeighborsClassifier(3)
    nearest.set_params(algorithm="brute").fit(all_digits / 255.0, all_labels)
    rivals = {
        f"SVC, radial, {TRAIN} digits, {svm.n_support_.sum()} support vectors": (svm, svm.n_support_.sum() * 784),
        f"3 nearest of {TRAIN} digits": (near, TRAIN * 784),
        f"3 nearest of {len(all_digits)} digits": (nearest, len(all_digits) * 784),
    }
    rows = []
    with threadpool_limits(1):
        for name, flags in (("predictor", FLAGS), ("predictor, -march=native", [*FLAGS, "-march=native"])):
            compiled = Compiled(source, workplace / name.replace(" ", "_"), flags)
            digits_ = np.ascontiguousarray(arrays["x_test"].reshape(TEST, 784))
            places = [digit.ctypes.data_as(ctypes.c_void_p) for digit in digits_]
            function = compiled.shared.predict

            def all_of_them(function=function, places=places):
                return [function(place) for place in places]

            wrong = 100 * np.mean(np.array(all_of_them()) != truth)
            assert wrong < 10.0
            took = 1e6 / TEST * taken(all_of_them, 9)
            what = f"{name}: {ROUNDS} of {CENTRES} x 16 templates, {TRAIN} digits"
            rows.append((what, _row(took, compiled.runs, wrong, f" ({compiled.counted:,} as Table 1 counts)")))
        for name, (clf, multiply_adds) in rivals.items():
            wrong = 100 * np.mean(clf.predict(test) != truth)
            assert wrong < 10.0
            took = 1e6 / TEST * taken(lambda clf=clf: clf.predict(test))
            rows.append((name, _row(took, multiply_adds, wrong)))
    show(f"microseconds a digit on one core, {TEST} test digits", rows)


def _row(took: float, multiply_adds: int, wrong: float, remark: str = "") -> str:
    rate = multiply_adds / took / 1e3
    return f"{took:8.0f} us  {multiply_adds:>12,} multiply-adds{remark}, {rate:.1f} G/s, test error {wrong:.1f} %"


@pytest.mark.parametrize("dtype", [np.float64, np.uint8])
@pytest.mark.parametrize("weak_learner", ["stump", "tree"])
def test_rows_a_second_of_predict_many_beside_the_library(weak_learner, dtype, workplace):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 256, (20_000, 64)).astype(dtype)
    y = np.digitize(X[:, :8].sum(axis=1), np.linspace(700, 1340, 9))
    clf = ReservoirClassifier("rand", weak_learner=weak_learner, n_estimators=250, reservoir_size=500, random_state=0)
    clf.fit(X[:2000], y[:2000])
    expected = clf.predict(X)
    rows = [("library", f"{len(X) / taken(lambda: clf.predict(X), 5):9,.0f} rows/s")]
    saved = read(clf.save(workplace / "model.npz"))
    for name, flags in (("predict_many", FLAGS), ("predict_many, -march=native", [*FLAGS, "-march=native"])):
        compiled = Compiled(c_source(saved), workplace / name.replace(" ", "_"), flags)
        given, out = np.ascontiguousarray(X, compiled.dtype), np.empty(len(X), np.intc)
        places = [each.ctypes.data_as(ctypes.c_void_p) for each in (given, out)]

        def many(function=compiled.shared.predict_many, places=places):
            function(places[0], ctypes.c_size_t(len(X)), places[1])

        rows.append((name, f"{len(X) / taken(many, 5):9,.0f} rows/s"))
        assert np.array_equal(np.array(saved.labels)[out], expected)

        def one_by_one(function=compiled.shared.predict, places=places, step=given.strides[0]):
            for place in range(places[0].value, places[0].value + step * 2000, step):
                function(ctypes.c_void_p(place))

        rows.append((name.replace("_many", ""), f"{2000 / taken(one_by_one, 5):9,.0f} rows/s, a call from Python each"))
    show(f"10 x 250 {weak_learner}s on 64 columns of {np.dtype(dtype).name}, one core", rows)
