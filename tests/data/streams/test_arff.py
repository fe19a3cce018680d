"""ARFF files as MOA and Weka write them: the stream that scipy reads, missing values, and refused files."""

import gzip
import io

import numpy as np
import pytest
from scipy.io import arff

from boostrun.data.streams import draw
from boostrun.data.streams.file_stream import ArffReader
from boostrun.errors import BoostrunError

MOA = """@relation 'generators.SEAGenerator -n 10'

@attribute attrib1 numeric
@attribute attrib2 numeric
@attribute class {groupA,groupB}

@data

7.3,2.4,groupB,
1.5,0.25,groupA,
9.9,8.0,groupB,
"""
ODD = """% a comment
@RELATION odd
@Attribute 'the day' {'last monday', "tues, day", 'it\\'s',wed}
@ATTRIBUTE x REAL
@attribute "is it so?" { no , yes }
@attribute n Integer [1, 20]
@DATA
% another
'last monday',1e3, yes, 3

"tues, day" , ? , no , 4
it's,-2.5,yes,?
?\t0.5\tno\t5
"""


@pytest.fixture
def written(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def write(text, name="stream.arff"):
        path = tmp_path / name
        path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
        return path

    return write


def rows(path, label=None, size=2):
    parts = list(ArffReader(path, label).in_order(size))
    return np.concatenate([x for x, _ in parts]), np.concatenate([y for _, y in parts])


@pytest.mark.parametrize("name", ["stream.arff", "stream.arff.gz"])
@pytest.mark.parametrize("size", [1, 2, 100])
def test_moas_files_with_commas_at_the_ends_give_the_numbers_that_scipy_reads(written, name, size):
    x, y = rows(written(MOA, name), size=size)
    assert x.tolist() == [[7.3, 2.4], [1.5, 0.25], [9.9, 8.0]] and y.tolist() == ["groupB", "groupA", "groupB"]
    found, _ = arff.loadarff(io.StringIO(MOA.replace(",\n", "\n")))
    np.testing.assert_array_equal(x, np.column_stack([found["attrib1"], found["attrib2"]]))


def test_names_and_values_may_have_blanks_commas_and_quotes_and_what_is_missing_is_nan(written):
    path = written(ODD)
    x, y = rows(path, "is it so?")
    assert ArffReader(path, "n").columns == ("the day", "x", "is it so?", "n")
    np.testing.assert_array_equal(x, [[0, 1000, 3], [1, np.nan, 4], [2, -2.5, np.nan], [np.nan, 0.5, 5]])
    assert y.tolist() == ["yes", "no", "yes", "no"]


def test_a_file_is_a_stream_whose_missing_values_are_the_last_ones_where_that_is_asked_for(written, tmp_path):
    keys = {"name": "file_stream", "path": str(written(ODD)), "label": "is it so?"}
    with pytest.raises(BoostrunError, match="NaN, first in row 1, feature 1"):
        draw(keys, tmp_path)
    stream = draw({**keys, "missing": "last"}, tmp_path)
    for size in (1, 3, 50):
        x = np.concatenate([x for x, _ in stream.blocks(size)])
        assert x.tolist() == [[0, 1000, 3], [1, 1000, 4], [2, -2.5, 4], [2, 0.5, 5]]
    assert stream.classes == ("no", "yes") and len(stream) == 4


def test_whole_numbers_are_classes(written, tmp_path):
    text = MOA.replace("{groupA,groupB}", "numeric").replace("groupA", "0").replace("groupB", "1")
    stream = draw({"name": "file_stream", "path": str(written(text))}, tmp_path)
    assert stream.classes == ("0", "1")


HEAD = "@relation r\n@attribute a numeric\n@attribute b {x,y}\n@data\n"


@pytest.mark.parametrize("text, said", [
    (f"{HEAD}{{0 1.5, 7 x}}\n", "the place '7' in the sparse row 0"), (f"{HEAD}1,x,{{5}}\n", "a weight, first row 0"),
    (f"{HEAD}1,x\n1\n", "1 values in row 1; its head names 2"), (f"{HEAD}1,x\n2,z\n", "'z' in row 1 of 'b'"),
    (f"{HEAD}one,x\n", "'one' in row 0 of 'a', which is a number"), (f"{HEAD}1,?\n", "rows without a label"),
    (HEAD, "holds no samples"), ("@relation r\n@attribute a numeric\n", "it has no @data"),
    ("a,b\n1,2\n", "'a,b' stands before its @data"),
    (HEAD.replace("numeric", "string") + "q,x\n", "of the type text"),
    (HEAD.replace("{x,y}", "{x,y") + "1,x\n", "has no end"), (f"{HEAD}1,x\n2,x\n", "the same label"),
    ("@relation r\n@data\n1\n", "no @attribute before"), ("@relation r\n@attribute b {x,y}\n@data\nx\n", "no other"),
    (f"{HEAD}inf,x\n1,y\n", "(NaN|infinite), first in row 0"), ("@relation r\n@attribute a\n@data\n", "and its type"),
])  # fmt: skip
def test_what_cannot_be_read_is_one_sentence(written, tmp_path, text, said):
    with pytest.raises(BoostrunError, match=said):
        draw({"name": "file_stream", "path": str(written(text))}, tmp_path)
    with pytest.raises(BoostrunError, match=r"no attribute 'klass'.*its attributes: attrib1, attrib2, class"):
        rows(written(MOA), "klass")
