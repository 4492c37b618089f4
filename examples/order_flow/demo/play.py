"""How the demo is played: who is started, held up, killed and asked, and when.

The worst places are reached from outside, by a shop that holds back a request or an answer; there
is no hook in the product. Each act ends before the next begins, so every journal tells one story.
"""

from __future__ import annotations

import json
import shlex
import urllib.request
from pathlib import Path
from typing import Any

from examples.order_flow.demo.interruptions import Interruptions
from examples.order_flow.demo.stage import Stage, Trouble, staged
from examples.order_flow.demo.tales import tale

__all__ = ["play"]


def play(folder: Path, interruptions: Interruptions) -> None:
    """All orders, from the first to the verdict; the files are in `folder` afterwards."""
    with staged(folder, interruptions) as stage:
        first = stage.orchestrator()
        _misfortunes(stage)
        second = _one_death_in_three_places(stage, first)
        _the_other_takes_over(stage, second)
        _a_person_decides(stage)
        stage.say("all orders are at rest; the processes end")


def _misfortunes(stage: Stage) -> None:
    """What a run must stand without anybody dying."""
    names = ("straight", "declined", "no-parcel", "lost-answer", "no-refund", "cancelled")
    stage.say(f"six orders: {', '.join(names)}")
    for name in names:
        stage.order(tale(name))
    stage.held("cancelled")
    stage.say("cancelled: the parcel is on its way, and now the customer cancels")
    stage.client.cancel("cancelled", reason="ordered twice", actor="customer")
    stage.shop.release(run_id="cancelled")
    for name in names:
        if name != "no-refund":
            stage.ended(name)
    stage.recorded("no-refund", "case_opened")
    stage.say("five have ended; no-refund waits for a person, who comes later")


def _one_death_in_three_places(stage: Stage, first: int) -> int:
    """Three orders at three places of the same call, and one `kill -9`. The next one's pid."""
    names = ("killed-early", "killed-mid", "killed-late")
    for name in names:
        stage.order(tale(name))
        stage.held(name)
    stage.say(f"kill -9 {first}: three charges are on their way, before, in and after the shop")
    stage.kill(first)
    second = stage.orchestrator()
    # The shop says that it is about to charge, so the run waits instead of sending it again.
    stage.recorded("killed-mid", "probed", answer="in_progress")
    stage.shop.release(run_id="killed-mid")
    for name in names:
        stage.ended(name)
    stage.say("all three have ended; now the first request of killed-early arrives after all")
    stage.shop.release(run_id="killed-early")
    stage.shop.release(run_id="killed-late")
    stage.until(lambda: not stage.shop.held(), "nothing held by the shop")
    return second


def _the_other_takes_over(stage: Stage, second: int) -> None:
    """A refund is made, its receipt is not recorded, and a second orchestrator lives already."""
    stage.order(tale("killed-undo"))
    stage.held("killed-undo")
    third = stage.orchestrator()
    stage.serving("killed-undo", third)
    stage.say(f"kill -9 {second}: the refund of killed-undo is made, its receipt is not recorded")
    stage.kill(second)
    stage.ended("killed-undo")
    stage.shop.release(run_id="killed-undo")


def _a_person_decides(stage: Stage) -> None:
    """Refund by hand, then paste the command that `saga case` prints for that."""
    case = next(one for one in stage.client.cases() if one.run_id == "no-refund")
    run = stage.client.show(case.run_id)
    stage.say(f"why: {stage.client.why(run.id).text}")
    charge = next(step.receipt for step in run.steps if step.name == "charge")
    pasted = _command(stage.typed(["saga", "case", case.id]), "landed")
    refund = _refund_by_hand(stage.shop.url, charge["charge_id"])
    stage.say(
        f"at the counter of the shop: {refund['refund_id']}, by hand, of {charge['charge_id']}"
    )
    receipt = {"idempotency_key": case.key, "refund_id": refund["refund_id"]}
    (stage.folder / "receipt.json").write_text(json.dumps(receipt), encoding="utf-8")
    pasted[pasted.index("--reason") + 1] = "refunded in cash at the counter"
    stage.typed([*pasted, "--by", "ann"])
    stage.ended(case.run_id)


def _command(page: str, verdict: str) -> list[str]:
    """The command to paste for a verdict, out of the page of a case."""
    for line in page.splitlines():
        words = shlex.split(line) if line.strip().startswith("saga resolve") else []
        if verdict in words:
            return words
    raise Trouble(f"saga case prints no command for {verdict}:\n{page}")


def _refund_by_hand(url: str, charge_id: str) -> Any:
    """What somebody at the shop can do without saga: under a key of their own, of no run."""
    body = json.dumps({"charge_id": charge_id}).encode()
    headers = {"Content-Type": "application/json", "Idempotency-Key": "counter-4711"}
    asked = urllib.request.Request(f"{url}/refunds", body, headers)  # noqa: S310  our own shop
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with direct.open(asked, timeout=10) as reply:
        return json.loads(reply.read())
