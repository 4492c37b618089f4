"""What the environment says, read when a `Client` or an `Orchestrator` is constructed."""

from __future__ import annotations

from pydantic import SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict

from saga.journal.database import DEFAULT_URL
from saga.journal.sealing import Keyring

__all__ = ["Settings"]


class Settings(BaseSettings):
    """`SAGA_DATABASE_URL`, `SAGA_KEYS` (`id:base64,…`) and `SAGA_APP` (`module:name`)."""

    model_config = SettingsConfigDict(env_prefix="SAGA_", extra="ignore")

    database_url: str = DEFAULT_URL
    keys: SecretStr = SecretStr("")
    app: str | None = None

    def keyring(self) -> Keyring:
        """The sealing keys. Raises `DatabaseError` for a malformed `SAGA_KEYS`."""
        return Keyring.parse(self.keys.get_secret_value())
