"""The extra is named to whoever imports `saga.http` without it."""

from __future__ import annotations

import subprocess
import sys


def imported(missing: str) -> str:
    """The last line of the complaint when `missing` cannot be imported."""
    code = f"import sys; sys.modules[{missing!r}] = None; import saga.http"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    return done.stderr.strip().splitlines()[-1]


def test_without_httpx2_the_error_names_the_extra() -> None:
    assert imported("httpx2") == (
        "ModuleNotFoundError: saga.http needs httpx2, the extra [http]: "
        "pip install 'saga-orchestrator[http]'"
    )


def test_another_missing_module_is_not_blamed_on_the_extra() -> None:
    assert "idna" in imported("idna")
