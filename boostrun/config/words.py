"""The words of a command line, ``key=value``, and the configuration that they make, both by Hydra.

Each word is parsed once in a process, by Hydra's parser; values may be lists, ranges and sweeps. A word that cannot be
read becomes one sentence.

Hydra composes the YAML files: ``conf/config.yaml`` and the files that words choose. This takes 0.05 seconds, once for
all cells of a sweep. A declared choice has the values of its declaration. Then each word changes an existing key, and
references such as ``${features.seed}`` are resolved. Hydra is imported only to compose, so that help and completion
answer at once.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
import os
import re
import threading
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from boostrun import config
from boostrun.config import catalogue, word
from boostrun.config.fields import BUDGET_KEYS, GROUPS, PLACES, Choices, Root, fields_of
from boostrun.errors import BoostrunError, UnknownKeyError, did_you_mean
from boostrun.files import read_yaml

MOST_CELLS = 100_000  # of one sweep
_DEEPEST = 20  # nested brackets; the parser takes minutes for more
_CLASSES = ("algo", "algo.class")  # keys whose values are module:Class
_GROUPS = ("algo", "dataset", "features")  # a sweep may mix several choices of these
_BARE = re.compile(r"[A-Za-z_/][\w/.@+-]*(:[\w/.@+-]+)?", re.ASCII)  # texts that need no quotes
_NOT_TEXTS = ("null", "true", "false", "nan", "inf")
_QUOTES = frozenset("'\"")
_STRUCTURE = _QUOTES | frozenset("()[]{},$\\")  # characters by which a value is more than one text
_UNDERSCORED = re.compile(r"(?<=[=,:(\[{])(\s*)([+-]?\.?\d[\d.eE+-]*_[\d_.eE+-]*)(?=\s*(?:[,:)\]}]|$))")
_QUOTED_KEY = re.compile(r"""(?<=[{,])(\s*)('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")(?=\s*:)""", re.DOTALL)
_FOREIGN = re.compile(r"[^\x00-\x7f]|[!#&;<>^`~]")  # characters that Hydra's grammar has only between quotes
_HIDDEN = re.compile(r"_u((?:[0-9a-f]{2})*)u_")  # the UTF-8 of a text that it cannot read, as a name that it can
_OF_HYDRA = ("hydra", "_dummy_empty_config_.yaml")  # Hydra's own entries among named configurations


def parse(words: Iterable[str]) -> list[Any]:
    """Hydra's overrides of words ``key=value``; BoostrunError for a word that cannot be read or sets no value."""
    return [_parse(word) for word in words]


def parse_single(words: Iterable[str], advice: str) -> list[Any]:
    """Like :func:`parse`; BoostrunError, with an advice, for a word that lists several values."""
    overrides = parse(words)
    for override in overrides:
        if override.is_sweep_override():
            raise BoostrunError(f"{override.input_line} lists several values: {advice}")
    return overrides


@functools.lru_cache(maxsize=MOST_CELLS)
def _parse(word: str) -> Any:
    from hydra.core.override_parser.types import Glob

    override = _read(word)
    if override.is_delete():
        raise BoostrunError(f"{word}: a key cannot be taken away; without it on the line it has its default")
    if override.is_interval_sweep() or (override.is_choice_sweep() and isinstance(override.value(), Glob)):
        raise BoostrunError(f"{word} lists no values: separate them by commas, as in r=100,250, or give range(1,5)")
    return override


@functools.lru_cache(maxsize=MOST_CELLS)
def _read(word: str) -> Any:
    from hydra.errors import HydraException, OverrideParseException

    if "=" not in word and not word.startswith("~"):
        raise BoostrunError(f"cannot read '{word}': settings are given as key=value, as in dataset=mnist r=250")
    if _depth(word) > _DEEPEST:
        raise BoostrunError(f"cannot read '{word}': its brackets are nested too deeply")
    try:
        return _parsed(word)
    except OverrideParseException:
        raise BoostrunError(
            f"cannot read '{word}': quote values that hold spaces, brackets or commas, as in \"key='a, b'\""
        ) from None
    except (ValueError, HydraException) as error:  # a number of 5,000 digits, a range with steps of 0
        raise BoostrunError(f"cannot read '{word}': {error}") from None


def _parsed(word: str) -> Any:
    """Hydra's override, with values that Hydra's grammar does not read as texts: 1_0, é.csv, ~/a.csv, a=b.csv.

    In lists and mappings too: [größe], {'Price (USD)': number}.
    """
    from hydra.errors import OverrideParseException

    key, _, value = word.partition("=")
    if "_" in value and not _QUOTES & set(value):
        word = _UNDERSCORED.sub(r"\1'\2'", word)
    try:
        return _parser().parse_overrides([word])[0]
    except OverrideParseException:
        if value and (not _STRUCTURE & set(value) or os.path.exists(value)):
            return _parser().parse_overrides([f"{key}={quoted(value)}"])[0]
        readable = _QUOTED_KEY.sub(lambda found: found[1] + _hidden(re.sub(r"\\(.)", r"\1", found[2][1:-1])), value)
        readable = _FOREIGN.sub(lambda found: _hidden(found[0]), readable)
        if readable == value:
            raise
        override = _parser().parse_overrides([f"{key}={readable}"])[0]
        override._value, override.input_line = _shown(override._value), word
        return override


def _hidden(text: str) -> str:
    return f"_u{text.encode('utf-8', 'surrogatepass').hex()}u_"


def _shown(value: Any) -> Any:
    """A parsed value with the texts that :func:`_hidden` has replaced."""
    from hydra.core.override_parser.types import ChoiceSweep, QuotedString

    if isinstance(value, str):
        return _HIDDEN.sub(lambda found: bytes.fromhex(found[1]).decode("utf-8", "surrogatepass"), value)
    if isinstance(value, QuotedString):
        return dataclasses.replace(value, text=_shown(value.text))
    if isinstance(value, ChoiceSweep):
        return dataclasses.replace(value, list=_shown(value.list))
    if isinstance(value, dict):
        return {_shown(key): _shown(each) for key, each in value.items()}
    return list(map(_shown, value)) if isinstance(value, list) else value


@functools.cache
def _parser() -> Any:
    from hydra.core.override_parser.overrides_parser import OverridesParser

    return OverridesParser.create()


def _depth(word: str) -> int:
    """The largest number of brackets that are open at once."""
    depths = [0]
    for character in word:
        if character in "([{":
            depths.append(depths[-1] + 1)
        elif character in ")]}":
            depths.append(depths[-1] - 1)
    return max(depths)


def listed(override: Any) -> list[str]:
    """The values that an override lists, as they are typed; BoostrunError for more than a sweep may have."""
    if not override.is_sweep_override():
        return [override.get_value_string()]
    if override.is_range_sweep():
        swept = override.value()
        if swept.step == 0:
            raise BoostrunError(f"{override.input_line} has steps of 0, so it would never end")
        count = (swept.stop - swept.start) / swept.step
        if not count <= MOST_CELLS:
            raise BoostrunError(f"{override.input_line} lists {count:,.0f} values: at most {MOST_CELLS:,} can be swept")
    values = list(override.sweep_string_iterator())
    if override.get_key_element() in _CLASSES:  # Hydra escapes their colons
        values = [value.replace("\\:", ":") for value in values]
    return values


def quoted(value: Any) -> str:
    """A value as an override reads it: a text that could be read as something else is quoted.

    >>> print(quoted("mnist"), quoted(None), quoted("it's, this"), quoted("7"), quoted(["a", "b c"]))
    mnist null 'it\\'s, this' '7' [a,'b c']
    >>> print(quoted({"a": "date", "b (c)": "drop"}))
    {a: date, 'b (c)': drop}
    """
    if isinstance(value, list):
        return f"[{','.join(map(quoted, value))}]"
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{_quoted_key(str(key))}: {quoted(each)}' for key, each in value.items())}}}"
    if not isinstance(value, str) or (_BARE.fullmatch(value) and value.lower() not in _NOT_TEXTS):
        return word(value)
    escaped = re.sub(r"(\\*)('|$)", lambda found: found[1] * 2 + ("\\'" if found[2] else ""), value)
    return "'" + re.sub(r"(\\*)\$\{", lambda found: found[1] * 2 + "\\${", escaped) + "'"


def _quoted_key(key: str) -> str:
    if _BARE.fullmatch(key) and ":" not in key and key.lower() not in _NOT_TEXTS:
        return key
    return "'" + re.sub(r"(['\\])", r"\\\1", key) + "'"


def keys_and_values(words: Iterable[str]) -> list[tuple[str, list[str]]]:
    """For each word: its key and the values it lists.

    >>> keys_and_values(["algo=rand,geem", "r=100"])
    [('algo', ['rand', 'geem']), ('r', ['100'])]
    """
    return _pairs(parse(words))


def _pairs(overrides: Iterable[Any]) -> list[tuple[str, list[str]]]:
    return [(override.get_key_element(), listed(override)) for override in overrides]


def words_of_places(words: Iterable[str]) -> list[str]:
    """The words that say where data, records and results lie.

    >>> words_of_places(["r=100", "results=mine"])
    ['results=mine']
    """
    return [f"{key}={values[0]}" for key, values in keys_and_values(words) if key in PLACES]


def single_values(words: Iterable[str]) -> dict[str, Any]:
    """The one value of each key; BoostrunError for a word that lists several.

    >>> single_values(["n=100", "path=my.csv"])
    {'n': 100, 'path': 'my.csv'}
    """
    return {override.key_or_group: override.value() for override in parse_single(words, "one is needed")}


class Span(NamedTuple):
    """A range of numbers as typed; ``log``: it is searched on a logarithmic scale."""

    low: float
    high: float
    log: bool


def split_ranges(words: Iterable[str]) -> tuple[list[str], dict[str, Span | Choices]]:
    """The words that are no ranges, and the ranges by key, as Hydra's sweepers read them.

    A range is ``interval(low,high)`` or ``tag(log,interval(low,high))`` of a budget or a key of the method;
    ``choice(a,b)`` counts as one too. Values without such a word around them are a sweep.

    >>> split_ranges(["algo=geem", "T=interval(10,50)", "algo.base=choice(stump,gnb)", "r=10,20"])
    (['algo=geem', 'r=10,20'], {'T': Span(low=10.0, high=50.0, log=False), 'algo.base': Choices('stump', 'gnb')})
    """
    rest, ranges = list[str](), dict[str, Span | Choices]()
    for each in words:
        key = each.partition("=")[0]
        if not (key in BUDGET_KEYS or key.startswith("algo.")) or "(" not in each:
            rest.append(each)
            continue
        override = _read(each)
        swept = override.value()
        if override.is_interval_sweep():
            ranges[key] = Span(swept.start, swept.end, "log" in swept.tags)
        elif override.is_choice_sweep() and not getattr(swept, "simple_form", True):
            ranges[key] = Choices(*(getattr(value, "text", value) for value in swept.list))
        else:
            rest.append(each)
    return rest, ranges


def combinations(overrides: Iterable[Any], keys_of: Callable[[str, str], Collection[str]]) -> list[list[str]]:
    """The words of each cell of a sweep, each cell once, the last word varying fastest.

    If several methods (data sets, features) are swept, each gets only its own keys.

    Parameters
    ----------
    overrides : parsed words, which may list several values
    keys_of : group and choice -> its keys as they are typed, for a method with its budgets

    Raises BoostrunError for a key that none of the swept choices has, and for more than MOST_CELLS cells.

    >>> known = {"geem": ["r", "q", "T"], "logitboost": ["T"]}
    >>> words = ["algo=geem,logitboost", "r=10,20", "T=5"]
    >>> for line in combinations(parse(words), lambda group, name: known[name]):
    ...     print(*line)
    algo=geem r=10 T=5
    algo=geem r=20 T=5
    algo=logitboost T=5
    """
    pairs = _pairs(overrides)
    count = math.prod(len(values) for _, values in pairs)
    if count > MOST_CELLS:
        raise BoostrunError(f"this sweep has {count:,} combinations: at most {MOST_CELLS:,} can be run at once")
    swept = {key: values for key, values in pairs if key in _GROUPS and len(values) > 1}
    lacking: dict[tuple[str, str], set[str]] = {}  # (group, choice) -> keys that it does not have
    for key, values in pairs:
        first, dot, _ = key.partition(".")
        group = "algo" if key in BUDGET_KEYS else first if dot else ""
        if group in swept:
            without = [name for name in swept[group] if key not in keys_of(group, name)]
            if len(without) == len(swept[group]):
                raise _no_choice_has(key, values, group, swept[group], keys_of)
            for name in without:
                lacking.setdefault((group, name), set()).add(key)
    cells = []
    for cell in itertools.product(*([(key, value) for value in values] for key, values in pairs)):
        left_out = set().union(*(lacking.get(pair, ()) for pair in cell if pair[0] in swept))
        cells.append(tuple(f"{key}={value}" for key, value in cell if key not in left_out))
    return [list(cell) for cell in dict.fromkeys(cells)]


def _no_choice_has(
    key: str, values: Sequence[str], group: str, names: Sequence[str], keys_of: Callable[[str, str], Collection[str]]
) -> BoostrunError:
    if key not in BUDGET_KEYS:
        known = dict.fromkeys(one for name in names for one in keys_of(group, name))
        known |= dict.fromkeys(one for one in fields_of(Root) if one not in BUDGET_KEYS)
        head = f"none of {group}={','.join(names)} has a key '{key.partition('.')[2]}'"
        return UnknownKeyError(head, "", key, ",".join(values), known)
    takes = {name: [one for one in keys_of(group, name) if one in BUDGET_KEYS] for name in names}
    budgets = "; ".join(f"{name} takes {', '.join(budget) or 'no budget'}" for name, budget in takes.items())
    return BoostrunError(f"none of {group}={','.join(names)} takes {key}={','.join(values)} ({budgets})")


class Composer:
    """Composes the configurations of one command; cells that make the same choices share the work.

    ``config_dir`` is a user's own folder of YAML files, or None. Raises BoostrunError, one sentence, if it does not
    exist or has a file whose name is taken.

    >>> Composer()(parse(["algo=wsam", "r=100"]))["r"]
    100
    """

    def __init__(self, config_dir: str | None = None) -> None:
        self.config_dir = config_dir
        self._bases: dict[tuple[tuple[str, str], ...], tuple[dict[str, Any], bool]] = {}
        if config_dir is not None:
            if not Path(config_dir).is_dir():
                raise BoostrunError(f"--config-dir {config_dir}: there is no such folder")
            catalogue.read_own_papers(Path(config_dir))
            _refuse_taken_names(config_dir)

    def __call__(self, overrides: Sequence[Any]) -> dict[str, Any]:
        """The values by key, those of a group in a dictionary, before they are checked.

        Raises BoostrunError, one sentence, for an unknown choice or key, and for a file that cannot be read.
        """
        chosen = {override.key_or_group: word(override.value()) for override in overrides if self._chooses(override)}
        choices = {**default_choices(), **chosen}
        path = choices["dataset"]
        choices["dataset"] = self._reader(choices) or path
        if "features" not in chosen and (declared := catalogue.datasets().get(choices["dataset"])):
            choices["features"] = declared.features or choices["features"]
        key = tuple(choices.items())
        if key not in self._bases:
            self._bases[key] = self._base(choices)
        base, refers = self._bases[key]
        values = {name: dict(value) if name in GROUPS else value for name, value in base.items()}
        if choices["dataset"] != path:
            values["dataset"]["path"] = path
        for override in overrides:
            if override.key_or_group not in choices or override.package is not None:
                _change(values, override)
                refers = refers or "${" in override.input_line
        return _resolved(values) if refers else values

    def _reader(self, choices: Mapping[str, str]) -> str:
        """The data set that reads the file that was typed in its place, for the method; empty for a data set's name."""
        name, method = choices["dataset"], catalogue.methods().get(choices["algo"])
        if name in catalogue.datasets() or catalogue.option("dataset", name, self.config_dir):
            return ""
        found = catalogue.readers(name)
        wanted = "stream" if method is not None and "stream" in method.inputs else "table"
        return found.get(wanted, next(iter(found.values()), ""))

    def keys_of(self, group: str, name: str) -> list[str]:
        """The keys of a choice of a group as they are typed, for a method after its budgets."""
        values = self(parse([f"{group}={name}"]))
        budget = catalogue.method(values["algo"]).budget if group == "algo" else ()
        return [*budget, *_typed_keys(group, values)]

    def _chooses(self, override: Any) -> bool:
        """Whether an override chooses from a group: one of ours, or a folder of that name in the user's own folder."""
        group = override.key_or_group
        if override.package is not None:
            return False
        own = self.config_dir is not None and group.isidentifier() and group not in fields_of(Root)
        return group in GROUPS or (own and Path(self.config_dir, group).is_dir())  # type: ignore[arg-type]

    def _base(self, choices: Mapping[str, str]) -> tuple[dict[str, Any], bool]:
        """The values of the choices before words change them, and whether some are references."""
        files = {}
        for group, name in choices.items():
            if catalogue.is_declared(group, name):
                continue
            if path := catalogue.option(group, name, self.config_dir):
                files[group] = path
            elif not catalogue.own_class(group, name):
                raise BoostrunError(self._unknown(group, name))
        own = self.config_dir is not None and any(path.is_relative_to(self.config_dir) for path in files.values())
        chosen = tuple((group, choices[group]) for group in files)
        composed = _composed(chosen, self.config_dir) if own else _composed_of_boostrun(chosen)
        groups = {group: _with_defaults(group, choices[group], composed.get(group, {})) for group in GROUPS}
        return {**composed, **groups}, "${" in str(composed)

    def _unknown(self, group: str, name: str) -> str:
        """The sentence that a group has no such choice."""
        known = [*catalogue.options(group, self.config_dir), *catalogue.installed(group)]
        known += catalogue.names(group) if group in catalogue.GROUPS else ()
        meant = "; its ending does not say how it is read, dataset=csv dataset.path=... reads a table of text"
        meant = meant if group == "dataset" and os.path.isfile(name) else ""
        where = f" (boostrun ls {group})" if group in GROUPS else ""
        return f"no {group} '{name}'{meant or did_you_mean(name, known)}{where}{catalogue.missing(name)}"


@functools.cache
def default_choices() -> dict[str, str]:
    """The choice of each group unless a word makes another: the defaults of ``conf/config.yaml``."""
    listed = read_yaml(catalogue.conf_dir() / "config.yaml")["defaults"]
    named = {key.split()[-1]: name for entry in listed if isinstance(entry, dict) for key, name in entry.items()}
    return {group: named[group] for group in GROUPS}


def _refuse_taken_names(config_dir: str) -> None:
    for group in GROUPS:
        for name, path in catalogue.options(group, config_dir).items():
            taken = catalogue.option(group, name) or catalogue.is_declared(group, name)
            if path.is_relative_to(config_dir) and taken:
                raise BoostrunError(f"{path}: {group} '{name}' is boostrun's own; give yours another name")


@functools.cache
def _composed_of_boostrun(chosen: tuple[tuple[str, str], ...]) -> dict[str, Any]:
    return _composed(chosen, None)  # boostrun's own files do not change while it runs


_composing = threading.RLock()  # Hydra's state is global


def _composed(chosen: tuple[tuple[str, str], ...], config_dir: str | None) -> dict[str, Any]:
    """The values of ``conf/config.yaml`` and the files of these (group, name), composed by Hydra, with references.

    Hydra's state is global: an application of the user's may have initialised it, and have stored groups of our names.
    It is put aside meanwhile.
    """
    words = [f"{'' if group in GROUPS else '+'}{group}='{name}'" for group, name in chosen]
    words += [f"hydra.searchpath=['file://{Path(config_dir).resolve()}']"] if config_dir else []
    with _composing:
        return _compose(words)


def _compose(words: list[str]) -> dict[str, Any]:
    from hydra import compose, initialize_config_dir
    from hydra.core.config_store import ConfigStore
    from hydra.core.global_hydra import GlobalHydra
    from hydra.errors import HydraException
    from omegaconf import OmegaConf
    from omegaconf.errors import OmegaConfBaseException

    store = ConfigStore.instance()
    theirs = GlobalHydra.instance().hydra, store.repo
    store.repo = {name: node for name, node in store.repo.items() if name in _OF_HYDRA}
    GlobalHydra.instance().clear()
    try:
        with initialize_config_dir(str(catalogue.conf_dir().resolve()), version_base="1.3"):
            return OmegaConf.to_container(compose("config", words))  # type: ignore[return-value]
    except (HydraException, OmegaConfBaseException) as error:
        raise BoostrunError(_first_line(error)) from None
    except Exception as error:  # errors of YAML and of Hydra's loader
        reason = " ".join(str(error).split())[:300] or type(error).__name__
        raise BoostrunError(f"the settings cannot be put together: {reason}") from None
    finally:
        GlobalHydra.instance().hydra, store.repo = theirs


def _with_defaults(group: str, chosen: str, values: Any) -> dict[str, Any]:
    """The values of a group from files, with the defaults of the choice that they name.

    A ``class`` counts only if the YAML file of this choice, or an entry point, names it; see
    :func:`boostrun.extend.take_named`.
    """
    if not isinstance(values, Mapping):
        raise BoostrunError(f"{group} must be keys with values, as in the files of conf/{group}, not {values!r}")
    name = str(values.get("name", chosen))
    own_class = catalogue.own_class(group, name)
    declared = group == "run" or name in catalogue.names(group)
    if values.get("class", own_class) != own_class:
        raise BoostrunError(_foreign_class(group, name, values["class"], declared))
    defaults = config.defaults(group, name) if declared else {}
    return {"name": name, **({"class": own_class} if own_class else {}), **defaults, **values}


def _foreign_class(group: str, name: str, given: Any, declared: bool) -> str:
    if own_class := catalogue.own_class(group, name):
        return (
            f"{group}.class is {own_class}, as its YAML file or its entry point says, and cannot be given elsewhere "
            f"({given})"
        )
    if declared:
        return f"{group} '{name}' is boostrun's own, and has no key 'class': give yours another name"
    return f"{group} '{name}' names {given}, but its name is that of no YAML file in --config-dir"


def _change(values: dict[str, Any], override: Any) -> None:
    """Give the key of an override its value; BoostrunError if there is no such key."""
    key = override.key_or_group
    group, _, rest = key.partition(".")
    place, last = (values[group], rest) if rest and group in GROUPS else (values, key)
    if override.package is not None or last not in place or (rest and last == "name"):
        raise _unknown_key(values, override)
    if rest and last == "class" and override.value() != place[last]:
        raise BoostrunError(_foreign_class(group, place["name"], override.value(), True))
    place[last] = override.value()


def _unknown_key(values: Mapping[str, Any], override: Any) -> UnknownKeyError:
    """The error that the key of an override is not there."""
    key = override.get_key_element().lstrip("+")
    group, _, rest = key.partition(".")
    known, parameters = keys_taken(values)
    if group in GROUPS and rest:
        head = f"{group} '{values[group]['name']}' has no key '{rest}'"
        tail = f" (its keys: {', '.join(_typed_keys(group, values)) or 'none'})"
    else:
        head, tail = f"no key '{key}'", f" (at the top: {', '.join(each for each in known if '.' not in each)})"
    return UnknownKeyError(head, tail, key, override.get_value_string(), known, parameters)


def keys_taken(values: Mapping[str, Any]) -> tuple[list[str], dict[str, str]]:
    """The keys that fit a composed configuration, as they are typed: those at the top first, without other budgets.

    Also returns the method's parameters that budgets set, each with its symbol: reservoir_size is r.
    """
    method = catalogue.methods().get(values["algo"].get("name"))
    budget = method.budget if method is not None else dict.fromkeys(BUDGET_KEYS, "")
    at_top = [*GROUPS, *(each for each in fields_of(Root) if each not in BUDGET_KEYS or each in budget)]
    parameters = {place.rpartition(".")[2]: symbol for symbol, place in budget.items()}
    return [*at_top, *(each for group in GROUPS for each in _typed_keys(group, values))], parameters


def _typed_keys(group: str, values: Mapping[str, Any]) -> list[str]:
    return [f"{group}.{key}" for key in values[group] if key not in ("name", "class")]


def _resolved(values: dict[str, Any]) -> dict[str, Any]:
    """The values with each reference replaced by the value it refers to."""
    from omegaconf import OmegaConf
    from omegaconf.errors import OmegaConfBaseException

    try:
        return OmegaConf.to_container(OmegaConf.create(values), resolve=True)  # type: ignore[return-value]
    except OmegaConfBaseException as error:
        raise BoostrunError(_first_line(error)) from None


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0]


def with_words(words: Sequence[str], values: Mapping[str, Any]) -> list[str]:
    """The words with these values in place of other ones of the same keys.

    >>> with_words(["algo=wsam", "r=20"], {"r": 50, "run.apart": True})
    ['algo=wsam', 'r=50', 'run.apart=true']
    """
    kept = [each for each in words if each.partition("=")[0] not in values]
    return [*kept, *(f"{key}={word(value)}" for key, value in values.items())]
