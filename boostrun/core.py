"""The core's own things in the catalogue: the level of chance, generic data sets, generic features.

Each key's default, range and meaning stand in :mod:`boostrun.data.keys` and :mod:`boostrun.features.keys`.
"""

from __future__ import annotations

from dataclasses import dataclass

from boostrun.data import keys as data
from boostrun.features import keys as features
from boostrun.methods.declaration import Method
from boostrun.methods.paper import DataSet, Paper, Pipeline, SavedModel


@dataclass
class NoKeys:
    """No keys."""


METHODS = {
    "majority": Method(
        target="boostrun.methods.estimator:MajorityClassifier",
        keys=NoKeys,
        summary="always the most frequent class: the level of chance",
        evaluation="boostrun.evaluation.staged:Fitted",
        given=frozenset(),
    )
}


_TEXTS = tuple(f".{kind}{packed}" for kind in ("csv", "tsv", "tab", "txt", "dat", "data") for packed in ("", ".gz"))


def _data_set(
    module: str, keys: type, summary: str, gives: str = "table", features: str = "", test_share=0.0, endings=()
) -> DataSet:
    return DataSet(f"boostrun.data.{module}", keys, summary, gives, features, test_share=test_share, endings=endings)


DATASETS = {
    "digits": _data_set(
        "arrays", data.SplitDatasetKeys,
        "hand-written digits of 8x8 pixels that ship with scikit-learn (UCI; Alpaydin & Kaynak 1998)",
    ),
    "mnist": _data_set(
        "torchvision_sets", data.DatasetKeys,
        "70,000 hand-written digits of 28x28 pixels (LeCun et al. 1998; Lefakis & Fleuret 2013)",
    ),
    "mnist_digit": _data_set(
        "torchvision_sets", data.MnistDigitKeys, "MNIST in two classes, one digit and the nine others"
    ),
    "cifar10": _data_set(
        "torchvision_sets", data.DatasetKeys,
        "60,000 colour images of 32x32 pixels in 10 classes (Krizhevsky 2009; Lefakis & Fleuret 2013)",
        features="coates_ng",
    ),
    "stl10": _data_set(
        "torchvision_sets", data.DatasetKeys,
        "13,000 labelled colour images of 96x96 pixels in 10 classes (Coates et al. 2011; Lefakis & Fleuret 2013)",
        features="coates_ng",
    ),
    "caltech101": _data_set(
        "torchvision_sets", data.Caltech101Keys,
        "a number of images of each of 101 object classes (Fei-Fei et al. 2004; Dubout & Fleuret 2014)",
        features="coates_ng",
    ),
    "inria": _data_set(
        "image_sets", data.InriaKeys,
        "the INRIA person set, windows of 64x128 pixels (Dalal & Triggs 2005; Lefakis & Fleuret 2013)",
        features="hog",
    ),
    "npz": _data_set(
        "arrays", data.ArraysDatasetKeys, "your own arrays: x_train, y_train, x_test, y_test (or x, y) as npz",
        endings=(".npz", ".npy"),
    ),
    "csv": _data_set("csv", data.TableDatasetKeys, "your own table in a text file", endings=_TEXTS),
    "parquet": _data_set(
        "csv", data.TableDatasetKeys, "your own table in a Parquet file", endings=(".parquet", ".parq", ".pq")
    ),
    "table": _data_set(
        "csv", data.TableDatasetKeys, "your own table in a file: text, Parquet, Arrow, ARFF or Excel, by its ending",
        endings=(".arrow", ".feather", ".ipc", ".arff", ".xlsx", ".xlsm", ".xls", ".ods"),
    ),
    "image_folder": _data_set(
        "image_sets", data.ImageFolderKeys,
        "your own images: a folder for each class, or train/ and test/ with such folders", endings=("/",),
    ),
    "openml": _data_set(
        "csv", data.OpenMLKeys, "a data set of openml.org by number or by name (Vanschoren et al. 2013)"
    ),
    "pendigits": _data_set(
        "arrays", data.UciTableKeys,
        "pen strokes of ten digits as 16 integers (Alpaydin & Alimoglu, UCI; Shalev-Shwartz et al. 2011)",
        test_share=3498 / 10992,
    ),
    "statlog": _data_set(
        "arrays", data.UciTableKeys,
        "Landsat pixels, six kinds of soil, as 36 integers (StatLog, UCI; Shalev-Shwartz et al. 2011)",
        test_share=2000 / 6435,
    ),
    "isolet": _data_set(
        "arrays", data.UciTableKeys,
        "spoken letters, 26 classes, as 617 numbers (Cole & Fanty, UCI; Shalev-Shwartz et al. 2011)",
        test_share=1559 / 7797,
    ),
    "letter": _data_set(
        "arrays", data.LetterKeys, "printed capitals, 26 classes, as 16 integers (Frey & Slate, UCI)",
        test_share=4000 / 20000,
    ),
    "chars74k": _data_set(
        "image_sets", data.Chars74KKeys,
        "digits and capitals of 1,016 computer fonts, split by font (de Campos et al. 2009; Shalev-Shwartz et al. "
        "2011)",
    ),
    "stream": _data_set(
        "stream_set", data.StreamKeys,
        "your own files larger than memory, .npy, CSV or Parquet, or folders and addresses of them, read in chunks "
        "within run.memory_limit", "chunks",
    ),
    "file_stream": _data_set(
        "streams.file_stream", data.FileStreamKeys,
        "your own file as a drifting stream, row by row in its order and in constant memory: CSV, .npy, .npz, Parquet "
        "or ARFF", "stream",
        endings=(*_TEXTS, ".npy", ".npz", ".parquet", ".parq", ".pq", ".arrow", ".feather", ".arff"),
    ),
}  # fmt: skip

FEATURES = {
    name: Pipeline(f"boostrun.features.{where}", keys, summary, gives, stateless=name == "hog")
    for name, where, keys, gives, summary in (
        (
            "raw", "columns:Raw", features.FeatureKeys, "codes",
            "pixels or columns as they are; 8-bit images are their own codes (Lefakis & Fleuret 2013 on MNIST)",
        ),
        ("hog", "hog", features.HogKeys, "codes", "histograms of oriented gradients (Dalal & Triggs 2005)"),
        (
            "coates_ng", "coates_ng", features.CoatesNgKeys, "codes",
            "whitened patches, a dictionary and soft-threshold encoding (Coates & Ng 2011)",
        ),
        (
            "linear", "values:Linear", features.LinearKeys, "values",
            "pixels or columns as numbers, for linear predictors (Shalev-Shwartz et al. 2011)",
        ),
        (
            "products", "values:Products", features.ProductsKeys, "products",
            "products of two scaled pixels or columns (Shalev-Shwartz et al. 2011, Figure 3)",
        ),
        (
            "stumps", "columns:Stumps", features.StumpsKeys, "stumps",
            "thresholds of pixels or columns (Shalev-Shwartz et al. 2011, Figure 3)",
        ),
        (
            "anchors", "values:Anchors", features.AnchorsKeys, "anchors",
            "principal components, anchors and radii, for piece-wise linear predictors (Shalev-Shwartz et al. 2011, "
            "Figure 7)",
        ),
    )
}  # fmt: skip

MODELS = {
    "boostrun.StumpEnsemble/1": SavedModel(
        "boostrun.methods.stumps:StumpEnsemble",
        "boostrun.export.c:stump_ensemble",
        onnx="boostrun.export.onnx:stump_ensemble",
        integer="boostrun.export.forms:of_stumps",
    ),
    "boostrun.VoteEnsemble/1": SavedModel(
        "boostrun.methods.stumps:VoteEnsemble",
        "boostrun.export.c:vote_ensemble",
        onnx="boostrun.export.onnx:vote_ensemble",
        integer="boostrun.export.forms:of_votes",
    ),
    "boostrun.TreeEnsemble/1": SavedModel(
        "boostrun.methods.tree:TreeEnsemble",
        "boostrun.export.c:tree_ensemble",
        onnx="boostrun.export.onnx:tree_ensemble",
        integer="boostrun.export.forms:of_trees",
    ),
}

CORE = Paper(
    "boostrun", methods=METHODS, datasets=DATASETS, features=FEATURES, models=MODELS,
    checks={"weak_learners": "boostrun.conformance.paper:weak_learner_checks"},
    importances={"boostrun.methods.estimator:StumpClassifier": "boostrun.methods.probabilities:ensemble_importances"},
)  # fmt: skip
