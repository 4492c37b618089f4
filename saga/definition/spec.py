"""The specification of a saga: what is stored, digested, shown and decided on. Data only.

A definition in Python becomes canonical JSON (`Saga.spec()`); this module turns that JSON into the
frozen form that the machine reads. So whoever has the stored JSON can decide about a run, with or
without the code of its effects. Durations are seconds; `None` means "not declared".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

__all__ = [
    "ANYBODY",
    "FORMAT",
    "ApprovalSpec",
    "ContractSpec",
    "EachSpec",
    "OnUnknown",
    "ProviderSpec",
    "RetrySpec",
    "SagaSpec",
    "StepSpec",
    "UndoKind",
    "WaitSpec",
    "read_spec",
]

FORMAT = 1
ANYBODY = "*"  # among those who may approve: whoever says who they are

UndoKind = Literal["compensation", "nothing", "irreversible"]
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
    groups: tuple[str, ...] = ()

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
    exclusive: tuple[str, ...] | None = None  # where the input names the resource
    # Whether any step has it: asked after every event, and most sagas have none of them.
    waits: bool = field(init=False, compare=False)
    asks: bool = field(init=False, compare=False)
    skips: bool = field(init=False, compare=False)
    spreads: bool = field(init=False, compare=False)
    positions: Mapping[str, int] = field(init=False, compare=False)  # of the steps, by name

    def __post_init__(self) -> None:
        object.__setattr__(self, "waits", any(step.wait is not None for step in self.steps))
        object.__setattr__(self, "asks", any(step.approval is not None for step in self.steps))
        object.__setattr__(self, "skips", any(step.optional for step in self.steps))
        object.__setattr__(self, "spreads", any(step.each is not None for step in self.steps))
        positions = {step.name: step.index for step in self.steps}
        object.__setattr__(self, "positions", positions)

    def step(self, name: str) -> StepSpec:
        """The step called `name`; `KeyError` if there is none."""
        return self.steps[self.positions[name]]


def read_spec(spec: Mapping[str, Any], digest: str) -> SagaSpec:
    """Read stored JSON (`Saga.spec()`). A missing field is a `KeyError`, never a default."""
    if spec["format"] != FORMAT:
        raise ValueError(f"specification format {spec['format']!r} is not {FORMAT}")
    rows: list[Mapping[str, Any]] = spec["steps"]
    position = {row["name"]: index for index, row in enumerate(rows)}
    after = [tuple(position[name] for name in row["after"]) for row in rows]
    before: list[list[int]] = [[] for _ in rows]
    for index, names in enumerate(after):
        for earlier in names:
            before[earlier].append(index)
    steps = tuple(
        StepSpec(
            index=index,
            name=row["name"],
            effect=_contract(row["effect"]),
            undo=row["undo"]["kind"],
            compensation=_contract(row["undo"]) if row["undo"]["kind"] == "compensation" else None,
            undo_reason=row["undo"].get("reason", ""),
            after=after[index],
            before=tuple(before[index]),
            hold=row["hold"],
            optional=row.get("optional", False),
            declared_pivot=row.get("pivot", False),
            wait=_wait(row["wait"]) if "wait" in row else None,
            approval=_approval(row["approval"], position) if "approval" in row else None,
            each=_each(row["each"]) if "each" in row else None,
            groups=tuple(row.get("groups", ())),
        )
        for index, row in enumerate(rows)
    )
    groups: Sequence[Mapping[str, Any]] = spec.get("groups", ())
    limits = [(one["name"], one["deadline"]) for one in groups if one["deadline"] is not None]
    exclusive = tuple(spec["exclusive"]) if "exclusive" in spec else None
    return SagaSpec(
        spec["saga"], spec["version"], digest, spec["deadline"], steps, tuple(limits), exclusive
    )


def _wait(row: Mapping[str, Any]) -> WaitSpec:
    until = row["until"]
    return WaitSpec(
        time=row["time"],
        until=None if until is None else tuple(until),
        signal=tuple((name, name in row["needs"]) for name in row["signal"] or ()),
        limit=row["limit"],
    )


def _approval(row: Mapping[str, Any], position: Mapping[str, int]) -> ApprovalSpec:
    observed = row["observed"]
    return ApprovalSpec(
        by=tuple(row["by"]),
        people=row["people"],
        expires=row["expires"],
        observed=None if observed is None else position[observed],
        scope=row["scope"],
        policy=row["policy"],
    )


def _each(row: Mapping[str, Any]) -> EachSpec:
    return EachSpec(
        over=tuple(row["over"]),
        key=None if row["key"] is None else tuple(row["key"]),
        on_unknown=row["on_unknown"],
        parallel=row["parallel"],
        batch=row["batch"],
    )


def _contract(row: Mapping[str, Any]) -> ContractSpec:
    return ContractSpec(
        name=row["name"],
        version=row["version"],
        timeout=row["timeout"],
        probe=row["probe"],
        provider=ProviderSpec(**row["provider"]),
        retry=RetrySpec(**row["retry"]),
        deadline=row.get("deadline"),
        needs_receipt=row.get("needs_receipt", False),
        residual=row.get("residual"),
    )
