"""People agree to exactly one frozen intent, in time, or it is not sent."""

from __future__ import annotations

from saga.machine.commands import Cancel, Decide
from saga.machine.decide import Decision
from tests.machine.ride import Ride, refusal
from tests.machine.sagas import line


def decide(ride: Ride, actor: str = "ada", *, approve: bool = True, **other: object) -> Decision:
    action = ride.action("a")
    given: dict[str, object] = {"version": 7, "digest": action.digest, "reason": "I looked"}
    command = Decide(at=ride.now, step="a", approve=approve, actor=actor, **(given | other))  # type: ignore[arg-type]
    return ride.tell(command)


def asked(words: str = "keys approved") -> Ride:
    """One step, frozen at 0, that waits for its approval."""
    ride = Ride(line(words))
    ride.go()
    assert ride.told[-2:] == ["intended", "approval_asked"]
    assert ride.plan.due == 3.0
    return ride


def test_nothing_is_sent_before_it_is_approved() -> None:
    ride = asked()
    assert ride.go() == []
    decide(ride)
    assert ride.go() == ["a"]
    ride.reply("a", "landed")
    assert ride.phase == "completed"


def test_an_approval_is_bound_to_the_record_and_the_digest_that_were_shown() -> None:
    ride = asked()
    assert refusal(decide(ride, version=8)) == "stale_case"
    assert refusal(decide(ride, digest="sha256:other")) == "stale_case"
    assert ride.go() == []


def test_what_was_observed_is_bound_by_source_reference_and_hash() -> None:
    approval = asked().action("a").approval
    assert approval is not None
    assert (approval.source, approval.reference, approval.version) == ("input", "r", 7)
    assert approval.observation.startswith("sha256:")
    assert (approval.scope, approval.policy, approval.expires_at) == ("do@1", "1", 3.0)


def test_only_those_who_are_named_and_each_of_them_once() -> None:
    ride = asked("keys twice")
    assert refusal(decide(ride, "eve")) == "not_possible"
    decide(ride, "ada")
    assert refusal(decide(ride, "ada")) == "nothing_new"
    assert ride.go() == []
    decide(ride, "bob")
    assert ride.go() == ["a"]


def test_refused_is_refused_and_not_asked_again() -> None:
    ride = asked("keys approved lives")
    decide(ride, approve=False)
    assert (ride.phase, ride.state.cause) == ("compensated", "refused")
    assert ride.state.cause_error == {
        "type": "ApprovalRefused",
        "text": "ada: I looked",
        "leaves": [],
    }


def test_expired_is_no_refusal_and_a_late_decision_is_on_record_as_such() -> None:
    ride = asked()
    ride.wait(3)
    decide(ride)
    assert ride.told[-4:] == ["decision_refused", "refused", "winding_down", "ended"]
    assert ride.state.cause == "deadline"
    assert ride.state.cause_error is not None
    assert ride.state.cause_error["type"] == "ApprovalExpired"
    decide(ride, "bob")
    assert ride.told[-1] == "decision_refused"
    assert ride.phase == "compensated"


def test_approved_and_not_sent_in_time_has_expired() -> None:
    ride = asked()
    decide(ride)
    ride.wait(3)
    ride.wake()
    assert (ride.phase, ride.state.cause) == ("compensated", "deadline")


def test_used_up_is_neither_of_them() -> None:
    ride = asked()
    decide(ride)
    ride.go()
    decide(ride, "bob")
    assert ride.told[-1] == "decision_refused"
    ride.reply("a", "not_sent")
    ride.wait_until_due()
    assert ride.go() == ["a"]  # the same intent under the same key


def test_a_new_generation_needs_a_new_approval() -> None:
    ride = asked("keys approved lives")
    decide(ride)
    ride.go()
    ride.reply("a", "refused")
    ride.wait_until_due()
    assert ride.go() == []
    again = ride.action("a")
    assert (again.generation, again.state) == (2, "intended")
    assert again.approval is not None
    assert not again.approval.given
    decide(ride)
    assert ride.go() == ["a"]


def test_a_cancel_does_not_wait_for_anybody() -> None:
    ride = asked()
    ride.tell(Cancel(at=ride.now, reason="no more", actor=None))
    assert ride.phase == "compensated"
    assert ride.action("a").attempts == 0
    decide(ride)
    assert ride.told[-1] == "decision_refused"


def test_an_optional_one_is_skipped_when_nobody_approves() -> None:
    ride = asked("keys approved optional")
    ride.wait(3)
    ride.wake()
    assert (ride.phase, ride.action("a").state) == ("completed", "skipped")


def test_what_is_so_already_is_passed_over_with_its_evidence() -> None:
    ride = Ride(line("keys", "keys"))
    ride.go()
    ride.reply("a", "satisfied", receipt={"status": "closed"})
    assert (ride.action("a").state, ride.action("a").evidence) == ("skipped", {"status": "closed"})
    ride.go()
    ride.reply("b", "refused")
    assert ride.phase == "compensated"  # nothing to undo


def test_it_settles_nothing_after_an_attempt_that_may_have_made_it_so() -> None:
    ride = Ride(line("keys"))
    ride.go()
    ride.wait(1)
    ride.reply("a", "unknown")
    ride.wait_until_due()
    ride.go()
    ride.reply("a", "satisfied", receipt={"status": "closed"})
    assert ride.action("a").state == "unknown"
