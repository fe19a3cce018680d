"""The weight of Figure 4, its filter and its masks are those that held-out digits chose."""

import json

import pandas

from boostrun.config import defaults
from tests.papers.items import ROOT, item


def test_the_weight_of_figure_4_is_what_tune_chose():
    (choice,) = (ROOT / "results/tuned").glob("shareboost-mnist-templates-T320-*/tuned.json")
    originals, *_ = item("shareboost", "fig4")["blocks"]
    value = json.loads(choice.read_text(encoding="utf-8"))["value"]
    assert originals["settings"]["reg tuned"] == [f"algo.reg={value:.0e}".replace("e-06", "e-6")]


def test_the_templates_are_those_with_the_least_error_on_held_out_digits():
    table = pandas.read_csv(ROOT / "results/shareboost/calibration/table.csv").dropna(subset=["mean"])
    last = table[table["T"].astype(str).str.removeprefix("T=") == "120"].set_index("row")["mean"]
    chosen = defaults("features", "templates")
    assert len(last) == 14
    assert last.idxmin() == f"{chosen['filter'].replace('_', ' ')}, sigma {chosen['sigma']:g}, reg 3e-5"
