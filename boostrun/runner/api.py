"""The library's functions: run cells, or read stored records, as pandas tables."""

from __future__ import annotations

import contextlib
import os
import tempfile
import time
import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy
import pandas

from boostrun.config.fields import PLACES
from boostrun.config.words import keys_and_values, quoted, words_of_places
from boostrun.data.table import plain_labels
from boostrun.errors import BoostrunError, ReservoirSizeError
from boostrun.extend import loader
from boostrun.methods.fitting import is_table, opened
from boostrun.runner import paper, predictions
from boostrun.runner.naming import columns_of, flat
from boostrun.runner.plan import compose_all, compose_cells, compose_one, open_store, plan, smaller_reservoir
from boostrun.store.cell import set_aside_line

_AXES = ("T", "examples")  # of a curve: rounds, or examples of a stream
_MOST = 2**62  # of labels that a file keeps as numbers


def run(*overrides: str, quiet: bool = True, config_dir: str | None = None, **keys) -> pandas.DataFrame:
    """Run every combination of the overrides, as ``boostrun -m`` does, and return one row per trial.

    Parameters
    ----------
    overrides : "key=value" texts, several values separated by commas.
    quiet : show no progress on stderr.
    config_dir : a folder of your own YAML files, used with the packaged ones.
    keys : keys at the top of the config by keyword, e.g. ``trials=10, n_jobs=2``.

    Returns
    -------
    DataFrame
        With columns ``algo, dataset, features``, the budget (``r, q, T, ...``), every other key that differs between
        the rows or is named in the call (``algo.shrinkage``, ``features.bins``, ``holdout`` ...), ``seed``, every
        metric, ``log_loss`` and ``brier`` if ``run.predictions=true`` has kept probabilities, and every cost. Missing
        values are NA.

    Raises BoostrunError for bad settings and failed trials, KeyboardInterrupt when interrupted.

    >>> folder = getfixture("tmp_path")
    >>> df = run("algo=majority", "dataset=digits", trials=2, n_jobs=1, store=folder / "runs", cache_root=folder)
    >>> df[["algo", "dataset", "seed", "test_accuracy_pct"]]
           algo dataset  seed  test_accuracy_pct
    0  majority  digits     0          10.027855
    1  majority  digits     1          10.027855
    """
    loader.forget()
    words = [*overrides, *_words(keys)]
    try:
        result = _run(words, config_dir, quiet)
    except ReservoirSizeError as refused:
        result = _run([*words, *smaller_reservoir(refused, words)], config_dir, quiet)
    _warn()
    if result.interrupted:
        raise KeyboardInterrupt
    if result.failed:
        error = result.failed[0]["error"]
        raise BoostrunError(f"{len(result.failed)} trials failed, the first with: {error['message']}")
    rows, kept = [], predictions.folder_of(result.cells[0].settings)
    for cell, settings in zip(result.cells, columns_of(result.cells, {key for key, _ in keys_and_values(words)})):
        for record in predictions.completed(cell.done, kept):
            measured = record["metrics"] | predictions.measures(kept, record["key"])
            rows.append({**settings, "seed": record["seed"], **measured, **record["cost"]})
    table = pandas.DataFrame(rows)
    budgets = {key for cell in result.cells for key in cell.cell.budget}
    return table.astype({key: "Int64" for key in budgets & set(table) if table[key].isna().any()})  # 20, not 20.0


def _run(words: list[str], config_dir: str | None, quiet: bool) -> Any:
    from boostrun.runner.execute import run_cells
    from boostrun.runner.memory import keep_memory

    command, cells = ["boostrun.run", *words], compose_cells(words, config_dir)
    settings = [settings for _, settings in cells]
    _, settings = keep_memory(settings, [cell for cell, _ in cells], config_dir, command, quiet)
    return run_cells(settings, command=command, quiet=quiet)


def records(*words: str, curves: bool = False, config_dir: str | None = None, **keys) -> pandas.DataFrame:
    """Stored records as a table; nothing is run.

    Parameters
    ----------
    words : an item of a paper, as "reservoir/table3", or "key=value" texts, several values separated by commas: the
        records of those cells for the seeds given by ``trials`` and ``seed``, stale ones if there are no others. By
        default everything that is stored, in the folder ``store`` and packed below ``results``.
    curves : one row per point of a record's curve instead of one per record; ``T`` (or ``examples``) is that of the
        point.
    config_dir : a folder of your own YAML files, used with the packaged ones.
    keys : keys at the top of the config by keyword, e.g. ``trials=10, store="results/runs"``.

    Returns
    -------
    DataFrame
        With ``key`` (the name of the record's file), ``status``, ``seed``, ``time``, the cell by typed keys (``algo,
        dataset, features``, budgets, ``algo.shrinkage`` ...), every metric, ``log_loss`` and ``brier`` if
        ``run.predictions=true`` has kept probabilities, and every cost. With ``curves``, the columns of the curve
        instead of metrics and costs. Empty, with a warning, if ``words`` are cells without records.

    Raises BoostrunError for bad words.

    >>> from boostrun import run
    >>> places = {name: getfixture("tmp_path") / name for name in ("store", "results", "cache_root")}
    >>> df = run("algo=geem", "dataset=digits", "r=12", "algo.shrinkage=0.1,0.5", T=3, trials=1, n_jobs=1, **places)
    >>> df = records(**places)
    >>> sorted(df["algo.shrinkage"]), df["samples_drawn"].tolist()
    ([0.1, 0.5], [600, 600])
    >>> records("algo=geem", "dataset=digits", "r=12", T=3, trials=1, curves=True, **places)["T"].tolist()
    [1, 2, 3]
    """
    loader.forget()
    found, kept = _stored(words, _words(keys), config_dir)
    rows = [row for record in found for row in _rows(record, kept, curves)]
    if words and not rows:
        warnings.warn(
            f"there are no records of {' '.join(words)}: keys that are not given have their defaults; records() "
            "without words gives everything that is stored",
            stacklevel=2,
        )
    _warn()
    return pandas.DataFrame(rows)


def fit(
    X: Any, y: Any, within: str | Mapping[str, Any], *words: str, folder: Path | str | None = None, quiet: bool = True,
) -> Any:  # fmt: skip
    """A classifier that keeps several budgets at once, chosen among methods and settings, as ``boostrun fit`` does.

    Parameters
    ----------
    X : (n, d) array, or a frame whose columns may be text, dates and missing values.
    y : (n,) labels of at least two classes: whole numbers, truth values, text, dates. ``predict`` gives them back.
    within : budgets, as ``{"features": 20, "flash": "4kB"}`` or ``"features=20,flash=4kB"``: memory, features, flash,
        latency, held, seconds; see :mod:`boostrun.runner.meters`.
    words : "key=value" texts, such as "algo=few_features,lightgbm" or "n_jobs=2".
    folder : where trials are kept, so that an interrupted call continues; by default nothing remains.
    quiet : show no progress on stderr.

    Returns
    -------
    A fitted classifier of boostrun with ``certificate_``, a dict: each budget with the cost under it, the accuracy with
    its interval on a fifth of the rows that the search never saw, and the next best method of another kind.

    Raises BoostrunError for bad data and for budgets that cannot be kept (it names the smallest that can), and
    KeyboardInterrupt when interrupted.

    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = fit(X, y, {"features": 2}, "algo=laminating", "n_jobs=1")  # doctest: +SKIP
    >>> clf.certificate_["budgets"]["features"]["spent"]  # doctest: +SKIP
    2.0
    """
    from boostrun.prediction import load
    from boostrun.runner.meters import budgets_of
    from boostrun.runner.wide import Request, kept_of
    from boostrun.runner.within import fit_within

    loader.forget()
    budgets, begun = budgets_of(within), time.monotonic()
    X, (labels, classes) = _rows_of(X), _labels_of(y)
    algos = keys_and_values([each for each in words if each.startswith("algo=")])
    others = [each for each in words if not each.startswith("algo=")]
    with contextlib.ExitStack() as stack:
        place = Path(folder or stack.enter_context(tempfile.TemporaryDirectory())).absolute()
        place.mkdir(parents=True, exist_ok=True)
        typed = {each.partition("=")[0] for each in others}
        places = {"store": "runs", "results": "results", "cache_root": "cache"}
        others += [f"{key}={quoted(str(place / name))}" for key, name in places.items() if key not in typed]
        plain = isinstance(X, numpy.ndarray) and X.ndim == 2 and X.dtype.kind in "biuf"
        wide = plain and kept_of(X.shape[1], budgets) > 0  # its best columns will be written, not all
        table = [f"dataset={quoted(str(place / 'table.npz'))}"] if wide else _kept_table(place, X, labels)
        again = ", ".join(["X", "y", *map(repr, (within, *words))])
        request = Request(
            [*table, *others], tuple(algos[0][1]) if algos else (), budgets, place / "model.npz", ["boostrun.fit"],
            f"boostrun.fit({again})", None, quiet, (X, labels) if wide else None,
        )  # fmt: skip
        try:
            found = fit_within(request, begun)
        except BoostrunError as error:
            said = str(error).replace(str(place / "table.parquet"), "X").replace(str(place / "table.npz"), "X")
            raise BoostrunError(said) from None
        if found is None:
            raise KeyboardInterrupt
        model: Any = load(found.path)
        model.certificate_ = found.certificate
        if classes is not None:
            model.classes_ = classes[model.classes_]
    return model


def _rows_of(X: Any) -> Any:
    """X as a frame of pandas with names of its columns as text, or as an array; BoostrunError if it is neither."""
    X = opened(X)
    if not is_table(X):
        found = numpy.asarray(X)
        if found.dtype == object:
            try:
                found = found.astype(numpy.float64)
            except (TypeError, ValueError):
                raise BoostrunError("X is an array of objects that are no numbers: give a frame of pandas") from None
        if found.dtype.kind not in "biuf" or found.ndim < 2:
            raise BoostrunError(f"X is an array {found.shape} of {found.dtype}: (n, d) numbers or a frame are needed")
        return found
    X = X if isinstance(X, pandas.DataFrame) else X.to_pandas()
    if isinstance(X.columns, pandas.MultiIndex):
        raise BoostrunError("X has columns on several levels: give each column one name")
    frame = X.rename(columns=str).reset_index(drop=True)
    if twice := frame.columns[frame.columns.duplicated()].tolist():
        raise BoostrunError(f"X has two columns called '{twice[0]}'; give each column a name of its own")
    for name, column in frame.items():
        kind: Any = column.dtype
        if isinstance(kind, pandas.SparseDtype):
            frame[name] = column.sparse.to_dense()
        elif getattr(kind, "kind", "") == "c":
            raise BoostrunError(f"column '{name}' of X holds complex numbers")
        elif str(kind) == "object" and len({type(value) for value in column.dropna()}) > 1:
            frame[name] = column.map(str, na_action="ignore")
    return frame


def _labels_of(y: Any) -> tuple[numpy.ndarray, numpy.ndarray | None]:
    """Labels (n,) that a file keeps as they are, and None; or the places of labels among the classes, and these."""
    labels = numpy.asarray(y)
    if labels.ndim != 1 or not len(labels):
        raise BoostrunError(f"y has the shape {labels.shape}, and (n,) labels are needed")
    if pandas.isna(labels).any():
        raise BoostrunError(f"y has no label in row {int(numpy.argmax(pandas.isna(labels)))} (counted from 0)")
    if labels.dtype.kind == "f" and not (whole := numpy.isfinite(labels) & (numpy.floor(labels) == labels)).all():
        row = int(whole.argmin())
        raise BoostrunError(f"y holds {labels[row]:g} in row {row} (counted from 0): labels must be classes")
    if labels.dtype.kind in "iuf" and labels.min() >= -_MOST and labels.max() < _MOST:
        return labels, None
    if all(isinstance(label, str) for label in labels.tolist()):
        words = sorted(set(labels.tolist()))
        if all(word == word.strip() != "" for word in words) and plain_labels(words).tolist() == words:
            return labels.astype(str), None
    places, classes = pandas.factorize(labels, sort=len({type(label) for label in labels.tolist()}) == 1)
    return places.astype(numpy.int64), numpy.asarray(classes)


def _kept_table(folder: Path, X: Any, labels: numpy.ndarray) -> list[str]:
    """The words for a file of samples and labels in ``folder``: a table for a frame, else arrays."""
    if len(labels) != len(X):
        raise BoostrunError(f"X has {len(X)} rows and y {len(labels)} labels")
    if not isinstance(X, pandas.DataFrame):
        numpy.savez(folder / "table.npz", x=X, y=labels)
        return [f"dataset={quoted(str(folder / 'table.npz'))}"]
    import pyarrow

    label = "label"
    while label in X:
        label += "_"
    try:
        X.assign(**{label: labels}).to_parquet(folder / "table.parquet")
    except (pyarrow.ArrowException, TypeError, ValueError) as error:
        raise BoostrunError(f"X cannot be kept as a table: {' '.join(str(error).split())[:200]}") from None
    return [f"dataset={quoted(str(folder / 'table.parquet'))}", f"dataset.label={label}"]


def _words(keys: Mapping[str, Any]) -> list[str]:
    """Keywords as words; a path, and a value of a key that names a folder, is one text."""
    def one(key: str, value: Any) -> str:
        if value is None:
            return "null"
        if isinstance(value, (list, dict)):
            return quoted(value)
        text = isinstance(value, os.PathLike) or key in (*PLACES, "name")
        return quoted(str(value)) if text else str(value)

    return [f"{key}={one(key, value)}" for key, value in keys.items()]


def _warn() -> None:
    if line := set_aside_line():
        warnings.warn(line, stacklevel=3)


def _stored(words: tuple[str, ...], given: list[str], config_dir: str | None) -> tuple[Iterable[Mapping], Path]:
    """The records, and the folder of their trials' predictions."""
    items, overrides = [each for each in words if "=" not in each], [each for each in words if "=" in each] + given
    if len(items) > 1:
        raise BoostrunError(f"records takes one item of a paper, not {len(items)} ({', '.join(items)})")
    if not items and len(words_of_places(overrides)) == len(overrides):
        settings = compose_one(overrides, config_dir)
        return open_store(settings).records(), predictions.folder_of(settings)
    if items:
        all_settings = paper.load(items[0], overrides, False, config_dir).settings
    else:
        all_settings = compose_all(overrides, config_dir)
    cells = plan(all_settings, open_store(all_settings[0]))
    found = [record for cell in cells for record in [*cell.best_records, *cell.failed]]
    unique = {record["key"]: record for record in found}  # an item may have a cell twice
    return unique.values(), predictions.folder_of(all_settings[0])


def _rows(record: Mapping[str, Any], kept: Path, curves: bool) -> Iterable[dict[str, Any]]:
    names = {"key": record["key"], "status": record["status"], "seed": record["seed"]}
    names |= {"time": record["provenance"].get("time"), **flat(record["cell"])}
    if not curves:
        (record,) = predictions.completed([record], kept)
        return [names | record["metrics"] | predictions.measures(kept, record["key"]) | record["cost"]]
    curve = record["curve"] or {}
    points: list = next((curve[axis] for axis in _AXES if axis in curve), [])
    lists = {name: values for name, values in curve.items() if isinstance(values, list) and len(values) == len(points)}
    return [names | {name: values[place] for name, values in lists.items()} for place in range(len(points))]
