"""Equal tuning: seeded, resumable, the same whatever the workers; as many trials for every method."""

import dataclasses

import numpy as np
import pytest

from boostrun.cli.tune import choice_text
from boostrun.config.fields import Choices, Range
from boostrun.errors import BoostrunError
from boostrun.runner import search
from boostrun.runner.execute import RunResult
from boostrun.runner.plan import cell_of, compose_all, compose_one
from boostrun.runner.search import BATCH, BY, study_of, tune_all

SPACE = {"algo.shrinkage": Range(0.02, 1.0, log=True), "T": Range(2, 60)}

ALL = ["algo.weak_learner", "algo.depth", "algo.shrinkage", "algo.coefficient", "algo.stump_weights"]


@dataclasses.dataclass
class Made:
    """A stand-in for a planned cell: its settings, and a record of each seed."""

    settings: object
    done: list
    failed: list
    refused: str = ""


class Runs:
    """Stands for ``run_cells``: an error that is best at a shrinkage of 0.1 and T of 40, kept as a store does."""

    def __init__(self, backwards=False, cut_after=None):
        self.store, self.backwards, self.cut_after, self.calls = {}, backwards, cut_after, []

    def __call__(self, all_settings, **_):
        self.calls.append(len(all_settings))
        order = reversed(all_settings) if self.backwards else all_settings
        for settings in order:
            cell = cell_of(settings)
            if self.cut_after is not None and len(self.store) >= self.cut_after and cell.key not in self.store:
                return search_result([], True)
            error = abs(settings.algo["shrinkage"] - 0.1) + abs(settings.budget["T"] - 40) / 40
            status = "failed" if settings.budget["T"] > 50 else "done"
            self.store[cell.key] = {
                "key": cell.key, "status": status, "metrics": {BY: error}, "cost": {"train_seconds": 1.0},
                "error": {"message": "too long"},
            }  # fmt: skip
        return search_result([made(settings, self.store[cell_of(settings).key]) for settings in all_settings], False)


def made(settings, record):
    done = record["status"] == "done"
    return Made(settings, [record] * len(settings.seeds) * done, [] if done else [record])


def search_result(cells, interrupted):
    failed = [record for cell in cells for record in cell.failed]
    return RunResult(cells, failed, interrupted)


@pytest.fixture
def runs(monkeypatch):
    def use(**how):
        made = Runs(**how)
        monkeypatch.setattr(search, "run_cells", made)
        return made

    return use


def studies(*words):
    return [study_of(settings, (), SPACE) for settings in compose_all(["algo=wsam,geem", "r=20", *words])]


def tuned(found):
    return [[(row["values"], row[BY]) for row in choice.rows] for choice in found.choices]


def test_a_seed_decides_all_that_is_tried_and_the_order_in_which_runs_end_nothing(runs):
    runs()
    first, again, other = (tuned(tune_all(studies(f"seed={seed}"), 12, quiet=True)) for seed in (0, 0, 1))
    assert first == again != other
    runs()
    forwards = tuned(tune_all(studies(), 12, quiet=True))
    runs(backwards=True)
    assert tuned(tune_all(studies(), 12, quiet=True)) == forwards


def test_a_search_that_was_cut_off_goes_on_and_ends_in_the_same_choice(runs):
    runs()
    whole = tune_all(studies(), 12, quiet=True)
    cut = runs(cut_after=13)
    begun = tune_all(studies(), 12, quiet=True)
    assert begun.interrupted and len(cut.store) == 13 and not any(choice.rows for choice in begun.choices)
    cut.cut_after = None
    ended = tune_all(studies(), 12, quiet=True)
    assert not ended.interrupted and tuned(ended) == tuned(whole)
    assert [choice.best for choice in ended.choices] == [choice.best for choice in whole.choices]


def test_every_method_has_as_many_trials_its_usual_settings_first_and_all_are_in_one_queue(runs):
    made = runs()
    found = tune_all(studies(), 12, quiet=True)
    assert [len(choice.rows) for choice in found.choices] == [12, 12]
    assert made.calls == [2 * BATCH, 2 * BATCH, 4]
    assert [choice.rows[0]["values"]["algo.shrinkage"] for choice in found.choices] == [0.5, 0.5]


def test_the_choice_has_the_least_error_and_values_that_fail_are_never_it(runs):
    runs()
    (found, _) = tune_all(studies(), 20, quiet=True).choices
    errors = [row[BY] for row in found.rows if row[BY] is not None]
    assert found.best[BY] == min(errors) and len(errors) < 20
    assert {row["why"] for row in found.rows if row[BY] is None} == {"too long"}
    assert found.best["values"]["T"] <= 50
    runs()
    space = {"algo.shrinkage": Range(0.5, 3.0)}
    (found,) = tune_all([study_of(compose_one(["algo=wsam", "T=40"]), (), space)], 10, quiet=True).choices
    assert any("algo.shrinkage=" in row["why"] for row in found.rows) and found.best is not None
    runs()
    space = {"T": Range(51, 60)}
    (found,) = tune_all(
        [study_of(compose_one(["algo=wsam", "T=55"]), ["algo.shrinkage"], space)], 3, quiet=True
    ).choices
    assert found.best is None
    with pytest.raises(BoostrunError, match="no values are chosen for wsam"):
        found.kept()


def test_a_key_that_has_no_effect_is_not_asked_for(runs):
    runs()
    space = {
        "algo.coefficient": Choices("log_odds", "newton"),
        "T": Range(2, 40, when={"algo.coefficient": "newton"}),
    }
    (found,) = tune_all([study_of(compose_one(["algo=wsam"]), ["algo.shrinkage"], space)], 12, quiet=True).choices
    asked = [(row["values"]["algo.coefficient"], "T" in row["values"]) for row in found.rows]
    assert set(asked) == {("log_odds", False), ("newton", True)}


def test_where_nothing_is_searched_there_is_one_trial_and_without_a_study_none(runs):
    made = runs()
    found = tune_all([study_of(compose_one(["algo=wsam", "T=40"]), ALL), *studies()], 7, quiet=True)
    assert [len(choice.rows) for choice in found.choices] == [1, 7, 7] and made.calls == [11, 4]
    assert tune_all([], quiet=True) == search.Found([], [], False)


def test_several_seeds_are_one_trial_whose_error_is_their_mean(runs):
    runs()
    study = study_of(compose_one(["algo=wsam", "T=40", "seed=3"]), ALL[1:])
    (found,) = tune_all([study], 2, seeds=3, quiet=True).choices
    assert list(found.trial.seeds) == [3, 4, 5] and len(found.rows[0]["records"]) == 3
    assert found.kept()["cost"] == {"of_the_run": {"train_seconds": 3.0}, "with_tuning": {"train_seconds": 6.0}}


def test_what_is_given_is_not_searched():
    assert "algo.shrinkage" not in study_of(compose_one(["algo=geem"]), ["algo.shrinkage"]).space
    assert {"algo.shrinkage", "algo.ridge"} <= study_of(compose_one(["algo=geem"])).space.keys()


def recorded(folder, rows=60):
    """A stream in a file, and the words of a command that follows it."""
    x = np.random.default_rng(0).normal(size=(rows, 2))
    np.savez(folder / "mine.npz", x=x, y=(x[:, 0] > 0).astype(int))
    return ["algo=dwm", "dataset=file_stream", f"dataset.path={folder}/mine.npz", "n_jobs=1"]


def test_a_recorded_stream_is_tuned_on_examples_that_are_not_scored_if_there_are_any(workplace, tmp_path):
    study = study_of(compose_one([*recorded(tmp_path), "dataset.scored_after=20"]))
    (choice,) = tune_all([study], 2, quiet=True).choices
    assert choice.trial.dataset["first"] == 20 and choice.trial.dataset["scored_after"] == 0
    assert choice.kept()["first"] == 20 and len(choice.rows) == 2
    assert "2 trials by the error on the first 20 examples" in choice_text(choice.kept())
    with pytest.raises(BoostrunError, match=r"is recorded: dataset.scored_after=12, or another number"):
        tune_all([study_of(compose_one(recorded(tmp_path)))], 2, quiet=True)
