"""YAML by libyaml is what OmegaConf and PyYAML read, for every file of ours."""

from pathlib import Path

import pytest
import yaml
from omegaconf import OmegaConf

from boostrun.config import quick_yaml, yaml_files

PAPERS = Path(yaml_files.__file__).parents[1] / "papers"


def test_items_are_read_as_omegaconf_reads_them():
    found = list(yaml_files.options("paper").values())
    assert len(found) > 80
    for path in found:
        assert repr(quick_yaml.load(path.read_text())) == repr(OmegaConf.to_container(OmegaConf.load(path))), path


def test_claims_are_read_as_pyyaml_reads_them():
    for path in sorted(PAPERS.glob("*/claims.yaml")):
        assert quick_yaml.load(path.read_text()) == yaml.safe_load(path.read_text()), path


@pytest.mark.parametrize("text", ["a: 1\na: 2", "{b: {a: 1, a: 2}}", "a: [1", "a: !!python/object:os.system x"])
def test_what_is_not_plain_yaml_is_refused(text):
    with pytest.raises(yaml.YAMLError):
        quick_yaml.load(text)


WORDS = {"1e-3": 0.001, "-2E5": -2e5, "1.5e3": 1500.0, "1e": "1e", "e1": "e1", ".5": 0.5, "2011-09-05": "2011-09-05"}


@pytest.mark.parametrize(("word", "value"), WORDS.items())
def test_words_are_what_omegaconf_makes_of_them(word, value):
    assert quick_yaml.load(f"x: {word}")["x"] == value == OmegaConf.create(f"x: {word}")["x"]
