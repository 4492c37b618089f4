"""Cases and verdicts: what a person may decide, when, and what follows."""

from __future__ import annotations

from math import inf

import pytest

from saga.machine.commands import Resolve
from saga.machine.verdicts import not_before, verdicts
from tests.machine.ride import Ride, refusal
from tests.machine.sagas import line, saga


def offered(ride: Ride, name: str) -> set[str]:
    return set(verdicts(ride.spec, ride.state, ride.case(name), ride.now))


def unknown(words: str = "keys once") -> Ride:
    """One step, unknown at 1, and a person must decide."""
    ride = Ride(line(words))
    ride.go()
    ride.wait(1)
    ride.reply("a", "unknown")
    if "query" in words:
        ride.wait_until_due()
        ride.probe("a", "cannot_say")
    assert ride.cases == ["unknown a"]
    return ride


def stuck_undo(result: str = "refused", words: str = "keys once") -> Ride:
    ride = Ride(line(words, "keys"))
    ride.done("a")
    ride.go()
    ride.reply("b", "refused")
    ride.go()
    ride.reply("undo a", result)
    return ride


def test_a_person_must_have_looked_when_nothing_could_arrive_any_more() -> None:
    """send_by 1 + in_flight 2 + visible_after 1."""
    ride = unknown()
    for verdict in ("absent", "retry", "undone"):
        assert not_before(ride.spec, ride.state, ride.case("a"), verdict) == 4.0
        assert refusal(ride.resolve("a", verdict, evidence="yes")) == "too_early"
    ride.wait(3)
    assert refusal(ride.resolve("a", "absent", looked_at=3.9)) == "not_looked"
    assert refusal(ride.resolve("a", "absent", looked_at=5.0)) == "not_looked"  # in the future
    ride.resolve("a", "absent")
    assert ride.action("a").state == "absent"


def test_where_the_provider_cannot_be_asked_late_until_is_the_bound() -> None:
    ride = unknown("keys once late")
    assert not_before(ride.spec, ride.state, ride.case("a")) == 7.0


def test_while_a_call_is_in_its_thread_nobody_can_say_that_it_did_not_happen() -> None:
    ride = Ride(line("keys once"))
    ride.go()
    ride.wait(1)
    ride.reply("a", "unknown", running=True)
    assert not_before(ride.spec, ride.state, ride.case("a")) == inf
    ride.wait(100)
    assert refusal(ride.resolve("a", "absent")) == "too_early"


def test_landed_and_accept_need_no_look() -> None:
    for verdict in ("landed", "accept"):
        ride = unknown()
        assert not_before(ride.spec, ride.state, ride.case("a"), verdict) is None
        ride.resolve("a", verdict, receipt="found it", looked_at=0.0)
        assert ride.cases == []


def test_an_undeclared_bound_is_named_and_so_is_the_risk_of_a_retry() -> None:
    ride = unknown("nothing")
    assert "No bound is declared" in ride.case("a").text
    assert (
        "that risk is yours" in verdicts(ride.spec, ride.state, ride.case("a"), ride.now)["retry"]
    )


def test_a_verdict_binds_to_the_version_that_was_shown() -> None:
    ride = unknown("query once")
    shown = ride.case("a").version
    ride.resolve("a", "probe")
    ride.probe("a", "cannot_say")
    ride.wait(10)
    assert refusal(ride.resolve("a", "absent", case_version=shown)) == "stale_case"
    ride.resolve("a", "absent")
    assert ride.cases == []


def test_evidence_closes_the_case_and_a_later_verdict_is_turned_down() -> None:
    ride = unknown()
    case = ride.case("a")
    ride.report("a")
    assert (case.state, case.verdict, ride.phase) == ("closed", None, "completed")
    verdict = Resolve(
        at=9.0,
        case=case.id,
        verdict="accept",
        actor="ada",
        reason="",
        case_version=case.version,
        looked_at=9.0,
    )
    assert refusal(ride.tell(verdict)) == "case_closed"


def test_what_is_possible_depends_on_the_case() -> None:
    assert offered(unknown(), "a") == {"retry", "landed", "absent", "undone", "accept"}
    assert offered(unknown("query once"), "a") >= {"probe"}
    assert offered(stuck_undo(), "undo a") == {"retry", "landed", "undone", "accept"}
    ride = unknown()
    ride.cancel()
    assert offered(ride, "a") == {"landed", "absent", "undone", "accept"}
    assert refusal(ride.resolve("a", "retry")) == "not_possible"
    assert refusal(ride.resolve("a", "maybe")) == "not_possible"


def test_landed_needs_the_receipt_and_undone_needs_evidence() -> None:
    ride = unknown()
    assert refusal(ride.resolve("a", "landed")) == "needs_receipt"
    ride.wait(9)
    assert refusal(ride.resolve("a", "undone")) == "needs_evidence"
    assert refusal(ride.resolve("a", "undone", evidence="")) == "needs_evidence"


def test_probe_asks_now_and_leaves_the_case_open_until_it_is_settled() -> None:
    ride = unknown("query once")
    assert ride.asks == []
    ride.resolve("a", "probe")
    assert (ride.asks, ride.cases) == (["a"], ["unknown a"])
    ride.probe("a", "landed")
    assert (ride.phase, ride.cases) == ("completed", [])


def test_a_retry_counts_from_zero() -> None:
    ride = stuck_undo("not_sent", "keys")
    ride.wait_until_due()
    ride.go()
    ride.reply("undo a", "not_sent")
    for _ in range(3):
        assert ride.cases == ["undo_exhausted undo a"]
        ride.resolve("undo a", "retry")
        for _ in range(2):
            ride.wait_until_due()
            assert ride.go() == ["undo a"]
            ride.reply("undo a", "not_sent")
    assert ride.action("undo a").attempts == 8


@pytest.mark.parametrize(
    ("words", "result", "key"),
    [
        ("keys once", "refused", "i/r/a/-@1/undo@1~2"),
        ("keys once", "not_sent", "i/r/a/-@1/undo@1"),
        ("query once", "not_sent", "i/r/a/-@1/undo@1~2"),
    ],
)
def test_a_retry_has_a_new_key_where_it_was_refused_or_keys_mean_nothing(
    words: str, result: str, key: str
) -> None:
    ride = stuck_undo(result, words)
    ride.resolve("undo a", "retry")
    assert ride.go() == ["undo a"]
    assert ride.action("undo a").key == key


def test_a_retry_counts_the_life_of_the_key_from_the_look() -> None:
    ride = unknown("keys query once forgetful")
    ride.wait(100)
    ride.resolve("a", "retry", looked_at=ride.now - 0.5)
    assert (ride.action("a").first_at, ride.go()) == (ride.now - 1.5, ["a"])


def test_a_retry_that_rests_on_an_old_look_is_read_again_where_that_is_possible() -> None:
    for words, again in (("keys query once forgetful", []), ("keys once forgetful", ["a"])):
        ride = unknown(words)
        ride.wait(10)
        ride.resolve("a", "retry")
        ride.wait(10)
        assert ride.go() == again
        assert (ride.asks == ["a"]) is not bool(again)


def test_a_retry_of_an_unknown_without_keys_leaves_the_old_key_behind_as_absent() -> None:
    ride = unknown("nothing")
    old = ride.action("a")
    ride.resolve("a", "retry")
    assert ride.go() == ["a"]
    assert (old.state, old.superseded, ride.action("a").generation) == ("absent", True, 2)


def test_absent_is_as_absent_by_protocol() -> None:
    for words, key in (("keys", "i/r/a/-@1"), ("nothing", "i/r/a/-@1~2")):
        ride = Ride(line(words))
        ride.go()
        ride.reply("a", "unknown")
        if not ride.cases:
            ride.wait_until_due()
            ride.go()
            ride.reply("a", "unknown")
        ride.wait(9)
        ride.wake()
        ride.resolve("a", "absent")
        assert (ride.go(), ride.phase) in ((["a"], "running"), ([], "compensated"))
        assert ride.action("a").key == key


def test_undone_and_accept_on_a_forward_action_turn_the_run_round() -> None:
    for verdict, outcome in (("undone", "compensated"), ("accept", "settled")):
        ride = Ride(line("keys", "nothing"))
        ride.done("a")
        ride.go()
        ride.wait(1)
        ride.reply("b", "unknown")
        ride.resolve("b", verdict, evidence="I did it")
        assert (ride.phase, ride.state.cause) == ("compensating", "person")
        ride.done("undo a")
        assert ride.phase == outcome


def test_undone_on_an_undo_counts_as_a_landed_undo() -> None:
    ride = stuck_undo()
    ride.resolve("undo a", "undone", evidence="by phone")
    assert (ride.phase, ride.action("undo a").state) == ("compensated", "landed")
    assert ride.action("undo a").receipt == {"evidence": "by phone"}


def test_an_endless_unknown_is_one_open_case() -> None:
    ride = unknown()
    for _ in range(5):
        ride.wait(1000)
        assert refusal(ride.wake()) == "nothing_due"
    assert ride.cases == ["unknown a"]


def test_a_later_dead_end_of_the_same_action_is_a_new_case() -> None:
    ride = unknown()
    first = ride.case("a").id
    ride.wait(9)
    ride.resolve("a", "retry")
    ride.go()
    ride.reply("a", "unknown")
    assert (first, ride.case("a").id) == ("r/1", "r/2")


def test_a_case_about_sending_again_is_moot_when_the_run_is_undone() -> None:
    ride = Ride(saga(["keys query forgetful", "keys"], [[], []]))
    ride.go()
    ride.reply("a", "unknown")
    ride.wait(10)
    ride.probe("a", "absent")
    ride.wait(1)
    ride.probe("a", "absent")
    ride.wait(30)  # too old a proof, and the provider will not prove it again
    for _ in range(2):
        ride.probe("a", "cannot_say")
        ride.wait(10)
    assert ride.cases == ["exhausted a"]
    ride.reply("b", "refused")
    assert (ride.cases, ride.phase) == ([], "compensated")
