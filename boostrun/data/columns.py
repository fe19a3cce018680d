"""The columns of a table: the form of a column's values, and its values as numbers.

A column of text may hold numbers, dates, times, truth values or categories, see :mod:`boostrun.data.deciding`. A
:class:`Form` turns each value into the same number, whichever other rows stand beside it: in training and, saved with
the model, for new rows.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from boostrun.errors import BoostrunError

UNSEEN = -1.0
"""The number for a text that the training part of a table does not have."""

# -- numbers as text: an example of each form, its pattern, and the replacements that make it a number

_GROUP = "['’\u00a0\u202f ]"
NUMBERS: dict[str, tuple[str, tuple[tuple[str, str], ...]]] = {
    "1.5": (r"(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", ()),
    "1,5": (r"(?:\d+,?\d*|,\d+)(?:[eE][+-]?\d+)?", ((",", "."),)),
    "1,234.5": (r"(?:[1-9]\d{0,2}(?:,\d{2,3})*,\d{3}|\d+)(?:\.\d*)?", ((",", ""),)),
    "1.234,5": (r"(?:[1-9]\d{0,2}(?:\.\d{3})+|\d+)(?:,\d*)?", ((r"\.", ""), (",", "."))),
    "1 234.5": (rf"(?:[1-9]\d{{0,2}}(?:{_GROUP}\d{{3}})+|\d+)(?:\.\d*)?", ((_GROUP, ""),)),
    "1 234,5": (rf"(?:[1-9]\d{{0,2}}(?:{_GROUP}\d{{3}})+|\d+)(?:,\d*)?", ((_GROUP, ""), (",", "."))),
}  # fmt: skip
NEGATIVE = (("^[−–]", "-"), (r"^\((.*\d.*)\)$", r"-\1"), (r"^(\d.*\d|\d)-$", r"-\1"))  # of book-keepers, too
_SAID = {
    "1,5": "decimal commas", "1,234.5": "commas between thousands", "1.234,5": "dots between thousands",
    "1 234.5": "blanks between thousands", "1 234,5": "blanks between thousands, decimal commas",
    "%": "percent", "$": "currency",
}  # fmt: skip
SIGN, GAP = "[+-]?", "[ \u00a0\u202f]?"
_MONEY = "(?:(?:US|NZ|HK|[ACRS])?[$]|[€£¥₹₽₩₺₫]|USD|EUR|GBP|CHF|JPY|INR|CNY|kr|zł|Kč)"
UNITS = {"": ("", ""), "%": ("", f"{GAP}%"), "$": (f"(?:{_MONEY}{GAP})?", f"(?:{GAP}{_MONEY})?")}
UNIT = re.compile(rf"[%]|{_MONEY}")
_EDGES = rf"^({SIGN})(?:{_MONEY}{GAP})?({SIGN})|{GAP}(?:%|{_MONEY})$"
INFINITE = re.compile("[+-]?inf(?:inity)?", re.IGNORECASE)
MEASURED = re.compile(rf"(.*[\d.,)]){GAP}((?:[^\W\d_]|[°µ²³/]){{1,8}})")  # a number and its unit: 5 kg
SCALES = {"k", "m", "b", "kb", "mb", "gb", "tb", "mm", "cm", "km", "in", "ft", "mg", "g", "kg", "lb", "lbs", "oz",
           "ml", "ms", "sec", "min", "hrs", "hz", "khz", "mhz", "ghz"}  # fmt: skip

# -- dates and times: an example of each form, its pattern, and how it becomes year-month-day

CLOCK = r"(?:[T ]+\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?(?:\s?[ap]\.?m\.?)?|T\d{6})"
ZONE = r"\s?(?:Z|UTC|GMT|[+-]\d{2}(?::?\d{2})?)"
_AT = r"(?::|T\d{6})"  # in a moment of a day
_DAY, _MONTH = r"(?:0?[1-9]|[12]\d|3[01])", r"(?:0?[1-9]|1[0-2])"
_NAMES = (  # in English, German, French, Spanish, Italian, Portuguese and Dutch
    "jan|jän|ene|gen", "feb|fev|fév", "mar|mär|maa|mrt", "apr|avr|abr", "may|mai|mei|mag", "jun|juin|giu",
    "jul|juil|lug", "aug|août|aou|ago", "sep|set", "oct|okt|ott|out", "nov", "dec|dez|déc|dic",
)  # fmt: skip
_LETTERS = "[a-zà-ÿ]"
_NAME = rf"(?:{'|'.join(_NAMES)}){_LETTERS}*\.?"
_WEEKDAY = r"(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*,? )?"
_NTH, _OF = r"(?:st|nd|rd|th|\.)?", "(?:de )?"
DATES: dict[str, tuple[str, str, str]] = {
    "2024-01-31": (rf"\d{{4}}([-/.]){_MONTH}[-/.]{_DAY}", r"^(\d{4})[-/.](\d+)[-/.](\d+)", r"\1-\2-\3"),
    "31.01.2024": (rf"{_DAY}\.{_MONTH}\.\d{{4}}", r"^(\d+)\.(\d+)\.(\d{4})", r"\3-\2-\1"),
    "31/01/2024": (rf"{_DAY}[-/]{_MONTH}[-/]\d{{4}}", r"^(\d+)[-/](\d+)[-/](\d{4})", r"\3-\2-\1"),
    "01/31/2024": (rf"{_MONTH}[-/]{_DAY}[-/]\d{{4}}", r"^(\d+)[-/](\d+)[-/](\d{4})", r"\3-\1-\2"),
    "31/01/24": (rf"{_DAY}[-/.]{_MONTH}[-/.]\d{{2}}", r"^(\d+)[-/.](\d+)[-/.](\d{2})", r"\3-\2-\1"),
    "01/31/24": (rf"{_MONTH}[-/]{_DAY}[-/]\d{{2}}", r"^(\d+)[-/](\d+)[-/](\d{2})", r"\3-\1-\2"),
    "31 Jan 2024": (
        rf"{_WEEKDAY}{_DAY}{_NTH}[-/ ]+{_OF}{_NAME}[-/ ]{_OF}\d{{4}}",
        rf"^{_WEEKDAY}(\d+){_NTH}[-/ ]+{_OF}({_LETTERS}+)\.?[-/ ]{_OF}(\d{{4}})", r"\3-\2-\1",
    ),
    "31 Jan 24": (rf"{_DAY}[-/ ]{_NAME}[-/ ]\d{{2}}", rf"^(\d+)[-/ ]({_LETTERS}+)\.?[-/ ](\d{{2}})", r"\3-\2-\1"),
    "Jan 31, 2024": (
        rf"{_WEEKDAY}{_NAME} {_DAY}{_NTH},? \d{{4}}",
        rf"^{_WEEKDAY}({_LETTERS}+)\.? (\d+){_NTH},? (\d{{4}})", r"\3-\1-\2",
    ),
    "2024-Jan-31": (rf"\d{{4}}[-/ ]{_NAME}[-/ ]{_DAY}", rf"^(\d{{4}})[-/ ]({_LETTERS}+)\.?[-/ ](\d+)", r"\1-\2-\3"),
    "Jan 2024": (rf"{_NAME}[-/ ]\d{{4}}", rf"^({_LETTERS}+)\.?[-/ ](\d{{4}})", r"\2-\1-01"),
    "2024-01": (r"(?:1[89]|2[01])\d\d-(?:0[1-9]|1[0-2])", r"^(\d{4})-(\d+)", r"\1-\2-01"),
    "01/2024": (rf"{_MONTH}[-/](?:1[89]|2[01])\d\d", r"^(\d+)[-/](\d{4})", r"\2-\1-01"),
    "20240131": (r"(?:1[89]|2[01])\d{6}", r"^(\d{4})(\d{2})(\d{2})", r"\1-\2-\3"),
}  # fmt: skip
ORDERS = {"dmy": ("31/01/2024", "31/01/24"), "mdy": ("01/31/2024", "01/31/24")}
TIME = r"-?(?:\d+ days?,? \+?)?\d{1,4}:[0-5]\d(?::\d{2}(?:\.\d{1,9})?)?(?:\s?[apAP][mM])?"
_PARTS = (r"^(?P<sign>-?)(?:(?P<d>\d+) days?,? \+?)?(?P<h>\d+):(?P<m>\d{2})(?::(?P<s>\d{2}(?:\.\d+)?))?"
          r"(?:\s?(?P<half>[apAP])[mM])?$")  # fmt: skip
DATE_LIKE = re.compile(
    rf"(?:1[89]|2[01])\d\d[-/. ]?(?:w\d\d|q[1-4]).*|q[1-4][-/. ]?(?:1[89]|2[01])\d\d|{_NAME}[-/ ']+\d\d|"
    rf"\d{{4}}[-/.]{_MONTH}[-/.]{_DAY}[T ].*\d.*|\d+:\d\d.*[-/.]\d{{4}}|{_WEEKDAY}{_NAME} +{_DAY} .*\d:\d\d.*|"
    r"\d{4}年.*\d.*|pt(?:\d+[hms])+|\d+h\d\d|\d+:\d\d(?::\d\d)?\s?[+-]\d\d:?\d\d|\d+(?::\d\d){3}",
    re.IGNORECASE,
)  # fmt: skip
"""Dates that no form reads: weeks, quarters, months of two digits of a year, named time zones, PT5M."""
NUMBER_LIKE = re.compile(
    r"0x[\da-f]+|[+-]?\d+\.?\d*d[+-]?\d+|[+-]?\d+/\d+|=\"[\d.,]*\"|'[+-]?\d[\d.,]*|\d+°.*|"
    r"[~≈<>≤≥]=?\s?\d[\d.,]*|\d[\d.,]*\s?±\s?\d[\d.,]*|\d+'\s?\d+\"?|\d+\s?h(?:ours?)?\s?\d+\s?m.*|"
    r"(?=.*[^\x00-\x7f])[+-]?\d[\d.,\u066b\u066c]*",
    re.IGNORECASE,
)
"""Numbers that no form reads: 0xff, 1D+03, 120/80, ="007", '7, degrees and minutes, <5, 5±1, 5'11", 1h 20m, digits of
other scripts.
"""
BLANKS = "".join(filter(str.isspace, map(chr, range(0x3001)))) + "\u200b\u200e\u200f\u2060\ufeff"
"""Blanks and invisible marks, which count at neither end of a value."""

FLAGS = {"true": 1.0, "false": 0.0}
KINDS = ("number", "category", "date", "date_dmy", "date_mdy", "drop")
"""What ``dataset.types`` may say of a column."""


class Form(NamedTuple):
    """How the values of a column become numbers.

    ``kind`` is number, flag, date, time or category; ``detail`` an example of a number or date as the column writes it;
    ``words`` the categories of the training part, sorted: a category becomes its place among them, or -1.

    >>> import pyarrow
    >>> Form("number", "1.234,5").numbers(pyarrow.array(["1.000,5", None, "x"]))
    (array([1000.5,    nan,    nan]), array([False, False,  True]))
    >>> Form("date", "31.01.2024").numbers(pyarrow.array(["1.1.1970 00:01"]))[0]
    array([60.])
    """

    kind: str
    detail: str = "1.5"
    words: tuple[str, ...] = ()

    def numbers(self, column: Any) -> tuple[np.ndarray, np.ndarray]:
        """The values of a pyarrow array, (n,) float64, NaN where missing; and (n,) bool, the values of no such form.

        Dates are seconds since 1970 (UTC without a zone), times seconds. Values that are not text keep their own
        meaning. Raises BoostrunError for lists and other nested values, and for dates or times that meet another kind.
        """
        if self.kind == "category":
            return self._places(as_text(column))
        found = typed(column)
        if found is not None:
            kinds = {self.kind, form_of_type(column.type).kind}
            if len(kinds) > 1 and kinds & {"date", "time"} and not np.isnan(found).all():
                raise BoostrunError(f"values of the type {column.type}, and each should be a {self.kind}")
            return found, np.zeros(len(found), bool)
        column, convert = as_text(column), {"flag": _flags, "date": _dates, "time": _times}.get(self.kind, _numbers)
        return convert(column, self.detail)

    def said(self) -> str:
        """The form in words, for a line to the user; empty for plain numbers, truth values and categories."""
        if self.kind == "number":
            bare, unit = bare_of(self.detail)
            parts = [_SAID.get(bare, ""), _SAID.get(unit, f"numbers before {unit!r}" if unit else "")]
            return ", ".join(filter(None, parts))
        return {"date": f"dates such as {self.detail}, as seconds", "time": "times, as seconds"}.get(self.kind, "")

    def _places(self, column: Any) -> tuple[np.ndarray, np.ndarray]:
        known = np.array(self.words) if self.words else np.array([""])
        missing = np.asarray(column.is_null())
        words = np.array(column.fill_null("").to_pylist(), dtype=object)
        values = words.astype(str) if len(words) else np.empty(0, "U1")
        places = np.minimum(np.searchsorted(known, values), len(known) - 1)
        found = np.where(known[places] == values, places, UNSEEN)
        return np.where(missing, np.nan, found), np.zeros(len(found), bool)


PLAIN = Form("number")
FORMS = {Form("flag", ""), *(Form("date", detail) for detail in DATES), Form("time", "12:30"),
         *(Form("number", detail + unit) for detail in NUMBERS for unit in UNITS)}  # fmt: skip
"""All forms but categories and numbers before a unit."""


def is_form(form: Form) -> bool:
    """Whether a form is one of these, or of numbers before a unit such as "1.5 kg".

    >>> is_form(Form("number", "1,5 kg")), is_form(Form("number", "five"))
    (True, False)
    """
    bare, unit = bare_of(form.detail)
    measured = form.kind == "number" and bare and not form.words and MEASURED.fullmatch(f"1 {unit}")
    return form in FORMS or (bool(measured) and form.detail == f"{bare} {unit}")


def bare_of(detail: str) -> tuple[str, str]:
    """The form of a number, and its unit: "%", "$" for all currencies, another one, or ""."""
    bare = next((each for each in NUMBERS if detail.startswith(each)), "")
    return bare, detail[len(bare) :].strip()


def typed(column: Any) -> np.ndarray | None:
    """The values of a pyarrow array of numbers, truth values or times, (n,) float64, NaN where missing; None for text.

    Timestamps and dates are seconds since 1970 (UTC), times and durations seconds, each the nearest double. Raises
    BoostrunError for lists and other nested values.
    """
    import pyarrow as pa
    from pyarrow import compute, types

    kind = column.type
    if types.is_dictionary(kind):
        return typed(column.dictionary_decode()) if not _is_text(kind.value_type) else None
    if _is_text(kind):
        return None
    if types.is_null(kind):
        return np.full(len(column), np.nan)
    if types.is_date32(kind):
        column, kind = column.cast(pa.timestamp("s")), pa.timestamp("s")
    elif types.is_date64(kind):
        column, kind = column.cast(pa.timestamp("ms")), pa.timestamp("ms")
    if types.is_timestamp(kind) or types.is_time(kind) or types.is_duration(kind):
        a_second = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[kind.unit]
        ticks = column.cast(pa.int32() if types.is_time32(kind) else pa.int64())
        ticks = ticks.cast(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False)
        return np.where(np.asarray(column.is_null()), np.nan, ticks // a_second + (ticks % a_second) / a_second)
    if not (types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind) or types.is_decimal(kind)):
        raise BoostrunError(f"values of the type {kind}, which are no numbers, text or dates")
    if types.is_uint64(kind) or types.is_int64(kind):  # a cast refuses numbers that are no doubles
        found = column.fill_null(0).to_numpy(zero_copy_only=False).astype(np.float64)
        return np.where(np.asarray(column.is_null()), np.nan, found) if column.null_count else found
    return compute.cast(column, pa.float64(), safe=False).to_numpy(zero_copy_only=False)


def form_of_type(kind: Any) -> Form:
    """The form in which values of an Arrow type are read from text: truth values, dates, times, or numbers."""
    from pyarrow import types

    if types.is_dictionary(kind):
        return form_of_type(kind.value_type)
    if types.is_boolean(kind):
        return Form("flag", "")
    if types.is_timestamp(kind) or types.is_date(kind):
        return Form("date", "2024-01-31")
    return Form("time", "12:30") if types.is_time(kind) or types.is_duration(kind) else PLAIN


def as_text(column: Any) -> Any:
    """A pyarrow array as text without blanks at both ends; whole numbers are written without a fraction.

    Null and NaN are null. Raises BoostrunError for lists and other nested values.
    """
    import pyarrow as pa
    from pyarrow import compute, types

    if types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if types.is_floating(column.type):
        values = [None if value is None or np.isnan(value) else _short(value) for value in column.to_pylist()]
        return pa.array(values, pa.large_string())
    if types.is_boolean(column.type):
        return pa.array([None if value is None else str(value) for value in column.to_pylist()], pa.large_string())
    if not _is_text(column.type) or not types.is_large_string(column.type):
        try:
            column = column.cast(pa.large_string())
        except pa.ArrowException:
            raise BoostrunError(f"values of the type {column.type}, which are no text") from None
    return compute.utf8_trim(column, BLANKS)


def _short(value: float) -> str:
    return str(int(value)) if value == value // 1 and abs(value) < 2**63 else repr(value)


def _is_text(kind: Any) -> bool:
    from pyarrow import types

    return types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind)


def without(column: Any, missing: Sequence[str]) -> Any:
    """A column of text in which the words that stand for a missing value are null."""
    import pyarrow as pa
    from pyarrow import compute

    if not _is_text(column.type):
        return column
    gone = compute.is_in(column, value_set=pa.array(list(missing), column.type))
    return compute.if_else(gone, pa.scalar(None, column.type), column)


def array_of(table: Any, name: str) -> Any:
    """A column of an Arrow table as one array."""
    column = table.column(table.schema.get_field_index(name))
    return column.chunk(0) if column.num_chunks == 1 else column.unify_dictionaries().combine_chunks()


def without_blank_rows(table: Any, label: str) -> Any:
    """The rows of an Arrow table that have a label or another value: Excel writes rows of separators."""
    import pyarrow as pa

    gone = _is_blank(array_of(table, label))
    for name in table.schema.names if gone.any() else ():
        gone &= _is_blank(array_of(table, name))
    return table.filter(pa.array(~gone)) if gone.any() else table


def _is_blank(column: Any) -> np.ndarray:
    from pyarrow import compute

    text = str(column.type) == "large_string"
    found = compute.equal(compute.utf8_trim_whitespace(column), "") if text else column.is_null()
    return np.asarray(compute.fill_null(found, True))


def blanked(values: np.ndarray, missing: Sequence[str]) -> np.ndarray:
    """Numbers, with NaN for those that stand for a missing value, such as "-999".

    >>> blanked(np.array([1.0, -999.0]), ("", "-999"))
    array([ 1., nan])
    """
    marks = _numbers_among(tuple(missing))
    return np.where(np.isin(values, marks), np.nan, values) if marks else values


@functools.lru_cache
def _numbers_among(words: tuple[str, ...]) -> list[float]:
    return [float(word) for word in words if re.fullmatch(r"[+-]?[0-9]+\.?[0-9]*", word)]


def clocks(column: Any) -> dict[bool, int]:
    """The places of the first moment with a time zone (True) and without one (False) in a pyarrow array of text.

    >>> import pyarrow
    >>> clocks(pyarrow.array(["2024-01-31", "2024-01-31 10:00", None, "2024-01-31T10:00Z"]))
    {True: 3, False: 1}
    """
    found = {}
    if _is_text(column.type):
        zoned = _matching(column, rf"\s*(?i:.*{_AT}.*{ZONE})\s*")
        for zone, rows in ((True, zoned), (False, _matching(column, f"(?i:.*{_AT}.*)") & ~zoned)):
            if rows.any():
                found[zone] = int(rows.argmax())
    return found


def _matching(column: Any, pattern: str) -> np.ndarray:
    from pyarrow import compute

    return np.asarray(compute.match_substring_regex(column, f"^(?:{pattern})$").fill_null(False))


def _replaced(column: Any, pattern: str, by: str) -> Any:
    from pyarrow import compute

    return compute.replace_substring_regex(column, pattern, by)


def _cast(column: Any, good: np.ndarray, kind: Any) -> Any:
    import pyarrow as pa
    from pyarrow import compute

    return compute.cast(compute.if_else(pa.array(good), column, pa.scalar(None, column.type)), kind)


def _numbers(column: Any, detail: str) -> tuple[np.ndarray, np.ndarray]:
    import pyarrow as pa

    bare, unit = bare_of(detail)
    pattern, replacements = NUMBERS[bare]
    before, after = UNITS.get(unit) or ("", "")
    if unit not in UNITS:
        measured, unit = _matching(column, f".*{GAP}{re.escape(unit)}"), ""
        column = _replaced(column, f"{GAP}{re.escape(bare_of(detail)[1])}$", "")
    else:
        measured = np.ones(len(column), bool)
    for old, new in NEGATIVE:
        column = _replaced(column, old, new)
    good = _matching(column, f"{SIGN}{before}{SIGN if unit else ''}{pattern}{after}|[+-]?(?i:inf|infinity)")
    good &= measured
    if unit:
        column = _replaced(column, _EDGES, r"\1\2")
    for old, new in replacements:
        column = _replaced(column, old, new)
    values = _cast(_replaced(column, r"^\+", ""), good, pa.float64()).to_numpy(zero_copy_only=False)
    return values, ~good & ~np.asarray(column.is_null())


def _flags(column: Any, detail: str) -> tuple[np.ndarray, np.ndarray]:
    from pyarrow import compute

    lower = compute.utf8_lower(column)
    found = np.full(len(column), np.nan)
    for word, value in FLAGS.items():
        found[np.asarray(compute.equal(lower, word).fill_null(False))] = value
    return found, np.isnan(found) & ~np.asarray(column.is_null())


def _dates(column: Any, detail: str) -> tuple[np.ndarray, np.ndarray]:
    import pyarrow as pa
    from pyarrow import compute

    given = compute.utf8_lower(column)
    day, old, new = DATES[detail]
    fitting = _matching(given, f"(?i:{day}{CLOCK}?)")
    zoned = _matching(given, f"(?i:{day}{CLOCK}{ZONE})") & ~fitting
    noon = np.zeros(len(column))  # 3 pm is 15:00, 12 am is 0:00
    for half, first, hours in (("p", r"0?[1-9]|1[01]", 12), ("a", "12", -12)):
        noon += 3600.0 * hours * _matching(given, rf".*[t ](?:{first}):.*{half}\.?m\.?")
    text = _replaced(_replaced(given, r"\s?[ap]\.?m\.?$", ""), old, new)
    text = _replaced(text, r"t(\d{2})(\d{2})(\d{2})", r" \1:\2:\3")
    if detail.endswith(("/24", " 24")):
        text = _replaced(_replaced(text, r"^([0-6]\d-)", r"20\1"), r"^([7-9]\d-)", r"19\1")
    if "Jan" in detail:
        for number, name in enumerate(_NAMES, 1):
            text = _replaced(text, rf"-(?:{name}){_LETTERS}*-", f"-{number:02}-")
    for _ in range(2):  # neighbours overlap
        text = _replaced(text, r"([-t :])(\d)([-t :]|$)", r"\10\2\3")
    text = _replaced(_replaced(_replaced(text, r"[t ]+(\d)", r" \1"), ",", "."), r"(\.\d{6})\d+", r"\1")
    seconds = np.full(len(column), np.nan)
    for rows, kind in ((fitting, pa.timestamp("us")), (zoned, pa.timestamp("us", "UTC"))):
        if rows.any():
            part = text.filter(pa.array(rows))
            if kind.tz:
                part = _replaced(_replaced(part, r"\s?(?:z|utc|gmt)$", "Z"), r"(:.*)([+-]\d{2})$", r"\1\2:00")
                part = _replaced(part, r"\s?([+-]\d{2}):?(\d{2})$", r"\1:\2")
            seconds[rows] = _moments(part, kind)
    seconds += noon
    return seconds, np.isnan(seconds) & ~np.asarray(column.is_null())


def _moments(text: Any, kind: Any) -> np.ndarray:
    """Seconds since 1970 of texts such as "2024-01-31 12:00"; NaN for a day that is in no calendar."""
    import pyarrow as pa

    try:
        return typed(text.cast(kind))  # type: ignore[return-value]
    except pa.ArrowInvalid:
        found = np.full(len(text), np.nan)
        for word, places in _places_of(text).items():
            try:
                found[places] = typed(pa.array([word]).cast(kind))
            except pa.ArrowInvalid:
                continue
        return found


def _places_of(column: Any) -> dict[str, np.ndarray]:
    packed = column.dictionary_encode()
    codes = packed.indices.to_numpy(zero_copy_only=False)
    return {word: np.flatnonzero(codes == code) for code, word in enumerate(packed.dictionary.to_pylist())}


def _times(column: Any, detail: str) -> tuple[np.ndarray, np.ndarray]:
    import pyarrow as pa
    from pyarrow import compute

    good = _matching(column, TIME)
    parts = compute.extract_regex(column, _PARTS)
    found = {}
    for field in ("d", "h", "m", "s"):
        part = compute.struct_field(parts, field)
        filled = compute.if_else(compute.equal(part, ""), pa.scalar("0", part.type), part)
        found[field] = _cast(filled, good, pa.float64()).to_numpy(zero_copy_only=False).copy()
    minus = np.where(_matching(column, "-.*"), -1.0, 1.0)
    for half, late in (("a", 0.0), ("p", 12.0)):
        rows = _matching(column, rf"(?i:.*{half}m)")
        found["h"][rows] = found["h"][rows] % 12 + late
    total = 3600 * found["h"] + 60 * found["m"] + found["s"]
    total = np.where(found["d"] > 0, minus * 86400 * found["d"] + total, minus * total)  # -1 days +23:00:00
    return np.where(good, total, np.nan), ~good & ~np.asarray(column.is_null())
