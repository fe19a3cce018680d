"""A page of the documentation, word for word: its files are written, its commands and its Python run and compared."""

import contextlib
import doctest
import importlib.util
import io
import re
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

DOCS = Path(__file__).parents[2] / "docs"
_MAKEFILE = DOCS.parent / "Makefile"
_BLOCK = re.compile(r"```(\w+)\n(.*?)```", re.DOTALL)
_COMMAND = re.compile(r"^\$ (boostrun|make) (.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)
_FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def loaded(path: Path) -> ModuleType:
    """A file of Python that lies in no package, as a module: a script, hooks of the site."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def script(name: str) -> ModuleType:
    """A script of the project, as a module."""
    return loaded(DOCS.parent / "scripts" / f"{name}.py")


def follow(page: Path, command: Callable, workplace: Path) -> dict[str, int]:
    """Do what the page says in the folder ``workplace``, from top to bottom; how many blocks and commands there were.

    A block of ``python`` or ``yaml`` is the file that is named last before it, ``mine/...``; ``console`` holds commands
    and what they print, decimals left open; ``pycon`` is a doctest, with one set of names for the whole page. Expected
    text that begins with ``boostrun: `` is on stderr, and the command may then fail.
    """
    text, end, names = page.read_text(), 0, {}
    done = {"files": 0, "commands": 0, "examples": 0}
    for found in _BLOCK.finditer(text):
        language, content = found.groups()
        before, end = text[end : found.start()], found.end()
        if language in ("python", "yaml"):
            path = workplace / re.findall(r"`(mine/[\w/]+\.(?:py|yaml))`", before)[-1]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)
            done["files"] += 1
        elif language == "console":
            commands = _COMMAND.findall(content)
            assert len(commands) == content.count("\n$ ") + content.startswith("$ "), f"not all are run: {content}"
            for program, words, expected in commands:
                _check(command, _recipe(words) if program == "make" else words, expected)
                done["commands"] += 1
        elif language == "pycon":
            done["examples"] += _doctest(content, names, page.name)
    return done


def _check(command: Callable, words: str, expected: str) -> None:
    code, out, err = command(words)
    told = expected.startswith("boostrun: ")
    assert code == 0 or (told and code in (1, 2)), err
    same = doctest.OutputChecker().check_output(_whole(expected), _whole(err if told else out), _FLAGS)
    assert same, f"boostrun {words}\n{err if told else out}"


def _recipe(target: str) -> str:
    """The words that ``make target`` passes to boostrun."""
    return re.search(rf"^{target}:.*\n\t\$\(RUN\) (.*)$", _MAKEFILE.read_text(), re.MULTILINE)[1]


def _doctest(content: str, names: dict, page: str) -> int:
    test = doctest.DocTestParser().get_doctest(content, names, page, page, 0)
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        result = doctest.DocTestRunner(optionflags=_FLAGS).run(test, out=said.write, clear_globs=False)
    names.update(test.globs)
    assert result.failed == 0, said.getvalue()
    return result.attempted


def _whole(text: str) -> str:
    """The text without decimals and progress: a figure may vary with the machine, a count may not."""
    progress = ("trials ", "boostrun 0", "boostrun: compiling")
    kept = [line for line in text.splitlines() if not line.startswith(progress)]
    return re.sub(r"\d+\.\d+", "#", "\n".join(kept))
