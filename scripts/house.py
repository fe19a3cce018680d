"""Measure the size of the project: ``python scripts/house.py [COMMIT ...]`` prints a column for each commit.

Without a commit it measures the working tree. It counts files that git tracks: modules of ``boostrun``, their lines,
lines of code (without blank lines, comments and docstrings), functions and turns of phrase to avoid; and the sizes of
tests, pictures and ``results``. It also runs each tree, to count the files of ``boostrun`` that four commands use, and
the times that parsing of settings returns to a room, see ``walk.py``. This takes half a minute; ``--static`` skips it.
"""

from __future__ import annotations

import ast
import contextlib
import io
import os
import re
import statistics
import subprocess
import sys
import tarfile
import tempfile
import tokenize
from collections.abc import Iterator
from pathlib import Path

# Turns of phrase to avoid. Not every hit is bad English, but each sentence with one should be read again.
PATTERNS = [re.compile(pattern, re.I if flag else 0) for pattern, flag in (
    (r"(?:^|[.;:,(]\s+|\b(?:of|by|in|on|for|with|from|and|is|are|says|has|tells) )what\b(?! (?:is|are) the\b)", True),
    (r"(?:^|[.;:]\s+)Of (?:a|an|the|all|each|its|several|those|what|one|two)\b", False),
    (r"\bwhere (?:there|none|nothing|one|it|they|those|that) (?:is|are|has|have|fits?|does)\b", True),
    (r"\bthat (?:it|they|there|one|he) (?:has|have|had|is|are|was|were)\b(?= *[.,;:)]|$)", True),
    (r"\b(?:has|have) not(?= *[.,;:)]| a\b| its\b)|\bhas no (?:use|word|form)\b", True),
    (r"\b(?:anew|thereof|whereof|thither|begun|told|asked of|of one's own|for ever|as it stands|shall|nought)\b", True),
    (r"\b(?:a person|one's|somebody|anybody|whoever|whatever else)\b", True),
    (r"\b(?:as there|as before it|as that of|as those of|the same of)\b", True),
    (r"\bnothing (?:is|was|to|but|of)\b|\bnone (?:is|of it|that)\b|\bno(?:ne)? but\b", True),
    (r"\bbut for\b|\bsave that\b|\bbe it\b", True),
)]  # fmt: skip
RUN = "algo=geem dataset=digits r=20 T=5 trials=1 n_jobs=1"
COMMANDS = {
    "files entered by a GEEM run": f"{RUN} store={{folder}}/s results={{folder}}/r cache_root={{folder}}/c",
    "files entered by a table": "table reservoir/table3",
    "files entered by ReservoirClassifier.fit": "fit",
    "files entered by help": "--help",
    "returns of the words on their way to settings": "settings algo=geem dataset=cifar10 r=250",
}


def archive_of(commit: str) -> tarfile.TarFile:
    """The files of a commit."""
    content = subprocess.run(["git", "archive", commit], capture_output=True, check=True).stdout
    return tarfile.open(fileobj=io.BytesIO(content))


def files_of(commit: str) -> Iterator[tuple[str, bytes]]:
    """Path and content of every file of a commit, or of the working tree if ``commit`` is empty."""
    if commit:
        with archive_of(commit) as tar:
            for member in tar:
                if member.isfile() and (content := tar.extractfile(member)) is not None:
                    yield member.name, content.read()
        return
    names = subprocess.run(["git", "ls-files", "-z"], capture_output=True, check=True, text=True).stdout
    for name in filter(None, names.split("\0")):
        with contextlib.suppress(OSError):  # removed, and not yet committed
            yield name, Path(name).read_bytes()


def docstrings(tree: ast.Module) -> Iterator[ast.Constant]:
    """The docstrings of a module, its classes and functions."""
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        first = body[0] if isinstance(body, list) and body else None
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
            yield first.value


def code_lines(source: bytes) -> int:
    """The number of lines with code."""
    rows = {
        row for token in tokenize.tokenize(io.BytesIO(source).readline)
        if token.type not in (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.ENCODING, tokenize.INDENT,
                              tokenize.DEDENT, tokenize.ENDMARKER)
        for row in range(token.start[0], token.end[0] + 1)
    }  # fmt: skip
    for text in docstrings(ast.parse(source)):
        rows -= set(range(text.lineno, (text.end_lineno or text.lineno) + 1))
    return len(rows)


def functions(source: bytes) -> int:
    """The number of functions and methods."""
    return sum(isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) for node in ast.walk(ast.parse(source)))


def prose(source: bytes) -> Iterator[str]:
    """Docstrings by line, comments, and texts of several words in arguments of calls."""
    tree = ast.parse(source)
    for text in docstrings(tree):
        for line in str(text.value).splitlines():
            if not line.lstrip().startswith((">>>", "...")):
                yield re.sub(r"`+[^`]*`+", "CODE", line.strip())
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        for argument in call.args:
            for part in ast.walk(argument):
                if isinstance(part, ast.Constant) and isinstance(part.value, str) and part.value.count(" ") > 3:
                    yield part.value
    for token in tokenize.tokenize(io.BytesIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.string.lstrip("# ")


def measured(commit: str) -> dict[str, str]:
    """The figures of a commit by name."""
    files = dict(files_of(commit))
    own = {name: content for name, content in files.items() if name.startswith("boostrun/") and name.endswith(".py")}
    lines = [content.count(b"\n") for content in own.values()]
    tests = [content.count(b"\n") for name, content in files.items()
             if name.startswith("tests/") and name.endswith(".py")]  # fmt: skip
    pictures = [len(content) for name, content in files.items() if name.endswith(".png")]
    results = sum(len(content) for name, content in files.items() if name.startswith("results/"))
    texts = [text for content in own.values() for text in prose(content)]
    hits = sum(len(pattern.findall(text)) for text in texts for pattern in PATTERNS)
    return {
        "files of boostrun": f"{len(own):,}",
        "lines": f"{sum(lines):,}",
        "lines of code": f"{sum(map(code_lines, own.values())):,}",
        "lines of the median file": f"{statistics.median(lines):g}",
        "lines of the longest file": f"{max(lines):,}",
        "functions": f"{sum(map(functions, own.values())):,}",
        "turns of phrase to avoid, in 1,000 words": f"{1000 * hits / sum(len(text.split()) for text in texts):.1f}",
        "lines of tests": f"{sum(tests):,}",
        "pictures (PNG)": f"{len(pictures):,}, {sum(pictures) / 1e6:.1f} MB",
        "results": f"{results / 1e6:.1f} MB",
    }


def walked(commit: str) -> dict[str, str]:
    """The counts of ``walk.py`` for the tree of a commit."""
    script, found = Path(__file__).with_name("walk.py").resolve(), {}
    with tempfile.TemporaryDirectory() as tree:
        if commit:
            with archive_of(commit) as tar:
                tar.extractall(tree, filter="data")
        root = tree if commit else os.getcwd()
        for name, command in COMMANDS.items():
            with tempfile.TemporaryDirectory() as folder:
                words = [sys.executable, str(script), *command.format(folder=folder).split()]
                env = {**os.environ, "PYTHONPATH": root}
                done = subprocess.run(words, capture_output=True, text=True, cwd=root, env=env, check=False)
            last = done.stdout.splitlines()[-1:]
            found[name] = last[0] if done.returncode == 0 and last else "failed"
    return found


def main() -> None:
    """Print the table."""
    commits = [word for word in sys.argv[1:] if word != "--static"] or [""]
    columns = [measured(commit) | ({} if "--static" in sys.argv else walked(commit)) for commit in commits]
    print("\t".join(["", *(commit or "now" for commit in commits)]))
    for name in columns[0]:
        print("\t".join([name, *(column[name] for column in columns)]))


if __name__ == "__main__":
    main()
