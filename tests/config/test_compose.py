"""Composed settings equal those that Hydra composes; values are parsed alike however they are typed."""

import copy
import shlex

import pytest
from hydra import compose, initialize_config_dir
from hydra.core.config_store import ConfigStore
from hydra.core.global_hydra import GlobalHydra
from hypothesis import given, settings
from hypothesis import strategies as st
from omegaconf import OmegaConf

from boostrun import config
from boostrun.config import catalogue
from boostrun.config import words as composing
from boostrun.config.fields import GROUPS, Root, fields_of, kind_of
from boostrun.config.words import Composer, default_choices, parse, quoted
from boostrun.errors import BoostrunError
from boostrun.files import read_yaml
from boostrun.runner import paper
from boostrun.runner.naming import cell_words
from boostrun.runner.plan import cell_of, compose_all, compose_one, expand
from tests.marks import slow_after


def by_hydra(words):
    """The twin: Hydra composes everything, a node for each declared choice."""
    store = ConfigStore.instance()
    for group in catalogue.GROUPS:
        for name in catalogue.names(group):
            store.store(group=group, name=name, node={"name": name, **config.defaults(group, name)})
    with initialize_config_dir(str(catalogue.conf_dir().resolve()), version_base="1.3"):
        return OmegaConf.to_container(compose("config", words), resolve=True)


LINES = """
algo=geem seed=${T} T=${r} r=9 algo.ridge=${algo.shrinkage}
dataset=csv dataset.path=x.csv algo=wsam algo=geem dataset=csv T=4
algo=shareboost dataset=mnist_expanded features=templates dataset.seed=${.copies} dataset.copies=2
algo=geem dataset=csv dataset.path='a,b.csv' dataset.label=null features=hog
algo=geem r=100 algo.ridge=0.5
algo=geem r=250 algo.ridge=1e-2
algo=geem dataset=csv dataset.path=x.csv algo.balanced=true T=7 T=8
algo=wsam T=7 seed=3 run.memory_mb=99
algo=geem algo.ridge=${T} T=3
algo=geem T=3 T=${r} r=9
algo=geem T=${r} T=3
algo=geem T=${oc.decode:'8'} store=\\${x} name=a-${dataset.name}
algo=shareboost dataset=mnist_expanded features=templates dataset.seed=${features.seed} features.seed=4
""".strip().splitlines()


@pytest.mark.parametrize("lines", slow_after(1, [LINES[:4], LINES[4:]]))
def test_words_change_the_configuration_as_hydra_changes_it(lines):
    composer = Composer()  # of all lines, which share what they have in common
    for line in lines:
        assert composer(parse(line.split())) == by_hydra(line.split()), line


def test_an_application_of_hydras_and_its_groups_of_our_names_are_left_alone(monkeypatch):
    """A program that uses Hydra may call boostrun; a node that it stores is no choice of ours."""
    store = ConfigStore.instance()
    monkeypatch.setattr(store, "repo", copy.deepcopy(store.repo))
    store.store(group="features", name="raw", node={"name": "theirs", "bins": 7})
    store.store(group="dataset", name="digits", node={"path": "theirs"})
    composing._composed_of_boostrun.cache_clear()
    with initialize_config_dir(str(catalogue.conf_dir().resolve()), version_base="1.3"):
        made, running = compose_one(["algo=wsam", "dataset=digits"]), GlobalHydra.instance().hydra
        assert running is not None and compose("config", ["r=7"]).r == 7
    assert made.features["name"] == "raw" and made.features["bins"] == 256 and "path" not in made.dataset
    assert compose_one(["algo=shareboost", "dataset=digits", "features=linear"]).features["name"] == "linear"
    assert {"features", "dataset"} <= store.repo.keys()


def test_choices_and_files_of_the_config_have_the_declared_values_and_a_line_that_explains_them():
    composer = Composer()
    for group in catalogue.GROUPS:
        lines = catalogue.summaries(group)
        for name in catalogue.names(group):
            assert composer(parse([f"{group}={name}"]))[group] == {"name": name, **config.defaults(group, name)}
            assert lines[name]
    values = OmegaConf.to_container(OmegaConf.load(catalogue.conf_dir() / "config.yaml"))
    values.pop("defaults")
    assert values == {key: field.default for key, field in fields_of(Root).items()}
    chosen = compose_one([])
    assert default_choices() == {group: getattr(chosen, group)["name"] for group in GROUPS}
    for name, path in catalogue.options("run").items():
        assert read_yaml(path) == {"name": name, **config.defaults("run", name)}


def test_hydra_composes_the_files_of_boostrun_once_and_a_data_set_names_its_features(monkeypatch):
    for dataset, name in {"digits": "raw", "inria": "hog", "stl10": "coates_ng"}.items():
        assert compose_one([f"dataset={dataset}"]).features["name"] == name
    assert compose_one(["dataset=cifar10", "features=raw"]).features["name"] == "raw"
    first = compose_one(["algo=geem"])
    monkeypatch.setattr(composing, "_composed", None)
    cells = compose_all(["algo=geem,wsam", "dataset=mnist,digits", "r=10,20"])
    assert len(cells) == 8 and compose_one(["algo=geem"]) == first


@pytest.mark.parametrize("words", [("algo.shrinkage=1.0", "r=1e2"), ("r=100.0", "algo.shrinkage=1")])
def test_one_value_typed_in_several_ways_is_one_cell(words):
    expected = cell_of(compose_one(["algo=wsam", "algo.shrinkage=1", "r=100"]))
    assert cell_of(compose_one(["algo=wsam", *words])) == expected


def test_q_follows_r_and_where_and_how_things_run_is_no_part_of_a_cell():
    words = ["algo=wsam", "n_jobs=1", "store=x", "data_root=y", "trials=3", "seed=7", "run.memory_mb=99"]
    assert cell_of(compose_one(words)) == cell_of(compose_one(["algo=wsam"]))
    assert compose_one(["r=30"]).budget == {"r": 30, "q": 30, "T": 250}
    assert compose_one(["r=30", "q=5"]).budget["q"] == 5


@settings(max_examples=8)
@given(st.text(max_size=12))
def test_any_text_ends_in_settings_or_in_a_sentence(text):
    for line in (f"r={text}", f"algo={text}", text, f"algo.shrinkage={text}"):
        try:
            compose_one([line])
        except BoostrunError as error:
            assert str(error)


@given(st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.lists(st.integers())))
def test_no_value_passes_a_declaration_unchecked(value):
    for key, field in catalogue.fields("algo", "geem").items():
        try:
            found = config.check_group("algo", {"name": "geem", key: value})[key]
        except BoostrunError as error:
            assert f"algo.{key}" in str(error)
        else:
            assert found == (field.default if value is None else kind_of(field).read(found))


@pytest.mark.parametrize(("line", "says"), [
    ("algo.rigde=1", "algo 'geem' has no key 'rigde'; did you mean algo.ridge=1"),
    ("++algo.rigde=1", "algo 'geem' has no key 'rigde'; did you mean algo.ridge=1"),
    ("algo.ridge.x=1", "has no key 'ridge.x'"), ("algo.name=rand", "has no key 'name'"),
    ("algo.seed=1", "did you mean seed=1."), ("shrinkage=1", "no key 'shrinkage'; did you mean algo.shrinkage=1"),
    ("+x=1", "no key 'x' .at the top: algo, dataset"), ("algo@here=rand", "no key 'algo@here'"),
    ("algo.ridge=[1,2]", r"algo.ridge=\[1,2\]: a number"), ("r=${y}", "'y' not found"), ("r=${r}", "Recursive"),
    ("algo=null", "no algo 'null'"), ("algo={a:1}", "names no class"), ("run=remote", "no run 'remote'"),
])  # fmt: skip
def test_a_word_that_does_not_fit_is_one_sentence(line, says):
    with pytest.raises(BoostrunError, match=says):
        compose_one(["algo=geem", line])


def test_files_of_a_folder_are_composed_with_what_they_name(tmp_path):
    files = {
        "algo/gentle.yaml": "name: wsam\nshrinkage: ${holdout}\n", "algo/odd.yaml": "[1, 2]", "algo/no.yaml": "a: [",
        "run/here.yaml": "name: local\nbackend: sequential\n",
        "try/small.yaml": "# @package _global_\nr: 20\nalgo: {depth: 3}\n",
    }  # fmt: skip
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    made = compose_one(["algo=gentle", "run=here", "holdout=0.3", "algo.depth=2", "+try=small"], str(tmp_path))
    assert (made.algo["name"], made.algo["shrinkage"], made.algo["depth"]) == ("wsam", 0.3, 2)
    assert made.run["backend"] == "sequential" and made.budget["r"] == 20
    assert compose_one(["algo=wsam", "try=small"], str(tmp_path)).algo["depth"] == 3
    wrong = {
        "algo=odd": "algo must be keys with values", "algo=no": "no.yaml cannot be read", "algo=gentl": "mean 'gentle'",
        "+try=large": "no try 'large'", "+hard=small": "no key 'hard'",
    }  # fmt: skip
    for word, says in wrong.items():
        with pytest.raises(BoostrunError, match=says):
            compose_one([word], str(tmp_path))
    (tmp_path / "algo" / "geem.yaml").write_text("name: geem\n")
    with pytest.raises(BoostrunError, match=r"geem.yaml: algo 'geem' is boostrun's own; give yours another name"):
        compose_one([], str(tmp_path))


def test_keys_and_budgets_go_to_the_choices_that_have_them_and_each_cell_is_there_once():
    found = compose_all(["algo=geem,logitboost,laminating,knn", "dataset=digits", "r=20,30", "T=7", "algo.k=3"])
    assert [(one.algo["name"], dict(one.budget)) for one in found] == [
        ("geem", {"r": 20, "q": 20, "T": 7}), ("geem", {"r": 30, "q": 30, "T": 7}),
        ("logitboost", {"T": 7}), ("laminating", {"T": 7}), ("knn", {}),
    ]  # fmt: skip
    assert found[-1].algo["k"] == 3 and "k" not in found[0].algo
    words = ["algo=majority", "dataset=digits,pendigits", "dataset.split=1,2", "features=raw,hog", "features.cell=4"]
    assert expand(words) == [
        ["algo=majority", "dataset=digits", "features=raw"],
        ["algo=majority", "dataset=digits", "features=hog", "features.cell=4"],
        ["algo=majority", "dataset=pendigits", "dataset.split=1", "features=raw"],
        ["algo=majority", "dataset=pendigits", "dataset.split=1", "features=hog", "features.cell=4"],
        ["algo=majority", "dataset=pendigits", "dataset.split=2", "features=raw"],
        ["algo=majority", "dataset=pendigits", "dataset.split=2", "features=hog", "features.cell=4"],
    ]


@pytest.mark.parametrize(("line", "says"), [
    ("algo=geem,logitboost M=5,6", r"none of algo=geem,logitboost takes M=5,6 \(geem takes r, q, T; logit"),
    ("algo=knn,logitboost algo.shrinkag=1", "none of algo=knn,logitboost has a key 'shrinkag'; did you mean algo.sh"),
    ("algo=knn,majority T=5", "knn takes no budget; majority takes no budget"),
    ("algo=geem,logitboost r=abc T=5", "r=abc: a whole number"),
    ("algo=geem,gem r=20", "no algo 'gem'; did you mean 'geem'"),
    ("algo=geem Q=10", "algo 'geem' does not take Q=10"),
])  # fmt: skip
def test_a_key_that_no_swept_choice_has_stays_an_error(line, says):
    with pytest.raises(BoostrunError, match=says):
        compose_all([*line.split(), "dataset=digits"])


ITEMS = [name for name in catalogue.options("paper") if not paper.drawing(name)]  # without figures that have no trials
FIRST = {name.split("/")[0]: name for name in reversed(ITEMS)}.values()  # of each paper; the others take their time


@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.slow] * (name not in FIRST)) for name in ITEMS])
def test_every_item_of_a_paper_composes_and_its_figures_exist(name):
    from boostrun.report.reference import figures, lookup
    from boostrun.runner.plan import PlannedCell

    raw = paper._read(name, None)
    datasets = raw["blocks"][0]["sweep"].get("dataset", [])  # none: the item has one, among its overrides
    one = ["dataset=inria" if "inria" in datasets else f"dataset={datasets[0]}"] if datasets else []
    item = paper.load(name, [] if "beside" in raw else one)  # one composes as others do
    assert len({(place.setting, *place.values.values()) for place, _ in item.cells}) == len(item.cells)
    if raw["paper"]:  # else it has no figures to stand beside
        of_paper = figures(item.spec.paper, item.spec.table)
        entries = item.entries([PlannedCell(settings, cell_of(settings), None) for settings in item.settings])
        assert any(lookup(of_paper, entry.metric, entry.where) for entry in entries if entry.where)


def test_an_item_that_draws_says_so_alone(tmp_path):
    folder = tmp_path / "paper" / "mine"
    folder.mkdir(parents=True)
    for content in ("draws: expected_edges\n", "draws: expected_edge\ntitle: x\n"):
        (folder / "figure.yaml").write_text(content)
        with pytest.raises(BoostrunError, match="draws must stand alone and be one of expected_edge"):
            paper.drawing("mine/figure", str(tmp_path))


COLON = """title: x
paper: ""
table: ""
metric: m
higher_is_better: true
rows: algo
columns: [dataset]
where: {}
blocks: [{sweep: {algo: [rand], dataset: [digits]}}]
notes:
  - a note: with a colon
"""


@pytest.mark.parametrize("text", ["[1, 2", "title: x", "- a", "title: x\nblocks: 3\nzzz: 1", "a: 1\na: 2", COLON])
def test_a_file_that_is_not_an_item_is_one_sentence(text, tmp_path):
    folder = tmp_path / "paper" / "mine"
    folder.mkdir(parents=True)
    (folder / "item.yaml").write_text(text)
    with pytest.raises(BoostrunError, match=r"item\.yaml"):
        paper.load("mine/item", config_dir=str(tmp_path))


@pytest.mark.slow
def test_items_are_read_as_omegaconf_reads_them_and_an_exponent_makes_a_number(tmp_path):
    found = list(catalogue.options("paper").values())
    assert len(found) > 80
    for path in found:
        assert repr(read_yaml(path)) == repr(OmegaConf.to_container(OmegaConf.load(path))), path
    (tmp_path / "numbers.yaml").write_text("[1e-3, -2E5, 1.5e3, 1e, e1, .5]")
    assert read_yaml(tmp_path / "numbers.yaml") == [0.001, -2e5, 1500.0, "1e", "e1", 0.5]


_NAMES = ("a b", "it's", "1", "01", "1.50", "yes", "true", "null", "a,b", "a:b", "größe", "Price (USD)", 'a"b', "[x]",
          "{x}", "a=b", " a", "a\\b", "a\\", "$x", "${x}", "a#", "日本")  # fmt: skip


@pytest.mark.parametrize("name", _NAMES)
def test_a_printed_command_reads_names_of_columns_as_they_are(name):
    words = [f"dataset.types={quoted({name: 'category'})}", f"dataset.na={quoted([name, '', '?'])}"]
    cell = cell_of(compose_one(["dataset=csv", "dataset.path=a.csv", f"dataset.label={quoted(name)}", *words]))
    assert (cell.dataset["types"], cell.dataset["na"], cell.dataset["label"]) == (
        {name: "category"}, [name, "", "?"], name,
    )  # fmt: skip
    assert cell_of(compose_one(shlex.split(cell_words(cell.config())))).key == cell.key


def test_letters_beyond_ascii_need_no_quotes_in_lists_and_mappings():
    words = ["dataset=csv", "dataset.path=a.csv", "dataset.drop=[größe,ü]", "dataset.types={é: drop, 'b (c)': date}"]
    dataset = compose_one(words).dataset
    assert dataset["drop"] == ["größe", "ü"] and dataset["types"] == {"é": "drop", "b (c)": "date"}
    both = compose_all([*words[:2], "dataset.drop=[größe],[ü]"])
    assert [one.dataset["drop"] for one in both] == [["größe"], ["ü"]]
