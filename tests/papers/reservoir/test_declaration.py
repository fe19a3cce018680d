"""What the paper declares: one class a method, the same defaults everywhere, nothing heavy imported for it."""

import inspect
import subprocess
import sys

import pytest

from boostrun.config.fields import MISSING, fields_of, kind_of
from boostrun.methods.declaration import obtain
from boostrun.papers.reservoir import PAPER

METHODS = sorted(PAPER.methods)


@pytest.mark.parametrize("name", METHODS)
def test_constructor_and_declaration_have_the_same_defaults(name):
    method = PAPER.methods[name]
    signature = inspect.signature(obtain(method.target)).parameters
    assert {key: signature[key].default for key in fields_of(method.keys)} == {
        key: field.default for key, field in fields_of(method.keys).items()
    }
    assert all(parameter.default is not inspect.Parameter.empty for parameter in signature.values())
    assert [key for key, field in method.fields.items() if not kind_of(field).help] == []


@pytest.mark.parametrize("name", METHODS)
def test_every_method_makes_its_estimator(name):
    method = PAPER.methods[name]
    values = {key: field.default for key, field in method.fields.items()}
    budget = {symbol: 20 for symbol in method.budget}
    model = method.make(values, budget, {"random_state": 7})
    assert isinstance(model, obtain(method.target)) and model.random_state == 7 and model.n_estimators == 20
    assert {key: getattr(model, key) for key in (*values, *method.fixed)} == {**values, **method.fixed}
    assert method.make_small(values, budget).n_estimators == 3


@pytest.mark.parametrize("room", ["strategies", "weak_learners"])
def test_every_part_that_is_named_is_there(room):
    for target in getattr(PAPER, room).values():
        assert callable(obtain(target)().__call__ if room == "strategies" else obtain(target)().find)


@pytest.mark.parametrize("module", sorted(set(PAPER.public.items())))
def test_every_public_name_is_there(module):
    assert obtain(f"{module[1]}:{module[0]}").__name__ == module[0]


def test_keys_that_came_later_do_not_stand_in_a_cell_at_their_default():
    late = {
        name: [key for key, one in method.fields.items() if kind_of(one).absent != MISSING]
        for name, method in PAPER.methods.items()
    }
    trees = ["weak_learner", "depth", "leaf_values", "leaf_smoothing", "leaf_weight"]
    assert late["geem"] == [*trees, "strategy"] and late["wsam"] == late["wss"] == trees
    assert late["geem_budgeted"] == ["strategy"]


def test_the_declaration_imports_nothing_heavy():
    code = (
        "import sys; from boostrun.papers.reservoir import PAPER; "
        "print([name for name in ('numpy', 'scipy', 'numba', 'sklearn', 'pandas') if name in sys.modules])"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "[]"
