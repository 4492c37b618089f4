"""A pytest plugin: pysqlite3 is not there, as on machines for which it has no wheel.

`python -m pytest -p tests.journal.without_pysqlite3 ...`
"""

from __future__ import annotations

import sys

sys.modules["pysqlite3"] = None  # type: ignore[assignment]
