"""Items of the paper through the command: pictures and quoted rows beside a table, and methods without rounds."""

import csv

import numpy as np
import pytest

from boostrun.errors import BoostrunError
from boostrun.papers.shareboost.figures import errors_figure, evaluate_pieces, fit_pieces, template_figure
from boostrun.report.entry import Entry
from boostrun.report.table import build
from boostrun.runner import paper
from boostrun.runner.paper import relative
from boostrun.runner.plan import PlannedCell, cell_of
from boostrun.store.cell import Inputs

TEMPLATES = """# small templates
title: small
paper: ""
table: ""
metric: [test_error_pct, test_errors]
higher_is_better: false
rows: setting
columns: [dataset, metric, T]
where: {}
overrides: [dataset.path=digits.npz]
read_at: [2, 5, 40]
pictures: [templates, errors]
blocks:
  - sweep: {dataset: [npz]}
    settings:
      shared: [algo=shareboost, T=40, algo.reg=1e-3, features=templates, SMALL]
      neighbours: [algo=knn, features=raw]
""".replace("SMALL", "features.patch=3, features.centres=6, features.masks=4, features.patches=300")


@pytest.fixture
def images(workplace):
    """150 + 40 digits of 8x8 pixels, and an item in a folder of its own."""
    from sklearn.datasets import load_digits

    x, y = load_digits(return_X_y=True)
    x = (15 * x).astype(np.uint8).reshape(-1, 8, 8)
    np.savez(workplace / "digits.npz", x_train=x[:150], y_train=y[:150], x_test=x[150:190], y_test=y[150:190])
    folder = workplace / "mine" / "paper" / "my"
    folder.mkdir(parents=True)
    (folder / "item.yaml").write_text(TEMPLATES)
    return workplace


@pytest.mark.slow
def test_pictures_stand_beside_the_table_and_a_method_without_rounds_has_one_figure(command, images):
    code, out, err = command("reproduce my/item --config-dir mine n_jobs=1")
    assert code == 0, err
    folder = images / "results" / "my" / "item"
    assert {path.name for path in folder.glob("*_npz_*.png")} == {
        "templates_npz_shared.png", "errors_npz_shared.png", "errors_npz_neighbours.png",
    }  # fmt: skip
    assert "no templates picture of npz neighbours" in out
    assert (folder / "curve_test_error_pct_T.png").is_file() and not (folder / "curve_test_errors_T.png").exists()
    rows = list(csv.DictReader((folder / "table.csv").open()))
    marks = {(row["row"], row["T"]) for row in rows if row["mean"]}
    assert marks == {("shared", "T=2"), ("shared", "T=5"), ("shared", "T=40"), ("neighbours", "T=end")}


def test_an_item_with_an_unknown_picture_is_a_sentence(images):
    path = images / "mine" / "paper" / "my" / "item.yaml"
    path.write_text(TEMPLATES.replace("[templates, errors]", "[templates, eros]"))
    with pytest.raises(BoostrunError, match=r"no pictures 'eros' .there are templates, errors."):
        paper.load("my/item", config_dir=str(images / "mine"))


BESIDE = """# rows of the paper, a quotient of costs, lines for methods without rounds
title: beside
paper: shareboost
table: table1
metric: [test_error_pct, run_time_relative, multiply_adds]
higher_is_better: false
rows: setting
columns: [metric]
where: {}
overrides: [dataset.path=digits.npz, features=raw]
t_name: features used
relative: {metric: run_time_relative, of: multiply_adds, to: shared}
beside:
  - {cell: {setting: neighbours}, where: {method: 3nn}}
quoted:
  SVM (2002): {method: svm_poly9}
blocks:
  - sweep: {dataset: [npz]}
    settings:
      shared: [algo=shareboost, T=3]
      neighbours: [algo=knn]
"""


@pytest.mark.slow
def test_rows_of_the_paper_are_quoted_and_costs_are_relative_to_one_row(command, images):
    (images / "mine" / "paper" / "my" / "beside.yaml").write_text(BESIDE)
    code, out, err = command("reproduce my/beside --config-dir mine n_jobs=1")
    assert code == 0, err
    folder = images / "results" / "my" / "beside"
    rows = {(row["row"], row["metric"]): row for row in csv.DictReader((folder / "table.csv").open())}
    figure = lambda row, metric, of="mean": float(rows[row, metric][of])  # noqa: E731
    assert figure("shared", "run time relative") == 1.0
    quotient = figure("neighbours", "multiply adds") / figure("shared", "multiply adds")
    assert figure("neighbours", "run time relative") == pytest.approx(quotient) and quotient > 10
    assert figure("neighbours", "run time relative", "paper_mean") == 14.0
    quoted = rows["SVM (2002)", "test error %"]
    assert (quoted["mean"], quoted["expected"], float(quoted["paper_mean"])) == ("", "0", 0.56)
    assert quoted["paper_note"] == "printed in the paper" and not rows["shared", "test error %"]["paper_mean"]
    assert "quoted" in out and "are missing" not in out
    assert command("table my/beside --config-dir mine --strict")[0] == 0


@pytest.mark.slow
def test_figures_of_a_setting_may_be_those_of_an_earlier_round(command, images):
    path = images / "mine" / "paper" / "my" / "beside.yaml"

    def figures(text):
        path.write_text(text)
        code, _, err = command("reproduce my/beside --config-dir mine n_jobs=1 run.pictures=false")
        assert code == 0, err
        rows = csv.DictReader((images / "results" / "my" / "beside" / "table.csv").open())
        return {(row["row"], row["metric"]): float(row["mean"]) for row in rows if row["mean"]}

    short = figures(BESIDE.replace("T=3", "T=2"))
    assert figures(BESIDE + "read_after: {shared: 2}\n") == short
    assert figures(BESIDE) != short
    assert figures(BESIDE.replace("T=3", "T=2") + "read_after: {shared: 3}\n") == short  # it has no third one
    path.write_text(BESIDE + "read_after: {sharde: 2}\n")
    with pytest.raises(BoostrunError, match="read_after: no setting 'sharde'; did you mean 'shared'"):
        paper.load("my/beside", config_dir=str(images / "mine"))


def test_without_the_row_that_costs_are_relative_to_there_is_none():
    neighbours = {"seed": 0, "metrics": {"multiply_adds": 500}}
    entries = [Entry("shared", ("x",), {}, 1, [], metric="q"), Entry("other", ("x",), {}, 1, [neighbours], metric="q")]
    _, other = relative(entries, "q", "multiply_adds", "shared")
    assert not other.records and other.reason == "no record of shared to be relative to"
    _, other = relative(entries, "q", "multiply_adds", "nobody")
    assert not other.records and "nobody" in other.reason


def test_quoted_rows_go_with_metrics_as_columns_only(images):
    path = images / "mine" / "paper" / "my" / "beside.yaml"
    path.write_text(BESIDE.replace("columns: [metric]", "columns: [dataset, metric]"))
    with pytest.raises(BoostrunError, match="quoted rows go with columns"):
        paper.load("my/beside", config_dir=str(images / "mine"))


def test_figure_2_has_a_mean_over_class_orders():
    """One order does not reach the target: its cell is incomplete."""
    item = paper.load("shareboost/fig2_letter", ["dataset.classes=5", "algo=shareboost"])
    orders = [place.values["dataset.class_order"] for place, _ in item.cells]
    assert orders == [str(order) for order in range(10)]
    planned = []
    for needed, (_, settings) in zip((4, None, *[8] * 8), item.cells):
        record = {"seed": 0, "key": str(needed), "status": "done", "metrics": {"features_to_20_pct": needed}}
        done = [record | {"cost": {}, "curve": {}}]
        planned.append(PlannedCell(settings, cell_of(settings), Inputs("", ""), done=done))
    (cell,) = build(item.spec, item.entries(planned)).cells
    assert (cell.row, cell.expected, cell.n, cell.mean) == ("shareboost", 10, 9, 68 / 9)
    assert not cell.complete and "absent" in cell.reason


def test_of_a_mean_over_dictionaries_the_first_is_pictured():
    item = paper.load("shareboost/fig6")
    names = ["mnist reg 0", "mnist reg tuned", "mnist_expanded reg 0", "mnist_expanded reg of mnist"]
    assert list(item.pictured) == names
    for name, number in item.pictured.items():
        place, _ = item.cells[number]
        assert name == f"{place.values['dataset']} {place.setting}" and place.values["features.seed"] == "0"


@pytest.mark.parametrize("narrowed", [[], ["algo=kernel_svm"]])
def test_a_method_without_the_swept_draws_stands_with_the_first(narrowed):
    item = paper.load("shareboost/fig7", narrowed)
    planned = [
        PlannedCell(settings, cell_of(settings), Inputs("", ""), done=[
            {"seed": 0, "key": str(number), "status": "done", "metrics": {"test_error_pct": 1.0}, "cost": {}}
        ])
        for number, (_, settings) in enumerate(item.cells)
    ]  # fmt: skip
    (machine,) = [entry for entry in item.entries(planned) if entry.row == "kernel_svm"]
    assert [record["seed"] for record in machine.records] == [0] and machine.expected == 1


def test_equal_templates_are_equal_files_and_others_are_not(tmp_path):
    rng = np.random.default_rng(0)
    filters, masks, weights = rng.normal(size=(17, 3, 3)), rng.random((17, 4, 4)), rng.normal(size=(17, 3))
    draw = lambda name, w: template_figure(filters, masks, w, "abc", "title", tmp_path / name).read_bytes()  # noqa: E731
    assert draw("a.png", weights) == draw("b.png", weights) != draw("c.png", np.zeros((17, 3)))


def test_every_image_has_its_place_in_a_figure_of_errors(tmp_path):
    images = np.random.default_rng(0).integers(0, 256, (13, 4, 4), dtype=np.uint8)
    one = errors_figure(images, [("a", "b")] * 13, "title", tmp_path / "a.png").read_bytes()
    images[12] = 255 - images[12]
    assert errors_figure(images, [("a", "b")] * 13, "title", tmp_path / "b.png").read_bytes() != one


def test_pieces_come_near_a_smooth_function_and_more_of_them_nearer():
    v = np.linspace(0, 1, 200)
    target = np.sin(2 * np.pi * v) + v
    errors = []
    for most in (1, 3, 6):
        pieces = fit_pieces(v, target, most=most)
        columns = [np.abs(v - piece.anchor) < piece.radius for piece in pieces]
        plain = sum(inside * (piece.slope * v + piece.intercept) for inside, piece in zip(columns, pieces))
        np.testing.assert_allclose(evaluate_pieces(pieces, v), plain, atol=1e-12)
        assert len({(piece.anchor, piece.radius) for piece in pieces}) == most
        errors.append(np.mean((plain - target) ** 2))
    assert errors[0] > errors[1] > errors[2] and errors[2] < 0.06 * np.var(target)


def test_figure_1_is_drawn_without_data(command, workplace):
    code, out, _ = command("reproduce shareboost/fig1")
    assert code == 0 and "8 pieces" in out
    folder = workplace / "results" / "shareboost" / "fig1"
    assert (folder / "figure.png").is_file() and len((folder / "figure.csv").read_text().splitlines()) == 9


def test_an_item_whose_data_are_missing_is_a_table_that_says_so(command, workplace):
    code, out, err = command("reproduce shareboost/fig2 dataset=chars74k dataset.classes=2 n_jobs=1")
    assert code == 0, err
    assert "dataset=chars74k is not there" in out and "there is nothing to draw" in out
    folder = workplace / "results" / "shareboost" / "fig2"
    assert (folder / "table.md").is_file() and not list(folder.glob("*.png"))
