"""health and verify: what whoever is on call looks at first."""

from __future__ import annotations

import shlex

from tests.cli.doing import findings, in_flight, sql, start, until
from tests.cli.shell import Shell

KEYS = {"SAGA_KEYS": "k1:" + "A" * 43 + "="}


def test_health_is_well_when_nothing_is_left_to_do(shell: Shell) -> None:
    start(shell, "t1")
    shell.idle()
    assert findings(shell) == (
        0,
        {"no_key": "make a database with SAGA_KEYS=id:base64 set from the start"},
    )


def test_health_finds_due_runs_that_nobody_moves(shell: Shell) -> None:
    start(shell, "t1")
    code, found = findings(shell)
    assert (code, found["no_orchestrator"]) == (7, "saga orchestrator APP")
    (due,) = shell.saga("health", "--json").json["due"]
    assert (due["saga"], due["runs"], due["run_id"]) == ("trip", 1, "t1")
    assert due["late"] > 0
    with shell.orchestrator():
        assert shell.saga("wait", "t1", "--timeout", "5s").code == 0
        assert findings(shell)[0] == 0


def test_a_killed_orchestrator_is_seen_at_once(shell: Shell) -> None:
    process = shell.begin("orchestrator", "trips.py:app", "--lease", "15", "--poll", "0.05")
    process.says(" runs ")
    in_flight(shell, "t1")
    assert findings(shell)[0] == 0
    process.kill()
    assert findings(shell)[1]["no_orchestrator"]
    why = shell.json("why", "t1")
    assert why["rule"] == "no_orchestrator"
    assert f"(pid {process.pid} on " in why["evidence"][0]
    (shell.folder / "go").touch()


def test_health_counts_open_cases_and_stays_well(shell: Shell) -> None:
    start(shell, "t1", "Typo")
    shell.idle()
    answer = shell.saga("health", "--json")
    assert (answer.code, answer.json["open_cases"]) == (0, 1)
    assert "1 case waits for a person" in shell.saga("health").out


def test_a_stuck_sync_call_is_counted(shell: Shell) -> None:
    text = (shell.folder / "trips.py").read_text()
    stuck = text.replace("async def book_flight", "def book_flight").replace(
        '        case "Full"',
        '        case "Stuck":\n            time.sleep(60)\n        case "Full"',
    )
    (shell.folder / "trips.py").write_text(stuck)
    process = shell.begin("orchestrator", "trips.py:app", "--lease", "0.3", "--poll", "0.05")
    process.says(" runs ")
    start(shell, "t1", "Stuck")
    until(lambda: shell.saga("health", "--json").json["stuck"] == 1)
    code, found = findings(shell)
    assert code == 7
    assert "restart that process" in found["stuck"]
    assert shell.json("why", "t1")["holds"]
    process.kill()


# ---- verify, damaged runs


def test_verify_names_every_damaged_run_and_health_knows(shell: Shell) -> None:
    for run_id in ("t1", "t2", "t3"):
        start(shell, run_id)
    found = {"ok": True, "runs": 3, "tombstones": 0, "damages": [], "sealed": False}
    assert shell.json("verify") == found
    sql(shell, "UPDATE journal SET body = replace(body, 'Rome', 'Nome') WHERE run_id = 't2'")
    sql(shell, "UPDATE runs SET due_at = due_at + 1 WHERE run_id = 't3'")
    answer = shell.saga("verify", "--json")
    assert answer.code == 7
    assert [one["run_id"] for one in answer.json["damages"]] == ["t2", "t3"]
    assert shell.saga("verify", "t1").code == 0
    one = shell.saga("verify", "t2")
    assert (one.code, "seal does not verify" in one.out) == (7, True)
    assert shell.saga("verify", "t9").code == 3
    assert findings(shell)[1]["damaged"] == "saga verify t3"
    shell.database = shell.folder / "damaged on purpose"


def test_the_end_of_a_damaged_run_is_nobodys_word_for_anything(shell: Shell) -> None:
    """Its head says `completed`: whoever waits for that before the next step must not hear it."""
    start(shell, "t1")
    shell.idle()
    assert shell.saga("wait", "t1").code == 0
    sql(shell, "UPDATE journal SET body = replace(body, 'Rome', 'Nome') WHERE seq = 2")
    sql(shell, "DELETE FROM journal WHERE seq = 3")
    assert shell.saga("wait", "t1").code == 9
    assert shell.saga("wait", "t1", "--json").code == 9
    shell.database = shell.folder / "damaged on purpose"


def test_the_journal_of_a_damaged_run_shows_what_can_still_be_read(shell: Shell) -> None:
    changes = [
        "json_set(body, '$.events[0]', 'text')",
        "json_remove(body, '$.events[0].item')",
        "json_remove(body, '$.events[0].kind')",
        "json_set(body, '$.events[0].error', 'text')",
        "'not json'",
    ]
    for number in range(len(changes)):
        start(shell, f"t{number}")
    shell.idle()
    for number, change in enumerate(changes):
        sql(shell, f"UPDATE journal SET body = {change} WHERE run_id = 't{number}' AND seq = 2")
    for answer in shell.all([("journal", f"t{number}") for number in range(len(changes))]):
        assert (answer.code, "damaged:" in answer.out) == (0, True), answer.err
        assert "started trip" in answer.out
    shell.database = shell.folder / "damaged on purpose"


def test_a_damaged_run_is_shown_as_damaged_and_waited_for_as_a_case(shell: Shell) -> None:
    start(shell, "t1")
    sql(shell, "UPDATE journal SET body = replace(body, 'Rome', 'Nome')")
    run = shell.json("show", "t1")
    assert (run["damaged"], run["phase"]) == (True, "running")
    assert shell.saga("wait", "t1", "--timeout", "10s").code == 9
    why = shell.json("why", "t1")
    assert (why["rule"], why["damaged"]) == ("damaged", True)
    assert why["freed_by"].endswith("then decide its case: an orchestrator opens it")
    shell.idle()
    (case,) = shell.json("cases")
    freed = shell.json("why", "t1")["freed_by"]
    assert freed.endswith(f"then decide its case: saga case {case['id']}")
    assert (case["kind"], list(case["verdicts"])) == ("damaged", ["retry", "accept"])
    assert shell.saga("show", "t1").code == 0
    assert findings(shell)[0] == 7
    page = shell.saga("case", case["id"]).out
    again, aside = (
        shlex.split(line)[1:] for line in page.splitlines() if line.startswith("    saga resolve")
    )
    assert shell.saga(*again).code == 5  # it is still damaged
    assert shell.saga(*aside).code == 0
    assert findings(shell)[0] == 0
    assert shell.saga("verify").code == 7
    shell.database = shell.folder / "damaged on purpose"


def test_a_database_with_keys_is_never_opened_without_them(shell: Shell) -> None:
    start(shell, "t1", env=KEYS)
    for words in (("show", "t1"), ("verify",), ("health",), ("db", "check")):
        answer = shell.saga(*words)
        assert answer.code in (6, 7), (words, answer)
    answer = shell.saga("orchestrator", "trips.py:app", "--until-idle")
    assert answer.code == 6
    assert "SAGA_KEYS" in answer.err
    assert shell.json("verify", env=KEYS)["sealed"] is True
    assert "A" * 43 not in answer.err
    assert shell.saga("show", "t1", env={"SAGA_KEYS": "k1:nonsense"}).code == 6
    shell.database = shell.folder / "sealed"
