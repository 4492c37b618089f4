"""Bugs seeded into the product, which a short storm against the hostile provider must find.

python -m tests.hostile.bugs [NAME …]

Each is a storm in a process of its own, on a copy of the package with one small difference.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.crash.explore_bug import Edit

__all__ = ["BUGS", "Found", "altered", "found", "main"]

_ROOT = Path(__file__).resolve().parents[2]
_STORM = ("--runs", "400", "--seed", "1", "--patience", "8")

BUGS = {
    "unknown taken as failed": Edit(
        "orchestrator.outcome",
        """
         "leaves": [],
     }
-    return Result("unknown", error=error)
+    return Result("refused", error=error)
""",
    ),
    "an undeclared error taken as not sent": Edit(
        "orchestrator.outcome",
        """
     if isinstance(error, contract.not_sent):
         return Result("not_sent", error=describe(error))
-    return Result("unknown", error=describe(error))
+    return Result("not_sent", error=describe(error))
""",
    ),
    "an echo is not compared": Edit(
        "orchestrator.outcome",
        """
-            if field in receipt and receipt[field] != getattr(call, name):
+            if field in receipt and not getattr(call, name):
""",
    ),
    "a probe's absent is believed at once": Edit(
        "machine.results",
        """
-    if counted and first is not None and probe.started >= first + visible_after:
+    if unsettled and probe.answer == "absent" and (first is None or probe.started >= first):
""",
    ),
    "a key lives for ever": Edit(
        "machine.ways",
        """
-    return send_by + margin < action.first_at + provider.key_life
+    return send_by + margin < inf
""",
    ),
    "sent again where keys mean nothing": Edit(
        "machine.ways",
        """
     if provider.key_life is None:
-        return False
+        return True
""",
    ),
    "a refusal settles every attempt": Edit(
        "machine.results",
        """
-        for_all = provider.honours_keys and provider.replays_refusals
+        for_all = provider.honours_keys
""",
    ),
    "fresh key on retry": Edit(
        "orchestrator.compiled",
        """
-        "key": action.key,
+        "key": action.key if attempt == 1 else f"{action.key}~{attempt}",
""",
    ),
    "an absence is not watched": Edit(
        "machine.settling",
        """
-    if until is not None:
-        action.watch = until
+    if False:
+        action.watch = until
""",
    ),
    "what lands late is not undone": Edit(
        "machine.unwinding",
        """
-    strays = list(state.strays.values())
+    strays: list[Action] = []
""",
    ),
    "a person may look too early": Edit(
        "machine.resolve",
        """
-    if bound is None:
+    if bound is None or bound < inf:
         return None
""",
    ),
}
"""A difference each, named as what it does. Which law is broken is up to what it meets."""

Found = list[str]


@contextmanager
def altered(edit: Edit) -> Iterator[Path]:
    """A checkout like this one, with one module changed."""
    with tempfile.TemporaryDirectory(prefix="hostile-bug-") as name:
        folder = Path(name)
        for one in _ROOT.iterdir():
            if one.name == "saga":
                shutil.copytree(one, folder / "saga")
            elif not one.name.startswith("."):
                (folder / one.name).symlink_to(one)
        module = folder / "saga" / f"{edit.module.replace('.', '/')}.py"
        text = module.read_text("utf-8")
        assert text.count(edit.old) == 1, f"{edit.module} has not, or twice: {edit.old}"
        module.write_text(text.replace(edit.old, edit.new), "utf-8")
        yield folder


def found(edit: Edit) -> Found:
    """The violations that a short storm names; empty: it has not found the bug."""
    with altered(edit) as folder:
        command = [sys.executable, "-m", "tests.hostile.storm", *_STORM]
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, timeout=300, check=False
        )
    named = re.findall(r"VIOLATION (.*)", done.stdout)
    assert named or done.returncode == 0, done.stdout[-500:] + done.stderr[-2000:]
    return named


def main() -> None:
    """Try the bugs that are named, or all; exit code 1 if one is not found."""
    missed = False
    for name in sys.argv[1:] or BUGS:
        named = found(BUGS[name])
        missed = missed or not named
        shown = f"{len(named)}, such as {named[0]}" if named else "NOT FOUND"
        sys.stdout.write(f"{name}: {shown}\n")
        sys.stdout.flush()
    sys.exit(missed)


if __name__ == "__main__":
    main()
