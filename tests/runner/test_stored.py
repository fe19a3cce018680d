"""Rows of run() and records(), and of MLflow: they are distinct, and have all that is stored."""

import json
import sys

import pytest

from boostrun import BoostrunError, records, run

SMALL = {"T": 3, "trials": 2, "n_jobs": 1}


def test_every_swept_or_named_key_is_a_column_so_that_rows_can_be_told_apart(workplace):
    df = run("algo=geem", "dataset=digits", "r=12", "algo.shrinkage=0.1,0.5", "features.bins=16,256", **SMALL)
    assert len(df) == 8 and not df.duplicated(["algo.shrinkage", "features.bins", "seed"]).any()
    assert df.columns[:6].tolist() == ["algo", "dataset", "features", "r", "q", "T"]
    assert "algo.ridge" not in df and "holdout" not in df
    df = run("algo=rand", "dataset=digits", "r=12", "holdout=0.2", "dataset.split_seed=0", **SMALL)
    assert df["holdout"].tolist() == [0.2, 0.2] and df["dataset.split_seed"].tolist() == [0, 0]
    df = run("algo=geem,rand", "dataset=digits", "r=12", "holdout=null,0.2", **SMALL)
    assert sorted(df["holdout"].isna()) == [False] * 4 + [True] * 4 and len(df) == 8
    df = run("algo=geem,majority", "dataset=digits", "r=12", **SMALL | {"trials": 1})
    assert df["r"].isna().tolist() == [False, True] and df["r"][0] == 12 and str(df["r"].dtype) == "Int64"
    assert "samples_drawn" in df and df["samples_drawn"].isna().tolist() == [False, True]


def test_log_loss_and_brier_are_columns_where_probabilities_were_kept(workplace):
    words = ["algo=rand", "dataset=digits", "r=12", "run.pictures=false"]
    assert "log_loss" not in run(*words, **SMALL)
    kept = run(*words, "run.predictions=true", **SMALL | {"trials": 1})
    assert 0 < kept["brier"][0] < 1 < kept["log_loss"][0]
    found = records().sort_values("seed")
    assert found["log_loss"].tolist()[0] == kept["log_loss"][0] and found["brier"].isna().tolist() == [False, True]
    assert "log_loss" not in records(curves=True)


@pytest.fixture
def stored(workplace):
    """Four cells, two trials each, one of them failed by hand."""
    df = run("algo=rand,geem", "dataset=digits", "r=12,15", **SMALL)
    path = next(iter(sorted((workplace / "results" / "runs").rglob("*.json"))))
    return df, path


def test_records_are_what_is_stored(stored):
    df, path = stored
    found = records()
    assert len(found) == 8 and set(found["status"]) == {"done"} and found["key"].is_unique
    assert path.stem in set(found["key"]) and found["time"].notna().all()
    assert {"algo.shrinkage", "features.bins", "dataset.split_seed", "test_error_pct", "peak_memory_mb"} <= set(found)
    by = ["algo", "r", "seed"]
    both = found.sort_values(by)["test_accuracy_pct"].tolist(), df.sort_values(by)["test_accuracy_pct"].tolist()
    assert both[0] == both[1]
    assert len(records(store="elsewhere")) == 0


def test_records_of_some_cells_are_those_and_nothing_is_run(stored):
    found = records("algo=geem", "dataset=digits", "r=12,15,20", T=3, trials=5)
    assert sorted(zip(found["r"], found["seed"])) == [(12, 0), (12, 1), (15, 0), (15, 1)]
    assert len(records()) == 8
    with pytest.raises(BoostrunError, match="no algo 'gem'"):
        records("algo=gem")
    with pytest.raises(BoostrunError, match="no paper item 'reservoir/table9'"):
        records("reservoir/table9")
    with pytest.raises(BoostrunError, match="takes one item of a paper, not 2"):
        records("reservoir/table3", "reservoir/table4")


def test_a_curve_has_a_row_for_each_point(stored):
    df, path = stored
    record = json.loads(path.read_text())
    curves = records(curves=True)
    mine = curves[curves["key"] == record["key"]]
    assert (
        mine["T"].tolist() == [1, 2, 3] and mine["test_accuracy_pct"].tolist() == record["curve"]["test_accuracy_pct"]
    )
    assert len(curves) == 24 and {"algo", "r", "seed", "samples_drawn"} <= set(curves)
    last = curves[curves["T"] == 3].sort_values(["algo", "r", "seed"])["test_accuracy_pct"].tolist()
    assert last == pytest.approx(df.sort_values(["algo", "r", "seed"])["test_accuracy_pct"].tolist())


def test_records_of_a_stream_have_its_curve_by_examples(workplace):
    run("algo=majority_so_far", "dataset=sea", "dataset.n_samples=1000", trials=1, n_jobs=1)
    curves = records(curves=True)
    assert curves["examples"].is_monotonic_increasing and len(curves) > 1 and "changes" not in curves


def test_records_of_a_papers_item_are_those_of_its_cells(workplace, command):
    words = ["dataset=digits", "algo=rand", "r=12", "T=4", "trials=2", "n_jobs=1"]
    with pytest.warns(UserWarning, match="no records of reservoir/table3"):
        assert len(records("reservoir/table3", *words)) == 0
    command(f"reproduce reservoir/table3 {' '.join(words)}")
    found = records("reservoir/table3", *words)  # its three settings; both sizes have become one
    assert set(found["algo"]) == {"rand"} and sorted(found["algo.shrinkage"]) == [0.1, 0.1, 0.5, 0.5, 1.0, 1.0]


def test_rows_of_a_plan_differ_where_cells_do(command):
    line = "-m algo=geem,rand dataset=digits r=12 T=3 trials=1 features.bins=16,256 algo.shrinkage=0.1,0.5"
    code, out, err = command(f"plan {line}")
    rows = out.splitlines()[:-1]
    assert code == 0, err
    assert len(rows) == 8 and len(set(rows)) == 8
    assert rows[0].startswith("geem · digits · raw · r=12 q=12 T=3 · algo.shrinkage=0.1 features.bins=16: 1 to run")
    assert command("plan algo=geem dataset=digits r=12 T=3")[1].startswith(
        "geem · digits · raw · r=12 q=12 T=3: 10 to run"
    )


TRACKED = "algo=rand dataset=digits r=12 T=4 trials=2 n_jobs=1"


def test_without_mlflow_a_sentence_comes_before_anything_runs(command, workplace, monkeypatch):
    monkeypatch.setitem(sys.modules, "mlflow.tracking", None)
    code, _, err = command(f"{TRACKED} run.tracker=mlflow")
    assert code == 2 and "pip install 'boostrun[mlflow]'" in err and not (workplace / "results").exists()
    code, _, err = command(f"{TRACKED} run.tracker=mlfow")
    assert code == 2 and "mlflow" in err


@pytest.mark.slow
def test_a_run_is_copied_once_with_its_settings_figures_and_curves(command, workplace, monkeypatch):
    pytest.importorskip("mlflow.tracking", reason="needs mlflow (pip install 'boostrun[mlflow]')")
    from mlflow.tracking import MlflowClient

    monkeypatch.setenv("MLFLOW_TRACKING_URI", (workplace / "mlruns").as_uri())
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    for _ in range(2):  # the second time every trial is there
        code, _, err = command(f"{TRACKED} run.tracker=mlflow")
        assert code == 0, err
    client = MlflowClient()
    runs = client.search_runs([client.get_experiment_by_name("boostrun").experiment_id])
    records = [json.loads(path.read_text()) for path in (workplace / "results" / "runs").rglob("*.json")]
    assert len(runs) == len(records) == 2
    by_key = {run.data.tags["boostrun.key"]: run for run in runs}
    for record in records:
        run = by_key[record["key"]]
        assert run.info.status == "FINISHED" and run.data.params["r"] == "12" and run.data.params["algo"] == "rand"
        assert run.data.metrics["test_accuracy_pct"] == record["metrics"]["test_accuracy_pct"]
        curve = client.get_metric_history(run.info.run_id, "curve.test_accuracy_pct")
        assert [(one.step, one.value) for one in curve] == list(
            zip(record["curve"]["T"], record["curve"]["test_accuracy_pct"])
        )
