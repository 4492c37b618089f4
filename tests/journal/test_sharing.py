"""Who waits behind a backlog is claimed all the same: every claim shares its room.

Heads alone are written here: what a claim does with them is not what this is about.
"""

from __future__ import annotations

from collections import Counter

import pytest

from saga.journal.sharing import Circle
from saga.journal.tables import runs
from tests.databases import Databases, files_only, server_only
from tests.journal.parties import FOREIGN, LATER, NOW, ORDERS, OURS, ROOM, Waiting, tenants

# ---- who is claimed


def test_a_run_of_another_tenant_or_saga_is_claimed_before_the_backlog(waiting: Waiting) -> None:
    """The next claim takes it, however much is due before it; what is left goes by due order."""
    backlog = waiting.add("big", 3000, due=0.0)
    other_saga = waiting.add("big", definition=ORDERS)
    small = waiting.add("small")
    assert waiting.claims() == backlog[:ROOM]  # till then nobody knows that there is a backlog
    claimed = waiting.claims()
    assert {*other_saga, *small} < set(claimed)
    assert {*claimed} - {*other_saga, *small} == {*backlog[ROOM : 2 * ROOM - 2]}
    late = waiting.add("late", due=900.0)
    assert late[0] in waiting.claims()


def test_those_that_wait_have_equal_shares_and_the_oldest_the_rest(waiting: Waiting) -> None:
    waiting.add("big", 1000, due=0.0)
    waiting.add("other", 1000, due=300.0)
    waiting.add("third", 1000, due=600.0)
    waiting.add("small", 2, due=900.0)
    waiting.claims()
    assert tenants(waiting.claims()) == {"big": 24, "other": 12, "third": 12, "small": 2}
    assert tenants(waiting.claims()) == {"big": 18, "other": 16, "third": 16}


def test_of_a_party_the_oldest_are_claimed_first(waiting: Waiting) -> None:
    waiting.add("big", 1000, due=0.0)
    late, early = waiting.add("b", 60, due=600.0), waiting.add("b", 5, due=400.0)
    waiting.claims()
    claimed = [name for name in waiting.claims() if name.startswith("b.")]
    assert claimed == [*early, *late[:20]]


@pytest.mark.parametrize("room", [1, 2, 7, 50, 100])
def test_many_tenants_are_each_claimed_within_one_round(waiting: Waiting, room: int) -> None:
    """300 with one run each, behind a backlog: as many claims as they fill, and the first."""
    waiting.add("big", 1000, due=0.0)
    many = waiting.each(f"tenant-{number}" for number in range(300))
    rounds = -(-301 // room)
    assert waiting.claims_until(many, most=1 + rounds, room=room) >= 1 + 300 // room


def test_whoever_comes_while_all_others_have_a_backlog_waits_for_one_round(
    waiting: Waiting,
) -> None:
    waiting.each((f"tenant-{number}" for number in range(300)), 10, due=0.0)
    waiting.claims()
    waiting.claims()
    late = waiting.each(["a", "tenant-5", "z"], due=900.0)
    new = [late[0], late[2]]
    assert waiting.claims_until(new, most=7) <= 7
    assert max(tenants(waiting.claims()).values()) <= 2


def test_the_round_goes_on_from_saga_to_saga(waiting: Waiting) -> None:
    waiting.add("big", 1000, due=0.0, definition=ORDERS)
    for definition in OURS:
        waiting.each((f"t{number}" for number in range(60)), 5, definition=definition)
    waiting.claims()
    found = Counter[str]()
    for _ in range(3):  # 121 parties, 50 of them a claim
        found.update(name.rpartition(".")[0] for name in waiting.claims())
    assert len(found) == 121


# ---- what costs nothing, and takes nothing


def test_what_sleeps_has_no_share_and_is_gone_through(waiting: Waiting) -> None:
    """A claim looks at a hundred parties; those that sleep take none of its room."""
    waiting.add("big", 1000, due=0.0)
    waiting.each((f"s{number}" for number in range(250)), 2, due=LATER)
    waiting.add("small", 40, due=LATER)
    waiting.add("small")
    waiting.claims()
    claimed = [waiting.claims() for _ in range(4)]
    assert [*map(tenants, claimed)] == [
        {"big": 50},
        {"big": 50},
        {"big": 49, "small": 1},
        {"big": 50},
    ]


def test_a_share_ends_with_its_party(waiting: Waiting) -> None:
    """Also where the next one is not looked at any more."""
    waiting.add("big", 1000, due=0.0)
    waiting.each((f"s{number:02}" for number in range(98)), due=LATER)
    waiting.add("small")  # the hundredth
    waiting.add("then", 100)
    waiting.claims()
    assert tenants(waiting.claims()) == {"big": 49, "small": 1}
    assert tenants(waiting.claims()) == {"big": 25, "then": 25}


def test_what_we_cannot_run_is_neither_taken_nor_looked_at(waiting: Waiting) -> None:
    waiting.add("big", 1000, due=0.0)
    waiting.each((f"f{number}" for number in range(500)), definition=FOREIGN)
    small = waiting.add("small")
    waiting.claims()
    claimed = waiting.claims()
    assert small[0] in claimed
    assert set(tenants(claimed)) == {"big", "small"}


def test_what_is_set_aside_or_passed_over_has_no_share(
    databases: Databases, waiting: Waiting
) -> None:
    waiting.add("big", 1000, due=0.0)
    aside, newer = waiting.add("aside", 30), waiting.add("newer", 30)
    small = waiting.add("small")
    with waiting.database.connection() as connection, waiting.database.turn(connection):
        connection.execute(runs.update().where(runs.c.run_id.in_(aside)).values(quarantined_at=NOW))
    waiting.claims(skip=newer)
    claimed = waiting.claims(skip=newer)
    assert small[0] in claimed
    assert set(tenants(claimed)) == {"big", "small"}
    assert len(claimed) == ROOM


@files_only
def test_an_altered_tenant_that_no_statement_can_name_stops_nobody(
    databases: Databases, waiting: Waiting
) -> None:
    waiting.add("big", 1000, due=0.0)
    waiting.each(["a", "b", "c"])
    databases.query(
        f"sqlite:///{waiting.database.backend.name}",
        "UPDATE runs SET tenant = CAST(? AS TEXT) WHERE tenant = 'b'",
        b"b\xff",
    )
    found = Counter[str]()
    for _ in range(5):
        found += tenants(waiting.claims(1))
    assert found == {"big": 3, "a": 1, "c": 1}


def test_with_room_for_all_nobody_is_asked_for_shares(waiting: Waiting) -> None:
    waiting.each(["a", "b", "c"], 10)
    assert waiting.circle.crowded is False
    assert len(waiting.claims()) == 30
    assert waiting.circle.crowded is False
    waiting.add("a", ROOM + 10, due=600.0)
    assert len(waiting.claims()) == ROOM
    assert waiting.circle.crowded is True
    assert len(waiting.claims()) == 10
    assert waiting.circle.crowded is False


def test_what_winds_down_is_claimed_by_due_order_and_the_circle_stays(waiting: Waiting) -> None:
    waiting.add("big", 200, due=0.0)
    waiting.claims()
    before = (waiting.circle.crowded, waiting.circle.place)
    assert waiting.claims(settling=True) == []
    assert (waiting.circle.crowded, waiting.circle.place) == before


# ---- turns


@pytest.mark.parametrize("room", [1, 2, 50])
def test_turns_and_shares_leave_each_other_half(waiting: Waiting, room: int) -> None:
    """Also where there is a single place: then by turns."""
    waiting.add("big", 1000, due=0.0)
    turns = waiting.add("line", 200, due=LATER)  # not due; it is their turn all the same
    waiting.claims(room)
    found = Counter[str]()
    for _ in range(4):
        ours = waiting.claims(room, turns=turns)
        assert len(ours) == room
        turns = [name for name in turns if name not in ours]
        found += tenants(ours)
    assert found["line"] == found["big"] == 2 * room


def test_whom_turns_leave_no_room_is_next(waiting: Waiting) -> None:
    many = waiting.each((f"tenant-{number}" for number in range(200)), due=0.0)
    turns = waiting.add("line", 200, due=LATER)
    waiting.circle.crowded = True
    found = list[str]()
    for _ in range(3):  # half of the room each
        found += waiting.claims(turns=turns)
        turns = [name for name in turns if name not in found]
    assert {name for name in found if name in many} == {*sorted(many)[:75]}


# ---- several processes


def test_of_two_processes_each_claims_for_all(waiting: Waiting) -> None:
    waiting.add("big", 1000, due=0.0)
    many = waiting.each((f"tenant-{number}" for number in range(120)), 2)
    circles = {"me": Circle(), "another": Circle()}
    claimed = list[str]()
    for _ in range(5):  # 240 runs of 120 tenants: five claims of 50 beyond the first of each
        for own, circle in circles.items():
            claimed += waiting.claims(own=own, circle=circle)
    assert len(claimed) == len(set(claimed))
    assert set(many) <= set(claimed)


@server_only
def test_what_another_process_is_about_to_claim_is_passed_over(waiting: Waiting) -> None:
    """In both shares: of a party the next ones are taken, not none."""
    waiting.add("big", 1000, due=0.0)
    waiting.add("small", 30, due=500.0)
    first, second = Circle(crowded=True), Circle(crowded=True)
    with waiting.claiming(20, "me", first) as ours:
        theirs = waiting.claims(20, own="another", circle=second)
    assert tenants(ours)["small"] == tenants(theirs)["small"] == 10
    assert not set(ours) & set(theirs)
