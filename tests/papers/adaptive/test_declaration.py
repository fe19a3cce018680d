"""The declaration: keys are those of the published records, defaults those of the constructors, imports light."""

import numpy as np
import pytest

from boostrun.config.fields import MISSING, kind_of
from boostrun.errors import BoostrunError
from boostrun.methods.declaration import obtain
from boostrun.papers.adaptive import METHODS, POLICIES

from ...published import of_item

SWEPT = {"family", "scale", "edge_gaps", "budget_multiplier", "laminating_Q"}  # of the published cells
UNPUBLISHED = {"pruning", "mabsplit", "few_features", "mas_q1_whole"}  # in none of the tables below


def made(name, **values):
    method = METHODS[name]
    return method.make(values, method.budget_defaults, {"random_state": 7, "n_jobs": 2})


def published():
    """One cell of each method."""
    cells = {}
    for item in ("table1", "beyond", "figure2"):
        for record in of_item(f"adaptive/{item}"):
            cells.setdefault(record["cell"]["algo"]["name"], record["cell"])
    return cells


def test_every_published_cell_has_the_keys_and_the_defaults_that_are_declared():
    cells = published()
    assert set(cells) == set(METHODS) - UNPUBLISHED
    for name, cell in cells.items():
        early = {key: one for key, one in METHODS[name].fields.items() if kind_of(one).absent == MISSING}
        declared = {key: one.default for key, one in early.items()}
        given = {key: value for key, value in cell["algo"].items() if key != "name"}
        assert set(given) == set(declared), name
        kept = declared.keys() - SWEPT
        assert {key: given[key] for key in kept} == {key: declared[key] for key in kept}, name
        assert set(cell["budget"]) == set(METHODS[name].budget_defaults), name


def test_keys_of_a_policy_come_to_it_under_its_own_names():
    assert made("mas_q1", mas_noise="paper", mas_s_ratio=3.0, sampling="uniform").policy.noise == "paper"
    assert made("tasting_laminating", laminating_Q=64, tasting_R=3, tasting_pilot_share=0.2).policy == obtain(
        POLICIES["tasting_laminating"]
    )(Q=64, R=3, pilot_share=0.2)
    assert made("mas_naive", sampling="uniform").sampling == "uniform"


def test_a_scale_may_be_tuned_on_the_command_line_and_not_in_the_library():
    for name in ("ucb", "exp3p", "eps_greedy"):
        assert METHODS[name].tuning.values == tuple(range(12))
        assert kind_of(METHODS[name].fields["scale"]).read("tuned") == "tuned"
        with pytest.raises(BoostrunError, match="scale='tuned': a whole number from 0 to 30 is needed"):
            obtain(POLICIES[name])(scale="tuned")
    assert METHODS["best_family"].tuning.key == "family" and not METHODS["best_family"].tuning.values


@pytest.mark.parametrize("name", ["laminating", "mabsplit"])
def test_a_budget_of_evaluations_buys_trees_with_their_refits_and_stumps_where_those_would_be_few(name):
    keeping = obtain(METHODS[name].keeps["evaluations"])
    facts = {"n_samples": 60_000, "n_features": 784, "n_classes": 10}
    for budget in (3e6, 1e7, 1e9):
        told = keeping(budget, facts)
        spent = told["T"] * 60_000 * (told["algo.budget_multiplier"] * 31 + 5)
        assert told["algo.weak_learner"] == "tree" and told["algo.depth"] == 5 and spent <= budget < 1.2 * spent
    assert keeping(2e6, facts)["algo.weak_learner"] == "stump"  # four trees
    assert keeping(1e9, facts | {"n_samples": 9_000})["algo.weak_learner"] == "stump"  # 900 pairs a split
    part = facts | {"n_samples": 9_000, "n_training": 11_250}  # the training part of a search, if all have trees
    assert keeping(1e9, part)["algo.weak_learner"] == "tree"


@pytest.mark.parametrize("budget", [2e5, 1e6])
@pytest.mark.parametrize("name", [name for name, method in METHODS.items() if "evaluations" in method.keeps])
def test_looks_that_choose_taste_and_refit_are_within_a_budget_of_evaluations(name, budget):
    rng, method = np.random.default_rng(0), METHODS[name]
    X = rng.integers(0, 256, (600, 40), dtype=np.uint8)
    facts = {"n_samples": 600, "n_features": 40, "n_classes": 3, "n_families": 2}
    words = obtain(method.keeps["evaluations"])(budget, facts)
    values = {key.partition(".")[2]: value for key, value in words.items() if "." in key}
    sizes = {key: value for key, value in words.items() if "." not in key}
    defaults = {key: field.default for key, field in method.fields.items()}
    model = method.make(defaults | values, {**method.budget_defaults, **sizes}, {"random_state": 0})
    model.set_params(families=[("one", 0, 20), ("two", 20, 40)]).fit(X, X[:, 0] // 90)
    spent = sum(int(model.ledger_[each].sum()) for each in ("selection", "tasting", "pilot", "refit"))
    assert 0 < spent <= budget
