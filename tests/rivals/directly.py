"""Rivals of libraries as a run trains them, on the codes of a bank, and each library called directly on raw values."""

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn import ensemble, linear_model, neural_network, preprocessing, tree

from boostrun.config import catalogue, defaults
from boostrun.data.source import ArraySource
from boostrun.features import open_bank
from boostrun.inputs.bank import Table
from boostrun.methods.declaration import obtain
from boostrun.rivals.keys import LightGBMReuseKeys

SEED = 7  # of a rival, and of the order of samples
METHODS = {
    name: method for name, method in catalogue.methods().items()
    if method.paper == "rivals" and "stream" not in method.inputs and name not in ("sgd_fourier", "pasting")
}  # fmt: skip


def in_a_run(name, folder, parts, features="raw"):
    """Labels of the test part from a rival with its defaults, and their accuracy as a run records it."""
    np.savez(folder / "t.npz", **dict(zip(("x_train", "y_train", "x_test", "y_test"), parts)))
    data = {**defaults("dataset", "npz"), "name": "npz", "path": str(folder / "t.npz")}
    kind = catalogue.pipelines()[features].gives
    table = Table(open_bank(data, {"name": features, **defaults("features", features)}, folder, folder / "cache"), kind)
    rival = METHODS[name].make({}, METHODS[name].budget_defaults, {"random_state": SEED})
    pytest.importorskip(rival.package)
    result = obtain(METHODS[name].evaluation)().run(rival, table, SimpleNamespace(filter=np.random.SeedSequence(SEED)))
    return np.asarray(rival.predict(table.inputs("test"))), result["metrics"]["test_accuracy_pct"]


def directly(name, parts):
    """Labels of the test part from the library, with the parameters and the order of samples of :func:`in_a_run`."""
    x_train, y_train, x_test, _ = parts
    source = ArraySource(x_train, y_train, np.random.SeedSequence(SEED))
    if name in CHUNKS:
        return CHUNKS[name](source, x_test)
    return CALLS[name](*source.open(capacity=len(y_train)).draw(len(y_train)))(x_test)


def _lightgbm(x, y, **more):
    import lightgbm

    model = lightgbm.LGBMClassifier(
        deterministic=True, force_row_wise=True, n_jobs=1, random_state=SEED, verbose=-1, **more
    )  # fmt: skip
    return model.fit(x, y).predict


def _goss(x, y):
    return _lightgbm(x, y, data_sample_strategy="goss", top_rate=0.2, other_rate=0.1)


def _reuse(x, y):
    prices = {name: field.default for name, field in LightGBMReuseKeys.__dataclass_fields__.items() if "price" in name}
    return _lightgbm(
        x, y, cegb_penalty_feature_coupled=[prices["feature_price"]] * x.shape[1],
        cegb_penalty_split=prices["split_price"],
    )  # fmt: skip


def _xgboost(x, y):
    import xgboost

    return xgboost.XGBClassifier(tree_method="hist", n_jobs=1, random_state=SEED).fit(x, y).predict


def _catboost(x, y):
    import catboost

    model = catboost.CatBoostClassifier(  # with a penalty its learning rate is 0.03 whatever the data
        iterations=250, l2_leaf_reg=3.0, random_seed=SEED, thread_count=1, verbose=False, allow_writing_files=False
    )  # fmt: skip
    return lambda new: model.fit(x, y).predict(new).ravel()


def _hist(x, y):
    return ensemble.HistGradientBoostingClassifier(early_stopping=False, random_state=SEED).fit(x, y).predict


def _logistic(x, y):
    scaling = preprocessing.MinMaxScaler()
    model = linear_model.LogisticRegression(max_iter=200).fit(scaling.fit_transform(x), y)
    return lambda new: model.predict(scaling.transform(new))


def _chunks(source, size=200):
    """Five passes over the samples in chunks, without a remainder; of a forest 1,000 trees at most."""
    filter_ = source.open(capacity=size)
    for _ in range(5 * len(source.labels) // size):
        yield filter_.draw(size)
        filter_.release(size)


def _sgd(source, x_test):
    model = linear_model.SGDClassifier(loss="log_loss", average=True, random_state=SEED)
    scaling, filter_, to_draw = preprocessing.MinMaxScaler(), source.open(capacity=200), 5 * len(source.labels)
    while filter_.drawn < to_draw:
        x, y = filter_.draw(min(200, to_draw - filter_.drawn))
        model.partial_fit(scaling.partial_fit(x).transform(x), y, source.class_labels())
        filter_.release(len(y))
    return model.predict(scaling.transform(x_test))


def _mlp(source, x_test):
    model, scaling = neural_network.MLPClassifier(random_state=SEED, batch_size=32), preprocessing.MinMaxScaler()
    for x, y in _chunks(source):
        scaled = scaling.partial_fit(x).transform(x).astype(np.float32)
        model.partial_fit(scaled, y, classes=source.class_labels())
    return model.predict(scaling.transform(x_test).astype(np.float32))


def _lightgbm_chunks(source, x_test):
    import lightgbm

    model = None
    for chunk, (x, y) in enumerate(_chunks(source), start=1):
        parameters = {
            "objective": "multiclass", "num_class": len(source.class_labels()), "seed": SEED + chunk,
            "num_threads": 1, "deterministic": True, "force_row_wise": True,
            "boost_from_average": False, "lambda_l2": 1.0, "verbose": -1,
        }  # fmt: skip
        model = lightgbm.train(parameters, lightgbm.Dataset(x, y, params=parameters), 1, init_model=model)
    return model.predict(x_test).argmax(axis=1)


def _xgboost_chunks(source, x_test):
    import xgboost

    classes = len(source.class_labels())
    model, parameters = None, {"objective": "multi:softprob", "num_class": classes, "base_score": 0.5, "nthread": 1}
    for x, y in _chunks(source):
        model = xgboost.train(parameters, xgboost.DMatrix(x, y), 1, xgb_model=model)
    return model.predict(xgboost.DMatrix(x_test)).argmax(axis=1)


def _forest_chunks(source, x_test):
    forest = ensemble.RandomForestClassifier(0, warm_start=True, random_state=SEED)
    for x, y in _chunks(source):
        forest.set_params(n_estimators=forest.n_estimators + 2).fit(x, y)
    return forest.predict(x_test)


CHUNKS = {
    "sgd": _sgd, "mlp": _mlp, "lightgbm_chunks": _lightgbm_chunks, "xgboost_chunks": _xgboost_chunks,
    "forest_chunks": _forest_chunks,
}  # fmt: skip


CALLS = {
    "lightgbm": _lightgbm,
    "lightgbm_goss": _goss,
    "lightgbm_penalty": _lightgbm,
    "lightgbm_reuse": _reuse,
    "xgboost": _xgboost,
    "xgboost_external": _xgboost,
    "catboost": _catboost,
    "hist_gradient_boosting": _hist,
    "random_forest": lambda x, y: ensemble.RandomForestClassifier(random_state=SEED).fit(x, y).predict,
    "extra_trees": lambda x, y: ensemble.ExtraTreesClassifier(random_state=SEED).fit(x, y).predict,
    "logistic": _logistic,
    "estimator": lambda x, y: tree.DecisionTreeClassifier(random_state=SEED).fit(x, y).predict,
}
