"""What may happen to a run, as pure functions: `decide`, `evolve`, `plan`.

No clock, chance, IO or thread below this line; everything that the machine needs to know about time
is in a command or an event.
"""

from __future__ import annotations

__all__: list[str] = []
