"""What Hydra composes is what is declared; values are read the same way however they are typed."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from omegaconf import OmegaConf

from boostrun import config
from boostrun.config import by_hydra, catalogue, compose, yaml_files
from boostrun.config.fields import fields_of, kind_of
from boostrun.config.settings import Root
from boostrun.errors import BoostrunError
from boostrun.runner import paper
from boostrun.runner.plan import cell_of


@pytest.mark.parametrize("group", ["dataset", "features", pytest.param("algo", marks=pytest.mark.slow)])
def test_every_choice_is_a_node_made_of_its_declaration_and_has_a_line_that_explains_it(group):
    lines = compose.choices(group)
    with compose.composer():
        for name in catalogue.names(group):
            assert by_hydra.composed([f"{group}={name}"], None)[group] == {"name": name, **config.defaults(group, name)}
            assert lines[name]


def test_the_files_of_the_config_have_the_declared_keys_and_defaults():
    values = OmegaConf.to_container(OmegaConf.load(yaml_files.conf_dir() / "config.yaml"))
    groups = {key: name for one in values.pop("defaults") if one != "_self_" for key, name in one.items()}
    assert values == {key: field.default for key, field in fields_of(Root).items()}
    chosen = compose.compose_one([])
    assert groups == {group: getattr(chosen, group)["name"] for group in by_hydra.GROUPS}
    for name, path in yaml_files.options("run").items():
        values = OmegaConf.to_container(OmegaConf.load(path))
        assert values == {"name": name, **config.defaults("run", name)}


def test_a_data_set_names_its_features_and_a_person_may_choose_others():
    for dataset, name in {"digits": "raw", "pedestrians": "hog", "inria": "hog", "stl10": "coates_ng"}.items():
        assert compose.compose_one([f"dataset={dataset}"]).features["name"] == name
    assert compose.compose_one(["dataset=cifar10"]).features == {
        "name": "coates_ng", **config.defaults("features", "coates_ng")
    }  # fmt: skip
    assert compose.compose_one(["dataset=cifar10", "features=raw"]).features["name"] == "raw"


@pytest.mark.parametrize("words", [("algo.shrinkage=1.0", "r=1e2"), ("r=100.0", "algo.shrinkage=1")])
def test_one_value_typed_in_several_ways_is_one_cell(words):
    expected = cell_of(compose.compose_one(["algo=wsam", "algo.shrinkage=1", "r=100"]))
    assert cell_of(compose.compose_one(["algo=wsam", *words])) == expected


def test_where_and_how_things_run_is_no_part_of_a_cell():
    plain = cell_of(compose.compose_one(["algo=wsam"]))
    words = ["algo=wsam", "n_jobs=1", "store=x", "data_root=y", "trials=3", "seed=7", "run.memory_mb=99"]
    assert cell_of(compose.compose_one(words)) == plain


def test_q_follows_r_until_it_is_given():
    assert compose.compose_one(["r=30"]).budget == {"r": 30, "q": 30, "T": 250}
    assert compose.compose_one(["r=30", "q=5"]).budget["q"] == 5


@settings(max_examples=8)
@given(st.text(max_size=12))
def test_no_text_whatever_ends_in_anything_but_a_setting_or_a_sentence(text):
    for line in (f"r={text}", f"algo={text}", text, f"algo.shrinkage={text}"):
        try:
            compose.compose_one([line])
        except BoostrunError as error:
            assert str(error)


@given(st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.lists(st.integers())))
def test_no_value_whatever_passes_a_declaration_unchecked(value):
    for key, field in catalogue.fields("algo", "geem").items():
        try:
            found = config.check_group("algo", {"name": "geem", key: value})[key]
        except BoostrunError as error:
            assert f"algo.{key}" in str(error)
        else:
            assert found == (field.default if value is None else kind_of(field).read(found))


ITEMS = [name for name in yaml_files.options("paper") if not paper.drawing(name)]  # but figures without trials
FIRST = {name.split("/")[0]: name for name in reversed(ITEMS)}.values()  # of each paper; the others take their time


@pytest.fixture(scope="module")
def bases():
    return {}  # what items share is composed once


@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.slow] * (name not in FIRST)) for name in ITEMS])
def test_every_item_of_a_paper_composes_and_its_figures_exist(name, bases):
    from boostrun.report.reference import lookup, reference

    raw = paper._read(name, None)
    datasets = raw["blocks"][0]["sweep"].get("dataset", [])  # none: the item has one, among its overrides
    one = ["dataset=inria" if "inria" in datasets else f"dataset={datasets[0]}"] if datasets else []
    item = paper.load(name, [] if "beside" in raw else one, bases=bases)  # one composes as others do
    assert len({(place.setting, *place.values.values()) for place, _ in item.cells}) == len(item.cells)
    if raw["paper"]:  # else it has no figures to stand beside
        frame = reference(item.spec.paper, item.spec.table)
        entries = item.entries([_empty(settings) for settings in item.settings])
        assert any(lookup(frame, entry.metric, entry.where) for entry in entries if entry.where)


def test_an_item_that_draws_says_so_alone(tmp_path):
    folder = tmp_path / "paper" / "mine"
    folder.mkdir(parents=True)
    for content in ("draws: expected_edges\n", "draws: expected_edge\ntitle: x\n"):
        (folder / "figure.yaml").write_text(content)
        with pytest.raises(BoostrunError, match="draws must stand alone and be one of expected_edge"):
            paper.drawing("mine/figure", str(tmp_path))


def _empty(settings):
    from boostrun.runner.plan import PlannedCell

    return PlannedCell(settings, cell_of(settings), None)


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


@pytest.mark.parametrize("text", ["[1, 2", "title: x", "- a", "title: x\nblocks: 3\nzzz: 1", COLON])
def test_a_file_that_is_not_an_item_is_one_sentence(text, tmp_path):
    folder = tmp_path / "paper" / "mine"
    folder.mkdir(parents=True)
    (folder / "item.yaml").write_text(text)
    with pytest.raises(BoostrunError, match=r"item\.yaml"):
        paper.load("mine/item", config_dir=str(tmp_path))


def test_cells_that_share_a_base_are_composed_as_hydra_composes_them():
    lines = [
        ["algo=geem", "r=100", "algo.ridge=0.5"], ["algo=geem", "r=250", "algo.ridge=1e-2"], ["algo=geem"],
        ["algo=geem", "dataset=csv", "dataset.path='a b.csv'", "dataset.label=null"], ["algo=wsam", "T=7", "seed=3"],
        ["algo=geem", "dataset=csv", "dataset.path=x.csv", "algo.balanced=true", "T=7", "T=8"],
        ["algo=geem", "algo.ridge=${T}", "T=3"], ["algo=geem", "T=3", "T=${r}", "r=9"], ["algo=geem", "T=${r}", "T=3"],
        ["algo=geem", "seed=${T}", "T=${r}", "r=9"], ["algo=geem", "algo.ridge=${algo.shrinkage}"],
        ["algo=geem", "T=${oc.decode:'8'}"], ["dataset=csv", "dataset.path=x.csv", "algo=geem", "dataset=csv", "T=4"],
        ["dataset=digits", "dataset=sea", "algo=geem", "dataset=digits"],
        ["algo=geem", "algo=wsam", "algo=geem", "r=9"],
    ]  # fmt: skip
    with compose.composer() as make:
        made = [make(line) for line in lines]
        whole = [by_hydra.composed(line, None) for line in lines]
    assert made == [compose.compose_one(line) for line in lines]
    assert [one["algo"] for one in whole] == [dict(settings.algo) for settings in made]
    assert [one["dataset"]["name"] for one in whole] == [settings.dataset["name"] for settings in made]
    assert [(one["T"], one["seed"]) for one in whole] == [(one.root["T"], one.root["seed"]) for one in made]


def test_cells_whose_seeds_are_another_key_s_share_a_base(monkeypatch):
    lines = [["algo=shareboost", "dataset=mnist_expanded", "features=templates", f"features.seed={seed}",
              "dataset.seed=${features.seed}"] for seed in (3, 4)]  # fmt: skip
    compose.compose_one(["algo=shareboost"])  # what is chosen nowhere is composed once in a process
    monkeypatch.setattr(by_hydra, "composed", None)
    with compose.composer() as make:
        assert [(made.dataset["seed"], made.features["seed"]) for made in map(make, lines)] == [(3, 3), (4, 4)]


def test_choices_that_are_declared_are_composed_without_hydra_to_the_same(monkeypatch):
    lines = [
        ["algo=wsam", "dataset=mnist", "r=100"], ["algo=iboost_batch", "dataset=sea"], ["dataset=cifar10"],
        ["features=hog", "dataset=digits"], ["algo=shareboost", "dataset=letter", "features=products"],
        ["algo=laminating", "T=3"],
    ]  # fmt: skip
    with compose.composer() as make:
        made = [make(line) for line in lines]
    monkeypatch.setattr(compose, "_declared", lambda *_: {})
    with compose.composer() as make:
        assert made == [make(line) for line in lines]


@pytest.mark.parametrize(
    "line", ["algo.rigde=1", "shrinkage=1", "algo.ridge.x=1", "algo.ridge=[1,2]", "+x=1", "r=${y}"]
)
def test_a_change_that_does_not_fit_is_the_same_sentence_with_and_without_a_base(line):
    with pytest.raises(BoostrunError) as alone:
        compose.compose_one(["algo=geem", line])
    with compose.composer() as make:
        make(["algo=geem"])
        with pytest.raises(BoostrunError) as after:
            make(["algo=geem", line])
    assert str(after.value) == str(alone.value)
