"""Where a run stands. The state is the fold of its events and holds nothing that they do not.

Rule 1: only `saga.machine.evolve` changes a state. Whoever holds one owns it.
Rule 2: nothing here scans: what is asked after every event is kept as an index (`active`, `ready`,
`done`), since a scan per event is quadratic for a long run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from saga.definition.spec import SagaSpec, StepSpec
from saga.machine.facts import Error, Json
from saga.machine.progress import Progress, WayBack
from saga.machine.spending import Spending

__all__ = [
    "FORWARD",
    "UNDO",
    "Action",
    "Asked",
    "Attempt",
    "Case",
    "Received",
    "RunState",
    "new_state",
    "step_of",
]

FORWARD = "forward"
UNDO = "undo"


@dataclass(slots=True)
class Attempt:
    """One sending that is not settled yet."""

    number: int
    at: float
    send_by: float
    threaded: bool
    in_flight: bool = True  # the call of the present owner has not been answered
    interrupted: bool = False  # ended with its process: no failure of what was called
    running: bool = False  # timed out, but its call has not returned


@dataclass(slots=True)
class Asked:
    """The approval that an action needs before it is sent; who has given it."""

    version: int
    by: tuple[str, ...]
    people: int
    scope: str
    policy: str
    source: str
    reference: str
    observation: str
    expires_at: float
    given: dict[str, str] = field(default_factory=dict)  # actor: reason
    late: set[str] = field(default_factory=set)  # who has decided when it was too late

    @property
    def complete(self) -> bool:
        """Enough different people have agreed."""
        return len(self.given) >= self.people


@dataclass(slots=True)
class Action:
    """One intended use of an effect: a row of `actions`."""

    key: str
    step: int
    item: str | None
    direction: str
    generation: int
    effect: str
    effect_version: int
    target: str
    digest: str
    args: Json
    of_key: str | None
    undo: str | None
    undo_key: str | None
    deadline_at: float | None
    intended_at: float
    state: str = "intended"
    attempts: int = 0
    open: dict[int, Attempt] = field(default_factory=dict)
    first_at: float = 0.0  # earliest moment at which it can have landed
    last_until: float = 0.0  # last moment at which a byte of it could leave
    not_sent: int = 0  # attempts that provably did nothing, since the last renewal
    resends: int = 0  # sendings that repeated one not known to have failed, since the last renewal
    probes: int = 0  # answers that settled nothing and were spent, since the last sending
    crashes: int = 0  # calls in a row whose process died under them
    answers: int = 0  # all of them since the last sending
    refusals: int = 0
    asked: bool = False  # a probe has answered since the last sending
    last_answer: str = ""  # of that probe
    first_absent: float | None = None  # start of the first counted reading of absence
    conflict: bool = False
    repeats: bool = False  # the same error came back for another attempt under the key
    again: str = ""  # once settled as absent: how it may be sent again (same | new | no)
    wish: str | None = None  # what a person asked for and is not done yet: probe | same | new
    undone: bool = False  # taken back while unknown; what is found of it later is a second effect
    due: float = 0.0  # earliest time of the next sending
    probe_due: float = 0.0  # earliest time of the next probe
    receipt: Json = None
    others: list[Json] = field(default_factory=list)  # receipts that are not the recorded one
    error: Error | None = None
    case: str | None = None  # the open one
    answered_for: bool = False  # a person has answered for an effect the run does not count on
    approval: Asked | None = None
    evidence: Json = None  # that what it wanted was so already
    undoing: str | None = None  # key of the newest generation of its undo
    superseded: bool = False  # a newer generation has taken its place
    watch: float | None = None  # when it is read a last time for a straggler
    unseen: int = 0  # answers to the last reading that did not settle it
    late: bool = False  # it landed after the run had gone on without it
    choice: int = 0  # 0: the step itself; from 1 on: which of its alternatives
    failed_over: bool = False  # the next alternative has taken its place
    weight: int = 0  # in a run that winds down: 2 holds what is before, 1 is passed over, 0 neither

    @property
    def running(self) -> bool:
        """A call of it has timed out and still not returned."""
        return any(attempt.running for attempt in self.open.values())

    @property
    def in_doubt(self) -> bool:
        """An attempt of it has ended and nobody knows how, also while another one is under way."""
        return any(not attempt.in_flight for attempt in self.open.values())

    @property
    def interrupted(self) -> bool:
        """The newest attempt has ended with its process, not by itself."""
        newest = self.open.get(self.attempts)
        return newest is not None and newest.interrupted

    @property
    def waits_for_a_person(self) -> bool:
        """Its case is open, and nothing else can follow for it by itself."""
        if self.case is None or self.wish is not None or self.undoing is not None:
            return False
        return self.state != "sending" and (self.state != "intended" or self.approval is None)

    def ends_watch(self, started: float) -> bool:
        """Whether a reading that began at `started` is the last one: no straggler comes after it.

        While a later attempt is under way, that settles it first.
        """
        if self.watch is None or self.state in ("sending", "unknown"):
            return False
        return started >= self.watch


@dataclass(slots=True)
class Case:
    """An entry in the reconciliation queue."""

    id: str
    key: str
    kind: str
    text: str
    error: Error | None
    opened_at: float
    state: str = "open"
    version: int = 1
    closed_at: float | None = None
    verdict: str | None = None
    actor: str | None = None
    reason: str = ""
    evidence: str | None = None


@dataclass(frozen=True, slots=True)
class Received:
    """A signal, kept for the wait that it is for."""

    message: str
    payload: Json


@dataclass(slots=True)
class RunState:
    """One run. `steps` is there for its edges, which the pinned digest covers; never for tuning."""

    steps: tuple[StepSpec, ...]
    positions: Mapping[str, int]  # of the steps, by name
    run_id: str = ""
    instance: str = ""
    tenant: str = ""
    saga: str = ""
    saga_version: int = 0
    definition: str = ""
    input: Json = None
    actor: str | None = None
    resource: str | None = None  # what it is exclusive about
    turn: str | None = None  # to go forward with it: waits | holds | parked; None: it needs none
    turn_at: float = 0.0  # since when it is that
    phase: str = ""  # "" before the start, then running | compensating | ended
    outcome: str | None = None
    cause: str | None = None
    cause_step: str | None = None
    cause_error: Error | None = None
    cause_reason: str = ""
    cause_actor: str | None = None
    started_at: float = 0.0
    ended_at: float | None = None
    deadline_at: float | None = None
    deadline_passed: bool = False
    begun: dict[str, float] = field(default_factory=dict)  # groups of steps: when the first began
    cancel: str | None = None  # the reason, once recorded
    cancelled_by: str | None = None
    past_pivot: bool = False  # a pivot has landed: cancel and deadline are void
    accepted: bool = False  # a person took something as it is
    actions: dict[str, Action] = field(default_factory=dict)
    progress: list[Progress] = field(default_factory=list)  # by step
    spreads: bool = False  # some step is an `Each`
    savepoints: dict[str, str] = field(default_factory=dict)  # undoing | instead; else not reached
    way_back: dict[int, WayBack] = field(default_factory=dict)  # by step, once it is undone
    frontier: set[int] = field(default_factory=set)  # steps that have undos to begin
    # by savepoint, "" for the run: forward actions that are not settled on the way back
    standing: dict[str, int] = field(default_factory=dict)
    signals: dict[int, Received] = field(default_factory=dict)  # by step
    active: dict[str, Action] = field(default_factory=dict)  # current, to be settled
    moving: dict[str, Action] = field(default_factory=dict)  # of these: not a person's now
    watched: dict[str, Action] = field(default_factory=dict)  # settled, and may still land
    strays: dict[str, Action] = field(default_factory=dict)  # landed late, undo not yet intended
    ready: list[int] = field(default_factory=list)  # steps that may start, not all intended
    done: int = 0  # steps that landed or were skipped
    needed: int = 0  # how many must, on the paths that are taken
    cases: dict[str, Case] = field(default_factory=dict)
    open_cases: int = 0
    spending: Spending | None = None  # only where the definition has a budget

    @property
    def lacks_turn(self) -> bool:
        """Whether it goes forward only when it has the turn, and has not got it."""
        return self.turn is not None and self.turn != "holds"

    @property
    def rests(self) -> bool:
        """Whether it has ended and nothing of it is left to watch or to undo."""
        if self.phase != "ended" or self.watched or self.strays:
            return False
        return all(action.direction == FORWARD for action in self.active.values())

    @property
    def watch_until(self) -> float | None:
        """When the last of what is watched is read (unix seconds); `None`: nothing is watched."""
        if not self.watched:
            return None
        return max(action.watch or 0.0 for action in self.watched.values())

    def is_done(self, step: int) -> bool:
        """Whether all that a step is for has landed or was skipped."""
        return self.progress[step].done == self.progress[step].size

    def newest(self, step: int, item: str | None = None) -> Action | None:
        """The newest generation of a step's action, or of that of an item of its."""
        return self.progress[step].newest.get(item)

    def rest(self, action: Action) -> None:
        """An action is settled, or another generation has taken its place."""
        self.active.pop(action.key, None)
        self.moving.pop(action.key, None)

    def undo_of(self, action: Action | None) -> Action | None:
        """The newest generation of the undo of a forward action; `None` before its intent."""
        return self.actions[action.undoing] if action is not None and action.undoing else None


def step_of(steps: Sequence[StepSpec], action: Action) -> StepSpec:
    """The step that an action is of, or the alternative of it."""
    # As `choice`, written out: this is asked dozens of times a run.
    step = steps[action.step]
    return step.instead[action.choice - 1] if action.choice else step


def new_state(spec: SagaSpec) -> RunState:
    """The state before the first event, for a run of `spec`."""
    direct = [not (step.path and any(other for _, other in step.path)) for step in spec.steps]
    progress = [Progress(sum(direct[before] for before in step.after)) for step in spec.steps]
    return RunState(
        steps=spec.steps,
        positions=spec.positions,
        progress=progress,
        needed=sum(direct),
        spreads=spec.spreads,
        spending=Spending({name: Decimal(0) for name, _ in spec.budget}) if spec.budget else None,
    )
