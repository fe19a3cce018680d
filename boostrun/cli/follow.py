"""``boostrun follow``: a stream learner on live lines, which answers each before it learns it.

``follow algo=NAME label=COLUMN [SOURCE] [-o answers.jsonl]`` reads lines of JSON or csv from standard input, a file or
a socket. Every so many rows the answers are put on the disk, and then the learner is saved with the number of rows read
and the length of the file of answers. The same command goes on from there: longer answers are cut back, and rows after
the last save are read again.
"""

from __future__ import annotations

import codecs
import contextlib
import csv
import functools
import json
import math
import os
import re
import signal
import socket
import stat
import sys
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from boostrun.cli.arguments import OWN_KEYS, Arguments
from boostrun.config.words import keys_and_values
from boostrun.data.table import plain_labels
from boostrun.errors import BoostrunError
from boostrun.files import as_npz, is_device
from boostrun.signals import prepare, terminated

_MOST = 512  # rows that are taken together, if so many have arrived
_BLOCK = 1 << 16  # bytes that are read together
_LONGEST = 1 << 24  # bytes of a line
_END = 4096  # bytes at the end of the answers that tell their file from another
_NOTE = "follow"  # the array beside a saved learner
_SEPARATORS = ",;\t|"
_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+")


@dataclass
class LiveRow:
    """A row of the input.

    Attributes
    ----------
    number : number of the row, from 1.
    end : bytes of the input up to the end of the row.
    x, label, copied : features, the label or None, and the columns that are copied to its answer.
    order : its value of the column that orders rows, or None.
    wrong : why the row cannot be read, or empty.
    """

    number: int
    end: int
    x: Mapping[str, float] = field(default_factory=dict)
    label: Any = None
    copied: Mapping[str, Any] = field(default_factory=dict)
    order: Any = None
    wrong: str = ""


def main(words: Arguments) -> int:
    """Follow the source to its end; returns the exit code."""
    own = {key: value for key, value in keys_and_values(words.overrides) if key in OWN_KEYS["follow"]}
    label = "".join(own.get("label", []))
    if not label:
        raise BoostrunError("follow needs the column of the label: label=NAME (rows may lack it)")
    every = own.get("every", ["1000"])
    if len(every) != 1 or not every[0].isdigit() or int(every[0]) < 1:
        raise BoostrunError(f"every={','.join(every)}: a number of rows is needed, at least 1")
    bad = "".join(own.get("bad", ["stop"]))
    if bad not in ("stop", "skip"):
        raise BoostrunError(f"bad={bad}: set stop or skip, for rows that cannot be read or learned")
    settings = [word for word in words.overrides if word.partition("=")[0] not in OWN_KEYS["follow"]]
    state = Path("".join(own.get("state", ["follow.npz"])))
    if not state.exists():
        state = as_npz(state)
    place, order = words.names[0] if words.names else "-", "".join(own.get("order", []))
    for name in (place, str(state)):
        if words.output is not None and name != "-" and os.path.realpath(name) == os.path.realpath(words.output):
            raise BoostrunError(f"-o {words.output} is also {'read' if name == place else 'state='}: name another file")
    if not state.parent.is_dir():
        raise BoostrunError(f"state={state}: there is no such folder")
    same, columns = sorted([*settings, f"label={label}"]), [*own.get("id", []), f"order={order}"]
    follower = LiveLearner(_learner(settings, words.config_dir), " ".join(same), columns, state, words.output)
    source = LiveRows(place, label, own.get("id", []), order)
    follower.resume()
    begun = follower.rows
    prepare()
    try:
        for rows in source.rows(follower.rows, follower.begin(source), follower.last):
            with _undisturbed():
                follower.take(rows, "proba" in words.flags, bad == "skip")
                if follower.rows - follower.saved >= int(every[0]):
                    follower.save()
    except KeyboardInterrupt:
        follower.save()
        print(f"boostrun: {follower.told}; the same command goes on", file=sys.stderr)
        return 143 if terminated() else 130
    except BoostrunError:
        if follower.rows:
            follower.save()  # the rows before the one that is wrong
        else:
            follower.leave_nothing()
        raise
    if follower.rows:
        follower.save()
    if follower.rows > begun and source.unmet:
        print(f"boostrun: no row has the column '{sorted(source.unmet)[0]}'", file=sys.stderr)
    print(follower.told, file=sys.stderr)
    return 0


@contextlib.contextmanager
def _undisturbed() -> Iterator[None]:
    """Ctrl-C and SIGTERM wait until the end of the block, so that no row is learned by half."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _learner(settings: list[str], config_dir: str | None) -> Any:
    """An empty learner of these settings; BoostrunError if it does not follow streams, or cannot be saved."""
    from boostrun.config import catalogue
    from boostrun.methods.stream_state import StreamState
    from boostrun.runner.plan import compose_one

    name = "".join(dict(keys_and_values(settings)).get("algo", []))
    if name not in (known := catalogue.methods()) or "stream" not in known[name].inputs:
        those = ", ".join(each for each, method in known.items() if "stream" in method.inputs and not method.needs)
        raise BoostrunError(f"follow needs an algorithm for streams, as algo=sgbt; there are {those}")
    streams = (each for each, found in catalogue.datasets().items() if found.gives == "stream" and not found.endings)
    stream = next(streams)  # any that needs no file: its settings are not used
    chosen = compose_one([*settings, f"dataset={stream}"], config_dir)
    method = catalogue.method(chosen.algo)
    model = method.make(chosen.algo, chosen.budget, {"random_state": chosen.root["seed"], "n_jobs": 1})
    tried = model.clone()
    for place in range(2):
        tried.learn_one({"x": float(place)}, place)
    try:
        StreamState.of(tried)
    except BoostrunError:
        raise BoostrunError(f"algo '{name}' cannot be saved, and follow goes on from a saved learner") from None
    return model


class LiveLearner:
    """A learner, the file of its answers, and the state from which it goes on.

    Attributes
    ----------
    rows, saved : rows answered, and those of the last save.
    source, read : what was read last, and bytes of it up to the last row.
    last : the largest value of the column ``order``.
    """

    def __init__(self, model: Any, settings: str, columns: list[str], state: Path, output: str | None):
        self.model, self.settings, self.columns, self.state = model, settings, columns, state
        self.rows = self.saved = self.read = self.labels = self.right = 0
        self.last: Any = None
        self.source = ""
        self.file: BinaryIO | None = None
        self._output = None if output is None or is_device(output) else output
        self._made = False  # the file of answers

    def resume(self) -> None:
        """Go on from the saved state, if there is one; BoostrunError if it is another's, or answers are missing."""
        length, end = 0, 0
        if self.state.exists():
            note = self._note()
            if note["settings"] != self.settings or note.get("columns", self.columns) != self.columns:
                *names, order = note.get("columns", ["order="])
                more = f" id={','.join(names)}" * bool(names) + f" {order}" * (order != "order=")
                raise BoostrunError(
                    f"{self.state} was saved by follow {note['settings']}{more}: give these settings, or another "
                    "state=FILE"
                )
            self.rows = self.saved = note["rows"]
            self.read, self.labels, self.right, self.last = (note[key] for key in ("read", "labels", "right", "last"))
            self.source = note.get("source", "")
            length, end = note["answers"], note.get("end", 0)
            if self.rows and note["learned"]:
                self.model = type(self.model).load(self.state)
        if self._output is not None:
            self._made = not os.path.exists(self._output)
            self.file = open(self._output, "w+b" if self._made else "r+b")  # noqa: SIM115 (open to the end)
            there = self.file.seek(0, os.SEEK_END)
            if there < length or (there and not self.state.exists()):
                self.leave_nothing()
                lacks = f"holds {there} bytes, and {length} were written by row {self.rows}"
                raise BoostrunError(
                    f"-o {self.file.name} {lacks if self.state.exists() else f'is there, and {self.state} is not'}: "
                    "remove both to start again"
                )
            if there and (length == 0 or (end and end != self._end_of(length))):
                raise BoostrunError(
                    f"-o {self.file.name} does not hold the answers to row {self.rows}: another file? To start again "
                    f"remove it and {self.state}"
                )
            self.file.truncate(length)
            self.file.seek(length)
        if self.rows:
            print(f"boostrun: goes on after row {self.rows:,}".replace(",", " "), file=sys.stderr)

    def leave_nothing(self) -> None:
        """Remove the file of answers if this command has made it."""
        if self.file is not None and self._made:
            self.file.close()
            os.unlink(self.file.name)

    def _end_of(self, length: int) -> int:
        """A checksum of the last answers in the first ``length`` bytes of their file."""
        first = max(0, length - _END)
        return zlib.crc32(os.pread(self.file.fileno(), length - first, first)) if self.file is not None else 0

    def _note(self) -> dict[str, Any]:
        try:
            with np.load(self.state, allow_pickle=False) as file:
                return json.loads(str(file[_NOTE]))
        except (OSError, ValueError, KeyError, EOFError, TypeError, zipfile.BadZipFile):
            raise BoostrunError(f"{self.state} is no state of follow: name another file, state=FILE") from None

    def begin(self, source: LiveRows) -> int:
        """The byte of a source to read from: after what was read of it, or the first of another one.

        Raises BoostrunError for a file that is shorter than what was read of it, or goes on in the middle of a row.
        """
        if source.size is None or (self.source and self.source != source.name):
            self.read = 0
        elif source.size < self.read:
            raise BoostrunError(f"{source.name} has {source.size} bytes, of which {self.read} were read: another file?")
        elif source.size > self.read and not source.ends_at(self.read):
            raise BoostrunError(f"{source.name} has grown within the last row that was read, which had no line end")
        self.source = source.name
        return self.read

    def take(self, rows: list[LiveRow], proba: bool, skips: bool) -> None:
        """Answer rows in order, each before it is learned, and write the answers.

        The answer to a row that cannot be read or learned is the reason, if ``skips``; otherwise it raises
        BoostrunError, and the rows before it are answered.
        """
        answers = []
        try:
            for row in rows:
                answer = {"row": row.number, **row.copied}
                try:
                    answer |= self._answer(row, proba)
                except BoostrunError as error:
                    if not skips:
                        raise BoostrunError(f"row {row.number}: {error}") from None
                    answer["error"] = str(error)
                answers.append(answer)
                self.rows, self.read = row.number, row.end
                self.last = self.last if row.order is None else row.order
        finally:
            self._write(answers)

    def _answer(self, row: LiveRow, proba: bool) -> dict[str, Any]:
        """The answer to a row, which is learned then."""
        if row.wrong:
            raise BoostrunError(row.wrong)
        answer: dict[str, Any] = {"prediction": self.model.predict_one(row.x)}
        if proba:
            shares = self.model.predict_proba_one(row.x)
            answer["probabilities"] = {str(label): share for label, share in shares.items()}
        if row.label is not None:
            self.model.learn_one(row.x, row.label)
            self.labels, self.right = self.labels + 1, self.right + (answer["prediction"] == row.label)
        return answer

    def _write(self, answers: list[dict[str, Any]]) -> None:
        text = "".join(map(_line, answers))
        if self.file is None:
            sys.stdout.write(text)
            sys.stdout.flush()
        else:
            self.file.write(text.encode())

    def save(self) -> None:
        """Put the answers on the disk, then the learner; cost that of the learner's arrays."""
        from boostrun.methods import archive, saved

        length = 0
        if self.file is not None:
            self.file.flush()
            os.fsync(self.file.fileno())
            length = self.file.tell()
        learned = self.labels > 0
        note = {
            "settings": self.settings, "rows": self.rows, "read": self.read, "labels": self.labels,
            "right": self.right, "last": self.last, "answers": length, "learned": learned, "source": self.source,
            "columns": self.columns, "end": self._end_of(length),
        }  # fmt: skip
        beside = {_NOTE: np.array(json.dumps(note))}
        if learned:
            model = self.model
            saved.write(
                self.state, model._model, model, classes=model.classes_, n_features=model.n_features_in_, inputs=beside
            )
        else:
            archive.save(self.state, "boostrun.follow/1", beside)
        self.saved = self.rows

    @property
    def told(self) -> str:
        """A line about the progress: rows, labels, accuracy, and the file of the saved state."""
        rows, labels = (f"{count:,}".replace(",", " ") for count in (self.rows, self.labels))
        share = f", {100.0 * self.right / self.labels:.2f} % right before they were learned" if self.labels else ""
        return f"{rows} rows, {labels} labels{share}" + f"; saved: {self.state}" * bool(self.rows)


class LiveRows:
    """Lines of JSON or csv from ``place``: "-", a file, or tcp://HOST:PORT.

    Rows that are not beyond the largest value of the column ``order`` so far were sent again, and are left out.
    """

    def __init__(self, place: str, label: str, copied: list[str], order: str):
        self.place, self.label, self.order = place, label, order
        self.copied = [*copied, order] if order else copied
        self.unmet = {label, *self.copied}  # columns that no row has had
        self.separator = ","  # of csv
        self.file = self._open()
        regular = not place.startswith("tcp://") and stat.S_ISREG(os.fstat(self.file.fileno()).st_mode)
        self.size = os.fstat(self.file.fileno()).st_size if regular else None  # None: a pipe or a socket
        self.name = os.path.abspath(place) if regular and place != "-" else place

    def ends_at(self, place: int) -> bool:
        """Whether a line of the file ends before byte ``place``."""
        return place == 0 or os.pread(self.file.fileno(), 1, place - 1) == b"\n"

    def _open(self) -> Any:
        if self.place == "-":
            return open(0, "rb", buffering=0, closefd=False)
        if self.place.startswith("tcp://"):
            host, _, port = self.place.removeprefix("tcp://").rpartition(":")
            if not host or not port.isdigit():
                raise BoostrunError(f"{self.place}: tcp://HOST:PORT is needed")
            try:
                return socket.create_connection((host, int(port))).makefile("rb", buffering=0)
            except OSError as error:
                raise BoostrunError(f"{self.place} cannot be reached: {error.strerror or error}") from None
        return open(self.place, "rb", buffering=0)

    def rows(self, number: int, read: int, last: Any) -> Iterator[list[LiveRow]]:
        """The rows after row ``number``, as many together as have arrived, at most 512.

        A file is read from the byte ``read`` on, while a pipe or a socket goes on with its next line.
        """
        names: list[str] | None = None  # those of a header; JSON has none
        begun = False
        skipped, end = read, 0
        for lines in self._lines():
            found: list[LiveRow] = []
            for line in lines:
                end += len(line)
                text = line if begun else line.removeprefix(codecs.BOM_UTF8)
                text = text.strip(b" \r\n") if text.strip() else b""  # a tab at the end is before an empty cell
                if text and not begun and not text.startswith(b"{"):
                    names = self._header(text)
                elif text and end > skipped:
                    row = self._row(text, number + 1, names, end)
                    if self.order and not row.wrong:
                        if last is not None and isinstance(row.order, str) != isinstance(last, str):
                            row = LiveRow(number + 1, end, wrong=f"its {self.order} is {row.order!r}, after {last!r}")
                        elif last is not None and not row.order > last:
                            continue
                        else:
                            last = row.order
                    number += 1
                    found.append(row)
                begun = begun or bool(text)
            yield from (found[at : at + _MOST] for at in range(0, len(found), _MOST))

    def _lines(self) -> Iterator[list[bytes]]:
        """Complete lines, as they arrive; the last may lack its end."""
        rest = b""
        while block := self.file.read(_BLOCK):
            *lines, rest = (rest + block).split(b"\n")
            if len(rest) > _LONGEST:
                raise BoostrunError(f"{self.place} has a line of more than {_LONGEST >> 20} MiB")
            yield [line + b"\n" for line in lines]
        if rest:
            yield [rest]

    def _header(self, text: bytes) -> list[str]:
        for self.separator in (*_SEPARATORS, ","):  # the first one that finds the label, else the comma
            with contextlib.suppress(ValueError):
                if self.label in _cells(text, self.separator):
                    break
        try:
            names = _cells(text, self.separator)
        except ValueError as error:
            raise BoostrunError(f"the header is no csv in UTF-8: {error}") from None
        if twice := [name for name in names if names.count(name) > 1]:
            raise BoostrunError(f"the header has two columns called '{twice[0]}'")
        if missing := [name for name in (self.label, *self.copied) if name not in names]:
            raise BoostrunError(f"there is no column '{missing[0]}': the header has {', '.join(names)}")
        self.unmet = set()
        return names

    def _row(self, text: bytes, number: int, names: list[str] | None, end: int) -> LiveRow:
        copied: dict[str, Any] = {}
        try:
            given = json.loads(text) if names is None else self._by_name(names, _cells(text, self.separator))
            if not isinstance(given, dict):
                raise ValueError('it is no object, as {"x": 1.5, "label": "a"} is')
            self.unmet -= given.keys()
            copied = {name: given[name] for name in self.copied if name in given}
            label = given.pop(self.label, None)
            given = {name: value for name, value in given.items() if name not in copied}
            if isinstance(label, float) and label.is_integer():
                label = int(label)
            if isinstance(label, int) and not -(2**63) <= label < 2**63:
                raise ValueError(f"its label {label} is beyond 64 bits: write it as text")
            order = copied.get(self.order)
            if self.order and (not isinstance(order, (str, float, int)) or str(order) == "nan"):
                raise ValueError(f"it has no {self.order}, which order= names")
            return LiveRow(number, end, _features(given), label, copied, order)
        except (ValueError, RecursionError) as error:
            return LiveRow(number, end, copied=copied, wrong=f"it cannot be read: {error}")

    def _by_name(self, names: list[str], cells: list[str]) -> dict[str, Any]:
        """The cells of csv that are not empty, by name: numbers, or text. Copied ones stay as they are written; labels
        are read as those of a file."""
        if len(cells) != len(names):
            raise ValueError(f"it has {len(cells)} cells, and the header {len(names)}")
        found: dict[str, Any] = {}
        for name, cell in zip(names, cells):
            if cell == "":
                continue
            if name == self.label:
                found[name] = _label(cell)
            elif self.separator != "," and name not in self.copied and _DECIMAL_COMMA.fullmatch(cell):
                raise ValueError(f"{name} is '{cell}', and numbers need a decimal point")
            else:
                found[name] = cell if name in self.copied and name != self.order else _number(cell)
        return found


def _line(answer: Mapping[str, Any]) -> str:
    """An answer as a line of JSON; half a character of UTF-16, which JSON may hold and UTF-8 not, is escaped."""
    text = json.dumps(answer, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:
        text = json.dumps(answer)
    return f"{text}\n"


def _cells(text: bytes, separator: str) -> list[str]:
    try:
        return next(csv.reader([text.decode("utf-8-sig")], strict=True, delimiter=separator))
    except csv.Error as error:
        raise ValueError(str(error)) from None


@functools.lru_cache(maxsize=10_000)  # reading a label as those of a file takes 70 microseconds
def _label(cell: str) -> Any:
    (label,) = plain_labels([cell]).tolist()
    return label


def _number(cell: str) -> Any:
    """A cell of csv as a number, whole ones exactly, or as it is."""
    for kind in (int, float) if "_" not in cell else ():  # Python reads 1_000
        with contextlib.suppress(ValueError):
            return kind(cell)
    return cell


def _features(given: Mapping[str, Any]) -> dict[str, float]:
    """Numbers by name: text is 1 under "name=text", truth values are 0 or 1, and null and NaN are absent.

    >>> _features({"size": 2, "colour": "red", "new": True, "price": None})
    {'size': 2, 'colour=red': 1.0, 'new': 1.0}
    """
    found: dict[str, float] = {}
    for name, value in given.items():
        if isinstance(value, str):
            found[f"{name}={value}"] = 1.0
        elif isinstance(value, bool):
            found[name] = float(value)
        elif isinstance(value, (int, float)):
            if abs(value) > sys.float_info.max:
                raise ValueError(f"{name} is {value!r}, and a finite number is needed")
            if not math.isnan(value):
                found[name] = value
        elif value is not None:
            raise ValueError(f"{name} is {value!r}, and a number, text, true, false or null is needed")
    return found
