"""The content of a digest: the definitions that are reached by name, wherever they are, and nothing else."""

import json
import random
import shutil
import subprocess
import sys
from pathlib import Path
from textwrap import indent

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import boostrun
from boostrun import digest, source
from boostrun.digest import reached, source_digest
from boostrun.errors import BoostrunError

ROOT = Path(boostrun.__file__).parents[1]


@pytest.fixture
def pack(tmp_path, monkeypatch):
    """Writes files below a folder on the Python path, given by name, and forgets what was read."""
    monkeypatch.syspath_prepend(tmp_path)

    def write(files):
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        sys.path_importer_cache.clear()
        digest.forget()

    yield write
    digest.forget()
    assert not [name for name in sys.modules if name.startswith("toy")]


def names(*roots):
    return {name.partition(".")[2] for name in reached(roots).definitions}


# -- what is reached ---------------------------------------------------------------------------------------------------

HELPERS = {"toypack/__init__.py": "", "toypack/deep/__init__.py": "", "toypack/deep/leaf.py": "VALUE = 1\nOTHER = 2\n"}
USES = {
    "absolute": "from toypack.deep.leaf import VALUE\ndef f(): return VALUE\n",
    "renamed": "from toypack.deep.leaf import VALUE as V\ndef f(): return V\n",
    "relative": "from .deep.leaf import VALUE\ndef f(): return VALUE\n",
    "module": "from toypack.deep import leaf\ndef f(): return leaf.VALUE\n",
    "dotted": "import toypack.deep.leaf\ndef f(): return toypack.deep.leaf.VALUE\n",
    "as": "import toypack.deep.leaf as other\ndef f(): return other.VALUE\n",
    "in a function": "def f():\n    from .deep.leaf import VALUE\n    return VALUE\n",
    "module in a function": "def f():\n    from .deep import leaf\n    return leaf.VALUE\n",
    "behind try": "try:\n    from .deep.leaf import VALUE\nexcept ImportError:\n    VALUE = 3\ndef f(): return VALUE\n",
    "star": "from .deep.leaf import *\ndef f(): return VALUE\n",
    "import_module": "import importlib as i\ndef f(): return i.import_module('toypack.deep.leaf').VALUE\n",
    "getattr": "from .deep import leaf\ndef f(): return getattr(leaf, 'VALUE')\n",
    "text": "def f(): return obtain('toypack.deep.leaf:VALUE')\n",
    "default": "from .deep.leaf import VALUE\ndef f(x=VALUE): return x\n",
    "decorator": "from .deep.leaf import VALUE\n@VALUE\ndef f(): return 1\n",
    "base": "from .deep.leaf import VALUE\nclass f(VALUE): pass\n",
    "in a class": "from .deep.leaf import VALUE\nclass f:\n    x = VALUE\n",
    "in a method": "from .deep.leaf import VALUE\nclass f:\n    def g(self): return VALUE\n",
    "in a lambda": "from .deep.leaf import VALUE\nf = lambda: VALUE\n",
    "iterated under its own name": "from .deep.leaf import VALUE\ndef f(): return [VALUE for VALUE in VALUE]\n",
    "through a constant": "from .deep import leaf\nTABLE = {'a': leaf.VALUE}\ndef f(): return TABLE['a']\n",
    "put into a constant": "from .deep import leaf\nTABLE = {}\nTABLE['a'] = leaf.VALUE\ndef f(): return TABLE['a']\n",
    "added in a loop": (
        "from .deep import leaf\nTABLE = []\nfor i in range(2):\n    TABLE.append(leaf.VALUE)\ndef f(): return TABLE\n"
    ),
    "global": "from .deep import leaf\nX = 1\ndef f():\n    global X\n    X = leaf.VALUE\n",
    "another name": "from .deep.leaf import VALUE\nW = VALUE\ndef f(): return W\n",
    "match": "from .deep.leaf import VALUE\ndef f(x):\n    match x:\n        case 1:\n            return VALUE\n",
    "passed on": "from .deep import VALUE\ndef f(): return VALUE\n",
    "module getattr": "from .lazy import VALUE\ndef f(): return VALUE\n",
}


@pytest.mark.parametrize("use", USES)
def test_a_name_is_followed_to_its_definition_and_no_further(use, pack):
    more = {"toypack/deep/__init__.py": "from .leaf import VALUE\n"} if use == "passed on" else {}
    more |= {"toypack/lazy.py": "_WHERE = {'VALUE': 'toypack.deep.leaf'}\ndef __getattr__(name): ...\n"}
    pack({**HELPERS, **more, "toypack/main.py": f"{USES[use]}def unused(): return 1\n"})
    before = source_digest(["toypack.main:f"])
    pack({"toypack/deep/leaf.py": "VALUE = 1\nOTHER = 3\nMORE = 4\n"})
    assert source_digest(["toypack.main:f"]) == before
    pack({"toypack/main.py": f"def added(): return 2\n{USES[use]}def unused(): return 3\n"})
    assert source_digest(["toypack.main:f"]) == before
    pack({"toypack/deep/leaf.py": "VALUE = 5\nOTHER = 2\n"})
    assert source_digest(["toypack.main:f"]) != before


WHOLE = {
    "module as a value": "from .deep import leaf\ndef g(module): return module.VALUE\ndef f(): return g(leaf)\n",
    "its names": "from .deep import leaf\ndef f(name): return leaf.__dict__[name]\n",
    "package as a value": "import toypack.deep.leaf\ndef g(m): return m.deep.leaf.VALUE\ndef f(): return g(toypack)\n",
    "value that imports it": "from . import other\ndef g(m): return m.leaf.VALUE\ndef f(): return g(other)\n",
    "value that imports its names": "from . import names\ndef g(m): return m.VALUE\ndef f(): return g(names)\n",
    "import_module relative": (
        "from importlib import import_module\ndef f():\n    m = import_module('.deep.leaf', __package__)\n"
        "    return m.VALUE\n"
    ),
    "import_module on top": (
        "from importlib import import_module\nm = import_module('toypack.deep.leaf')\ndef f(): return m.VALUE\n"
    ),
    "import_module by another name": (
        "from importlib import import_module as get\ndef f(): return get('toypack.deep.leaf').VALUE\n"
    ),
    "import_module of a computed name": (
        "import importlib\nNAME = 'toypack.deep.leaf'\nm = importlib.import_module(NAME)\ndef f(): return m.VALUE\n"
    ),
    "__import__": "def f(): return __import__('toypack.deep.leaf').deep.leaf.VALUE\n",
    "file": "import runpy\ndef f(): return runpy.run_path('toypack/deep/leaf.py')['VALUE']\n",
    "exec": "def f(): exec('from toypack.deep.leaf import VALUE')\n",
    "sys.modules": "import sys, toypack.deep.leaf\ndef f(): return sys.modules['toypack.deep.leaf'].VALUE\n",
    "globals of a function": "from .user import get\ndef f(): return get.__globals__['leaf'].VALUE\n",
    "globals": "from .deep.leaf import VALUE\ndef f(): return globals()['VALUE']\n",
    "subclasses": "from .deep.leaf import *\nfrom .base import Base\ndef f(): return Base.__subclasses__()[0].value\n",
}
MORE = {
    "toypack/other.py": "from .deep import leaf\n", "toypack/names.py": "from .deep.leaf import *\n",
    "toypack/user.py": "from .deep import leaf\ndef get(): return 1\n", "toypack/base.py": "class Base: pass\n",
}  # fmt: skip


@pytest.mark.parametrize("use", WHOLE)
def test_code_of_your_own_that_may_be_reached_in_ways_that_are_not_followed_counts_whole(use, pack):
    kind = "from toypack.base import Base\nclass Kind(Base): value = {}\nVALUE = {}\n"
    pack({**HELPERS, **MORE, "toypack/deep/leaf.py": kind.format(1, 1), "toypack/main.py": WHOLE[use]})
    before = source_digest(["toypack.main:f"])
    pack({"toypack/deep/leaf.py": kind.format(2, 1) if use == "subclasses" else kind.format(1, 2)})
    assert source_digest(["toypack.main:f"]) != before


CALLED = {
    "bound": "X = tune(PARAMS)\n", "in a list": "X = [tune(PARAMS), 1]\n", "class": "X = Tune(PARAMS)\n",
    "condition": "if tune(PARAMS): pass\n", "loop": "for x in map(tune, [PARAMS]): pass\n",
    "context": "with tune(PARAMS): pass\n", "default": "def g(x=tune(PARAMS)): pass\n",
    "decorator": "@tune(PARAMS)\ndef g(): pass\n", "class body": "class K:\n    x = tune(PARAMS)\n",
    "added in place": "X = PARAMS\nX |= tune({})\n",
}  # fmt: skip


@pytest.mark.parametrize("how", CALLED)
def test_a_function_called_on_import_counts_whatever_becomes_of_its_result(how, pack):
    tune = "def put(p):\n    p['a'] = 1\n    return p\ndef tune(p): return put(p)\n"
    tune += "class Tune:\n    def __init__(self, p): put(p)\n"
    top = "from toyp import PARAMS\nfrom toyt import Tune, tune\n"
    pack({"toyp.py": "PARAMS = {}\n", "toyt.py": tune, "toymain.py": f"{top}{CALLED[how]}def f(): return PARAMS\n"})
    before = source_digest(["toymain:f"])
    pack({"toyt.py": tune.replace("= 1", "= 2")})
    assert source_digest(["toymain:f"]) != before


def test_a_call_that_is_bound_and_sets_a_library_counts_and_a_declaration_does_not(pack):
    text = "import random\nfrom boostrun.methods.paper import Paper\nX = random.seed(1)\nPAPER = Paper('a')\n"
    text += "def f(): return 1\n"
    pack({"toymain.py": text})
    before = source_digest(["toymain:f"])
    pack({"toymain.py": text.replace("'a'", "'b'")})
    assert source_digest(["toymain:f"]) == before
    pack({"toymain.py": text.replace("seed(1)", "seed(2)")})
    assert source_digest(["toymain:f"]) != before


def test_a_folder_that_holds_python_itself_counts_without_it(pack, tmp_path, monkeypatch):
    """As a virtual environment in the folder does, and as the root of the file system."""
    monkeypatch.setattr(source, "_libraries", lambda: frozenset({f"{tmp_path}/lib/python3"}))
    monkeypatch.syspath_prepend(tmp_path / "lib/python3")
    pack({"lib/python3/toylib.py": "X = 1\n", "toymain.py": "import toylib\ndef f(): return toylib.X\n"})
    before = source_digest(["toymain:f"])
    pack({"lib/python3/toylib.py": "X = 2\n"})
    assert source_digest(["toymain:f"]) == before
    assert source.is_below("/toyhelper.py", "/") and not source.is_below("/lib/site-packages/toylib.py", "/")


@pytest.mark.parametrize("linked", ["toymain.py", "toypack", "toyhelper.py"])
def test_what_lies_beside_a_root_counts_where_links_lead_elsewhere(linked, pack, tmp_path, tmp_path_factory):
    text = "import toyhelper, toypack\ndef f(): return toyhelper.X + toypack.X\n"
    pack({"toymain.py": text, "toyhelper.py": "X = 1\n", "toypack/__init__.py": "X = 1\n"})
    elsewhere = tmp_path_factory.mktemp("elsewhere") / linked
    shutil.move(tmp_path / linked, elsewhere)
    (tmp_path / linked).symlink_to(elsewhere)
    digest.forget()
    found = [source_digest(["toymain:f"])]
    for file in ("toyhelper.py", "toypack/__init__.py"):
        pack({file: "X = 2\n"})
        found.append(source_digest(["toymain:f"]))
    assert len({*found}) == 3


PLACES = {
    "beside": ({"toyflat.py": "{}", "toyhelper.py": "VALUE = 1\n"}, "toyflat", "toyhelper"),
    "package": ({"toyp/__init__.py": "", "toyp/a.py": "{}", "toyp/b.py": "VALUE = 1\n"}, "toyp.a", "toyp.b"),
    "namespace": ({"toyn/a.py": "{}", "toyn/b.py": "VALUE = 1\n"}, "toyn.a", "toyn.b"),
    "other package": ({"toyp/__init__.py": "", "toyp/a.py": "{}", "toyq/b.py": "VALUE = 1\n"}, "toyp.a", "toyq.b"),
}


@pytest.mark.parametrize("where", PLACES)
def test_what_lies_beside_a_root_counts_whatever_its_package(where, pack):
    files, root, helper = PLACES[where]
    text = f"from {helper} import VALUE\ndef f(): return VALUE\n"
    pack({name: content.replace("{}", text) for name, content in files.items()})
    before = source_digest([f"{root}:f"])
    pack({f"{helper.replace('.', '/')}.py": "VALUE = 2\n"})
    assert source_digest([f"{root}:f"]) != before


def test_of_what_is_installed_its_distribution_counts_and_no_other(tmp_path, monkeypatch):
    site = tmp_path / "site-packages"
    for name in ("toyone", "toytwo", "toyother"):
        (site / name).mkdir(parents=True)
        (site / name / "__init__.py").write_text("VALUE = 1\n")
    uses = "import toytwo, toyother\ndef f(): return toytwo.VALUE + toyother.VALUE\n"
    (site / "toyone/main.py").write_text(uses)
    for dist, tops in (("toys", ["toyone", "toytwo"]), ("others", ["toyother"])):
        info = site / f"{dist}-1.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {dist}\nVersion: 1\n")
        (info / "RECORD").write_text("".join(f"{top}/__init__.py,,\n" for top in tops))
        (info / "top_level.txt").write_text("\n".join(tops))
    monkeypatch.syspath_prepend(site)

    def found():
        digest.forget()
        return source_digest(["toyone.main:f"])

    first = found()
    (site / "toyother/__init__.py").write_text("VALUE = 2\n")
    assert found() == first
    (site / "toytwo/__init__.py").write_text("VALUE = 2\n")
    assert found() != first
    digest.forget()


SAME = {
    "comments, lines, quotes": '# why\nSTEP = 0x2\n\ndef f( x ):   # here\n    "doc"\n    return (x * STEP + g("a"))\n',
    "other order": "def f(x):\n    return x * STEP + g('a')\nSTEP = 2\n",
    "annotations": "STEP: int = 2\ndef f(x: float) -> 'float':\n    return x * STEP + g('a')\n",
    "renamed": "PACE = 2\ndef f(x):\n    return x * PACE + g('a')\n",
    "only for type checkers": (
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from toypack.deep.leaf import VALUE\nSTEP = 2\n"
        "def f(x):\n    return x * STEP + g('a')\n"
    ),
    "run as a program": (
        "STEP = 2\ndef f(x):\n    return x * STEP + g('a')\nif __name__ == '__main__':\n    STEP = 3\n    f(1)\n"
    ),
}
PLAIN = "STEP = 2\ndef f(x):\n    return x * STEP + g('a')\n"


@pytest.mark.parametrize("what", SAME)
def test_what_decides_nothing_does_not_count(what, pack):
    pack({**HELPERS, "toypack/main.py": PLAIN})
    before = source_digest(["toypack.main:f"])
    pack({"toypack/main.py": SAME[what]})
    assert source_digest(["toypack.main:f"]) == before


@pytest.mark.parametrize("text", [
    "STEP = 3\ndef f(x):\n    return x * STEP + g('a')\n", "STEP = 2.0\ndef f(x):\n    return x * STEP + g('a')\n",
    "STEP = 2\ndef f(x):\n    return STEP * x + g('a')\n", "STEP = 2\ndef f(y):\n    return y * STEP + g('a')\n",
    "STEP = 2\ndef f(x):\n    return x * STEP + g('b')\n", "STEP = 2\ndef f(x, STEP):\n    return x * STEP + g('a')\n",
    "STEP = 2\nSTEP += 1\ndef f(x):\n    return x * STEP + g('a')\n",
    "STEP = 2\nif g:\n    STEP = 4\ndef f(x):\n    return x * STEP + g('a')\n",
    "from math import pi as STEP\ndef f(x):\n    return x * STEP + g('a')\n",
])  # fmt: skip
def test_what_may_decide_counts(text, pack):
    pack({**HELPERS, "toypack/main.py": PLAIN})
    before = source_digest(["toypack.main:f"])
    pack({"toypack/main.py": text})
    assert source_digest(["toypack.main:f"]) != before


DECIDING = {  # main.py, and what replaces a part of it, or a helper of another content
    "condition of an import": (
        "FAST = 1\nif FAST: from toyh import VALUE\nelse: from toyk import VALUE\n", ("FAST = 1", "FAST = 0"),
    ),
    "branches of imports": ("if g: from toyh import VALUE\nelse: from toyk import VALUE\n", ("if g", "if not g")),
    "import of a class": ("class K:\n    from toyh import VALUE\nVALUE = K.VALUE\n", "VALUE = 3\n"),
    "loop over classes": (
        "class A: value = 1\nfor kind in (A,): kind.value = 0\nVALUE = A\n", ("value = 0", "value = 2"),
    ),
    "another name of a dict": ("import toyh\nT = toyh.TABLE\nT['a'] = 0\nVALUE = toyh\n", ("= 0", "= 2")),
    "result of a function": ("T = {}\ndef get(): return T\nU = get()\nU['a'] = 0\nVALUE = T\n", ("= 0", "= 2")),
    "method whose result is kept": ("from toyh import TABLE as T\n_ = T.setdefault('a', 0)\nVALUE = T\n", ("0)", "2)")),
    "not as a script": ("VALUE = 1\nif __name__ != '__main__': VALUE = 0\n", ("VALUE = 0", "VALUE = 2")),
    "global of the name of an attribute": (
        "def vote(): return 0\nclass K:\n    vote = staticmethod(vote)\nVALUE = K\n", ("return 0", "return 2"),
    ),
    "constant of the name of an attribute": (
        "DEPTH = 0\nclass K: DEPTH = DEPTH\nVALUE = K\n", ("DEPTH = 0", "DEPTH = 2"),
    ),
    "no key of a class of keys": (
        "from boostrun.config.fields import keys, real\nfrom typing import ClassVar\n@keys\nclass K:\n"
        "    shrinkage: float = real(0.5)\n    place: ClassVar[int] = 0\nVALUE = K\n", ("= 0\n", "= 2\n"),
    ),
    "computed list of names": ("from toys import *\nVALUE = _V\n", "_V = 3\n__all__ = ['x'] + ['_V']\nx = 1\n"),
}  # fmt: skip


@pytest.mark.parametrize("what", DECIDING)
def test_what_is_bound_or_changed_in_roundabout_ways_counts(what, pack):
    text, change = DECIDING[what]
    use = "def f(): return VALUE\n"
    pack({"toyh.py": "VALUE = 1\nTABLE = {}\n", "toyk.py": "VALUE = 2\n", "toymain.py": text + use})
    pack({"toys.py": "_V = 1\n__all__ = ['x'] + ['_V']\nx = 1\n"})
    before = source_digest(["toymain:f"])
    if isinstance(change, tuple):
        assert text.count(change[0]) == 1
        pack({"toymain.py": text.replace(*change) + use})
    else:
        pack({"toys.py" if "_V" in change else "toyh.py": change})
    assert source_digest(["toymain:f"]) != before


def test_local_variables_may_be_renamed_and_not_exchanged(pack):
    def of(text):
        pack({"toyone.py": text})
        return source_digest(["toyone:f"])

    before = of("def f(x):\n    a = x + 1\n    b = a * 2\n    return [c - a for c in b]\n")
    assert of("def f(x):\n    u = x + 1\n    v = u * 2\n    return [w - u for w in v]\n") == before
    assert of("def f(x):\n    a = x + 1\n    b = a * 2\n    return [c - b for c in a]\n") != before


def test_order_of_methods_does_not_count_and_definitions_that_refer_to_each_other_do(pack):
    pack({"toyone.py": "class f:\n    x = 1\n    def a(self): return 1\n    def b(self): return 2\n"})
    before = source_digest(["toyone:f"])
    pack({"toyone.py": "class f:\n    x = 1\n    def b(self): return 2\n    def a(self): return 1\n"})
    assert source_digest(["toyone:f"]) == before
    pack({"toyone.py": "class f:\n    x = 1\n    def b(self): return 1\n    def a(self): return 2\n"})
    assert source_digest(["toyone:f"]) != before

    def of(a, b):
        pack({"toyone.py": f"def f(): return g\ndef g(): return ({a}, h)\ndef h(): return ({b}, f)\n"})
        return source_digest(["toyone:f"]), source_digest(["toyone:g"])

    assert len({*of(1, 2), *of(2, 1), *of(1, 1)}) == 6


def test_the_message_of_an_error_of_ours_decides_nothing_and_its_kind_does(pack):
    def of(text):
        imports = "from boostrun.errors import BoostrunError, DataMissingError\n"
        pack({"toyone.py": f"{imports}def f(x):\n    raise {text}\n"})
        return source_digest(["toyone:f"])

    before = of("BoostrunError('no')")
    assert of("BoostrunError(f'none, {x}') from None") == before
    assert of("DataMissingError('no')") != before
    assert of("KeyError('no')") != of("KeyError('none')")


# -- what registers itself ---------------------------------------------------------------------------------------------

REGISTRIES = {
    "decorator": ("", "from toyr.table import add\n@add\ndef half(): return 1\n"),
    "decorator of a name": ("", "from toyr.table import named\n@named('half')\ndef half(): return 1\n"),
    "method of the registry": ("", "from toyr.table import Table\n@Table.take\ndef half(): return 1\n"),
    "call": ("", "from toyr import table\ndef half(): return 1\ntable.add(half)\n"),
    "assignment": ("", "from toyr import table\ndef half(): return 1\ntable.KNOWN['half'] = half\n"),
    "kept call": ("", "from toyr.table import add\ndef half(): return 1\n_ = add(half)\n"),
    "subclass": ("", "from toyr.table import Base\nclass Half(Base):\n    def __call__(self): return 1\n"),
}
TABLE = """
KNOWN = {}
def add(function):
    KNOWN[function.__name__] = function
    return function
def named(name):
    def keep(function):
        KNOWN[name] = function
        return function
    return keep
class Table:
    @classmethod
    def take(cls, function):
        KNOWN[function.__name__] = function
        return function
class Base:
    def __init_subclass__(cls): KNOWN[cls.__name__] = cls
"""


@pytest.mark.parametrize("imported", ["toyr/__init__.py", "toyr/main.py"])
@pytest.mark.parametrize("how", REGISTRIES)
def test_what_registers_itself_when_it_is_imported_counts(how, imported, pack):
    part = REGISTRIES[how][1]
    files = {"toyr/__init__.py": "", "toyr/table.py": TABLE, "toyr/part.py": part,
             "toyr/main.py": "from toyr.table import KNOWN\ndef f(name): return KNOWN[name]()\n"}  # fmt: skip
    pack({**files, imported: f"import toyr.part\n{files[imported]}"})
    before = source_digest(["toyr.main:f"])
    pack({"toyr/part.py": part.replace("return 1", "return 2")})
    assert source_digest(["toyr.main:f"]) != before
    pack({"toyr/part.py": f"{part}def other(): return 3\n"})
    assert source_digest(["toyr.main:f"]) == before


# -- what cannot be followed -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("text", "why"), [
    ("def f(name): return globals()[name]\n", "globals()"),
    ("def f(text): exec(text)\n", "exec()"),
    ("def f(text): return eval(text)\n", "eval()"),
    ("import sys\ndef f(name): return sys.modules[name]\n", "sys.modules"),
    ("from importlib import import_module\ndef f(name): return import_module(name)\n", "import_module"),
    ("import toyone\ndef f(name): return getattr(toyone, name)\n", "getattr() of a module"),
    ("import toyone\ndef f(name): return vars(toyone)[name]\n", "vars() of a module"),
])  # fmt: skip
def test_a_computed_name_makes_all_of_its_module_count_and_is_named(text, why, pack):
    pack({"toyone.py": f"X = 1\n{text}"})
    found = reached(["toyone:f"])
    assert len(found.unresolved) == 1 and why in found.unresolved[0] and "toyone" in found.unresolved[0]
    before = source_digest(["toyone:f"])
    pack({"toyone.py": f"X = 2\n{text}"})
    assert source_digest(["toyone:f"]) != before


def test_a_module_without_source_counts_by_its_bytes(pack, tmp_path):
    (tmp_path / "toyp").mkdir()
    library = tmp_path / "toyp" / f"native{__import__('importlib.machinery').machinery.EXTENSION_SUFFIXES[0]}"
    library.write_bytes(b"one")
    pack({"toyp/__init__.py": "", "toyp/main.py": "from toyp import native\ndef f(): return native.x\n"})
    before = source_digest(["toyp.main:f"])
    library.write_bytes(b"two")
    digest.forget()
    assert source_digest(["toyp.main:f"]) != before


def test_a_module_that_is_not_there_or_not_python_is_one_sentence(pack):
    pack({**HELPERS, "toypack/main.py": "from toypack import late\ndef f(): return late.g\n", "toypack/late.py": ""})
    for name in ("toypack.absent:f", "absent:f", "toypack.late.deeper:f", ":f"):
        with pytest.raises(BoostrunError, match="no module"):
            source_digest([name])
    pack({"toypack/late.py": "def (:\n"})
    with pytest.raises(BoostrunError, match=r"toypack\.late"):
        source_digest(["toypack.main:f"])


# -- programs at random ------------------------------------------------------------------------------------------------


def program(rng, size):
    """Definitions by number: which others each refers to, its constant, its kind."""
    return {
        number: (sorted(rng.sample(range(size), rng.randrange(0, min(4, size)))), rng.randrange(100), rng.randrange(3))
        for number in range(size)
    }


def files_of(made, rng, modules):
    """The program in files: definitions under random names, in random modules and order, imported in random ways."""
    where = {number: rng.randrange(modules) for number in made}
    name = {number: f"n{rng.randrange(10**6)}_{number}" for number in made}
    files = {}
    for module in range(modules):
        own = [number for number in made if where[number] == module]
        rng.shuffle(own)
        lines, below = [], []
        for number in own:
            refs, constant, kind = made[number]
            used, inside = [], []
            for ref in refs:
                far = f"toyx.m{where[ref]}"
                if where[ref] == module:
                    used.append(name[ref])
                elif rng.random() < 0.3:
                    inside.append(f"from {far} import {name[ref]} as r{ref}")
                    used.append(f"r{ref}")
                elif rng.random() < 0.5:
                    lines.append(f"import {far}")
                    used.append(f"{far}.{name[ref]}")
                else:
                    lines.append(f"from .m{where[ref]} import {name[ref]} as i{ref}")
                    used.append(f"i{ref}")
            calls = ", ".join(used)
            body = "".join(f"    {line}\n" for line in inside)
            inside = indent(body, "    ")
            below.append((
                f"def {name[number]}(x):\n{body}    return ({constant}, {calls})",
                f"class {name[number]}:\n    c = {constant}\n    def m():\n{inside}        return [{calls}]",
                f"def {name[number]}(x=lambda y: y):\n    y = {constant}\n{body}    return y, [{calls}]",
            )[kind])  # fmt: skip
        files[f"toyx/m{module}.py"] = "\n".join([*lines, *below, ""])
    return files, [f"toyx.m{where[0]}:{name[0]}"]


def reach_of(made):
    found, waiting = set(), [0]
    while waiting:
        number = waiting.pop()
        if number not in found:
            found.add(number)
            waiting += made[number][0]
    return found


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 2**32), size=st.integers(1, 12))
def test_a_digest_is_that_of_the_reached_part_of_a_program_and_of_nothing_else(seed, size, pack, tmp_path):
    rng = random.Random(seed)
    made = program(rng, size)

    def of(made):
        shutil.rmtree(tmp_path / "toyx", ignore_errors=True)
        files, roots = files_of(made, rng, rng.randrange(1, 4))
        pack({"toyx/__init__.py": "", **files})
        return source_digest(roots)

    before = of(made)
    assert of(made) == before  # moved, renamed, reordered, imported otherwise
    changed = rng.randrange(size)
    refs, constant, kind = made[changed]
    assert (of({**made, changed: (refs, constant + 1, kind)}) != before) == (changed in reach_of(made))
    assert of({**made, size: ([0], 1, 0)}) == before  # one more that nothing refers to


# -- as a whole --------------------------------------------------------------------------------------------------------


def test_it_is_found_once_per_process(pack, tmp_path):
    pack({"toyone.py": "def f(): return 1\n"})
    before = source_digest(["toyone:f"])
    (tmp_path / "toyone.py").write_text("def f(): return 2\n")
    assert source_digest(["toyone:f"]) == before


PYTHONS = [path for version in range(10, 15) if (path := shutil.which(f"python3.{version}"))]


@pytest.mark.parametrize("python", PYTHONS)
def test_every_python_at_hand_finds_the_same_digest(python):
    roots = ["boostrun.papers.reservoir.classifier:Reservoir", "boostrun.papers.iboost.iboost:IBoostClassifier"]
    code = f"import json; from boostrun.digest import *; print(json.dumps([source_digest([r]) for r in {roots!r}]))"
    answer = subprocess.run([python, "-c", code], capture_output=True, text=True, cwd=ROOT, check=False)
    if answer.returncode:
        pytest.skip(answer.stderr.strip().splitlines()[-1])
    assert json.loads(answer.stdout) == [source_digest([root]) for root in roots]
