"""Every method, data set, stream, pipeline, part and item of the catalogue is held to what `boostrun check` asks.

The lists come from the declarations, so that new methods are tested without a change here.
"""

import os
from pathlib import Path

import pytest

from boostrun.config import catalogue
from boostrun.conformance import outcomes, paper, things
from boostrun.errors import BoostrunError
from boostrun.methods.declaration import obtain
from tests.marks import slow_but
from tests.papers.iboost.learners import QUICK as STREAM_LEARNERS

DATA = Path(os.environ.get("BOOSTRUN_DATA") or Path(__file__).parents[2] / "datasets")
LONG = ("scikit-learn", "river", "pickled to a worker", "the same in a worker")  # checks that take their time
QUICK = ("one label an example", "labels of its own", "on a ")  # the checks that quick tests run for every method
# exceptions: intended behaviour that breaks a rule
MEANT = {
    ("majority", name)  # it does not look at the samples
    for name in (
        "labels of its own classes, one a sample, better than chance", "bad input: NaN", "bad input: infinite",
        "bad input: no samples", "bad input: more samples than labels", "bad input: other features than trained on",
    )
} | {
    ("no_change", "better than chance on an easy stream"),  # it learns nothing
    # OSBoost turns no stump round: random ones mislead it, which reservoir/random_stumps shows
    ("chen_random", "labels of its own classes, one a sample, better than chance"),
    ("chen_random", "scikit-learn's own checks"),
    # the votes of OSBoost are whole numbers: at a tie, 0.0, ours is the second class, scikit-learn's the first one
    ("geem_chen", "scikit-learn's own checks"),
    # one of them trains on 300 samples: five passes are 50 steps of Adam, too few
    ("mlp", "scikit-learn's own checks"),
}  # fmt: skip
SMALL = {  # keys with which features can be tried on ten images
    "coates_ng": ["atoms=8", "patches=200"], "templates": ["centres=8", "patches=200"],
    "anchors": ["anchors=4", "pca=2"],
}  # fmt: skip
METHODS, DATASETS, PIPELINES = catalogue.methods(), catalogue.datasets(), catalogue.pipelines()
TABLES = [name for name, found in DATASETS.items() if found.gives == "table"]
STREAMS = [name for name, found in DATASETS.items() if found.gives == "stream"]
PARTS = [(room, name) for room in paper.ROOMS for name in catalogue.parts(room)]
FEW = ("laminating", "tasting_1q", "ucb")  # of the policies, which stand for all
QUICK_PARTS = [(room, name) for room, name in PARTS if room != "policies" or name in FEW]
ITEMS = list(catalogue.options("paper"))


def hold(section, wanted=lambda name: True):
    """Every check of a section that is wanted holds; returns how many did. Skipped where all were, as without data."""
    chosen = [check for check in section.checks if wanted(check.name)]
    found = list(outcomes(chosen, section.own))
    if found and all(each.status == "skipped" for each in found):
        pytest.skip(found[0].reason)
    broken = [
        each for each in found if each.status == "FAILED" and (section.title.split(",")[0], each.name) not in MEANT
    ]
    assert not broken, "\n".join(f"{each.name}: {each.reason} {each.details}" for each in broken)
    return sum(each.status == "ok" for each in found)


def installed(name):
    """Skip where the library of a rival is not there."""
    try:
        getattr(obtain(METHODS[name].target), "installed", lambda: None)()
    except BoostrunError as error:
        pytest.skip(str(error))


def _quick_or_slow(name):
    """Rivals that follow a stream call Python for every example, other learners of streams take seconds to
    compile, of the policies a few stand for all, and three methods train or compile for long."""
    method = METHODS[name]
    follows = "stream" in method.inputs and name not in STREAM_LEARNERS
    searches = method.paper == "adaptive" and name not in ("laminating", "tasting_1q")
    long = name in ("mixed_norm", "filterboost", "iboost_stochastic")
    return pytest.param(name, marks=pytest.mark.slow) if follows or searches or long else name


@pytest.mark.parametrize("name", [_quick_or_slow(name) for name in METHODS])
def test_a_method_learns_and_is_measured(name):
    installed(name)
    assert hold(things.of_choice("algo", name, ()), lambda check: check.startswith(QUICK)) >= 2


@pytest.mark.parametrize("name", [_quick_or_slow(name) for name in METHODS])
def test_a_method_keeps_the_rules(name):
    installed(name)
    assert hold(things.of_choice("algo", name, ()), lambda check: not check.startswith((*QUICK, *LONG))) >= 5


@pytest.mark.slow
@pytest.mark.parametrize("name", METHODS)
def test_a_method_keeps_the_rules_that_take_long(name):
    installed(name)
    assert hold(things.of_choice("algo", name, ()), lambda check: check.startswith(LONG)) >= 1


@pytest.mark.parametrize(("room", "name"), slow_but(QUICK_PARTS, PARTS))
def test_a_part_keeps_the_rules(room, name):
    assert hold(things.of_part(room, name, catalogue.parts(room)[name], ())) >= 7


@pytest.fixture
def data(monkeypatch):
    monkeypatch.setenv("BOOSTRUN_DATA", str(DATA))


def _few(name):
    """Keys of a stream that make it short, if it has any."""
    return ["n_samples=3000"] if "n_samples" in catalogue.fields("dataset", name) else []


def _given(name):
    """Whether all its keys have values: the key of a user's file has none."""
    return "???" not in [field.default for field in catalogue.fields("dataset", name).values()]


@pytest.mark.parametrize("name", [name for name in STREAMS if _given(name)])
def test_a_stream_keeps_the_rules(name, data):
    assert hold(things.of_choice("dataset", name, _few(name)), lambda check: not check.startswith(LONG)) >= 4


@pytest.mark.parametrize("name", ["electricity", "santafe", "weather"])
def test_a_stream_whose_files_are_not_there_is_skipped(name, monkeypatch, tmp_path):
    monkeypatch.setenv("BOOSTRUN_DATA", str(tmp_path))
    section = things.of_choice("dataset", name, _few(name))
    found = outcomes(section.checks, section.own)
    assert {each.status for each in found} == {"skipped"}


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in TABLES if _given(name) and name != "openml"])
def test_a_table_keeps_the_rules(name, data):
    assert hold(things.of_choice("dataset", name, ())) >= 4


@pytest.mark.slow
@pytest.mark.parametrize("name", PIPELINES)
def test_features_keep_the_rules(name):
    assert hold(things.of_choice("features", name, SMALL.get(name, ()))) >= 7


@pytest.mark.parametrize("name", ITEMS)
def test_every_name_in_an_item_stands_for_something(name):
    assert hold(things.sections(name, None, ())[0], lambda check: check.startswith("its rows")) == 1


@pytest.mark.slow
@pytest.mark.parametrize("name", ITEMS)
def test_every_cell_of_an_item_can_be_composed(name):
    assert hold(things.sections(name, None, ())[0], lambda check: not check.startswith("its rows")) >= 1


@pytest.mark.parametrize("name", [name for name in catalogue.papers() if name])
def test_a_paper_is_declared_as_it_is(name):
    first, *others = things.sections(name, None, ())
    assert hold(first) >= 4 and len(others) > 5
