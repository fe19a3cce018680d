"""Rows of a table are told apart by whatever differs, and failures are repeated by the command that is printed."""

from types import SimpleNamespace

import pytest

from boostrun.cli.arguments import parse
from boostrun.cli.run import print_end
from boostrun.runner.plan import cell_of, compose_one

WORDS = "algo=wsam dataset=digits r=10 T=2 trials=1 n_jobs=1 run.pictures=false"


@pytest.mark.parametrize(("key", "value"), [("holdout", "0.2"), ("train_samples", "50")])
def test_a_sweep_with_and_without_a_subset_has_a_column_and_no_note_about_all_rows(command, workplace, key, value):
    code, out, err = command(f"-m {WORDS} {key}=null,{value} --name apart")
    assert code == 0, err
    head, first, second = out.splitlines()[:3]
    assert key in head and "null" in first and value in second
    note = (workplace / "results/tables/apart/table.md").read_text()
    assert f"{key}={value}" not in note.partition("again:")[0].replace(f"{key}={value},", "")


@pytest.mark.parametrize(("kind", "said"), [("KeyError", "KeyError: 'key'"), ("BoostrunError", "'key'")])
def test_a_failed_trial_is_repeated_in_the_same_places_and_its_error_is_named(capsys, kind, said):
    words = parse(["algo=wsam", "dataset=digits", "store=mine", "data_root=there", "n_jobs=1"])
    cell = cell_of(compose_one(["algo=wsam", "dataset=digits"])).config()
    record = {"cell": cell, "seed": 3, "error": {"type": kind, "message": "'key'"}}
    assert print_end(SimpleNamespace(failed=[record], interrupted=False), words) == 1
    first, again = capsys.readouterr().err.splitlines()
    assert first.endswith(f"seed=3: {said}") and "store=mine data_root=there" in again and "n_jobs" not in again
