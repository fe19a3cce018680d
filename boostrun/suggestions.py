"""Suggestions for unknown words: first by their meaning in other tools, then by their spelling.

Tables here map keys, methods, metrics and verbs of scikit-learn, LightGBM, XGBoost and pandas to ours. They are used in
error messages alone and decide no result.
"""

from __future__ import annotations

import difflib
import re
import shlex
from collections.abc import Collection, Iterable, Mapping

_LONGEST = 100  # characters of a word that a name may be meant by: comparing takes time
_MOST_ITEMS = 8  # that a sentence names
_CLASS = re.compile("(classifier|clf|model|learner)$")

# our word -> words of other tools, in lower case, without _ and -
_NAMES = {
    "majority": "dummy baseline zeror constant mostfrequent", "accuracy": "acc error score top1",
    "macro_f1": "f1 f1macro f1score fscore", "log_loss": "logloss neglogloss crossentropy nll mlogloss binarylogloss",
    "roc_auc": "auc rocaucovr roc aucroc", "average_precision": "ap auprc prauc aucpr map",
    "balanced_accuracy": "balanced bacc balancedacc balancedaccuracyscore",
    "run": "train fit start exec execute learn bench benchmark evaluate eval score test cv classify",
    "tune": "search optimize optimise hpo hyperopt gridsearch grid randomsearch optuna",
    "frontier": "compare pareto leaderboard", "ls": "list algos methods algorithms datasets",
    "data": "download fetch dataset describe", "predict": "apply infer inference", "export": "save convert compile",
    "report": "html plot figure figures dashboard", "plan": "dryrun status preview", "table": "show results print",
    "doctor": "info env environment versions debug", "help": "man usage", "diff": "cmp",
}  # fmt: skip

# the setting, our keys for it in order of preference, words of other tools
_KEYS = (
    ("the number of weak learners", "T M algo.n_estimators algo.rounds algo.n_models", "t nestimators "
     "nestimator numboostround numboostrounds numrounds numround "
     "nrounds nround rounds iterations numiterations niterations niter numiter maxiter nboost boostingrounds epochs "
     "ntrees numtrees trees nmodels nlearners ensemblesize"),
    ("the step of a weak learner", "algo.shrinkage algo.learning_rate algo.eta", "learningrate eta lr stepsize shrink "
     "shrinkage learnrate"),
    ("the depth of a tree", "algo.depth algo.max_depth", "maxdepth depth treedepth maxtreedepth interactiondepth"),
    ("the number of leaves", "algo.leaves algo.max_leaves", "numleaves maxleafnodes maxleaves nleaves leaves"),
    ("the least number of samples in a leaf", "algo.min_samples_leaf algo.min_weight_leaf", "mindatainleaf "
     "minchildsamples minsamplesleaf minchildweight"),
    ("the penalty of large weights", "algo.l2 algo.reg algo.ridge algo.alpha", "reglambda lambdal2 l2regularization "
     "l2leafreg regalpha lambda weightdecay regularization penalty"),
    ("the share of the features that a weak learner sees", "algo.feature_fraction", "colsamplebytree colsample "
     "maxfeatures rsm featuresubsample subspace"),
    ("the weak learner", "algo.weak_learner algo.base", "baseestimator baselearner estimator booster weaklearner"),
    ("the share of the samples that a weak learner sees", "", "subsample baggingfraction subsamplefreq baggingfreq"),
    ("when training stops early", "algo.early_stopping", "earlystopping earlystoppingrounds earlystoppinground "
     "niternochange patience"),
    ("how much is printed", "", "verbose verbosity quiet silent v progress loglevel debug"),
    ("the loss", "algo.loss", "objective lossfunction criterion"),
    ("the number of samples that are kept", "r algo.reservoir_size", "r reservoirsize reservoir memorysize "
     "buffersize maxsamplesheld"),
    ("the number of fresh samples a round", "q", "batchsize batch minibatch minibatchsize"),
    ("the column of the labels", "dataset.label", "target targets label labels y class classes labelcolumn labelcol "
     "targetcolumn targetcol classcolumn response outcome dependent ycol yname labelname"),
    ("the file", "dataset.path dataset", "file files filename filepath csv csvfile path data datapath datafile input "
     "train trainpath trainfile traindata source table parquet folder dir"),
    ("the file of the test samples", "dataset.test_path", "test testfile testdata testcsv testset valid evalset val "
     "validationdata valfile"),
    ("the share of the samples for tests", "dataset.test_fraction", "testsize validationfraction validsize valsize "
     "testratio testsplit splitratio validationsplit"),
    ("the column of the groups", "dataset.group", "groups groupcolumn groupcol subject patient"),
    ("the separator of the columns", "dataset.sep", "delimiter delim separator fieldsep"),
    ("the decimal sign", "dataset.decimal", "decimals decimalsep decimalseparator decimalpoint decimalcomma"),
    ("the encoding of the text", "dataset.encoding", "charset codec fileencoding"),
    ("whether the first row holds names", "dataset.header", "headers hasheader noheader headerrow skiprows"),
    ("the words for missing values", "dataset.na", "navalues nastrings nan nullvalues missingvalues"),
    ("the kind of a column", "dataset.types", "dtype dtypes coltypes columntypes categorical categoricalfeatures "
     "catfeatures categoricalcolumns"),
    ("the columns that are left out", "dataset.drop", "ignore ignorecolumns ignorecols dropcolumns dropcols exclude "
     "excludecolumns usecols"),
    ("the side of the resized images", "dataset.size features.size", "imagesize imgsize imgsz resize resolution"),
    ("the number of bins", "features.bins", "maxbin maxbins nbins bordercount numbins"),
    ("the seed of the first trial", "seed", "randomstate randomseed rngseed rng seeds0"),
    ("the number of searched trials", "tune.trials tuning", "ntrials numtrials maxevals ncalls nsearch "
     "searchtrials ntries"),
    ("the number of repetitions", "tune.seeds trials", "cv folds nfolds kfolds kfold nfold "
     "nsplits splits repeats nrepeats nruns runs reps nreps repetitions seeds nseeds nseed"),
    ("the number of trials at once", "n_jobs", "jobs workers nworkers numworkers maxworkers threads nthreads nthread "
     "numthreads threadcount cores ncores numcores cpus ncpus processes nprocesses parallel j p"),
    ("the metric that decides", "metric", "scoring scorer evalmetric score metrics measure"),
    ("the list of metrics in the table", "table.metrics", "metric scoring scorer evalmetric score metrics "
     "measure measures"),
    ("the share of the training data for validation", "holdout", "validation valfraction validfraction heldout"),
    ("the number of training samples that are used", "train_samples", "nsamples maxsamples samplesize ntrain trainsize "
     "limit nrows rows"),
    ("the folder of the results", "results", "output out outputdir outdir resultsdir savedir o destination"),
    ("the folder of the records", "store", "records cache cachedir runsdir logdir"),
    ("the name of the table", "name", "title experiment experimentname runname tag"),
    ("what runs the trials", "run.backend", "executor scheduler distributed launcher"),
    ("the memory of a block of work", "run.memory_mb", "memory maxmemory mem ram memorylimit"),
    ("whether pictures are drawn", "run.pictures", "plot plots figures draw picture noplot"),
    ("where else trials are logged", "run.tracker", "mlflow wandb logger tracking tracker tensorboard"),
    ("the device", "features.device", "gpu usegpu cuda"),
    ("the method", "algo", "algorithm method model estimator classifier clf learner algos"),
    ("the data set", "dataset", "datasets dataset"),
    ("the features", "features", "feature preprocessing preprocessor transform transformer"),
)  # fmt: skip


def plain(word: str) -> str:
    """A word without capitals and signs, as words are compared.

    >>> plain("Max-Depth"), plain("n_estimators")
    ('maxdepth', 'nestimators')
    """
    return re.sub(r"[\W_]", "", word[:_LONGEST].lower())


def nearest(word: str, allowed: Iterable[str]) -> str:
    """The allowed word that is meant by another one; empty if none is near.

    Compared are meanings, the same letters in another style, initials, then spellings.

    >>> nearest("f1", ["accuracy", "macro_f1"]), nearest("LogLoss", ["log_loss"]), nearest("rf", ["random_forest"])
    ('macro_f1', 'log_loss', 'random_forest')
    >>> nearest("gem", ["geem", "wsam"]), nearest("zzz", ["geem"])
    ('geem', '')
    """
    known = list(allowed)
    spelled = difflib.get_close_matches(str(word)[:_LONGEST].lower(), known, n=1, cutoff=0.5)
    return same(word, known) or next(iter(spelled), "")


def same(word: str, known: Collection[str]) -> str:
    """The known word that is meant by another one, whatever its spelling; empty if there is none.

    >>> same("train", ["run", "plan"]), same("plam", ["run", "plan"])
    ('run', '')
    """
    typed = plain(str(word))
    bare = _CLASS.sub("", typed) or typed
    for each in known:
        if plain(each) in (typed, bare) or bare in _NAMES.get(each, "").split():
            return each
    for each in known:
        initials = "".join(part[:1] for part in re.split(r"[_\W]+", each.lower()))
        if len(initials) > 1 and initials == bare:
            return each
    return ""


def meant_key(
    typed: str, value: str | None, known: Collection[str], parameters: Mapping[str, str] | None = None
) -> tuple[str, bool]:
    """A clause that says which key is meant by one that is not known, as it is typed with the value; may be empty.

    Also returns whether the clause is more than a guess by spelling.

    Parameters
    ----------
    typed : the key as it was typed, ``n_estimators`` or ``algo.n_estimators``.
    value : its value as it was typed; None if there is none.
    known : the keys that the command takes, as they are typed.
    parameters : other names of some of them: parameters of the method, such as reservoir_size for r.

    >>> meant_key("n_estimators", "100", ["r", "T", "algo.shrinkage"])
    ('; the number of weak learners is T: T=100', True)
    >>> meant_key("dataset.target", "my kind", ["dataset.label"])
    ("; the column of the labels is dataset.label: 'dataset.label=my kind'", True)
    >>> meant_key("shrinkag", "0.1", ["r", "algo.shrinkage"]), meant_key("zzz", "1", ["r"])
    (('; did you mean algo.shrinkage=0.1?', False), ('', False))
    """
    group, _, last = typed.rpartition(".")
    word = plain(last)
    same = [each for each in known if plain(each.rpartition(".")[2]) == word]
    of_group = [each for each in same if each.partition(".")[0] == group]
    if same:
        return f"; did you mean {' or '.join(_typed(each, value) for each in of_group or same)}?", True
    meant = [(what, keys.split()) for what, keys, words in _KEYS if word in words.split()]
    for what, keys in meant:
        if key := next((each for each in keys if each in known), ""):
            return f"; {what} is {key}: {_typed(key, value)}", True
    if key := {plain(name): each for name, each in (parameters or {}).items()}.get(word, ""):
        return f"; did you mean {_typed(key, value)}?", True
    if meant:
        return f"; nothing here sets {meant[0][0]}", True
    lasts = {each.rpartition(".")[2]: each for each in reversed(list(known))}
    spelled = difflib.get_close_matches(last[:_LONGEST].lower(), lasts, n=1, cutoff=0.65)
    return (f"; did you mean {_typed(lasts[spelled[0]], value)}?" if spelled else ""), False


def _typed(key: str, value: str | None) -> str:
    return f"{key}=..." if value is None else shlex.quote(f"{key}={value}")


def meant_item(name: str, known: Collection[str]) -> str:
    """A clause that says which items of papers may be meant: those of this name in any paper, a paper's, the nearest.

    >>> items = ["first/table3", "second/table3", "second/figure1"]
    >>> meant_item("table3", items), meant_item("Fig. 1", items)
    ('; which one: first/table3 or second/table3?', "; did you mean 'second/figure1'?")
    >>> meant_item("second", items), meant_item("second/tabel3", items)
    ('; which one: second/table3 or second/figure1?', "; did you mean 'second/table3'?")
    """
    paper, _, last = name.rpartition("/")
    word = _numbered(last)
    found = [each for each in known if word in (_numbered(each.rpartition("/")[2]), plain(each.partition("/")[0]))]
    found = [each for each in found if each.partition("/")[0] == paper] or found
    found = found or list(filter(None, [nearest(name, known)]))
    if len(found) < 2:
        return f"; did you mean '{found[0]}'?" if found else ""
    if len(found) > _MOST_ITEMS:
        return f"; which one: {', '.join(found[:_MOST_ITEMS])}, ...?"
    return f"; which one: {', '.join(found[:-1])} or {found[-1]}?"


def _numbered(item: str) -> str:
    """A table or figure as it is compared: ``Fig. 1``, fig1 and figure1 are one."""
    return re.sub("^(tab|tbl)(?=[0-9])", "table", re.sub("^fig(?=[0-9])", "figure", plain(item)))
