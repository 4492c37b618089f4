"""What an item in doubt holds back while it is sent again: the doubt ends with the answer."""

from __future__ import annotations

import pytest

from saga.machine.commands import Reply
from tests.machine.ride import ERROR, Ride
from tests.machine.sagas import line


class Pair(Ride):
    """An `Each` over two items, both under way."""

    def __init__(self, words: str) -> None:
        super().__init__(line(words))
        assert len(self.go()) == 2

    def item(self, item: str, result: str) -> None:
        action = self.state.newest(0, item)
        assert action is not None
        landed = result == "landed"
        reply = Reply(
            at=self.now,
            key=action.key,
            attempt=action.attempts,
            result=result,
            receipt=f"{item} done" if landed else None,
            error=None if landed else ERROR,
        )
        self.tell(reply)

    @property
    def attempts(self) -> list[int]:
        return [action.attempts for action in self.state.progress[0].newest.values()]


def in_doubt(words: str) -> Pair:
    """The first is unknown, the second was not sent and is due again."""
    pair = Pair(words)
    pair.item("0", "unknown")
    pair.item("1", "not_sent")
    pair.wait(1)
    return pair


@pytest.mark.parametrize("words", ["keys each", "keys each targeted"])
def test_a_repeat_under_way_settles_nothing_and_holds_the_others(words: str) -> None:
    pair = in_doubt(words)
    pair.go()
    assert pair.attempts == [2, 1]
    pair.item("0", "landed")
    pair.go()
    assert pair.attempts == [2, 2]


def test_a_repeat_that_was_not_sent_leaves_the_doubt() -> None:
    pair = in_doubt("keys thrice each")
    pair.go()
    pair.item("0", "not_sent")
    pair.wait(1)
    pair.go()
    assert pair.attempts == [3, 1]


def test_where_an_item_holds_only_itself_the_others_go_on() -> None:
    pair = in_doubt("keys each lone")
    pair.go()
    assert pair.attempts == [2, 2]
