"""What a run may use up: counted before it is used, never exceeded, and asked about once."""

from __future__ import annotations

from decimal import Decimal

import pytest

from saga.machine.commands import BeginProbe, ProbeAnswer
from saga.machine.plan import AskNow, BeginProbeNow
from saga.machine.verdicts import verdicts
from tests.machine.ride import Ride, refusal
from tests.machine.sagas import line, saga
from tests.machine.test_approvals import decide


def spent(ride: Ride) -> dict[str, object]:
    assert ride.state.spending is not None
    return dict(ride.state.spending.spent)


def todo(ride: Ride) -> list[object]:
    return list(ride.plan.todo)


def at_the_limit(words: str = "keys mail", **budget: float) -> Ride:
    """Two steps, of which the second is frozen and would be too much."""
    ride = Ride(line("keys mail", words, **budget))
    ride.done("a")
    assert ride.go() == []
    assert ride.cases == ["budget b"]
    return ride


def test_what_is_budgeted_is_charged_with_the_record_of_the_intent() -> None:
    ride = Ride(line("keys priced mail", calls=5, attempts=5, EUR=9, mails=9))
    ride.go()
    assert ride.told[-2:] == ["intended", "sending"]
    assert spent(ride) == {"calls": 1, "attempts": 1, "EUR": Decimal("1.5"), "mails": 1}


def test_what_would_exceed_a_budget_is_frozen_and_not_sent() -> None:
    ride = at_the_limit(mails=1)
    assert ride.told[-2:] == ["intended", "case_opened"]
    assert ride.action("b").attempts == 0
    assert ride.case("b").text == (
        "It would exceed the budget to send b (do@1): it takes 1 mails, and 1 of 1 are used up. "
        "Nothing new begins until somebody has decided."
    )


def test_a_person_raises_the_budget_and_the_run_goes_on() -> None:
    ride = at_the_limit(mails=1)
    ride.resolve("b", "raise", evidence="mails=2")
    assert ride.go() == ["b"]
    ride.reply("b", "landed")
    assert (ride.phase, spent(ride)) == ("completed", {"mails": 2})


@pytest.mark.parametrize(
    "evidence", [None, "", "2", "mails", "mails=1", "mails=-2", "mails=NaN", "EUR=2", "mails=2,"]
)
def test_a_limit_that_says_nothing_or_too_little_is_refused(evidence: str | None) -> None:
    ride = at_the_limit(mails=1)
    assert refusal(ride.resolve("b", "raise", evidence=evidence)) == "needs_evidence"
    assert ride.go() == []


def test_a_raise_must_let_it_go_on() -> None:
    ride = at_the_limit("keys priced mail", EUR=1, mails=1, calls=1)
    assert refusal(ride.resolve("b", "raise", evidence="mails=2, EUR=2")) == "needs_evidence"
    ride.resolve("b", "raise", evidence="mails=2, EUR=1.50,calls=2")
    assert ride.go() == ["b"]


def test_a_raised_limit_is_of_this_run_and_a_wider_definition_counts_too() -> None:
    ride = at_the_limit(mails=1)
    ride.resolve("b", "raise", evidence="mails=2")
    other = Ride(line("keys mail", "keys mail", mails=1))
    other.done("a")
    assert other.go() == []
    other.spec = line("keys mail", "keys mail", mails=2)  # its tuning, after a deployment
    other.wake()
    assert (other.go(), other.cases) == (["b"], [])


def test_a_person_has_the_run_undone() -> None:
    ride = at_the_limit(mails=1)
    ride.resolve("b", "compensate")
    assert (ride.state.cause, ride.state.cause_step) == ("person", "b")
    ride.done("undo a")
    assert ride.phase == "compensated"


def test_past_a_pivot_it_can_only_be_raised() -> None:
    ride = Ride(line("keys mail pivot", "keys mail reads", mails=1))
    ride.done("a")
    ride.go()
    offered = verdicts(ride.spec, ride.state, ride.case("b"), ride.now)
    assert list(offered) == ["raise", "landed", "accept"]
    assert offered["raise"].endswith("at least mails=2, and goes on.")


def test_undoing_is_counted_and_never_held_up() -> None:
    ride = Ride(line("keys", "keys once", calls=2))
    ride.done("a")
    ride.go()
    ride.reply("b", "refused")
    assert ride.go() == ["undo a"]
    ride.reply("undo a", "not_sent")
    ride.wait(1)
    ride.done("undo a")
    assert (ride.phase, spent(ride)) == ("compensated", {"calls": 4})


def test_whatever_settles_an_unknown_is_not_held_up_once_the_run_winds_down() -> None:
    ride = Ride(line("keys query", calls=1))
    ride.go()
    ride.reply("a", "unknown")
    assert ride.cases == ["budget a"]
    ride.cancel()
    assert (ride.cases, ride.go(), ride.asks) == ([], [], ["a"])
    ride.probe("a", "landed")
    ride.done("undo a")
    assert (ride.phase, spent(ride)) == ("compensated", {"calls": 3})


def test_a_retry_that_would_exceed_it_asks_and_does_not_fail() -> None:
    ride = Ride(line("keys thrice", attempts=1))
    ride.go()
    ride.reply("a", "not_sent")
    assert ride.cases == []  # it is not due yet
    ride.wait_until_due()
    ride.wake()
    assert (ride.cases, ride.phase) == (["budget a"], "running")
    ride.resolve("a", "raise", evidence="attempts=2")
    assert ride.go() == ["a"]


def test_an_unknown_one_is_asked_about_where_sending_it_again_is_too_much() -> None:
    ride = Ride(line("keys query thrice", attempts=1))
    ride.go()
    ride.reply("a", "unknown")
    for _ in range(3):
        ride.wait_until_due()
        assert (ride.asks, ride.cases) == (["a"], [])
        ride.probe("a", "cannot_say")
    assert ride.cases == ["budget a"]
    offered = verdicts(ride.spec, ride.state, ride.case("a"), ride.now)
    assert list(offered) == ["raise", "compensate", "landed", "absent", "undone", "accept"]


def test_a_probe_is_on_record_before_it_is_made() -> None:
    ride = Ride(line("keys query", calls=3))
    ride.go()
    ride.reply("a", "unknown")
    key = ride.action("a").key
    assert todo(ride) == [BeginProbeNow(key)]
    assert ride.go() == []
    assert ride.told[-1] == "probe_begun"
    assert todo(ride) == [AskNow(key)]
    assert refusal(ride.tell(BeginProbe(at=ride.now, key=key))) == "not_due"
    ride.probe("a", "landed")
    assert spent(ride) == {"calls": 2}


def test_a_probe_that_dies_with_its_process_has_been_counted() -> None:
    ride = Ride(line("keys query", calls=3))
    ride.go()
    ride.reply("a", "unknown")
    for probes in (1, 2):
        ride.go()
        assert spent(ride) == {"calls": 1 + probes}
        ride.lose()
    assert ride.cases == ["budget a"]
    assert "asking the provider would exceed the budget" in ride.case("a").text


def test_an_answer_that_says_nothing_new_ends_its_probe() -> None:
    ride = Ride(line("keys query", calls=5))
    ride.go()
    ride.reply("a", "unknown")
    ride.go()
    ride.report("a")
    assert ride.phase == "completed"
    ride.probe("a", "landed")
    assert ride.told[-1] == "probe_ended"


def test_nothing_is_recorded_of_a_probe_where_no_calls_are_budgeted() -> None:
    ride = Ride(line("keys query", attempts=5))
    ride.go()
    ride.reply("a", "unknown")
    assert todo(ride) == [AskNow(ride.action("a").key)]


def test_what_is_refused_gives_its_units_back() -> None:
    ride = Ride(line("keys mail optional", "keys mail", mails=1))
    ride.go()
    ride.reply("a", "refused")
    assert spent(ride) == {"mails": 0}
    assert ride.go() == ["b"]


def test_what_may_have_landed_keeps_its_units() -> None:
    ride = Ride(line("keys query mail", mails=1))
    ride.go()
    ride.reply("a", "unknown")
    assert spent(ride) == {"mails": 1}
    ride.wait(4)
    ride.probe("a", "absent")
    assert spent(ride) == {"mails": 1}  # one reading proves nothing
    ride.wait(1)
    ride.probe("a", "absent")
    assert spent(ride) == {"mails": 0}
    assert ride.go() == ["a"]
    assert spent(ride) == {"mails": 1}


def test_what_a_straggler_may_still_land_of_keeps_its_units() -> None:
    """So a new key is charged again, until the first one is read a last time."""
    ride = Ride(line("query late mail", "naps", mails=1))
    ride.go()
    ride.reply("a", "unknown")
    ride.wait(4)
    ride.probe("a", "absent")
    ride.wait(1)
    ride.probe("a", "absent")
    assert (ride.go(), ride.cases) == ([], ["budget a"])
    assert ride.action("a").generation == 2
    ride.wait(3)
    assert ride.asks == ["a"]
    first = next(iter(ride.state.actions))
    ride.tell(ProbeAnswer(at=ride.now, key=first, started=ride.now, answer="absent"))
    assert (ride.cases, ride.go()) == ([], ["a"])


def test_what_was_undone_stays_charged() -> None:
    ride = Ride(line("keys mail", "keys once", mails=1))
    ride.done("a")
    ride.go()
    ride.reply("b", "refused")
    ride.done("undo a")
    assert (ride.phase, spent(ride)) == ("compensated", {"mails": 1})


def test_a_second_effect_is_charged_too() -> None:
    ride = Ride(line("keys mail", mails=5))
    ride.done("a")
    ride.report("a", receipt="another")
    assert spent(ride) == {"mails": 2}


def test_branches_share_one_budget_and_one_case() -> None:
    ride = Ride(saga(["keys mail"] * 3, [[], [], []], mails=1))
    assert (ride.go(), ride.cases) == (["a"], ["budget b"])
    assert ride.state.newest(2) is None  # it does not begin while a person is asked
    ride.reply("a", "refused")
    assert (ride.cases, ride.phase) == ([], "compensated")  # nothing holds that up


def test_of_many_items_one_asks_and_the_others_do_not_begin() -> None:
    ride = Ride(line("keys each mail", mails=1))
    assert len(ride.go()) == 1
    assert len(ride.state.actions) == 2
    assert len(ride.cases) == 1


def test_what_has_begun_goes_on_as_far_as_the_budget_allows() -> None:
    ride = Ride(saga(["keys thrice", "keys mail"], [[], []], mails=0.5))
    assert (ride.go(), ride.cases) == (["a"], ["budget b"])
    ride.reply("a", "not_sent")
    ride.wait(1)
    assert ride.go() == ["a"]


def test_an_approved_one_that_cannot_be_paid_for_asks_and_expires() -> None:
    ride = Ride(line("keys approved mail", mails=0.5))
    ride.go()
    decide(ride)
    assert ride.cases == ["budget a"]
    assert ride.plan.due == 3.0
    ride.wait(3)
    ride.wake()
    assert (ride.cases, ride.phase, ride.state.cause) == ([], "compensated", "deadline")


def test_amounts_are_exact() -> None:
    ride = Ride(line(*["keys priced"] * 3, EUR=4.5))
    ride.done("a", "b", "c")
    assert (ride.phase, spent(ride)["EUR"]) == ("completed", Decimal("4.5"))


def test_a_saga_without_a_budget_counts_nothing() -> None:
    assert Ride(line("keys mail priced")).state.spending is None
