"""The specification of a saga: what is stored, digested, shown and decided on. Data only.

The frozen form that the machine reads. Whoever has the stored JSON can decide about a run, with or
without the code of its effects (`saga.definition.read`). Durations are seconds; `None` means "not
declared".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Literal, TypeAlias

__all__ = [
    "ANYBODY",
    "ATTEMPTS",
    "CALLS",
    "FOREVER",
    "FORMAT",
    "ApprovalSpec",
    "ContractSpec",
    "EachSpec",
    "OnUnknown",
    "Path",
    "ProviderSpec",
    "RetrySpec",
    "SagaSpec",
    "StepSpec",
    "UndoKind",
    "WaitSpec",
]

FORMAT = 1
ANYBODY = "*"  # among those who may approve: whoever says who they are

# The longest duration that can be declared: time stays far from the end of `datetime` whatever is
# added to it. A key that lives so long is honoured for ever.
FOREVER = 100 * 365 * 86_400.0

CALLS, ATTEMPTS = "calls", "attempts"  # what is budgeted beside the units of effects

UndoKind = Literal["compensation", "nothing", "irreversible"]
Path: TypeAlias = tuple[tuple[str, bool], ...]
"""The savepoints that a step lies behind, outermost first, and whether on the other path."""

OnUnknown = Literal["hold_all", "hold_item", "hold_target"]


@dataclass(frozen=True, slots=True)
class ProviderSpec:
    """What the other side guarantees. The defaults are the worst plausible provider."""

    name: str = "undeclared"
    key_life: float | None = None
    in_flight: float | None = None
    visible_after: float | None = None
    late_until: float | None = None
    replays_refusals: bool = False
    replays_errors: bool = True
    key_max: int = 255
    concurrency: int | None = None  # calls at once, of one process

    @property
    def honours_keys(self) -> bool:
        """A repeated request under the same key is the same effect, for `key_life` seconds."""
        return self.key_life is not None


@dataclass(frozen=True, slots=True)
class RetrySpec:
    """How often and how fast. `attempts` bounds each class of outcome that has no bound of its own.

    `resends`: how often what is unknown is sent again under its key. `probes`: answers that settle
    nothing. `generations`: the keys that an action may use up before a person must ask for another.
    `crashes`: calls in a row that may end with the death of their process.
    """

    attempts: int = 5
    first: float = 1.0
    factor: float = 2.0
    longest: float = 60.0
    jitter: float = 1.0
    resends: int | None = None
    probes: int | None = None
    generations: int = 1
    crashes: int = 3

    @property
    def most_resends(self) -> int:
        """The bound of resends: declared, or what `attempts` leaves after the first sending."""
        return self.attempts - 1 if self.resends is None else self.resends

    @property
    def most_probes(self) -> int:
        """The bound of probes that settle nothing: declared, or `attempts`."""
        return self.attempts if self.probes is None else self.probes


@dataclass(frozen=True, slots=True)
class ContractSpec:
    """One outside action as the machine sees it: an effect or a compensation."""

    name: str
    version: int
    timeout: float
    probe: bool
    provider: ProviderSpec
    retry: RetrySpec
    deadline: float | None = None  # from its first intent on
    needs_receipt: bool = False  # of a compensation: it cannot work without the receipt
    residual: str | None = None  # of a compensation: the field that says what it cannot give back
    cost: tuple[tuple[str, str | Decimal], ...] = ()  # by budgeted unit: a field, or always so much

    @property
    def label(self) -> str:
        """`name@version`, as it stands in keys, digests and pages."""
        return f"{self.name}@{self.version}"


@dataclass(frozen=True, slots=True)
class WaitSpec:
    """What a step waits for that calls nothing: a time, a moment by its path, a signal."""

    time: float | None
    until: tuple[str, ...] | None
    signal: tuple[tuple[str, bool], ...]  # its fields, and which of them must be there
    limit: float | None


@dataclass(frozen=True, slots=True)
class ApprovalSpec:
    """Who must approve an action before it is sent. `observed` is a position in the steps."""

    by: tuple[str, ...]
    people: int
    expires: float
    observed: int | None
    scope: str
    policy: str


@dataclass(frozen=True, slots=True)
class EachSpec:
    """The list that a step goes over, as a path, and what names an item in it, as a path in one.

    `key` is `None` where the position names it. `parallel` and `batch` count items.
    """

    over: tuple[str, ...]
    key: tuple[str, ...] | None
    on_unknown: OnUnknown
    parallel: int
    batch: int | None


@dataclass(frozen=True, slots=True)
class StepSpec:
    """A named use of an effect. `after` and `before` are positions in `SagaSpec.steps`."""

    index: int
    name: str
    effect: ContractSpec
    undo: UndoKind
    compensation: ContractSpec | None
    undo_reason: str
    after: tuple[int, ...]
    before: tuple[int, ...]
    hold: bool = True
    optional: bool = False
    declared_pivot: bool = False
    wait: WaitSpec | None = None
    approval: ApprovalSpec | None = None
    each: EachSpec | None = None
    instead: tuple[StepSpec, ...] = ()  # what is tried where it fails for good; in its place
    groups: tuple[str, ...] = ()
    path: Path = ()

    def choice(self, number: int) -> StepSpec:
        """The step itself (0), or one of its alternatives (from 1 on)."""
        return self.instead[number - 1] if number else self

    @property
    def irreversible(self) -> bool:
        return self.undo == "irreversible"

    @property
    def pivot(self) -> bool:
        """Once it has landed the run only goes forward: declared, or irreversible."""
        return self.declared_pivot or self.irreversible


@dataclass(frozen=True, slots=True)
class SagaSpec:
    """A whole saga, ready to be decided on. `digest` covers its meaning, not its tuning."""

    name: str
    version: int
    digest: str
    deadline: float | None
    steps: tuple[StepSpec, ...]
    limits: tuple[tuple[str, float], ...] = ()  # of groups: seconds from their begin
    budget: tuple[tuple[str, Decimal], ...] = ()  # what a run may use up, by name
    exclusive: tuple[str, ...] | None = None  # where the input names the resource
    # Whether any step has it: asked after every event, and most sagas have none of them.
    waits: bool = field(init=False, compare=False)
    asks: bool = field(init=False, compare=False)
    skips: bool = field(init=False, compare=False)
    spreads: bool = field(init=False, compare=False)
    returns: bool = field(init=False, compare=False)
    positions: Mapping[str, int] = field(init=False, compare=False)  # by name, alternatives too

    def __post_init__(self) -> None:
        object.__setattr__(self, "waits", any(step.wait is not None for step in self.steps))
        object.__setattr__(self, "asks", any(step.approval is not None for step in self.steps))
        object.__setattr__(self, "skips", any(step.optional for step in self.steps))
        object.__setattr__(self, "spreads", any(step.each is not None for step in self.steps))
        object.__setattr__(self, "returns", any(step.path for step in self.steps))
        choices = {one.name: step.index for step in self.steps for one in (step, *step.instead)}
        object.__setattr__(self, "positions", choices)

    def step(self, name: str) -> StepSpec:
        """The step called `name`; `KeyError` if there is none."""
        return self.steps[self.positions[name]]
