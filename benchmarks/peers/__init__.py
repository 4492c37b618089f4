"""The same saga on other products, each run by a Python of its own.

What stands in `order_on_*` runs there: it may import the peer, the standard library and `timing`,
and ends with one line of JSON.
"""

from __future__ import annotations

__all__: list[str] = []
