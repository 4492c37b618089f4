"""An order: stock is reserved, a card is charged, a parcel is sent, or all of it is taken back."""

__all__: list[str] = []
