"""From a checked config to an estimator: how each algorithm is made, and of which modules.

Nothing heavy is imported until an estimator is made.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from boostrun.extend import objects
from boostrun.runner.make import estimator as make_estimator
from boostrun.runner.make import parameters_of_own


class Made(NamedTuple):
    """An algorithm is ``cls`` of ``module`` made with ``method`` first; ``also`` are modules it imports by name.

    Without a method ``cls`` is made with its keys alone, null ones left out, and budgets under the names in ``budget``.
    ``evaluate`` is the module whose ``train_and_test`` makes its records. Where ``policy`` is given, the method is a
    policy object; it says which keys are the policy's, and what the policy calls them. ``fixed`` are parameters that
    make the algorithm what it is.
    """

    module: str
    cls: str
    method: str | None
    also: tuple[str, ...] = ()
    evaluate: str = "boostrun.runner.evaluate"
    policy: Mapping[str, str] | None = None
    budget: Mapping[str, str] | None = None
    fixed: Mapping[str, str] | None = None


def _reservoir(name: str, module: str) -> Made:
    return Made("boostrun.reservoir.boosting", "ReservoirBoosting", name, (f"boostrun.reservoir.{module}",))


def _active(name: str, module: str) -> Made:
    return Made("boostrun.reservoir.active", "ActiveBoosting", name, (f"boostrun.reservoir.{module}",))


def _full_data(method: str, module: str) -> Made:
    return Made("boostrun.reservoir.full_data", "FullDataBoosting", method, (f"boostrun.reservoir.{module}",))


def _online(method: str, *also: str) -> Made:
    return Made("boostrun.reservoir.online_rivals", "OnlineRival", method, also)


def _sampling(policy: str, module: str, **keys: str) -> Made:
    return Made(
        "boostrun.sampling.adaboost_mh", "AdaBoostMH", policy, (f"boostrun.sampling.policies.{module}",),
        "boostrun.runner.evaluate_votes", keys,
    )  # fmt: skip


def _sharing(module: str, cls: str, evaluate: str, **budget: str) -> Made:
    return Made(f"boostrun.sharing.{module}", cls, None, (), f"boostrun.runner.{evaluate}", budget=budget)


def _iboost(update: str) -> Made:
    return _beyond_iboost("iboost", "IBoostClassifier")._replace(fixed={"update": update})


def _beyond_iboost(module: str, cls: str, **budget: str) -> Made:
    return Made(
        f"boostrun.drift.{module}", cls, None, (), "boostrun.runner.evaluate_drift",
        budget={"M": "budget", "n": "n_window", "p": "period", "b": "n_steps"} | budget,
    )  # fmt: skip


def _drift(module: str, cls: str, *others: str) -> Made:
    names = {"M": "budget", "n": "n_window", "p": "period"}
    return Made(
        f"boostrun.{module}", cls, None, (), "boostrun.runner.evaluate_drift",
        budget={key: names[key] for key in ("M", *others)},
    )  # fmt: skip


_POLICY_MODULES = tuple(
    f"boostrun.sampling.policies.{module}"
    for module in (
        "uniform", "best_family", "ucb", "exp3p", "eps_greedy", "tasting_1q", "tasting_q1", "mas_naive", "mas_1q",
        "mas_q1", "laminating", "tasting_laminating", "tasting_ucb",
    )
)  # fmt: skip
_MAS = {
    f"mas_{key}": key for key in (
        "noise", "deconvolve", "pilot_share", "components", "s_min", "s_ratio", "grid_points",
    )
}  # fmt: skip
_TASTING_INSIDE = {f"tasting_{key}": key for key in ("R", "best_of", "pilot_share")}
_MAS_PILOT = {"mas_q0_min": "q0_min", "mas_q0_max": "q0_max"}

ALGORITHMS = {
    "rand": _reservoir("rand", "strategies"),
    "max": _reservoir("max", "strategies"),
    "window": _reservoir("window", "strategies"),
    "wsam": _reservoir("wsam", "strategies"),
    "geem": _reservoir("geem", "geem"),
    "geem_lattice": _reservoir("geem_lattice", "geem"),
    "geem_split": Made("boostrun.reservoir.split", "SplitBoosting", "geem", ("boostrun.reservoir.geem",)),
    "geem_budgeted": Made(
        "boostrun.reservoir.budgeted",
        "BudgetedBoosting",
        "geem",
        ("boostrun.reservoir.geem", *_POLICY_MODULES),
        "boostrun.runner.evaluate_budgeted",
    ),
    "geem_active": _active("geem", "geem"),
    "wsam_active": _active("wsam", "strategies"),
    "rand_active": _active("rand", "strategies"),
    "max_active": _active("max", "strategies"),
    "wss": _full_data("wss", "wss"),
    "mada": _full_data("mada", "mada"),
    "fix": _full_data("fix", "fix"),
    "logitboost": _full_data("all", "fix"),
    "filterboost": _full_data("filterboost", "filterboost"),
    "oza": _online("oza"),
    "chen": _online("osboost"),
    "ocp": _online("ocp"),
    "bisc": _online("bisc"),
    "leistner": _online("leistner"),
    "geem_oza": _online("geem_oza", "boostrun.reservoir.geem"),
    "geem_chen": _online("geem_osboost", "boostrun.reservoir.geem"),
    "uniform_naive": _sampling("uniform_naive", "uniform", Q="Q"),
    "uniform_1q": _sampling("uniform_1q", "uniform", Q="Q"),
    "uniform_q1": _sampling("uniform_q1", "uniform", Q="Q"),
    "best_family": _sampling("best_family", "best_family", Q="Q", family="family"),
    "ucb": _sampling("ucb", "ucb", Q="Q", scale="scale"),
    "exp3p": _sampling(
        "exp3p", "exp3p", Q="Q", scale="scale", eta="eta", mixing="mixing", horizon="horizon", update="update"
    ),
    "eps_greedy": _sampling("eps_greedy", "eps_greedy", Q="Q", scale="scale"),
    "tasting_1q": _sampling("tasting_1q", "tasting_1q", Q="Q", tasting_R="R", charge="charge"),
    "tasting_q1": _sampling("tasting_q1", "tasting_q1", Q="Q", tasting_R="R", charge="charge"),
    "mas_naive": _sampling("mas_naive", "mas_naive", **_MAS, mas_refit_below="refit_below"),
    "mas_1q": _sampling("mas_1q", "mas_1q", **_MAS, **_MAS_PILOT),
    "mas_q1": _sampling("mas_q1", "mas_q1", **_MAS, **_MAS_PILOT),
    "laminating": _sampling("laminating", "laminating", laminating_Q="Q"),
    "tasting_laminating": _sampling("tasting_laminating", "tasting_laminating", laminating_Q="Q", **_TASTING_INSIDE),
    "tasting_ucb": _sampling(
        "tasting_ucb", "tasting_ucb", Q="Q", tasting_R="R", charge="charge", looks="looks", age_weight="age_weight"
    ),
    "fixed_sample": _sampling("fixed_sample", "fixed_sample", Q="Q"),
    "shareboost": _sharing("shareboost", "ShareBoost", "evaluate_sharing", T="n_features"),
    "ovr_greedy": _sharing("ovr_greedy", "OneVsRestGreedy", "evaluate_ovr", T="n_features"),
    "mixed_norm": _sharing("mixed_norm", "MixedNorm", "evaluate_mixed_norm", T="max_columns"),
    "jointboost": _sharing("jointboost", "JointBoostClassifier", "evaluate_jointboost", T="rounds"),
    "knn": _sharing("knn", "KNNClassifier", "evaluate_whole"),
    "kernel_svm": _sharing("kernel_svm", "KernelSVMClassifier", "evaluate_whole"),
    "iboost_stochastic": _iboost("stochastic"),
    "iboost_batch": _iboost("batch"),
    "iboost_adwin": _beyond_iboost("iboost_adwin", "IBoostAdwinClassifier"),
    "iboost_geem": _beyond_iboost("iboost_geem", "IBoostGeemClassifier", q="batch_size"),
    "iboost_trees": _beyond_iboost("iboost_trees", "IBoostTreesClassifier"),
    "adaboost": _drift("drift.adaboost", "AdaBoostWindowClassifier", "n", "p"),
    "onlineboost": _drift("online.onlineboost", "OnlineBoostClassifier"),
    "nsoboost": _drift("drift.nsoboost", "NSOnlineBoostClassifier", "n"),
    "flc": _drift("drift.flc", "FLCClassifier", "n"),
    "adwinbag": _drift("drift.adwin_bagging", "AdwinBaggingClassifier"),
    "ocb": _drift("online.ocb", "OCBClassifier", "n"),
    "dwm": _drift("drift.dwm", "DWMClassifier"),
    "flb": _drift("drift.flb", "FLBClassifier", "n"),
}
# what the budget's symbols are called in code
_PARAMETERS = {"r": "reservoir_size", "q": "batch_size", "T": "n_estimators", "Q": "Q"}


def deciding(algo: Mapping[str, Any], budget: Mapping[str, int]) -> tuple[tuple[str, ...], dict[str, Any]]:
    """Roots of the code that decides what an algorithm computes, and the facts of its declaration that do.

    >>> deciding({"name": "mada"}, {"T": 10})[0]
    ('boostrun.runner.evaluate', 'boostrun.reservoir.full_data:FullDataBoosting', 'boostrun.reservoir.mada')
    """
    evaluated = evaluation(algo["name"], algo.get("class"))
    if "class" in algo:
        return (evaluated, algo["class"]), {}
    made = ALGORITHMS.get(algo["name"])
    if made is None:
        return (evaluated,), {}
    names = made.budget or _PARAMETERS
    facts = {
        "method": made.method, "fixed": made.fixed, "policy": made.policy,
        "budget": {key: names[key] for key in budget},
    }  # fmt: skip
    inside = ALGORITHMS.get(algo.get("policy", ""))  # a policy inside another method
    also = made.also if inside is None else (*(set(made.also) - set(_POLICY_MODULES)), *inside.also)
    return (evaluated, f"{made.module}:{made.cls}", *also), {key: value for key, value in facts.items() if value}


def evaluation(name: str, own: str | None = None) -> str:
    """Dotted name of the module whose ``train_and_test`` makes an algorithm's records."""
    if own is not None:
        return "boostrun.runner.evaluate_own"
    made = ALGORITHMS.get(name)
    return made.evaluate if made else "boostrun.runner.evaluate"


def make(algo: Mapping[str, Any], budget: Mapping[str, int], random_state: int):
    """An unfitted estimator with ``fit_source`` (or ``fit``) for a checked ``algo`` group and its budget."""
    if "class" in algo:
        return make_own(algo["class"], algo, budget, random_state)
    made = ALGORITHMS.get(algo["name"])
    if made is None:
        from sklearn.dummy import DummyClassifier

        return DummyClassifier(strategy="most_frequent")
    return make_estimator(made, made.budget or _PARAMETERS, algo, budget, random_state)


def make_own(where: str, keys: Mapping[str, Any], budget: Mapping[str, int], random_state: int):
    """A person's own estimator, ``where`` = ``module:Class``; its class attribute ``budget`` names its parameters."""
    cls = objects.obtain(where)
    return objects.call(where, cls, **parameters_of_own(cls, keys, budget, random_state))


def rehearse(algo: Mapping[str, Any], budget: Mapping[str, int], bank) -> None:
    """Start a policy on the training part of a bank, without boosting; other algorithms have nothing to rehearse.

    Raises BoostrunError where a trial could not start.
    """
    made = ALGORITHMS.get(algo["name"])
    if made is not None and made.policy is not None:
        import numpy as np

        make(algo, budget, 0).set_up(bank.codes("train"), bank.families, np.random.default_rng(0))
