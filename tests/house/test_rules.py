"""Planted violations: each rule of the house hears of what it is there for, and of nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.house import rules
from tests.house.rules import Source


def source(text: str, path: str = "saga/place.py") -> Source:
    return Source(Path(path), text)


@pytest.mark.parametrize(
    "text",
    [
        "import time\ntime.time()",
        "import time as clock\nclock.sleep(1)",
        "from time import monotonic",
        "from datetime import datetime as when, UTC\nwhen.now(UTC)",
        "import datetime\ndatetime.datetime.utcnow()",
        "from datetime import date\ndefault = date.today",
        "def late() -> None:\n    import random\n",
        "from secrets import token_hex",
        "import uuid\nuuid.uuid4().hex",
        "import os\nos.urandom(8)",
    ],
)
def test_a_way_around_clock_ids_and_chance_is_heard_of(text: str) -> None:
    assert list(rules.bypasses(source(text), rules.PRODUCT))


@pytest.mark.parametrize(
    "text",
    [
        "eval('1')",
        "exec('x = 1')",
        "import pickle",
        "from pickle import loads",
        "import yaml\nyaml.load('')",
        "from unittest import mock",
        "import unittest.mock as pretended",
    ],
)
def test_data_run_as_code_and_mocks_are_heard_of(text: str) -> None:
    assert list(rules.bypasses(source(text), rules.EVERYWHERE))


@pytest.mark.parametrize(
    "text",
    [
        "from datetime import UTC, datetime\ndatetime.fromtimestamp(0, UTC)",
        "from uuid import UUID, uuid5",
        "import time\ntime.gmtime(0)",
        "def sleep(clock: Clock) -> float:\n    return clock.time.time()",
        "random = 4\nself.random()",
        "model.eval()",
        "import re\nre.compile('a').exec",
    ],
)
def test_what_only_looks_like_a_bypass_is_left_alone(text: str) -> None:
    assert not list(rules.bypasses(source(text), {**rules.PRODUCT, **rules.EVERYWHERE}))


def test_a_seam_is_named_with_its_line_and_what_to_do() -> None:
    (found,) = rules.bypasses(source("import time\n\nnow = time.time()\n"), rules.PRODUCT)
    assert found == "saga/place.py:3: time.time is not used here: ask the Clock"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("def run(): ...", "no literal __all__"),
        ("__all__ = sorted(['run'])\ndef run(): ...", "no literal __all__"),
        ("__all__ = []\ndef run(): ...", "run is public"),
        ("__all__ = []\nclass Run: ...", "Run is public"),
        ("__all__ = []\nLIMIT: int = 3", "LIMIT is public"),
        ("__all__ = []\nfirst, (second, _third) = 1, (2, 3)", "second is public"),
        ("__all__ = []\ntry:\n    fast = 1\nexcept ImportError:\n    fast = 0", "fast is public"),
        ("__all__ = ['gone']", "gone is in __all__"),
        ("from saga.errors import Conflict\n__all__ = ['Conflict']", "Conflict is in __all__"),
    ],
)
def test_a_list_of_public_names_that_is_wrong_is_heard_of(text: str, name: str) -> None:
    assert any(name in found for found in rules.unlisted(source(text)))


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("from typing import Any\n__all__ = ['run']\ndef run(): ...\n_limit = 3", "saga/place.py"),
        ("from saga.errors import Conflict\n__all__ = ['Conflict']", "saga/__init__.py"),
        ("from saga import Call\n__all__ = []", "steps/__init__.py"),
        ("from typing import TypeVar\n__all__ = []\nT = TypeVar('T')", "saga/place.py"),
        ("__all__ = ['__version__']\n__version__ = '1'", "saga/__init__.py"),
    ],
)
def test_a_right_list_of_public_names_is_left_alone(text: str, path: str) -> None:
    assert not list(rules.unlisted(source(text, path)))


def test_a_package_lists_what_it_fetches_from_inside() -> None:
    fetched = source("from saga.errors import Conflict\n__all__ = []", "saga/__init__.py")
    assert len(list(rules.unlisted(fetched))) == 1


@pytest.mark.parametrize(
    ("lines", "name", "path", "heard"),
    [
        (50, "walk", "saga/place.py", 0),
        (51, "walk", "saga/place.py", 1),
        (51, "decide", "saga/machine/decide.py", 0),
        (51, "decide", "saga/journal/decide.py", 1),
    ],
)
def test_a_function_has_room_for_fifty_lines(lines: int, name: str, path: str, heard: int) -> None:
    text = f"async def {name}():\n" + "    ...\n" * (lines - 1)
    assert len(list(rules.long_functions(source(text, path)))) == heard


@pytest.mark.parametrize(("lines", "heard"), [(300, 0), (301, 1)])
def test_a_module_has_room_for_three_hundred_lines(lines: int, heard: int) -> None:
    assert len(list(rules.long_module(source("...\n" * lines)))) == heard


@pytest.mark.parametrize(
    ("path", "heard"),
    [
        ("saga/utils.py", 1),
        ("saga/common/sealing.py", 1),
        ("saga/journal/sql_helpers.py", 1),
        ("saga/journal/sealing.py", 0),
        ("saga/journal/commonest.py", 0),
    ],
)
def test_a_name_that_says_nothing_is_heard_of(path: str, heard: int) -> None:
    assert len(list(rules.names_that_say_nothing(source("", path)))) == heard


@pytest.mark.parametrize(
    ("text", "heard"),
    [
        ("import saga", 0),
        ("from saga import Step, http", 0),
        ("from saga.http import post", 0),
        ("from saga.testing import run", 0),
        ("import saga.testing", 0),
        ("from sagacity import anything", 0),
        ("from saga import journal", 1),
        ("from saga.definition import Step", 1),
        ("import saga.journal.sealing as sealing", 1),
        ("from saga.testing.ledger import Ledger", 1),
        ("import saga.testing.ledger", 1),
    ],
)
def test_who_stands_outside_sees_the_surface_only(text: str, heard: int) -> None:
    assert len(list(rules.outside(source(text, "steps/place.py"), {"Step"}))) == heard


@pytest.mark.parametrize(
    ("text", "heard"),
    [
        ("from saga.errors import Conflict", 0),
        ("from saga import errors", 0),
        ("import saga", 1),
        ("from saga import Conflict", 1),
    ],
)
def test_the_front_door_is_for_users(text: str, heard: int) -> None:
    assert len(list(rules.front_door(source(text), {"errors"}))) == heard
