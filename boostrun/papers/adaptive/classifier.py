"""AdaBoost.MH with adaptive sampling as a scikit-learn classifier, its evaluation and its probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np
from threadpoolctl import threadpool_limits

from boostrun.config.fields import check
from boostrun.data.source import ArraySource
from boostrun.errors import BoostrunError, did_you_mean
from boostrun.evaluation import Result, Seeds
from boostrun.evaluation.staged import Staged
from boostrun.methods import estimator
from boostrun.methods.estimator import StumpClassifier
from boostrun.methods.probabilities import LINKS, Link
from boostrun.methods.stumps import VoteEnsemble
from boostrun.methods.weak_learner import Binner
from boostrun.papers.adaptive.keys import AdaBoostMHKeys

if TYPE_CHECKING:
    from boostrun.papers.adaptive.adaboost_mh import TrainingRun


class StagedVotes(Staged):
    """For :class:`boostrun.papers.adaptive.classifier.AdaBoostMHClassifier`, with any policy.

    To the curve of :class:`boostrun.evaluation.staged.Staged` come the error, ``log10_loss`` on the training part,
    ``evaluations`` charged and ``all_evaluations`` that found stumps, and ``family_steps``: how many of those rounds
    chose a feature of each family, or how many splits of their trees; with ``edge_gaps`` of the model those too, in
    percent, by round, and their mean.
    """

    def check(self, model: Any, data: Any) -> None:
        """Start the policy on the training part, without boosting.

        Raises BoostrunError where a trial could not start: a budget too small, a family that is not there.
        """
        model.set_up(data.codes("train"), data.families, np.random.default_rng(0))

    def marks(self, model: Any) -> list[int]:
        """The rounds to evaluate: the usual ones, or all if edge gaps are measured."""
        return list(range(1, model.ensemble_.n_rounds + 1)) if model.edge_gaps else super().marks(model)

    def run(self, model: Any, data: Any, seeds: Seeds) -> Result:
        """Fit ``model`` on the training part of ``data``, with its families, and score it on the test part."""
        result = super().run(model, data, seeds)
        metrics, cost, curve = result["metrics"], result["cost"], result["curve"]
        marks = curve["T"]
        charged, every = evaluations(model.ledger_)
        curve["test_error_pct"] = [100.0 - accuracy for accuracy in curve["test_accuracy_pct"]]
        curve["log10_loss"] = [float(model.staged_log10_loss_[t - 1]) for t in marks]
        curve["evaluations"] = [int(charged[t - 1]) for t in marks]
        curve["all_evaluations"] = [int(every[t - 1]) for t in marks]
        curve["family_steps"] = _family_steps(model, data.families, marks)
        metrics["log10_loss"] = curve["log10_loss"][-1]
        if model.edge_gaps:
            curve["edge_gap_pct"] = [100.0 * float(gap) for gap in model.staged_edge_gap_]
            metrics["edge_gap_pct"] = 100.0 * float(model.staged_edge_gap_.mean())
        cost |= {f"evaluations_{account}": int(spent.sum()) for account, spent in model.ledger_.items()}
        return {"metrics": metrics, "cost": cost, "curve": curve}


def evaluations(ledger: dict[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Evaluations by the end of each step (T,): those charged, and all that were made to find stumps, tasting's too."""
    charged = np.cumsum(ledger["selection"] + ledger["pilot"])
    return charged, charged + np.cumsum(ledger["tasting"])


def _family_steps(model: Any, families: Sequence, marks: Sequence[int]) -> dict[str, list[int]]:
    """By family and mark, the number of stumps, or of splits of trees, up to the mark that use a feature of it."""
    ensemble, at = model.ensemble_, np.array(marks) - 1
    family = np.searchsorted([start for _, start, _ in families], ensemble.features, side="right") - 1
    if model.weak_learner == "tree":
        family[~ensemble.splits] = -1
    found = {}
    for k, (name, _, _) in enumerate(families):
        in_round = (family == k).reshape(len(family), -1).sum(axis=1)
        found[name] = np.cumsum(in_round)[at].tolist()
    return found


class Named(Protocol):
    """A family, as far as it is chosen."""

    @property
    def name(self) -> str: ...


Family = TypeVar("Family", bound=Named)


def chosen(families: Sequence[Family], only: Sequence[str] | str | None) -> tuple[Family, ...]:
    """The families of these names, in the order of `families`; all of them for None.

    Raises
    ------
    BoostrunError
        A name that is none, or no name at all.
    """
    if only is None:
        return tuple(families)
    names = [family.name for family in families]
    wanted = [only] if isinstance(only, str) else list(only)
    for name in wanted:
        if name not in names:
            raise BoostrunError(f"no feature family '{name}'{did_you_mean(str(name), names)} ({', '.join(names)})")
    if not wanted:
        raise BoostrunError(f"features.only names no family; null takes all of them ({', '.join(names)})")
    return tuple(family for family in families if family.name in wanted)


_BINNING_SAMPLES = 10_000


class AdaBoostMHClassifier(AdaBoostMHKeys, StumpClassifier):
    """Discrete AdaBoost.MH: stumps with a vote for every class, found within a budget of evaluations a step.

    Parameters
    ----------
    {parameters}
    families : list of (name, start, stop) or None
        Which features belong together: ``start`` to ``stop - 1``. Most policies choose among families; None: as the
        source says, else all features are one.
    max_bins : int from 2 to 256, quantile bins; 8-bit data are their own bins.
    warm_start : bool, a larger ``n_estimators`` adds rounds instead of starting again; other samples are refused.
    random_state : int, RandomState or None

    Attributes
    ----------
    ensemble_ : VoteEnsemble, or TreeVoteEnsemble of trees, thresholds in units of X.
    classes_ : (n_classes,) array
    staged_log10_loss_, staged_train_seconds_ : (T,) arrays
        log10 of the mean of exp(-y_il F_l(x_i)) on the training set, weighted as the fit begins, and training seconds,
        by the end of each step.
    staged_edge_gap_ : (T,) array, only with ``edge_gaps``: largest edge of all features less that of the one chosen.
    ledger_ : dict of (T,) int arrays
        Evaluations a step by account: selection and pilot are charged to the budget, tasting, refit and update not.
    evaluations_ : int, charged evaluations of all steps.
    feature_importances_ : (d,) array, each feature's share of sum |alpha|.

    References
    ----------
    .. [1] C. Dubout and F. Fleuret, "Adaptive Sampling for Large Scale Boosting", JMLR 15, 2014.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> clf = AdaBoostMHClassifier("laminating", n_estimators=100, random_state=0).fit(X[:1400], y[:1400])
    >>> clf.score(X[1400:], y[1400:]) > 0.85
    True
    >>> from boostrun.papers.adaptive.policies import Laminating
    >>> clf = AdaBoostMHClassifier(Laminating(Q=16), n_estimators=2, random_state=0).fit(X, y)
    >>> int(clf.ledger_["selection"][0])  # 16 on 280 samples, 8 on 560, 4 on 1120, 2 on all 1797
    17034
    """

    _model_types = (VoteEnsemble, "boostrun.papers.adaptive.vote_trees:TreeVoteEnsemble")

    def fit(self, X, y, sample_weight=None):
        """Train on arrays: X (n, d) finite numbers, y (n,) labels.

        ``sample_weight`` (n,) are weights of at least 0, of which only ratios matter: boosting begins with them.
        Raises ValueError (BoostrunError for parameters) with one sentence on bad input. Cost a step: at most
        ``budget_multiplier * n`` evaluations, and the update of n K weights.
        """
        source, seed, _ = self._source(X, y, sample_weight)
        return self._fit(source, np.random.default_rng(seed))

    def fit_source(self, source: ArraySource):
        """Train on ``source.columns`` (d, n) or ``source.samples`` (n, d), ``source.labels`` (n,), and
        ``source.families`` [(name, start, stop)], if there are some and no parameter gives others.

        >>> samples = np.arange(200, dtype=np.uint8)[:, None]
        >>> source = ArraySource(samples, samples[:, 0] // 50, seed=0)
        >>> model = AdaBoostMHClassifier("uniform_naive", n_estimators=20, random_state=0).fit_source(source)
        >>> bool(model.staged_log10_loss_[-1] < -0.5), int(model.ledger_["selection"][0])
        (True, 200)
        """
        self.n_features_in_ = source.n_features
        return self._fit(source, np.random.default_rng(np.random.SeedSequence(self._entropy())))

    def set_up(self, codes: np.ndarray, families, rng: np.random.Generator, samples: np.ndarray | None = None):
        """The board of ``codes`` (d, n) uint8, and the same as ``samples`` (n, d), and a policy started on it.

        Raises BoostrunError for families or a budget with which the policy cannot start.
        """
        from boostrun.papers.adaptive.adaboost_mh import Board, SplitBoard
        from boostrun.papers.adaptive.policies import hook, own_copy

        families = self.families if self.families is not None else families or [("all", 0, len(codes))]
        make = Board if self.weak_learner == "stump" else SplitBoard
        board = make(codes, families, int(self.budget_multiplier * codes.shape[1]), self.sampling, rng, samples)
        policy = own_copy(self.policy)
        hook(policy, "start")(board)
        return board, policy

    @property
    def feature_importances_(self) -> np.ndarray:
        return self.ensemble_.importances(self.n_features_in_)

    def _fit(self, source: ArraySource, rng: np.random.Generator):
        from boostrun.papers.adaptive.adaboost_mh import ACCOUNTS, CHARGED

        check(self)
        estimator.bins(self)
        if self.edge_gaps and self.weak_learner == "tree":
            raise BoostrunError("edge_gaps=True needs weak_learner='stump': a tree looks at a feature in every split")
        rounds = int(self.n_estimators)
        if not (self.warm_start and getattr(self, "_run", None)):
            self.classes_ = source.class_labels()
            self._run = self._begin(source, rng)
        elif rounds < self._run.ensemble.n_rounds:
            raise BoostrunError(
                f"n_estimators={rounds}: warm_start cannot take back {self._run.ensemble.n_rounds} rounds"
            )
        else:
            self._check_same_samples(source)
        run = self._run
        with threadpool_limits(1, user_api="blas"):
            run.boost(rounds - run.ensemble.n_rounds)
        self.ensemble_ = run.ensemble if self._binner is None else run.ensemble.in_units_of(self._binner)
        self.staged_log10_loss_ = np.array(run.loss)
        self.staged_train_seconds_ = np.array(run.seconds)
        if self.edge_gaps:
            self.staged_edge_gap_ = np.array(run.gaps)
        self.ledger_ = {account: np.array([step[account] for step in run.board.ledger]) for account in ACCOUNTS}
        self.evaluations_ = int(sum(self.ledger_[account].sum() for account in CHARGED))
        if not self.warm_start:
            del self._run, self._binner
        return self

    def _begin(self, source: ArraySource, rng: np.random.Generator) -> TrainingRun:
        from boostrun.papers.adaptive.adaboost_mh import TrainingRun, TreeRun, one_column_a_class

        codes, samples, self._binner = self._codes(source, rng)
        labels = one_column_a_class(np.asarray(source.labels), self.classes_)
        board, policy = self.set_up(codes, source.families, rng, samples)
        weights = getattr(source, "weights", None)
        if self.weak_learner == "stump":
            return TrainingRun(board, policy, labels, self.init, self.edge_gaps, weights)
        return TreeRun(board, policy, labels, self.init, self.depth, weights)

    def _check_same_samples(self, source: ArraySource) -> None:
        """Going on needs the samples that training began with; their labels and number are looked at."""
        from boostrun.papers.adaptive.adaboost_mh import one_column_a_class

        unseen = np.setdiff1d(source.class_labels(), self.classes_)
        if len(unseen):
            raise BoostrunError(f"warm_start: the class {unseen[0]!r} was not there when training began")
        known = self._run.labels
        labels = one_column_a_class(np.asarray(source.labels), self.classes_)
        alike = np.array_equal(labels, known)
        alike &= np.array_equal(getattr(source, "weights", None), self._run.weights)  # type: ignore[arg-type]
        if source.n_features != self._run.board.n_features or not alike:
            raise BoostrunError(
                f"warm_start goes on with the {len(known)} samples of {self._run.board.n_features} features that "
                "training began with; these are others"
            )

    def _codes(self, source: ArraySource, rng: np.random.Generator):
        """Feature-major codes (d, n), the same sample-major, and the binner where values were not codes already."""
        if source.columns is not None and source.columns.dtype == np.uint8:
            return source.columns, source.samples, None
        samples, binner = source.samples, None
        if samples.dtype != np.uint8:
            some = np.sort(rng.permutation(len(samples))[:_BINNING_SAMPLES])
            binner = Binner(samples[some], self.max_bins)
            samples = binner.encode(samples)
        return np.ascontiguousarray(samples.T), samples, binner


class StagedVotesOfFew(StagedVotes):
    """Like :class:`boostrun.papers.adaptive.classifier.StagedVotes`; and ``n_features_used``, a cost."""

    def run(self, model: Any, data: Any, seeds: Seeds) -> Result:
        """Fit ``model`` on the training part of ``data``, and score it on the test part."""
        result = super().run(model, data, seeds)
        ensemble = model.ensemble_
        looks = ensemble.splits if model.weak_learner == "tree" else ~ensemble.constant
        result["cost"]["n_features_used"] = len(np.unique(ensemble.features[looks]))
        return result


def of_adaboost_mh(classifier) -> Link | str:
    """The exponential loss, of samples that weigh alike at first."""
    if classifier.init != "uniform":
        return f"init={classifier.init!r} weighs the classes otherwise than the data have them"
    return LINKS["exponential"]
