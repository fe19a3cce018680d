"""The house: a core that knows no paper, rooms that import downwards, files of one idea.

Exceptions are listed here. A list may shrink, never grow: each is compared as a whole.
"""

import ast
import functools
import re
from collections import Counter
from pathlib import Path

import pytest

from boostrun.config import catalogue

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "boostrun"
if not PACKAGE.is_dir():
    pytest.skip("the source is not beside the tests", allow_module_level=True)

# from the bottom: a room imports rooms that stand before it; those of one line do not know each other
LEVELS = (
    "suggestions", "errors files plugins signals", "import_hooks source", "normal_form", "declaration",
    "digest kernel_cache", "kernels", "data", "features methods", "evaluation extend streams",
    "inputs report export prediction", "store", "runner", "conformance", "papers rivals", "cli", "__main__",
)  # fmt: skip
# a room is a folder; only declarations lie beside what they declare
DECLARATION = {
    "config", "core", "data.keys", "features.keys", "methods.declaration", "methods.paper",
}  # fmt: skip
OF_PAPERS = {
    "conformance", "data", "declaration", "errors", "evaluation", "export", "features", "kernels", "methods", "report",
}  # fmt: skip
HYBRIDS = {  # GEEM under drift; GEEM with a budget of features
    ("iboost", "reservoir"),
    ("reservoir", "adaptive"),
}

# A field's word that happens to be a name of a paper (reservoir sampling), a method, a part or a picture.
GENERIC = {"adaptive", "errors", "max", "pieces", "reservoir", "stump", "templates", "tree", "window"}


@functools.cache
def modules() -> dict[str, Path]:
    """Every module below boostrun, by its name there."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


@functools.cache
def tree(name: str) -> ast.Module:
    return ast.parse(modules()[name].read_text(encoding="utf-8"))


@functools.cache
def imported(name: str) -> frozenset[str]:
    """The modules below boostrun that a module imports, anywhere in it, except for types alone."""
    nodes = list(ast.walk(tree(name)))
    for_types = {
        inner for node in nodes
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING") for inner in ast.walk(node)
    }  # fmt: skip
    found = set()
    for node in nodes:
        if node in for_types:
            continue
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            folder = ("boostrun", *modules()[name].relative_to(PACKAGE).parts)[: -node.level or None]
            source = ".".join([*(folder if node.level else ()), *filter(None, [node.module])])
            found |= {source, *(f"{source}.{alias.name}" for alias in node.names)}
    below = {one.removeprefix("boostrun.") for one in found if one.startswith("boostrun.")} & modules().keys()
    return frozenset(one for one in below if not any(other.startswith(f"{one}.") for other in below))


def core() -> list[str]:
    return [name for name in modules() if name.partition(".")[0] != "papers"]


def room(name: str) -> str:
    folder = name.partition(".")[0]
    return "declaration" if {name, folder} & DECLARATION else folder


def place(name: str) -> str:
    """A module's file below boostrun."""
    return modules()[name].relative_to(PACKAGE).as_posix()


def test_the_core_imports_no_paper():
    found = {(name, other) for name in core() for other in imported(name) if room(other) == "papers"}
    assert not found


def test_papers_import_each_other_only_as_hybrids_and_of_the_core_what_methods_are_made_of():
    between, outside = set(), set()
    for name in modules():
        if name.startswith("papers."):
            paper = name.split(".")[1]
            for other in imported(name):
                if room(other) != "papers":
                    outside |= {other} if room(other) not in OF_PAPERS else set()
                elif other.split(".")[1] != paper:
                    between.add((paper, other.split(".")[1]))
    assert between == HYBRIDS and not outside


def test_rooms_import_downwards():
    level = {one: height for height, rooms in enumerate(LEVELS) for one in rooms.split()}
    found = {
        (name, other) for name in core() for other in imported(name)
        if name and room(other) not in (room(name), "papers") and level[room(other)] >= level[room(name)]
    }  # fmt: skip
    assert not found


def names_of_papers() -> set[str]:
    """Every name that a paper brings: of methods, data, features, parts, drawings, pictures, and its own."""
    found = set()
    for name, paper in catalogue.papers().items():
        if name and any(item.startswith(f"{name}/") for item in catalogue.options("paper")):  # ours, not a plug-in
            for brought in (
                paper.methods, paper.datasets, paper.features, paper.strategies, paper.policies, paper.weak_learners,
                paper.drawings, paper.pictures, paper.public,
            ):  # fmt: skip
                found |= set(brought)
            found |= {model.target.partition(":")[2] for model in paper.models.values()}
            found.add(name)
    return found


def words_of(name: str) -> set[str]:
    """Identifiers of a module and words of its strings, docstrings left out."""
    found, prose = set(), set()
    for node in ast.walk(tree(name)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            prose.add(node.value)
        elif isinstance(node, ast.Name):
            found.add(node.id)
        elif isinstance(node, ast.Attribute):
            found.add(node.attr)
        elif isinstance(node, (ast.arg, ast.keyword)):
            found.add(node.arg)
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found.add(node.name)
    for node in ast.walk(tree(name)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in prose:
            found |= set(re.findall(r"\w+", node.value))
    return found


def test_no_name_of_a_paper_stands_in_the_core():
    names = names_of_papers() - GENERIC
    assert {"geem", "laminating", "shareboost", "sea", "IBoostClassifier", "SharedStumps"} <= names
    found = {place(name): words for name in core() if (words := words_of(name) & names)}
    assert not found


def test_the_core_asks_no_object_what_it_has():
    found = Counter(
        place(name) for name in core() for node in ast.walk(tree(name))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "hasattr"
    )  # fmt: skip
    assert not found


def test_classes_have_one_name_each_and_files_are_one_idea_under_600_lines():
    defined = Counter(
        node.name for name in modules() for node in tree(name).body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )  # fmt: skip
    assert not {name for name, times in defined.items() if times > 1}
    long = {place(name) for name, path in modules().items() if path.read_text(encoding="utf-8").count("\n") > 600}
    assert not long
