"""The report reads records and the papers' figures: its modules import each other in one direction, and nothing above
them."""

import ast
from graphlib import TopologicalSorter
from pathlib import Path

import boostrun.report

FOLDER = Path(boostrun.report.__file__).parent
MODULES = {
    ".".join(["boostrun.report", *path.relative_to(FOLDER).with_suffix("").parts]): path
    for path in FOLDER.rglob("*.py")
    if path.name != "__init__.py"
}


def imported(path):
    """The modules of boostrun that a file names, those for type checkers and within functions too."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = [alias.name for alias in node.names] if isinstance(node, (ast.Import, ast.ImportFrom)) else []
        if isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path}: names its package in full"
            whole = [f"{node.module}.{name}" for name in names]
            names = [name if name in MODULES else node.module for name in whole]
        yield from (name for name in names if name.partition(".")[0] == "boostrun")


def test_nothing_outside_the_report_is_imported_but_the_error_the_catalogue_and_how_files_are_written():
    outside = {
        name for path in FOLDER.rglob("*.py") for name in imported(path) if not name.startswith("boostrun.report")
    }
    # the catalogue says where papers' figures lie; reliability is drawn from what calibration measures
    assert outside == {"boostrun.errors", "boostrun.files", "boostrun.config", "boostrun.evaluation.measures"}


def test_no_module_of_the_report_is_reached_from_itself():
    graph = {name: set(imported(path)) for name, path in MODULES.items()}
    assert len(list(TopologicalSorter(graph).static_order())) > 20  # raises CycleError
