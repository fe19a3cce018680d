import io
import re

import pytest
from run_toys import cell, trials

from boostrun.runner.progress import RunProgress
from boostrun.store.cell import Inputs, Trial


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "160")
    monkeypatch.delenv("NO_COLOR", raising=False)


def play(stream, list_of_trials, cached=0, failed=(), **options):
    progress = RunProgress(stream=stream, **options)
    progress.start(list_of_trials)
    for trial in list_of_trials[:cached]:
        progress.cached(trial, {"test_accuracy_pct": 90.0, "other": 1})
    for trial in list_of_trials[cached:]:
        if trial.seed in failed:
            progress.finished(trial, "failed", {}, "bad {braces}\nsecond line")
        else:
            progress.finished(trial, "done", {"test_accuracy_pct": 92.0, "other": 1})
    progress.close()
    return stream.getvalue()


def last_bar(text):
    return re.split(r"[\r\n]", text.strip())[-1]


def test_a_terminal_gets_a_bar_with_counts_mean_spread_rate_and_time_left(monkeypatch):
    text = play(Terminal(), trials(10), cached=2)
    assert re.search(r"trials .*━+.* 10/10 · 2 cached · test_accuracy_pct 91\.60 ± 0\.84 · \d+\.\d s", last_bar(text))
    assert "\x1b[32m" in text
    now = [100.0]
    monkeypatch.setattr("boostrun.runner.progress.time.monotonic", lambda: now[0])
    stream = Terminal()
    progress = RunProgress(stream=stream)
    progress.start(trials(10))
    for trial in trials(4):
        progress.cached(trial, {})
    now[0] += 4.0
    progress.finished(trials(5)[4], "done", {})
    progress.finished(trials(6)[5], "done", {})
    progress.close()
    assert "6/10 · 4 cached · 4.0 s · 2.0 s each · 8.0 s left" in last_bar(stream.getvalue())


@pytest.mark.parametrize("name, value, absent", [("NO_COLOR", "1", "\x1b[3"), ("TERM", "dumb", "━")])
def test_a_terminal_without_colours_or_cursor_gets_none(monkeypatch, name, value, absent):
    monkeypatch.setenv(name, value)
    assert absent not in play(Terminal(), trials(4))


def test_a_log_file_gets_few_plain_lines(monkeypatch):
    text = play(io.StringIO(), trials(1000))
    assert 10 <= len(text.splitlines()) <= 12
    assert "\r" not in text and "\x1b" not in text
    assert text.splitlines()[-1].startswith("trials 1000/1000 · 0 cached · test_accuracy_pct 92.00 ± 0.00 · ")
    assert len(play(io.StringIO(), trials(3)).splitlines()) == 3


def test_the_last_line_comes_once_however_long_it_takes_to_close(monkeypatch):
    now = [0.0]
    monkeypatch.setattr("boostrun.runner.progress.time.monotonic", lambda: now.__setitem__(0, now[0] + 1) or now[0])
    lines = play(io.StringIO(), trials(3)).splitlines()
    assert [line.split()[1] for line in lines] == ["1/3", "2/3", "3/3"]
    assert [line.split()[1] for line in play(io.StringIO(), trials(3), cached=3).splitlines()] == ["3/3"]


def test_a_failure_is_told_at_once_in_one_line():
    for stream in (io.StringIO(), Terminal()):
        text = play(stream, trials(4), failed=(1,))
        assert "failed: toy · none · raw · r=10 · seed 1: bad {braces}" in text
        assert "second line" not in text and "1 failed" in text


def test_the_last_line_names_the_last_cell_and_its_metrics_and_a_run_without_trials_has_none():
    both = [*trials(2), Trial(cell(r=20), 0, Inputs("d", "s"))]
    text = play(io.StringIO(), both)
    assert "toy · none · raw · r=20 · test_accuracy_pct 92.00 ·" in text.splitlines()[-1]
    assert "other 1.00 ± 0.00" in play(io.StringIO(), trials(3), metrics=["other"]).splitlines()[-1]
    assert play(io.StringIO(), []) == ""
