"""boostrun.streams: every learner of streams, without river being loaded for it."""

import subprocess
import sys

import pytest

import boostrun.streams
from boostrun import IBoostClassifier
from boostrun.methods.stream_learner import StreamLearner
from tests.papers.iboost.learners import METHODS, class_of


def test_every_method_that_follows_a_stream_gives_its_class():
    names = {class_of(name).__name__ for name in METHODS}
    assert names <= set(dir(boostrun.streams)) == set(boostrun.streams.__all__)
    assert all(issubclass(getattr(boostrun.streams, name), StreamLearner) for name in names)
    assert boostrun.streams.IBoostClassifier is IBoostClassifier
    with pytest.raises(AttributeError, match="no attribute 'Oak'"):
        boostrun.streams.Oak  # noqa: B018


def test_what_a_paper_brings_besides_its_methods_is_there_too(monkeypatch):
    from boostrun.config import catalogue
    from boostrun.methods.paper import Paper

    papers = {**catalogue.papers(), "mine": Paper("Mine", streams={"Tree": "boostrun.papers.iboost.online_ensembles"})}
    monkeypatch.setattr(catalogue, "papers", lambda: papers)
    assert "Tree" in dir(boostrun.streams)


def test_river_is_loaded_by_nobody_but_its_user():
    """Learning does not import it; imported later, it accepts our learners as classifiers."""
    code = """
import sys
from boostrun.streams import MajoritySoFarClassifier
model = MajoritySoFarClassifier()
model.learn_one({"a": 1.0}, "ash")
assert model.predict_proba_one({"a": 1.0}) == {"ash": 1.0} and "river" not in sys.modules
from river import base  # all of river would take seconds
assert isinstance(model, base.MiniBatchClassifier)
"""
    pytest.importorskip("river")
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)
