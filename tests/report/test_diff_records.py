from __future__ import annotations

import random

from boostrun.cli.diff import diff, flatten


def squeeze(text):
    return [" ".join(line.split()) for line in text.splitlines()]


def test_config_and_environment_differences_are_named_and_the_clock_is_not(make_record):
    a = make_record(0, 84.0)
    b = make_record(0, 85.0, r=250)
    b["provenance"] = {"revision": "def", "versions": {"numpy": "2.1"}, "cpu": "x", "time": "midnight"}
    lines = squeeze(diff([a], [b]))
    assert "budget.r a: 100 b: 250" in lines
    assert "revision a: abc b: def" in lines
    assert "versions.numpy a: 2.0 b: 2.1" in lines
    assert not any("midnight" in line or "cpu" in line for line in lines)
    assert "test accuracy % a: 84.00 n=1 b: 85.00 n=1 b - a: +1.00 no test (n < 2)" in lines


def test_equal_seeds_over_equal_data_are_tested_in_pairs(make_record):
    a = [make_record(s, 80.0 + s) for s in range(6)]
    b = [make_record(s, 80.5 + s, r=250) for s in range(6)]
    assert "significant (Wilcoxon paired by seed, p = 0.0312)" in diff(a, b)
    other = [{**record, "inputs": {"data": "d1"}} for record in b]
    assert "not significant (Welch" in diff(a, other)
    few = [make_record(s, 80 + s / 10) for s in range(5)]
    later = [make_record(s, 90 + s / 10) for s in range(2, 7)]
    assert "significant (Welch, p < 0.0001)" in diff(few, later)


def test_equal_records_differ_in_nothing_whatever_their_order(make_record):
    a = [make_record(s, 80.0) for s in range(8)]
    lines = squeeze(diff(a, a))
    assert lines.count("no difference") == 2
    assert any("no test (every trial gave the same)" in line for line in lines)
    a = [make_record(s, 80.0 + s, algo) for s in range(4) for algo in ("geem", "rand")]
    shuffled = random.Random(0).sample(a, len(a))
    assert diff(a, shuffled) == diff(a, a)
    assert flatten({"a": {}, "b": {"c": [1, 2]}}) == {"a": {}, "b.c": [1, 2]}
    assert squeeze(diff([], []))[0] == "a: 0 records; b: 0 records"


def test_seeds_failures_and_metrics_of_one_side_only_are_told(make_record):
    a = [make_record(0, {"test_accuracy_pct": 80.0, "log10_loss": -1.0}), make_record(1, {}, status="failed")]
    lines = squeeze(diff(a, [make_record(0, 80.0)]))
    assert lines[0] == "a: 2 records (1 failed), seeds 0, 1; b: 1 record, seed 0"
    assert "log10 loss a: -1.00 n=1 b: — n=0" in lines
    a = [make_record(s, 80.0) for s in (0, 1, 2, 3, 9)]
    lines = squeeze(diff(a, make_record(3, 81.0)))
    assert lines[0] == "a: 5 records, seeds 0 to 3, 9; b: 1 record, seed 3"
    assert not any(line.startswith("seed ") for line in lines)


def test_groups_of_several_cells_are_compared_cell_by_cell_and_told_apart_by_their_keys(make_record):
    a = [make_record(s, 80.0 + s, algo) for s in range(3) for algo in ("geem", "rand")]
    b = [make_record(s, 81.0 + s, algo) for s in range(3) for algo in ("geem", "max")]
    text = diff(a, b)
    assert "cell geem mnist r=100 T=250" in text
    assert text.index("only in a\n  rand") < text.index("only in b\n  max")
    assert text.count("test accuracy %") == 1
    records = [make_record(s, 80.0) for s in range(2)] + [make_record(s, 81.0) for s in range(2)]
    for place, record in enumerate(records):
        record["cell"]["algo"]["shrinkage"] = (0.1, 0.5)[place // 2]
        record["cell_key"] = str(place // 2)
    text = diff(records, records)
    assert "algo.shrinkage=0.1\n" in text and "algo.shrinkage=0.5\n" in text
