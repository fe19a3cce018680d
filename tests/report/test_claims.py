"""Verdicts on claims, from made trials: an order, likeness, trends, ratios, counts, and what is undecided."""

import math

import numpy as np
import pytest
import yaml
from scipy import stats

from boostrun.errors import BoostrunError
from boostrun.report import Entry, TableSpec, build
from boostrun.report import claims as findings
from boostrun.report import verdicts as text
from boostrun.report.claims import Evidence, Side, read
from boostrun.report.verdicts import Source, judge

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


def word(tmp_path, sources, **row):
    return judge(claim(tmp_path, **row), sources).word


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


def test_counts_of_errors_are_fishers(tmp_path):
    for one, other, of in ((73, 47, 10000), (65, 47, 10000), (0, 5, 20), (7, 7, 10), (10, 0, 10)):
        expected = stats.fisher_exact([[one, of - one], [other, of - other]]).pvalue
        assert findings.fisher(one, other, of) == pytest.approx(expected, rel=1e-6)
    counted = [(Side("a", {0: 73}), Side("paper", figure=47))]
    assert findings.errors(counted, 10000, margin=10)[0].verdict == "fails"
    assert findings.errors([(Side("a", {0: 65}), Side("paper", figure=47))], 10000, 10)[0].verdict == "undecided"
    assert findings.errors([(Side("a", {0: 20}), Side("b", {0: 47}))], 10000)[0].verdict == "holds"
    assert findings.errors([(Side("a", {0: 46}), Side("b", {0: 47}))], 10000, 25)[0].verdict == "holds"


def test_a_claim_that_holds_in_some_cases_says_in_which_and_an_open_one_says_why(tmp_path):
    cases = {"on one": {"sides": ["a", "b"]}, "on another": {"sides": ["b", "a"]}}
    found = judge(claim(tmp_path, test="order", cases=cases), shown({"a": 90, "b": 80}))
    assert found.verdict == "holds only if on one; fails on another"
    path = tmp_path / "claims.yaml"
    path.write_text("[{claim: a, where: b, open: no data, command: boostrun algo=geem}]")
    found = judge(read(path)[0], {})
    assert found.verdict == "undecided (no data)" and found.commands == ["boostrun algo=geem"]


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
    assert text.summary({"mine": rows}) == [["", "claims", *text.WORDS], ["mine", "2", "1", "0", "1", "0"]]
    shown_text = text.terminal({"mine": rows})
    assert "holds: a first (1)" in shown_text and "fails: a first (1)" in shown_text and "$ show" in shown_text
