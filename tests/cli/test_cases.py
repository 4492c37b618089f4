"""cases, case, resolve: what a person reads, and what becomes of what is pasted."""

from __future__ import annotations

import json
import re
import shlex
import time
from dataclasses import replace
from datetime import datetime, timedelta

from saga import Client
from saga.cli.pages import printed
from saga.cli.surface import plain
from tests.cli.shell import Answer, Shell

TRIP = ("start", "trips.py:app", "trip")


def case_of(shell: Shell, run_id: str, city: str = "Typo", note: str = "") -> str:
    """A run that has come to a case, and that case, once a verdict on it is not too early."""
    words = (*TRIP, run_id, json.dumps({"city": city, "note": note}), "--wait", "--json")
    answer = shell.saga(*words)
    assert answer.code == 9, answer
    (case,) = answer.json["cases"]
    not_before = shell.json("case", case)["not_before"]
    if not_before is not None:
        wait = datetime.fromisoformat(not_before).timestamp() - time.time()
        time.sleep(max(wait, 0.0) + 0.01)
    return str(case)


def pasted(shell: Shell, case: str, verdict: str) -> Answer:
    """Paste the command that `saga case` shows for a verdict into a shell, as it is."""
    page = shell.saga("case", case).out
    (line,) = [line for line in page.splitlines() if f" {verdict} --reason" in line]
    words = shlex.split(line)
    assert words[:2] == ["saga", "resolve"]
    assert {"--case-version", "--looked-at"} <= set(words)
    return shell.saga(*words[1:])


def test_the_queue_lists_open_cases_and_no_others(served: Shell) -> None:
    case = case_of(served, "queue")
    assert case in [found["id"] for found in served.json("cases")]
    assert case in served.saga("cases").out
    assert pasted(served, case, "accept").code == 0
    assert case not in [found["id"] for found in served.json("cases")]
    closed = {found["id"]: found for found in served.json("cases", "--state", "closed")}
    assert closed[case]["verdict"] == "accept"


def test_a_case_shows_each_possible_verdict_its_consequence_and_the_command(
    served: Shell,
) -> None:
    case = case_of(served, "page")
    found = served.json("case", case)
    page = served.saga("case", case).out
    flat = re.sub(r"\s+", " ", page)
    assert list(found["verdicts"]) == ["retry", "landed", "absent", "undone", "accept"]
    for verdict, consequence in found["verdicts"].items():
        assert f"{verdict} {consequence}" in flat
        assert f"    saga resolve {case} {verdict} --reason" in page
    assert "NameError: name 'ticket' is not defined" in page
    assert "receipt (note, seat, ticket_id) to receipt.json" in flat


def test_what_would_be_refused_as_too_early_is_not_offered_for_pasting(served: Shell) -> None:
    found = Client(f"sqlite:///{served.database}").case(case_of(served, "early"))
    assert found.not_before is not None
    early = replace(found, read_at=found.not_before - timedelta(seconds=1))
    page = printed("case", early, lambda *words: shlex.join(words))
    offered = [words[2] for line in page.splitlines() if (words := line.split())[:1] == ["resolve"]]
    assert offered == ["landed", "accept"]
    assert "Too early for retry, absent and undone" in page
    assert '\nsends   {"city": "Typo", "note": ""}\n' in page
    busy = printed("case", replace(early, running=True), lambda *words: shlex.join(words))
    assert "until its call returns or its process ends" in " ".join(busy.split())
    for verdict in early.verdicts:
        assert f"\n  {verdict}  " in page


def test_a_receipt_with_another_verdict_than_landed_is_not_dropped_silently(served: Shell) -> None:
    case = case_of(served, "slip")
    receipt = ("--receipt", '{"ticket_id": "F-1"}', "--reason", "found it")
    shown = ("--case-version", "1", "--looked-at", served.json("case", case)["read_at"])
    answer = served.saga("resolve", case, "absent", *receipt, *shown, "--json")
    assert (answer.code, answer.error["message"]) == (2, "absent takes no receipt")
    assert served.json("case", case)["state"] == "open"


def test_the_json_of_a_case_is_the_python_object(served: Shell) -> None:
    case = case_of(served, "object")
    mine = plain(Client(f"sqlite:///{served.database}").case(case))
    theirs = served.json("case", case)
    assert {**theirs, "read_at": mine["read_at"]} == mine
    again = next(found for found in served.json("cases") if found["id"] == case)
    assert {**again, "read_at": mine["read_at"]} == mine


def test_the_pasted_retry_sends_again(served: Shell) -> None:
    case = case_of(served, "retry")
    assert pasted(served, case, "retry").code == 0
    answer = served.saga("wait", "retry", "--timeout", "5s")
    assert answer.code == 9  # the typo is still there: a later dead end is a new case
    assert case not in answer.out


def test_the_pasted_landed_takes_the_receipt_from_its_file(served: Shell) -> None:
    case = case_of(served, "landed")
    (served.folder / "receipt.json").unlink(missing_ok=True)
    without = pasted(served, case, "landed")
    assert without.code == 2
    assert "receipt.json" in without.err
    (served.folder / "receipt.json").write_text('{"ticket_id": "F-by-hand"}')
    assert pasted(served, case, "landed").code == 0
    run = served.json("wait", "landed", "--timeout", "5s")
    assert (run["outcome"], run["steps"][1]["receipt"]["ticket_id"]) == ("completed", "F-by-hand")


def test_the_pasted_absent_and_undone_and_accept_do_what_they_say(served: Shell) -> None:
    (served.folder / "evidence.txt").write_text("their mail of today: cancelled")
    undone, accept = case_of(served, "undone"), case_of(served, "accept")
    assert pasted(served, undone, "undone").code == 0
    assert pasted(served, accept, "accept").code == 0
    run = served.saga("wait", "undone", "--timeout", "5s", "--json")
    assert (run.code, run.json["outcome"], run.json["cause"]) == (8, "compensated", "person")
    found = served.json("case", undone)
    assert found["evidence"] == "their mail of today: cancelled"
    run = served.saga("wait", "accept", "--timeout", "5s", "--json")
    assert (run.code, run.json["outcome"]) == (8, "settled")


def test_an_undo_that_is_refused_waits_and_goes_on_after_the_verdict(served: Shell) -> None:
    case = case_of(served, "keep", "Keep")
    assert served.json("case", case)["kind"] == "undo_refused"
    words = ("--reason", "voucher given", "--evidence", "-", "--by", "ada")
    shown = ("--case-version", "1", "--looked-at", served.json("case", case)["read_at"])
    answer = served.saga("resolve", case, "undone", *words, *shown, stdin="Gutschein 7 €".encode())
    assert answer.code == 0, answer
    found = served.json("case", case)
    assert (found["actor"], found["evidence"]) == ("ada", "Gutschein 7 €")
    assert served.saga("wait", "keep", "--timeout", "5s").code == 8


def test_a_case_that_has_changed_or_is_closed_is_a_conflict(served: Shell) -> None:
    case = case_of(served, "stale")
    shown = ("--reason", "x", "--looked-at", served.json("case", case)["read_at"], "--json")
    stale = served.saga("resolve", case, "accept", *shown, "--case-version", "7")
    assert (stale.code, stale.error["error"]) == (4, "Conflict")
    assert pasted(served, case, "accept").code == 0
    closed = served.saga("resolve", case, "accept", *shown, "--case-version", "1")
    assert (closed.code, closed.error["error"]) == (4, "Conflict")


TURNED_DOWN: list[tuple[tuple[str, ...], int]] = [
    (("accept",), 5),  # decided blindly
    (("accept", "--case-version", "1"), 5),
    (("nonsense", "--case-version", "1", "--looked-at", "2026-11-29T03:00:00+00:00"), 5),
    (("probe", "--case-version", "1", "--looked-at", "2026-11-29T03:00:00+00:00"), 5),
    (("landed", "--case-version", "1", "--looked-at", "2026-11-29T03:00:00+00:00"), 5),
    (("retry", "--case-version", "1", "--looked-at", "2001-01-01T00:00:00+00:00"), 5),
    (("accept", "--case-version", "one", "--looked-at", "2026-11-29T03:00:00+00:00"), 2),
    (("accept", "--case-version", "1", "--looked-at", "2026-11-29T03:00:00"), 2),
    (("accept", "--case-version", "1", "--looked-at", "yesterday"), 2),
    (("landed", "--receipt", '{"a": 1, "a": 2}'), 2),
    (("landed", "--receipt", "@no-such-file"), 2),
    (("landed", "--receipt", "[1]", "--case-version", "1", "--looked-at", "2026-11-29"), 2),
]


def test_a_verdict_that_cannot_be_taken_changes_nothing(served: Shell) -> None:
    case = case_of(served, "turned-down")
    before = served.json("show", "turned-down")
    commands = [("resolve", case, *words, "--reason", "x", "--json") for words, _ in TURNED_DOWN]
    for (words, code), answer in zip(TURNED_DOWN, served.all(commands), strict=True):
        assert answer.code == code, (words, answer)
        assert answer.error["message"]
    assert served.json("show", "turned-down") == before


def test_a_verdict_without_what_was_shown_is_refused_with_the_command_to_read_it(
    served: Shell,
) -> None:
    case = case_of(served, "blind")
    answer = served.saga("resolve", case, "accept", "--reason", "x")
    assert answer.code == 5
    assert f"saga case {case}" in answer.err


def test_a_receipt_that_names_another_action_is_a_conflict(served: Shell) -> None:
    case = case_of(served, "foreign")
    receipt = json.dumps({"ticket_id": "F-1", "idempotency_key": "of/another/action"})
    shown = ("--case-version", "1", "--looked-at", served.json("case", case)["read_at"])
    words = ("resolve", case, "landed", "--reason", "x", "--receipt", receipt, *shown)
    assert served.saga(*words).code == 4
    assert served.json("case", case)["state"] == "open"


def test_a_case_is_read_when_the_code_is_gone_and_nobody_runs(shell: Shell) -> None:
    assert shell.saga(*TRIP, "t1", '{"city": "Typo"}').code == 0
    shell.idle()
    (shell.folder / "trips.py").unlink()
    case = shell.json("show", "t1")["cases"][0]
    assert pasted(shell, case, "accept").code == 0
    assert "No live orchestrator runs trip@1" in shell.saga("show", "t1").out


def test_an_id_that_begins_with_a_dash_can_be_pasted_too(shell: Shell) -> None:
    words = ("start", "trips.py:app", "trip", "--", "-t1", '{"city": "Typo"}')
    assert shell.saga(*words).code == 0
    shell.idle()
    page = shell.saga("case", "--", "-t1/1").out
    (line,) = [line for line in page.splitlines() if line.endswith(" accept")]
    assert shell.saga(*shlex.split(line)[1:]).code == 0
