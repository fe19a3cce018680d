"""How large the project is: ``python scripts/house.py [COMMIT ...]``, a column a commit, the working tree without any.

Counted are the files that git tracks: modules of ``boostrun`` and their lines (code: without blank lines, comments and
docstrings), tests, pictures and the size of ``results``.
"""

from __future__ import annotations

import ast
import io
import statistics
import subprocess
import sys
import tarfile
import tokenize
from collections.abc import Iterator


def files_of(commit: str) -> Iterator[tuple[str, bytes]]:
    """Path and content of every file of a commit, of the working tree where the commit is empty."""
    if not commit:
        names = subprocess.run(["git", "ls-files", "-z"], capture_output=True, check=True, text=True).stdout
        for name in filter(None, names.split("\0")):
            try:
                with open(name, "rb") as file:
                    yield name, file.read()
            except OSError:
                continue  # removed, and not yet committed
        return
    archive = subprocess.run(["git", "archive", commit], capture_output=True, check=True).stdout
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        for member in tar:
            if member.isfile() and (content := tar.extractfile(member)) is not None:
                yield member.name, content.read()


def code_lines(source: bytes) -> int:
    """Lines that hold code."""
    rows = {
        row for token in tokenize.tokenize(io.BytesIO(source).readline)
        if token.type not in (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.ENCODING, tokenize.INDENT,
                              tokenize.DEDENT, tokenize.ENDMARKER)
        for row in range(token.start[0], token.end[0] + 1)
    }  # fmt: skip
    for node in ast.walk(ast.parse(source)):
        body = getattr(node, "body", None)
        first = body[0] if isinstance(body, list) and body else None
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
            rows -= set(range(first.lineno, (first.end_lineno or first.lineno) + 1))
    return len(rows)


def measured(commit: str) -> dict[str, str]:
    """The figures of a commit, by what they are."""
    files = dict(files_of(commit))
    own = {name: content for name, content in files.items() if name.startswith("boostrun/") and name.endswith(".py")}
    lines = [content.count(b"\n") for content in own.values()]
    tests = [content.count(b"\n") for name, content in files.items()
             if name.startswith("tests/") and name.endswith(".py")]  # fmt: skip
    pictures = [len(content) for name, content in files.items() if name.endswith(".png")]
    results = sum(len(content) for name, content in files.items() if name.startswith("results/"))
    return {
        "files of boostrun": f"{len(own):,}",
        "lines": f"{sum(lines):,}",
        "lines of code": f"{sum(map(code_lines, own.values())):,}",
        "lines of the median file": f"{statistics.median(lines):g}",
        "lines of tests": f"{sum(tests):,}",
        "pictures (PNG)": f"{len(pictures):,}, {sum(pictures) / 1e6:.1f} MB",
        "results": f"{results / 1e6:.1f} MB",
    }


def main() -> None:
    """Print the table."""
    commits = sys.argv[1:] or [""]
    columns = [measured(commit) for commit in commits]
    print("\t".join(["", *(commit or "now" for commit in commits)]))
    for name in columns[0]:
        print("\t".join([name, *(column[name] for column in columns)]))


if __name__ == "__main__":
    main()
