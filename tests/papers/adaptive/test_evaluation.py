"""The content of a record of adaptive sampling; every policy sees all families of a bank."""

from types import SimpleNamespace

import numpy as np
import pytest
from numba.core.event import install_recorder

from boostrun.config import catalogue
from boostrun.errors import BoostrunError
from boostrun.inputs.bank import Table
from boostrun.methods import hypothesis_ensemble as one_vs_all
from boostrun.papers.adaptive import METHODS
from boostrun.papers.adaptive.classifier import AdaBoostMHClassifier, StagedVotes
from boostrun.papers.adaptive.policies import BestFamily, UniformNaive

SEEDS = SimpleNamespace(filter=np.random.SeedSequence(0))


def read_only(array):
    """As the arrays of a bank are: another type to the compiler."""
    array.setflags(write=False)
    return array


class Bank:
    """120 samples of two families of features, for training and for testing."""

    families, classes, meta = [("some", 0, 5), ("others", 5, 12)], ("0", "1", "2"), {}

    def samples(self, split):
        return read_only(np.random.default_rng(0).integers(0, 256, (120, 12)).astype(np.uint8))

    def codes(self, split):
        return read_only(np.ascontiguousarray(self.samples(split).T))

    def labels(self, split):
        return self.samples(split)[:, 3] // 100


def measured(policy, **parameters):
    model = AdaBoostMHClassifier(policy, random_state=0, **{"n_estimators": 7, **parameters})
    return model, StagedVotes().run(model, Table(Bank()), SEEDS)


@pytest.mark.parametrize("policy", ["uniform_naive", "tasting_1q", "tasting_ucb", "mas_naive", "tasting_laminating"])
def test_a_curve_counts_what_is_charged_and_all_that_finds_stumps(policy):
    model, result = measured(policy)
    curve, ledger = result["curve"], model.ledger_
    for t, charged, all_ in zip(curve["T"], curve["evaluations"], curve["all_evaluations"]):
        assert charged == sum(ledger["selection"][:t]) + sum(ledger["pilot"][:t])
        assert all_ == charged + sum(ledger["tasting"][:t])
    assert charged == result["cost"]["evaluations"] and all_ - charged == result["cost"]["evaluations_tasting"]
    assert (all_ > charged) == policy.startswith(("tasting_1q", "tasting_ucb"))


def test_a_record_tells_error_loss_and_the_families_of_the_steps():
    model, result = measured("uniform_naive", n_estimators=30)
    metrics, curve = result["metrics"], result["curve"]
    assert curve["T"] == [1, 2, 3, 5, 7, 10, 20, 30]
    scores = model.ensemble_.decision(Bank().samples("test"))
    accuracy = 100.0 * np.mean(one_vs_all.predict(scores, model.classes_) == Bank().labels("test"))
    assert metrics["test_accuracy_pct"] == pytest.approx(accuracy) == curve["test_accuracy_pct"][-1]
    assert metrics["test_error_pct"] == 100.0 - metrics["test_accuracy_pct"] == curve["test_error_pct"][-1]
    assert metrics["log10_loss"] == model.staged_log10_loss_[-1] == curve["log10_loss"][-1] < curve["log10_loss"][0]
    for place, t in enumerate(curve["T"]):
        some = int((model.ensemble_.features[:t] < 5).sum())
        told = {name: steps[place] for name, steps in curve["family_steps"].items()}
        assert told == {"some": some, "others": t - some}
    assert {f"evaluations_{account}" for account in model.ledger_} < set(result["cost"])
    assert "edge_gap_pct" not in curve and "edge_gap_pct" not in metrics


def test_edge_gaps_are_told_for_every_round():
    model, result = measured(UniformNaive(Q=2), edge_gaps=True, n_estimators=14)
    assert result["curve"]["T"] == list(range(1, 15))
    assert result["curve"]["edge_gap_pct"] == (100.0 * model.staged_edge_gap_).tolist()
    assert result["metrics"]["edge_gap_pct"] == 100.0 * model.staged_edge_gap_.mean() > 0


@pytest.mark.parametrize(
    ("policy", "words"),
    [(UniformNaive(Q=11), "Q=11 features on all 120 samples"), (BestFamily(family="sum"), "did you mean 'some'")],
)
def test_what_could_not_start_is_told_before_anything_is_trained(policy, words):
    model = AdaBoostMHClassifier(policy)
    with pytest.raises(BoostrunError, match=words):
        StagedVotes().check(model, Table(Bank()))
    StagedVotes().check(AdaBoostMHClassifier(UniformNaive(Q=10)), Table(Bank()))
    assert not hasattr(model, "classes_")


@pytest.mark.parametrize("name", METHODS)
def test_a_method_is_compiled_whatever_the_budget_and_the_families_of_its_cell(name):
    method = METHODS[name]
    keys = {key: field.default for key, field in method.fields.items()} | {"budget_multiplier": 0.01}
    keys |= {"family": "others"} if "family" in keys else {}
    StagedVotes().warm_up(method.make_small(keys, method.budget_defaults), Table(Bank()))
    with install_recorder("numba:compile") as compiled:
        model = method.make(keys | {"budget_multiplier": 12.0}, method.budget_defaults | {"T": 5}, {"random_state": 0})
        StagedVotes().run(model, Table(Bank()), SEEDS)
    assert not compiled.buffer


# --- a stranger's policy --------------------------------------------------------------------------------------------

STRANGER = """
import numpy as np
from boostrun.methods.paper import Paper

SEEN = []


class Recorder:
    def choose(self, board):
        SEEN.append([name for name, _, _ in board.families])
        features = np.array([start for _, start, _ in board.families][: board.budget // board.n])
        return int(features[np.argmax(board.edges(features)[0])])


PAPER = Paper("a stranger", policies={"recorder": "stranger_of_policies:Recorder"})
"""


@pytest.mark.parametrize("by_name", [False, True])
def test_a_strangers_policy_sees_every_family_as_an_object_and_by_name(by_name, tmp_path, monkeypatch):
    (tmp_path / "stranger_of_policies.py").write_text(STRANGER)
    (tmp_path / "papers.yaml").write_text("stranger: stranger_of_policies:PAPER\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    catalogue.read_own_papers(tmp_path)
    try:
        import stranger_of_policies as stranger

        stranger.SEEN.clear()
        model = AdaBoostMHClassifier("recorder" if by_name else stranger.Recorder(), n_estimators=5, random_state=0)
        StagedVotes().check(model, Table(Bank()))
        result = StagedVotes().run(model, Table(Bank()), SEEDS)
    finally:
        catalogue.forget()
    names = [name for name, _, _ in Bank.families]
    assert [names] * 5 == stranger.SEEN
    assert list(result["curve"]["family_steps"]) == names
    assert sum(steps[-1] for steps in result["curve"]["family_steps"].values()) == 5
