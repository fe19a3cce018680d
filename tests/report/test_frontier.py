"""Who wins where: budgets that are kept and that are not, too few trials, the sentence, the picture."""

import dataclasses
import math

import pytest

from boostrun.errors import BoostrunError
from boostrun.report import frontier_summary as summaries
from boostrun.report.frontier import (
    Frontier,
    FrontierPoint,
    as_csv,
    by_draws,
    contest,
    draws,
    lines,
    markdown,
    notes,
    sentence,
    text,
    verdicts,
)
from boostrun.report.frontier_summary import (
    FrontierSummary,
    draw_by_draws,
    draw_differences,
    draw_frontier,
    draw_ranks,
    frontiers_of,
    most_shared,
    read_frontier,
    with_rows,
    write_table,
)
from boostrun.report.statistics import Sampling

NOISE = (0.0, 0.3, -0.2, 0.1, -0.1, 0.2, -0.3, 0.05)


def records(mean, spent, seeds=8):
    return [
        {
            "seed": seed, "key": f"{mean} {seed}", "status": "done", "curve": {},
            "metrics": {"test_accuracy_pct": mean + NOISE[seed % 8] * (1 + mean % 3)},
            "cost": {"peak_samples_held": spent},
        }
        for seed in range(seeds)
    ]  # fmt: skip


def point(method, budget, mean, spent=None, rival=False, seeds=8, **more):
    return FrontierPoint(method, rival, budget, records(mean, spent or budget, seeds), seeds, **more)


def frontier(*points, name="toy"):
    return Frontier(name, "samples_held", points, ("how it was made",))


THREE = frontier(
    point("wsam", 50, 90.0), point("wsam", 200, 92.0), point("wsam", 1000, 93.0),
    point("forest", 50, 80.0, rival=True), point("forest", 200, 92.0, rival=True),
    point("forest", 1000, 97.0, rival=True),
    point("trees", 50, 70.0, rival=True),
)  # fmt: skip


def test_a_win_a_tie_and_a_loss_and_the_sentence():
    assert [one.outcome for one in verdicts(THREE)] == ["win", "tie", "loss"]
    assert all(one.ours == "wsam" and one.rival == "forest" and one.n == 8 for one in verdicts(THREE))
    said = sentence(THREE)
    assert said.startswith(
        "On toy, holding 50 samples the budget pays: wsam is ahead of the best rival (forest) by 9.99 points;"
    )
    assert "holding 200 samples wsam and forest are level" in said
    assert "000 samples forest is the better choice, ahead of wsam by" in said and "1 win, 1 tie, 1 loss" in said
    assert [row[-1] for row in contest(THREE)[1:]] == ["ours", "level", "the rival"]
    assert "| best of ours |" in markdown(THREE) and text(THREE).endswith(said.replace("\u202f", " "))
    two = frontier(
        *(point("wsam", at, 90.0) for at in (50, 200)), *(point("forest", at, 80.0, rival=True) for at in (50, 200))
    )  # neighbouring budgets of one outcome share a part
    assert sentence(two).count("the budget pays") == 1 and "holding 50 to 200 samples" in sentence(two)


def test_a_lead_within_the_noise_of_the_test_rows_is_level_and_a_repeated_comparison_is_decided_by_them(tmp_path):
    both = point("wsam", 50, 90.0), point("forest", 50, 87.0, rival=True)
    few, many = (dataclasses.replace(frontier(*both), sampling=Sampling(rows=rows)) for rows in (100, 10_000))
    assert [verdicts(one)[0].outcome for one in (frontier(*both), few, many)] == ["win", "tie", "win"]
    assert verdicts(few)[0].rows_low < 0 < verdicts(few)[0].low and contest(few)[1][5].endswith("(bound)")
    right = (1.0,) * 90 + (0.0,) * 10, (1.0,) * 87 + (0.0,) * 13  # who errs, errs on the same rows
    known = [dataclasses.replace(one, right=share) for one, share in zip(both, right)]
    found = dataclasses.replace(few, points=tuple(known))
    assert verdicts(found)[0].rows_by == "bootstrap" and verdicts(found)[0].rows_low >= 0
    write_table(found, tmp_path)
    assert with_rows(few, tmp_path) == found and with_rows(few, tmp_path / "none") == few
    resplit = dataclasses.replace(frontier(*both), sampling=Sampling(ratio=0.25))
    assert contest(resplit)[0][4] == "95 % over splits" and verdicts(resplit)[0].outcome == "win"
    fixed = [FrontierPoint(name, rival, 50, records(mean, 50, seeds=1), 1, fixed=True)
             for name, mean, rival in (("shareboost", 90.0, False), ("logistic", 80.0, True))]  # fmt: skip
    outcomes = [verdicts(dataclasses.replace(frontier(*fixed), sampling=Sampling(rows=rows)))[0].outcome
                for rows in (0, 30, 3000)]  # fmt: skip
    assert outcomes == ["untested", "tie", "win"]


def test_too_few_trials_and_one_comparison_repeated_are_no_test_and_six_budgets_need_more():
    found = frontier(point("wsam", 50, 90.0, seeds=3), point("forest", 50, 80.0, rival=True, seeds=3))
    assert verdicts(found)[0].outcome == "untested" and math.isnan(verdicts(found)[0].p)
    assert "too few" in sentence(found) and contest(found)[1][-1] == "not tested"
    same = [record | {"metrics": {"test_accuracy_pct": 80.0}} for record in records(80.0, 50)]
    fixed = FrontierPoint("shareboost", False, 50, records(90.0, 50, seeds=1), 1, fixed=True)
    found = frontier(fixed, FrontierPoint("lightgbm", True, 50, same, 8))
    assert verdicts(found)[0].outcome == "untested" and verdicts(found)[0].n == 8
    """2 / 2^6 = 0.03 is below 0.05 for one test, and above it when there are six."""
    sides = [(point("wsam", at, 90.0, seeds=6), point("forest", at, 80.0, rival=True, seeds=6)) for at in range(50, 56)]
    assert verdicts(frontier(*sides[0]))[0].outcome == "win"
    assert {one.outcome for one in verdicts(frontier(*(each for pair in sides for each in pair)))} == {"untested"}


def test_one_figure_without_chance_stands_for_every_seed_and_who_spent_more_wins_nothing():
    fixed = FrontierPoint("logistic", True, 50, records(80.0, 50, seeds=1), 1, fixed=True)
    found = frontier(point("wsam", 50, 90.0), fixed)
    assert verdicts(found)[0].n == 8 and verdicts(found)[0].outcome == "win"
    assert any("nothing in it is random" in note for note in notes(found))
    found = frontier(point("wsam", 50, 90.0), point("forest", 50, 99.0, spent=812, rival=True))
    assert verdicts(found)[0].outcome == "alone" and verdicts(found)[0].rival == ""
    assert "!" in lines(found)[2][1] and any("it spent 812" in note for note in notes(found))
    assert as_csv(found).splitlines()[2].split(",")[8:10] == ["812", "1"]


def test_a_budget_that_nobody_meets_is_an_empty_column_with_its_reason_and_has_no_picture(tmp_path):
    found = frontier(FrontierPoint("wsam", False, 5, reason="ten samples at least"), point("wsam", 50, 90.0))
    assert [row[1] for row in lines(found)[1:]] == ["—"]
    assert "wsam at 5: ten samples at least." in notes(found) and "5: no method has a figure." in notes(found)
    assert "wsam is the best, and no rival has a figure" in sentence(found)
    found = frontier(FrontierPoint("wsam", False, 5, reason="no"))
    assert "no method has a figure" in sentence(found) and drawn(found, tmp_path) is None
    assert "best of ours" not in text(found) and "best of ours" not in markdown(found)


def drawn(found, folder):
    write_table(found, folder / "toy-samples_held")
    return draw_frontier(read_frontier(folder / "toy-samples_held", "samples_held"), "samples_held")


def test_every_line_of_the_picture_has_its_name(tmp_path):
    figure = drawn(THREE, tmp_path)
    names = [{text.get_text() for text in axis.texts} for axis in figure.axes]
    assert names == [{"wsam", "best rival"}, {"forest", "trees", "best of ours"}]
    assert [axis.get_xscale() for axis in figure.axes] == ["log", "log"]


def drawing(method, mean, drawn, per_class=None, rival=False, curve=None):
    cost = {"peak_samples_held": 50, "samples_drawn": drawn, "train_seconds": 2.0}
    cost |= {"samples_drawn_per_problem": per_class} if per_class else {}
    made = [{**one, "cost": cost, "curve": curve or {}} for one in records(mean, 50)]
    return FrontierPoint(method, rival, 50, made, 8)


def test_what_is_drawn_stands_beside_what_is_held_and_is_an_axis_of_its_own(tmp_path):
    curve = {"T": [1, 2, 3], "samples_drawn": [90, 1000, 6000], "test_accuracy_pct": [40.0, 80.0, 90.0]}
    points = (drawing("wsam", 90.0, 6000, 600, curve=curve), drawing("sgd", 85.0, 1200, rival=True),
              point("old", 50, 70.0, rival=True))  # fmt: skip
    found = Frontier("toy", "samples_held", points, (), samples=1200, classes=10)
    assert draws(found, " ")[1:] == [
        ["50", "wsam", "90.01", "6 000", "5", "one a class", "2.00"],
        ["50", "sgd", "85.01", "1 200", "1", "one for all", "2.00"],
    ]
    assert by_draws(found, 50, " ") == [
        ["method", "100", "1 000", "6 000"], ["wsam", "40.00", "80.00", "90.00"], ["sgd", "—", "—", "85.01"],
    ]  # fmt: skip
    write_table(found, tmp_path / "toy-samples_held")
    files = read_frontier(tmp_path / "toy-samples_held", "samples_held")
    assert [row["passes"] for row in files.table] == ["5", "1", ""] and len(files.drawn) == 4
    figure = draw_by_draws(files, "samples_held")
    assert [len(axis.lines) > 0 for axis in figure.axes] == [True, True]
    assert draw_by_draws(files._replace(drawn=()), "samples_held") is None


@pytest.mark.parametrize("kind", ["evaluations", "features", "model_bytes", "seconds"])
def test_costs_that_records_do_not_tell_are_said_to_be_unmeasured(kind):
    found = Frontier("toy", kind, (point("wsam", 50, 90.0),))
    assert any("is not measured" in note for note in notes(found)) and not found.over(found.points[0])


@pytest.fixture
def six(tmp_path):
    """Frontiers of six sets: one has no budget of 200, one lacks a method, one has a rival that is ahead."""
    for number in range(6):
        points = [
            point("wsam", 50, 90.0 + number), point("fix", 50, 70.0),
            point("forest", 50, 99.0 if number == 4 else 80.0, rival=True), point("sgd", 50, 60.0, rival=True),
        ]  # fmt: skip
        points = [one for one in points if (number, one.method) != (5, "fix")]
        if number != 2:
            points += [point("wsam", 200, 92.0), point("forest", 200, 92.0, rival=True)]
        write_table(frontier(*points, name=f"set{number}"), tmp_path / f"set{number}-samples_held")
        write_table(frontier(*points), tmp_path / f"set{number}-samples_held-quick")
    return tmp_path


def test_frontiers_of_several_sets_are_counted_set_by_set_and_budget_by_budget(six):
    there = frontiers_of(six, "samples_held")
    assert [one.name for one in there] == [f"set{number}" for number in range(6)]
    found = FrontierSummary("samples_held", there)
    assert found.tally() == [
        ["samples held", "50", "200", "all"], ["ours is ahead", "5", "0", "5"], ["level", "0", "5", "5"],
        ["a rival is ahead", "1", "0", "1"],
    ]  # fmt: skip
    table = {row[0]: row[1:] for row in found.outcomes()}
    assert table["set0"][0].startswith("win +") and table["set0"][0].endswith("wsam : forest")
    assert table["set4"][0].startswith("loss -") and table["set2"][1] == "—"
    assert found.sentence() == (
        "Of 11 tested comparisons of our best method with the best rival: 5 wins, 5 ties, 1 loss; ours is ahead with "
        "wsam (5); the rival ahead is forest (1)."
    )


def test_ranks_take_sets_and_methods_that_leave_most_figures(six):
    """Four methods on five sets are more than three on six; under 200 there are two methods, which are not ranked."""
    found = FrontierSummary("samples_held", frontiers_of(six, "samples_held"))
    assert list(found.ranks) == [50.0] and found.ranks[50.0].blocks == 5
    assert found.ranks[50.0].methods == ("wsam", "forest", "fix", "sgd")
    shown = summaries.text(found)
    assert "critical difference" in shown and "Holding 50 samples: wsam has the best mean rank" in shown
    assert "| data sets " in summaries.markdown(found)


def test_several_frontiers_of_a_data_set_count_one_by_one_and_are_one_in_ranks(six):
    write_table(frontier(point("wsam", 50, 99.0), point("fix", 50, 98.0), point("forest", 50, 97.0, rival=True),
                         point("sgd", 50, 96.0, rival=True), name="set0 (more)"),
                six / "another-samples_held")  # fmt: skip
    found = FrontierSummary("samples_held", frontiers_of(six, "samples_held"))
    assert found.counted == "6 data sets, 7 frontiers" and found.title.endswith("6 data sets, 7 frontiers")
    assert [one.name for one in found.sets] == [f"set{number}" for number in range(6)]
    assert found.counts(50.0)["win"] == 6 and found.ranks[50.0].blocks == 5
    assert any("the first frontier of each data set is ranked" in note for note in found.notes())


def test_a_summary_of_some_budgets_counts_those_alone_and_one_of_nothing_is_refused(six, tmp_path):
    found = FrontierSummary("samples_held", frontiers_of(six, "samples_held"), (200.0,))
    assert found.budgets == [200.0] and not found.ranks and found.counts()["tie"] == 5
    assert "no budget has as many" in summaries.text(found) and draw_ranks(found) is None
    with pytest.raises(BoostrunError, match="no frontier has 70 samples held"):
        FrontierSummary("samples_held", frontiers_of(six, "samples_held"), (70.0,))
    with pytest.raises(BoostrunError, match="holds no frontier"):
        frontiers_of(tmp_path / "nothing", "samples_held")


def test_the_pictures_of_a_summary_show_every_set_under_the_budgets_that_most_have(six):
    found = FrontierSummary("samples_held", frontiers_of(six, "samples_held"))
    figure = draw_differences(found)
    assert most_shared(found) == [50.0, 200.0] and len(figure.axes) == 2
    marks = [sorted(line.get_gid() for line in axis.lines if line.get_gid()) for axis in figure.axes]
    assert marks == [[f"set{i} 50" for i in range(6)], [f"set{i} 200" for i in (0, 1, 3, 4, 5)]]
    assert {text.get_text() for text in figure.legends[0].get_texts()} == {"ours is ahead", "level", "a rival is ahead"}
    (ranks,) = draw_ranks(found).axes
    assert {" wsam 1.20 ", " sgd 4.00 "} <= {text.get_text() for text in ranks.texts}


def test_what_nobody_tested_is_no_statement(tmp_path):
    few = frontier(point("wsam", 50, 90.0, seeds=3), point("forest", 50, 80.0, rival=True, seeds=3))
    alone = frontier(point("wsam", 50, 90.0))
    write_table(few, tmp_path / "few-samples_held")
    write_table(alone, tmp_path / "alone-samples_held")
    found = FrontierSummary("samples_held", frontiers_of(tmp_path, "samples_held"))
    assert found.sentence() == "None of the comparisons by samples held could be tested."
    assert [row[1] for row in found.outcomes()[1:]] == ["wsam alone", "untested +9.93 wsam : forest"]
    only = FrontierSummary("samples_held", frontiers_of(tmp_path, "samples_held")[:1])
    assert draw_differences(only) is None and "1 data set" in only.title


def test_of_a_metric_that_is_better_low_the_lower_side_is_ahead():
    def losing(method, mean, rival=False):
        made = [{**one, "metrics": {"log_loss": mean + NOISE[one["seed"]] / 10}} for one in records(0, 50)]
        return FrontierPoint(method, rival, 50, made, 8, metric="log_loss")

    both = Frontier("toy", "samples_held", (losing("wsam", 0.2), losing("forest", 0.5, rival=True)), (), "log_loss")
    (found,) = verdicts(both)
    assert found.outcome == "win" and found.mean == pytest.approx(-0.3)
    assert "wsam is ahead of the best rival (forest) by 0.300" in sentence(both)
    assert both.title == "toy: log loss by samples held"
    assert "log loss, lower is better" in " ".join(notes(both)) and "-0.300" in contest(both)[1]
    assert "★" in lines(both)[1][1] and lines(both)[1][1].startswith("0.201")


def test_one_lucky_trial_is_no_best_rival():
    toy = frontier(point("ours", 100, 90.0), point("lucky", 100, 95.0, rival=True, seeds=1),
                   point("steady", 100, 93.0, rival=True))  # fmt: skip
    assert [(one.rival, one.outcome) for one in verdicts(toy)] == [("steady", "loss")]
    assert [row[1].rpartition(" ")[2] for row in lines(toy)[1:]] == ["(0.20)", "?", "★"]
    assert "? not tested" in markdown(toy)


def test_methods_without_a_common_seed_and_equal_ones_are_not_said_to_lead():
    other = dataclasses.replace(point("rival", 100, 80.0, rival=True, seeds=2))
    other = dataclasses.replace(other, records=[{**one, "seed": one["seed"] + 5} for one in other.records])
    toy = frontier(point("ours", 100, 90.0, seeds=2), other)
    assert "no seed in common" in sentence(toy) and "higher mean" not in sentence(toy)


def test_what_was_spent_is_shown_to_the_digit_that_exceeds_the_budget():
    toy = frontier(point("ours", 512, 90.0, spent=512.3), point("ours", 100, 90.0, spent=150))
    assert [note for note in notes(toy) if "it spent" in note] == [
        "ours at 512: ! it spent 512.3, and does not compete.", "ours at 100: ! it spent 150, and does not compete.",
    ]
