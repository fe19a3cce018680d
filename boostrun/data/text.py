"""Tables of text: how a file is written, judged by its first rows, and its rows as Arrow tables of words.

A :class:`TextTable` is the one description that a run, an export and a prediction share: encoding, separator, line of
names. Rows are parsed by Arrow; where a file needs more patience (runs of blanks as separators, blanks before quotes,
rows that end early) by Python's csv module, whose result is the same.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import itertools
import re
import sys
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from boostrun.data.columns import BLANKS
from boostrun.data.deciding import number_forms
from boostrun.data.files import TooMuch, reading
from boostrun.errors import BoostrunError

MISSING = (
    "", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>", "N/A", "NA",
    "NULL", "NaN", "None", "n/a", "nan", "null",
)  # fmt: skip
"""Words that stand for a missing value of a feature unless ``dataset.na`` gives others: the list of pandas."""

SEPARATORS = {"comma": ",", "semicolon": ";", "tab": "\t", r"\t": "\t", "bar": "|", "blank": " "}
_HEAD = 1 << 18  # bytes by which a file is judged
_JUDGED = 400  # rows
_SHARE = 64  # a block of text is this part of the memory
_MOST_TEXT = 1 << 21  # bytes of a block; larger ones are slower
_ROWS = 100  # of wide tables in a block, at least: each of its columns takes time
_A_COLUMN = 4096  # bytes that a column takes in a block, besides its values
_FIT = 0.9  # share of rows that must have the usual number of cells
_FEW = 4  # rows, too few to judge by
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|$)")
_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF32_LE, "utf-32-le"), (codecs.BOM_UTF32_BE, "utf-32-be"),
          (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))  # fmt: skip
_OTHERS = {b"PK\x03\x04": "a zip or Excel file", b"PAR1": "a Parquet file", b"ARROW1": "an Arrow file",
           b"\x1f\x8b": "packed by gzip", b"%PDF": "a PDF file", b"\x89PNG": "a picture"}  # fmt: skip
_OTHER_TEXTS = {
    r'\s*(?:\[\s*)?\{\s*"': "JSON", r"(?i)\s*<(?:!doctype|html|\?xml|table)": "HTML or XML",
    r"[+-]?\d+(?:\.\d+)?(?:[ ]+\d+:[-+.\deE]+)+[ ]*[\r\n]": "of svmlight's format",
}  # fmt: skip


class NotNumbers(BoostrunError):
    """A column that was read as numbers, which it names, holds text."""


class TextLayout(NamedTuple):
    """How a table of text is written: its encoding, its separator, and whether a line of names comes first.

    ``first`` is the number of bytes before the first sample, ``patient`` tells that the csv module must read it.
    """

    encoding: str
    separator: str
    named: bool
    names: tuple[str, ...]
    first: int
    patient: bool
    rows: list[list[str]]


class TextTable:
    """A table in a file of text, may end in .gz, or on standard input.

    Parameters
    ----------
    where : str, names it in messages
    source : Path, or None for standard input, which is read once
    options : keys ``sep``, ``header``, ``encoding``; each may be absent or None: judged by the first rows
    memory_mb : int, memory for reading, in MiB
    wanted : names of columns that help to tell a line of names from a sample

    Attributes
    ----------
    names : tuple of str, the columns; "0", "1", ... without a line of names
    layout : TextLayout

    Raises BoostrunError for an empty or unreadable file, and for two columns of one name.
    """

    def __init__(
        self, where: str, source: Path | None, options: Mapping[str, Any], memory_mb: int = 1024,
        wanted: Collection[str] = (),
    ):  # fmt: skip
        self.where, self.source, self.memory_mb = where, source, memory_mb
        self._block = min((memory_mb << 20) // _SHARE, _MOST_TEXT)
        self._most = 4 * self._block + (1 << 20)  # bytes of a row
        with reading(Path(where), "a table of text"), self._bytes() as stream, _long_cells():
            self._head, self.layout = self._judged(stream, options, wanted)
        self.names = self.layout.names
        if len(self.names) * _A_COLUMN > memory_mb << 20:
            raise BoostrunError(
                f"{where} has {len(self.names)} columns, more than run.memory_mb={memory_mb} allows; "
                f"{-(-len(self.names) * _A_COLUMN >> 20)} would do"
            )

    def _judged(self, stream: Any, options: Mapping[str, Any], wanted: Collection[str]) -> tuple[bytes, TextLayout]:
        """The first bytes, as many as hold some rows, and the layout that they show."""
        head, size = b"", _HEAD
        while True:
            more = _filled(stream, size - len(head))
            head += more
            whole = len(head) < size
            if whole or head.count(b"\n") + head.count(b"\r") > 2 or size > self._most:
                layout = look(head, self.where, options, wanted, whole)
                if whole or layout.rows:
                    return head, layout
                if size > self._most:
                    raise self._too_long()
            size *= 4

    def _too_long(self) -> BoostrunError:
        return BoostrunError(
            f"{self.where} has a row of more than {max(1, self._block >> 20)} MiB of text, which takes more memory "
            f"than run.memory_mb={self.memory_mb}; raise that"
        )

    @property
    def named(self) -> bool:
        """Whether the table has a line of names."""
        return self.layout.named

    def sample(self) -> dict[str, list[str]]:
        """The words of each column in the first rows, without blanks at both ends."""
        rows = [[cell.strip(BLANKS) for cell in row] for row in self.layout.rows]
        return {name: [row[place] for row in rows if place < len(row)] for place, name in enumerate(self.names)}

    def pieces(self, numbers: Collection[str] = (), missing: Collection[str] = MISSING) -> Iterator[Any]:
        """Arrow tables of consecutive rows: text, and doubles for the columns ``numbers``, null where ``missing``.

        Raises NotNumbers if one of these holds another word, and BoostrunError if the table cannot be read.
        """
        if not self.layout.patient:
            seen = 0
            try:
                for table in self._by_arrow(numbers, missing):
                    seen += len(table)
                    yield table
                return
            except _OtherLength:
                if self.source is None:
                    raise BoostrunError(f"{self.where} has rows of different lengths; give a file") from None
                self.layout = self.layout._replace(patient=True)
                if seen:
                    raise NotNumbers from None  # the caller starts again
        yield from self._by_module()

    def _by_arrow(self, numbers: Collection[str], missing: Collection[str]) -> Iterator[Any]:
        import pyarrow as pa
        from pyarrow import csv as arrow

        types = {name: pa.float64() if name in numbers else pa.large_string() for name in self.names}
        with reading(Path(self.where), "a table of text"), self._bytes(self.layout.first) as stream:
            source = pa.PythonFile(stream, mode="r")
            if self.layout.encoding != "utf-8":
                source = pa.transcoding_input_stream(source, self.layout.encoding, "utf-8")
            row = len(self._head) // max(1, self._head.count(b"\n"))
            size = max(self._block, min(_ROWS * row, (self.memory_mb << 20) // _SHARE), 1 << 16)
            try:
                reader = arrow.open_csv(
                    source, arrow.ReadOptions(block_size=size, column_names=list(self.names)),
                    arrow.ParseOptions(delimiter=self.layout.separator, newlines_in_values=True),
                    arrow.ConvertOptions(column_types=types, null_values=list(missing), check_utf8=True),
                )  # fmt: skip
                for batch in reader:
                    yield pa.Table.from_batches([batch])
            except pa.ArrowInvalid as error:
                raise self._sentence(str(error)) from None

    def _sentence(self, text: str) -> BoostrunError:
        if "Empty CSV file" in text:
            return BoostrunError(f"{self.where} holds no rows")
        if "Expected" in text and "columns, got" in text:
            return _OtherLength()
        if "invalid UTF8" in text:
            return BoostrunError(
                f"{self.where} holds bytes that are no UTF-8; dataset.encoding=latin-1 (or cp1252, ...) names another "
                "encoding"
            )
        if "conversion error" in text:
            place = re.search(r"CSV column #(\d+)", text)
            return NotNumbers(self.names[int(place.group(1))] if place else "")
        if "straddling" in text:
            return self._too_long()
        return BoostrunError(f"{self.where} cannot be read as a table of text ({' '.join(text.split())[:160]})")

    def _by_module(self) -> Iterator[Any]:
        """The same tables, row by row: runs of blanks, blanks before quotes, and rows that end early."""
        import pyarrow as pa

        width, seen = len(self.names), 0
        with reading(Path(self.where), "a table of text"), self._bytes(self.layout.first) as stream, _long_cells():
            bounded = _Bounded(stream, self._most, str(self._too_long()))
            text = io.TextIOWrapper(io.BufferedReader(bounded), self.layout.encoding, newline="")
            rows = _rows(text, self.layout.separator)
            while True:
                bounded.renew()
                piece: list[list[str]] = []
                size = 0
                for row in rows:
                    piece.append(self._whole(row, width, seen + len(piece)))
                    size += sum(map(len, row)) + 64 * width
                    if size >= self._block:
                        break
                if not piece:
                    break
                seen += len(piece)
                yield pa.table([pa.array(column, pa.large_string()) for column in zip(*piece)], list(self.names))
        if not seen:
            raise BoostrunError(f"{self.where} holds no rows")

    def _whole(self, row: list[str], width: int, number: int) -> list[str]:
        if any(cell.strip() for cell in row[width:]):
            raise BoostrunError(f"{self.where} has {len(row)} values in row {number + 1} and {width} columns")
        if len(row) < width and any("\n" in cell or "\r" in cell for cell in row):
            raise BoostrunError(f"{self.where} opens a quote in row {number + 1} that is not closed")
        return [*row[:width], *[""] * (width - len(row))]

    @contextmanager
    def _bytes(self, first: int = 0) -> Iterator[Any]:
        if self.source is None:
            stdin = sys.stdin.buffer if sys.stdin is not None else io.BytesIO()
            head = getattr(self, "_head", b"")
            yield io.BufferedReader(_Joined(head[first:], stdin), 1 << 18) if head else stdin
            return
        with open(self.source, "rb") as file, gzip.open(file) if self.source.suffix == ".gz" else file as stream:
            if first:
                stream.seek(first)
            yield stream


@contextmanager
def _long_cells() -> Iterator[None]:
    """Within this context the csv module takes cells of any length."""
    before = csv.field_size_limit(sys.maxsize)
    try:
        yield
    finally:
        csv.field_size_limit(before)


class _OtherLength(BoostrunError):
    """A row has more or fewer cells than the table has columns."""


class _Joined(io.RawIOBase):
    """Some bytes, followed by the rest of a stream."""

    def __init__(self, head: bytes, rest):
        self._head, self._rest = head, rest

    def readable(self) -> bool:
        """True."""
        return True

    def readinto(self, buffer) -> int:
        """Fill the first bytes of ``buffer`` and return their number."""
        content = self._head[: len(buffer)] or self._rest.read(len(buffer))
        self._head = self._head[len(content) :]
        buffer[: len(content)] = content
        return len(content)


class _Bounded(_Joined):
    """A stream of which at most ``most`` bytes can be read before :meth:`renew`."""

    def __init__(self, rest, most: int, sentence: str):
        super().__init__(b"", rest)
        self._left = self._most = most
        self._sentence = sentence

    def renew(self) -> None:
        """Allow as many bytes again."""
        self._left = self._most

    def readinto(self, buffer) -> int:
        """Fill the first bytes of ``buffer`` and return their number. Raises TooMuch past the limit."""
        count = super().readinto(buffer)
        self._left -= count
        if self._left < 0:
            raise TooMuch(self._sentence)
        return count


def _filled(stream, size: int) -> bytes:
    """The next ``size`` bytes, fewer only at the end."""
    parts, left = [], size
    while left and (part := stream.read(left)):
        parts.append(part)
        left -= len(part)
    return b"".join(parts)


# -- judging the first rows


def look(
    head: bytes, where: str, options: Mapping[str, Any], wanted: Collection[str] = (), whole: bool = True
) -> TextLayout:
    """The layout of the table that begins with these bytes; keys of ``options`` that are not None decide.

    ``whole`` tells that these are all bytes of the table.

    >>> layout = look(b"temp;kind\\n1,5;a\\n2,5;b\\n", "t.csv", {})
    >>> layout.separator, layout.named, layout.names
    (';', True, ('temp', 'kind'))
    """
    if kind := next((kind for mark, kind in _OTHERS.items() if head.startswith(mark)), None):
        raise _other_kind(where, kind)
    encoding, mark = _encoding(head, options.get("encoding"), where)
    text = codecs.getincrementaldecoder(encoding)("strict").decode(head[mark:])
    if kind := next((kind for pattern, kind in _OTHER_TEXTS.items() if re.match(pattern, text)), None):
        raise _other_kind(where, kind)
    if re.search(r'[^\\]\\"[^"\s,;|]', text):
        raise BoostrunError(f"{where} has quotes written as \\\" in cells; write them as two quotes, \"\"")
    skipped = 0
    marked = re.match(r'"?sep=(.)"?[ ]*(?:\r\n|\r|\n)', text)
    if marked:
        skipped = marked.end()
    separator = options.get("sep") and SEPARATORS.get(str(options["sep"]), str(options["sep"]))
    if separator and (len(separator) > 1 or separator in '"\r\n'):
        raise BoostrunError(f"dataset.sep={separator!r} is no separator: {', '.join(SEPARATORS)}, or a character")
    separator = separator or (marked and marked.group(1)) or _separator(text[skipped:], whole)
    rows, ends = _parsed(text[skipped:], separator, whole)
    if not rows and not whole:
        return TextLayout(encoding, separator, False, ("0",), 0, True, [])
    if not rows:
        raise BoostrunError(f"{where} is empty; a table with one sample a row is expected")
    usual = Counter(map(len, rows)).most_common(1)[0][0]
    while len(rows) > 1 and (len(rows[0]) == 1 < usual or _is_remark(rows)):
        skipped_to = ends.pop(0)
        before_table = separator.join(rows.pop(0)).strip()
        print(f"boostrun: {where} has a line before the table, {before_table[:40]!r}; it is left out", file=sys.stderr)
        skipped, ends = skipped + skipped_to, [end - skipped_to for end in ends]
    header = options.get("header")
    named = _is_named(rows, wanted) if header is None else bool(header)
    samples = rows[1:] if named else rows
    words = [*_over_numbers(rows[1:])] if named and len(rows) > _FEW else []
    if len(words) > 1 and words == [*_over_numbers([rows[0], *rows[2:]])]:
        second = separator.join(rows[1])
        raise BoostrunError(f"{where} has a second line of names or units, {second[:60]!r}; remove it")
    if place := _single_quotes(samples):
        cells = separator.join(samples[0][place - 1 : place + 1])
        raise BoostrunError(f"{where} quotes cells by ', as in {cells[:40]}: write \" in place of it")
    names, width = _names(rows, samples, named, where)
    before = text[: skipped + ends[0]] if named else text[:skipped]
    other = any(len(row) != len(rows[0]) for row in rows) or width != len(rows[0])
    quotes = re.search(re.escape(separator) + r'[ ]+"', text) is not None
    return TextLayout(
        encoding, separator, named, names, mark + len(before.encode(encoding)),
        other or quotes or separator == " " or not separator.isascii(),
        samples,
    )  # fmt: skip


def _single_quotes(samples: list[list[str]]) -> int:
    """The first column with the second halves of cells that are quoted by ' and hold the separator; 0 if none does."""
    for place in range(1, min(map(len, samples), default=0)):
        pairs = [(row[place - 1].strip(), row[place].strip()) for row in samples]
        if all(one[:1] == "'" == two[-1:] and one[-1:] != "'" != two[:1] for one, two in pairs):
            return place
    return 0


def _other_kind(where: str, kind: str) -> BoostrunError:
    return BoostrunError(
        f"{where} is {kind}, not a table of text with the same columns in each row; the ending of a file's name says "
        "how it is read: .csv, .csv.gz, .parquet, .arrow, .arff, .xlsx, .npz"
    )


def _over_numbers(rows: list[list[str]]) -> Iterator[int]:
    """The columns in which a word stands in the first row, and numbers alone below it."""
    for place, cell in enumerate(map(str.strip, rows[0])):
        if not re.search(r"[^\W\d_]", cell) or cell in MISSING or number_forms([cell]):
            continue
        below = {row[place].strip() for row in rows[1:] if place < len(row)} - {*MISSING}
        if below and all(number_forms([each]) for each in below):
            yield place


def _is_remark(rows: list[list[str]]) -> bool:
    """Whether the first row, a remark or almost empty, stands before a line of names over numbers."""
    bare = rows[0][0].strip().startswith("#") or sum(1 for cell in rows[0] if cell.strip()) < min(2, len(rows[0]) - 1)
    return bare and len(rows) > _FEW and any(True for _ in _over_numbers(rows[1:]))


def _encoding(head: bytes, given: str | None, where: str) -> tuple[str, int]:
    """The name of the encoding, and the number of bytes of the mark before the text."""
    for mark, name in _MARKS:
        if head.startswith(mark):
            return name, len(mark)
    if given is not None:
        try:
            b"a".decode(str(given), "ignore")  # a LookupError, too, for codecs such as base64
            return codecs.lookup(str(given)).name, 0
        except LookupError:
            raise BoostrunError(f"dataset.encoding={given} is no encoding; known are utf-8, latin-1, cp1252") from None
    zeros = head[:1024].count(0)
    if zeros >= len(head[:1024]) // 3 and zeros:
        return ("utf-16-le" if head[1:2] == b"\0" else "utf-16-be"), 0
    try:
        codecs.getincrementaldecoder("utf-8")("strict").decode(head)
        return "utf-8", 0
    except UnicodeDecodeError:
        name = "latin-1" if not re.search(rb"[\x80-\x9f]", head) else "cp1252"
        print(f"boostrun: {where} is no UTF-8; it is read as {name} (dataset.encoding)", file=sys.stderr)
        return name, 0


def _rows(lines, separator: str) -> Iterator[list[str]]:
    """The rows of a text that are not blank; a blank as separator stands for runs of blanks."""
    if separator == " ":
        for line in lines:
            if cells := [one if one is not None else two for one, two in _pairs(line)]:
                yield cells
        return
    for row in csv.reader(lines, delimiter=separator, skipinitialspace=True):
        if len(row) > 1 or any(cell.strip() for cell in row):
            yield row


def _pairs(line: str) -> list[tuple[str | None, str]]:
    return [(m.group(1), m.group(2)) for m in re.finditer(r'"([^"]*)"(?=\s|$)|(\S+)', line)]


def _parsed(text: str, separator: str, whole: bool) -> tuple[list[list[str]], list[int]]:
    """The first rows that are not blank, and the number of characters up to the end of each."""
    lines = [line for line in _LINE.findall(text) if line]
    place, rows, ends = 0, [], []

    def counted() -> Iterator[str]:
        nonlocal place
        for line in lines:
            place += len(line)
            yield line

    try:
        for row in _rows(counted(), separator):
            rows.append(row)
            ends.append(place)
            if len(rows) > _JUDGED:
                break
    except csv.Error:
        return [], []
    if rows and not whole and place >= len(text):  # the last row may go on
        rows.pop()
        ends.pop()
    return rows, ends


def _separator(text: str, whole: bool) -> str:
    """The separator with which most rows have the same number of cells, and fewest cells hold another separator."""
    best, found = (0.0, 0.0), " "
    for mark in (",", ";", "\t", "|"):
        rows = [*itertools.dropwhile(lambda row: len(row) == 1, _parsed(text, mark, whole)[0])]  # a title, or a remark
        if not rows:
            continue
        (usual, count), *_ = Counter(map(len, rows)).most_common(1)
        if usual < 2 or count < _FIT * len(rows):
            continue
        others = re.compile("[" + "".join({",", ";", "\t", "|"} - {mark}) + "]")
        cells = [cell for row in rows for cell in row]
        mixed = sum(1 for cell in cells if others.search(cell) and not number_forms([cell.strip()]))
        score = (count / len(rows), 1 - mixed / len(cells))
        if score > best:
            best, found = score, mark
    if best[0]:
        return found
    for mark in (",", ";", "\t", "|"):  # rows of different lengths: that of the first line
        if mark in text.partition("\n")[0]:
            return mark
    return " "


def _is_number(cell: str) -> bool:
    return cell.strip().lower() in ("nan", "inf", "-inf") or "1.5" in number_forms([cell.strip()])


def _is_named(rows: list[list[str]], wanted: Collection[str]) -> bool:
    """Whether the first row holds the names of the columns, judged by the rows below it."""
    first = [cell.strip() for cell in rows[0]]
    if set(wanted) & set(first):
        return True
    if any(True for _ in _over_numbers([rows[0], *(row for row in rows[1:] if row != rows[0])])):
        return True
    below = [[row[place].strip() for row in rows[1:] if place < len(row)] for place in range(len(first))]
    numbers = [_is_number(cell) or bool(number_forms([cell])) for cell in first]
    new = [bool(column) and cell not in column for cell, column in zip(first, below)]
    if not any(numbers):
        return len(rows) < _FEW or any(new) or not all(below)
    present = [[cell for cell in column if cell not in MISSING] for column in below]
    pairs = [(cell, column) for cell, number, column in zip(first, numbers, present) if number and column]
    if all(not {*number_forms([cell])} & {*number_forms(column)} for cell, column in pairs):  # 10% over 1.5
        return any(number_forms(column) for _, column in pairs)
    if any(
        cell and not number and column and all(number_forms([each]) for each in column)
        for cell, number, column in zip(first, numbers, present)
    ):
        return True
    counted = [cell for cell, number in zip(first, numbers) if number]
    if not all(re.fullmatch(r"\d{1,9}", cell) for cell in counted):
        return False
    whole = [int(cell) for cell in counted]
    rises = len(whole) > 1 and whole == list(range(whole[0], whole[0] + len(whole)))
    places = [place for place, number in enumerate(numbers) if number]
    fresh = all(new[place] and len({*below[place]}) < len(below[place]) for place in {*range(len(first))} - {*places})
    if rises and (whole == places or (whole[0] == 1 and len(places) < len(first) and fresh and len(rows) > _FEW)):
        return True
    fractions = any(not re.fullmatch(r"[+-]?\d+", cell) for place in places for cell in present[place])
    years = all(1800 <= number <= 2200 for number in whole)
    return fractions and (rises or years) and all(fresh for fresh, number in zip(new, numbers) if not number)


def _names(rows: list[list[str]], samples: list[list[str]], named: bool, where: str) -> tuple[tuple[str, ...], int]:
    """The names of the columns, and their number; a last column without name and values is none."""
    width = len(rows[0])
    if not named:
        width = max(width, *(len(row) for row in samples)) if samples else width
    while width > 1 and (not named or not rows[0][width - 1].strip()) and samples and not any(
        cell.strip() for row in samples for cell in row[width - 1 : width]
    ):  # fmt: skip
        width -= 1
    if not named:
        return tuple(map(str, range(width))), width
    given = rows[0][:width]
    if samples and all(len(row) == width + 1 and row[width].strip() for row in samples):  # R leaves out the first name
        index = [row[0].strip() for row in samples]
        counts = [int(cell) if re.fullmatch(r"[0-9]{1,9}", cell) else -1 for cell in index]
        if len({*index}) < len(index) or (counts[0] >= 0 and counts != [*range(counts[0], counts[0] + len(counts))]):
            raise BoostrunError(f"{where} has {width + 1} values in row 1 and {width} columns")
        given, width = ["", *given], width + 1
        print(f"boostrun: {where} names one column less than it has; the first one is 'Unnamed: 0'", file=sys.stderr)
    names = tuple(cell.strip() or f"Unnamed: {place}" for place, cell in enumerate(given))
    if twice := [name for name, count in Counter(names).items() if count > 1]:
        raise BoostrunError(f"{where} has two columns called '{twice[0]}'; give each column a name of its own")
    return names, width
