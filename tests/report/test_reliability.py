"""The picture of how sure methods are and how often they are right."""

import numpy as np

from boostrun.evaluation.measures import Calibration
from boostrun.report import Entry
from boostrun.report.confusion import Reliability, draw_reliability


def cells(methods, setting=""):
    bins = np.zeros((3, 10))
    bins[:, 9], bins[:, 4] = (50, 48, 40), (9, 4, 4)
    return [Reliability(Entry(name, ("digits", setting), {}, 1, []), Calibration(np.ones(2), bins)) for name in methods]


def test_a_line_a_method_with_its_name_and_no_point_of_few_samples():
    figure = draw_reliability(cells(["geem", "rand"]), "digits", ["wsam", "geem", "rand"])
    upper, lower = figure.axes
    lines = [line for line in upper.get_lines() if line.get_marker() == "o"]
    assert [line.get_xydata().tolist() for line in lines] == [[[96.0, 80.0]]] * 2
    assert {"geem", "rand"} <= {text.get_text() for text in upper.texts}
    assert lines[0].get_color() == "#D55E00"  # the hue of its place in the run, as in every other picture
    heights = sorted(bar.get_height() for bar in lower.patches)
    assert len(heights) == 20 and [round(height) for height in heights[-4:]] == [15, 15, 85, 85]


def test_more_than_six_lines_are_several_panels():
    names = [f"m{number}" for number in range(8)]
    figure = draw_reliability(cells(names), "digits", names)
    drawn = [sum(line.get_marker() == "o" for line in axis.get_lines()) for axis in figure.axes]
    assert [count for count in drawn if count] == [4, 4]
