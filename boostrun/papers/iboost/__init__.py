"""Boosting on streams whose concept drifts (Grbovic & Vucetic 2011): IBoost, its rivals, its streams."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from boostrun.config.fields import Choices, Range
from boostrun.data.keys import DriftingStreamKeys
from boostrun.methods.declaration import Method
from boostrun.methods.paper import DataSet, Paper
from boostrun.papers.iboost import keys

_HERE = "boostrun.papers.iboost"
# traits in the paper's table of methods
DETECTS, ONLINE, CHANGING, WINDOW = "detects changes", "online base", "adds and removes", "sliding window"
_SYMBOLS = {"M": "budget", "n": "n_window", "q": "batch_size", "p": "period", "b": "n_steps"}

_BASES = Choices("stump", "gnb", "bnb")
_FLOOR = Range(1e-4, 0.1, log=True, when={"base": "gnb"})
_STEP = {"eta": Range(3e-4, 0.03, log=True), "eps_min": Range(0.05, 0.45)}
_FITTED = {"base": _BASES, "var_floor": _FLOOR}
_COMMITTEE = {
    "base": Choices("stump", "gnb", "bnb", "logistic", "hoeffding"), "var_floor": _FLOOR,
    "grace_period": Range(10, 200, log=True, when={"base": "hoeffding"}),
}  # fmt: skip
_LEARNT = {
    "base": Choices("gnb", "bnb", "logistic", "hoeffding"), "var_floor": _FLOOR,
    "grace_period": Range(50, 500, log=True, when={"base": "hoeffding"}),
}  # fmt: skip
_DELTA = Range(1e-4, 0.3, log=True)


def _method(where: str, of: type, summary: str, symbols: str, *traits: str, **more: Any) -> Method:
    """A stream learner. ``where`` is module:Class below this package, ``symbols`` the symbols of its budget."""
    drawn = "random_state" in of.__dataclass_fields__  # type: ignore[attr-defined]
    more.setdefault("evaluation", "boostrun.evaluation.prequential:OnStream")
    return Method(
        f"{_HERE}.{where}", of, summary,
        budget={symbol: _SYMBOLS[symbol] for symbol in symbols},
        inputs=frozenset({"stream"}),
        given=frozenset({"random_state"} if drawn else ()),
        traits=traits, **more,
    )  # fmt: skip


def _iboost(update: str, on: str, unused: str) -> Method:
    return _method(
        "iboost:IBoostClassifier", keys.IBoostKeys,
        f"IBoost: M base classifiers follow a window of n; b steps an example, on {on} (Grbovic & Vucetic 2011)",
        "Mnpb", CHANGING, WINDOW, fixed={"update": update}, unused=frozenset({unused}), search=_STEP | _FITTED,
    )  # fmt: skip


def _smooth(coefficients: str, summary: str) -> Method:
    search: dict[str, Any] = {"gamma": Range(0.01, 0.5, log=True), "base": Choices("hoeffding", "gnb", "logistic")}
    if coefficients == "convex":
        search["learning_rate"] = Range(0.1, 10.0, log=True)
    return _method(
        "online_ensembles:SmoothBoostClassifier", keys.SmoothBoostKeys, f"{summary} (Chen, Lin & Lu 2012)", "M", ONLINE,
        fixed={"coefficients": coefficients}, search=search,
        unused=frozenset() if coefficients == "convex" else frozenset({"learning_rate"}),
    )  # fmt: skip


METHODS = {
    "iboost_stochastic": _iboost("stochastic", "one of them", "gradient"),
    "iboost_batch": _iboost("batch", "all of it", "example"),
    "iboost_adwin": _method(
        "iboost_variants:IBoostAdwinClassifier", keys.IBoostAdwinKeys,
        "IBoost whose window of n shrinks when an ADWIN finds that its errors rise (beyond the paper)",
        "Mnpb", DETECTS, CHANGING, WINDOW, search={**_STEP, **_FITTED, "delta": _DELTA},
    ),
    "iboost_outliers": _method(
        "iboost_variants:IBoostOutliersClassifier", keys.IBoostOutliersKeys,
        "IBoost that does not learn examples its committee strongly contradicts (the paper's future work)",
        "Mnpb", CHANGING, WINDOW,
        search={**_STEP, **_FITTED, "outlier_margin": Range(0.1, 1.0, log=True), "change_share": Range(0.2, 0.6)},
    ),
    "iboost_active": _method(
        "iboost_variants:IBoostActiveClassifier", keys.IBoostActiveKeys,
        "IBoost that asks for a label only if its committee is unsure (the paper's future work)",
        "Mnpb", CHANGING, WINDOW, search=_STEP | _FITTED, evaluation=f"{_HERE}.iboost_variants:OnStreamAsked",
    ),
    "iboost_geem": _method(
        "iboost_fitted:IBoostGeemClassifier", keys.IBoostGeemKeys,
        "IBoost on n examples chosen by GEEM and q new ones, in place of a window (beyond the paper)",
        "Mnqpb", CHANGING, search={**_STEP, **_FITTED, "ridge": Range(0.01, 100.0, log=True)},
    ),
    "iboost_trees": _method(
        "iboost_fitted:IBoostTreesClassifier", keys.IBoostTreesKeys,
        "IBoost of Hoeffding trees, those of vfdt, trained by one pass over the window (beyond the paper)",
        "Mnpb", CHANGING, WINDOW,
        search={**_STEP, "split_delta": _DELTA, "grace_period": Range(10, 200, log=True), "max_depth": Range(1, 8)},
    ),
    "iboost_fitted": _method(
        "iboost_fitted:IBoostFittedClassifier", keys.IBoostFittedKeys,
        "IBoost of logistic regressions, or of copies of an object, fitted to the window (beyond the paper)",
        "Mnpb", CHANGING, WINDOW, search=_STEP,
    ),
    "adaboost": _method(
        "window_committees:AdaBoostWindowClassifier", keys.AdaBoostKeys,
        "AdaBoost with M rounds, trained on the newest n examples every p examples", "Mnp", WINDOW, search=_COMMITTEE,
    ),
    "onlineboost": _method(
        "onlineboost:OnlineBoostClassifier", keys.OnlineBoostKeys,
        "OnlineBoost: online AdaBoost of M naive Bayes classifiers (Oza & Russell 2001)", "M", ONLINE,
        search={**_LEARNT, "vote": Choices("hard", "proba")},
    ),
    "nsoboost": _method(
        "onlineboost:NSOnlineBoostClassifier", keys.NSOBoostKeys,
        "NSOBoost: OnlineBoost that replaces members after a search on the newest n (Pocock et al. 2010)",
        "Mn", ONLINE, CHANGING, WINDOW,
        search={**_LEARNT, "search_every": Range(20, 500, log=True), "patience": Range(50, 1000, log=True)},
    ),
    "flc": _method(
        "onlineboost:FLCClassifier", keys.FLCKeys,
        "FLC: OnlineBoost with an ADWIN for each of M members (Attar, Sinha & Wankhade 2010)",
        "Mn", DETECTS, ONLINE, CHANGING, WINDOW, search={**_LEARNT, "delta": _DELTA},
    ),
    "adwinbag": _method(
        "online_ensembles:AdwinBaggingClassifier", keys.AdwinBaggingKeys,
        "AdWin Bagging: online bagging whose worst member starts again when an error rises (Bifet et al. 2009); with "
        "lam=6 leveraging bagging",
        "M", DETECTS, ONLINE, CHANGING, WINDOW,
        search={**_LEARNT, "delta": _DELTA, "vote": Choices("hard", "proba")},
    ),
    "ocb": _method(
        "window_committees:OCBClassifier", keys.OCBKeys,
        "OCB: AdaBoost's M classifiers of the first n examples; the coefficients learn from all data (Pelossof et al. "
        "2009)", "Mn", search={**_COMMITTEE, "smoothing": Range(0.1, 10.0, log=True)},
    ),
    "dwm": _method(
        "online_ensembles:DWMClassifier", keys.DWMKeys,
        "DWM: at most M naive Bayes experts, whose weights shrink when they err (Kolter & Maloof 2007)", "M",
        ONLINE, CHANGING,
        search={**_LEARNT, "beta": Range(0.1, 0.95), "theta": Range(1e-3, 0.1, log=True)},
    ),
    "flb": _method(
        "window_committees:FLBClassifier", keys.FLBKeys,
        "FLB: one classifier for each block of n, at most M, all deleted when the error jumps (Chu & Zaniolo 2004)",
        "Mn", DETECTS, ONLINE, CHANGING, WINDOW, search={**_COMMITTEE, "z": Range(1.0, 5.0)},
    ),
    "osboost_stream": _smooth("uniform", "OSBoost of M Hoeffding trees that learn each example with a smooth weight"),
    "ocp_stream": _smooth("convex", "OSBoost of M Hoeffding trees, with coefficients learned on the simplex"),
    "arf_stream": _method(
        "adaptive_forest:StreamForestClassifier", keys.StreamForestKeys,
        "ARF: M Hoeffding trees on random features, each replaced when its errors rise (Gomes et al. 2017)", "M",
        DETECTS, ONLINE, CHANGING, WINDOW,
        search={
            "grace_period": Range(10, 400, log=True), "split_delta": Range(1e-7, 0.1, log=True),
            "feature_fraction": Choices(None, 0.3, 0.6, 1.0), "lam": Choices(1.0, 6.0), "drift_delta": _DELTA,
        },
    ),
    "vfdt": _method(
        "baselines:HoeffdingTreeClassifier", keys.HoeffdingKeys,
        "a Hoeffding tree with naive Bayes in its leaves, as in river, compiled (Domingos & Hulten 2000), or HAT", "",
        ONLINE,
        search={
            "grace_period": Range(50, 500, log=True), "delta": Range(1e-9, 1e-2, log=True),
            "tie": Range(0.01, 0.2, log=True), "adaptive": Choices(False, True),
            "drift_delta": Range(1e-5, 0.1, log=True, when={"adaptive": True}),
        },
    ),
    "no_change": _method(
        "baselines:NoChangeClassifier", keys.LabelsAloneKeys,
        "the last label again: the level to beat if labels come in runs", "",
    ),
    "majority_so_far": _method(
        "baselines:MajoritySoFarClassifier", keys.LabelsAloneKeys,
        "the most frequent label so far: the level of chance", "",
    ),
}  # fmt: skip

STREAMS = {
    name: DataSet(f"{_HERE}.streams", of, summary, "stream")
    for name, of, summary in (
        (
            "sea", keys.SeaKeys,
            "SEA: x1 + x2 against a threshold that changes after each quarter (Street & Kim 2001; generated)",
        ),
        (
            "led", keys.LedKeys,
            "LED: seven segments of a digit among 17 coin flips, which change places (Breiman et al. 1984, MOA; "
            "generated)",
        ),
        (
            "rbf", keys.RbfKeys,
            "RBF: points around ten centroids that move (MOA's RandomRBFGeneratorDrift; generated)",
        ),
        (
            "rbf_abrupt", keys.RbfAbruptKeys,
            "RBF: points around fifty centroids, drawn again after each third (MOA's RandomRBFGenerator; generated)",
        ),
        (
            "santafe", keys.SantaFeKeys,
            "Santa Fe's laser series: is the next value at most c, given nine? c changes twice (Weigend & Gershenfeld "
            "1994)",
        ),
        (
            "electricity", DriftingStreamKeys,
            "electricity prices in New South Wales, up or down, 45,312 half hours (Harries 1999)",
        ),
        ("weather", DriftingStreamKeys, "rain at Offutt Air Force Base or not, 18,159 days (Elwell & Polikar 2011)"),
    )
}  # fmt: skip

PAPER = Paper(
    "Grbovic & Vucetic 2011",
    budget="learners kept, window held",
    methods=METHODS,
    datasets=STREAMS,
    probabilities={
        f"{_HERE}.{where}": f"{_HERE}.trained:{votes}_link"
        for where, votes in (
            ("iboost:IBoostClassifier", "iboost"),
            ("window_committees:AdaBoostWindowClassifier", "adaboost"),
            ("window_committees:OCBClassifier", "ocb"),
            ("onlineboost:OnlineBoostClassifier", "online_boost"),
            ("online_ensembles:AdwinBaggingClassifier", "bagging"),
            ("online_ensembles:DWMClassifier", "weighted_majority"),
            ("window_committees:FLBClassifier", "blocks"),
            ("online_ensembles:SmoothBoostClassifier", "smooth_boost"),
            ("baselines:MajoritySoFarClassifier", "frequencies"),
        )
    },
    importances={
        f"{_HERE}.iboost:IBoostClassifier": f"{_HERE}.trained:iboost_importances",
        f"{_HERE}.iboost_fitted:IBoostTreesClassifier": f"{_HERE}.trained:tree_importances",
        f"{_HERE}.window_committees:Committee": f"{_HERE}.trained:committee_importances",
    },
    integer={f"{_HERE}.iboost:IBoostClassifier": f"{_HERE}.trained:iboost_integer"},
    states={
        f"{_HERE}.iboost:IBoostClassifier": f"{_HERE}.trained:check_iboost",
        f"{_HERE}.window_committees:Committee": f"{_HERE}.trained:check_committee",
        f"{_HERE}.members:IncrementalEnsemble": f"{_HERE}.trained:check_incremental",
        f"{_HERE}.baselines:HoeffdingTreeClassifier": f"{_HERE}.trained:check_tree",
        f"{_HERE}.adaptive_forest:StreamForestClassifier": f"{_HERE}.trained:check_forest",
    },
    drawings={name: f"{_HERE}.figures:draw_{name}" for name in ("drift_types", "drift_methods", "drift_data")},
    reference=Path(__file__).with_name("reference.csv"),
    claims=Path(__file__).with_name("claims.yaml"),
    public={
        "AdaBoostWindowClassifier": f"{_HERE}.window_committees",
        "AdwinBaggingClassifier": f"{_HERE}.online_ensembles",
        "DWMClassifier": f"{_HERE}.online_ensembles",
        "FLBClassifier": f"{_HERE}.window_committees",
        "FLCClassifier": f"{_HERE}.onlineboost",
        "IBoostActiveClassifier": f"{_HERE}.iboost_variants",
        "IBoostAdwinClassifier": f"{_HERE}.iboost_variants",
        "IBoostClassifier": f"{_HERE}.iboost",
        "IBoostFittedClassifier": f"{_HERE}.iboost_fitted",
        "IBoostGeemClassifier": f"{_HERE}.iboost_fitted",
        "IBoostOutliersClassifier": f"{_HERE}.iboost_variants",
        "IBoostTreesClassifier": f"{_HERE}.iboost_fitted",
        "MajoritySoFarClassifier": f"{_HERE}.baselines",
        "NSOnlineBoostClassifier": f"{_HERE}.onlineboost",
        "NoChangeClassifier": f"{_HERE}.baselines",
        "OCBClassifier": f"{_HERE}.window_committees",
        "OnlineBoostClassifier": f"{_HERE}.onlineboost",
        "SmoothBoostClassifier": f"{_HERE}.online_ensembles",
        "StreamForestClassifier": f"{_HERE}.adaptive_forest",
    },
)
