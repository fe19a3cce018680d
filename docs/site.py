"""What mkdocs does beside rendering: results become pages, formulas MathML, and docstrings Markdown.

``results/**`` is not copied: its tables and pictures are pages and files of the site, read where they lie. A page links
to them as on disk, ``../../results/...`` from ``docs/papers/``, so that the same links work in a checkout. Formulas are
converted here, so that nothing is fetched when a page is read.
"""

import re
from html import unescape
from pathlib import Path

import griffe
from latex2mathml.converter import convert
from mkdocs.structure.files import File

ROOT = Path(__file__).parent.parent
FORMULA = re.compile(r'<(span|div) class="arithmatex">\\[(\[](.*?)\\[)\]]</\1>', re.DOTALL)
LETTERS = {' mathvariant="bold">1<': ">\U0001d7cf<", ' mathvariant="double-struck">E<': ">\U0001d53c<"}
TOGETHER = re.compile(r"^(\w+(?:, \w+)+)( ?: .*)?\n((?:    .*\n)*)", re.MULTILINE)


def on_files(files, config):
    """Add every table and picture of ``results``."""
    for path in sorted([*ROOT.glob("results/**/table.md"), *ROOT.glob("results/**/*.png")]):
        files.append(File.generated(config, path.relative_to(ROOT).as_posix(), abs_src_path=str(path)))
    return files


def on_page_markdown(markdown, page, config, files):
    """In the site ``results`` lies beside the pages, not beside ``docs``."""
    outside = "../" * (page.file.src_uri.count("/") + 1)
    return markdown.replace(f"]({outside}results/", f"]({outside[3:]}results/")


def on_page_content(html, page, config, files):
    r"""Formulas, ``\(...\)`` and ``\[...\]`` so far."""
    return FORMULA.sub(lambda found: _mathml(unescape(found[2]), "inline" if found[1] == "span" else "block"), html)


def _mathml(formula: str, display: str) -> str:
    text = convert(formula, display=display)
    for letter, character in LETTERS.items():
        text = text.replace(letter, character)
    return text


class Docstrings(griffe.Extension):
    """Numpy docstrings as Markdown has them."""

    def on_object(self, *, obj, loader, **kwargs) -> None:
        if obj.docstring is not None:
            obj.docstring.value = markdown_of(obj.docstring.value)


def markdown_of(docstring: str) -> str:
    """Roles become code, ``::`` a colon; parameters that share an entry get one each, with defaults of their own; prose
    and examples that follow a section without a heading get one.

    >>> print(markdown_of("See :class:`a.B`, as in::\\n\\n    code\\n\\nk, l : int\\n    Numbers."))
    See `a.B`, as in:
    <BLANKLINE>
        code
    <BLANKLINE>
    k : int
        Numbers.
    l : int
        Numbers.
    """
    text = re.sub(r":(?:class|meth|func|mod):`~?([^`]+)`", r"`\1`", docstring)
    text = re.sub(r"::$", ":", text, flags=re.MULTILINE).replace(".. [", "[")
    text = re.sub(r"^(\w[\w, ]*),\n(?=\w)", r"\1, ", text, flags=re.MULTILINE)
    text = TOGETHER.sub(lambda e: "".join(f"{n}{e[2] or ''}\n{e[3]}" for n in e[1].split(", ")), f"{text}\n")
    paragraphs, section = [], ""
    for paragraph in text.split("\n\n"):
        lines = paragraph.split("\n")
        if len(lines) > 1 and lines[1] and not lines[1].strip("-"):
            section = lines[0]
        elif section in ("Parameters", "Attributes", "Raises") and not paragraph.startswith(" "):
            section = "Examples" if paragraph.startswith(">>>") else "Notes"
            lines = [section, "-" * len(section), *lines]
        paragraphs.append("\n".join(lines))
    return "\n\n".join(paragraphs).rstrip()
