from __future__ import annotations

from tests.shop.conftest import shop

__all__ = ["shop"]
