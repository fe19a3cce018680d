"""No trial's seconds hold the compiler's: what a cell needs is compiled before its first trial in a process."""

from types import SimpleNamespace

import pytest

from boostrun.config import catalogue
from boostrun.runner import worker
from boostrun.runner.compose import compose_one
from boostrun.runner.plan import cell_of


@pytest.mark.parametrize(
    ("words", "rehearsed"),
    [
        (["", "algo.base=logistic", "algo.base=hoeffding", "algo.vote=proba", "algo.base=logistic"], 4),
        (["M=7", "M=8", "algo.var_floor=0.01"], 1),  # numbers need no other code
    ],
)
def test_each_code_that_a_word_chooses_is_rehearsed_once(words, rehearsed, monkeypatch, workplace):
    monkeypatch.setattr(worker, "_compiled", set())
    made = []
    evaluation = SimpleNamespace(warm_up=lambda small, data: made.append(small))
    for word in words:
        cell = cell_of(compose_one(["algo=onlineboost", "dataset=sea", *word.split()]))
        worker._compile(cell, catalogue.method(cell.algo), evaluation, SimpleNamespace(kind="stream"))
    assert len(made) == rehearsed
