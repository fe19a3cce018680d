"""The runner as a function: the same cells, store and resumption as the command, and a pandas table back."""

from __future__ import annotations

import warnings

import pandas

from boostrun.config.words import keys_and_values
from boostrun.errors import BoostrunError
from boostrun.runner import predictions
from boostrun.runner.compose import compose_all
from boostrun.runner.execute import run_cells
from boostrun.runner.naming import apart
from boostrun.store.record import set_aside_line


def run(*overrides: str, quiet: bool = True, config_dir: str | None = None, **keys) -> pandas.DataFrame:
    """Run every combination of the overrides, as ``boostrun -m`` does, and return one row a trial.

    Parameters
    ----------
    overrides : "key=value" texts, several values separated by commas.
    quiet : show no progress on stderr.
    config_dir : a folder of your own YAML files, beside the packaged ones.
    keys : keys at the top of the config by keyword, e.g. ``trials=10, n_jobs=2``.

    Returns a DataFrame with columns ``algo, dataset, features``, the budget (``r, q, T, ...``), every other key that
    differs between the rows or is named in the call (``algo.shrinkage``, ``features.bins``, ``holdout`` ...), ``seed``,
    every metric, ``log_loss`` and ``brier`` where ``run.predictions=true`` has kept probabilities, and every cost; what
    a method or its records do not have is missing (NA). Raises BoostrunError for bad settings, failed trials, or when
    interrupted.

    >>> folder = getfixture("tmp_path")
    >>> df = run("algo=majority", "dataset=digits", trials=2, n_jobs=1, store=folder / "runs", cache_root=folder)
    >>> df[["algo", "dataset", "seed", "test_accuracy_pct"]]
           algo dataset  seed  test_accuracy_pct
    0  majority  digits     0          10.027855
    1  majority  digits     1          10.027855
    """
    words = [*overrides, *(f"{key}={'null' if value is None else value}" for key, value in keys.items())]
    result = run_cells(compose_all(words, config_dir), command=["boostrun.run", *words], quiet=quiet)
    if line := set_aside_line():
        warnings.warn(line, stacklevel=2)
    if result.interrupted:
        raise KeyboardInterrupt
    if result.failed:
        error = result.failed[0]["error"]
        raise BoostrunError(f"{len(result.failed)} trials failed, the first with: {error['message']}")
    rows, kept = [], predictions.folder_of(result.cells[0].settings)
    for cell, settings in zip(result.cells, apart(result.cells, {key for key, _ in keys_and_values(words)})):
        for record in cell.done:
            measured = record["metrics"] | predictions.measures(kept, record["key"])
            rows.append({**settings, "seed": record["seed"], **measured, **record["cost"]})
    table = pandas.DataFrame(rows)
    budgets = {key for cell in result.cells for key in cell.cell.budget}
    return table.astype({key: "Int64" for key in budgets & set(table) if table[key].isna().any()})  # no 20.0 for 20
