"""`boostrun follow`: answers are those of the library row by row, and a run that is stopped ends in the same file."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from boostrun.cli import main
from boostrun.config import catalogue
from boostrun.runner.plan import compose_one

WORDS = ["algo=vfdt", "algo.grace_period=20", "label=kind", "id=t"]


def made(n, seed=0):
    rng = np.random.default_rng(seed)
    rows = []
    for t in range(n):
        a, b, colour = rng.random(), int(rng.integers(5)), ["red", "blue"][rng.integers(2)]
        kind = "yes" if (a > 0.5) != (colour == "red") else "no"
        rows.append({"t": t, "a": a, "b": b, "colour": colour, "new": bool(a > 0.9), "kind": kind if t % 5 else None})
    return rows


def jsonl(rows):
    return "".join(f"{json.dumps(row)}\n" for row in rows)


def expected(rows):
    """The answers of the library, one row after the other."""
    settings = compose_one(["algo=vfdt", "algo.grace_period=20", "dataset=sea"])
    model = catalogue.method(settings.algo).make(settings.algo, settings.budget, {"random_state": 1, "n_jobs": 1})
    found = []
    for number, row in enumerate(rows, 1):
        x = {"a": row["a"], "b": row["b"], f"colour={row['colour']}": 1.0, "new": float(row["new"])}
        found.append({"row": number, "t": row["t"], "prediction": model.predict_one(x)})
        if row["kind"] is not None:
            model.learn_one(x, row["kind"])
    return found


def answers(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_answers_are_those_of_the_library_row_by_row(here, capsys):
    rows = made(400)
    (here / "live.jsonl").write_text(jsonl(rows))
    assert main(["follow", *WORDS, "live.jsonl", "-o", "out.jsonl", "every=64"]) == 0
    assert answers(here / "out.jsonl") == expected(rows)
    said = capsys.readouterr()
    assert said.out == "" and said.err.startswith("400 rows, 320 labels, ")


def test_a_file_that_grows_is_read_on_and_the_same_command_adds_nothing_twice(here):
    rows = made(300)
    for end in (0, 90, 90, 91, 300):
        (here / "live.jsonl").write_text(jsonl(rows[:end]))
        assert main(["follow", *WORDS, "live.jsonl", "-o", "out.jsonl"]) == 0
    assert answers(here / "out.jsonl") == expected(rows)


def test_answers_after_the_last_save_are_taken_back(here):
    rows = made(200)
    (here / "live.jsonl").write_text(jsonl(rows[:120]))
    main(["follow", *WORDS, "live.jsonl", "-o", "out.jsonl"])
    with (here / "out.jsonl").open("a") as file:  # as if killed before the next save
        file.write('{"row": 121, "t": 120, "predic')
    (here / "live.jsonl").write_text(jsonl(rows))
    main(["follow", *WORDS, "live.jsonl", "-o", "out.jsonl"])
    assert answers(here / "out.jsonl") == expected(rows)


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_csv_gives_the_answers_of_json(here, separator):
    rows = made(150)
    lines = ["t,a,b,colour,new,kind"]
    lines += [f"{r['t']},{r['a']!r},{r['b']},{r['colour']},{float(r['new'])},{r['kind'] or ''}" for r in rows]
    (here / "live.csv").write_text("\n".join(lines).replace(",", separator))
    assert main(["follow", *WORDS, "live.csv", "-o", "out.jsonl", "--proba"]) == 0
    found = answers(here / "out.jsonl")
    assert [one["prediction"] for one in found] == [one["prediction"] for one in expected(rows)]
    assert all(abs(sum(one["probabilities"].values()) - 1.0) < 1e-9 for one in found[5:])


def test_a_separator_within_quotes_of_the_header_separates_nothing(here):
    (here / "live.csv").write_text('"a;x","b|z",kind\n1.5,2,u\n2.5,1,v\n')
    assert main(["follow", "algo=vfdt", "label=kind", "live.csv", "-o", "out.jsonl"]) == 0
    assert [one["prediction"] for one in answers(here / "out.jsonl")] == [None, "u"]


def test_a_decimal_comma_is_refused(here, capsys):
    (here / "live.csv").write_text("a;kind\n1.5;x\n2,5;y\n")
    assert main(["follow", "algo=vfdt", "label=kind", "live.csv"]) == 2
    assert "row 2: it cannot be read: a is '2,5', and numbers need a decimal point" in capsys.readouterr().err


def command(*words):
    return [sys.executable, "-m", "boostrun", "follow", *words]


def test_standard_input_is_answered_as_it_comes_and_sigterm_saves(here):
    rows = made(40)
    process = subprocess.Popen(
        command(*WORDS), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, bufsize=1
    )
    for row, wanted in zip(rows, expected(rows)):
        process.stdin.write(jsonl([row]))
        process.stdin.flush()
        assert json.loads(process.stdout.readline()) == wanted
    process.send_signal(signal.SIGTERM)
    said = process.communicate(timeout=60)[1]
    assert process.returncode == 143 and said.startswith("boostrun: 40 rows, ") and "the same command goes on" in said
    assert "Traceback" not in said


@pytest.mark.slow
def test_rows_that_a_pipe_sends_again_are_left_out(here):
    rows = made(120)
    for start, end in ((0, 70), (30, 120)):
        subprocess.run(
            command("algo=vfdt", "algo.grace_period=20", "label=kind", "order=t", "-o", "out.jsonl"),
            input=jsonl(rows[start:end]), text=True, check=True, capture_output=True,
        )  # fmt: skip
    assert answers(here / "out.jsonl") == expected(rows)


ORDERED = ["algo=vfdt", "label=y", "order=t", "-o", "a.jsonl"]


def sent(here, text, *more):
    """Exit code, answers and the line on stderr after ``text`` came through a pipe."""
    given = ["follow", *ORDERED, *more]
    command = [sys.executable, "-m", "boostrun", *given]
    found = subprocess.run(command, input=text.encode(), capture_output=True, cwd=here, check=False)
    assert b"Traceback" not in found.stderr
    return found.returncode, answers(here / "a.jsonl") if (here / "a.jsonl").exists() else [], found.stderr.decode()


def ordered(n):
    return [json.dumps({"t": t, "a": t % 7, "y": "ab"[t % 2]}) + "\n" for t in range(n)]


@pytest.mark.parametrize("bad", ["stop", "skip"])
@pytest.mark.parametrize("broken", ["{", '{"t": 30, "a": 1, "y": [1]}\n'])
def test_rows_before_a_bad_one_that_are_sent_again_are_left_out(here, bad, broken):
    lines = ordered(60)
    code, found, _ = sent(here, "".join(lines[:30]) + broken + "\n", f"bad={bad}")
    assert code == (2 if bad == "stop" else 0) and len(found) == 30 + (bad == "skip")
    code, found, _ = sent(here, "".join(lines), f"bad={bad}")
    assert code == 0 and [row["t"] for row in found if "prediction" in row] == [
        t for t in range(60) if bad == "stop" or t != 30 or broken == "{"
    ]


def test_whole_numbers_and_texts_of_csv_are_not_rounded(here):
    first = 1_700_000_000_000_000_000
    text = "id,t,a,y\n" + "".join(f"{n:03d},{first + n},{n % 5},{'0' * (n % 2 + 1)}1\n" for n in range(20))
    code, found, _ = sent(here, text, "id=id")
    assert code == 0 and [row["t"] for row in found] == [first + n for n in range(20)]
    assert [row["id"] for row in found] == [f"{n:03d}" for n in range(20)]
    assert {row["prediction"] for row in found[2:]} <= {"01", "001"}


@pytest.mark.parametrize(("text", "said"), [
    ('{"t": 1, "a": 1, "y": "p"}\n{"t": "2", "a": 1, "y": "q"}\n', "row 2: its t is '2', after 1"),
    ('{"t": NaN, "a": 1, "y": "p"}\n', "row 1: it cannot be read: it has no t"),
    ('{"t": 1, "a": ' + "[" * 100_000 + "\n", "row 1: it cannot be read"),
    ('{"t": 1, "a": 1, "y": 1' + "0" * 30 + "}\n", "is beyond 64 bits: write it as text"),
    ('{"t": 1, "a": Infinity, "y": 1}\n', "a is inf, and a finite number is needed"),
    ("t,a,a,y\n1,2,3,p\n", "two columns called 'a'"),
])  # fmt: skip
def test_a_row_that_no_order_or_label_can_take_is_a_sentence(here, text, said):
    code, found, error = sent(here, text)
    assert code == 2 and said in error and not [row for row in found if row["row"] > 1]


def test_lines_of_json_may_begin_with_a_mark_of_their_encoding(here):
    code, found, _ = sent(here, "\ufeff" + "".join(ordered(5)))
    assert code == 0 and len(found) == 5


def test_another_file_is_read_from_its_start(here, capsys):
    for name in ("one", "two"):
        (here / f"{name}.jsonl").write_text("".join(ordered(20)))
    given = ["algo=vfdt", "label=y", "-o", "a.jsonl"]
    for name in ("one", "two", "two"):
        assert main(["follow", f"{name}.jsonl", *given]) == 0
    assert [row["row"] for row in answers(here / "a.jsonl")] == list(range(1, 41))
    (here / "two.jsonl").write_text("".join(ordered(10)))
    assert main(["follow", "two.jsonl", *given]) == 2 and "another file?" in capsys.readouterr().err


def test_a_last_row_without_an_end_that_grows_is_a_sentence(here, capsys):
    whole = "".join(ordered(20))
    (here / "one.jsonl").write_text(whole.rstrip())
    given = ["follow", "one.jsonl", "algo=vfdt", "label=y", "-o", "a.jsonl"]
    assert main(given) == 0 and main(given) == 0 and len(answers(here / "a.jsonl")) == 20
    (here / "one.jsonl").write_text(whole.rstrip() + "1" + whole)
    assert main(given) == 2 and "which had no line end" in capsys.readouterr().err


def test_a_state_that_is_cut_off_is_a_sentence(here, capsys):
    (here / "one.jsonl").write_text("".join(ordered(20)))
    assert main(["follow", "one.jsonl", "algo=vfdt", "label=y", "state=s.npz"]) == 0
    (here / "s.npz").write_bytes((here / "s.npz").read_bytes()[:300])
    assert main(["follow", "one.jsonl", "algo=vfdt", "label=y", "state=s.npz"]) == 2
    assert "s.npz is no state of follow" in capsys.readouterr().err


def test_a_state_without_an_ending_is_the_file_that_is_saved(here, capsys):
    (here / "one.jsonl").write_text("".join(ordered(20)))
    given = ["follow", "one.jsonl", "algo=vfdt", "label=y", "state=s"]
    for seen in (20, 20):
        assert main(given) == 0 and (here / "s.npz").exists() and not (here / "s").exists()
        assert f"{seen} rows" in capsys.readouterr().err
    assert main(["follow", "one.jsonl", "algo=vfdt", "label=y", "algo.grace_period=7", "state=s"]) == 2


def test_half_a_character_and_the_columns_of_a_row_that_cannot_be_read_are_answered(here, capsys):
    odd = '{"id": "\\ud83d", "x": 2.0, "y": "b"}\n{"id": 7, "x": "1e400", "z": [1], "y": "a"}\n'
    (here / "odd.jsonl").write_text(odd)
    assert main(["follow", "odd.jsonl", "algo=vfdt", "label=y", "id=id", "bad=skip", "-o", "a.jsonl"]) == 0
    assert [row["id"] for row in answers(here / "a.jsonl")] == ["\ud83d", 7]


def test_the_column_of_the_label_may_be_copied(here, capsys):
    (here / "one.jsonl").write_text("".join(ordered(20)))
    assert main(["follow", "one.jsonl", "algo=vfdt", "label=y", "id=y", "-o", "a.jsonl"]) == 0
    assert "20 labels" in capsys.readouterr().err and all("y" in row for row in answers(here / "a.jsonl"))


def test_a_socket_is_followed(here):
    rows, server = made(60), socket.create_server(("127.0.0.1", 0))

    def serve():
        connection, _ = server.accept()
        with connection:
            for row in rows:
                connection.sendall(jsonl([row]).encode())

    thread = threading.Thread(target=serve)
    thread.start()
    assert main(["follow", *WORDS, f"tcp://127.0.0.1:{server.getsockname()[1]}", "-o", "out.jsonl"]) == 0
    thread.join()
    server.close()
    assert answers(here / "out.jsonl") == expected(rows)


def test_bad_rows_end_it_or_are_answered_with_the_reason(here, capsys):
    rows = [jsonl([row]) for row in made(6)]
    rows[2], rows[4] = "[1, 2]\n", '{"t": 4, "a": {"deep": 1}, "kind": "no"}\n'
    (here / "live.jsonl").write_text("".join(rows))
    assert main(["follow", *WORDS, "live.jsonl", "-o", "out.jsonl"]) == 2
    assert capsys.readouterr().err.startswith("boostrun: row 3: it cannot be read: it is no object")
    assert len(answers(here / "out.jsonl")) == 2
    assert main(["follow", *WORDS, "live.jsonl", "-o", "out.jsonl", "bad=skip"]) == 0
    found = answers(here / "out.jsonl")
    assert [one["row"] for one in found] == [1, 2, 3, 4, 5, 6]
    assert ["error" in one for one in found] == [False, False, True, False, True, False]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["algo=vfdt"], "label=NAME"),
        (["algo=geem", "label=kind"], "needs an algorithm for streams"),
        (["label=kind"], "needs an algorithm for streams"),
        (["algo=vfdt", "label=kind", "every=0"], "every=0"),
        (["algo=vfdt", "label=kind", "bad=maybe"], "stop or skip"),
        (["algo=vfdt", "label=kind", "tcp://nowhere"], "tcp://HOST:PORT"),
        (["algo=vfdt", "label=kind", "absent.jsonl"], "absent.jsonl"),
        (["algo=vfdt", "label=kind", "algo.depht=3"], "depht"),
        (["algo=vfdt", "label=wrong", "live.csv"], "no column 'wrong'"),
        (["algo=vfdt", "label=kind", "state=live.csv", "live.csv"], "no state of follow"),
        (["algo=vfdt", "label=kind", "live.csv", "-o", "live.csv"], "-o live.csv is also read"),
        (["algo=vfdt", "label=kind", "live.csv", "-o", "follow.npz"], "-o follow.npz is also state="),
        (["algo=vfdt", "label=kind", "live.csv", "state=none/s.npz"], "there is no such folder"),
        (["algo=vfdt", "label=wrong", "live.csv", "-o", "new.jsonl"], "no column 'wrong'"),
        (["algo=vfdt", "label=kind", "live.csv", "state=.", "-o", "new.jsonl"], "no state of follow"),
    ],
)
def test_a_sentence_says_what_is_wrong(here, capsys, words, said):
    (here / "live.csv").write_text("a,kind\n1,x\n")
    assert main(["follow", *words]) == 2 and not (here / "new.jsonl").exists() and not (here / "follow.npz").exists()
    found = capsys.readouterr().err
    assert said in found and "Traceback" not in found and (here / "live.csv").read_text() == "a,kind\n1,x\n"


def test_what_is_no_file_of_its_answers_is_left_as_it_is(here, capsys):
    (here / "live.jsonl").write_text(jsonl(made(2000)))
    (here / "diary.txt").write_text("mine\n" * 100_000)
    assert main(["follow", *WORDS, "live.jsonl", "-o", "out.jsonl"]) == 0
    assert main(["follow", *WORDS, "live.jsonl", "-o", "diary.txt"]) == 2
    assert "does not hold the answers to row 2000" in capsys.readouterr().err
    assert (here / "diary.txt").read_text() == "mine\n" * 100_000
    assert main(["follow", *WORDS, "live.jsonl", "state=other.npz"]) == 0  # to standard output
    assert main(["follow", *WORDS, "live.jsonl", "state=other.npz", "-o", "diary.txt"]) == 2
    (here / "out.jsonl").rename(here / "moved.jsonl")
    assert main(["follow", *WORDS, "live.jsonl", "-o", "moved.jsonl"]) == 0


def test_a_stream_without_rows_leaves_no_state_and_another_run_begins(here, capsys):
    (here / "live.csv").write_text("t,a,kind\n")
    for _ in range(2):
        assert main(["follow", *WORDS, "live.csv", "-o", "out.jsonl"]) == 0 and not (here / "follow.npz").exists()
    (here / "live.csv").write_text("t,a,kind\n1,2.5,x\n")
    for rows in ("goes on" not in capsys.readouterr().err, 1, 1):  # the second time there is nothing new
        assert main(["follow", *WORDS, "live.csv", "-o", "out.jsonl"]) == 0 and rows
    assert "no row has the column" not in capsys.readouterr().err and len(answers(here / "out.jsonl")) == 1


def test_columns_that_are_copied_or_order_rows_are_those_of_the_state_and_occur(here, capsys):
    (here / "live.jsonl").write_text(jsonl(made(20)))
    assert main(["follow", "algo=vfdt", "label=knd", "live.jsonl", "state=a.npz"]) == 0
    assert "no row has the column 'knd'" in capsys.readouterr().err
    assert main(["follow", "algo=vfdt", "label=kind", "id=t", "live.jsonl", "state=b.npz"]) == 0
    assert main(["follow", "algo=vfdt", "label=kind", "live.jsonl", "state=b.npz"]) == 2
    assert "label=kind id=t: give these settings" in capsys.readouterr().err


def test_the_state_of_other_settings_is_not_taken(here, capsys):
    (here / "live.jsonl").write_text(jsonl(made(30)))
    assert main(["follow", *WORDS, "live.jsonl", "-o", "out.jsonl"]) == 0
    assert main(["follow", "algo=vfdt", "label=kind", "live.jsonl", "-o", "out.jsonl"]) == 2
    assert "give these settings" in capsys.readouterr().err


@pytest.mark.slow
def test_killed_outright_again_and_again_it_ends_in_the_same_answers(here):
    rows = made(20_000)
    (here / "live.jsonl").write_text(jsonl(rows))
    words = command(*WORDS, "live.jsonl", "every=300")
    subprocess.run([*words, "-o", "calm.jsonl", "state=calm.npz"], check=True, capture_output=True)
    for wait in (1.0, 2.0, 2.5, 3.0):
        process = subprocess.Popen([*words, "-o", "out.jsonl"], stderr=subprocess.DEVNULL)
        time.sleep(wait)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    subprocess.run([*words, "-o", "out.jsonl"], check=True, capture_output=True)
    assert (here / "out.jsonl").read_bytes() == (here / "calm.jsonl").read_bytes()
