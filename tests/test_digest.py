import ast
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import boostrun
from boostrun import digest
from boostrun.digest import modules_of, normalised, source_digest
from boostrun.errors import BoostrunError

FILES = {
    "toypack/__init__.py": "from toypack import extras\n__version__ = '1'\n",
    "toypack/extras.py": "EXTRA = 1\n",
    "toypack/core.py": (
        '"""Core."""\nimport os\nfrom .deep import leaf\nfrom . import sibling as s\n\n\ndef f(x):\n    """Doc."""\n'
        "    from toypack.late import g  # here\n    return g(x)\n"
    ),
    "toypack/sibling.py": "import toypack.deep.other\nVALUE = 1\n",
    "toypack/late.py": "def g(x):\n    return x\n",
    "toypack/unused.py": "import toypack.extras\n",
    "toypack/typed.py": (
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from toypack import unused\nelse:\n"
        "    import importlib\n    late = importlib.import_module('toypack.late')\n"
    ),
    "toypack/whole.py": "from toypack import something_made_up\n",
    "toypack/star.py": "from .deep import *\n",
    "toypack/deep/__init__.py": "from .hidden import thing\n",
    "toypack/deep/hidden.py": "thing = 1\n",
    "toypack/deep/leaf.py": "from ..late import g\nfrom .... import beyond\n",
    "toypack/deep/other.py": "try:\n    import toypack.absent\nexcept ImportError:\n    pass\n",
    "toyplugin.py": "from boostrun.errors import BoostrunError\nimport toypack.core\n",
}


@pytest.fixture
def pack(tmp_path, monkeypatch):
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    digest.forget()
    yield tmp_path
    digest.forget()
    assert not [name for name in sys.modules if name.startswith("toyp")]


def edited(pack, name, old, new):
    before = source_digest(["toypack.core"])
    path = pack / name
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    digest.forget()
    return source_digest(["toypack.core"]) != before


def test_the_closure_follows_relative_late_and_dotted_imports_but_not_what_is_not_imported(pack):
    assert modules_of(["toypack.core"]) == [
        "toypack",
        "toypack.core",
        "toypack.deep",
        "toypack.deep.leaf",
        "toypack.deep.other",
        "toypack.late",
        "toypack.sibling",
    ]


def test_a_package_is_descended_into_only_when_it_is_itself_imported(pack):
    assert "toypack.extras" not in modules_of(["toypack.core"])
    assert "toypack.extras" in modules_of(["toypack"])
    assert "toypack.extras" in modules_of(["toypack.whole"])
    assert "toypack.deep.hidden" in modules_of(["toypack.star"])


def test_imports_for_type_checkers_are_left_out_and_literal_import_module_is_followed(pack):
    assert modules_of(["toypack.typed"]) == ["toypack", "toypack.late", "toypack.typed"]


def test_a_plugin_is_followed_into_boostrun_and_no_other_package(pack):
    assert modules_of(["toyplugin"]) == ["boostrun.errors", "toyplugin"]


@pytest.mark.parametrize(
    "name, old, new",
    [
        ("toypack/core.py", "return g(x)", "return g(x) + 1"),
        ("toypack/late.py", "return x", "return -x"),
        ("toypack/deep/__init__.py", "from", "VALUE = 1\nfrom"),
        ("toypack/sibling.py", "VALUE = 1", "VALUE = 2"),
        ("toypack/late.py", "    return x", "    if x:\n        return x"),
    ],
)
def test_a_change_of_code_anywhere_in_the_closure_changes_the_digest(pack, name, old, new):
    assert edited(pack, name, old, new)


@pytest.mark.parametrize(
    "name, old, new",
    [
        ("toypack/core.py", "  # here", "  # there"),
        ("toypack/core.py", '    """Doc."""\n', '    """Doc.\n\n    More\n    """\n\n'),
        ("toypack/core.py", '"""Core."""\n', "# core\n\n\n"),
        ("toypack/late.py", "def g(x):\n", "\ndef g(x):   \n\n    # why\n"),
        ("toypack/late.py", "return x\n", "return x"),
        ("toypack/__init__.py", "'1'", "'2'"),
        ("toypack/extras.py", "1", "2"),
        ("toypack/unused.py", "import", "import os, "),
    ],
)
def test_comments_docstrings_blank_lines_and_what_is_not_imported_do_not(pack, name, old, new):
    assert not edited(pack, name, old, new)


def test_the_order_of_modules_does_not_matter_and_their_names_do(pack):
    assert source_digest(["toypack.core", "toypack.late"]) == source_digest(["toypack.late", "toypack.core"])
    assert source_digest(["toypack.core"]) != source_digest(["toypack.extras"])


def test_moving_code_from_one_module_to_another_changes_the_digest(pack):
    before = source_digest(["toypack.sibling"])
    (pack / "toypack/sibling.py").write_text("import toypack.deep.other\n")
    with (pack / "toypack/deep/other.py").open("a") as file:
        file.write("VALUE = 1\n")
    digest.forget()
    assert source_digest(["toypack.sibling"]) != before


def test_names_and_defaults_of_keys_make_no_record_stale_because_its_cell_holds_them():
    found = digest.modules_of(["boostrun.papers.iboost.streams.sea"])
    assert "boostrun.data.streams.drift_stream" in found
    assert not [name for name in found if name.startswith(("boostrun.config", "boostrun.schemas"))]


LOADER = (
    "from toypack.late import g\nfrom toypack import sibling\nSOURCES = ('toypack.late', 'toypack.sibling')\n\n\n"
    "def read(x):\n    return g(x) + sibling.VALUE\n"
)


@pytest.mark.parametrize(
    "old, new, counts",
    [
        ("toypack.late import g", "toypack.moved.late import g", False),
        ("from toypack import sibling", "from toypack.moved import sibling", False),
        ("('toypack.late', 'toypack.sibling')", "('toypack.moved.late', 'toypack.sibling')", False),
        ("from toypack.late import g", "from toypack.late import h as g", True),
        ("g(x) + ", "g(x) - ", True),
    ],
)
def test_where_the_imports_of_a_module_alone_lead_does_not_count_and_what_it_does_with_them_does(
    pack, old, new, counts
):
    path = pack / "toypack" / "loader.py"
    (pack / "toypack" / "moved").mkdir()
    for name in ("late", "sibling"):
        shutil.copy(pack / "toypack" / f"{name}.py", pack / "toypack" / "moved")
    (pack / "toypack" / "moved" / "__init__.py").touch()
    path.write_text(LOADER)
    before = digest.module_digest("toypack.loader")
    path.write_text(LOADER.replace(old, new))
    digest.forget()
    assert LOADER.replace(old, new) != LOADER and (digest.module_digest("toypack.loader") != before) == counts


def test_it_is_found_once_per_process(pack):
    before = source_digest(["toypack.late"])
    (pack / "toypack/late.py").write_text("other = 1\n")
    assert source_digest(["toypack.late"]) == before


def test_a_module_that_is_not_there_or_not_python_is_one_sentence(pack):
    for name in ("toypack.absent", "absent", "toypack.late.deeper", ""):
        with pytest.raises(BoostrunError, match="no module"):
            source_digest([name])
    (pack / "toypack/late.py").write_text("def (:\n")
    digest.forget()
    with pytest.raises(BoostrunError, match=r"toypack\.late"):
        source_digest(["toypack.core"])


def test_no_module_concerned_is_imported():
    code = (
        "import sys\nfrom boostrun.digest import source_digest\nbefore = set(sys.modules)\n"
        "source_digest(['boostrun.runner.queue'])\n"
        "print([m for m in set(sys.modules) - before if m.startswith('boostrun')])\n"
    )
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "[]"


TRICKY = '''\
# -*- coding: utf-8 -*-
"""Docstring with # no comment and ünïcode"""; x = """kept   

# kept to the letter
""" ; y = 'ü # kept'  # gone ü
class A:
    """Doc."""
    def f(self): "doc"; return 1
    def g(self):
        r\'\'\'raw
        doc\'\'\'
        z = f"""a {x!r}   

 # kept {y:>{10}} {f'{x}'}
"""   # gone
        "not a docstring # kept"
        return (x,

                # gone
                y)
async def h():
    ("imp" "licit")
    return \\
        2
__version__ = "1"
s = "form\x0cfeed \\u2028"
'''  # noqa: W291


def test_strings_are_kept_to_the_letter_and_the_rest_is_cut_by_position():
    text = normalised(TRICKY)
    assert "gone" not in text and "doc'" not in text and "implicit" not in text and "__version__" not in text
    for kept in ("kept   \n\n# kept to the letter\n", "'ü # kept'", " {x!r}   \n\n # kept {y:>{10}}", "not a doc"):
        assert kept in text
    assert normalised(TRICKY.replace("\n", "\r\n")) == text
    tree = ast.parse(TRICKY)
    assert [n.value for n in ast.walk(tree) if isinstance(n, ast.Constant) and "kept" in str(n.value)]


OURS = sorted(Path(boostrun.__file__).parent.joinpath("run").glob("*.py"))


@pytest.mark.parametrize("path", OURS, ids=lambda path: path.name)
def test_our_own_sources_mean_the_same_once_normalised(path):
    source = path.read_text("utf-8")
    tree = ast.parse(source)
    unwanted = digest._unwanted(tree)
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list) and body and body[0] in unwanted:
            if len(body) == 1:
                return  # nothing but its docstring: cannot be parsed without it
            del body[0]
    text = normalised(source)
    assert ast.dump(ast.parse(text)) == ast.dump(tree)
    assert normalised(text) == text


@given(st.lists(st.sampled_from(["x = 1", "y = 'a#b'", "if x:\n    y = 2", 'z = """a\n\n  b  \n"""', "f'{x} # {y}'"])))
def test_comments_and_blank_lines_between_statements_never_matter(statements):
    plain = "\n".join(["pass", *statements]) + "\n"
    noisy = "\n\n# why\n".join(["pass  # ever", *statements]) + "  # end"
    assert normalised(plain) == normalised(noisy)


PYTHONS = [path for version in range(10, 15) if (path := shutil.which(f"python3.{version}"))]


@pytest.mark.parametrize("python", PYTHONS)
def test_every_python_at_hand_finds_the_same_digest(python):
    modules = ["boostrun.digest", "boostrun.runner.queue"]
    code = f"from boostrun.digest import *; print(source_digest({modules!r}))"
    root = Path(boostrun.__file__).parents[1]
    answer = subprocess.run([python, "-c", code], capture_output=True, text=True, cwd=root, check=False)
    if answer.returncode:
        pytest.skip(answer.stderr.strip().splitlines()[-1])
    assert answer.stdout.strip() == source_digest(modules)


def test_what_a_strangers_paper_declares_does_not_count_but_what_is_imported_from_there_does(tmp_path, monkeypatch):
    files = {
        "own/__init__.py": "SUMMARY = 'mine'\nSTEP = 1\n", "own/keys.py": "DEFAULT = 1\n",
        "own/learner.py": "from .keys import DEFAULT\nclass Mine: ...\n", "own/other.py": "from . import STEP\n",
    }  # fmt: skip
    for name, text in files.items():
        (tmp_path / "own").mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.syspath_prepend(tmp_path)

    def found():
        digest.forget()
        return [source_digest([f"own.{name}"], {}, ["own"]) for name in ("learner", "other")]

    first = found()
    (tmp_path / "own/keys.py").write_text("DEFAULT = 2\n")
    assert found() == first
    (tmp_path / "own/__init__.py").write_text("SUMMARY = 'better'\nSTEP = 1\n")
    second = found()
    assert second[0] == first[0] and second[1] != first[1]
    (tmp_path / "own/learner.py").write_text("from .keys import DEFAULT\nclass Mine: x = 1\n")
    assert found()[0] != second[0]
    digest.forget()
