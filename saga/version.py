"""The version of this package; also written into every journal record."""

from __future__ import annotations

__all__ = ["VERSION"]

VERSION = "0.1.0"
