"""start, runs, show, why, wait, cancel: through the command line, as processes."""

from __future__ import annotations

import json
import shlex
from datetime import datetime

import pytest

from saga import Client
from saga.cli.surface import Surface, plain
from tests.cli.shell import Shell

ROME = '{"city": "Rome"}'
KEEP = '{"city": "Keep"}'


def start(shell: Shell, run_id: str, city: str, *more: str) -> None:
    words = ("start", "trips.py:app", "trip", run_id, json.dumps({"city": city}), *more)
    assert shell.saga(*words).code == 0


def test_start_makes_the_database_and_says_who_must_move_it(shell: Shell) -> None:
    answer = shell.saga("start", "trips.py:app", "trip", "t1", ROME)
    assert (answer.code, answer.err) == (0, "")
    assert shell.database.is_file()
    assert "No live orchestrator runs trip@1:\n  saga orchestrator trips.py:app\n" in answer.out


def test_no_other_verb_makes_a_database(shell: Shell) -> None:
    readers = (
        ("runs",),
        ("show", "t1"),
        ("why", "t1"),
        ("wait", "t1"),
        ("cancel", "t1", "--reason", "x"),
        ("park", "t1", "--reason", "x"),
        ("signal", "t1", "paid", "--message-id", "m1"),
        ("cases",),
        ("case", "t1/1"),
        ("resolve", "t1/1", "probe", "--reason", "x"),
        ("health",),
        ("verify",),
        ("pause", "--saga", "trip", "--reason", "x"),
        ("resume", "--saga", "trip"),
        ("db", "check"),
        ("db", "upgrade"),
    )
    for words, answer in zip(readers, shell.all(readers), strict=True):
        assert answer.code == 6, (words, answer)
        assert f"no database at {shell.database}" in answer.err, (words, answer)
    assert not shell.database.exists()


def test_the_input_is_text_a_file_or_stdin(shell: Shell) -> None:
    (shell.folder / "rome.json").write_text(ROME)
    inputs = {"text": ROME, "file": "@rome.json", "stdin": "-"}
    for run_id, given in inputs.items():
        words = ("start", "trips.py:app", "trip", run_id, given)
        assert shell.saga(*words, stdin=ROME.encode()).code == 0
    assert [run["id"] for run in shell.json("runs")] == ["file", "stdin", "text"]


def test_a_live_orchestrator_is_not_asked_for(served: Shell) -> None:
    run = served.json("start", "trips.py:app", "trip", "quiet", ROME, "--wait")
    assert (run["outcome"], run["notice"]) == ("completed", "")


def test_the_same_start_again_gives_the_run_that_is_there(served: Shell) -> None:
    words = ("start", "trips.py:app", "trip", "again", ROME)
    assert served.saga(*words, "--wait").code == 0
    answer = served.saga(*words)
    assert answer.code == 0
    text = " ".join(answer.out.split())
    assert "Already started at 2" in text
    assert ", completed; use another run id." in text


def test_the_same_id_with_another_input_is_a_conflict(served: Shell) -> None:
    start(served, "taken", "Rome")
    answer = served.saga("start", "trips.py:app", "trip", "taken", '{"city": "Paris"}', "--json")
    assert (answer.code, answer.out) == (4, "")
    assert answer.error["error"] == "Conflict"
    assert answer.error["remedy"] == "use another run id"


def test_an_edited_saga_under_the_same_version_is_a_conflict_that_shows_the_difference(
    shell: Shell,
) -> None:
    start(shell, "t1", "Rome")
    text = (shell.folder / "trips.py").read_text()
    edited = text.replace('"flight.book",', '"flight.buy",')
    (shell.folder / "trips.py").write_text(edited)
    answer = shell.saga("start", "trips.py:app", "trip", "t2", ROME)
    assert answer.code == 4
    assert "effect was flight.book@1, is flight.buy@1" in answer.err
    assert "use version=2" in answer.err
    assert [run["id"] for run in shell.json("runs")] == ["t1"]


@pytest.mark.parametrize(
    ("city", "code", "outcome"),
    [("Rome", 0, "completed"), ("Full", 8, "compensated"), ("Typo", 9, None)],
)
def test_the_exit_code_of_waiting_tells_how_it_went(
    served: Shell, city: str, code: int, outcome: str | None
) -> None:
    words = ("start", "trips.py:app", "trip", f"ends-{city}", json.dumps({"city": city}), "--wait")
    answer = served.saga(*words, "--json")
    assert (answer.code, answer.json["outcome"], answer.err) == (code, outcome, "")
    again = served.saga("wait", f"ends-{city}", "--timeout", "1s", "--json")
    assert (again.code, again.json) == (code, answer.json)


def test_waiting_longer_than_the_time_out_is_ten_and_shows_the_run(shell: Shell) -> None:
    words = ("start", "trips.py:app", "trip", "t1", ROME, "--wait", "--timeout", "0.1")
    answer = shell.saga(*words, "--json")
    assert (answer.code, answer.json["phase"]) == (10, "running")
    assert answer.error["error"] == "TimeoutError"
    assert shell.saga("wait", "t1", "--timeout", "0").code == 10


def test_runs_are_listed_by_phase_saga_and_page(served: Shell) -> None:
    for number in range(3):
        start(served, f"page-{number}", "Rome", "--wait")
    page = served.json("runs", "--limit", "2", "--after", "page-", "--phase", "ended")
    assert [run["id"] for run in page] == ["page-0", "page-1"]
    assert served.json("runs", "--saga", "no-such-saga") == []


def test_a_run_is_shown_with_steps_keys_receipts_and_undos(served: Shell) -> None:
    words = ("start", "trips.py:app", "trip", "shown", '{"city": "Full"}', "--wait")
    assert served.saga(*words).code == 8
    out = served.saga("show", "shown").out
    key = served.json("show", "shown")["steps"][0]["key"]
    for text in (
        "outcome  compensated",
        "cause    refused at flight (saga.Refused: no seats)",
        'receipt  {"booking_id": "H-shown"}',
        f"key  {key}/undo@1",
    ):
        assert text in out, text


def test_json_is_the_python_object_field_by_field(served: Shell) -> None:
    start(served, "fields", "Rome", "--wait")
    client = Client(f"sqlite:///{served.database}")
    assert served.json("show", "fields") == plain(client.show("fields"))
    why, found = plain(client.why("fields")), served.json("why", "fields")
    for one in (*why["orchestrators"], *found["orchestrators"]):
        datetime.fromisoformat(one.pop("beat_at"))  # it may beat between the two
    assert found == why
    assert served.json("wait", "fields") == plain(client.show("fields"))
    started = datetime.fromisoformat(served.json("show", "fields")["started_at"])
    assert started.utcoffset() is not None


def test_why_names_rule_evidence_wake_up_and_way_out(served: Shell) -> None:
    start(served, "down", "Down")
    while (why := served.json("why", "down"))["rule"] != "retry":
        assert why["phase"] == "running"
    assert why["holds"][0]["step"] == "flight"
    assert any("the airline does not answer" in line for line in why["evidence"])
    assert datetime.fromisoformat(why["next_wake_up"]).utcoffset() is not None
    assert why["freed_by"]
    assert why["notice"] == ""
    out = served.saga("why", "down").out
    assert "rule      retry" in out
    assert served.saga("cancel", "down", "--reason", "enough").code == 0


def test_why_says_that_nobody_runs_it_with_the_command(shell: Shell) -> None:
    start(shell, "t1", "Rome")
    answer = shell.saga("why", "t1", env={"SAGA_APP": "trips.py:app"})
    assert answer.code == 0
    assert "no_orchestrator" in answer.out
    assert "\n  saga orchestrator trips.py:app\n" in answer.out


def test_cancel_undoes_a_run_and_again_changes_nothing(shell: Shell) -> None:
    start(shell, "t1", "Down")
    shell.idle()
    first = shell.json("cancel", "t1", "--reason", "changed my mind", "--by", "ada")
    assert first["phase"] == "compensating"
    assert shell.json("cancel", "t1", "--reason", "again") == first
    shell.idle()
    run = shell.json("show", "t1")
    assert (run["outcome"], run["cause"]) == ("compensated", "cancelled")
    page = shell.saga("show", "t1").out
    assert "cancelled by ada" in page
    assert "changed my mind" in page
    told = " ".join(shell.saga("journal", "t1").out.split())
    assert "client cancel recorded by ada - changed my mind" in told
    assert "landed undo of hotel (attempt 1)" in told


def test_cancel_of_an_ended_run_is_not_allowed(served: Shell) -> None:
    start(served, "over", "Rome", "--wait")
    answer = served.saga("cancel", "over", "--reason", "too late", "--json")
    assert (answer.code, answer.error["error"]) == (5, "NotAllowed")


def test_the_database_is_named_before_or_after_the_verb_and_wins_over_the_environment(
    shell: Shell,
) -> None:
    env = {"SAGA_DATABASE_URL": "sqlite:///wrong.db"}
    right = ("--db", "sqlite:///right.db")
    assert shell.saga(*right, "start", "trips.py:app", "trip", "t1", ROME, env=env).code == 0
    assert shell.saga("show", "t1", *right, env=env).code == 0
    assert shell.saga("show", "t1", env=env).code == 6
    assert shell.saga("--json", "show", "t1", *right, env=env).json["id"] == "t1"
    assert not shell.database.exists()
    shell.database = shell.folder / "right.db"


def test_commands_to_paste_name_the_database_that_was_named(shell: Shell) -> None:
    url = "sqlite:///other.db"
    answer = shell.saga("start", "trips.py:app", "trip", "t1", ROME, "--db", url)
    assert f"\n  saga orchestrator --db {url} trips.py:app\n" in answer.out
    page = shell.saga("runs", "--limit", "1", "--db", url)
    assert page.err == f"There may be more: saga runs --db {url} --limit 1 --after t1\n"
    unknown = shell.saga("show", "t2", "--db", url)
    assert unknown.err.splitlines()[-1] == f"  see: saga runs --db {url}"
    assert shell.saga("--db", url, "show", "t2").err == unknown.err
    remedy = shell.saga("--db", url, "case", "t1/9", "--json").error["remedy"]
    assert remedy == f"see: saga cases --db {url}"
    shell.database = shell.folder / "other.db"


EXCLUSIVE = """
from trips import App, Saga, flight, hotel, trip

app = App(Saga("one-city", trip, [hotel, flight], exclusive=trip.city))
"""


def test_park_lets_the_next_run_have_the_turn(shell: Shell) -> None:
    (shell.folder / "one_city.py").write_text(EXCLUSIVE)
    for run_id in ("t1", "t2"):
        assert shell.saga("start", "one_city.py:app", "one-city", run_id, KEEP).code == 0
    assert "turn     holds (Keep)" in shell.saga("show", "t1").out
    refused = shell.saga("park", "t1", "--reason", "not yet")
    assert refused.code == 5
    assert "only a run with an open case can be parked" in refused.err
    assert shell.saga("orchestrator", "one_city.py:app", "--until-idle").code == 0
    why = shell.json("why", "t2")
    assert why["rule"] == "turn"
    assert "saga park t1 --reason TEXT" in why["freed_by"]
    parked = shell.json("park", "t1", "--reason", "the hotel is asked", "--by", "ada")
    assert (parked["turn"], parked["resource"], len(parked["cases"])) == (None, "Keep", 1)
    assert shell.saga("orchestrator", "one_city.py:app", "--until-idle").code == 0
    assert shell.json("show", "t2")["turn"] == "holds"  # its undo is refused, too


def test_a_page_of_runs_that_may_not_be_all_says_how_to_go_on(shell: Shell) -> None:
    for number in range(3):
        start(shell, f"t{number}", "Rome")
    answer = shell.saga("runs", "--limit", "2", "--saga", "trip")
    assert answer.err == "There may be more: saga runs --saga=trip --limit 2 --after t1\n"
    rest = shell.saga(*answer.err.split("saga ", 1)[1].split())
    assert ("t2" in rest.out, rest.err) == (True, "")


def test_who_waits_is_told_at_once_that_nobody_runs_it(shell: Shell) -> None:
    words = ("start", "trips.py:app", "trip", "t1", ROME, "--wait", "--timeout", "0")
    answer = shell.saga(*words)
    assert answer.code == 10
    assert answer.err.startswith("no live orchestrator runs trip@1; start one: saga orchestrator")


def test_no_command_to_paste_holds_a_password() -> None:
    """What is printed goes into tickets."""
    for given, shown in (
        ("postgresql://ada:s3:cr%40t@db.internal/sagas", "postgresql://ada@db.internal/sagas"),
        (
            "postgresql://ada@h/s?password=s3&sslmode=require",
            "postgresql://ada@h/s?sslmode=require",
        ),
        ("postgresql://ada:s3@h1:1,h2:2/s", "postgresql://ada@h1:1,h2:2/s"),
        ("sqlite:////tmp/a:b@c/saga.db", "sqlite:////tmp/a:b@c/saga.db"),
    ):
        command = Surface(given, lambda _: None, as_json=False).command("runs")
        assert shlex.split(command) == ["saga", "runs", "--db", shown]


def test_a_command_of_two_words_is_named_whole() -> None:
    found = Surface("sqlite:///x.db", lambda _: None, as_json=False).command("db", "upgrade")
    assert found == "saga db upgrade --db sqlite:///x.db"
