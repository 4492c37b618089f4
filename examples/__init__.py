"""Examples that run: read them, start them, copy them."""

__all__: list[str] = []
