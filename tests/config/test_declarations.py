"""A parameter is declared once: constructor, command, help and documentation agree for every method."""

import dataclasses

import pytest

from boostrun import config
from boostrun.config import catalogue
from boostrun.config.fields import Choices, Root, Run, fields_of, kind_of
from boostrun.methods.declaration import obtain

every_method = pytest.mark.parametrize("name", catalogue.methods())


def of_parts(method, name):
    """The values that a method fixes for one of its parts."""
    return {key.partition(".")[2]: value for key, value in method.fixed.items() if key.startswith(f"{name}.")}


@every_method
def test_the_command_makes_what_the_constructor_makes(name):
    """All but what makes it this method; a budget that follows another is None in a constructor."""
    method, algo = catalogue.methods()[name], {"name": name}
    made = method.make(config.check_group("algo", algo), config.check_budget(algo, {}), {}).get_params(deep=False)
    plain = obtain(method.target)().get_params(deep=False)
    for key, field in fields_of(method.keys).items():
        if kind_of(field).follows:
            assert plain[key] is None
            plain[key] = plain[kind_of(field).follows]
    for key, part in method.parts.items():
        plain[key] = obtain(part.target)(**of_parts(method, key))
    plain |= {key: value for key, value in method.fixed.items() if "." not in key}
    assert {key: (type(value), value) for key, value in made.items()} == {
        key: (type(value), value) for key, value in plain.items()
    }


@every_method
def test_the_constructor_has_the_declared_parameters_and_nothing_else(name):
    method = catalogue.methods()[name]
    if dataclasses.fields(method.keys):
        made = obtain(method.target)()
        threads = {"n_jobs": None} if getattr(made, "_threaded", False) else {}
        declared = {field.name: field.default for field in dataclasses.fields(method.keys)}
        assert made.get_params(deep=False) == declared | threads


@every_method
def test_what_is_fixed_and_what_is_spent_are_no_keys_of_a_method(name):
    method = catalogue.methods()[name]
    assert not {*method.budget.values(), *method.fixed, *method.unused} & set(method.fields)
    assert method.summary and method.inputs and callable(obtain(method.evaluation))


@pytest.mark.parametrize("group", catalogue.GROUPS)
def test_every_key_says_what_it_means(group):
    silent = [
        f"{name}.{key}" for name in catalogue.names(group) for key, field in catalogue.fields(group, name).items()
        if not kind_of(field).help
    ]  # fmt: skip
    assert silent == []


def test_every_key_of_a_run_says_what_it_means():
    assert [key for keys in (Root, Run) for key, field in fields_of(keys).items() if not kind_of(field).help] == []


def test_every_value_that_may_be_searched_is_one_that_its_key_takes():
    wrong = []
    for name, method in catalogue.methods().items():
        fields = {**method.fields, **{symbol: fields_of(Root)[symbol] for symbol in method.budget}}
        for key, one in method.search.items():
            values = one.values if isinstance(one, Choices) else (one.low, one.high)
            kind = kind_of(fields[key])
            usual = fields[key].default
            wrong += [(name, key, v) for v in values if kind.read(v) is None and not (v is None and usual is None)]
            wrong += [(name, key, other) for other in one.when if other not in fields]
    assert not wrong
