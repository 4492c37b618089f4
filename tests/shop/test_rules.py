"""A rule meets the requests it names, as often as it says; chaos is repeatable."""

from __future__ import annotations

import http.client
from collections import Counter
from pathlib import Path

import pytest

from examples.order_flow.shop import Shop, running_shop
from examples.order_flow.shop.ledger import Asked
from examples.order_flow.shop.rules import Book, Chaos, Match, Rule
from tests.shop.asking import CHARGE, HOLD, post


def asked(
    path: str = "/charges", *, method: str = "POST", run: str = "r-1", of_key: str | None = None
) -> Asked:
    return Asked(method, path, "i/r-1/charge/-@1", run, "charge", of_key)


def test_a_rule_is_used_up_after_its_times() -> None:
    book = Book()
    book.add(Rule(act="busy", times=2))
    assert [book.pick(asked()) is not None for _ in range(4)] == [True, True, False, False]


def test_a_rule_without_times_is_never_used_up() -> None:
    book = Book()
    book.add(Rule(act="busy", times=None))
    assert all(book.pick(asked()) for _ in range(10))


def test_the_nth_of_those_that_fit_is_met() -> None:
    book = Book()
    book.add(Rule(act="busy", match=Match(path="/charges", nth=3)))
    book.pick(asked("/holds"))
    assert [book.pick(asked()) is not None for _ in range(4)] == [False, False, True, False]


def test_the_first_rule_that_fits_is_applied_and_all_that_fit_count() -> None:
    book = Book()
    book.add(Rule(act="busy"))
    book.add(Rule(act="refuse", match=Match(nth=2)))
    picked = [book.pick(asked()) for _ in range(3)]
    assert [rule.act if rule else None for rule in picked] == ["busy", "refuse", None]
    assert [(entry["fitted"], entry["hits"]) for entry in book.entries()] == [(3, 1), (3, 1)]


@pytest.mark.parametrize(
    ("match", "fits"),
    [
        (Match(), True),
        (Match(run_id="r-1", step="charge", path="/charges", key="i/r-1/*"), True),
        (Match(run_id="r-?"), True),
        (Match(run_id="r"), False),
        (Match(step="ship"), False),
        (Match(path="/refunds"), False),
        (Match(key="i/r-2/*"), False),
        (Match(method="GET"), False),
        (Match(undo=False), True),
        (Match(undo=True), False),
    ],
)
def test_a_rule_meets_what_it_names_and_nothing_else(match: Match, fits: bool) -> None:  # noqa: FBT001
    assert match.fits(asked()) is fits


def test_an_undo_is_told_from_what_it_takes_back() -> None:
    undo = asked(of_key="i/r-1/charge/-@1")
    assert Match(undo=True).fits(undo)
    assert not Match(undo=False).fits(undo)


def test_a_rule_with_a_spelling_mistake_is_not_taken(shop: Shop) -> None:
    for mistake in ({"act": "explode"}, {"act": "busy", "time": 2}, {"act": "busy", "times": 0}):
        with pytest.raises(ValueError, match="400"):
            shop.ask("POST", "/rules", mistake)
    assert shop.rules() == []


def test_the_book_can_be_read_and_cleared(shop: Shop) -> None:
    number = shop.rule("busy", path="/charges")
    assert post(shop, "/holds", HOLD, key="book/h").status == 201
    assert post(shop, "/charges", CHARGE, key="book/c").status == 503
    assert [(r["id"], r["act"], r["fitted"], r["hits"]) for r in shop.rules()] == [
        (number, "busy", 1, 1)
    ]
    shop.behave()
    assert shop.rules() == []


def test_chaos_treats_the_same_request_the_same_way_whatever_comes_between() -> None:
    def drawn(seed: str, *, others: bool) -> list[Rule | None]:
        chaos, rules = Chaos(seed, rate=0.5), []
        for _ in range(50):
            if others:
                chaos.pick(asked("/holds"))
            rules.append(chaos.pick(asked()))
        return rules

    assert drawn("7", others=False) == drawn("7", others=True)
    assert drawn("7", others=False) != drawn("8", others=False)


def test_chaos_misbehaves_at_its_rate_in_every_way_and_refuses_no_undo() -> None:
    chaos = Chaos("seed", rate=0.3, refuse=0.1)
    forward = [chaos.pick(asked()) for _ in range(4000)]
    undo = [chaos.pick(asked(of_key="k")) for _ in range(4000)]
    acts = Counter(rule.act for rule in forward if rule)
    assert 0.07 < acts["refuse"] / 4000 < 0.13
    assert 0.32 < acts.total() / 4000 < 0.42
    assert set(acts) >= {"drop_request", "drop_answer", "error_after", "late", "malformed", "busy"}
    assert "refuse" not in {rule.act for rule in undo if rule}


def test_a_stubborn_client_gets_everything_done_once_from_a_chaotic_shop(tmp_path: Path) -> None:
    with running_shop(tmp_path / "ledger.db", "--chaos", "1", "--chaos-rate", "0.6") as shop:
        for number in range(60):
            for _ in range(50):
                try:
                    reply = post(shop, "/charges", CHARGE, key=f"k-{number}", timeout=1)
                    done = reply.status == 201 and "charge_id" in reply.json
                except (OSError, ValueError, TypeError, http.client.HTTPException):
                    done = False
                if done:
                    break
            else:
                pytest.fail(f"request {number} was never answered")
        keys = [row["key"] for row in shop.ledger()]
    assert sorted(keys) == sorted(f"k-{number}" for number in range(60))
