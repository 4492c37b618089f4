"""Seals: whoever alters a stored byte is found out.

A seal is HMAC-SHA256 over length-prefixed, domain-separated parts, so that no part can lend a byte
to its neighbour and no seal of one kind passes for another. Without a configured key it is a plain
SHA-256: that finds accidents, not an attacker who can compute it too, and `health` says so.
"""

from __future__ import annotations

import base64
import hmac
import re
from collections.abc import Mapping, Sequence
from hashlib import sha256

from saga.errors import DatabaseError

__all__ = ["Keyring"]

_SHORTEST = 32
_NAME = re.compile("[A-Za-z0-9._-]{1,64}")


class Keyring:
    """The sealing keys by id. The first one seals, all of them verify; with none, plain SHA-256."""

    def __init__(self, keys: Mapping[str, bytes] | None = None) -> None:
        self._raw = dict(keys or {})
        self.key_id = next(iter(self._raw), "")

    @classmethod
    def parse(cls, text: str) -> Keyring:
        """Read `id:base64,id:base64` (the form of `SAGA_KEYS`). Never repeats a key in an error."""
        keys: dict[str, bytes] = {}
        for part in text.split(",") if text.strip() else ():
            name, _, encoded = part.strip().partition(":")
            try:
                key = base64.b64decode(encoded, validate=True)
            except ValueError:
                key = b""
            if not _NAME.fullmatch(name) or len(key) < _SHORTEST or name in keys:
                raise DatabaseError(
                    f"SAGA_KEYS: entry {len(keys) + 1} is not a new id:base64 of at least "
                    f"{_SHORTEST} bytes",
                    remedy="make one with: python -c 'import base64, secrets; "
                    'print("k1:" + base64.b64encode(secrets.token_bytes(32)).decode())\'',
                )
            keys[name] = key
        return cls(keys)

    def __bool__(self) -> bool:
        return bool(self._raw)

    def __contains__(self, key_id: object) -> bool:
        return key_id in self._raw or (key_id == "" and not self._raw)

    def __repr__(self) -> str:
        return f"Keyring({list(self._raw)})"  # never the keys

    def seal(self, domain: str, *parts: str) -> str:
        """The seal of `parts` under the first key: 64 hex digits."""
        return self._digest(self.key_id, domain, parts)

    def verify(self, key_id: object, seal: object, domain: str, *parts: object) -> bool:
        """Whether `seal` is that of `parts` under the key `key_id`; False if that is not known.

        What comes from an altered row may be anything: what is no text has no seal.
        """
        if key_id not in self or not isinstance(seal, str):
            return False
        texts = [part for part in parts if isinstance(part, str)]
        if len(texts) != len(parts):
            return False
        expected = self._digest(str(key_id), domain, texts)
        return hmac.compare_digest(expected.encode(), seal.encode("utf-8", "surrogatepass"))

    def _digest(self, key_id: str, domain: str, parts: Sequence[str]) -> str:
        text = "".join([f"{len(part)}:{part}" for part in (domain, key_id, *parts)])
        message = f"saga/1{text}".encode("utf-8", "surrogatepass")
        if not key_id:
            return sha256(message).hexdigest()
        return hmac.digest(self._raw[key_id], message, "sha256").hex()
