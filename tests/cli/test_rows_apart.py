"""Rows of a table are told apart by whatever differs, and failures are repeated by the command that is printed."""

import pytest

WORDS = "algo=wsam dataset=digits r=10 T=2 trials=1 n_jobs=1 run.pictures=false"


@pytest.mark.parametrize(("key", "value"), [("holdout", "0.2"), ("train_samples", "50")])
def test_a_sweep_with_and_without_a_subset_has_a_column_and_no_note_about_all_rows(command, workplace, key, value):
    code, out, err = command(f"-m {WORDS} {key}=null,{value} --name apart")
    assert code == 0, err
    head, first, second = out.splitlines()[:3]
    assert key in head and "null" in first and value in second
    note = (workplace / "results/tables/apart/table.md").read_text()
    assert f"{key}={value}" not in note.partition("again:")[0].replace(f"{key}={value},", "")


def test_a_failed_trial_is_repeated_in_the_same_places_and_its_error_is_named(command, workplace, tmp_path):
    folder = workplace / "mine" / "algo"
    folder.mkdir(parents=True)
    (workplace / "mine" / "fails.py").write_text(
        "from sklearn.base import BaseEstimator, ClassifierMixin\n\n\n"
        "class Fails(ClassifierMixin, BaseEstimator):\n"
        "    def fit(self, X, y):\n        raise KeyError('key')\n\n"
        "    def predict(self, X):\n        return X[:, 0]\n"
    )
    words = f"--config-dir mine algo=estimator algo.class=fails:Fails dataset=digits store={tmp_path}/s"
    code, _, err = command(f"{words} trials=1 n_jobs=1 run.pictures=false")
    assert code == 1 and f"store={tmp_path}/s" in err.partition("again: ")[2], err
