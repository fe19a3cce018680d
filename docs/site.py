"""Hooks of `make docs`: pages that are made of declarations and results, formulas as MathML, docstrings as Markdown.

- The tables in ``results/**`` become pages of the site and are read where they lie. A page links to them as on disk,
  ``../../results/...`` from ``docs/papers/``, so that the same links work in a checkout.
- ``reference/verbs.md`` and ``reference/methods.md`` are written from the declarations, the parameters of estimators
  from their keys: the field is the one place that explains a key. Neither page is in the repository.
- Formulas are converted when the site is built, so that a reader's browser fetches nothing.
"""

import dataclasses
import importlib
import re
from collections.abc import Iterator, Mapping
from html import unescape
from pathlib import Path

import griffe
from latex2mathml.converter import convert
from mkdocs.structure.files import File

from boostrun.cli import help
from boostrun.cli.arguments import VERBS
from boostrun.config import catalogue
from boostrun.config.fields import MISSING, Root, Run, Tune, described, fields_of, kind_of
from boostrun.methods.declaration import Method

ROOT = Path(__file__).parent.parent
FORMULA = re.compile(r'<(span|div) class="arithmatex">\\[(\[](.*?)\\[)\]]</\1>', re.DOTALL)
LETTERS = {' mathvariant="bold">1<': ">\U0001d7cf<", ' mathvariant="double-struck">E<': ">\U0001d53c<"}
TOGETHER = re.compile(r"^(\w+(?:, \w+)+)( ?: .*)?\n((?:    .*\n)*)", re.MULTILINE)


def on_files(files, config):
    """Add the tables of ``results``, CONTRIBUTING.md and the pages that are made of declarations."""
    files.append(File.generated(config, "reference/verbs.md", content="\n".join(reference())))
    files.append(File.generated(config, "reference/methods.md", content="\n".join(declared())))
    files.append(File.generated(config, "contributing.md", abs_src_path=str(ROOT / "CONTRIBUTING.md")))
    for path in sorted(ROOT.glob("results/**/table.md")):
        files.append(File.generated(config, path.relative_to(ROOT).as_posix(), abs_src_path=str(path)))
    return files


def on_page_markdown(markdown, page, config, files):
    """Adapt links: in the site, ``results`` and CONTRIBUTING.md lie beside the pages; sources are no pages."""
    outside = "../" * (page.file.src_uri.count("/") + 1)
    if page.file.src_uri == "contributing.md":
        markdown = re.sub(r"\[([^]]*)\]\(examples/[^)]*\)", r"`\1`", markdown.replace("](docs/", "]("))
    markdown = markdown.replace(f"]({outside}CONTRIBUTING.md", f"]({outside[3:]}contributing.md")
    return markdown.replace(f"]({outside}results/", f"]({outside[3:]}results/")


def on_page_content(html, page, config, files):
    r"""Convert formulas, ``\(...\)`` and ``\[...\]``, to MathML."""
    return FORMULA.sub(lambda found: _mathml(unescape(found[2]), "inline" if found[1] == "span" else "block"), html)


def _mathml(formula: str, display: str) -> str:
    text = convert(formula, display=display)
    for letter, character in LETTERS.items():
        text = text.replace(letter, character)
    return text


class Docstrings(griffe.Extension):
    """Turn numpy docstrings into Markdown; make ``{parameters}`` and constructors from the fields of keys."""

    def on_class_members(self, *, cls, **kwargs) -> None:
        """Add the constructor that an estimator inherits from its keys; no source spells it out."""
        if cls.docstring is None or "{parameters}" not in cls.docstring.value:
            return
        made = getattr(importlib.import_module(cls.module.path), cls.name)
        if not dataclasses.is_dataclass(made):
            return
        cls.docstring.value = cls.docstring.value.replace("{parameters}", described(made, ""))
        if "__init__" not in cls.members:
            kind = griffe.ParameterKind.positional_or_keyword
            parameters = [griffe.Parameter("self", kind=kind)]
            for field in dataclasses.fields(made):
                default = None if field.default is dataclasses.MISSING else repr(field.default)
                parameters.append(griffe.Parameter(field.name, kind=kind, default=default))
            cls.set_member("__init__", griffe.Function("__init__", parameters=griffe.Parameters(*parameters)))

    def on_object(self, *, obj, **kwargs) -> None:
        if obj.docstring is not None:
            obj.docstring.value = markdown_of(obj.docstring.value)


def reference() -> Iterator[str]:
    """The page of verbs and of the keys that every run has, line by line."""
    yield "# Verbs and keys\n"
    yield "`boostrun help VERB` prints a section of this page, and `boostrun --cfg algo=NAME` the keys of one choice."
    yield "[Methods, data and features](methods.md) has the keys of all choices.\n\n## Verbs\n"
    for verb in VERBS:
        yield f"### {verb}\n\n```text\n{help.page(verb).rstrip()}\n```\n"
    yield "## Keys of every run\n"
    yield from _keys(fields_of(Root), "")
    yield from _keys({name: field for name, field in fields_of(Run).items() if name != "name"}, "run.")
    yield from _keys(fields_of(Tune), "tune.")


def declared() -> Iterator[str]:
    """The page of all choices: each method, data set, pipeline and named part, line by line."""
    yield "# Methods, data and features\n"
    yield "All that `boostrun ls` lists, with every key: its default, the values it takes, and its meaning."
    yield "This page is written from the declarations that the command and the constructors follow."
    for name, paper in catalogue.papers().items():
        if paper.methods:
            yield f"\n## {paper.title if name else 'Methods of the core'}\n"
        for algo in paper.methods:
            yield from _method(algo, catalogue.methods()[algo])
    for group, title, found in (
        ("dataset", "Data sets", catalogue.datasets()), ("features", "Features", catalogue.pipelines()),
    ):  # fmt: skip
        yield f"\n## {title}\n"
        for name, one in found.items():
            yield f"### {name} {{#{group}.{name}}}\n"
            yield f"{_sentence(one.summary)} It gives {one.gives}.\n"
            yield from _keys(catalogue.fields(group, name), f"{group}.")
    yield "\n## Parts with a name\n"
    for room in ("strategies", "policies", "weak_learners"):
        yield f"**{room.replace('_', ' ').capitalize()}**: " + ", ".join(
            f"`{name}` (`{where.replace(':', '.')}`)" for name, where in catalogue.parts(room).items()
        ) + ".\n"  # fmt: skip


def _method(name: str, method: Method) -> Iterator[str]:
    yield f"### {name} {{#algo.{name}}}\n"
    yield f"{_sentence(method.summary)}\n"
    module, _, estimator = method.target.partition(":")
    public = (estimator, module) in set(catalogue.public())
    facts = [f"[`{estimator}`][{module}.{estimator}]" if public else f"`{module}.{estimator}`"]
    if method.fixed:
        facts[0] += " with " + ", ".join(f"`{key}={value!r}`" for key, value in method.fixed.items())
    if method.budget:
        defaults = method.budget_defaults
        facts.append("budget " + ", ".join(f"`{s}={defaults[s]}` ({p})" for s, p in method.budget.items()))
    facts.append("learns from " + ", ".join(sorted(method.inputs)))
    facts.append(f"measured by `{method.evaluation.replace(':', '.')}`")
    facts += [] if method.random else ["nothing is random: one trial"]
    facts += ["saved as " + ", ".join(sorted(method.exports, reverse=True))] if method.exports else []
    yield "; ".join(facts) + ".\n"
    yield from _keys(method.fields, "algo.")
    if method.search:
        words = (f"`{key if key in method.budget else f'algo.{key}'}={one}`" for key, one in method.search.items())
        yield f"`boostrun tune` searches {', '.join(words)}.\n"


def _keys(fields: Mapping[str, dataclasses.Field], prefix: str) -> Iterator[str]:
    if not fields:
        return
    yield "| key | default | takes | meaning |\n| --- | --- | --- | --- |"
    for key, field in fields.items():
        kind = kind_of(field)
        default = "must be given" if field.default == MISSING else f"`{_plain(field.default)}`"
        words = (re.sub(r"([_*|<>\[])", r"\\\1", said) for said in (kind.allowed.rstrip(","), kind.help))
        yield f"| `{prefix}{key}` | {default} | {' | '.join(words)} |"
    yield ""


def _plain(value: object) -> str:
    """A value as a user types it."""
    return "null" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def _sentence(summary: str) -> str:
    return f"{summary[:1].upper()}{summary[1:]}."


def markdown_of(docstring: str) -> str:
    """A docstring as Markdown.

    Roles become code and ``::`` a colon. Parameters that share an entry get one each. Prose and examples that follow a
    section without a heading get one.

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
