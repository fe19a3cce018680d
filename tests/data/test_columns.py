"""Values of columns become numbers: each form against a few obvious lines, whatever rows stand beside a value."""

import datetime
import decimal
import math
import re

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from boostrun.data.columns import FORMS, PLAIN, Form, array_of, form_of_type, typed
from boostrun.data.deciding import Said, Seen, form_of, number_forms
from boostrun.errors import BoostrunError

EPOCH = datetime.datetime(1970, 1, 1)


def written(value: float, detail: str) -> str:
    """A number as a form writes it."""
    unit = detail[-1] if detail[-1] in "%$" else ""
    bare = detail.removesuffix(unit)
    text = f"{abs(value):,.2f}" if "234" in bare else f"{abs(value):.2f}"
    point, group = bare[-2], "," if bare.startswith("1,2") else "." if bare.startswith("1.2") else " "
    text = text.replace(",", "_").replace(".", point).replace("_", group)
    return ("-" if value < 0 else "") + {"": text, "%": f"{text} %", "$": f"${text}"}[unit]


NUMBERS = sorted(form.detail for form in FORMS if form.kind == "number")


@pytest.mark.parametrize("detail", NUMBERS)
@settings(max_examples=20)
@given(values=st.lists(st.integers(-(10**9), 10**9), min_size=1, max_size=20))
def test_numbers_of_each_form_are_read_as_they_are_meant(detail, values):
    words = [written(value / 100, detail) for value in values]
    found, bad = Form("number", detail).numbers(pa.array([*words, None, "x"]))
    assert found[:-2].tolist() == [value / 100 for value in values] and np.isnan(found[-2:]).all()
    assert bad.tolist() == [False] * (len(words) + 1) + [True] and detail in number_forms(words)


DAYS = {
    "2024-01-31": "%Y-%m-%d", "31.01.2024": "%d.%m.%Y", "31/01/2024": "%d/%m/%Y", "01/31/2024": "%m/%d/%Y",
    "31/01/24": "%d/%m/%y", "01/31/24": "%m-%d-%y", "31 Jan 2024": "%d %b %Y", "Jan 31, 2024": "%B %d, %Y",
    "31 Jan 24": "%d-%b-%y", "2024-Jan-31": "%Y-%b-%d", "20240131": "%Y%m%d",
}  # fmt: skip


@pytest.mark.parametrize("detail", DAYS)
@pytest.mark.parametrize("clock", ["", " %H:%M", "T%H:%M:%S", " %I:%M %p", " %H:%M:%S.%f"])
@settings(max_examples=10)
@given(moments=st.lists(st.datetimes(datetime.datetime(1970, 1, 1), datetime.datetime(2068, 12, 31)), min_size=1))
def test_dates_of_each_form_are_the_seconds_that_python_counts(detail, clock, moments):
    words = [moment.strftime(DAYS[detail] + clock) for moment in moments]
    meant = [datetime.datetime.strptime(word, DAYS[detail] + clock) - EPOCH for word in words]
    found, bad = Form("date", detail).numbers(pa.array(words))
    assert not bad.any() and found == pytest.approx([each.total_seconds() for each in meant], abs=1e-6)


TYPES = {
    "int8": [1, None, -3], "int64": [2**60 + 1, None, -5], "uint64": [2**64 - 1, 0, None], "float32": [0.1, None, 2.5],
    "float64": [0.1, math.inf, None], "bool": [True, None, False], "decimal": [decimal.Decimal("1.25"), None],
    "date32": [datetime.date(2024, 1, 31), None], "timestamp[s]": [EPOCH + datetime.timedelta(days=9), None],
    "timestamp[ns]": [datetime.datetime(2024, 1, 31, 5, 6, 7, 8), None], "time32[s]": [datetime.time(1, 2, 3), None],
    "duration[us]": [datetime.timedelta(hours=1, microseconds=5), None], "null": [None, None],
}  # fmt: skip


def expected(value):
    if isinstance(value, datetime.datetime):
        return (value - EPOCH).total_seconds()
    if isinstance(value, datetime.date):
        return float((value - EPOCH.date()).days * 86400)
    if isinstance(value, datetime.time):
        return float(value.hour * 3600 + value.minute * 60 + value.second)
    return value.total_seconds() if isinstance(value, datetime.timedelta) else float(value)


@pytest.mark.parametrize("name", TYPES)
def test_values_of_arrow_types_are_numbers_and_do_not_depend_on_their_neighbours(name):
    kinds = {"decimal": pa.decimal128(9, 2), "timestamp[s]": pa.timestamp("s", "UTC"), "null": pa.null()}
    column = pa.array(TYPES[name], kinds.get(name) or pa.type_for_alias(name))
    found = typed(column)
    for value, number, row in zip(TYPES[name], found, range(len(column))):
        alone = typed(column.slice(row, 1))[0]
        same = (value is None and math.isnan(number)) or number == pytest.approx(expected(value), rel=1e-7)
        assert same and (alone == number or math.isnan(number)), (name, value, number)
    assert typed(column.dictionary_encode() if name not in ("null", "decimal") else column) is not None
    assert form_of_type(column.type).kind in ("number", "flag", "date", "time")


def test_values_that_are_no_numbers_are_a_sentence():
    for column in (pa.array([[1], [2]]), pa.array([{"a": 1}]), pa.array([b"x"])):
        with pytest.raises(BoostrunError, match="are no numbers, text or dates"):
            typed(column)


def decided(words, rows=30, **said):
    try:
        return form_of("x", "t.csv", Seen({word: (3, row) for row, word in enumerate(words)}, rows), Said(**said))
    except BoostrunError as error:
        return str(error)


@pytest.mark.parametrize(
    ("words", "said", "form"),
    [
        (["1.5", "-2", "+3", "1e5", ".5", "2."], {}, PLAIN),
        (["1,50", "2,3"], {}, Form("number", "1,5")),
        (["1,234", "12,345"], {"commas_separate": True}, Form("number", "1,234.5")),
        (["1,234", "12,345"], {}, "with or without thousands: dataset.decimal=point or dataset.decimal=comma"),
        (["1,234", "12,345"], {"decimal": "comma"}, Form("number", "1,5")),
        (["1,234", "12,345"], {"decimal": "point"}, Form("number", "1,234.5")),
        (["1,234", "12,345"], {"commas_are_decimal": True}, Form("number", "1,5")),
        (["1.234", "2.345"], {"commas_are_decimal": True}, "dataset.decimal=point"),
        (["1.234", "2.345"], {"decimal": "comma"}, Form("number", "1.234,5")),
        (["0,123", "1,234"], {}, Form("number", "1,5")),
        (["1,234.50", "7"], {}, Form("number", "1,234.5")),
        (["1.234,50", "7"], {}, Form("number", "1.234,5")),
        (["1 234", "7"], {}, Form("number", "1 234.5")),
        (["5%", "7.5 %"], {}, Form("number", "1.5%")),
        (["$5", "-$1,000.25"], {}, Form("number", "1,234.5$")),
        (["(5.5)", "3", "4-"], {}, PLAIN),
        (["true", "False"], {}, Form("flag", "")),
        (["2024-01-31", "2024-02-01 10:00"], {}, Form("date", "2024-01-31")),
        (["31/1/2024", "1/2/2024"], {}, Form("date", "31/01/2024")),
        (["1/2/2024", "3/4/2024"], {}, "day or month first.*date_dmy"),
        (["1/2/2024", "3/4/2024"], {"kind": "date_mdy"}, Form("date", "01/31/2024")),
        (["1:30", "12:45:10"], {}, Form("time", "12:30")),
        (["[1, 2]", "[3, 4]"], {}, r"a list.*dataset.drop=\[x\]"),
        (["1", "2", "?"], {}, r"2 in row|first \? in row 3: dataset.na=\[\?\].*dataset.types=\{x: category\}"),
        (["250", "401", "V57", "E10"], {}, Form("category", "", ("250", "401", "E10", "V57"))),
        (["1", "2"], {"kind": "category"}, Form("category", "", ("1", "2"))),
        (["1", "u"], {"kind": "number"}, "'x'.* u in row 2, which is no number, and dataset.types says number"),
        (["2024-01-31", "never", "2024-01-30"], {}, "dates and 3 other values, first never in row 2"),
        (["5 kg", "7.5 kg"], {}, Form("number", "1.5 kg")),
        (["1.000,5 °C", "7,5°C"], {}, Form("number", "1.234,5 °C")),
        (["5\u00a0€", "7\u00a0€"], {}, Form("number", "1.5$")),
        (["R$ 5,00", "R$ 7,50"], {}, Form("number", "1,5$")),
        (["-inf", "inf", "1"], {}, PLAIN),
        (["–5", "3"], {}, PLAIN),
        (["5 GB", "7 MB"], {}, "'5 GB' and, in row 2, '7 MB': write all numbers in one unit"),
        (["$5", "€5"], {}, "two currencies; dataset.types={x: number}"),
        (["$5", "€5"], {"kind": "number"}, Form("number", "1.5$")),
        (["1,23", "4.5", "6"], {}, "numbers written in two ways, 1,23 in row 1 and 4.5 in row 2"),
        (["1,23", "4.5", "6"], {"kind": "number"}, "numbers written in two ways"),
        (["5%", "6"], {}, "numbers written in two ways"),
        (["13/1/2024", "1/13/2024"], {}, "dates written in two ways"),
        (["31-Jan-24", "01-Feb-24"], {}, Form("date", "31 Jan 24")),
        (["3. März 2024", "1. Mai 2024"], {}, Form("date", "31 Jan 2024")),
        (["Mon, 01 Jan 2024 10:00:00 GMT", "Tue, 02 Jan 2024 10:00:00 GMT"], {}, Form("date", "31 Jan 2024")),
        (["2024-01", "2023-12"], {}, Form("date", "2024-01")),
        (["Jan 2024", "Dec 2023"], {}, Form("date", "Jan 2024")),
        (["1/2024", "12/2023"], {}, Form("date", "01/2024")),
        (["20240131T103000Z", "20240201T103000Z"], {}, Form("date", "20240131")),
        (["20240131", "20240201"], {"kind": "date"}, Form("date", "20240131")),
        (["2024-01-31T10:00Z", "2024-01-31T11:00"], {}, "with and without a time zone: dataset.types={x: date}"),
        (["2024-W05", "2024-W06"], {}, "2024-W05 in row 1, a date or time in a form that is not read"),
        (["2024-01-31 10:00 EST", "2024-02-01 10:00 EST"], {}, "a date or time in a form that is not read"),
        (["PT5M", "PT1H30M"], {}, "a date or time in a form that is not read"),
        (["10:00:00+01:00", "11:00:00+01:00"], {}, "a date or time in a form that is not read"),
        (["2024年1月31日", "2024年2月1日"], {}, "a date or time in a form that is not read"),
        *(([word], {}, "a number in a form that is not read: write it as 1.5") for word in (
            "0xff", "1.5D+03", "120/80", '="007"', "'7", "48°51'N", "٣", "３.５", "<5", "~5", "5±1", "5'11\"", "1h 20m",
        )),
        (["10-19", "20-29"], {}, Form("category", "", ("10-19", "20-29"))),
        (["P5", "P6"], {}, Form("category", "", ("P5", "P6"))),
        (["24/01/30", "24/02/31", "24/03/30"], {}, "day or year first"),
        (["1 days 02:00:00", "-1 days +23:00:00", "0 days 00:00:05"], {}, Form("time", "12:30")),
        (["12:30 PM", "1:05 am"], {}, Form("time", "12:30")),
        (["x", "1", "2", "3"], {}, "repeats its line of names in row 1"),
        (["12:30", "1:05", "25:61"], {}, "times and 3 other values, first 25:61 in row 3"),
        (["1_0", "2_0"], {}, Form("category", "", ("1_0", "2_0"))),
        (["red", "1 red"], {}, Form("category", "", ("1 red", "red"))),
    ],
)  # fmt: skip
def test_the_texts_of_a_column_decide_its_form_or_a_sentence_says_which_key_does(words, said, form):
    found = decided(words, **said)
    if isinstance(form, str):
        assert isinstance(found, str) and re.search(form, found), found
    else:
        assert found == form


@given(st.lists(st.text("0123456789.,-% $e/:abT", min_size=1, max_size=9), min_size=1, max_size=6, unique=True))
def test_any_texts_have_a_form_that_takes_all_of_them_or_end_in_a_sentence(words):
    words = list(dict.fromkeys(word.strip() or "a" for word in words))
    found = decided(words)
    if isinstance(found, Form):
        values, bad = found.numbers(pa.array(words))
        shuffled, _ = found.numbers(pa.array(words[::-1]))
        assert np.array_equal(shuffled[::-1], values, equal_nan=True)
        assert found.kind == "date" or not bad.any()  # 31/02 looks like a date, and the table says that it is none


def test_a_category_is_its_place_among_the_known_and_minus_one_otherwise():
    form = Form("category", "", ("10", "a", "b"))
    values, bad = form.numbers(pa.array(["b", " a ", "c", None]))
    assert np.array_equal(values, [2, 1, -1, np.nan], equal_nan=True) and not bad.any()
    assert form.numbers(pa.array([10, 11]))[0].tolist() == [0, -1] == form.numbers(pa.array([10.0, 1.5]))[0].tolist()


def test_a_column_of_several_chunks_is_one_array():
    parts = [pa.array(["a", None]).dictionary_encode(), pa.array(["b"]).dictionary_encode()]
    table = pa.table({"x": pa.chunked_array(parts)})
    assert array_of(table, "x").to_pylist() == ["a", None, "b"] and array_of(table.slice(0, 0), "x").to_pylist() == []


def test_dates_and_numbers_do_not_stand_for_each_other():
    days = pa.array([EPOCH, None])
    with pytest.raises(BoostrunError, match=r"values of the type timestamp\[us\], and each should be a number"):
        PLAIN.numbers(days)
    with pytest.raises(BoostrunError, match="values of the type int64, and each should be a date"):
        Form("date", "2024-01-31").numbers(pa.array([5]))
    assert np.isnan(Form("date", "2024-01-31").numbers(pa.array([None, math.nan]))[0]).all()


def test_times_with_days_signs_and_halves_of_the_day_are_seconds():
    seconds = {"1 days 02:03:04.5": 93784.5, "-1 days +23:00:00": -3600, "-1:30": -5400, "12:30 PM": 45000,
               "12:05 am": 300, "1:00 pm": 46800, "26:00": 93600, "-1 day, 2:00:00": -79200}  # fmt: skip
    assert Form("time", "12:30").numbers(pa.array([*seconds]))[0].tolist() == [*seconds.values()]


def test_months_have_names_in_several_languages_and_numbers_may_stand_before_a_unit():
    words = ["3. März 2024", "3 août 2024", "3 de mayo de 2024", "3 Okt 2024", "3 dicembre 2024", "3rd June 2024"]
    days = Form("date", "31 Jan 2024").numbers(pa.array(words))[0] / 86400
    assert days.tolist() == [(datetime.datetime(2024, m, 3) - EPOCH).days for m in (3, 8, 5, 10, 12, 6)]
    values, bad = Form("number", "1.234,5 kg").numbers(pa.array(["1.000,5 kg", "-2kg", "3", "4 lb", None]))
    assert values[:2].tolist() == [1000.5, -2] and bad.tolist() == [False, False, True, True, False]
