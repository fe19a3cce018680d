"""`make docs`: the documentation builds without a warning, holds every public name, and fetches nothing when read."""

import doctest
import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

import boostrun
from boostrun.config import catalogue

from .page import loaded

ROOT = Path(__file__).parents[2]
_ELSEWHERE = r"""["']?(?:https?:)?//"""
_FETCHED = re.compile(rf"<(?:script|img|iframe|source)[^>]*\ssrc={_ELSEWHERE}|<link[^>]*\shref={_ELSEWHERE}")


def _public() -> set[str]:
    names = {f"{module}.{name}" for name, module in boostrun._public().items()}
    names |= {where.replace(":", ".") for where in catalogue.parts("policies").values()}
    for name, declared in catalogue.datasets().items():
        if declared.gives == "stream":  # several streams may share a module, each with a function of its name
            shared = hasattr(importlib.import_module(declared.loader), f"draw_{name}")
            names.add(f"{declared.loader}.draw_{name}" if shared else declared.loader)
    return names


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    for module in ("mkdocs", "material", "mkdocstrings_handlers.python", "latex2mathml"):
        pytest.importorskip(module, reason="pip install 'boostrun[docs]'")
    folder = tmp_path_factory.mktemp("site")
    words = ["build", "--quiet", "--strict", "--config-file", ROOT / "mkdocs.yml", "--site-dir", folder]
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", *words], capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert built.returncode == 0, built.stderr
    return folder


@pytest.mark.slow
def test_the_site_holds_every_page_picture_and_public_name(site):
    api = "".join(page.read_text() for page in (site / "reference").glob("*.html"))
    assert [name for name in _public() if f'id="{name}"' not in api] == []
    chosen = {f"{group}.{name}" for group in catalogue.GROUPS for name in catalogue.names(group)}
    assert [name for name in chosen if f'id="{name}"' not in api] == []
    assert "{parameters}" not in api
    assert (site / "results/reservoir/table3/table.html").is_file()
    for page in (ROOT / "docs").rglob("*.md"):
        written = (site / page.relative_to(ROOT / "docs")).with_suffix(".html")
        assert written.read_text().count("<h1") == 1, page
        for picture in re.findall(r'<img[^>]*src="([^"]+)"', written.read_text()):
            assert (written.parent / picture).is_file(), f"{page}: {picture}"


@pytest.mark.slow
def test_formulas_are_mathml_and_nothing_is_fetched_when_a_page_is_read(site):
    assert (site / "papers/reservoir.html").read_text().count("<math") > 20
    for page in site.rglob("*.html"):
        assert not _FETCHED.search(page.read_text()), page
        assert "arithmatex" not in page.read_text(), page
    for style in site.rglob("*.css"):
        assert not re.search(r"@import|url\(['\"]?(?:https?:)?//", style.read_text()), style


@pytest.mark.slow
def test_docstrings_become_markdown(site):
    assert doctest.testmod(loaded(ROOT / "docs" / "site.py")) == (0, 1)


def test_the_reference_asks_for_every_public_name():
    pages = "\n".join(page.read_text() for page in (ROOT / "docs/reference").glob("*.md"))
    asked = set(re.findall(r"^::: ([\w.]+)", pages, re.MULTILINE))
    assert _public() <= asked, _public() - asked
