"""What may be configured: one dataclass a choice of each group, with kinds, ranges and defaults.

``conf/`` holds the same names as YAML files with values. This module imports the standard library only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from .kinds import choice, dimensions, flag, name_or_place, names, number, or_tuned, text, whole, workers

MISSING = "???"  # OmegaConf's mark for a value that must be given

# --- algorithms -------------------------------------------------------------------------------------------------


@dataclass
class Algorithm:
    """What every algorithm declares: ``paper``, and ``budget``: its short keys with their defaults.

    A default that is another key's name means "as much as that one". ``tunes`` is the key that ``boostrun tune``
    chooses, empty where there is none; such a key may be given as ``tuned``.
    """

    name: str = MISSING
    paper: ClassVar[str] = ""
    tunes: ClassVar[str] = ""
    budget: ClassVar[dict[str, int | str]] = {}


@dataclass
class Majority(Algorithm):
    """Chance level: always the most frequent class."""

    name: str = "majority"


@dataclass
class Reservoir(Algorithm):
    """Keys of every reservoir strategy (Lefakis & Fleuret 2013)."""

    loss: str = choice("logistic", "exponential")
    coefficient: str = choice("log_odds", "line_search", "newton")
    shrinkage: float = number(0.5, above=0.0, most=1.0)
    balanced: bool = flag(False)
    shared: bool = flag(False)
    stump_search: str = choice("histogram", "exact")
    paper: ClassVar[str] = "reservoir"
    budget: ClassVar[dict[str, int | str]] = {"r": 250, "q": "r", "T": 250}


@dataclass
class Rand(Reservoir):
    """Keep r samples uniformly at random."""

    name: str = "rand"


@dataclass
class Max(Reservoir):
    """Keep the r largest weights."""

    name: str = "max"


@dataclass
class Window(Reservoir):
    """Keep the newest r samples."""

    name: str = "window"


@dataclass
class WSam(Reservoir):
    """Keep r samples drawn in proportion to their weights."""

    name: str = "wsam"
    stump_weights: str = choice("uniform", "w")


@dataclass
class Geem(Reservoir):
    """Greedy edge expectation maximisation."""

    name: str = "geem"
    ridge: float = number(1.0, least=0.0)
    covariance_dims: str | int = dimensions("auto")
    carry_mass: bool = flag(True)
    swap_rounds: int = whole(0, least=0)


@dataclass
class GeemLattice(Geem):
    """GEEM with its target chosen among random sign vectors."""

    name: str = "geem_lattice"
    lattice_size: int = whole(100)


@dataclass
class GeemSplit(Geem):
    """The data split over workers with a GEEM reservoir each, ensembles averaged."""

    name: str = "geem_split"
    parts: int = whole(4, least=2)


@dataclass
class GeemBudgeted(Geem):
    """GEEM whose rounds look at some features only, chosen by a policy of adaptive sampling."""

    name: str = "geem_budgeted"
    policy: str = choice(
        "uniform_naive", "uniform_1q", "uniform_q1", "best_family", "ucb", "exp3p", "eps_greedy", "tasting_1q",
        "tasting_q1", "mas_naive", "mas_1q", "mas_q1", "laminating", "tasting_laminating", "tasting_ucb",
    )  # fmt: skip
    budget_multiplier: float = number(10.0, above=0.0)
    budget: ClassVar[dict[str, int | str]] = {**Geem.budget, "Q": 10}


@dataclass
class FullData(Algorithm):
    """Keys of the methods that may look at all data (Lefakis & Fleuret 2013, Table 5)."""

    loss: str = choice("logistic", "exponential")
    coefficient: str = choice("log_odds", "line_search", "newton")
    shrinkage: float = number(0.5, above=0.0, most=1.0)
    stump_search: str = choice("histogram", "exact")
    paper: ClassVar[str] = "reservoir"
    budget: ClassVar[dict[str, int | str]] = {"r": 250, "T": 250}


@dataclass
class FilterBoost(FullData):
    """Rejection by weight."""

    max_rejections: int = whole(1000)


@dataclass
class LogitBoost(FullData):
    """All samples in every round."""

    budget: ClassVar[dict[str, int | str]] = {"T": 250}


@dataclass
class Online(Algorithm):
    """Keys of the online rivals (Lefakis & Fleuret 2013, Table 4)."""

    samples_seen: int | None = whole(None)
    paper: ClassVar[str] = "reservoir"
    budget: ClassVar[dict[str, int | str]] = {"T": 250}


@dataclass
class Oza(Online):
    """Online AdaBoost over stumps picked beforehand."""

    subset_size: int = whole(1000, least=2)
    shrinkage: float = number(0.5, above=0.0, most=1.0)


@dataclass
class Chen(Oza):
    """OSBoost over stumps picked beforehand."""

    gamma: float = number(0.1, above=0.0, most=0.5)


@dataclass
class Ocp(Chen):
    """OSBoost with coefficients learned on the simplex."""

    learning_rate: float = number(1.0, above=0.0)


@dataclass
class Selectors(Online):
    """Selectors over a shared pool of weak learners; null makes the pool twice their number."""

    pool_size: int | None = whole(None)
    replace_every: int = whole(1)


@dataclass
class GeemOza(Online):
    """GEEM's stumps, Oza's coefficients."""

    shrinkage: float = number(0.5, above=0.0, most=1.0)
    budget: ClassVar[dict[str, int | str]] = {"r": 250, "T": 250}


@dataclass
class GeemChen(GeemOza):
    """GEEM's stumps, OSBoost's votes."""

    gamma: float = number(0.1, above=0.0, most=0.5)


@dataclass
class Sampling(Algorithm):
    """Keys of AdaBoost.MH with a policy (Dubout & Fleuret 2014)."""

    budget_multiplier: float = number(10.0, above=0.0)
    init: str = choice("uniform", "balanced")
    edge_gaps: bool = flag(False)
    paper: ClassVar[str] = "adaptive_sampling"
    budget: ClassVar[dict[str, int | str]] = {"T": 1000, "Q": 10}


@dataclass
class BestFamily(Sampling):
    """All features of one family, given by name or by its place, counted from 0."""

    family: str | int = name_or_place(0)
    tunes: ClassVar[str] = "family"


@dataclass
class Bandit(Sampling):
    """Arms are families, rewards are multiplied by 2^scale."""

    scale: int | str = or_tuned(whole(9, least=0, most=30))
    tunes: ClassVar[str] = "scale"


@dataclass
class Exp3P(Bandit):
    """Exponential weights mixed with the uniform distribution."""

    eta: float = number(0.3, above=0.0)
    mixing: float = number(0.15, above=0.0, most=1.0)
    horizon: int = whole(10000)
    update: str = choice("all", "played")


@dataclass
class EpsGreedy(Sampling):
    """A uniform arm with probability min(1, 2^scale M / t)."""

    scale: int | str = or_tuned(whole(0, least=0, most=30))
    tunes: ClassVar[str] = "scale"


@dataclass
class Tasting(Sampling):
    """Some features of every family are watched; ``charge`` counts that to the budget."""

    tasting_R: int = whole(10)
    charge: bool = flag(False)


@dataclass
class MAS(Sampling):
    """Maximum adaptive sampling: a model of the edges decides how many features and samples to look at."""

    sampling: str = choice("weight", "uniform")
    mas_noise: str = choice("kappa", "paper")
    mas_deconvolve: bool = flag(True)
    mas_pilot_share: float = number(0.1, above=0.0, most=0.9)
    mas_components: int = whole(2)
    mas_s_min: int = whole(32)
    mas_s_ratio: float = number(2**0.5, above=1.0)
    mas_grid_points: int = whole(257, least=33)
    budget: ClassVar[dict[str, int | str]] = {"T": 1000}


@dataclass
class MASNaive(MAS):
    """One model for all features, fitted on the step before."""

    mas_components: int = whole(3)
    mas_refit_below: int = whole(30)


@dataclass
class MAS1Q(MAS):
    """A model for each family, from a pilot of every step."""

    mas_q0_min: int = whole(4)
    mas_q0_max: int = whole(24)


@dataclass
class MASQ1(MAS1Q):
    """As mas_1q, with features of several families."""

    mas_s_ratio: float = number(2.0, above=1.0)


@dataclass
class FixedSample(Sampling):
    """Q features on as many samples as the budget buys."""

    sampling: str = choice("weight", "uniform")


@dataclass
class Laminating(Sampling):
    """Halve the features while doubling the samples; null begins with as many features as the budget bears."""

    sampling: str = choice("weight", "uniform")
    laminating_Q: int | None = whole(None, least=2)
    budget: ClassVar[dict[str, int | str]] = {"T": 1000}


@dataclass
class TastingLaminating(Laminating):
    """As laminating, beginning with features of the families that promise most."""

    tasting_R: int = whole(10)
    tasting_best_of: int = whole(10)
    tasting_pilot_share: float = number(0.1, above=0.0, most=0.9)


@dataclass
class TastingUCB(Tasting):
    """As tasting_1q, looking at few families a step: those whose promise may have become the largest."""

    looks: int = whole(2)
    age_weight: float = number(1.0, least=0.0)


# --- data sets --------------------------------------------------------------------------------------------------


@dataclass
class Dataset:
    """A data set with a split of its own."""

    name: str = MISSING


@dataclass
class SplitDataset(Dataset):
    """A data set that boostrun splits, the same way every time."""

    test_fraction: float = number(0.2, above=0.0, most=0.9)
    split_seed: int = whole(0, least=0)


@dataclass
class FileDataset(SplitDataset):
    """A person's own data in a file or folder."""

    path: str = text(MISSING)


@dataclass
class TableDataset(FileDataset):
    """A table with one row a sample."""

    test_path: str | None = text(None)
    label: str | None = text(None)


@dataclass
class Stream(Dataset):
    """Files larger than memory, read in chunks: .npy or CSV, with a test part in files of its own."""

    path: str = text(MISSING)
    label: str | None = text(None)
    test_path: str = text(MISSING)
    test_label: str | None = text(None)
    chunk_rows: int = whole(4096)


@dataclass
class ImageFolder(FileDataset):
    """Folders of images."""

    size: int = whole(32)


@dataclass
class Inria(Dataset):
    """The INRIA person set."""

    windows_per_image: int = whole(10)
    split_seed: int = whole(0, least=0)


@dataclass
class Caltech101(Dataset):
    """Caltech-101."""

    train_per_class: int = whole(15)
    test_per_class: int = whole(20)
    split_seed: int = whole(0, least=0)
    size: int = whole(64, least=8)


@dataclass
class OpenML(SplitDataset):
    """A data set of openml.org."""

    data_id: int | None = whole(None)
    data_name: str | None = text(None)
    version: int | None = whole(None)


# --- features and run -------------------------------------------------------------------------------------------


@dataclass
class Features:
    """Keys of every feature pipeline: its quantile bins, and how many training samples they are fitted on."""

    name: str = MISSING
    bins: int = whole(256, least=2, most=256)
    bin_samples: int = whole(10000, least=2)


@dataclass
class Hog(Features):
    """Histograms of oriented gradients."""

    orientations: int = whole(9)
    cell: int = whole(8, least=2)
    block: int = whole(2)


@dataclass
class CoatesNg(Features):
    """Patch dictionary with soft thresholds."""

    atoms: int = whole(1600)
    patches: int = whole(400000)
    patch: int = whole(6, least=2)
    iterations: int = whole(50)
    threshold: float = number(0.25, least=0.0)
    seed: int = whole(0, least=0)
    size: int = whole(32, least=4)
    device: str = choice("cpu", "cuda")


@dataclass
class Families19(Features):
    """The 19 feature families of adaptive sampling (Dubout & Fleuret 2014)."""

    only: Sequence[str] | None = names(
        "identity", "gray", "fourier", "haar", "gradient", "lbp", "ilbp", "patch_sums", "gray_hist", "color_hist",
        "hog_u4", "hog_s4", "hog_u8", "hog_s8", "ori_s", "ori_u", "rect_u", "rect_s", "haar_like",
    )  # fmt: skip
    on_gray: str = choice("keep", "drop")


@dataclass
class Families33(Features):
    """The 33 feature families of adaptive sampling on Caltech-101 (Dubout & Fleuret 2014)."""

    only: Sequence[str] | None = names(
        *(f"{kind}_{level}" for kind in (
            "phog180", "phog360", "sift_gray300", "sift_gray1000", "sift_hsv300", "sift_hsv1000", "covariance", "lbp",
        ) for level in range(4)), "v1s",
    )  # fmt: skip
    codebook: str = choice("shared", "per_split")
    descriptors: int = whole(100000)
    size: int | None = whole(None, least=16)


@dataclass
class Run:
    """How trials are run; nothing here changes a result, except that ``memory_limit`` (MiB) decides how far a streamed
    set is shuffled, so that it counts to the cells of dataset=stream, and to no others.
    """

    name: str = "local"
    backend: str = choice("loky", "sequential")
    memory_mb: int = whole(1024, least=64)
    memory_limit: int = whole(512, least=16)


@dataclass
class Root:
    """Keys at the top of the config. Budgets are null until given; each algorithm says which it takes."""

    r: int | None = whole(None)
    q: int | None = whole(None)
    T: int | None = whole(None)
    Q: int | None = whole(None)
    S: int | None = whole(None)
    M: int | None = whole(None)
    n: int | None = whole(None)
    p: int | None = whole(None)
    b: int | None = whole(None)
    holdout: float | None = number(None, above=0.0, most=0.9)
    trials: int = whole(10)
    seed: int = whole(0, least=0)
    n_jobs: int = workers(-1)
    store: str = text("results/runs")
    results: str = text("results")
    data_root: str | None = text(None)
    cache_root: str | None = text(None)


BUDGET_KEYS = ("r", "q", "T", "Q", "S", "M", "n", "p", "b")

SCHEMAS: dict[str, dict[str, type]] = {
    "algo": {
        "geem": Geem, "geem_lattice": GeemLattice, "wsam": WSam, "rand": Rand, "max": Max, "window": Window,
        "geem_split": GeemSplit, "geem_budgeted": GeemBudgeted, "geem_active": Geem, "wsam_active": WSam,
        "rand_active": Rand, "max_active": Max, "wss": FullData, "mada": FullData, "fix": FullData,
        "filterboost": FilterBoost, "logitboost": LogitBoost, "oza": Oza, "chen": Chen, "ocp": Ocp,
        "bisc": Selectors, "leistner": Selectors, "geem_oza": GeemOza, "geem_chen": GeemChen,
        "uniform_naive": Sampling, "uniform_1q": Sampling, "uniform_q1": Sampling, "best_family": BestFamily,
        "ucb": Bandit, "exp3p": Exp3P, "eps_greedy": EpsGreedy, "tasting_1q": Tasting, "tasting_q1": Tasting,
        "mas_naive": MASNaive, "mas_1q": MAS1Q, "mas_q1": MASQ1, "laminating": Laminating,
        "tasting_laminating": TastingLaminating, "tasting_ucb": TastingUCB, "fixed_sample": FixedSample,
        "majority": Majority,
    },
    "dataset": {
        "digits": SplitDataset, "mnist": Dataset, "cifar10": Dataset, "stl10": Dataset, "caltech101": Caltech101,
        "inria": Inria, "pedestrians": Dataset, "npz": FileDataset, "csv": TableDataset, "parquet": TableDataset,
        "image_folder": ImageFolder, "openml": OpenML, "stream": Stream,
    },
    "features": {
        "raw": Features, "hog": Hog, "coates_ng": CoatesNg, "families19": Families19, "families33": Families33,
    },
    "run": {"local": Run},
}  # fmt: skip
