"""Second lives under a new key: after proven absence, by declared policy, never while unknown."""

from __future__ import annotations

from tests.machine.ride import Ride, sent
from tests.machine.sagas import line


def absent(ride: Ride) -> None:
    """Two readings that count."""
    ride.wait(10)
    ride.probe("a", "absent")
    ride.wait(1)
    ride.probe("a", "absent")


def test_absent_without_keys_is_sent_again_under_a_new_linked_key() -> None:
    ride = sent("query")
    absent(ride)
    assert ride.go() == ["a"]
    again = ride.action("a")
    assert (again.key, again.generation) == ("i/r/a/-@1~2", 2)
    assert ride.state.actions["i/r/a/-@1"].superseded
    ride.reply("a", "unknown")
    absent(ride)  # two generations are what two attempts allow
    assert (ride.phase, ride.state.cause) == ("compensated", "attempts")


def test_a_refused_action_gets_a_new_key_only_by_declared_policy() -> None:
    strict, ride = Ride(line("keys")), Ride(line("keys lives"))
    for one in (strict, ride):
        one.go()
        one.reply("a", "refused")
    assert (strict.phase, ride.phase) == ("compensated", "running")
    ride.wait_until_due()
    ride.done("a")
    assert (ride.action("a").key, ride.phase) == ("i/r/a/-@1~2", "completed")


def test_a_provider_that_repeats_its_error_under_the_key_is_given_a_new_one() -> None:
    ride = sent("keys query lives")
    ride.probe("a", "cannot_say")
    ride.wait_until_due()
    ride.go()
    ride.reply("a", "unknown")  # the same error, for another attempt
    absent(ride)
    assert ride.action("a").again == "new"
    assert ride.go() == ["a"]
    assert ride.action("a").key == "i/r/a/-@1~2"


def test_in_progress_is_waited_for_as_long_as_the_provider_says_that_it_may_take() -> None:
    ride = sent("query late")
    for _ in range(5):  # until send_by 1 + late_until 5
        ride.probe("a", "in_progress")
        ride.wait(1)
        assert (ride.cases, ride.action("a").probes) == ([], 0)
    ride.wait(1)
    ride.probe("a", "in_progress")
    ride.wait(1)
    ride.probe("a", "in_progress")
    assert ride.cases == ["unknown a"]
