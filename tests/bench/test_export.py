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
