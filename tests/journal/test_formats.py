"""Journals that an earlier version has written are read, completed and come to the same end.

`format_1.json` holds journals as the first version wrote them, with nearly every kind of event, and
what that version made of them.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from saga.journal.formats import FORMAT
from saga.journal.records import read_record
from saga.machine.events import Started, WindingDown
from saga.machine.evolve import evolve
from saga.machine.state import new_state
from tests.machine.sagas import line

JOURNALS: list[dict[str, Any]] = json.loads(
    Path(__file__).with_name("format_1.json").read_text(encoding="utf-8")
)


@pytest.mark.parametrize("place", range(len(JOURNALS)))
def test_a_journal_of_the_first_format_comes_to_the_same_end(place: int) -> None:
    journal = JOURNALS[place]
    state = new_state(line(*journal["steps"]))
    for body in journal["bodies"]:
        record = read_record(body)
        for event in record.events:
            evolve(state, event, record.at)
    assert (state.phase, state.outcome) == (journal["phase"], journal["outcome"])
    actions = {key: [action.state, action.attempts] for key, action in state.actions.items()}
    assert actions == journal["actions"]
    assert state.rests  # nobody has declared then that it is watched


def test_only_what_the_earlier_format_had_is_completed() -> None:
    """The same text under today's format, or with one field less, is damage."""
    for journal in JOURNALS:
        body = json.loads(journal["bodies"][1])
        assert body["events"][0]["kind"] == "intended"
        with pytest.raises(ValueError, match="other fields"):
            read_record(json.dumps({**body, "format": FORMAT}))
        del body["events"][0]["digest"]
        with pytest.raises(ValueError, match="other fields"):
            read_record(json.dumps(body))


def test_what_was_wound_down_before_that_was_kept_names_nobody() -> None:
    """Format 3: a run that winds down does not say who has cancelled it."""
    event = {"kind": "winding_down", "cause": "cancelled", "step": None, "error": None}
    body = {**json.loads(JOURNALS[0]["bodies"][0]), "events": [{**event, "reason": ""}]}
    (turned,) = read_record(json.dumps({**body, "format": 3})).events
    assert isinstance(turned, WindingDown)
    assert turned.actor is None
    with pytest.raises(ValueError, match="other fields"):
        read_record(json.dumps({**body, "format": FORMAT}))


def test_what_began_before_there_were_turns_is_exclusive_about_nothing() -> None:
    """Format 2: a run says no resource."""
    body = json.loads(JOURNALS[0]["bodies"][0])
    (started,) = read_record(json.dumps({**body, "format": 2})).events
    assert isinstance(started, Started)
    assert started.resource is None
    with pytest.raises(ValueError, match="other fields"):
        read_record(json.dumps({**body, "format": FORMAT}))
