"""Verdicts on claims, from made trials: an order, likeness, trends, ratios, counts, and undecided claims."""

import dataclasses
import itertools
import math

import numpy as np
import pytest
import yaml
from scipy import stats

from boostrun.errors import BoostrunError
from boostrun.report import claims as findings
from boostrun.report import verdicts as text
from boostrun.report.claims import Evidence, Side
from boostrun.report.entry import Entry
from boostrun.report.statistics import mcnemar, mcnemar_range
from boostrun.report.table import TableSpec, build
from boostrun.report.verdicts import Source, judge_print
from boostrun.runner.claims import read

RNG = np.random.default_rng(0)
SPREAD = RNG.normal(size=(8, 10)) * 0.3


def trials(level, number, n=10, code="", key="a"):
    """Records of n seeds around a level, with the noise of one method."""
    return [
        {"seed": seed, "key": f"{key}{seed}", "metrics": {"test_accuracy_pct": level + SPREAD[number, seed]},
         "cell": {part: {"name": key} for part in ("algo", "dataset", "features")}, "inputs": {"source": code}}
        for seed in range(n)
    ]  # fmt: skip


def shown(levels, n=10, codes=None, column=("mnist",)):
    """An item whose rows have these levels."""
    entries = [Entry(row, column, {}, 10, trials(level, number, n, key=row)) for number, (row, level)
               in enumerate(levels.items())]  # fmt: skip
    table = build(TableSpec("", "", "", "test_accuracy_pct", True, ("dataset",)), entries)
    made = [frozenset({(row, (codes or {}).get(row, ""))}) for row in levels]
    return {"p/item": Source("show", "make", table, made)}


def claim(tmp_path, **row):
    """A claim as it is read from a file."""
    path = tmp_path / "claims.yaml"
    path.write_text(yaml.safe_dump([{"claim": "a first", "where": "1", "item": "p/item", **row}]))
    return read(path)[0]


def judge(one, sources):
    return text.judge(judge_print(one, sources), sources)


def word(tmp_path, sources, **row):
    return judge(claim(tmp_path, **row), sources).word


def beside(levels, printed, stds=None):
    """An item whose rows have these levels, beside printed figures (NaN if there is none) and their spreads."""
    source = shown(levels)["p/item"]
    none, stds = math.nan, stds or {}
    cells = [dataclasses.replace(cell, values={}, n=0, paper_mean=printed.get(cell.row, none),
                                 paper_std=stds.get(cell.row, none)) for cell in source.table.cells]  # fmt: skip
    table = dataclasses.replace(source.table, cells=tuple(cells))
    return {"p/item": dataclasses.replace(source, printed=table, figures=[cell.row for cell in cells])}


ORDER, ALIKE = {"test": "order"}, {"test": "alike", "sides": ["a", "b"]}
ABC, LEAD = {**ORDER, "sides": ["a", "b", "c"]}, {**ORDER, "sides": ["a", ["b", "c"]]}
LESS = {**ORDER, "sides": [{"row": "a", "less": "b"}, {"row": "c", "less": "d"}]}
TREND, RATIO = {"test": "trend", "sides": list("abcd")}, {"test": "ratio", "sides": ["a", "b"]}


@pytest.mark.parametrize("levels, row, expected", [
    ((90, 88, 86), ABC, "holds"), ((90, 86, 88), ABC, "fails"),
    ((90, 88, 87.98), ABC, "undecided"), ((90, 86, 86.02), ABC, "undecided"),
    ((90, 95, 94.98), ABC, "fails"),  # one refuted pair is enough
    ((90, 86, 88), LEAD, "holds"), ((90, 86, 92), LEAD, "fails"),
    ((90.0, 90.1), {**ALIKE, "margin": 0.6}, "holds"), ((90.0, 90.1), {**ALIKE, "margin": 0.05}, "undecided"),
    ((90.0, 91.5), {**ALIKE, "margin": 0.6}, "fails"),
    ((90.0, 91.5), {"test": "no_worse", "sides": ["b", "a"], "margin": 0.1}, "holds"),
    ((90.0, 91.5), {"test": "no_worse", "sides": ["a", "b"], "margin": 0.1}, "fails"),
    ((90, 88, 88.3, 85), TREND, "holds"),  # though one step goes back
    ((90, 88, 88.3, 85), {**TREND, "sides": list("dcba")}, "fails"),
    ((90, 88, 88.3, 85), {**TREND, "test": "order"}, "fails"), ((88, 88, 88, 88), TREND, "undecided"),
    ((90, 30), {**RATIO, "at_least": 2.5, "at_most": 3.5}, "holds"), ((90, 30), {**RATIO, "at_least": 4}, "fails"),
    ((90, 30), {**RATIO, "at_least": 3.0}, "undecided"),
    ((90, 80, 70, 65), LESS, "holds"), ((90, 85, 70, 60), LESS, "fails"),
])  # fmt: skip
def test_verdicts_by_test(tmp_path, levels, row, expected):
    assert word(tmp_path, shown(dict(zip("abcd", levels))), **row) == expected


def test_fewer_than_six_seeds_carry_no_verdict_and_the_command_that_makes_more_is_told(tmp_path):
    few = judge(claim(tmp_path, test="order", sides=["a", "b"]), shown({"a": 90, "b": 50}, n=5))
    assert few.word == "undecided" and few.commands == ["make"] and "5 of at least 6 seeds" in few.verdict
    none = judge(claim(tmp_path, test="order", sides=["a", "b"]), shown({"a": 90, "b": 50}, n=0))
    assert none.word == "undecided" and none.commands == ["make"] and "0 of at least 6" in none.verdict
    assert judge(claim(tmp_path, test="order", sides=["a", "b"]), shown({"a": 9, "b": 5})).commands == ["show"]


def test_copies_of_one_run_are_one_run_and_an_effect_is_told_with_digits_that_say_something():
    copies = Side("a", dict.fromkeys(range(10), 1.0)), Side("b", dict.fromkeys(range(10), 0.0))
    assert findings.order([copies], True)[0].verdict == "undecided"
    assert findings.exact([copies], 0.0, math.inf, False)[0].verdict == "holds"
    assert Evidence("holds", "a - b", 10, 0.00123, -0.001, 0.01).effect == "a - b +0.0012 [-0.0010, +0.010]"
    assert Evidence("holds", "a / b", 10, 2.0, 1.0, 3.0).effect == "a / b 2.00 [1.00, 3.00]"


def test_of_counts_in_which_nothing_is_random_every_seed_decides():
    def found(first, second, quotient=False):
        pair = Side("a", dict(enumerate(first))), Side("b", dict(enumerate(second)))
        return findings.exact([pair], -math.inf, 0.9 if quotient else 0.0, quotient)[0]

    assert found([5, 7, 6], [9, 8, 9]).verdict == "holds" and found([5, 7, 6], [9, 8, 9], True).verdict == "holds"
    assert found([9, 9, 9], [9, 9, 9]).effect == "a - b 0.00" and found([9], [9]).verdict == "fails"
    assert found([9, 8, 9], [9, 8, 9]).verdict == found([9, 9, 9], [5, 7, 6]).verdict == "fails"
    between = found([5, 9, 6], [9, 9, 9])
    assert (between.verdict, between.why, between.n) == ("undecided", "in 2 of 3 seeds", 3)
    lacking = findings.exact([(Side("a", {0: 1.0}), Side("b", lack="not run"))], -math.inf, 0.0, False)[0]
    assert (lacking.verdict, lacking.why) == ("undecided", "not run")


def test_a_cell_in_which_nothing_is_random_stands_against_every_seed(tmp_path):
    entries = [Entry(row, ("mnist",), {}, n, trials(level, number, n, key=row))
               for number, (row, level, n) in enumerate([("a", 90, 10), ("b", 88, 1), ("c", 92, 1)])]  # fmt: skip
    table = build(TableSpec("", "", "", "test_accuracy_pct", True, ("dataset",)), entries)
    sources = {"p/item": Source("show", "make", table, [frozenset()] * 3)}
    first = {"test": "order", "sides": ["a", {"row": "b", "once": True}]}
    ahead = judge(claim(tmp_path, **first), sources)
    assert ahead.word == "holds" and ahead.findings[0][1].n == 10
    assert word(tmp_path, sources, test="order", sides=[{"row": "c", "once": True}, "a"]) == "holds"
    near = {"test": "no_worse", "margin": 1.0}
    assert word(tmp_path, sources, **near, sides=["a", {"row": "c", "once": True}]) == "fails"
    assert word(tmp_path, sources, **near, sides=[{"row": "c", "once": True}, "a"]) == "holds"
    assert "1 of at least 6 seeds" in judge(claim(tmp_path, test="order", sides=["a", "b"]), sources).verdict
    many = judge(claim(tmp_path, test="order", sides=["b", {"row": "a", "once": True}]), sources)
    assert many.word == "undecided" and "10 figures of a" in many.verdict


def test_likeness_is_schuirmanns_two_tests():
    values = {seed: 0.1 * seed for seed in range(10)}
    differences = np.array(list(values.values()))
    for margin in (0.6, 0.75, 0.9):
        p = max(stats.ttest_1samp(differences, -margin, alternative="greater").pvalue,
                stats.ttest_1samp(differences, margin, alternative="less").pvalue)  # fmt: skip
        found = findings.alike([(Side("a", values), Side("b", figure=0.0))], margin)[0]
        assert (found.verdict == "holds") == (p < 0.05)


def test_mcnemars_range_is_that_of_all_overlaps_of_two_counts_of_errors():
    assert mcnemar(9, 2) == pytest.approx(stats.binomtest(2, 11).pvalue)
    for of, first, second in itertools.product((7, 12), range(8), range(8)):
        overlaps = range(max(0, first + second - of), min(first, second) + 1)
        every = [stats.binomtest(first - both, max(1, first + second - 2 * both)).pvalue
                 if first + second > 2 * both else 1.0 for both in overlaps]  # fmt: skip
        if first <= of and second <= of:
            assert mcnemar_range(first, second, of) == pytest.approx((min(every), max(every)))


def test_counts_of_errors_decide_only_what_every_overlap_says():
    def found(first, second, margin=None, wrong=(None, None), of=10_000):
        pair = Side("a", {0: first}, wrong=wrong[0]), Side("b", {0: second}, wrong=wrong[1])
        return findings.errors([pair], of, margin)[0]

    assert found(73, 47, margin=10).verdict == "fails" and found(20, 47).verdict == "holds"
    assert found(46, 47, margin=25).verdict == "holds" and found(65, 47, margin=10).verdict == "undecided"
    open_ = found(40, 30, of=100)
    assert (open_.verdict, open_.least_p < 0.05 < open_.p) == ("undecided", True) and "predictions" in open_.why
    assert found(31, 30, of=100).why == "within noise"
    rows = np.arange(100)
    kept = found(40, 30, wrong=(rows < 40, rows < 30), of=100)  # one errs wherever the other does, and ten times more
    assert (kept.verdict, kept.p, kept.mean) == ("fails", mcnemar(10, 0), 10)
    assert found(40, 30, wrong=(rows < 40, rows >= 70), of=100).p == mcnemar(40, 30)


HIGH = {"a": 90, "b": 80}


@pytest.mark.parametrize("printed, levels, row, on_paper, ours", [
    ({"a": 9, "b": 8}, HIGH, {**ORDER, "sides": ["a", "b"]}, "holds", "holds"),
    ({"a": 9, "b": 8}, HIGH, {**ORDER, "sides": ["b", "a"]}, "contradicted", "agrees with the print"),
    ({"a": 8, "b": 9}, HIGH, {**ORDER, "sides": ["b", "a"]}, "holds", "fails"),
    ({"a": 8, "b": 9}, HIGH, {**ORDER, "sides": ["a", "b"]}, "contradicted", "holds"),
    ({"a": 8, "b": 8}, HIGH, {**ORDER, "sides": ["b", "a"]}, "level", "fails"),
    ({"a": 8}, HIGH, {**ORDER, "sides": ["b", "a"]}, "not printed", "fails"),
    ({"a": 9.0, "b": 8.8}, {"a": 90, "b": 89}, {**ALIKE, "margin": 0.5}, "holds", "fails"),
    ({"a": 9.0, "b": 8.0}, {"a": 90, "b": 88}, {**ALIKE, "margin": 0.5}, "contradicted", "agrees with the print"),
    ({"a": 8.0, "b": 9.0}, {"a": 90, "b": 88}, {**ALIKE, "margin": 0.5}, "contradicted", "fails"),  # on the other side
    ({"a": 8, "b": 9}, {"a": 88, "b": 90}, {"test": "no_worse", "sides": ["a", "b"], "margin": 0.5}, "contradicted",
     "agrees with the print"),
    ({"a": 6, "b": 2}, {"a": 90, "b": 30}, {**RATIO, "at_least": 2.5, "at_most": 3.5}, "holds", "holds"),
    ({"a": 8, "b": 2}, {"a": 90, "b": 20}, {**RATIO, "at_least": 2.5, "at_most": 3.5}, "contradicted",
     "agrees with the print"),
    ({"a": 1, "b": 3, "c": 2, "d": 4}, dict(zip("abcd", (85, 86, 87, 88))), TREND, "contradicted",
     "agrees with the print"),
    ({"a": 9, "b": 8, "c": 2, "d": 1}, dict(zip("abcd", (90, 80, 70, 65))), LESS, "level", "holds"),
    ({"a": 9, "b": 8}, HIGH, {**ALIKE, "sides": ["a", "paper"], "margin": 0.5}, "not printed", "fails"),
    ({"a": 99, "b": 98}, {"a": 97, "b": 98}, {"test": "errors", "of": 1000, "sides": ["a", "b"]}, "holds", "undecided"),
])  # fmt: skip
def test_a_sentence_is_judged_on_the_print_first_and_ours_may_agree_with_a_print_that_contradicts_it(
    tmp_path, printed, levels, row, on_paper, ours
):
    found = judge(claim(tmp_path, **row), beside(levels, printed))
    assert (found.print_word, found.word) == (on_paper, ours)


def test_a_pair_that_the_print_does_not_contradict_fails_and_cases_are_told_apart(tmp_path):
    levels, printed = {"a": 80, "b": 90, "c": 90}, {"a": 1, "b": 2, "c": 0.5}
    assert judge(claim(tmp_path, **LEAD), beside(levels, printed)).word == "fails"
    cases = {"b": {"sides": ["a", "b"]}, "c": {"sides": ["a", "c"]}, "back": {"sides": ["b", "a"]}}
    found = judge(claim(tmp_path, **ORDER, cases=cases), beside(levels, printed))
    assert text._print_lines(found) == ["holds back, c", "contradicted b: a 1.00, b 2.00"]
    assert found.print_word == "in part"
    assert found.verdict == "holds only if back; fails c; agrees with the print b"


def test_one_printed_figure_is_not_compared_with_itself_and_a_missing_one_is_refused(tmp_path):
    sources = beside(HIGH, {"a": 9, "b": 9})
    same = {"p/item": dataclasses.replace(sources["p/item"], figures=["one", "one"])}
    assert judge_print(claim(tmp_path, **ORDER, sides=["a", "b"]), same).print_word == "not printed"
    with pytest.raises(BoostrunError, match="no figure of the paper beside 'b test_accuracy_pct'"):
        judge_print(claim(tmp_path, **ALIKE | {"sides": ["b", "paper"], "margin": 1}), beside(HIGH, {"a": 9}))


def test_a_narrowed_table_without_the_cell_of_a_printed_figure_lacks_it(tmp_path):
    found = judge(claim(tmp_path, **ALIKE | {"sides": ["b", "paper"], "margin": 1}), beside({"a": 90}, {"a": 9}))
    assert (found.print_word, found.word) == ("not printed", "undecided")
    assert "not in the table as it is published" in found.verdict


def test_rivals_behind_their_printed_figures_and_a_fitted_figure_are_said_beside_the_verdict(tmp_path):
    found = judge(claim(tmp_path, **LEAD), beside({"a": 90, "b": 80, "c": 80}, {"a": 90, "b": 85, "c": 84}))
    assert (found.word, found.beside) == ("holds", ["2 of 2 rivals are behind their printed figures"])
    made = judge(claim(tmp_path, **ORDER, sides=["a", "b"], by_construction="it was fitted"), beside(HIGH, {}))
    assert made.verdict == "by construction (it was fitted)"


def test_a_printed_mean_enters_with_its_printed_spread(tmp_path):
    near = {"a": 90.0}
    row = claim(tmp_path, **ALIKE | {"sides": ["a", "paper"], "margin": 0.4})
    assert judge(row, beside(near, near)).word == "holds"
    wide = judge(row, beside(near, near, {"a": 1.0}))
    theirs = 90 + stats.zscore(SPREAD[1], ddof=1)  # ten trials of mean 90 and standard deviation 1
    welch = stats.ttest_ind(90 + SPREAD[0], theirs, equal_var=False)
    effect, expected = wide.findings[0][1], welch.confidence_interval()
    assert wide.word == "undecided" and (effect.low, effect.high) == pytest.approx((expected.low, expected.high))
    row = claim(tmp_path, **ORDER, sides=["a", "paper"])
    assert judge(row, beside(near, near, {"a": 1.0})).findings[0][1].p == pytest.approx(welch.pvalue)


def test_the_most_contrary_pair_is_shown_and_a_trend_says_its_way(tmp_path):
    found = judge(claim(tmp_path, **LEAD), shown({"a": 90, "b": 89.9, "c": 90.1}))
    assert found.word == "undecided" and found.findings[0][1].what == "a - c"  # b is as near, on the sentence's side
    margin = claim(tmp_path, test="no_worse", margin=0.2, sides=["a", ["b", "c"]])
    assert judge(margin, shown({"a": 90, "b": 90, "c": 90.3})).findings[0][1].what == "a - c"
    sides = [{"row": row, "name": f"n={number}"} for row, number in zip("abc", (9, 5, 1))]
    slope = judge(claim(tmp_path, test="trend", sides=sides), shown({"a": 90, "b": 88, "c": 86})).findings[0][1]
    assert slope.effect.startswith("from n=1 to n=9 it rises by 2.") and " a step [" in slope.effect


def test_a_claim_that_holds_in_some_cases_says_in_which_and_an_open_one_says_why(tmp_path):
    cases = {"on one": {"sides": ["a", "b"]}, "on another": {"sides": ["b", "a"]}}
    found = judge(claim(tmp_path, test="order", cases=cases), shown({"a": 90, "b": 80}))
    assert found.verdict == "holds only if on one; fails on another"
    path = tmp_path / "claims.yaml"
    path.write_text("[{claim: a, where: b, open: no data, command: boostrun algo=geem}]")
    found = judge(read(path)[0], {})
    assert (found.verdict, found.print_word) == ("undecided (no data)", "not printed")
    assert found.commands == ["boostrun algo=geem"]


def test_lines_of_a_table_without_trials_are_held_one_by_one(tmp_path):
    lines = [{"check": "k = 4", "found": "20", "most": "16"}, {"check": "k = 8", "found": "12", "most": "16"}]
    sources = {"p/item": Source("show", "make", lines=lines)}
    asked = {"test": "lines", "column": "found"}
    assert word(tmp_path, sources, **asked, **{"is": ["<=", 20]}) == "holds"
    assert word(tmp_path, sources, **asked, **{"is": ["<=", "most"]}) == "fails"
    assert word(tmp_path, sources, **asked, lines={"check": "k = 8"}, **{"is": ["<=", "most"]}) == "holds"
    with pytest.raises(BoostrunError, match="no line"):
        word(tmp_path, sources, **asked, lines={"check": "k = 9"}, **{"is": ["<=", "most"]})


@pytest.mark.parametrize("row, sentence", [
    ({"test": "wilcox", "sides": ["a", "b"]}, "no test 'wilcox'"),
    ({"test": "oder", "sides": ["a", "b"]}, "did you mean 'order'"), ({"test": "order", "sides": ["a"]}, "two or more"),
    ({"test": "order"}, "needs 'sides'"), ({"test": "alike", "sides": ["a", "b"]}, "needs 'margin'"),
    ({"test": "alike", "sides": ["a", "b"], "margin": "much"}, "a number"),
    ({"test": "ratio", "sides": ["a", "b"]}, "at_least"),
    ({"test": "order", "sides": ["a", "b"], "colum": ["x"]}, "no key 'colum'"),
    ({"test": "order", "sides": ["a", {"rows": "b"}]}, "did you mean 'row'"),
    ({"test": "order", "sides": ["a", None]}, "a side is"), ({"test": "trend", "sides": ["a", "b"]}, "three sides"),
    ({"test": "order", "sides": ["a", "b"], "at": "mnist"}, "list of lists"),
    ({"test": "order", "sides": ["a", "b"], "command": "x"}, "only an open claim"),
    ({"test": "order", "sides": ["a", "b"], "cases": {}}, "cases must be"),
    ({"test": "lines", "column": "x", "is": ["~", 1]}, "must be a sign"),
    ({"open": "why", "test": "order"}, "has no comparison"), ({"claim": 3, "test": "order"}, "a claim is a mapping"),
])  # fmt: skip
def test_a_row_that_is_no_claim_is_one_sentence(tmp_path, row, sentence):
    with pytest.raises(BoostrunError, match=sentence):
        claim(tmp_path, **row)


@pytest.mark.parametrize("content", ["", "a: b", "[1]", "[{claim: a}]", ":", "\x00"])
def test_a_file_that_is_no_list_of_claims_is_one_sentence(tmp_path, content):
    (tmp_path / "claims.yaml").write_text(content)
    with pytest.raises(BoostrunError, match=r"claims\.yaml"):
        read(tmp_path / "claims.yaml")


def test_a_side_is_one_cell_and_records_of_different_code_are_not_compared(tmp_path):
    absent = judge(claim(tmp_path, test="order", sides=["a", "z"]), shown({"a": 90, "b": 80}))
    assert "not in the table as it is published" in absent.verdict and absent.commands == ["make"]
    both = build(TableSpec("", "", "", "test_accuracy_pct", True, ("dataset",)),
                 [Entry("a", (data,), {}, 10, trials(9, 0)) for data in ("x", "y")])  # fmt: skip
    with pytest.raises(BoostrunError, match="2 cells"):
        judge(claim(tmp_path, test="order", sides=["a", 5]), {"p/item": Source("", "", both, [frozenset()] * 2)})
    levels = {"a": 90, "b": 80}
    mixed = judge(claim(tmp_path, test="order", sides=["a", "b"]), shown(levels, codes={"a": "0123"}))
    assert mixed.word == "undecided" and "records of different code" in mixed.verdict
    old = judge(claim(tmp_path, test="order", sides=["a", "b"]), shown(levels, codes={"a": "0123", "b": "4567"}))
    assert old.word == "holds" and old.stale


def test_the_page_has_a_row_for_each_claim_and_sums_that_agree(tmp_path):
    rows = [judge(claim(tmp_path, test="order", sides=sides), shown({"a": 90, "b": 80})) for sides in ("ab", "ba")
            for sides in [list(sides)]]  # fmt: skip
    page = text.markdown({"mine": rows}, {"mine": "Mine"})
    assert page.count("| a first (1) |") == 2 and "## Mine" in page
    assert text.summary({"mine": rows}) == [["", "claims", *text.WORDS], ["mine", "2", "1", "0", "0", "0", "1", "0"]]
    shown_text = text.terminal({"mine": rows})
    assert "ours holds" in shown_text and "ours fails" in shown_text and "$ show" in shown_text
    on_print = text.terminal({"mine": rows}, True), text.markdown({"mine": rows}, {}, True)
    assert all("not printed" in one and "Wilcoxon" not in one for one in on_print)
