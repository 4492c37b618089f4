"""What a definition is refused for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from saga.errors import DefinitionError

__all__ = ["code_of"]


def code_of(make: Callable[..., object], *given: Any, **named: Any) -> str:
    """The code of the error that this ends with, and that says what to do."""
    with pytest.raises(DefinitionError) as caught:
        make(*given, **named)
    assert caught.value.remedy
    return caught.value.code
