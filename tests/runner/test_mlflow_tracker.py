"""Trials in MLflow: only when asked for, and then the same figures as in the records."""

import json
import sys

import pytest

SMALL = "algo=rand dataset=digits r=12 T=4 trials=2 n_jobs=1"


def test_without_mlflow_a_sentence_comes_before_anything_runs(command, workplace, monkeypatch):
    monkeypatch.setitem(sys.modules, "mlflow.tracking", None)
    code, _, err = command(f"{SMALL} run.tracker=mlflow")
    assert code == 2 and "pip install 'boostrun[mlflow]'" in err and not (workplace / "results").exists()
    code, _, err = command(f"{SMALL} run.tracker=mlfow")
    assert code == 2 and "mlflow" in err


@pytest.mark.slow
def test_a_run_is_copied_once_with_its_settings_figures_and_curves(command, workplace, monkeypatch):
    pytest.importorskip("mlflow.tracking", reason="needs mlflow (pip install 'boostrun[mlflow]')")
    from mlflow.tracking import MlflowClient

    monkeypatch.setenv("MLFLOW_TRACKING_URI", (workplace / "mlruns").as_uri())
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    for _ in range(2):  # the second time every trial is there
        code, _, err = command(f"{SMALL} run.tracker=mlflow")
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
