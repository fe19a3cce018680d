"""Files and streams of a command: no signal and no closed, full or narrow stream loses a result."""

import os
import signal
import subprocess
import sys
import time

import pytest

from boostrun import __main__

pytestmark = pytest.mark.skipif(os.name != "posix", reason="asks a shell of that kind")
RUN = "algo=majority trials=1 n_jobs=1 run.pictures=false"


@pytest.fixture
def shell(workplace):
    """Run a line of bash in which ``boostrun`` is the command; gives exit code of its first part, output and errors."""

    def run(line: str, **environment: str):
        script = f'boostrun() {{ "{sys.executable}" -m boostrun "$@"; }}\n{line}\nexit ${{PIPESTATUS[0]}}'
        done = subprocess.run(["bash", "-c", script], check=False, capture_output=True, env=os.environ | environment)
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    return run


def tables(workplace):
    return [path for path in workplace.rglob("table.md") if "test accuracy" in path.read_text(encoding="utf-8")]


def slow(*parameters):
    return [pytest.param(each, marks=pytest.mark.slow) for each in parameters]


@pytest.mark.slow
@pytest.mark.parametrize("redirection", ["<&- >&- 2>&-", "2>&1 | true", *slow(">&-", "2>&-", "| true", "2>/dev/full")])
def test_a_stream_that_is_closed_or_read_by_nobody_costs_nothing(redirection, shell, workplace):
    code, _, err = shell(f"boostrun {RUN} {redirection}")
    assert code == 0 and "Traceback" not in err and "Exception" not in err
    assert len(tables(workplace)) == 1
    (record,) = workplace.glob("results/runs/*/*.json")
    assert record.read_text(encoding="utf-8").startswith("{")


@pytest.mark.slow
def test_a_full_output_is_one_sentence_and_the_table_is_written(shell, workplace):
    code, _, err = shell(f"boostrun {RUN} > /dev/full")
    assert code == 2 and err.splitlines()[-1] == "boostrun: standard output cannot be written: No space left on device"
    assert "Traceback" not in err and "Exception" not in err and len(tables(workplace)) == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    "narrow", [{"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}, *slow({"PYTHONIOENCODING": "ascii"})]
)
def test_an_output_of_ascii_alone_is_written_in_ascii(narrow, shell, workplace):
    code, out, err = shell(f"boostrun {RUN}", **narrow)
    assert code == 0 and "Traceback" not in err, err
    assert out.isascii() and err.isascii() and "majority . digits . raw" in err and "majority" in out
    assert len(tables(workplace)) == 1


def stopped(workplace, words: str, when) -> tuple[int, str]:
    """Send SIGTERM to a command as soon as ``when()`` holds; its exit code and errors."""
    command = subprocess.Popen(
        [sys.executable, "-m", "boostrun", *words.split()], cwd=workplace, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )  # fmt: skip
    limit = time.monotonic() + 60
    while not when(command) and command.poll() is None and time.monotonic() < limit:
        time.sleep(0.005)
    command.send_signal(signal.SIGTERM)
    _, err = command.communicate(timeout=60)
    return command.returncode, err.decode()


def hears_sigterm(command) -> bool:
    """Whether a handler of SIGTERM is in place, so that the command has started."""
    with open(f"/proc/{command.pid}/status", encoding="ascii") as status:
        caught = next(line.split()[1] for line in status if line.startswith("SigCgt"))
    return bool(int(caught, 16) >> (signal.SIGTERM - 1) & 1)


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="looks at the command through /proc")
def test_sigterm_while_a_command_starts_is_one_sentence(workplace):
    code, err = stopped(workplace, "doctor", hears_sigterm)
    assert code == 143 and err == "boostrun: interrupted; finished trials are kept, the same command goes on\n", err
    assert not list(workplace.iterdir())


def test_an_interrupt_while_a_class_is_made_is_one_sentence(monkeypatch, capsys):
    class Interrupts:
        def __set_name__(self, owner, name):
            raise KeyboardInterrupt

    def run():
        type("Made", (), {"attribute": Interrupts()})

    monkeypatch.setattr("boostrun.cli.command", run)
    for name in ("prepare", "ignore"):
        monkeypatch.setattr(__main__, name, lambda: None)
    assert __main__.command() == 130
    assert capsys.readouterr().err == "boostrun: interrupted; finished trials are kept, the same command goes on\n"

    def fail():
        raise RuntimeError("another")

    monkeypatch.setattr("boostrun.cli.command", fail)
    with pytest.raises(RuntimeError, match="another"):
        __main__.command()


SLOW_BUILD = """
import time
def slow(journal):
    write = journal.Journal.finished
    def then_wait(self, *block):
        write(self, *block)
        time.sleep(60)
    journal.Journal.finished = then_wait
"""


@pytest.mark.slow
def test_sigterm_while_a_bank_is_built_leaves_what_the_next_command_goes_on_with(workplace, monkeypatch):
    (workplace / "slow").mkdir()
    (workplace / "slow" / "slow.py").write_text(SLOW_BUILD)
    (workplace / "slow" / "sitecustomize.py").write_text(
        "from boostrun.import_hooks import when_imported\nwhen_imported('boostrun.features.store', 'slow:slow')\n"
    )
    banks = workplace / "datasets" / "banks"
    with monkeypatch.context() as patched:
        patched.setenv("PYTHONPATH", str(workplace / "slow"), prepend=os.pathsep)
        code, err = stopped(workplace, f"{RUN} features.bins=16", lambda command: any(banks.glob("*.tmp/journal.json")))
    assert code == 143 and err.endswith("finished trials are kept, the same command goes on\n"), err
    assert not list(banks.glob("*/meta.json")) and not list(workplace.glob("results/runs/*/*"))
    assert "Traceback" not in err


COMING = """
import os, signal, sys

class Blow:
    def find_spec(self, name, path=None, target=None):
        if name == {name!r}:
            {blow}

sys.meta_path.insert(0, Blow())
sys.argv = ["boostrun", "ls"]
from boostrun.__main__ import command
sys.exit(command())
"""


@pytest.mark.skipif(os.name != "posix", reason="sends SIGTERM")
@pytest.mark.parametrize("name", ["boostrun.cli", "boostrun.cli.arguments", "boostrun.config"])
@pytest.mark.parametrize(
    "blow", ["os.kill(os.getpid(), signal.SIGTERM)", "exec('os.kill(os.getpid(), signal.SIGTERM)')"]
)
def test_sigterm_while_the_command_is_imported_is_a_sentence_and_143(name, blow):
    code = COMING.format(name=name, blow=blow)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 143
    assert done.stderr.startswith("boostrun: interrupted") and done.stderr.count("\n") == 1


def test_nothing_but_signals_is_imported_before_they_are_looked_after():
    code = "import sys; before = set(sys.modules); import boostrun.__main__; print(*sorted(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    ours = {name for name in done.stdout.split() if name.startswith("boostrun")}
    first = {"boostrun", "boostrun.__main__", "boostrun.import_hooks", "boostrun.signals"}
    assert ours == first
